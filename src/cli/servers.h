#pragma once
/* Other MCP servers: --mcp, and the configuration's own. */
#include <jansson.h>

#include "base/err.h"
#include "cli/cli.h"

struct downstream;
struct gb_engine;

/*
 * Begin with the servers that the configuration names, if it names any; *ret is NULL then. With `wait`,
 * return when all of them are ready, and fail if one cannot be begun with. To be freed before the
 * engine is, as auto_downstream does for one that is declared behind it.
 */
int downstream_open(const json_t *config, struct gb_engine *engine, bool wait,
                    struct downstream **ret, struct gb_err *err) gb_nodiscard;

/* For auto_downstream. */
void downstream_closep(struct downstream **d);

#define auto_downstream __attribute__((cleanup(downstream_closep)))
