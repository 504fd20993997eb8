#pragma once
/*
 * Lines from a terminal, with editing and history. That is libedit's, which lives in a module of
 * its own, glovebox-edit.so: only the command that edits pays for loading it. Without the module,
 * and where there is no terminal, lines are read as they come.
 */
#include <stdbool.h>
#include <stdio.h>

#define EDIT_MODULE "glovebox-edit.so"
#define EDIT_SYMBOL "glovebox_edit"
#define EDIT_ABI    1U

enum edit_state {
    EDIT_LINE,
    EDIT_INTERRUPTED, /* *stop became true */
    EDIT_END
};

struct edit;

struct edit_ops {
    unsigned abi;
    /* `history` is a file, or NULL; `stop` is looked at when a signal came. NULL: it cannot. */
    struct edit *(*open)(const char *history, const volatile int *stop);
    /* The line is without its newline, and good until the next call. */
    enum edit_state (*line)(struct edit *e, const char *prompt, const char **ret);
    /* What to find again: a whole cell. */
    void (*remember)(struct edit *e, const char *text);
    void (*close)(struct edit *e);
};

/* How lines come: with editing on a terminal, else plain. Never NULL. */
const struct edit_ops *edit_ops(bool is_terminal);
