#pragma once
/* Lines of a file or pipe, read in a thread of their own, because the engine's loop cannot watch
 * a descriptor of ours: while one side waits for the next line, the other side's jobs go on. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct gb_engine;
struct lines;

#define LINE_BYTES_MAX ((size_t)8 << 20)

struct line {
    char *text; /* the caller's; NULL when the line cannot be a request */
    uint64_t number;
    uint64_t end_offset; /* bytes of input up to the end of this line */
    const char *problem; /* why text is NULL */
};

enum lines_state {
    LINES_ONE,  /* there was a line */
    LINES_WAIT, /* none yet; the engine is woken when there is one, or the end */
    LINES_END,  /* there are no more */
    LINES_ERROR
};

/* Start to read `fd` (borrowed), holding at most `ahead` lines. Blank lines are left out. */
int lines_open(int fd, size_t ahead, struct gb_engine *engine, struct lines **ret,
               struct gb_err *err) gb_nodiscard;

/* The next line, without waiting. On LINES_ERROR, `err` says why. */
enum lines_state lines_next(struct lines *l, struct line *ret, struct gb_err *err);

/* Stop reading, wherever the reader is, and free it. For auto_lines. */
void lines_closep(struct lines **l);

#define auto_lines __attribute__((cleanup(lines_closep)))
