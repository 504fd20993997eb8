#pragma once
/*
 * Files that programs left, kept for a while so that resources/read can serve them. They are named
 * by what cannot be guessed, belong to a principal, and go when they are old, or when there are too
 * many.
 */
#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct mcp_files;

#define FILES_TEMPLATE "glovebox://file/{id}/{+path}"

/* NULL when memory ran out. */
struct mcp_files *mcp_files_new(struct event_base *base, unsigned ttl_ms, size_t bytes_max);
struct mcp_files *mcp_files_free(struct mcp_files *files);

struct mcp_file {
    const char *path; /* as results have it */
    const char *mime;
    json_t *text, *base64; /* one of them, a string */
    const char *principal; /* or NULL */
};

/* Keep one. Returns its URI, which the caller frees; NULL when it is larger than all that may be
 * kept, or memory ran out. Takes references to the content. */
char *mcp_files_add(struct mcp_files *f, const struct mcp_file *file);

/* What resources/read shows of it ("uri", "mimeType", and "text" or "blob"), new; NULL: there is
 * none of that name, for this principal. */
json_t *mcp_files_read(struct mcp_files *f, const char *uri, const char *principal);

/* The URIs of this principal that begin so; a new array. */
json_t *mcp_files_complete(const struct mcp_files *f, const char *prefix, size_t max,
                           const char *principal);

/* By the end of its name. Never NULL. */
const char *mime_of_path(const char *path, bool is_text);
