#pragma once
/*
 * A command of the host's, run for a tool: /bin/sh -c COMMAND with the rights, the environment and
 * the directory of the embedding program, its input as standard input, in a session of its own.
 * Nothing here blocks.
 */
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct command;

/* How it ended; borrowed. */
struct command_end {
    int status;      /* its exit status; 128 and more: killed by a signal */
    const char *out; /* what it wrote to standard output */
    size_t out_len;
    bool is_too_much; /* more than `out_max`, and it was killed for that */
    const char *err;  /* the end of what it wrote to standard error */
    size_t err_len;
};

struct command_spec {
    struct event_base *base;
    const char *keeper; /* the program glovebox-keeper */
    const char *command;
    const char *name; /* of the tool: GLOVEBOX_TOOL in its environment */
    const char *input;
    size_t input_len;
    size_t out_max;
    /* It has ended. Not called for one that was killed by command_kill(). */
    void (*done)(void *data, const struct command_end *end);
    void *data;
    /* Last call, for both: its process is gone, and so is the command when this returns. */
    void (*gone)(void *host, void *place);
    void *host, *place;
    struct command **all; /* where it is listed as long as it has a process */
};

/* Start it. `spec` is copied, what it points to is not kept, but for `data`, `host` and `place`.
 * NULL with err. */
struct command *command_start(const struct command_spec *spec, struct gb_err *err);

/* Kill it and all that it started; the caller may forget it. `gone` follows, from the loop. */
void command_kill(struct command *c);

/* No loop will turn any more: kill all that are listed, and wait for them. Only `gone` is called.
 */
void commands_end(struct command **all);
