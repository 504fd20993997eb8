#pragma once
#include <jansson.h>

#include "sandbox/plan.h"

/* The names of a set of layers. New reference. */
json_t *layers_to_json(uint32_t layers);

/* The plan for people, as JSON. New reference; NULL when memory ran out. */
json_t *plan_to_json(const struct plan *plan);
