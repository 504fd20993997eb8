#pragma once
/* What the files of the server share. Routes see http.h alone. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>

#include "http/chunks.h"
#include "http/head.h"
#include "http/http.h"
#include "http/rate.h"

enum {
    ROUTES_MAX = 8,
    LISTENERS_MAX = 8,
    STRANGER_BYTES_MAX = 16 << 10, /* of a body, of a request that does not show the token */
    SMALL_BYTES = 64 << 10 /* requests and replies up to this size are not refused for want of room:
                              as many as connections are little */
};

/* What a connection is doing. */
enum conn_state {
    CONN_IDLE,    /* between requests */
    CONN_HEAD,    /* some of a request has come */
    CONN_BODY,    /* all of its head */
    CONN_BUSY,    /* a request is being served */
    CONN_SENDING, /* its reply is complete, and not yet sent */
    CONN_CLOSING  /* the last reply was sent; what still comes is thrown away */
};

struct conn {
    struct http_server *server;
    struct conn *prev, *next; /* those that came later first */
    struct bufferevent *bev;
    enum conn_state state;
    int64_t came_us;
    int64_t since_us;               /* it has been that */
    int64_t began_us;               /* its request, at the first byte */
    char address[INET6_ADDRSTRLEN]; /* of its client; of IPv6 the network */
    unsigned ours;                  /* of guard_host: how it came */
    size_t scanned;                 /* of the head that is on its way */
    bool has_skipped;               /* an empty line before it */
    size_t unsent;                  /* bytes that the client has not taken */
    int64_t unsent_since_us;        /* there have been such */
    int64_t taken_us;               /* it took some of them, or there were none */
    size_t sent;                    /* bytes that it has taken since then */
    bool is_known;                  /* its last request was one of who may ask */
    bool is_excess;                 /* there were too many already: to be told so */
    bool is_dropped;                /* to be freed soon */
    bool is_last;                   /* no request follows the one that is served */
    bool has_ended;                 /* its client sends no more */
    struct http_exchange *exchange; /* from the end of its head to its reply */
};

struct listener {
    struct evconnlistener *bound;
    char *url;
    char *path; /* of a Unix socket, to be removed */
};

struct http_server {
    struct http_spec spec;
    struct http_route routes[ROUTES_MAX];
    size_t n_routes;
    struct listener listeners[LISTENERS_MAX];
    size_t n_listeners;
    struct conn *conns;
    size_t n_excess;
    size_t large_held, large_served; /* bytes of bodies that are not small, of those counted */
    struct event *on_sweep, *on_reap;
    struct rates *rates, *stranger_rates;
    struct http_counts counts;
    bool is_public;
    bool is_paused; /* nobody is let in for a moment */
    bool is_draining;
};

/* Why a request is not served. A status of 0: it is. */
struct refusal {
    enum http_refusal why;
    int status;
    char message[200], hint[200];
};

struct http_exchange {
    struct http_server *server;
    struct conn *conn;
    struct head head;
    enum http_method method;
    const struct http_route *route;
    struct refusal refusal;
    struct chunks chunks;
    uint64_t left; /* of a body that is not chunked */
    struct gb_buf body;
    struct evbuffer *lines; /* of the reply's head */
    size_t held, served;    /* what it counts for */
    bool is_admitted;       /* what its headers say of where it comes from was found good */
    void (*gone)(void *data);
    void *gone_data;
};

/* ---- conn.c ---- */

/* Somebody has connected. */
void conn_accept(struct http_server *s, int fd, const struct sockaddr *from);

void conn_enter(struct conn *c, enum conn_state state);

/* The request that came on it is one of somebody who may ask, or it is not. */
void conn_know(struct conn *c, bool is_known);

/* Send; `data` is emptied. */
void conn_send(struct conn *c, struct evbuffer *data);

/* Its reply is complete. The next request is read when the client has taken it. */
void conn_finish(struct conn *c);

/* Close it soon, and not from inside. */
void conn_drop(struct conn *c);

/* Those that were dropped are closed; all are. */
void conns_reap(struct http_server *s);
void conns_free(struct http_server *s);

/* ---- crowd.c ---- */

/* One more has come: who makes room for it? If nobody does, it is told that there is none. */
void crowd_admit(struct conn *c);

/* Too much is being read: the one that has sent most is told to come back. */
void crowd_relieve(struct http_server *s);

/* May so much more wait to be taken by clients? Those who take nothing are dropped for it. */
bool crowd_has_room(struct http_server *s, size_t bytes);

/* Close those that took too long. */
void crowd_sweep(struct http_server *s);

/* ---- exchange.c ---- */

/* A head has come. */
void exchange_begin(struct conn *c, const char *head, size_t len);

/* Something has come that is none. */
void exchange_reject(struct conn *c, int status, const char *message);

/* More of its body may be there. */
void exchange_read(struct http_exchange *x, struct evbuffer *input);

/* Its connection is gone. */
void exchange_lose(struct http_exchange *x);

/* It has its reply, of this status. */
void exchange_leave(struct http_exchange *x, int status);

/* Answer at once, whatever is still to come of it. */
void exchange_refuse(struct http_exchange *x, enum http_refusal why, int status,
                     const char *message);

/* ---- reply.c ---- */

/* As http_reply_error(), with what would help. */
void reply_failed(struct http_exchange *x, int status, const char *kind, const char *message,
                  const char *hint);

/* Its client may send the body. */
void reply_go_ahead(struct http_exchange *x);

/* ---- listen.c ---- */

void listeners_pause(struct http_server *s, bool is_paused);
void listeners_close(struct http_server *s);
