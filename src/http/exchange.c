/*
 * One request: who may ask, which route, how much of it is taken. All of that is decided when its
 * head is there, by this request's own headers: what the connection showed before does not count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/own.h"
#include "http/core.h"
#include "http/guard.h"

enum {
    FAILED_LOGIN_COST = 20 /* requests that a wrong token counts for */
};

const char *const http_refusal_names[HTTP_REFUSALS] = {
#define X(sym, name) [HTTP_REFUSED_##sym] = (name),
    HTTP_REFUSAL_MAP(X)
#undef X
};

static const struct {
    enum http_method ours;
    const char *name;
} methods[] = {
    { HTTP_GET, "GET" },
    { HTTP_POST, "POST" },
    { HTTP_DELETE, "DELETE" },
};

/* ---- what routes ask ---- */

enum http_method http_method(const struct http_exchange *x)
{
    return x->method;
}

const char *http_header(const struct http_exchange *x, const char *name)
{
    return head_get(&x->head, name);
}

const char *http_body(struct http_exchange *x, size_t *ret_len)
{
    *ret_len = x->body.len;
    return x->body.data ? x->body.data : "";
}

bool http_accepts(const struct http_exchange *x, const char *type)
{
    const char *accept = http_header(x, "Accept");

    return !accept || guard_accepts(accept, type, false);
}

bool http_accepts_by_name(const struct http_exchange *x, const char *type)
{
    const char *accept = http_header(x, "Accept");

    return accept && guard_accepts(accept, type, true);
}

bool http_need_json(struct http_exchange *x)
{
    const char *type = http_header(x, "Content-Type");

    /* A web page can send other types anywhere without asking first. */
    if (type && guard_type(type, "application/json"))
        return true;
    reply_failed(x, 415, "invalid", "Content-Type must be application/json",
                 "curl: -H 'Content-Type: application/json'");
    return false;
}

void http_on_gone(struct http_exchange *x, void (*gone)(void *data), void *data)
{
    x->gone = gone;
    x->gone_data = data;
}

/* ---- life ---- */

static size_t large(size_t bytes)
{
    return bytes > SMALL_BYTES ? bytes : 0;
}

/* What it counts for from now on. Small ones use up no room that large ones have. */
static void account(struct http_exchange *x, size_t held, size_t served)
{
    struct http_server *s = x->server;
    struct http_counts *counts = &s->counts;

    s->large_held = s->large_held + large(held) - large(x->held);
    s->large_served = s->large_served + large(served) - large(x->served);
    counts->held_bytes = counts->held_bytes + held - x->held;
    counts->served_bytes = counts->served_bytes + served - x->served;
    x->held = held;
    x->served = served;
}

static void exchange_free(struct http_exchange *x)
{
    if (!x)
        return;
    account(x, 0, 0);
    head_done(&x->head);
    gb_buf_done(&x->body);
    if (x->lines)
        evbuffer_free(x->lines);
    free(x);
}

static struct http_exchange *exchange_new(struct conn *c)
{
    struct http_exchange *x = calloc(1, sizeof(*x));

    if (!x) {
        conn_drop(c);
        return NULL;
    }
    *x = (struct http_exchange){ .server = c->server, .conn = c, .lines = evbuffer_new() };
    gb_buf_init(&x->body, c->server->spec.limits.body_bytes);
    if (!x->lines) {
        exchange_free(x);
        conn_drop(c);
        return NULL;
    }
    c->exchange = x;
    return x;
}

void exchange_leave(struct http_exchange *x, int status)
{
    struct conn *c = x->conn;

    x->server->counts.replies[status / 100]++;
    c->exchange = NULL;
    exchange_free(x);
    conn_finish(c);
}

void exchange_lose(struct http_exchange *x)
{
    x->conn->exchange = NULL;
    if (x->conn->state == CONN_BUSY)
        x->server->counts.vanished++;
    if (x->gone)
        x->gone(x->gone_data);
    exchange_free(x);
}

/* ---- refusals ---- */

/* It will be told so when its body has come, or at once if it is too long to wait for. */
static void refuse(struct http_exchange *x, enum http_refusal why, int status, const char *message,
                   const char *hint)
{
    struct refusal *r = &x->refusal;

    r->why = why;
    r->status = status;
    (void)snprintf(r->message, sizeof(r->message), "%s", message);
    (void)snprintf(r->hint, sizeof(r->hint), "%s", hint);
}

static void reply_refusal(struct http_exchange *x)
{
    const struct refusal *r = &x->refusal;
    char message[sizeof(r->message)], hint[sizeof(r->hint)];

    (void)snprintf(message, sizeof(message), "%s", r->message);
    (void)snprintf(hint, sizeof(hint), "%s", r->hint);
    x->server->counts.refused[r->why]++;
    reply_failed(x, r->status, r->status == 503 || r->status == 429 ? "busy" : "invalid", message,
                 hint);
}

static void reply_last_refusal(struct http_exchange *x)
{
    x->conn->is_last = true;
    reply_refusal(x);
}

void exchange_refuse(struct http_exchange *x, enum http_refusal why, int status,
                     const char *message)
{
    refuse(x, why, status, message, "");
    reply_last_refusal(x); /* what comes next may not be a request's beginning */
}

void exchange_reject(struct conn *c, int status, const char *message)
{
    struct http_exchange *x = exchange_new(c);

    if (!x)
        return;
    x->head.method = "";
    exchange_refuse(x, HTTP_REFUSED_MALFORMED, status, message);
}

static void refuse_method(struct http_exchange *x, const struct http_route *route)
{
    char allowed[64] = "", message[96];

    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (route->methods & methods[i].ours)
            (void)snprintf(allowed + strlen(allowed), sizeof(allowed) - strlen(allowed), "%s%s",
                           *allowed ? ", " : "", methods[i].name);
    http_set_header(x, "Allow", allowed);
    (void)snprintf(message, sizeof(message), "this path takes %s", allowed);
    refuse(x, HTTP_REFUSED_METHOD, 405, message, "");
}

static void refuse_path(struct http_exchange *x)
{
    const struct http_server *s = x->server;
    char there[200] = "there are";

    for (size_t i = 0; i < s->n_routes; i++)
        (void)snprintf(there + strlen(there), sizeof(there) - strlen(there), "%s %s", i ? "," : "",
                       s->routes[i].path);
    refuse(x, HTTP_REFUSED_PATH, 404, "there is nothing at this path", there);
}

/* ---- admission ---- */

/* Is it for us, and from a place from which it may be asked? */
static bool admit(struct http_exchange *x)
{
    const struct http_spec *spec = &x->server->spec;
    const char *host = http_header(x, "Host"), *origin = http_header(x, "Origin");
    const char *named = x->head.host;

    if (x->conn->is_excess)
        refuse(x, HTTP_REFUSED_BUSY, 503, "too many connections", "");
    else if ((host && !guard_host(host, x->conn->ours, spec->hosts)) ||
             (named && !guard_host(named, x->conn->ours, spec->hosts)))
        refuse(x, HTTP_REFUSED_HOST, 403, "the Host is not one of this server (--allow-host)", "");
    else if (origin && !guard_origin(origin, spec->origins))
        refuse(x, HTTP_REFUSED_ORIGIN, 403, "the Origin may not ask here (--allow-origin)", "");
    else
        x->is_admitted = true;
    return x->is_admitted;
}

static bool is_preflight(const struct http_exchange *x)
{
    return strcmp(x->head.method, "OPTIONS") == 0 && http_header(x, "Origin");
}

/* Who shows the token has a rate that no stranger can use up. */
static bool take_rate(struct http_exchange *x, bool is_known, unsigned cost)
{
    struct http_server *s = x->server;

    if (rates_take(is_known ? s->rates : s->stranger_rates, x->conn->address, cost, clock_us()))
        return true;
    refuse(x, HTTP_REFUSED_RATE, 429, "too many requests a second", "");
    return false;
}

/* Does it show the token, or need none? */
static bool authenticate(struct http_exchange *x)
{
    const char *token = x->server->spec.token, *shown = http_header(x, "Authorization");
    bool is_known = !token || guard_token(shown, token);

    conn_know(x->conn, is_known);
    if (is_known)
        return take_rate(x, true, 1);
    if (is_preflight(x) || (x->route && x->route->is_open))
        return take_rate(x, false, 1);
    if (!take_rate(x, false, FAILED_LOGIN_COST))
        return false;
    http_set_header(x, "WWW-Authenticate", "Bearer realm=\"glovebox\"");
    refuse(x, HTTP_REFUSED_TOKEN, 401,
           shown ? "this is not the server's token, as Authorization: Bearer TOKEN"
                 : "a token is needed: Authorization: Bearer TOKEN",
           "the server says at its start which file has it");
    return false;
}

static const struct http_route *find_route(const struct http_server *s, const char *path)
{
    for (size_t i = 0; i < s->n_routes; i++)
        if (strcmp(s->routes[i].path, path) == 0)
            return &s->routes[i];
    return NULL;
}

/* How much of a body is read from this client. */
static size_t body_max(const struct http_exchange *x)
{
    size_t most = x->server->spec.limits.body_bytes;

    return (x->conn->is_known && x->refusal.status == 0) || most < STRANGER_BYTES_MAX
               ? most
               : STRANGER_BYTES_MAX;
}

static void judge(struct http_exchange *x)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (strcmp(methods[i].name, x->head.method) == 0)
            x->method = methods[i].ours;
    x->route = find_route(x->server, x->head.path);
    if (!admit(x) || !authenticate(x) || is_preflight(x))
        return;
    if (!x->route)
        refuse_path(x);
    else if (!(x->route->methods & x->method))
        refuse_method(x, x->route);
    else if (x->server->is_draining && !x->route->is_open)
        refuse(x, HTTP_REFUSED_DRAINING, 503, "the server is about to end", "");
}

/* ---- its body, and then its turn ---- */

static void refuse_size(struct http_exchange *x)
{
    exchange_refuse(x, HTTP_REFUSED_SIZE, 413,
                    x->conn->is_known
                        ? "the request's body is too long"
                        : "the request's body is too long to be sent without a token");
}

/* A page of an origin that may ask wants to know that it may. */
static void reply_preflight(struct http_exchange *x)
{
    http_set_header(x, "Access-Control-Allow-Methods", "GET, POST, DELETE");
    http_set_header(x, "Access-Control-Allow-Headers",
                    "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, "
                    "Mcp-Name, Mcp-Session-Id");
    http_set_header(x, "Access-Control-Max-Age", "600");
    http_reply(x, 204, NULL, NULL, 0);
}

/* All of it is there. */
static void serve(struct http_exchange *x)
{
    struct http_server *s = x->server;
    struct conn *c = x->conn;
    size_t len = x->body.len;

    account(x, 0, len);
    if (x->refusal.status == 0 && large(len) > 0 && s->large_served > s->spec.limits.served_bytes)
        refuse(x, HTTP_REFUSED_SERVED_BYTES, 503, "too many large requests are being served", "");
    if (x->refusal.status != 0) {
        reply_refusal(x);
        return;
    }
    conn_enter(c, CONN_BUSY);
    if (is_preflight(x))
        reply_preflight(x);
    else
        x->route->run(x, x->route->data);
    if (c->exchange != x) /* it was answered */
        return;
    gb_buf_done(&x->body); /* the route has read it */
}

static enum chunks_said read_plain(struct http_exchange *x, struct evbuffer *input)
{
    size_t have = evbuffer_get_length(input);
    size_t n = have < x->left ? have : (size_t)x->left;

    if (!chunks_move(input, &x->body, n))
        return CHUNKS_TOO_BIG;
    x->left -= n;
    return x->left > 0 ? CHUNKS_MORE : CHUNKS_OVER;
}

void exchange_read(struct http_exchange *x, struct evbuffer *input)
{
    const struct conn *c = x->conn;
    enum chunks_said said = x->head.is_chunked
                                ? chunks_take(&x->chunks, input, &x->body, body_max(x))
                                : read_plain(x, input);

    if (x->refusal.status != 0) /* what is not served is not kept */
        x->body.len = 0;
    account(x, x->body.len, 0);
    if (said == CHUNKS_MALFORMED)
        exchange_refuse(x, HTTP_REFUSED_MALFORMED, 400, "the request's chunks are malformed");
    else if (said == CHUNKS_TOO_BIG)
        refuse_size(x);
    else if (said == CHUNKS_OVER)
        serve(x);
    else
        crowd_relieve(c->server);
}

void exchange_begin(struct conn *c, const char *head, size_t len)
{
    struct http_exchange *x = exchange_new(c);
    const struct head_problem *problem = x ? head_parse(&x->head, head, len) : NULL;

    if (!x)
        return;
    conn_enter(c, CONN_BODY);
    if (problem) {
        exchange_refuse(x, HTTP_REFUSED_MALFORMED, problem->status, problem->message);
        return;
    }
    judge(x);
    x->left = x->head.length;
    if (!x->head.is_chunked && x->head.length > body_max(x))
        refuse_size(x);
    else if (x->head.wants_go_ahead && x->refusal.status != 0)
        reply_last_refusal(x); /* it may send its body, or its next request */
    else if (x->head.wants_go_ahead)
        reply_go_ahead(x);
}
