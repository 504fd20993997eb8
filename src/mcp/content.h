#pragma once
/* What a model sees of a result: a short text, pictures, files. */
#include <jansson.h>

#include "mcp/files.h"

/*
 * The result of tools/call for a result of the engine, which is taken and changed: what is in files
 * and pictures moves to "content". New; NULL when memory ran out. `principal` is whose the files
 * are.
 */
json_t *content_of_run(json_t *result, struct mcp_files *files, const char *principal);

/* The same for a request about a session (list_files and its like): its value, or why there is
 * none. */
json_t *content_of_op(json_t *result);

/* The text alone; the caller frees it. */
char *content_text(const json_t *result);
