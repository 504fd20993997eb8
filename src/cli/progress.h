#pragma once
/* One line on a terminal that tells how far a batch is. */
#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool is_on;
    bool is_shown;
    bool is_shared;    /* results go to a terminal too: out of their way first */
    uint64_t total;    /* bytes of input, 0 when not known */
    uint64_t consumed; /* bytes of input whose lines are answered */
    uint64_t answered;
    uint64_t succeeded;
    uint64_t start_ms;
    uint64_t drawn_ms;
};

/* Starts the clock. Shows nothing, ever, when `is_quiet` or standard error is no terminal.
 * `fd` is the input: a file's size makes a bar. */
void progress_init(struct progress *p, int fd, bool is_quiet);

/* A result was written: its text, and where its line ended in the input. */
void progress_count(struct progress *p, const char *result, uint64_t end_offset);

/* Draw, at most ten times a second. */
void progress_draw(struct progress *p);

/* Clear the line before something else is written to the terminal. */
void progress_hide(struct progress *p);

/* Draw the last state and leave it. */
void progress_done(struct progress *p);
