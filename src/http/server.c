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
    .served_bytes = 256 << 20,
    .unsent_bytes = 128 << 20,
    .request_ms = 20000,
    .idle_ms = 60000,
    .write_ms = 30000,
    .rate = 2000,
};

static void on_sweep(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    crowd_sweep(data);
}

static void on_reap(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    conns_reap(data);
}

static int set_up(struct http_server *s, struct gb_err *err)
{
    static const struct timeval often = { .tv_usec = SWEEP_MS * 1000 };
    struct event_base *base = s->spec.base;

    s->on_sweep = event_new(base, -1, EV_PERSIST, on_sweep, s);
    s->on_reap = event_new(base, -1, 0, on_reap, s);
    s->rates = rates_new(s->spec.limits.rate);
    s->stranger_rates = rates_new(s->spec.limits.rate);
    if (!s->on_sweep || !s->on_reap || !s->rates || !s->stranger_rates ||
        event_add(s->on_sweep, &often) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the server");
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
    conns_free(s);
    if (s->on_sweep)
        event_free(s->on_sweep);
    if (s->on_reap)
        event_free(s->on_reap);
    (void)rates_free(s->rates);
    (void)rates_free(s->stranger_rates);
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
