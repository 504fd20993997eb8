#pragma once
/* The server of test suites, for whatever transport. */
#include <event2/event.h>
#include <jansson.h>

struct mcp_server;

/* What `all` says (fixture.json), which must stay meanwhile. NULL after a message. */
struct mcp_server *fixture_new(struct event_base *base, const json_t *all);

/* Say every three seconds that test://watched-resource changed; the caller frees the event. */
struct event *fixture_watch(struct event_base *base, struct mcp_server *server);
