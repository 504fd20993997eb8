/*
 * An MCP server that is asked over HTTP: each message a POST, its answer a JSON object or a stream
 * of events. Modern servers keep no state. Legacy ones may: a session, a stream of what they have
 * to say unasked (GET), and answers that come on another stream when the first one broke off.
 *
 * Whoever is told of a message may close the link, or have exchanges forgotten, while the rest of
 * what came is still being read. So an exchange that is dropped while something of this link is on
 * the stack is only marked (`is_dropped`), and freed when the last such function returns (leave()):
 * every loop over input looks at the mark after each message.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/own.h"
#include "fetch/fetch.h"
#include "mcp/link.h"
#include "mcp/servers.h"
#include "mcp/sse.h"

enum {
    HEADERS_MAX = 64,
    HEADER_BYTES = 8192,
    CONNECT_MS = 10000,
    DELETE_MS = 300,
    RETRY_MS = 1000,
    RETRIES_MAX = 5, /* of a stream that broke off, without anything having come */
    WHY_MAX = 200
};

struct http_link;

/* One request of HTTP. */
struct exchange {
    struct exchange *prev, *next;
    struct http_link *link;
    json_int_t id; /* whose answer is awaited; 0: none */
    struct fetch *fetch;
    struct gb_buf body; /* JSON */
    struct sse sse;
    bool is_sse, is_listening, is_last;
    bool is_barrier; /* others wait until it is through */
    bool has_news;   /* since it was begun with */
    bool is_dropped; /* nobody wants more of it; freed as soon as nothing of it is being read */
    unsigned retries;
    struct event *on_retry;
    json_t *message; /* {"text", "method", "target", "extra"}: waits for the barrier */
};

struct http_link {
    struct link link;
    const struct server_spec *server;
    struct event_base *base;
    const struct fetch_ops *ops;
    struct fetch_client *client;
    struct fetch_url url;
    char version[32];
    bool is_modern;
    char session[512];
    struct exchange *exchanges;
    struct exchange *dropped; /* to be freed by leave(); linked by `next` */
    unsigned depth;           /* of functions on the stack that read what came */
    struct event *on_over;
    bool is_closing, is_gone;
    bool is_freed; /* http_free() was called with something on the stack */
};

static struct http_link *of(struct link *l)
{
    return (struct http_link *)l; /* its first member */
}

static void exchange_get(struct exchange *x);
static void start_waiting(struct http_link *h);
static void link_free(struct http_link *h);

static bool is_barred(const struct http_link *h)
{
    for (const struct exchange *x = h->exchanges; x; x = x->next)
        if (x->is_barrier && x->fetch)
            return true;
    return false;
}

/* ---- exchanges ---- */

static void exchange_free(struct exchange *x)
{
    gb_buf_done(&x->body);
    sse_done(&x->sse);
    json_decref(x->message);
    free(x);
}

/* End it: nothing more is read for it or told of it. Its memory stays until leave(). */
static void exchange_drop(struct exchange *x)
{
    struct http_link *h = x->link;

    if (x->prev)
        x->prev->next = x->next;
    else
        h->exchanges = x->next;
    if (x->next)
        x->next->prev = x->prev;
    if (x->fetch)
        h->ops->cancel(take_ptr(x->fetch));
    if (x->on_retry)
        event_free(take_ptr(x->on_retry));
    x->is_dropped = true;
    if (h->depth == 0) {
        exchange_free(x);
        return;
    }
    x->next = h->dropped;
    h->dropped = x;
}

static void enter(struct http_link *h)
{
    h->depth++;
}

/* The link may be gone afterwards, with all that is its. */
static void leave(struct http_link *h)
{
    if (--h->depth > 0)
        return;
    while (h->dropped) {
        struct exchange *x = h->dropped;

        h->dropped = x->next;
        exchange_free(x);
    }
    if (h->is_freed)
        link_free(h);
}

static struct exchange *exchange_new(struct http_link *h, json_int_t id)
{
    struct exchange *x = calloc(1, sizeof(*x));

    if (!x)
        return NULL;
    *x = (struct exchange){ .link = h, .id = id, .next = h->exchanges };
    gb_buf_init(&x->body, RPC_BYTES_MAX);
    sse_init(&x->sse, RPC_BYTES_MAX);
    if (h->exchanges)
        h->exchanges->prev = x;
    h->exchanges = x;
    return x;
}

/* Tell that its request will not be answered, and drop it. */
static void exchange_fail(struct exchange *x, enum link_fault fault, const char *why)
{
    struct http_link *h = x->link;
    json_int_t id = x->id;

    exchange_drop(x);
    if (id != 0)
        h->link.events.failed(h->link.events.data, id, fault, why);
}

/* ---- what comes ---- */

/* A message of this exchange. Returns false when the exchange has been dropped: by its answer, or
 * by whoever was told. */
static bool take_message(struct exchange *x, const char *text, size_t len)
{
    struct http_link *h = x->link;
    struct rpc_message m;
    struct rpc_problem problem;
    auto_json json_t *id = NULL;
    bool is_answer;

    if (rpc_read(text, len, &m, &problem) < 0) {
        h->link.events.message(h->link.events.data, NULL, problem.message);
        rpc_problem_done(&problem);
        return !x->is_dropped; /* what it has to say is checked at its end */
    }
    if (m.kind == RPC_RESPONSE && !m.id) { /* an error about what it could not read is about this */
        id = json_integer(x->id);
        m.id = id;
    }
    is_answer =
        m.kind == RPC_RESPONSE && json_is_integer(m.id) && json_integer_value(m.id) == x->id;
    if (is_answer && x->is_listening)
        x->id = 0;
    else if (is_answer)
        exchange_drop(x);
    h->link.events.message(h->link.events.data, &m, NULL);
    rpc_message_done(&m);
    return !x->is_dropped;
}

static bool on_event(void *data, const char *text, size_t len)
{
    struct exchange *x = data;

    x->has_news = true;
    return take_message(x, text, len);
}

static bool is_stream(const char *type)
{
    return type && strncasecmp(type, "text/event-stream", 17) == 0;
}

static void take_piece(struct exchange *x, const struct fetch_head *head, const char *bytes,
                       size_t len)
{
    struct gb_err err;

    if (head->status < 300 && head->kept[0] && !x->link->is_modern)
        (void)snprintf(x->link->session, sizeof(x->link->session), "%s", head->kept);
    if (is_stream(head->type) && head->status < 300) {
        x->is_sse = true;
        if (sse_feed(&x->sse, bytes, len, on_event, x) < 0)
            exchange_fail(x, LINK_TOO_BIG, "it sent a message of more than 8 MiB");
    } else if (gb_buf_add(&x->body, bytes, len, &err) < 0) {
        exchange_fail(x, LINK_TOO_BIG, "it sent a message of more than 8 MiB");
    }
}

static void on_piece(void *data, const struct fetch_head *head, const char *bytes, size_t len)
{
    struct exchange *x = data;
    struct http_link *h = x->link;

    enter(h);
    take_piece(x, head, bytes, len);
    leave(h);
}

/* ---- how it ended ---- */

static void on_retry(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    exchange_get(data);
}

/* Go on with a stream where it broke off, after the time that the server asks for. False: it cannot
 * be. */
static bool resume(struct exchange *x)
{
    long ms = x->sse.retry_ms >= 0 ? x->sse.retry_ms : RETRY_MS;
    struct timeval in = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

    if (x->link->is_modern || x->link->is_closing || (!x->is_listening && !x->sse.id[0]))
        return false;
    x->retries = x->has_news ? 0 : x->retries + 1;
    x->has_news = false;
    if (x->retries > RETRIES_MAX)
        return false;
    if (!x->on_retry)
        x->on_retry = evtimer_new(x->link->base, on_retry, x);
    return x->on_retry && evtimer_add(x->on_retry, &in) == 0;
}

/* Does it look like one? Error pages do not. */
static bool is_object(const struct gb_buf *body)
{
    size_t i = 0;

    while (i < body->len && strchr(" \t\r\n", body->data[i]) && body->data[i])
        i++;
    return i < body->len && body->data[i] == '{';
}

/* The text of a body, as a message if it is one. */
static void take_body(struct exchange *x, const struct fetch_reply *r)
{
    struct http_link *h = x->link;
    char why[WHY_MAX];

    if (is_object(&x->body) && !take_message(x, x->body.data, x->body.len))
        return;
    if (r->status == 404 && h->session[0]) {
        exchange_fail(x, LINK_NO_SESSION, "its session is over");
        return;
    }
    if (r->status >= 400) {
        (void)snprintf(why, sizeof(why), "HTTP status %ld%s", r->status,
                       r->status == 401 || r->status == 403
                           ? ": it wants other credentials (\"headers\" of its configuration)"
                           : "");
        exchange_fail(x, LINK_REFUSED, why);
        return;
    }
    exchange_fail(x, LINK_BROKEN, "it sent no answer");
}

static void conclude(struct exchange *x, const struct fetch_reply *r)
{
    char why[WHY_MAX];

    if (r->fault == FETCH_OK) {
        take_body(x, r);
        return;
    }
    (void)snprintf(why, sizeof(why), "%.80s: %.110s", x->link->url.host, r->why);
    exchange_fail(x, r->fault == FETCH_TOO_BIG ? LINK_TOO_BIG : LINK_BROKEN, why);
}

static void take_end(struct exchange *x, const struct fetch_reply *r)
{
    struct http_link *h = x->link;
    bool was_barrier = x->is_barrier;

    x->fetch = NULL;
    x->is_barrier = false;
    if (r->fault == FETCH_OK && r->status < 300 && r->kept[0] && !h->is_modern)
        (void)snprintf(h->session, sizeof(h->session), "%s", r->kept);
    if (x->is_last) {
        exchange_drop(x);
        event_active(h->on_over, EV_TIMEOUT, 0);
        return;
    }
    if (x->is_listening) { /* unless it has nothing to say unasked */
        if (r->status >= 400 || !resume(x))
            exchange_drop(x);
    } else if (!x->is_sse || !resume(x)) {
        conclude(x, r);
    }
    if (was_barrier)
        start_waiting(h);
}

static void on_done(void *data, const struct fetch_reply *r)
{
    struct exchange *x = data;
    struct http_link *h = x->link;

    enter(h);
    take_end(x, r);
    leave(h);
}

/* ---- what is sent ---- */

struct headers {
    const char *list[HEADERS_MAX + 1];
    size_t n, used;
    char text[HEADER_BYTES];
};

static void add(struct headers *t, const char *name, const char *value)
{
    size_t room = sizeof(t->text) - t->used;
    int n;

    if (t->n == HEADERS_MAX)
        return;
    /* libcurl takes a header without a value for one to leave out, but for this way to write it */
    n = snprintf(t->text + t->used, room, *value ? "%s: %s" : "%s;%s", name, value);
    if (n < 0 || (size_t)n >= room)
        return;
    t->list[t->n++] = t->text + t->used;
    t->used += (size_t)n + 1;
}

static void add_usual(const struct http_link *h, struct headers *t, const json_t *message)
{
    const char *method = json_string_at(message, "method", NULL), *name;
    const char *target = json_string_at(message, "target", NULL);
    bool is_greeting = method && strcmp(method, "initialize") == 0;
    json_t *value;

    for (char **at = h->server->headers; at && *at && t->n < HEADERS_MAX; at++)
        t->list[t->n++] = *at;
    if (h->version[0] && !is_greeting)
        add(t, "MCP-Protocol-Version", h->version);
    if (h->session[0] && !h->is_modern)
        add(t, "Mcp-Session-Id", h->session);
    if (h->is_modern && method)
        add(t, "Mcp-Method", method);
    if (h->is_modern && target)
        add(t, "Mcp-Name", target);
    json_object_foreach (json_object_get(message, "extra"), name, value)
        add(t, name, json_string_value(value));
}

static int begin(struct exchange *x, const char *method, const char *body, const char *accept,
                 struct headers *headers)
{
    struct http_link *h = x->link;
    struct gb_err err;
    struct fetch_request request = { .method = method,
                                     .url = h->url.text,
                                     .body = body,
                                     .accept = accept,
                                     .headers = headers->list,
                                     .ca = h->server->ca,
                                     .keep = "Mcp-Session-Id",
                                     .timeout_ms = x->is_last ? DELETE_MS : 0,
                                     .connect_ms = CONNECT_MS,
                                     .reply_max = RPC_BYTES_MAX,
                                     .stream = on_piece };

    x->fetch = h->ops->post(h->client, &request, on_done, x, &err);
    return x->fetch ? 0 : -1;
}

static void on_unsent(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    exchange_fail(data, LINK_BROKEN, "memory ran out");
}

/* It cannot be begun with. Whoever sends it is told from the loop, when he knows what he sent; if
 * there is no memory for that either, he finds that time is up. */
static void fail_soon(struct exchange *x)
{
    static const struct timeval now = { 0 };

    if (x->on_retry)
        event_free(x->on_retry);
    x->on_retry = evtimer_new(x->link->base, on_unsent, x);
    if (x->on_retry)
        (void)evtimer_add(x->on_retry, &now);
}

/* A stream of what the server has to say, from the last event on that came. */
static void exchange_get(struct exchange *x)
{
    struct headers headers = { 0 };

    add_usual(x->link, &headers, NULL);
    if (x->sse.id[0])
        add(&headers, "Last-Event-ID", x->sse.id);
    gb_buf_done(&x->sse.line);
    x->sse.data.len = 0;
    x->sse.has_data = x->sse.is_after_cr = false;
    if (begin(x, "GET", NULL, "text/event-stream", &headers) < 0)
        fail_soon(x);
}

static void exchange_post(struct exchange *x)
{
    auto_json json_t *message = take_ptr(x->message);
    const char *method = json_string_at(message, "method", "");
    struct headers headers = { 0 };

    x->is_barrier = strcmp(method, "notifications/initialized") == 0;
    add_usual(x->link, &headers, message);
    if (begin(x, NULL, json_string_at(message, "text", ""), "application/json, text/event-stream",
              &headers) < 0)
        fail_soon(x);
}

/* What waited for the server to know that the handshake is over, in the order in which it came. */
static void start_waiting(struct http_link *h)
{
    struct exchange *x = h->exchanges, *before;

    while (x && x->next)
        x = x->next;
    for (; x && !is_barred(h); x = before) {
        before = x->prev;
        if (x->message)
            exchange_post(x);
    }
}

/* ---- the link ---- */

static void http_send(struct link *l, const struct link_message *m)
{
    struct http_link *h = of(l);
    struct exchange *x = h->is_closing ? NULL : exchange_new(h, m->id);

    if (!x)
        return;
    x->message = json_pack("{s:s#,s:s*,s:s*,s:O*}", "text", m->text, (int)m->len, "method",
                           m->method, "target", m->target, "extra", m->extra);
    if (!x->message)
        fail_soon(x);
    else if (!is_barred(h))
        exchange_post(x);
}

static void http_forget(struct link *l, json_int_t id)
{
    struct exchange *x = of(l)->exchanges;

    while (x && x->id != id)
        x = x->next;
    if (x)
        exchange_drop(x);
}

static void http_agree(struct link *l, const char *version, bool is_modern)
{
    struct http_link *h = of(l);

    (void)snprintf(h->version, sizeof(h->version), "%s", version);
    h->is_modern = is_modern;
}

static void http_listen(struct link *l)
{
    struct http_link *h = of(l);
    struct exchange *x = h->is_closing ? NULL : exchange_new(h, 0);

    if (!x)
        return;
    x->is_listening = true;
    exchange_get(x);
}

static void on_over(evutil_socket_t fd, short what, void *data)
{
    struct http_link *h = data;

    (void)fd;
    (void)what;
    h->is_gone = true;
    h->link.events.ended(h->link.events.data, "it was left"); /* the link may be gone now */
}

/* A session is ended in order, which is a courtesy: nobody waits long for it. */
static void http_close(struct link *l)
{
    struct http_link *h = of(l);
    struct headers headers = { 0 };
    struct exchange *x;

    if (h->is_closing)
        return;
    h->is_closing = true;
    while (h->exchanges)
        exchange_drop(h->exchanges);
    x = h->session[0] && !h->is_modern ? exchange_new(h, 0) : NULL;
    if (x) {
        x->is_last = true;
        add_usual(h, &headers, NULL);
        if (begin(x, "DELETE", NULL, NULL, &headers) == 0)
            return;
        exchange_drop(x);
    }
    event_active(h->on_over, EV_TIMEOUT, 0);
}

static bool http_is_gone(const struct link *l)
{
    return ((const struct http_link *)l)->is_gone;
}

static void link_free(struct http_link *h)
{
    while (h->exchanges)
        exchange_drop(h->exchanges);
    if (h->client)
        (void)h->ops->client_free(h->client);
    if (h->on_over)
        event_free(h->on_over);
    free(h);
}

static void http_free(struct link *l)
{
    struct http_link *h = of(l);

    if (h->depth == 0) {
        link_free(h);
        return;
    }
    h->is_freed = h->is_closing = true;
    while (h->exchanges)
        exchange_drop(h->exchanges);
    (void)event_del(h->on_over);
}

static const struct link_ops ops = { .send = http_send,
                                     .forget = http_forget,
                                     .agree = http_agree,
                                     .listen = http_listen,
                                     .close = http_close,
                                     .is_gone = http_is_gone,
                                     .free = http_free };

struct link *link_http_new(const struct link_spec *spec, struct gb_err *err)
{
    struct http_link *h = calloc(1, sizeof(*h));

    if (!h) {
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "memory ran out");
        return NULL;
    }
    *h = (struct http_link){ .link = { .ops = &ops, .events = spec->events },
                             .server = spec->server,
                             .base = spec->base,
                             .ops = fetch_load(spec->directory, err) };
    if (h->ops && h->ops->url(spec->server->url, "", &h->url, err) == 0) {
        h->on_over = event_new(spec->base, -1, 0, on_over, h);
        h->client = h->ops->client_new(spec->base);
        if (h->on_over && h->client)
            return &h->link;
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "memory ran out");
    }
    http_free(&h->link);
    return NULL;
}
