/*
 * A request of the contract comes as the body, and its result is the reply. For a client that names
 * text/event-stream in its Accept header the reply is a stream: "output" as it comes, {"stream",
 * "text"}, then "result".
 */
#include "http/v1.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "mcp/rpc.h"

enum {
    PING_MS = 15000,
    TAIL_MAX = 4 /* bytes of a character that is not whole yet */
};

/* Output is cut wherever a read ended: what may be the start of a character waits for the rest. */
struct tail {
    char bytes[TAIL_MAX];
    size_t len;
};

struct v1_call {
    struct http_v1 *v1;
    struct v1_call *prev, *next;
    struct http_exchange *x;
    struct run_turn *turn;
    bool is_streaming;
    bool has_session; /* it names one */
    struct tail tails[2];
    json_int_t n_skipped; /* bytes that a slow client was not sent */
};

struct http_v1 {
    struct http_v1_spec spec;
    struct v1_call *calls;
    struct event *on_ping;
};

/* ---- calls ---- */

static struct v1_call *call_new(struct http_v1 *v1, struct http_exchange *x)
{
    struct v1_call *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    *c = (struct v1_call){ .v1 = v1,
                           .x = x,
                           .next = v1->calls,
                           .is_streaming = http_accepts_by_name(x, "text/event-stream") };
    if (c->next)
        c->next->prev = c;
    v1->calls = c;
    return c;
}

static void call_free(struct v1_call *c)
{
    if (c->prev)
        c->prev->next = c->next;
    else
        c->v1->calls = c->next;
    if (c->next)
        c->next->prev = c->prev;
    free(c);
}

/* The client has left, and with it whoever wanted the result. */
static void on_gone(void *data)
{
    struct v1_call *c = data;

    run_drop(c->turn);
    call_free(c);
}

/* ---- output ---- */

static const char *stream_name(enum gb_stream stream)
{
    return stream == GB_STDERR ? "stderr" : "stdout";
}

static void tell_output(struct v1_call *c, enum gb_stream stream, const char *bytes, size_t len)
{
    auto_json json_t *event =
        json_pack("{s:s,s:o}", "stream", stream_name(stream), "text", json_replaced(bytes, len));
    auto_free char *text = NULL;

    if (event && c->n_skipped > 0)
        (void)json_object_set_new(event, "skipped_bytes", json_integer(c->n_skipped));
    c->n_skipped = 0;
    text = event ? json_text(event) : NULL;
    if (text)
        http_stream_send(c->x, "output", text, strlen(text));
}

/* How many bytes at the end may be the start of a character. */
static size_t open_end(const char *bytes, size_t len)
{
    for (size_t back = 1; back < TAIL_MAX && back <= len; back++) {
        unsigned char b = (unsigned char)bytes[len - back];
        size_t whole = b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : b >= 0xc0 ? 2 : 1;

        if ((b & 0xc0) == 0x80)
            continue;
        return whole > back ? back : 0;
    }
    return 0;
}

static void on_output(void *data, enum gb_stream stream, const char *bytes, size_t len)
{
    struct v1_call *c = data;
    struct tail *tail = &c->tails[stream == GB_STDERR];
    auto_free char *all = malloc(tail->len + len);
    size_t n = tail->len + len, rest;

    if (!all || http_stream_is_full(c->x)) {
        c->n_skipped += (json_int_t)len;
        return;
    }
    memcpy(all, tail->bytes, tail->len);
    memcpy(all + tail->len, bytes, len);
    rest = open_end(all, n);
    memcpy(tail->bytes, all + n - rest, rest);
    tail->len = rest;
    if (n > rest)
        tell_output(c, stream, all, n - rest);
}

/* ---- results ---- */

/* A program that failed was served well; a request that could not be was not. */
static int status_of(const struct v1_call *c, const json_t *result)
{
    static const struct {
        const char *type;
        int status;
    } kinds[] = { { "invalid", 400 }, { "limit", 400 }, { "busy", 503 } };
    const char *type = json_string_at(json_object_get(result, "error"), "type", "");

    if (strcmp(json_string_at(result, "status", ""), "failed") != 0)
        return 200;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(type, kinds[i].type) == 0)
            return kinds[i].status;
    return c->has_session && strcmp(type, "gone") == 0 ? 404 : 500;
}

static void finish_stream(struct v1_call *c, const char *text)
{
    for (int i = 0; i < 2; i++)
        if (c->tails[i].len > 0)
            tell_output(c, i ? GB_STDERR : GB_STDOUT, c->tails[i].bytes, c->tails[i].len);
    http_stream_send(c->x, "result", text, strlen(text));
    http_stream_end(c->x);
}

static void on_done(void *data, json_t *taken)
{
    struct v1_call *c = data;
    auto_json json_t *result = taken;
    auto_free char *text = result ? json_text(result) : NULL;
    int status = status_of(c, result);

    if (!text && c->is_streaming) { /* it has begun: it can only end */
        http_stream_end(c->x);
    } else if (!text) {
        http_reply_error(c->x, 500, "system", "memory ran out");
    } else if (c->is_streaming) {
        finish_stream(c, text);
    } else {
        if (status == 503)
            http_set_header(c->x, "Retry-After", "1");
        http_reply(c->x, status, "application/json", text, strlen(text));
    }
    call_free(c);
}

/* ---- requests ---- */

/* The body as a request of this kind; NULL: it has been answered. */
static json_t *read_request(struct http_exchange *x, const char *kind)
{
    size_t len = 0;
    const char *body = http_body(x, &len);
    const char *excess = rpc_excess(body, len);
    json_error_t where;
    auto_json json_t *request =
        excess ? NULL : json_loadb(body, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &where);
    auto_json json_t *said = NULL;
    bool is_session = strcmp(kind, "python") == 0; /* where sessions run, they are seen to */

    if (excess) {
        http_reply_error(x, 413, "limit", excess);
        return NULL;
    }
    if (!request || !json_is_object(request)) {
        said = request ? json_string("the request is not a JSON object")
                       : json_sprintf("the request is not JSON: %s (line %d, column %d)",
                                      where.text, where.line, where.column);
        http_reply_error(x, 400, "invalid", said ? json_string_value(said) : "not JSON");
        return NULL;
    }
    if (!json_object_get(request, "kind"))
        (void)json_object_set_new(request, "kind", json_string(kind));
    if (strcmp(json_string_at(request, "kind", ""), kind) != 0 &&
        !(is_session && strcmp(json_string_at(request, "kind", ""), "session") == 0)) {
        http_reply_error(x, 400, "invalid", "kind: is not that of this path");
        return NULL;
    }
    return take_ptr(request);
}

static void start(struct http_v1 *v1, struct http_exchange *x, json_t *request)
{
    struct v1_call *c = call_new(v1, x);
    bool has_session = json_object_get(request, "session") != NULL;
    struct runs_events events = { .done = on_done,
                                  .output = c && c->is_streaming ? on_output : NULL };

    if (!c) {
        json_decref(request);
        http_reply_busy(x, "memory ran out");
        return;
    }
    c->has_session = has_session;
    c->turn = runs_add(v1->spec.runs, request, &events, c);
    if (!c->turn) {
        call_free(c);
        http_reply_busy(x, "memory ran out");
        return;
    }
    http_on_gone(x, on_gone, c);
    if (c->is_streaming)
        http_stream_begin(x);
}

static void run_kind(struct http_exchange *x, struct http_v1 *v1, const char *kind)
{
    json_t *request;

    if (!http_need_json(x))
        return;
    if (runs_waiting(v1->spec.runs) >= v1->spec.waiting_max) {
        http_reply_busy(x, "too many requests wait for their turn");
        return;
    }
    request = read_request(x, kind);
    if (request)
        start(v1, x, request);
}

static void run_python(struct http_exchange *x, void *data)
{
    run_kind(x, data, "python");
}

static void run_shell(struct http_exchange *x, void *data)
{
    run_kind(x, data, "shell");
}

static void run_check(struct http_exchange *x, void *data)
{
    run_kind(x, data, "check");
}

/* ---- life ---- */

static void on_ping(evutil_socket_t fd, short what, void *data)
{
    const struct http_v1 *v1 = data;

    (void)fd;
    (void)what;
    for (const struct v1_call *c = v1->calls; c; c = c->next)
        if (c->is_streaming && !http_stream_is_full(c->x))
            http_stream_ping(c->x);
}

struct http_v1 *http_v1_new(const struct http_v1_spec *spec)
{
    static const struct timeval often = { .tv_sec = PING_MS / 1000 };
    struct http_v1 *v1 = calloc(1, sizeof(*v1));

    if (!v1)
        return NULL;
    v1->spec = *spec;
    v1->on_ping = event_new(spec->base, -1, EV_PERSIST, on_ping, v1);
    if (!v1->on_ping || event_add(v1->on_ping, &often) < 0)
        return http_v1_free(v1);
    return v1;
}

struct http_v1 *http_v1_free(struct http_v1 *v1)
{
    if (!v1)
        return NULL;
    while (v1->calls)
        on_gone(v1->calls);
    if (v1->on_ping)
        event_free(v1->on_ping);
    free(v1);
    return NULL;
}

void http_v1_route(struct http_v1 *v1, struct http_server *server)
{
    http_server_route(server, &(struct http_route){ "/v1/run", HTTP_POST, false, run_python, v1 });
    http_server_route(server, &(struct http_route){ "/v1/check", HTTP_POST, false, run_check, v1 });
    if (v1->spec.has_shell)
        http_server_route(server,
                          &(struct http_route){ "/v1/shell", HTTP_POST, false, run_shell, v1 });
}
