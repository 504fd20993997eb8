#pragma once
/*
 * Other MCP servers, as their configuration has them: the `mcpServers` object that agents share,
 * and what glovebox adds to it. Values of `env` and `headers` are credentials as likely as not:
 * they are in no message.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    SERVERS_MAX = 100,
    SERVER_IDENT_MAX = 60
};

struct server_spec {
    char *key;   /* as configured */
    char *ident; /* the same as a name of Python's */
    /* one that is started */
    char **argv; /* NULL: it is asked over HTTP */
    char **env;  /* NAME=VALUE: all that it gets */
    char *cwd;   /* or NULL */
    /* one that is asked over HTTP */
    char *url;
    char **headers; /* "Name: value" */
    char *ca;       /* a file of certificates to trust instead of the system's, or NULL */
    /* what is done with its tools */
    json_t *allow;    /* patterns; NULL: all */
    json_t *deny;     /* patterns, or NULL */
    json_t *approval; /* patterns of those that need a person's yes, or NULL */
    json_t *timeouts; /* of tools, by pattern, in seconds; or NULL */
    uint64_t timeout_ms;
    uint64_t start_ms; /* how long it may take to begin with */
    bool is_passthrough;
};

struct servers {
    size_t count;
    struct server_spec *list;
};

/* Read a configuration: {"mcpServers": {KEY: {...}}}, or "servers", or what is in it. `note` is
 * told of what is passed over. Returns 0, or -1 with err. */
int servers_read(const json_t *config, struct servers *ret,
                 void (*note)(void *data, const char *text), void *data,
                 struct gb_err *err) gb_nodiscard;
void servers_done(struct servers *servers);

/* A name that Python takes, from any text: other characters become '_'. Returns false when nothing
 * is left of it. `is_global`: nor does it hide a builtin. */
bool ident_of(const char *text, bool is_global, char *ret, size_t size);

/* Does the tool match one of the patterns ('*' and '?')? */
bool server_lists(const json_t *patterns, const char *tool);

/* May programs call it? */
bool server_offers(const struct server_spec *spec, const char *tool);

/* How long a call of it may take. */
uint64_t server_timeout_ms(const struct server_spec *spec, const char *tool);

/* Replace what is, or may be, a credential of this server's in a text, in place: values of headers,
 * and of variables whose names say so. */
void server_scrub(const struct server_spec *spec, char *text);
