#pragma once
/* A session's workspace, seen from outside: what lies there, and what is in a file. Bounded, and
 * never through a link. */
#include <jansson.h>

#include "backend/backend.h"
#include "engine/request.h"

struct walk;

enum {
    SESSION_FILES_MAX = 10000, /* that are looked at */
    SESSION_READ_MAX = 8 << 20,
    SESSION_READ = 1 << 20, /* unless more is asked for */
    SESSION_FILES_MORE = -2 /* see session_files_bytes() */
};

/* What lies there now, up to so many; NULL if it cannot be known. */
struct walk *session_files_look(const struct place_ground *ground, size_t max);

/* The answer to 'list_files', a new reference; NULL with err. */
json_t *session_files_list(const struct place_ground *ground, struct gb_err *err);

/* The answer to 'read_file'. */
json_t *session_files_read(const struct place_ground *ground, const struct request *r,
                           struct gb_err *err);

/* All bytes of a file, which the caller frees: how many, -1 with err, or SESSION_FILES_MORE when
 * there are more than `max`. */
ssize_t session_files_bytes(const struct place_ground *ground, const char *path, size_t max,
                            char **ret, struct gb_err *err);
