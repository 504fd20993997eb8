/*
 * How this works: a connection has one request at a time. Its head is read, then exchange.c decides
 * who asks, for what, and how much of a body is taken from such a client; the body is read, the
 * request served, its reply sent. Not before the client has taken a reply is its next request
 * looked at, so that replies do not pile up for who does not read them. What a client sends ahead
 * meanwhile is kept, up to HEAD_BYTES_MAX; one that sends more is served this request, and no
 * other.
 *
 * evhttp, which libevent offers, is not used for this: it hands out requests when all of them is
 * there, so that nobody could say how much a stranger may send; it reads sizes of chunks with
 * strtoll(); it answers what it does not like by itself; it does not see the client of a request
 * leave; it bounds neither connections nor what is unread.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "http/core.h"
#include "http/guard.h"

static void on_output(struct evbuffer *output, const struct evbuffer_cb_info *info, void *data);

/* ---- states ---- */

static bool is_busy(enum conn_state state)
{
    return state == CONN_BUSY || state == CONN_SENDING;
}

void conn_enter(struct conn *c, enum conn_state state)
{
    struct http_counts *counts = &c->server->counts;

    counts->busy = counts->busy + is_busy(state) - is_busy(c->state);
    c->state = state;
    c->since_us = clock_us();
}

void conn_know(struct conn *c, bool is_known)
{
    c->server->counts.strangers = c->server->counts.strangers + c->is_known - is_known;
    c->is_known = is_known;
}

void conn_drop(struct conn *c)
{
    if (c->is_dropped)
        return;
    c->is_dropped = true;
    conn_know(c, true);
    c->server->counts.connections--;
    c->server->n_excess -= c->is_excess;
    c->server->counts.unsent_bytes -= c->unsent;
    c->unsent = 0;
    (void)bufferevent_disable(c->bev, EV_READ | EV_WRITE);
    event_active(c->server->on_reap, 0, 1);
}

static void conn_free(struct conn *c)
{
    struct http_server *s = c->server;

    conn_drop(c);
    if (c->prev)
        c->prev->next = c->next;
    else
        s->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    if (c->exchange)
        exchange_lose(c->exchange);
    conn_enter(c, CONN_IDLE);
    (void)evbuffer_remove_cb(bufferevent_get_output(c->bev), on_output, c);
    bufferevent_free(c->bev);
    free(c);
}

void conns_reap(struct http_server *s)
{
    for (struct conn *c = s->conns, *next; c; c = next) {
        next = c->next;
        if (c->is_dropped)
            conn_free(c);
    }
}

void conns_free(struct http_server *s)
{
    while (s->conns)
        conn_free(s->conns);
}

/* ---- what arrives ---- */

static void take_head(struct conn *c)
{
    struct evbuffer *input = bufferevent_get_input(c->bev);
    size_t len = evbuffer_get_length(input);
    const char *text = (const char *)evbuffer_pullup(input, -1);
    int end;

    if (!c->has_skipped && len >= 2 && memcmp(text, "\r\n", 2) == 0) {
        /* Some clients send an empty line behind a body: RFC 9112, 2.2. */
        (void)evbuffer_drain(input, 2);
        len -= 2;
        text += 2;
        c->scanned = 0;
        c->has_skipped = true;
    }
    if (len == 0)
        return;
    end = head_find_end(text, len, &c->scanned);
    if (end == 0 && len < HEAD_BYTES_MAX)
        return;
    c->scanned = 0;
    c->has_skipped = false;
    if (end > 0)
        exchange_begin(c, text, (size_t)end);
    else if (end < 0)
        exchange_reject(c, 400, "this is not HTTP");
    else
        exchange_reject(c, 431, "the request's head is too long");
    (void)evbuffer_drain(input, end > 0 ? (size_t)end : len);
}

/* Look at what is there. Whatever it leads to, the connection is there when this returns. */
static void advance(struct conn *c)
{
    struct evbuffer *input = bufferevent_get_input(c->bev);

    if (c->is_dropped)
        return;
    if (c->state == CONN_IDLE && evbuffer_get_length(input) > 0) {
        conn_enter(c, CONN_HEAD);
        c->began_us = c->since_us;
    }
    if (c->state == CONN_HEAD)
        take_head(c);
    if (c->state == CONN_BODY)
        exchange_read(c->exchange, input);
    if (c->state == CONN_BUSY && evbuffer_get_length(input) >= HEAD_BYTES_MAX)
        c->is_last = true; /* it sends on and on: to see it leave, all of that has to be read */
    if (c->state == CONN_CLOSING)
        c->since_us = clock_us();
    if (c->state == CONN_CLOSING || (c->state == CONN_BUSY && c->is_last))
        (void)evbuffer_drain(input, evbuffer_get_length(input));
}

static void on_read(struct bufferevent *bev, void *data)
{
    (void)bev;
    advance(data);
}

/* ---- what is sent ---- */

static void on_output(struct evbuffer *output, const struct evbuffer_cb_info *info, void *data)
{
    struct conn *c = data;

    (void)output;
    if (c->is_dropped)
        return;
    if (c->unsent == 0 || info->n_deleted > 0)
        c->taken_us = clock_us();
    if (c->unsent == 0) {
        c->unsent_since_us = c->taken_us;
        c->sent = 0;
    }
    c->sent += info->n_deleted;
    c->unsent = c->unsent + info->n_added - info->n_deleted;
    c->server->counts.unsent_bytes =
        c->server->counts.unsent_bytes + info->n_added - info->n_deleted;
}

void conn_send(struct conn *c, struct evbuffer *data)
{
    if (!c->is_dropped)
        (void)evbuffer_add_buffer(bufferevent_get_output(c->bev), data);
}

void conn_finish(struct conn *c)
{
    conn_enter(c, CONN_SENDING);
    if (c->unsent == 0)
        bufferevent_trigger(c->bev, EV_WRITE, BEV_TRIG_DEFER_CALLBACKS);
}

/* No more is sent. Its client reads the last reply before it sees the connection end, which it
 * would not if something that it sent were never read. */
static void begin_close(struct conn *c)
{
    if (c->has_ended) {
        conn_drop(c);
        return;
    }
    (void)shutdown(bufferevent_getfd(c->bev), SHUT_WR);
    conn_enter(c, CONN_CLOSING);
    advance(c);
}

static void on_sent(struct bufferevent *bev, void *data)
{
    struct conn *c = data;

    (void)bev;
    if (c->state != CONN_SENDING || c->unsent > 0 || c->is_dropped)
        return;
    if (c->is_last || c->has_ended) {
        begin_close(c);
        return;
    }
    conn_enter(c, CONN_IDLE);
    advance(c);
}

/* ---- its end ---- */

static void on_event(struct bufferevent *bev, short what, void *data)
{
    struct conn *c = data;

    (void)bev;
    c->has_ended = true;
    if (what & BEV_EVENT_ERROR || c->state != CONN_SENDING)
        conn_free(c); /* else it may still read what it asked for */
}

/* ---- its beginning ---- */

/* Whose connection it is, for shares and rates. Who has one IPv6 address has its whole network. */
static void put_address(struct conn *c, const struct sockaddr *from)
{
    union {
        struct in6_addr v6;
        struct in_addr v4;
    } a;

    if (from->sa_family == AF_INET) {
        memcpy(&a.v4, (const char *)from + offsetof(struct sockaddr_in, sin_addr), sizeof(a.v4));
        (void)inet_ntop(AF_INET, &a.v4, c->address, sizeof(c->address));
    } else if (from->sa_family == AF_INET6) {
        memcpy(&a.v6, (const char *)from + offsetof(struct sockaddr_in6, sin6_addr), sizeof(a.v6));
        if (!IN6_IS_ADDR_V4MAPPED(&a.v6))
            memset(&a.v6.s6_addr[8], 0, 8);
        (void)inet_ntop(AF_INET6, &a.v6, c->address, sizeof(c->address));
    }
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

    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        (void)setsockopt(fd, options[i].level, options[i].option, &options[i].value,
                         sizeof(options[i].value));
}

static void conn_link(struct conn *c)
{
    struct http_server *s = c->server;

    c->next = s->conns;
    if (c->next)
        c->next->prev = c;
    s->conns = c;
    s->counts.connections++;
    s->counts.strangers++;
    s->counts.accepted++;
}

void conn_accept(struct http_server *s, int fd, const struct sockaddr *from)
{
    struct bufferevent *bev = bufferevent_socket_new(s->spec.base, fd, BEV_OPT_CLOSE_ON_FREE);
    struct conn *c = bev ? calloc(1, sizeof(*c)) : NULL;

    if (!c || !evbuffer_add_cb(bufferevent_get_output(bev), on_output, c)) {
        if (bev)
            bufferevent_free(bev);
        else
            (void)close(fd);
        free(c);
        return;
    }
    *c = (struct conn){ .server = s, .bev = bev, .ours = ours_of(fd) };
    put_address(c, from);
    conn_enter(c, CONN_IDLE);
    c->came_us = c->since_us;
    conn_link(c);
    crowd_admit(c);
    if (!(c->ours & GUARD_ANY))
        keep_alive(fd);
    bufferevent_setcb(bev, on_read, on_sent, on_event, c);
    bufferevent_setwatermark(bev, EV_READ, 0, HEAD_BYTES_MAX);
    if (!c->is_dropped && bufferevent_enable(bev, EV_READ | EV_WRITE) < 0)
        conn_drop(c);
}
