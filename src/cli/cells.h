#pragma once
/* Lines that are typed, put together to cells: where does a piece of Python end? Decided from its
 * brackets, quotes and colons, without an interpreter; what is wrong in it, the check will say. */
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum {
    CELL_MAX = 1 << 20
};

struct cells {
    struct gb_buf text; /* the lines so far */
    unsigned depth;     /* of brackets */
    char quote;         /* of the text that is open, or 0 */
    bool is_long;       /* three of them */
    bool is_joined;     /* the last line ended with a backslash */
    bool has_body;      /* there was a line that is no decorator */
    bool in_block;      /* there was a line that ended with a colon, or a decorator */
};

enum cells_state {
    CELLS_MORE,  /* it goes on */
    CELLS_READY, /* `text` is a cell */
    CELLS_BEFORE /* so it is, without this line, which begins the next one */
};

void cells_init(struct cells *c);
void cells_done(struct cells *c);

/* Begin the next. */
void cells_clear(struct cells *c);

/* Add a line, without its newline. With `is_typed` a block goes on until an empty line; otherwise
 * also until a line that is not indented, and is not the block's own. -1 with err when it becomes
 * too long. */
int cells_add(struct cells *c, const char *line, bool is_typed, enum cells_state *ret,
              struct gb_err *err) gb_nodiscard;
