#pragma once
/*
 * What a command of a persistent shell prints to: two pipes, its own. When it is over and somebody
 * still holds them, a job that it left behind, what comes is kept apart from what later commands
 * print.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    STREAM_KEEP = 256 << 10, /* of what jobs print, bytes that can still be read */
};

struct stream {
    uint64_t cell; /* the command's number; 0: not in use */
    int fds[2];    /* of its output and its errors; -1: every writer is gone */
    char *late;    /* what came after the command */
    size_t n_late;
    uint64_t dropped; /* and is not kept any more, before that */
};

/* Pipes for the next command, as far as they are made. All 0: none are. */
struct stream_pipes {
    int fds[2][2];
    bool has[2];
};

/* Make those that are missing, while nobody waits for it. Returns 0 or -1. */
int stream_prepare(struct stream_pipes *p);

/* Take them, made now where they are not yet. Returns 0 and the ends for the command, or -1. */
int stream_open(struct stream *s, uint64_t cell, struct stream_pipes *p, int ret_ends[2]);

/* Take what is there. While the command runs it goes to our own descriptors 1 and 2. `is_all`: to
 * the end of what is in the pipe now. */
void stream_read(struct stream *s, int which, bool is_late, bool is_all);

/* Is there still somebody who may write? */
bool stream_is_open(const struct stream *s);

void stream_close(struct stream *s);
