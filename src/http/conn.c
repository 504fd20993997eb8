/*
 * Connections. evhttp 2.1 reads and writes them, and knows neither how many there may be nor how
 * long a request may take to arrive; it tells when one closes, to whoever has its object, and hands
 * that out with the first whole request. So each is followed from its beginning:
 *
 * - The bufferevent is made here, for evhttp to use. As the argument of its callbacks evhttp puts
 *   its own object, which is picked up before anything can have happened on the connection.
 * - What arrives is seen by a callback on the bufferevent's input; the clock of a request starts
 *   there.
 * - Who has not shown the token can send little. Of too much, evhttp answers what it does not hand
 *   out; so it does of what is no HTTP: such answers are seen by a callback on the output, and
 *   counted.
 * - To close one, its socket is shut down: evhttp sees the end of it, and frees what is to be
 *   freed.
 */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/own.h"
#include "http/core.h"
#include "http/guard.h"

enum {
    EXCESS_MAX = 64,      /* connections beyond the limit that are told so */
    EXCESS_MS = 2000,     /* how long they have */
    EVICT_MS = 1000,      /* idle that long: its place can be another's */
    PIPELINED_MAX = 65536 /* bytes that are read ahead while a request is served */
};

static void enter(struct conn *c, enum conn_state state)
{
    c->state = state;
    c->since_us = clock_us();
}

static int64_t ms_in_state(const struct conn *c, int64_t now_us)
{
    return (now_us - c->since_us) / 1000;
}

/* What comes of it from now on does not count. */
static void discard(struct conn *c)
{
    c->is_discarding = true;
    c->server->counts.held_bytes -= c->bytes;
    c->bytes = 0;
}

void conn_drop(struct conn *c)
{
    evutil_socket_t fd = bufferevent_getfd(c->bev);

    c->is_dropped = true;
    discard(c);
    if (fd >= 0)
        (void)shutdown(fd, SHUT_RDWR);
}

/* ---- limits ---- */

/* Close the connection that has been idle for longest, to have its place. */
static bool evict(struct http_server *s)
{
    struct conn *oldest = NULL;
    int64_t now = clock_us();

    for (struct conn *c = s->conns; c; c = c->next)
        if (c->state == CONN_IDLE && !c->is_dropped && !c->on_adopt &&
            ms_in_state(c, now) >= EVICT_MS && (!oldest || c->since_us < oldest->since_us))
            oldest = c;
    if (oldest)
        conn_drop(oldest);
    return oldest != NULL;
}

static unsigned patience_ms(const struct conn *c)
{
    const struct http_limits *limits = &c->server->spec.limits;

    if (c->is_excess)
        return EXCESS_MS;
    return c->state == CONN_READING ? limits->request_ms : limits->idle_ms;
}

void conn_sweep(struct http_server *s)
{
    int64_t now = clock_us();

    for (struct conn *c = s->conns; c; c = c->next) {
        if (c->state == CONN_BUSY || c->is_dropped || ms_in_state(c, now) < patience_ms(c))
            continue;
        s->counts.refused[HTTP_REFUSED_SLOW] += c->state == CONN_READING;
        conn_drop(c);
    }
    if (s->is_paused && s->counts.connections < s->spec.limits.connections + EXCESS_MAX)
        listeners_pause(s, false);
}

/* ---- what arrives ---- */

void conn_know(struct conn *c)
{
    c->is_known = true;
    evhttp_connection_set_max_body_size(c->evcon, (ev_ssize_t)c->server->spec.limits.body_bytes);
}

/* Look at the last `len` bytes of its input. */
static void look(struct conn *c, size_t len)
{
    struct evbuffer *input = bufferevent_get_input(c->bev);
    size_t all = evbuffer_get_length(input);
    struct evbuffer_ptr at;
    struct evbuffer_iovec pieces[4];
    int n;

    while (len > 0 && !c->is_known &&
           evbuffer_ptr_set(input, &at, all - len, EVBUFFER_PTR_SET) == 0) {
        n = evbuffer_peek(input, -1, &at, pieces, ARRAY_LEN(pieces));
        if (n <= 0)
            return;
        for (size_t i = 0; i < (size_t)n && i < ARRAY_LEN(pieces); i++) {
            if (head_feed(&c->head, pieces[i].iov_base, pieces[i].iov_len, c->server->spec.token))
                conn_know(c);
            len -= pieces[i].iov_len;
        }
    }
}

static size_t body_max(const struct conn *c)
{
    size_t most = c->server->spec.limits.body_bytes;

    return c->is_known || most < STRANGER_BYTES_MAX ? most : STRANGER_BYTES_MAX;
}

static void drop_held(struct conn *c)
{
    if (c->state != CONN_READING || c->is_dropped)
        return;
    c->server->counts.refused[HTTP_REFUSED_HELD_BYTES]++;
    conn_drop(c);
}

/* More is held than may be: those who are not known go, before one that is has to. */
static void relieve(struct conn *c)
{
    struct http_server *s = c->server;

    for (struct conn *other = s->conns; other && c->is_known; other = other->next)
        if (!other->is_known)
            drop_held(other);
    if (s->counts.held_bytes > s->spec.limits.held_bytes)
        drop_held(c);
}

static void on_bytes(struct evbuffer *input, const struct evbuffer_cb_info *info, void *data)
{
    struct conn *c = data;
    struct http_server *s = c->server;

    (void)input;
    if (info->n_added == 0 || c->is_discarding)
        return;
    c->bytes += info->n_added;
    s->counts.held_bytes += info->n_added;
    if (c->state == CONN_IDLE)
        enter(c, CONN_READING);
    if (c->state == CONN_READING)
        look(c, info->n_added);
    if (c->bytes > body_max(c) + 2 * (size_t)HEADER_BYTES_MAX)
        discard(c); /* evhttp reads all of it, so that its client reads why */
    if (s->counts.held_bytes > s->spec.limits.held_bytes)
        relieve(c);
}

/* What evhttp answers by itself, which is the last on its connection: "HTTP/1.1 400 ..." */
static void on_answer(struct evbuffer *output, const struct evbuffer_cb_info *info, void *data)
{
    struct conn *c = data;
    struct http_counts *counts = &c->server->counts;
    char line[13] = "";

    if (info->orig_size > 0 || info->n_added == 0 || c->state == CONN_BUSY ||
        evbuffer_copyout(output, line, sizeof(line) - 1) != sizeof(line) - 1)
        return;
    if (line[9] != '4' && line[9] != '5')
        return; /* 100: go on */
    counts->replies[line[9] - '0']++;
    counts->refused[strcmp(line + 9, "413") == 0 ? HTTP_REFUSED_SIZE : HTTP_REFUSED_MALFORMED]++;
}

/* ---- life ---- */

static void conn_free(struct conn *c)
{
    struct http_server *s = c->server;

    if (c->prev)
        c->prev->next = c->next;
    else
        s->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    s->counts.connections--;
    s->counts.busy -= c->state == CONN_BUSY;
    s->counts.held_bytes -= c->bytes;
    if (c->on_adopt) {
        event_free(c->on_adopt);
        bufferevent_decref(c->bev);
    }
    free(c);
}

static void on_close(struct evhttp_connection *evcon, void *data)
{
    struct conn *c = data;

    (void)evcon;
    (void)evbuffer_remove_cb_entry(bufferevent_get_input(c->bev), c->on_bytes);
    (void)evbuffer_remove_cb_entry(bufferevent_get_output(c->bev), c->on_answer);
    if (c->exchange)
        exchange_lose(c->exchange);
    conn_free(c);
}

/* How it came decides what its Host may be. */
static unsigned ours_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_storage room;
    } a = { 0 };
    socklen_t len = sizeof(a);

    if (getsockname(fd, &a.any, &len) < 0)
        return 0;
    if (a.any.sa_family == AF_UNIX)
        return GUARD_ANY;
    if (a.any.sa_family == AF_INET)
        return ntohl(a.v4.sin_addr.s_addr) >> 24 == 127 ? GUARD_LOOPBACK
                                                        : GUARD_LOOPBACK | GUARD_ADDRESSES;
    return IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr) ? GUARD_LOOPBACK
                                                 : GUARD_LOOPBACK | GUARD_ADDRESSES;
}

/* A client whose machine is gone says nothing: ask it. */
static void keep_alive(int fd)
{
    static const struct {
        int level, option, value;
    } options[] = {
        { SOL_SOCKET, SO_KEEPALIVE, 1 },    { IPPROTO_TCP, TCP_KEEPIDLE, 20 },
        { IPPROTO_TCP, TCP_KEEPINTVL, 10 }, { IPPROTO_TCP, TCP_KEEPCNT, 3 },
        { IPPROTO_TCP, TCP_NODELAY, 1 },
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        (void)setsockopt(fd, options[i].level, options[i].option, &options[i].value,
                         sizeof(options[i].value));
}

static void on_adopt(evutil_socket_t fd, short what, void *data)
{
    struct conn *c = data;
    struct bufferevent *bev = c->bev;
    void *evcon = NULL;

    (void)fd;
    (void)what;
    bufferevent_getcb(bev, NULL, NULL, NULL, &evcon);
    if (!evcon || bufferevent_getfd(bev) < 0) { /* evhttp has given it up */
        conn_free(c);
        return;
    }
    event_free(c->on_adopt);
    c->on_adopt = NULL;
    c->evcon = evcon;
    evhttp_connection_set_closecb(evcon, on_close, c);
    c->on_bytes = evbuffer_add_cb(bufferevent_get_input(bev), on_bytes, c);
    c->on_answer = evbuffer_add_cb(bufferevent_get_output(bev), on_answer, c);
    if (!c->server->spec.token)
        conn_know(c);
    else if (!c->is_known)
        evhttp_connection_set_max_body_size(evcon, (ev_ssize_t)body_max(c));
    c->ours = ours_of(bufferevent_getfd(bev));
    if (!(c->ours & GUARD_ANY))
        keep_alive(bufferevent_getfd(bev));
    bufferevent_decref(bev);
}

static bool is_over_limit(struct http_server *s)
{
    if (s->counts.connections <= s->spec.limits.connections)
        return false;
    if (s->counts.connections >= s->spec.limits.connections + EXCESS_MAX)
        listeners_pause(s, true);
    if (evict(s))
        return false;
    s->counts.refused[HTTP_REFUSED_CONNECTIONS]++;
    return true;
}

struct bufferevent *conn_accept(struct event_base *base, void *data)
{
    struct http_server *s = data;
    struct bufferevent *bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    struct conn *c = bev ? calloc(1, sizeof(*c)) : NULL;
    struct timeval write_time = { .tv_sec = s->spec.limits.write_ms / 1000,
                                  .tv_usec = s->spec.limits.write_ms % 1000 * 1000 };

    if (!c)
        return bev; /* it will be served without being followed */
    *c = (struct conn){ .server = s, .bev = bev, .next = s->conns };
    enter(c, CONN_IDLE);
    c->on_adopt = event_new(base, -1, 0, on_adopt, c);
    if (!c->on_adopt) {
        free(c);
        return bev;
    }
    if (c->next)
        c->next->prev = c;
    s->conns = c;
    s->counts.connections++;
    s->counts.accepted++;
    c->is_excess = is_over_limit(s);
    (void)bufferevent_set_timeouts(bev, NULL, &write_time);
    bufferevent_incref(bev);
    event_active(c->on_adopt, 0, 1);
    return bev;
}

void conns_forget(struct http_server *s)
{
    while (s->conns)
        conn_free(s->conns);
}

/* ---- serving ---- */

struct conn *conn_of(struct http_server *s, struct evhttp_request *req)
{
    struct bufferevent *bev = evhttp_connection_get_bufferevent(evhttp_request_get_connection(req));
    struct conn *c = s->conns;

    while (c && c->bev != bev)
        c = c->next;
    return c;
}

static void on_complete(struct evhttp_request *req, void *data)
{
    struct conn *c = data;
    struct http_server *s = c->server;
    size_t ahead = evbuffer_get_length(bufferevent_get_input(c->bev));

    (void)req;
    s->counts.busy--;
    s->counts.held_bytes = s->counts.held_bytes - c->bytes + ahead;
    c->bytes = ahead;
    c->is_discarding = false;
    bufferevent_setwatermark(c->bev, EV_READ, 0, 0);
    enter(c, ahead > 0 ? CONN_READING : CONN_IDLE);
    c->head = (struct head){ 0 };
    if (!c->is_known)
        look(c, ahead);
}

void conn_serve(struct conn *c, struct evhttp_request *req)
{
    bufferevent_data_cb on_write = NULL;
    bufferevent_event_cb on_event = NULL;
    void *evcon = NULL;

    enter(c, CONN_BUSY);
    c->server->counts.busy++;
    evhttp_request_set_on_complete_cb(req, on_complete, c);
    /* evhttp has stopped reading, and so would not see its client leave. It does not expect a
     * request's bytes either: those of the next one are left where they are. */
    bufferevent_getcb(c->bev, NULL, &on_write, &on_event, &evcon);
    bufferevent_setcb(c->bev, NULL, on_write, on_event, evcon);
    bufferevent_setwatermark(c->bev, EV_READ, 0, PIPELINED_MAX);
    (void)bufferevent_enable(c->bev, EV_READ);
}
