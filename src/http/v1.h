#pragma once
/* The engine as plain JSON: /v1/run, /v1/shell, /v1/check. */
#include "http/http.h"
#include "mcp/runs.h"

struct http_v1;

struct http_v1_spec {
    struct event_base *base; /* borrowed, as everything here */
    struct runs *runs;
    size_t waiting_max; /* requests that wait for their turn; more are told to come back */
    bool has_shell;
};

/* NULL when memory ran out. */
struct http_v1 *http_v1_new(const struct http_v1_spec *spec);

/* After the HTTP server, before the runs. Accepts NULL. */
struct http_v1 *http_v1_free(struct http_v1 *v1);

void http_v1_route(struct http_v1 *v1, struct http_server *server);
