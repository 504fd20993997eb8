#pragma once
/*
 * JSON Schema, as much of it as describes the parameters of tools (docs/tools.md lists it). What is
 * not understood is refused when a schema is taken, and not passed over when a value is checked.
 */
#include <jansson.h>

#include "base/err.h"

/* Can values be checked against it? */
int schema_check(const json_t *schema, struct gb_err *err) gb_nodiscard;

/* Is the value what the schema (which passed schema_check()) describes? `name` is what messages
 * call the value. The work is bounded: what takes too long to tell is not. */
int schema_validate(const json_t *schema, const json_t *value, const char *name,
                    struct gb_err *err) gb_nodiscard;

/* What "#/..." in the schema `root` points to (borrowed), or NULL. */
const json_t *schema_refer(const json_t *root, const char *ref);
