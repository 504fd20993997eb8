#pragma once
/*
 * Which shell, and how it is called.
 *
 * What was asked for comes first: a string, which is split as a shell would split it, or a list of
 * words. Then the usual places: bash, then sh. The words of a wish are kept as they are; what a
 * command needs behind them (-c, or -Command) is added unless it is there already.
 */
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

enum shell_family {
    SHELL_BASH,
    SHELL_SH,   /* and whatever takes the same arguments */
    SHELL_PWSH, /* PowerShell */
};

enum {
    SHELL_WORDS_MAX = 64,
    SHELL_WORD_MAX = 4096
};

/* By the name of the program. */
enum shell_family shell_family_of(const char *program);
const char *shell_family_name(enum shell_family family);

/* Is it one whose grammar parse.h knows? With `bash`: also what only bash has. */
bool shell_speaks(const char *program, bool bash);

/* A wish as a list of words (a new reference): from a string or a list of strings. NULL with err
 * when it is neither, is empty, or has a quote that does not end. */
json_t *shell_words(const json_t *wish, struct gb_err *err);

/* What there is at a path: 0, or the errno that says why it cannot be executed. */
typedef int shell_look(const char *path);
shell_look shell_look_here;

/* The program to execute, which the caller frees. `words` is the wish, or NULL; `path` is where a
 * name without a slash is looked for. NULL with err. */
char *shell_find(const json_t *words, const char *path, shell_look *look, struct gb_err *err);

struct shell_call {
    const char *program; /* what shell_find() found */
    const json_t *words; /* the wish, or NULL */
    const char *command; /* NULL: none, the shell is to read commands */
    const json_t *args;  /* the command's own arguments, strings, or NULL */
};

/* The arguments, the program's name first: a new list. */
json_t *shell_argv(const struct shell_call *call);

/* The text as one word, whatever is in it; the caller frees it. */
char *shell_quote(enum shell_family family, const char *text);
