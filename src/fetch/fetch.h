#pragma once
/*
 * Asking a server over HTTP, on the engine's own loop.
 *
 * libcurl does it. It brings some forty libraries along, which would cost every start of a program
 * that never asks anybody, so it is in a module of its own (glovebox-fetch.so), loaded when
 * first wanted. The engine sees the module as this table of functions.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct event_base;
struct fetch;
struct fetch_client;

/* The table's own version: a module of another build is refused. */
#define FETCH_ABI    2
#define FETCH_MODULE "glovebox-fetch.so"
#define FETCH_SYMBOL "glovebox_fetch"

enum {
    FETCH_URL_MAX = 2048,
    FETCH_WHY_MAX = 256
};

/* A URL that was read and found usable. */
struct fetch_url {
    char text[FETCH_URL_MAX];
    char host[300]; /* "name" or "name:port", for messages */
    bool encrypted; /* https */
    bool loopback;  /* the host is this one, by its name or address */
};

/* What is known when the body begins. Borrowed. */
struct fetch_head {
    long status;
    const char *type; /* of the content, or NULL */
    const char *kept; /* the value of the header `keep`, or "" */
};

struct fetch_request {
    const char *method; /* NULL: POST */
    const char *url;
    const char *body;           /* JSON; copied; NULL: none */
    const char *accept;         /* NULL: JSON */
    const char *const *headers; /* further ones, "Name: value", ended by NULL; or NULL */
    const char *keep;           /* a header of the reply to keep, or NULL; borrowed */
    const char *key;            /* sent as "Authorization: Bearer ...", or NULL */
    const char *ca;      /* a file of certificates to trust instead of the system's, or NULL */
    uint64_t timeout_ms; /* 0: none */
    uint64_t connect_ms; /* for the connection; 0: libcurl's own */
    size_t reply_max;    /* of the body; of a stream: of what has not been handed over */
    /* Hand the body over in pieces, as they come, from the loop, and not with the reply. The fetch
     * may be cancelled in there. NULL: not. */
    void (*stream)(void *data, const struct fetch_head *head, const char *bytes, size_t len);
    bool loopback_only; /* connect to addresses of this host alone */
};

enum fetch_fault {
    FETCH_OK,      /* the server answered: look at status */
    FETCH_TIMEOUT, /* not all of the answer within the time */
    FETCH_NETWORK, /* no connection, or one that broke: may pass */
    FETCH_TOO_BIG, /* more than reply_max bytes */
    FETCH_TRUST,   /* the server's certificate will not do */
    FETCH_OTHER
};

struct fetch_reply {
    enum fetch_fault fault;
    char why[FETCH_WHY_MAX]; /* what went wrong, for people; empty with FETCH_OK */
    long status;
    char type[80];         /* of the content; empty: the server did not say */
    char kept[512];        /* the header `keep`; empty: there is none */
    int64_t retry_after_s; /* -1: the server did not say */
    const char *body;      /* ends with a NUL that is not counted; gone after the callback */
    size_t len;
};

typedef void (*fetch_done)(void *data, const struct fetch_reply *reply);

struct fetch_ops {
    unsigned abi;

    /* Read a URL and add `path` to it, unless it ends with that already; a query stays where it
     * is. Only http and https, no user name, no fragment. */
    int (*url)(const char *base, const char *path, struct fetch_url *ret, struct gb_err *err);

    /* What keeps connections, and the certificates of the system, which take tens of milliseconds
     * to read: made for many requests. It must be freed before the loop is. NULL: no memory. */
    struct fetch_client *(*client_new)(struct event_base *base);
    /* Ends what is under way; nobody is told. Accepts NULL, returns NULL. */
    struct fetch_client *(*client_free)(struct fetch_client *client);

    /* Send a request. `done` is called once, from the loop, and may free the client. Redirects are
     * not followed, proxies of the environment and .netrc are not looked at, certificates are
     * verified. NULL with err when it could not begin. */
    struct fetch *(*post)(struct fetch_client *client, const struct fetch_request *request,
                          fetch_done done, void *data, struct gb_err *err);
    /* End it; `done` is not called. Not for one that is done. */
    void (*cancel)(struct fetch *f);
};

/* The module in `dir`, loaded if it is not yet; it stays for the life of the process. NULL with
 * err when it, or what it needs, is not there. */
const struct fetch_ops *fetch_load(const char *dir, struct gb_err *err);
