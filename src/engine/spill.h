#pragma once
/*
 * The whole of a run's output, in files: the result shows a part of it, and where the rest is. A
 * file is made when the first byte comes, holds so many bytes and no more, and is the operator's
 * from then on. What cannot be written costs the run nothing but what the result says of it.
 */
#include <jansson.h>
#include <stdint.h>

struct spill_file {
    int fd; /* -1: there is none yet */
    char *path;
    uint64_t came, written;
    int error; /* errno that ended it, or 0 */
};

struct spill {
    const char *dir; /* borrowed; NULL: nothing is kept */
    uint64_t limit;  /* bytes of each stream */
    struct spill_file files[2];
};

void spill_init(struct spill *s, const char *dir, uint64_t limit);
void spill_done(struct spill *s);

/* `stream`: 0 or 1. */
void spill_add(struct spill *s, int stream, const char *bytes, size_t len);

/* {"stdout": {"path", "bytes", "complete"[, "error"]}, "stderr": ...}; null for a stream on which
 * nothing came. */
json_t *spill_json(const struct spill *s);
