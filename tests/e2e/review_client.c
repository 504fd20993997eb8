/*
 * One review, or several at once, on a loop of its own.
 *
 *   review_client <SPEC     a JSON object: url, code, tools, model, key, ca, module_dir,
 *                           timeout_ms, attempts, backoff_ms; also
 *                           n: how many at once; rounds: how often, one after another;
 *                           share: over one link; cancel_ms: end them after that long;
 *                           leaves: a look-up may be left behind with its descriptors
 *
 * Prints a line of JSON for each verdict, or {"failed": ..., "hint": ...} for one that could not
 * begin. Ends with 3 when `done` was called from inside review_begin or more than once, with 4
 * when it left a descriptor open.
 */
#include <dirent.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/review.h"

enum {
    MAX = 16
};

struct client {
    const json_t *spec;
    struct event_base *base;
    struct review_link link;
    struct review *reviews[MAX];
    bool in_begin, wrong;
};

struct one {
    struct client *client;
    int i, begun, told;
};

static void begin(struct client *c, struct one *one);

static void on_cancel(evutil_socket_t fd, short what, void *data)
{
    struct client *c = data;

    (void)fd;
    (void)what;
    for (int i = 0; i < MAX; i++) {
        review_cancel(c->reviews[i]);
        c->reviews[i] = NULL;
    }
    (void)printf("{\"cancelled\": true}\n");
}

static const char *text_of(const json_t *spec, const char *key)
{
    return json_string_value(json_object_get(spec, key));
}

static uint64_t number_of(const json_t *spec, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(spec, key));
}

static void on_done(void *data, const json_t *verdict)
{
    struct one *one = data;
    auto_free char *text = verdict ? json_text(verdict) : NULL;

    one->client->wrong |= one->client->in_begin || ++one->told != one->begun;
    one->client->reviews[one->i] = NULL;
    (void)printf("%s\n", text ? text : "null");
    if (one->told < (int)number_of(one->client->spec, "rounds"))
        begin(one->client, one);
}

static void begin(struct client *c, struct one *one)
{
    const json_t *spec = c->spec;
    struct review_spec review = { .url = text_of(spec, "url"),
                                  .model = text_of(spec, "model"),
                                  .key = text_of(spec, "key"),
                                  .ca = text_of(spec, "ca"),
                                  .module_dir = text_of(spec, "module_dir"),
                                  .base = c->base,
                                  .link = json_is_true(json_object_get(spec, "share")) ? &c->link
                                                                                       : NULL,
                                  .timeout_ms = number_of(spec, "timeout_ms"),
                                  .attempts = (unsigned)number_of(spec, "attempts"),
                                  .backoff_ms = number_of(spec, "backoff_ms") };
    auto_json json_t *parts = json_pack("[{s:s,s:s,s:s}]", "title", "program", "text",
                                        text_of(spec, "code"), "lines", "python");
    struct gb_err err = { 0 };

    one->begun++;
    c->in_begin = true;
    c->reviews[one->i] =
        review_begin(&review, parts, json_object_get(spec, "tools"), on_done, one, &err);
    c->in_begin = false;
    if (!c->reviews[one->i]) {
        auto_json json_t *failed = json_pack("{s:s,s:s,s:s}", "failed", err.msg, "hint", err.hint,
                                             "type", gb_code_name(err.code));
        auto_free char *text = json_text(failed);
        (void)printf("%s\n", text);
    }
}

static int descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n;
}

int main(void)
{
    auto_json json_t *spec = json_loadf(stdin, 0, NULL);
    struct client c = { .spec = spec, .base = event_base_new() };
    struct one ones[MAX];
    int before = descriptors();
    uint64_t n = number_of(spec, "n"), cancel_ms = number_of(spec, "cancel_ms");
    struct timeval in = { .tv_sec = (time_t)(cancel_ms / 1000),
                          .tv_usec = (suseconds_t)(cancel_ms % 1000 * 1000) };

    if (!spec || n > MAX || !c.base) {
        (void)fprintf(stderr, "usage: review_client <SPEC\n");
        return 2;
    }
    for (int i = 0; i < (int)(n ? n : 1); i++) {
        ones[i] = (struct one){ .client = &c, .i = i };
        begin(&c, &ones[i]);
    }
    if (cancel_ms > 0)
        (void)event_base_once(c.base, -1, EV_TIMEOUT, on_cancel, &c, &in);
    (void)event_base_dispatch(c.base); /* until nothing is left to wait for */
    review_link_done(&c.link);
    if (descriptors() != before && !json_is_true(json_object_get(spec, "leaves")))
        return 4;
    event_base_free(c.base);
    return c.wrong ? 3 : 0;
}
