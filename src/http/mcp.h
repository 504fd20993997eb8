#pragma once
/* MCP over streamable HTTP, at one path. */
#include "base/err.h"
#include "http/http.h"
#include "mcp/mcp.h"

struct http_mcp;

struct http_mcp_spec {
    struct event_base *base; /* borrowed, as everything here */
    struct mcp_server *mcp;
    const char *principal;   /* of all who come here; may be NULL */
    unsigned sessions_max;   /* of the legacy era; 0: 1024 */
    unsigned session_ttl_ms; /* that one may be idle; 0: an hour */
    /* Is there no room for another call? May be NULL. */
    bool (*is_full)(void *data);
    void *data;
};

/* NULL when memory ran out. */
struct http_mcp *http_mcp_new(const struct http_mcp_spec *spec);

/* After the HTTP server, before the MCP server. Accepts NULL. */
struct http_mcp *http_mcp_free(struct http_mcp *endpoint);

void http_mcp_route(struct http_mcp *endpoint, struct http_server *server, const char *path);

/* End the streams that would stay open. */
void http_mcp_farewell(struct http_mcp *endpoint);

/* Sessions of the legacy era. */
size_t http_mcp_sessions(const struct http_mcp *endpoint);
