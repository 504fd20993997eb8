#pragma once
#include <jansson.h>

/* The text of any JSON value, compact, reals in as few digits as give them back exactly. The
 * caller frees it; NULL only when memory ran out. */
char *json_text(const json_t *json);

static inline void gb_json_decrefp(json_t **json)
{
    json_decref(*json);
}

#define auto_json __attribute__((cleanup(gb_json_decrefp)))
