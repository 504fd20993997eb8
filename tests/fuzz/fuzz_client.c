/*
 * Bytes as another MCP server sends them, as lines or as server-sent events, to our client, which
 * begins with it, lists its tools and calls one. "@" in them stands for the id of the last request,
 * so that the fuzzer gets past that. Each request ends once, whatever comes; nothing may leak, and
 * nothing be left.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "glovebox.h"
#include "mcp/downstream_core.h"
#include "mcp/link.h"
#include "mcp/servers.h"
#include "mcp/sse.h"

enum {
    REQUESTS_MAX = 64,
    LINE_MAX_BYTES = 8192
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char *gb_version(void)
{
    return "0";
}

/* ---- a link whose other end is the input ---- */

static struct link now;
static bool is_linked, is_closing;
static json_int_t last_id;

static void link_send(struct link *l, const struct link_message *m)
{
    struct rpc_message message;
    struct rpc_problem problem;

    (void)l;
    if (rpc_read(m->text, m->len, &message, &problem) < 0)
        abort();
    rpc_message_done(&message);
    if (m->id != 0)
        last_id = m->id;
}

static void link_forget(struct link *l, json_int_t id)
{
    (void)l;
    (void)id;
}

static void link_agree(struct link *l, const char *version, bool is_modern)
{
    (void)l;
    (void)version;
    (void)is_modern;
}

static void link_close(struct link *l)
{
    (void)l;
    is_closing = true;
}

static void link_listen(struct link *l)
{
    (void)l;
}

static bool link_is_gone(const struct link *l)
{
    (void)l;
    return !is_linked;
}

static void link_free(struct link *l)
{
    (void)l;
    is_linked = is_closing = false;
}

static struct link *link_new(const struct link_spec *spec)
{
    static const struct link_ops ops = { .send = link_send,
                                         .forget = link_forget,
                                         .agree = link_agree,
                                         .listen = link_listen,
                                         .close = link_close,
                                         .is_gone = link_is_gone,
                                         .free = link_free };

    if (is_linked)
        abort();
    is_linked = true;
    now = (struct link){ .ops = &ops, .events = spec->events };
    return &now;
}

struct link *link_stdio_new(const struct link_spec *spec, struct gb_err *err)
{
    (void)err;
    return link_new(spec);
}

struct link *link_http_new(const struct link_spec *spec, struct gb_err *err)
{
    (void)err;
    return link_new(spec);
}

/* ---- who asks ---- */

struct asked {
    struct client_request *request;
    bool is_asked;
};

static struct asked asked[REQUESTS_MAX];
static struct upstream *server;

static void on_done(void *data, const struct client_answer *answer)
{
    struct asked *a = data;
    struct outcome outcome;

    if (!a->is_asked || (!answer->result && (!answer->type || !answer->message)))
        abort();
    *a = (struct asked){ 0 };
    if (!answer->result)
        return;
    outcome_of(server, answer->result, NULL, &outcome);
    if (!outcome.value == !outcome.type)
        abort();
    json_decref(outcome.value);
    free(outcome.message);
    json_decref(outcome_of_read(answer->result));
}

static void ask(struct client *c)
{
    json_t *params = json_pack("{s:s,s:{s:i}}", "name", "t", "arguments", "x", 1);

    for (size_t i = 0; i < REQUESTS_MAX; i++) {
        if (asked[i].is_asked)
            continue;
        asked[i].is_asked = true;
        asked[i].request = client_ask(c, "tools/call", params, 0, on_done, &asked[i]);
        return;
    }
    json_decref(params);
}

static void give_up(void)
{
    for (size_t i = 0; i < REQUESTS_MAX; i++) {
        if (!asked[i].is_asked)
            continue;
        asked[i].is_asked = false;
        client_cancel(asked[i].request);
        return;
    }
}

static json_t *elicit(void *data, const json_t *params)
{
    (void)data;
    return json_object_size(params) % 2 ? json_pack("{s:s}", "action", "decline") : NULL;
}

static void on_nothing(void *data)
{
    (void)data;
}

static void on_log(void *data, const char *text)
{
    (void)data;
    (void)text;
}

/* ---- what comes ---- */

static bool take_text(void *data, const char *text, size_t len)
{
    const char *at = memchr(text, '@', len);
    char line[LINE_MAX_BYTES];
    struct rpc_message message;
    struct rpc_problem problem;
    int r, n;

    (void)data;
    if (!is_linked || is_closing)
        return true;
    if (at && len < sizeof(line) - 32) {
        n = snprintf(line, sizeof(line), "%.*s%lld%.*s", (int)(at - text), text, (long long)last_id,
                     (int)(len - 1 - (size_t)(at - text)), at + 1);
        text = line;
        len = n < 0 ? 0 : (size_t)n;
    }
    r = rpc_read(text, len, &message, &problem);
    now.events.message(now.events.data, r == 0 ? &message : NULL, problem.message);
    rpc_message_done(&message);
    rpc_problem_done(&problem);
    return true;
}

/* A line of one letter is something else that happens. */
static void take(struct client *c, struct sse *sse, const char *text, size_t len)
{
    char letter = len == 1 ? text[0] : '\0';

    if (letter == 'a')
        ask(c);
    else if (letter == 'c')
        give_up();
    else if (letter == 'e' && is_linked)
        now.events.ended(now.events.data, "it ended");
    else if (letter >= '0' && letter <= '7' && is_linked && !is_closing)
        now.events.failed(now.events.data, letter & 4 ? last_id : 0, (enum link_fault)(letter & 3),
                          "it failed");
    else if (!sse)
        (void)take_text(NULL, text, len);
    else if (sse_feed(sse, text, len, take_text, NULL) < 0 ||
             sse_feed(sse, "\n", 1, take_text, NULL) < 0)
        sse->line.len = sse->data.len = 0;
}

static void feed(struct event_base *base, struct client *c, struct sse *sse, const char *text,
                 size_t len)
{
    while (len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t n = end ? (size_t)(end - text) : len;

        take(c, sse, text, n);
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
        n += end != NULL;
        text += n;
        len -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char key[] = "k", url[] = "http://h/";
    unsigned how = size > 0 ? data[0] : 0;
    struct server_spec spec = {
        .key = key, .ident = key, .url = how & 1 ? url : NULL, .timeout_ms = 1000, .start_ms = 1000
    };
    struct event_base *base = event_base_new();
    const struct client_spec client_spec = { .base = base,
                                             .server = &spec,
                                             .events = { .listed = on_nothing,
                                                         .settled = on_nothing,
                                                         .log = on_log,
                                                         .elicit = how & 2 ? elicit : NULL } };
    struct downstream all = { .shelf = shelf_new() };
    struct upstream upstream = { .all = &all, .spec = &spec };
    struct client *c = client_new(&client_spec);
    struct sse sse;

    server = &upstream;
    last_id = 0;
    sse_init(&sse, LINE_MAX_BYTES);
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
    if (size > 1)
        feed(base, c, how & 4 ? &sse : NULL, (const char *)data + 1, size - 1);
    client_close(c);
    (void)client_free(c);
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        if (asked[i].is_asked)
            abort();
    sse_done(&sse);
    (void)shelf_free(all.shelf);
    event_base_free(base);
    return 0;
}
