#pragma once
/*
 * Other MCP servers whose tools the programs of an engine may call: code mode. Each server becomes
 * a namespace, `server.tool(...)`; what goes there and comes back passes through here, and the
 * credentials that it takes never leave this side.
 */
#include <stdbool.h>

#include "base/err.h"
#include "mcp/servers.h"

struct downstream;
struct gb_engine;
struct mcp_server;

struct downstream_spec {
    struct gb_engine *engine; /* borrowed */
    struct servers servers;   /* taken, also on failure */
    unsigned grace_ms;        /* between the steps by which servers are ended; 0: 200 */
    /* What a server, or we about a server, have to say. */
    void (*log)(void *data, const char *server, const char *text);
    /* What programs can call has changed, or all servers have settled. May be NULL. */
    void (*changed)(void *data, const struct downstream *d);
    void *data;
};

/* Begin with all of them. NULL with err. */
struct downstream *downstream_new(struct downstream_spec *spec, struct gb_err *err);

/* Has each of them got ready, or failed to? */
bool downstream_is_settled(const struct downstream *d);

/* The first that is not ready, and why. Returns 0 when all are. */
int downstream_check(const struct downstream *d, struct gb_err *err) gb_nodiscard;

/* Offer the tools of servers with `passthrough` to clients directly as well, and whenever they
 * change. Before the server is freed, NULL. */
void downstream_publish(struct downstream *d, struct mcp_server *server);

/* End all servers, in order, which takes up to a second. Turns the engine's loop: not from inside
 * it. To be called before the engine is freed. Accepts NULL. */
struct downstream *downstream_free(struct downstream *d);
