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
    struct toolset *set;     /* of it alone, as the engine has it */
    bool needs_approval;
};

/* What a server offers, as far as its list has been read. */
struct offer {
    json_t *list;   /* of the client; owned. NULL: there is none */
    json_t *idents; /* how many of its tools programs would find under a name */
    struct offered *tools;
    size_t n_tools;
    size_t at; /* in the list: where reading goes on */
};

struct relay;

struct upstream {
    struct downstream *all;
    size_t number;
    const struct server_spec *spec;
    struct client *client;
    struct offer offer;   /* in force */
    struct offer reading; /* takes its place when all of it is read */
    struct event *on_read;
    unsigned n_logged; /* lines, of the list that was last read */
};

struct downstream {
    struct downstream_spec spec;
    struct upstream *servers;
    json_t *own;           /* the engine's tools without ours */
    struct toolset *fixed; /* these, and those about tools */
    struct relay *relays;
    struct shelf *shelf;
    struct event *on_changed;
    struct mcp_server *published;
    json_t *shown; /* names of tools that were published */
    bool is_ending;
};

/* ---- offered.c ---- */

/* Begin to read what the server lists, in place of a list that was being read. */
void offer_begin(struct upstream *u);

/* Read on, for a few milliseconds. False: there is more. When all is read it is in force. */
bool offer_go_on(struct upstream *u);
bool offer_is_read(const struct upstream *u);
void offer_done(struct offer *o);

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
