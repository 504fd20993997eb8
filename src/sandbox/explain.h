#pragma once
#include <jansson.h>

#include "sandbox/plan.h"

/* The plan for people, as JSON. New reference; NULL when memory ran out. */
json_t *plan_to_json(const struct plan *plan);
