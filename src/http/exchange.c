/* One request and its reply: who may ask, which route, what is sent. */
#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "http/core.h"
#include "http/guard.h"

enum {
    STREAM_FULL_BYTES = 1 << 20,
    FAILED_LOGIN_COST = 20, /* requests that a wrong token counts for */
    RETRY_SECONDS = 1
};

static const char as_json[] = "application/json";

const char *const http_refusal_names[HTTP_REFUSALS] = {
#define X(sym, name) [HTTP_REFUSED_##sym] = (name),
    HTTP_REFUSAL_MAP(X)
#undef X
};

static const struct {
    enum evhttp_cmd_type theirs;
    enum http_method ours;
    const char *name;
} methods[] = {
    { EVHTTP_REQ_GET, HTTP_GET, "GET" },
    { EVHTTP_REQ_POST, HTTP_POST, "POST" },
    { EVHTTP_REQ_DELETE, HTTP_DELETE, "DELETE" },
};

/* ---- replies ---- */

void http_set_header(struct http_exchange *x, const char *name, const char *value)
{
    (void)evhttp_add_header(evhttp_request_get_output_headers(x->req), name, value);
}

/* It has been answered: what is left of it is evhttp's. */
static struct evhttp_request *leave(struct http_exchange *x, int status)
{
    struct evhttp_request *req = x->req;

    if (status >= 100 && status < 600)
        x->server->counts.replies[status / 100]++;
    x->conn->exchange = NULL;
    if (x->server->is_draining || x->conn->is_excess)
        http_set_header(x, "Connection", "close");
    free(x);
    return req;
}

static void set_common_headers(struct http_exchange *x)
{
    const char *origin = http_header(x, "Origin");

    http_set_header(x, "Cache-Control", "no-store");
    http_set_header(x, "X-Content-Type-Options", "nosniff");
    if (!origin || !x->is_admitted)
        return;
    http_set_header(x, "Access-Control-Allow-Origin", origin);
    http_set_header(x, "Access-Control-Expose-Headers", "Mcp-Session-Id");
    http_set_header(x, "Vary", "Origin");
}

void http_reply(struct http_exchange *x, int status, const char *type, const char *text, size_t len)
{
    struct evbuffer *body = evbuffer_new();
    struct evhttp_request *req;

    set_common_headers(x);
    if (type)
        http_set_header(x, "Content-Type", type);
    if (body && len > 0)
        (void)evbuffer_add(body, text, len);
    req = leave(x, status);
    evhttp_send_reply(req, status, NULL, body);
    if (body)
        evbuffer_free(body);
}

static void reply_failed(struct http_exchange *x, int status, const char *kind, const char *message,
                         const char *hint)
{
    auto_json json_t *body = json_pack("{s:s,s:{s:s,s:o,s:s}}", "status", "failed", "error", "type",
                                       kind, "message", json_lossy(message), "hint", hint);
    auto_free char *text = body ? json_text(body) : NULL;

    http_reply(x, status, as_json, text, text ? strlen(text) : 0);
}

void http_reply_error(struct http_exchange *x, int status, const char *kind, const char *message)
{
    reply_failed(x, status, kind, message, "");
}

static void retry_later(struct http_exchange *x, int status, const char *message)
{
    char seconds[16];

    (void)snprintf(seconds, sizeof(seconds), "%d", RETRY_SECONDS);
    http_set_header(x, "Retry-After", seconds);
    http_reply_error(x, status, "busy", message);
}

void http_reply_busy(struct http_exchange *x, const char *message)
{
    x->server->counts.refused[HTTP_REFUSED_BUSY]++;
    retry_later(x, 503, message);
}

/* ---- streams ---- */

static bool is_http_1_0(const struct http_exchange *x)
{
    return x->req->major == 1 && x->req->minor == 0;
}

void http_stream_begin(struct http_exchange *x)
{
    set_common_headers(x);
    http_set_header(x, "Content-Type", "text/event-stream");
    http_set_header(x, "X-Accel-Buffering", "no"); /* for a proxy that would keep it back */
    if (is_http_1_0(x)) /* it knows no chunks: the end of the connection is that of the stream */
        http_set_header(x, "Connection", "close");
    evhttp_send_reply_start(x->req, 200, NULL);
}

static void send_piece(struct http_exchange *x, struct evbuffer *piece)
{
    evhttp_send_reply_chunk(x->req, piece);
    evbuffer_free(piece);
}

void http_stream_send(struct http_exchange *x, const char *name, const char *text, size_t len)
{
    struct evbuffer *piece = evbuffer_new();

    if (!piece)
        return;
    if (name)
        (void)evbuffer_add_printf(piece, "event: %s\n", name);
    (void)evbuffer_add(piece, "data: ", 6);
    (void)evbuffer_add(piece, text, len);
    (void)evbuffer_add(piece, "\n\n", 2);
    send_piece(x, piece);
}

void http_stream_ping(struct http_exchange *x)
{
    struct evbuffer *piece = evbuffer_new();

    if (!piece)
        return;
    (void)evbuffer_add(piece, ":\n\n", 3);
    send_piece(x, piece);
}

void http_stream_end(struct http_exchange *x)
{
    evhttp_send_reply_end(leave(x, 200));
}

bool http_stream_is_full(const struct http_exchange *x)
{
    return evbuffer_get_length(bufferevent_get_output(x->conn->bev)) >= STREAM_FULL_BYTES;
}

/* ---- what routes ask ---- */

enum http_method http_method(const struct http_exchange *x)
{
    return x->method;
}

const char *http_header(const struct http_exchange *x, const char *name)
{
    return evhttp_find_header(evhttp_request_get_input_headers(x->req), name);
}

const char *http_body(struct http_exchange *x, size_t *ret_len)
{
    struct evbuffer *input = evhttp_request_get_input_buffer(x->req);
    const char *text = (const char *)evbuffer_pullup(input, -1);

    *ret_len = text ? evbuffer_get_length(input) : 0;
    return text ? text : "";
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
    if (type && guard_type(type, as_json))
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

void exchange_lose(struct http_exchange *x)
{
    struct evhttp_request *req = x->req;

    x->server->counts.vanished++;
    x->conn->exchange = NULL;
    if (x->gone)
        x->gone(x->gone_data);
    free(x);
    /* When its client left, evhttp has parted with it; when the server ends, it has not. */
    if (!evhttp_request_get_connection(req))
        evhttp_request_free(req);
}

/* ---- admission ---- */

static void refuse_with(struct http_exchange *x, enum http_refusal why, int status,
                        const char *message, const char *hint)
{
    x->server->counts.refused[why]++;
    if (status == 503 || status == 429) {
        retry_later(x, status, message);
        return;
    }
    if (status == 400) /* who knows where the next request begins */
        http_set_header(x, "Connection", "close");
    reply_failed(x, status, "invalid", message, hint);
}

static void refuse(struct http_exchange *x, enum http_refusal why, int status, const char *message)
{
    refuse_with(x, why, status, message, "");
}

static const char *address_of(const struct http_exchange *x)
{
    char *address = NULL;
    uint16_t port = 0;

    evhttp_connection_get_peer(evhttp_request_get_connection(x->req), &address, &port);
    return address ? address : "";
}

static bool may_go_on(struct http_exchange *x, unsigned cost)
{
    return rates_take(x->server->rates, address_of(x), cost, clock_us());
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

static const struct http_route *find_route(const struct http_server *s, const char *path)
{
    for (size_t i = 0; path && i < s->n_routes; i++)
        if (strcmp(s->routes[i].path, path) == 0)
            return &s->routes[i];
    return NULL;
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
    refuse(x, HTTP_REFUSED_METHOD, 405, message);
}

static void refuse_path(struct http_exchange *x)
{
    const struct http_server *s = x->server;
    char there[200] = "there are";

    for (size_t i = 0; i < s->n_routes; i++)
        (void)snprintf(there + strlen(there), sizeof(there) - strlen(there), "%s %s", i ? "," : "",
                       s->routes[i].path);
    refuse_with(x, HTTP_REFUSED_PATH, 404, "there is nothing at this path", there);
}

/* Is it for us, and from somebody who may ask? If not, it has been answered. */
static bool admit(struct http_exchange *x)
{
    const struct http_spec *spec = &x->server->spec;
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(x->req);
    const char *host = http_header(x, "Host"), *origin = http_header(x, "Origin");
    const char *named = uri ? evhttp_uri_get_host(uri) : NULL;
    const char *problem = guard_headers(evhttp_request_get_input_headers(x->req), is_http_1_0(x),
                                        x->method == HTTP_POST);

    if (x->conn->is_excess)
        refuse(x, HTTP_REFUSED_BUSY, 503, "too many connections");
    else if (x->req->major != 1 || problem)
        refuse(x, HTTP_REFUSED_MALFORMED, 400, problem ? problem : "this is not HTTP/1");
    else if ((host && !guard_host(host, x->conn->ours, spec->hosts)) ||
             (named && *named && !guard_host(named, x->conn->ours, spec->hosts)))
        refuse(x, HTTP_REFUSED_HOST, 403, "the Host is not one of this server (--allow-host)");
    else if (origin && !guard_origin(origin, spec->origins))
        refuse(x, HTTP_REFUSED_ORIGIN, 403, "the Origin may not ask here (--allow-origin)");
    else
        return x->is_admitted = true;
    return false;
}

/* Does it show the token? If not, it has been answered. */
static bool authenticate(struct http_exchange *x, const struct http_route *route)
{
    const char *token = x->server->spec.token, *shown = http_header(x, "Authorization");

    if (!token || (route && route->is_open))
        return true;
    if (guard_token(shown, token)) {
        conn_know(x->conn);
        return true;
    }
    (void)may_go_on(x, FAILED_LOGIN_COST);
    http_set_header(x, "WWW-Authenticate", "Bearer realm=\"glovebox\"");
    refuse_with(x, HTTP_REFUSED_TOKEN, 401,
                shown ? "this is not the server's token, as Authorization: Bearer TOKEN"
                      : "a token is needed: Authorization: Bearer TOKEN",
                "the server says at its start which file has it");
    return false;
}

static void dispatch(struct http_exchange *x, enum evhttp_cmd_type theirs)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(x->req);
    const struct http_route *route = find_route(x->server, uri ? evhttp_uri_get_path(uri) : NULL);

    if (!admit(x))
        return;
    if (!may_go_on(x, 1)) {
        refuse(x, HTTP_REFUSED_RATE, 429, "too many requests a second");
        return;
    }
    if (theirs == EVHTTP_REQ_OPTIONS && http_header(x, "Origin")) {
        reply_preflight(x);
        return;
    }
    if (!authenticate(x, route))
        return;
    if (!route)
        refuse_path(x);
    else if (!(route->methods & x->method))
        refuse_method(x, route);
    else if (x->server->is_draining && !route->is_open)
        refuse(x, HTTP_REFUSED_DRAINING, 503, "the server is about to end");
    else
        route->run(x, route->data);
}

void exchange_take(struct evhttp_request *req, void *data)
{
    struct http_server *s = data;
    struct conn *c = conn_of(s, req);
    struct http_exchange *x = c ? calloc(1, sizeof(*x)) : NULL;

    if (!x) {
        (void)evhttp_add_header(evhttp_request_get_output_headers(req), "Connection", "close");
        evhttp_send_reply(req, 503, NULL, NULL);
        return;
    }
    *x = (struct http_exchange){ .server = s, .conn = c, .req = req };
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (methods[i].theirs == evhttp_request_get_command(req))
            x->method = methods[i].ours;
    c->exchange = x;
    conn_serve(c, req);
    dispatch(x, evhttp_request_get_command(req));
}
