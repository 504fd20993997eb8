#pragma once
/*
 * An HTTP server that can be left running, for whatever is routed to: who may ask, how much, how
 * fast and how long is seen to here, before a route sees a request.
 *
 *   server     listens, and knows its connections
 *   exchange   one request and its reply, which a route gives from inside, or later
 *
 * Everything happens on one thread, in the loop of `base`.
 */
#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct http_server;
struct http_exchange;

enum http_method {
    HTTP_GET = 1u << 0,
    HTTP_POST = 1u << 1,
    HTTP_DELETE = 1u << 2
};

/* ---- the server ---- */

struct http_limits {
    unsigned connections; /* at once */
    size_t body_bytes;    /* of a request */
    size_t held_bytes;    /* of all bodies that are being read */
    size_t served_bytes;  /* of all bodies of requests that are being served */
    size_t unsent_bytes;  /* of all replies that clients have not taken */
    unsigned request_ms;  /* from a request's first byte to its last */
    unsigned idle_ms;     /* between requests */
    unsigned write_ms;    /* that a client may take nothing of what waits for it */
    unsigned rate;        /* requests a second from one address; 0: any number */
};

extern const struct http_limits http_default_limits;

struct http_spec {
    struct event_base *base; /* borrowed, and so is all that follows */
    struct http_limits limits;
    const char *token;     /* that clients must show; NULL: none */
    const json_t *hosts;   /* more names that this server has: a list of strings, or NULL */
    const json_t *origins; /* of web pages that may ask */
};

struct http_route {
    const char *path;
    unsigned methods; /* of http_method */
    bool is_open;     /* needs no token */
    void (*run)(struct http_exchange *x, void *data);
    void *data;
};

/* NULL with err. */
struct http_server *http_server_new(const struct http_spec *spec, struct gb_err *err);

/* Closes every connection; those who wait for a reply are told as if their clients had left.
 * Accepts NULL. */
struct http_server *http_server_free(struct http_server *s);

/* At most eight. The path is borrowed. */
void http_server_route(struct http_server *s, const struct http_route *route);

/*
 * Listen at "PORT", "ADDRESS:PORT", "[ADDRESS]:PORT" or "unix:PATH" (a path that begins with '/' or
 * '.' is one as well); port 0 is any that is free. May be called several times.
 */
int http_server_listen(struct http_server *s, const char *where, struct gb_err *err) gb_nodiscard;

/* Is something listened at that other machines reach? */
bool http_server_is_public(const struct http_server *s);

/* "http://127.0.0.1:8377" of the i-th address, or "unix:PATH"; NULL: there are no more. */
const char *http_server_url(const struct http_server *s, size_t i);

/* No new connections, no new requests: what is under way goes on. */
void http_server_drain(struct http_server *s);
bool http_server_is_draining(const struct http_server *s);

/* Exchanges that wait for their reply, or whose reply is being sent. */
size_t http_server_busy(const struct http_server *s);

/* Why a request was refused, or a connection closed, before a route saw it. */
#define HTTP_REFUSAL_MAP(X)         \
    X(MALFORMED, "malformed")       \
    X(SIZE, "size")                 \
    X(HOST, "host")                 \
    X(ORIGIN, "origin")             \
    X(TOKEN, "token")               \
    X(PATH, "path")                 \
    X(METHOD, "method")             \
    X(RATE, "rate")                 \
    X(DRAINING, "draining")         \
    X(BUSY, "busy")                 \
    X(CONNECTIONS, "connections")   \
    X(HELD_BYTES, "held_bytes")     \
    X(SERVED_BYTES, "served_bytes") \
    X(UNREAD, "unread")             \
    X(SLOW, "slow")

enum http_refusal {
#define X(sym, name) HTTP_REFUSED_##sym,
    HTTP_REFUSAL_MAP(X)
#undef X
    HTTP_REFUSALS
};

extern const char *const http_refusal_names[HTTP_REFUSALS];

struct http_counts {
    size_t connections; /* now */
    size_t strangers;   /* of these, that have not shown the token */
    size_t busy;
    size_t held_bytes, served_bytes, unsent_bytes;
    uint64_t accepted;
    uint64_t replies[6]; /* by the first digit of their status */
    uint64_t vanished;   /* clients that left before their reply was complete */
    uint64_t refused[HTTP_REFUSALS];
};

struct http_counts http_server_counts(const struct http_server *s);

/* ---- exchanges: for routes ---- */

enum http_method http_method(const struct http_exchange *x);

/* The value of a header (any case), or NULL. */
const char *http_header(const struct http_exchange *x, const char *name);

/* The body, borrowed until the route's function returns, or the reply. */
const char *http_body(struct http_exchange *x, size_t *ret_len);

/* Is this type among those that the client takes? One that does not say takes all. */
bool http_accepts(const struct http_exchange *x, const char *type);
/* The same, said in so many words. */
bool http_accepts_by_name(const struct http_exchange *x, const char *type);

/* Is the body what it must be, JSON? If not, the exchange has been answered. */
bool http_need_json(struct http_exchange *x);

/* The client has left: stop. The exchange is gone when `gone` returns. Not called after the
 * reply. */
void http_on_gone(struct http_exchange *x, void (*gone)(void *data), void *data);

/* A header of the reply that is to come. */
void http_set_header(struct http_exchange *x, const char *name, const char *value);

/* Reply. The exchange is gone when these return. An error is {"status": "failed", "error": ...}. */
void http_reply(struct http_exchange *x, int status, const char *type, const char *text,
                size_t len);
void http_reply_error(struct http_exchange *x, int status, const char *kind, const char *message);

/* Cannot be served now: 503 with a Retry-After. */
void http_reply_busy(struct http_exchange *x, const char *message);

/* Reply with server-sent events: begin, send (name NULL: none; the text has no line break in it),
 * and end, after which the exchange is gone. */
void http_stream_begin(struct http_exchange *x);
void http_stream_send(struct http_exchange *x, const char *name, const char *text, size_t len);
void http_stream_ping(struct http_exchange *x);
void http_stream_end(struct http_exchange *x);

/* More than enough waits to be read by the client. */
bool http_stream_is_full(const struct http_exchange *x);
