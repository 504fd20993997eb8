#pragma once
/* What has happened, for Prometheus; and whether the server is well. */
#include "http/http.h"

struct gb_engine;
struct runs;
struct http_mcp;
struct mcp_server;
struct metrics;

struct metrics_spec {
    struct http_server *http; /* borrowed, as everything here */
    struct gb_engine *engine;
    struct runs *runs; /* whose results are counted from now on */
    struct mcp_server *mcp;
    struct http_mcp *endpoint;
};

struct metrics *metrics_new(const struct metrics_spec *spec); /* NULL when memory ran out */
struct metrics *metrics_free(struct metrics *metrics);        /* accepts NULL */

/* /metrics, and /healthz which needs no token. */
void metrics_route(struct metrics *metrics);
