#pragma once
/* What the files of code mode share. */
#include <jansson.h>

#include "mcp/client.h"
#include "mcp/downstream.h"
#include "mcp/shelf.h"

/* A tool of a server's that is offered. */
struct offered {
    char *name;              /* as programs call it: "server.tool" */
    const char *tool;        /* as the server does; looks into: */
    const json_t *described; /* the server's own words, borrowed from the list of the client */
    json_t *returns;         /* what its result is checked against, or NULL */
    bool needs_approval;
};

struct relay;

struct upstream {
    struct downstream *all;
    size_t number;
    const struct server_spec *spec;
    struct client *client;
    struct offered *tools;
    size_t n_tools;
};

struct downstream {
    struct downstream_spec spec;
    struct upstream *servers;
    json_t *own; /* the engine's tools without ours */
    struct relay *relays;
    struct shelf *shelf;
    struct event *on_changed;
    struct mcp_server *published;
    json_t *shown; /* names of tools that were published */
    bool is_ending;
};

/* ---- offered.c ---- */

/* Read what the server lists, name by name. */
void offered_read(struct upstream *u);
void offered_done(struct upstream *u);

/* The engine's description of one; new. */
json_t *offered_spec(const struct upstream *u, const struct offered *o);

/* ---- outcome.c ---- */

/* What a program gets of the result of tools/call. */
struct outcome {
    json_t *value;    /* new; NULL: it failed */
    bool has_handles; /* in it */
    const char *type; /* of the failure */
    char *message;    /* for people; the caller frees it */
};

void outcome_of(const struct upstream *u, const json_t *result, const json_t *returns,
                struct outcome *ret);

/* The same of resources/read: {"base64"} or {"text"}. New, NULL when it has none. */
json_t *outcome_of_read(const json_t *result);

/* ---- passthrough.c ---- */

/* Show clients what there is now. */
void passthrough_show(struct downstream *d);

/* ---- downstream.c ---- */

void downstream_log(struct upstream *u, const char *format, ...) gb_printf(2, 3);
