/*
 * Bytes as another MCP server sends them, as lines or over HTTP, as bodies or server-sent events,
 * to our client, which begins with it, lists its tools and calls one. "@" in them stands for the id
 * of the last request, so that the fuzzer gets past that. Each request ends once, whatever comes;
 * nothing may leak, and nothing be left.
 *
 * Over HTTP the link is the real one (link_http.c), on a stand-in for libcurl. Some inputs have
 * those who are told of an answer, or of a line of log, close the client, or give up other
 * requests: in the middle of whatever is being read.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "fetch/fetch.h"
#include "glovebox.h"
#include "mcp/downstream_core.h"
#include "mcp/link.h"
#include "mcp/servers.h"

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

/* ---- a libcurl whose servers are the input ---- */

struct fetch {
    struct fetch *next;
    struct fetch_request request;
    fetch_done done;
    void *data;
};

static struct fetch *fetches; /* the newest first */

static int fake_url(const char *base, const char *path, struct fetch_url *ret, struct gb_err *err)
{
    (void)path;
    (void)err;
    *ret = (struct fetch_url){ .host = "h" };
    (void)snprintf(ret->text, sizeof(ret->text), "%s", base);
    return 0;
}

static struct fetch_client *fake_client(struct event_base *base)
{
    return (struct fetch_client *)base; /* which is not looked into */
}

static struct fetch_client *fake_client_free(struct fetch_client *client)
{
    (void)client;
    if (fetches)
        abort(); /* the link has cancelled all that it began */
    return NULL;
}

static struct fetch *fake_post(struct fetch_client *client, const struct fetch_request *request,
                               fetch_done done, void *data, struct gb_err *err)
{
    struct fetch *f = calloc(1, sizeof(*f));
    struct rpc_message message;
    struct rpc_problem problem;

    (void)client;
    (void)err;
    if (!f)
        abort();
    *f = (struct fetch){ .next = fetches, .request = *request, .done = done, .data = data };
    fetches = f;
    if (request->body && rpc_read(request->body, strlen(request->body), &message, &problem) < 0)
        abort();
    if (request->body && message.kind == RPC_REQUEST)
        last_id = json_integer_value(message.id);
    if (request->body)
        rpc_message_done(&message);
    return f;
}

static void fetch_unlink(struct fetch *f)
{
    struct fetch **at = &fetches;

    while (*at && *at != f)
        at = &(*at)->next;
    if (!*at)
        abort(); /* it is over, or was cancelled before */
    *at = f->next;
}

static void fake_cancel(struct fetch *f)
{
    fetch_unlink(f);
    free(f);
}

const struct fetch_ops *fetch_load(const char *dir, struct gb_err *err)
{
    static const struct fetch_ops ops = { .url = fake_url,
                                          .client_new = fake_client,
                                          .client_free = fake_client_free,
                                          .post = fake_post,
                                          .cancel = fake_cancel };

    (void)dir;
    (void)err;
    return &ops;
}

/* The fetch that is `back` before the newest, or the oldest. */
static struct fetch *fetch_at(unsigned back)
{
    struct fetch *f = fetches;

    while (f && f->next && back-- > 0)
        f = f->next;
    return f;
}

static void fetch_feed(struct fetch *f, bool is_sse, const char *text, size_t len)
{
    struct fetch_head head = { .status = 200,
                               .type = is_sse ? "text/event-stream" : "application/json",
                               .kept = "s" };
    char *copy = malloc(len + 1); /* so that reading behind it is seen */

    if (!copy)
        abort();
    memcpy(copy, text, len);
    if (f && len > 0)
        f->request.stream(f->data, &head, copy, len); /* it may be gone now */
    free(copy);
}

static void fetch_end(struct fetch *f, unsigned how)
{
    static const long statuses[] = { 200, 202, 404, 401 };
    struct fetch_reply reply = { .fault = how & 4 ? FETCH_NETWORK : FETCH_OK,
                                 .why = "it broke",
                                 .status = statuses[how & 3],
                                 .kept = "s",
                                 .retry_after_s = -1,
                                 .body = "" };
    if (!f)
        return;
    fetch_unlink(f);
    f->done(f->data, &reply);
    free(f);
}

/* ---- who asks ---- */

struct asked {
    struct client_request *request;
    bool is_asked;
};

enum {
    HTTP = 1,
    ELICITS = 2,
    EVENTS = 4,
    ANSWER_CLOSES = 8,
    LOG_CLOSES = 16,
    ANSWER_GIVES_UP = 32
};

static struct asked asked[REQUESTS_MAX];
static struct upstream *server;
static struct client *the_client; /* NULL: it has been closed */
static unsigned how;

static void give_up(void);

/* What those who are told may do, in the middle of what is being read. */
static void do_damage(unsigned which)
{
    struct client *c = the_client;

    if (how & which & ANSWER_GIVES_UP)
        give_up();
    if (!(how & which & (ANSWER_CLOSES | LOG_CLOSES)) || !c)
        return;
    the_client = NULL;
    client_close(c);
}

static void on_done(void *data, const struct client_answer *answer)
{
    struct asked *a = data;
    struct outcome outcome;

    if (!a->is_asked || (!answer->result && (!answer->type || !answer->message)))
        abort();
    *a = (struct asked){ 0 };
    do_damage(ANSWER_CLOSES | ANSWER_GIVES_UP);
    if (!answer->result)
        return;
    outcome_of(server, answer->result, NULL, &outcome);
    if (!outcome.value == !outcome.type)
        abort();
    json_decref(outcome.value);
    free(outcome.message);
    json_decref(outcome_of_read(answer->result));
}

static void ask(void)
{
    json_t *params = json_pack("{s:s,s:{s:i}}", "name", "t", "arguments", "x", 1);

    for (size_t i = 0; the_client && i < REQUESTS_MAX; i++) {
        if (asked[i].is_asked)
            continue;
        asked[i].is_asked = true;
        asked[i].request = client_ask(the_client, "tools/call", params, 0, on_done, &asked[i]);
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
    do_damage(LOG_CLOSES);
}

/* ---- what comes ---- */

/* The text with the last request's id in the place of its first "@". Returns its length. */
static size_t fill(const char *text, size_t len, char *line, size_t size)
{
    const char *at = memchr(text, '@', len);
    size_t before = at ? (size_t)(at - text) : len;
    int n;

    if (len >= size - 32)
        return 0;
    n = snprintf(line, size, "%.*s", (int)before, text);
    if (at && n >= 0)
        n += snprintf(line + n, size - (size_t)n, "%lld%.*s", (long long)last_id,
                      (int)(len - 1 - before), at + 1);
    return n < 0 ? 0 : (size_t)n;
}

static void take_line(const char *text, size_t len)
{
    struct rpc_message message;
    struct rpc_problem problem;
    int r;

    if (!is_linked || is_closing)
        return;
    r = rpc_read(text, len, &message, &problem);
    now.events.message(now.events.data, r == 0 ? &message : NULL, problem.message);
    rpc_message_done(&message);
    rpc_problem_done(&problem);
}

/* A line of one letter is something else that happens. */
static void take_letter(char letter)
{
    bool is_http = how & HTTP;

    if (letter == 'a')
        ask();
    else if (letter == 'c')
        give_up();
    else if (letter == 'e' && !is_http && is_linked)
        now.events.ended(now.events.data, "it ended");
    else if (letter >= '0' && letter <= '7' && is_http)
        fetch_end(fetch_at(0), (unsigned)(letter - '0'));
    else if (letter >= '8' && letter <= '9' && is_http)
        fetch_end(fetch_at(99), (unsigned)(letter - '8'));
    else if (letter >= '0' && letter <= '7' && is_linked && !is_closing)
        now.events.failed(now.events.data, letter & 4 ? last_id : 0, (enum link_fault)(letter & 3),
                          "it failed");
}

/* Lines up to the next that is one letter come in one piece over HTTP: an event may end the link
 * that the next is read for. 'o' in front of the letter: on the oldest exchange. */
static void feed(struct event_base *base, const char *text, size_t len)
{
    char piece[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
    size_t n_piece = 0;

    while (len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t n = end ? (size_t)(end - text) : len, n_line = fill(text, n, line, sizeof(line));
        bool is_letter = n == 1 || (n == 2 && text[0] == 'o');

        if (!is_letter && !(how & HTTP))
            take_line(line, n_line);
        if (!is_letter && (how & HTTP) && n_piece + n_line + 1 < sizeof(piece)) {
            memcpy(piece + n_piece, line, n_line);
            n_piece += n_line;
            piece[n_piece++] = '\n';
        }
        if (is_letter || !end || len == n + 1) {
            fetch_feed(fetch_at(n == 2 ? 99 : 0), how & EVENTS, piece, n_piece);
            n_piece = 0;
        }
        if (is_letter)
            take_letter(text[n - 1]);
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
        n += end != NULL;
        text += n;
        len -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char key[] = "k", url[] = "http://h/";
    struct server_spec spec = { .key = key, .ident = key, .timeout_ms = 1000, .start_ms = 1000 };
    struct event_base *base = event_base_new();
    struct client_spec client_spec = {
        .base = base,
        .server = &spec,
        .events = { .listed = on_nothing, .settled = on_nothing, .log = on_log }
    };
    struct downstream all = { .shelf = shelf_new() };
    struct upstream upstream = { .all = &all, .spec = &spec };
    struct client *c;

    how = size > 0 ? data[0] : 0;
    spec.url = how & HTTP ? url : NULL;
    client_spec.events.elicit = how & ELICITS ? elicit : NULL;
    server = &upstream;
    last_id = 0;
    c = the_client = client_new(&client_spec);
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
    if (size > 1)
        feed(base, (const char *)data + 1, size - 1);
    the_client = NULL;
    client_close(c);
    (void)client_free(c);
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        if (asked[i].is_asked)
            abort();
    if (fetches)
        abort();
    (void)shelf_free(all.shelf);
    event_base_free(base);
    return 0;
}
