#pragma once
/*
 * How messages get to an MCP server and back: a child's pipes, or HTTP. A link knows nothing of
 * what the messages mean, but for the little that HTTP wants said in headers.
 */
#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "mcp/rpc.h"

struct link;
struct fetch_ops;
struct server_spec;

/* A message to be sent. */
struct link_message {
    const char *text;
    size_t len;
    json_int_t id;       /* of a request; 0: it is none */
    const char *method;  /* or NULL: it is a response */
    const char *target;  /* what "Mcp-Name" is to say, or NULL */
    const json_t *extra; /* further headers by name, or NULL */
};

/* Why a request will have no answer. */
enum link_fault {
    LINK_NO_SESSION, /* HTTP: the session is over */
    LINK_REFUSED,    /* HTTP: a status of 400 and more, with nothing to read in it */
    LINK_TOO_BIG,
    LINK_BROKEN /* the connection, or what came over it */
};

/* What a link tells. All are called from the loop, none from inside a function of the link; in
 * `ended`, and only there, the link may be freed. */
struct link_events {
    /* A message came. `bad`: it is none (NULL then), why. */
    void (*message)(void *data, const struct rpc_message *message, const char *bad);
    /* The request `id` will not be answered; 0: none of those under way may be. */
    void (*failed)(void *data, json_int_t id, enum link_fault fault, const char *why);
    /* A line of what it says about itself. */
    void (*said)(void *data, const char *line);
    /* It is gone, and nothing more will come. */
    void (*ended)(void *data, const char *why);
    void *data;
};

struct link_ops {
    /* Send it. Failures are told later. */
    void (*send)(struct link *l, const struct link_message *message);
    /* Nobody waits for that request's answer. */
    void (*forget)(struct link *l, json_int_t id);
    /* The era, and the version, that was agreed on. */
    void (*agree)(struct link *l, const char *version, bool is_modern);
    /* Listen to what the server has to say unasked (legacy HTTP). */
    void (*listen)(struct link *l);
    /* Begin to end it: nothing more is sent or told but `ended`. */
    void (*close)(struct link *l);
    /* Has it gone, after close()? */
    bool (*is_gone)(const struct link *l);
    /* End what is not gone at once, and free it. */
    void (*free)(struct link *l);
};

struct link {
    const struct link_ops *ops;
    struct link_events events;
};

struct link_spec {
    struct event_base *base;
    const struct server_spec *server; /* borrowed, as is what follows */
    const char *directory;            /* where glovebox-keeper and modules are */
    unsigned grace_ms;                /* between the steps by which it is ended */
    struct link_events events;
};

/* NULL with err. */
struct link *link_stdio_new(const struct link_spec *spec, struct gb_err *err);
struct link *link_http_new(const struct link_spec *spec, struct gb_err *err);
