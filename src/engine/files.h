#pragma once
/* The files that a request puts into the workspace: {"path": "text"} or {"path": {"base64":
 * ...}}. */
#include <jansson.h>
#include <stdbool.h>

#include "backend/workspace.h"

enum {
    FILES_MAX = 1000,
    FILES_DEPTH_MAX = 64,          /* directories in a path */
    FILES_DIRECTORIES_MAX = 10000, /* in all paths: each is made, or entered, while others wait */
    FILES_BYTES_MAX = 64 << 20
};

struct request_files {
    struct workspace_file *list;
    char **owned; /* what was decoded, one for each, or NULL */
    size_t n;
    size_t bytes;         /* of all */
    size_t n_directories; /* in all paths */
};

/* The pointers look into `value`, which must outlive them. */
int files_read(json_t *value, struct request_files *ret, struct gb_err *err) gb_nodiscard;
void files_done(struct request_files *f);

/* Is it a path that leads to a place below the directory that it starts from, by its letters
 * alone? */
bool files_is_path(const char *path);
