#pragma once
/* MCP over two descriptors: one message a line. */
#include "base/err.h"
#include "mcp/mcp.h"

struct mcp_stdio;

struct mcp_stdio_spec {
    struct mcp_server *server;
    struct event_base *base;
    int in, out; /* borrowed; made non-blocking meanwhile */
    /* The other end is gone, or what is written cannot be: nothing more will come. */
    void (*ended)(void *data);
    /* What is written cannot be, though somebody may read: an errno. Before `ended`, if at all. */
    void (*failed)(void *data, int why); /* may be NULL */
    void *data;
};

/* Serve what comes. NULL with err. */
struct mcp_stdio *mcp_stdio_new(const struct mcp_stdio_spec *spec, struct gb_err *err);

/* Is there a call under way, and somebody to read its answer? */
bool mcp_stdio_is_busy(const struct mcp_stdio *stdio);

/* Stop; cancels what is under way. Waits a moment for what is written to be taken. Accepts NULL. */
struct mcp_stdio *mcp_stdio_free(struct mcp_stdio *s);
