#pragma once
/*
 * What a command of a persistent shell prints to: two named pipes, which the shell opens by their
 * names. When the command is over and nobody holds them, the next one can have them. When somebody
 * does, a job that it left behind, they lose their names, and what comes is kept apart from what
 * later commands print.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    STREAM_KEEP = 256 << 10, /* of what jobs print, bytes that can still be read */
    STREAM_PATH = 256,
};

struct stream {
    uint64_t cell; /* the command's number; 0: not in use */
    int fds[2];    /* of its output and its errors; -1: every writer is gone */
    uint64_t name; /* of the pipes: a command's number, or 0: those that are always there */
    char *late;    /* what came after the command */
    size_t n_late;
    uint64_t dropped; /* and is not kept any more, before that */
};

void stream_name(const char *dir, uint64_t name, int which, char path[STREAM_PATH]);

/* Make those that are there for when no others can be made: the file system is full, say. */
int stream_make_spare(const char *dir);

/* Take those of the name *idle, which becomes 0, or make both, or take the spare ones. Returns 0,
 * or
 * -1. */
int stream_open(struct stream *s, const char *dir, uint64_t cell, uint64_t *idle);

/* The shell has opened them, or never will, and no other command is to have them. */
void stream_unlink(const struct stream *s, const char *dir);

/* Take what is there. While the command runs it goes to our own descriptors 1 and 2. `is_all`: to
 * the end of what is in the pipe now. */
void stream_read(struct stream *s, int which, bool is_late, bool is_all);

/* Is there still somebody who may write? */
bool stream_is_open(const struct stream *s);

void stream_close(struct stream *s);
