/* The server: its routes, its connections' time, its end. */
#include <errno.h>
#include <stdlib.h>

#include "base/own.h"
#include "http/core.h"

enum {
    SWEEP_MS = 200
};

const struct http_limits http_default_limits = {
    .connections = 1024,
    .body_bytes = 8 << 20,
    .held_bytes = 64 << 20,
    .request_ms = 20000,
    .idle_ms = 60000,
    .write_ms = 30000,
    .rate = 2000,
};

static void on_sweep(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    conn_sweep(data);
}

static int set_up(struct http_server *s, struct gb_err *err)
{
    static const struct timeval often = { .tv_usec = SWEEP_MS * 1000 };
    struct event_base *base = s->spec.base;

    s->http = evhttp_new(base);
    s->on_sweep = event_new(base, -1, EV_PERSIST, on_sweep, s);
    s->rates = rates_new(s->spec.limits.rate);
    if (!s->http || !s->on_sweep || !s->rates || event_add(s->on_sweep, &often) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the server");
    evhttp_set_max_headers_size(s->http, HEADER_BYTES_MAX);
    evhttp_set_max_body_size(s->http, (ev_ssize_t)s->spec.limits.body_bytes);
    (void)evhttp_set_flags(s->http, EVHTTP_SERVER_LINGERING_CLOSE);
    evhttp_set_default_content_type(s->http, NULL);
    evhttp_set_allowed_methods(
        s->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT |
                     EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE | EVHTTP_REQ_PATCH);
    evhttp_set_bevcb(s->http, conn_accept, s);
    evhttp_set_gencb(s->http, exchange_take, s);
    return 0;
}

struct http_server *http_server_new(const struct http_spec *spec, struct gb_err *err)
{
    struct http_server *s = calloc(1, sizeof(*s));

    if (!s) {
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the server");
        return NULL;
    }
    s->spec = *spec;
    return set_up(s, err) < 0 ? http_server_free(s) : s;
}

struct http_server *http_server_free(struct http_server *s)
{
    if (!s)
        return NULL;
    listeners_close(s);
    if (s->on_sweep)
        event_free(s->on_sweep);
    if (s->http)
        evhttp_free(s->http); /* tells of each connection that it closes */
    conns_forget(s);
    (void)rates_free(s->rates);
    free(s);
    return NULL;
}

void http_server_route(struct http_server *s, const struct http_route *route)
{
    if (s->n_routes < ROUTES_MAX)
        s->routes[s->n_routes++] = *route;
}

void http_server_drain(struct http_server *s)
{
    s->is_draining = true;
    listeners_close(s);
    for (struct conn *c = s->conns; c; c = c->next)
        if (c->state == CONN_IDLE)
            conn_drop(c);
}

bool http_server_is_draining(const struct http_server *s)
{
    return s->is_draining;
}

size_t http_server_busy(const struct http_server *s)
{
    return s->counts.busy;
}

bool http_server_is_public(const struct http_server *s)
{
    return s->is_public;
}

struct http_counts http_server_counts(const struct http_server *s)
{
    return s->counts;
}
