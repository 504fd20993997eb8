/*
 * The course of a review: ask, and when that fails in a way that may pass, wait and ask again, up
 * to a number of attempts. Whatever is not a verdict in the right form ends it closed: the code
 * is not secure, and `error` says why.
 */
#include "engine/review.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "engine/review_answer.h"
#include "engine/review_ask.h"
#include "fetch/fetch.h"

enum {
    TIMEOUT_MS = 30000,
    ATTEMPTS = 3,
    BACKOFF_MS = 1000,
    WAIT_MAX_MS = 30000, /* between two attempts, whoever asks for it */
    REPLY_MAX = 64 << 10,
    KEY_MAX = 4096,
    WHY_MAX = 1024
};

struct review {
    struct review_link *link, own; /* `link` is &own when it was not given one */
    struct fetch *fetch;           /* while it asks */
    struct event *on_again;
    struct fetch_url url;
    char *model, *key, *ca; /* each may be NULL */
    json_t *messages;
    uint64_t timeout_ms, backoff_ms;
    unsigned attempts, attempt;
    unsigned parts; /* of the request: see review_ask.h */
    struct answer_tokens tokens;
    int64_t began_us;
    review_done done;
    void *data;
};

/* ---- the end ---- */

void review_link_done(struct review_link *link)
{
    if (link->client)
        (void)link->ops->client_free(link->client);
    *link = (struct review_link){ 0 };
}

void review_cancel(struct review *r)
{
    if (!r)
        return;
    if (r->fetch)
        r->link->ops->cancel(r->fetch);
    review_link_done(&r->own);
    if (r->on_again)
        event_free(r->on_again);
    if (r->key)
        explicit_bzero(r->key, strlen(r->key));
    free(r->key);
    free(r->model);
    free(r->ca);
    json_decref(r->messages);
    free(r);
}

static json_t *tokens_json(const struct answer_tokens *t)
{
    return t->known ? json_pack("{s:I,s:I,s:I}", "prompt", t->prompt, "completion", t->completion,
                                "total", t->total)
                    : json_null();
}

/* Hand over the answer, to which what we know ourselves is added. */
static void finish(struct review *r, json_t *answer)
{
    review_done done = r->done;
    void *data = r->data;
    auto_json json_t *verdict = answer;

    if (json_is_null(json_object_get(verdict, "model")))
        json_object_set_new(verdict, "model", json_string(r->model ? r->model : ""));
    json_object_set_new(verdict, "attempts", json_integer((json_int_t)r->attempt));
    json_object_set_new(verdict, "tokens", tokens_json(&r->tokens));
    json_object_set_new(verdict, "ms", json_real((double)(clock_us() - r->began_us) / 1e3));
    review_cancel(r);
    done(data, verdict);
}

static void finish_closed(struct review *r, const char *why)
{
    auto_free char *clean = answer_clean(why, r->key, WHY_MAX);

    finish(r, clean ? json_pack("{s:b,s:o,s:n,s:n,s:s}", "secure", 0, "reason",
                                json_sprintf("the code was not reviewed: %s", clean), "model",
                                "detail", "error", clean)
                    : NULL);
}

static void finish_reviewed(struct review *r, json_t *answer)
{
    if (json_string_length(json_object_get(answer, "reason")) == 0)
        json_object_set_new(answer, "reason", json_string("the reviewer gave no reason"));
    json_object_set_new(answer, "error", json_null());
    finish(r, answer);
}

/* ---- again ---- */

static void on_reply(void *data, const struct fetch_reply *reply);

static int ask(struct review *r, struct gb_err *err)
{
    auto_free char *body = ask_body(r->model, r->messages, r->parts);
    struct fetch_request request = { .url = r->url.text,
                                     .body = body,
                                     .key = r->key,
                                     .ca = r->ca,
                                     .timeout_ms = r->timeout_ms,
                                     .reply_max = REPLY_MAX,
                                     .loopback_only = r->key && !r->url.encrypted };

    if (!body)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "writing to the reviewer");
    r->attempt++;
    r->fetch = r->link->ops->post(r->link->client, &request, on_reply, r, err);
    return r->fetch ? 0 : -1;
}

static void on_again(evutil_socket_t fd, short what, void *data)
{
    struct review *r = data;
    struct gb_err err;

    (void)fd;
    (void)what;
    if (ask(r, &err) < 0)
        finish_closed(r, err.msg);
}

/* Longer each time, and never the same for all who were refused at once: from half of it up. */
static uint64_t backoff_of(const struct review *r)
{
    uint64_t most = r->backoff_ms << (r->attempt - 1 < 10 ? r->attempt - 1 : 10);
    uint32_t dice = 0;

    if (most > WAIT_MAX_MS)
        most = WAIT_MAX_MS;
    (void)!getrandom(&dice, sizeof(dice), GRND_NONBLOCK);
    return most / 2 + dice % (most / 2 + 1);
}

static void again(struct review *r, uint64_t wait_ms)
{
    struct timeval in = { .tv_sec = (time_t)(wait_ms / 1000),
                          .tv_usec = (suseconds_t)(wait_ms % 1000 * 1000) };

    if (evtimer_add(r->on_again, &in) < 0)
        finish_closed(r, "memory ran out");
}

/* After what may pass. A server that asks for more patience than we have gets no more requests. */
static void again_later(struct review *r, int64_t retry_after_s, const char *why)
{
    uint64_t wait = backoff_of(r);
    char text[WHY_MAX];

    if (r->attempt >= r->attempts) {
        (void)snprintf(text, sizeof(text), "%s (%u attempt%s)", why, r->attempt,
                       r->attempt == 1 ? "" : "s");
        finish_closed(r, text);
        return;
    }
    if (retry_after_s > WAIT_MAX_MS / 1000) {
        (void)snprintf(text, sizeof(text), "%s; it asks to wait for %lld s, longer than %d s", why,
                       (long long)retry_after_s, WAIT_MAX_MS / 1000);
        finish_closed(r, text);
        return;
    }
    if (retry_after_s > 0 && (uint64_t)retry_after_s * 1000 > wait)
        wait = (uint64_t)retry_after_s * 1000;
    again(r, wait);
}

/* ---- answers ---- */

/* What to do about a status that is not 200. The first range that holds counts. */
static const struct status_rule {
    long from, to;
    bool may_pass;
    bool silent; /* what the server says is not repeated: it may quote the key */
    const char *says;
} status_rules[] = {
    { 300, 399, false, false, "a redirect; give the URL that it leads to" },
    { 401, 401, false, true, "check the key in GLOVEBOX_REVIEW_KEY" },
    { 403, 403, false, true, "the key in GLOVEBOX_REVIEW_KEY may not use this" },
    { 404, 404, false, false, "check the URL and the name of the model" },
    { 408, 408, true, false, "it waited too long" },
    { 413, 413, false, false, "the code is too long for it" },
    { 429, 429, true, false, "too many requests" },
    { 400, 499, false, false, "it will not take the request" },
    { 500, 599, true, false, "it has a problem of its own" },
    { 0, 999, false, false, "not an answer" },
};

static void on_status(struct review *r, const struct fetch_reply *reply)
{
    const struct status_rule *rule = status_rules;
    auto_free char *complaint = NULL;
    char text[WHY_MAX];

    while (reply->status < rule->from || reply->status > rule->to)
        rule++;
    if (!rule->silent)
        complaint = answer_complaint(reply->body, reply->len, r->key);
    (void)snprintf(text, sizeof(text), "the reviewer at %s answered %ld: %s%s%s%s", r->url.host,
                   reply->status, rule->says, complaint ? " (\"" : "", complaint ? complaint : "",
                   complaint ? "\")" : "");
    if (rule->may_pass)
        again_later(r, reply->retry_after_s, text);
    else
        finish_closed(r, text);
}

/* Not all servers know all parts of a request. Leave out what the server names; when it names
 * none, all that may be left out. False when nothing is left. */
static bool ask_for_less(struct review *r, const char *complaint)
{
    unsigned named = 0;

    if (strstr(complaint, "temperature"))
        named |= ASK_TEMPERATURE;
    if (strstr(complaint, "response_format") || strstr(complaint, "json_schema"))
        named |= ASK_FORMAT;
    if (!(r->parts & named))
        named = ASK_ALL;
    if (!(r->parts & named) || r->attempt >= r->attempts)
        return false;
    r->parts &= ~named;
    again(r, 0);
    return true;
}

static void on_answer(struct review *r, const struct fetch_reply *reply)
{
    struct gb_err err = { 0 };
    json_t *answer = answer_read(reply->body, reply->len, r->key, &r->tokens, &err);
    char text[WHY_MAX];

    if (answer) {
        finish_reviewed(r, answer);
        return;
    }
    (void)snprintf(text, sizeof(text), "the reviewer at %s gave no verdict: %s", r->url.host,
                   err.msg);
    again_later(r, -1, text);
}

static void on_fault(struct review *r, const struct fetch_reply *reply)
{
    char text[WHY_MAX];

    switch (reply->fault) {
    case FETCH_TIMEOUT:
        (void)snprintf(text, sizeof(text), "the reviewer at %s did not answer within %g s",
                       r->url.host, (double)r->timeout_ms / 1e3);
        break;
    case FETCH_TOO_BIG:
        (void)snprintf(text, sizeof(text), "the reviewer at %s answered with more than %d KiB",
                       r->url.host, REPLY_MAX >> 10);
        break;
    case FETCH_TRUST:
        (void)snprintf(text, sizeof(text),
                       "the certificate of the reviewer at %s will not do: %s; if it is your own, "
                       "name the file of its authority with review_ca",
                       r->url.host, reply->why);
        break;
    case FETCH_OK:
    case FETCH_NETWORK:
    case FETCH_OTHER:
        (void)snprintf(text, sizeof(text), "asking the reviewer at %s: %s", r->url.host,
                       reply->why);
        break;
    }
    if (reply->fault == FETCH_TIMEOUT || reply->fault == FETCH_NETWORK)
        again_later(r, -1, text);
    else
        finish_closed(r, text);
}

static void on_reply(void *data, const struct fetch_reply *reply)
{
    struct review *r = data;

    r->fetch = NULL;
    if (reply->fault != FETCH_OK)
        on_fault(r, reply);
    else if (reply->status == 200)
        on_answer(r, reply);
    else if ((reply->status == 400 || reply->status == 422) && ask_for_less(r, reply->body))
        return;
    else
        on_status(r, reply);
}

/* ---- the beginning ---- */

/* A key goes into a header line. */
static int check_key(const char *key, struct gb_err *err)
{
    size_t len = strlen(key);

    for (size_t i = 0; i < len; i++) {
        if (key[i] <= 0x20 || key[i] >= 0x7f) {
            (void)gb_fail(err, GB_E_INVALID, 0,
                          "the reviewer's key has a space, a line break or another character "
                          "that no key has");
            return gb_fail_hint(err, "look at GLOVEBOX_REVIEW_KEY");
        }
    }
    return len <= KEY_MAX ? 0
                          : gb_fail(err, GB_E_INVALID, 0,
                                    "the reviewer's key is longer than %d bytes", KEY_MAX);
}

static int check_trust(const struct review *r, struct gb_err *err)
{
    if (r->key && check_key(r->key, err) < 0)
        return -1;
    if (r->key && !r->url.encrypted && !r->url.loopback) {
        (void)gb_fail(err, GB_E_INVALID, 0,
                      "the reviewer's key would go to %s unencrypted, for all to read",
                      r->url.host);
        return gb_fail_hint(err, "use https, or unset GLOVEBOX_REVIEW_KEY");
    }
    if (r->ca && access(r->ca, R_OK) < 0)
        return gb_fail(err, GB_E_INVALID, errno, "review_ca: reading %s", r->ca);
    return 0;
}

static int copy_text(char **ret, const char *text)
{
    if (!text || !*text)
        return 0;
    *ret = strdup(text);
    return *ret ? 0 : -1;
}

static int open_link(struct review_link *link, const struct review_spec *spec, struct gb_err *err)
{
    if (link->client)
        return 0;
    link->ops = fetch_load(spec->module_dir, err);
    if (!link->ops)
        return -1;
    link->client = link->ops->client_new(spec->base);
    return link->client ? 0 : gb_fail(err, GB_E_SYSTEM, ENOMEM, "beginning a review");
}

/* What does not depend on the code. */
static int settle(struct review *r, const struct review_spec *spec, struct gb_err *err)
{
    if (open_link(r->link, spec, err) < 0 ||
        r->link->ops->url(spec->url, "/chat/completions", &r->url, err) < 0)
        return gb_fail_wrap(err, "review");
    if (copy_text(&r->key, spec->key) < 0 || copy_text(&r->model, spec->model) < 0 ||
        copy_text(&r->ca, spec->ca) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "beginning a review");
    return check_trust(r, err);
}

int review_check(const struct review_spec *spec, struct gb_err *err)
{
    struct review *r = calloc(1, sizeof(*r));
    int rc;

    if (!r)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading where the reviewer is");
    r->link = spec->link ? spec->link : &r->own;
    rc = settle(r, spec, err);
    review_cancel(r);
    return rc;
}

static int prepare(struct review *r, const struct review_spec *spec, const json_t *parts,
                   const json_t *tools, struct gb_err *err)
{
    struct ask_marker marker;

    if (settle(r, spec, err) < 0 || ask_marker(&marker, err) < 0)
        return -1;
    r->messages = ask_messages(parts, tools, &marker, err);
    if (!r->messages)
        return -1;
    r->on_again = evtimer_new(spec->base, on_again, r);
    return r->on_again ? 0 : gb_fail(err, GB_E_SYSTEM, ENOMEM, "beginning a review");
}

struct review *review_begin(const struct review_spec *spec, const json_t *parts,
                            const json_t *tools, review_done done, void *data, struct gb_err *err)
{
    struct review *r = calloc(1, sizeof(*r));

    if (!r) {
        gb_err_set(err, GB_E_SYSTEM, ENOMEM, "beginning a review");
        return NULL;
    }
    *r = (struct review){ .timeout_ms = spec->timeout_ms ? spec->timeout_ms : TIMEOUT_MS,
                          .backoff_ms = spec->backoff_ms ? spec->backoff_ms : BACKOFF_MS,
                          .attempts = spec->attempts ? spec->attempts : ATTEMPTS,
                          .parts = ASK_ALL,
                          .began_us = clock_us(),
                          .done = done,
                          .data = data };
    r->link = spec->link ? spec->link : &r->own;
    if (prepare(r, spec, parts, tools, err) == 0 && ask(r, err) == 0)
        return r;
    review_cancel(r);
    return NULL;
}
