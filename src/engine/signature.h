#pragma once
/* A JSON Schema as Python would write it, for models to read. */
#include <jansson.h>
#include <stdio.h>

/* "(*, key: str, limit: int | None = ...) -> Any", from the schema of the parameters and that of
 * what is returned; either may be NULL. */
void signature_put(FILE *f, const json_t *parameters, const json_t *returns);

/* The type alone: "list[str]", "dict", "Any". */
void signature_put_type(FILE *f, const json_t *root, const json_t *schema);

/* Somebody else's text as one line of at most `max` bytes: no line breaks, no control characters,
 * nothing that a reader could take for the end of the line. */
void signature_put_line(FILE *f, const char *text, size_t max);
