#pragma once
/* What a box gets of an order: the program as the guest reads it, and what init watches. */
#include <jansson.h>

#include "backend/backend.h"
#include "backend/box.h"

/* The order's program with the environment of this box and the limits that are below those it was
 * made with. New reference. `scratch` is the box's host directory, or NULL; a fork's places are its
 * own. *ret_tool_token is what the program's tool calls will carry, 0 if it has no tools. */
json_t *program_for(const struct run_order *order, const struct box_shape *made,
                    const char *scratch, bool is_fork, uint64_t *ret_tool_token);

/* What the watcher holds the run to. */
struct plan_watch program_watch(const struct run_order *order, const struct box_shape *made);
