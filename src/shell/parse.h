#pragma once
/*
 * The grammar of sh and of bash, as far as one must know it to say which commands a text would run:
 * every simple command of pipelines, lists, subshells, groups, loops, conditions, functions and
 * substitutions, in words, quotes, parameters, here-documents and backquotes, is shown to a
 * visitor.
 *
 * It is for those who allow some commands and no others, so it errs on their side: what it does not
 * know, what shells disagree about, and what would have data evaluated as code (arithmetic with
 * names in it, indirect parameters) is refused. Text in one pass, in memory of its own that is
 * bounded, to a bounded depth.
 */
#include <stdbool.h>
#include <stddef.h>

enum {
    SHELL_DEPTH_MAX = 40,
    SHELL_COMMANDS_MAX = 20000
};

struct shell_word {
    const char *text; /* without its quotes if it is literal, else as it is written (cut) */
    bool is_literal;  /* it is what it says: nothing in it is expanded */
    bool is_plain;    /* and there was nothing quoted in it */
    bool is_quoted;   /* what is expanded is in double quotes: it stays one word */
};

struct shell_command {
    const struct shell_word *words; /* without assignments and redirections; at least one */
    size_t n_words;
    size_t line; /* from 1 */
};

struct shell_problem {
    size_t line;
    char message[200];
};

/* Both return 0, or -1 with a problem: then the text is read no further. */
struct shell_visitor {
    void *data;
    int (*command)(void *data, const struct shell_command *command, struct shell_problem *problem);
    /* A variable is set: by an assignment, a loop, or ${name=value}. `is_passed`: for a command,
     * which finds it in its environment. */
    int (*variable)(void *data, const char *name, bool is_passed, struct shell_problem *problem);
};

struct shell_parsed {
    size_t n_commands;
    bool is_bash; /* there is something in it that only bash reads that way */
};

/* Returns 0, or -1 with a problem. `len` bytes at `text`, no NUL among them. */
int shell_parse(const char *text, size_t len, const struct shell_visitor *visitor,
                struct shell_parsed *ret, struct shell_problem *problem);
