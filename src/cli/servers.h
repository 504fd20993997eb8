#pragma once
/* Other MCP servers: --mcp, and the configuration's own. */
#include <jansson.h>

#include "base/err.h"
#include "cli/cli.h"

struct downstream;
struct gb_engine;
struct mcp_face;

/*
 * Begin with the servers that the configuration names; *ret is NULL where it names none. Returns
 * when all of them are ready, and fails if one cannot be begun with. To be freed before the engine
 * is, as auto_downstream does for one that is declared behind it.
 */
int downstream_open(const json_t *config, struct gb_engine *engine, struct downstream **ret,
                    struct gb_err *err) gb_nodiscard;

/*
 * The same for a face that serves: programs, and clients, see what there is when it is there, and
 * are told when it changes. Lists and calls of tools wait, for a while, until all servers have
 * settled.
 */
int downstream_serve(const json_t *config, struct gb_engine *engine, struct mcp_face *face,
                     struct downstream **ret, struct gb_err *err) gb_nodiscard;

/* Wait until all have settled, as long as a client would. Accepts NULL. */
void downstream_settle(const struct downstream *d, struct gb_engine *engine);

/* For auto_downstream. */
void downstream_closep(struct downstream **d);

#define auto_downstream __attribute__((cleanup(downstream_closep)))
