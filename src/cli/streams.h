#pragma once
/* Where a program's output goes: standard output and standard error, which may be a terminal. */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/tame.h"

struct streams {
    bool is_raw; /* a terminal gets all that the program says */
    bool is_terminal[2];
    struct tame tames[2];
};

void streams_open(struct streams *s, bool is_raw);

/* Write all of it to STDOUT_FILENO or STDERR_FILENO; to a terminal, what may pass (tame.h). Returns
 * 0 or -errno, as write_all() does. */
int streams_write(struct streams *s, int fd, const char *bytes, size_t len) gb_nodiscard;

/* The same to any terminal. `tame` has what came before. */
int streams_write_tamed(struct tame *tame, int fd, const char *bytes, size_t len) gb_nodiscard;

/* Where a program could ask the terminal, drop its answers: the shell that is next to read would
 * take them for input. */
void streams_close(const struct streams *s);
