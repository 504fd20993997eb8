#pragma once
/*
 * A client of one MCP server, in both eras. It begins, finds out which era the server lives in,
 * keeps the list of its tools, sends requests, and begins anew, more and more slowly, when the
 * server ends. Nothing that the server says is believed: sizes, counts, ids and times are bounded.
 */
#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct client;
struct client_request;
struct server_spec;

struct client_events {
    /* The list of its tools has come, or has changed (client_tools()). */
    void (*listed)(void *data);
    /* It is ready, or could not be begun with, for the first time. */
    void (*settled)(void *data);
    /* Something that the operator may want to know. */
    void (*log)(void *data, const char *text);
    /* The server asks the user: `params` of elicitation/create. The result of it, new. NULL: nobody
     * can be asked; so it is too when this is NULL, and the server is told beforehand. */
    json_t *(*elicit)(void *data, const json_t *params);
    void *data;
};

struct client_spec {
    struct event_base *base;
    const struct server_spec *server; /* borrowed, and so is: */
    const char *directory;            /* where glovebox-keeper and modules are */
    unsigned grace_ms;                /* between the steps by which a child is ended */
    struct client_events events;
};

/* How a request ended. Borrowed until the callback returns. */
struct client_answer {
    size_t bytes;         /* of the message that it came in */
    const json_t *result; /* NULL: it failed, and: */
    const char *type;     /* a word, for programs */
    const char *message;  /* for people; may be the server's own */
    const json_t *error;  /* as the server sent it, or NULL */
};

typedef void (*client_done)(void *data, const struct client_answer *answer);

/* Begin. NULL when memory ran out. */
struct client *client_new(const struct client_spec *spec);

/* Begin to end it: requests fail, the child is asked to go. */
void client_close(struct client *c);
bool client_is_gone(const struct client *c);  /* after that */
struct client *client_free(struct client *c); /* at once; accepts NULL */

bool client_is_ready(const struct client *c);
bool client_is_settled(const struct client *c);

/* It ended more than once, and it is a while before it is tried again: asking it is of no use. */
bool client_is_away(const struct client *c);

/* Why it is not ready; empty where there is nothing to tell. */
const char *client_problem(const struct client *c);

/* The tools as the server describes them: a list, those left out that no client may offer. Borrowed
 * until `listed` has been called again. */
const json_t *client_tools(const struct client *c);

/*
 * Send a request; `params` is taken. `done` is called once, from the loop, unless it was cancelled.
 * One that comes before the server is ready waits for it. `timeout_ms` 0: no limit. NULL when
 * memory ran out, or too many wait already.
 */
struct client_request *client_ask(struct client *c, const char *method, json_t *params,
                                  uint64_t timeout_ms, client_done done, void *data);

/* Nobody wants to know: the server is told, and `done` is not called. */
void client_cancel(struct client_request *r);
