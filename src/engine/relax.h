#pragma once
/* Schemas of others. */
#include <jansson.h>

/* As much of a schema as schema_check() takes, such that whatever obeyed the schema obeys what is
 * left of it; new, NULL when nothing is. For schemas that somebody else wrote, and checks again. */
json_t *schema_relax(const json_t *schema);
