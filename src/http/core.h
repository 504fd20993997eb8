#pragma once
/* What the files of the server share. Routes see http.h alone. */
#include <event2/bufferevent.h>
#include <event2/http.h>

#include "http/head.h"
#include "http/http.h"
#include "http/rate.h"

enum {
    ROUTES_MAX = 8,
    LISTENERS_MAX = 8,
    HEADER_BYTES_MAX = 32 << 10,
    STRANGER_BYTES_MAX = 16 << 10 /* of a body, from who has not shown the token */
};

/* What a connection is doing. */
enum conn_state {
    CONN_IDLE,    /* between requests */
    CONN_READING, /* some of a request has come */
    CONN_BUSY     /* a request is being served */
};

struct conn {
    struct http_server *server;
    struct conn *prev, *next;
    struct bufferevent *bev; /* evhttp's, and so is: */
    struct evhttp_connection *evcon;
    struct evbuffer_cb_entry *on_bytes, *on_answer;
    struct event *on_adopt; /* until evhttp's own object is known */
    enum conn_state state;
    int64_t since_us; /* it has been that */
    size_t bytes;     /* of its request so far */
    unsigned ours;    /* of guard_host: how it came */
    bool is_known;    /* it has shown the token, or needs none */
    bool is_excess;   /* there were too many already: to be told so */
    bool is_dropped;
    bool is_discarding; /* its request is too large: what comes of it is read, and not kept */
    struct head head;   /* of a request, while it is not known */
    struct http_exchange *exchange;
};

struct listener {
    struct evhttp_bound_socket *bound;
    char *url;
    char *path; /* of a Unix socket, to be removed */
};

struct http_server {
    struct http_spec spec;
    struct evhttp *http;
    struct http_route routes[ROUTES_MAX];
    size_t n_routes;
    struct listener listeners[LISTENERS_MAX];
    size_t n_listeners;
    struct conn *conns;
    struct event *on_sweep;
    struct rates *rates;
    struct http_counts counts;
    bool is_public;
    bool is_paused; /* nobody is let in for a moment */
    bool is_draining;
};

struct http_exchange {
    struct http_server *server;
    struct conn *conn;
    struct evhttp_request *req;
    enum http_method method;
    bool is_admitted; /* what its headers say of where it comes from was found good */
    void (*gone)(void *data);
    void *gone_data;
};

/* ---- conn.c ---- */

/* For evhttp: the bufferevent of a connection that it has just accepted. */
struct bufferevent *conn_accept(struct event_base *base, void *data);

/* The connection that a request came on. */
struct conn *conn_of(struct http_server *s, struct evhttp_request *req);

/* It has shown the token: it may send what others may not. */
void conn_know(struct conn *c);

/* It serves a request from now on; notice its client's leaving. */
void conn_serve(struct conn *c, struct evhttp_request *req);

/* Close it soon. */
void conn_drop(struct conn *c);

/* Those that evhttp did not tell of when it ended. */
void conns_forget(struct http_server *s);

/* Close those that took too long. */
void conn_sweep(struct http_server *s);

/* ---- exchange.c ---- */

/* For evhttp: a request has come. */
void exchange_take(struct evhttp_request *req, void *data);

/* Its connection is gone. */
void exchange_lose(struct http_exchange *x);

/* ---- listen.c ---- */

void listeners_pause(struct http_server *s, bool is_paused);
void listeners_close(struct http_server *s);
