#pragma once
/* Command line options as data. A command lists groups of option_spec; parsing, --help, the man
 * page and shell completion all read the same tables. */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * What an option takes, and what its `offset` in the target struct points at. The OPT_KEY kinds
 * point at a JSON object and set the key named like the option ('-' becomes '_'), so that an
 * option of the engine needs no code here.
 */
enum option_kind {
    OPT_FLAG,        /* bool */
    OPT_TEXT,        /* const char *, borrowed from argv */
    OPT_TEXT_ONCE,   /* the same; a second one is refused */
    OPT_CHOICE,      /* text, one of `value` ("a|b|c") */
    OPT_COUNT,       /* int, at least 1 */
    OPT_BINDING,     /* json_t *: NAME=JSON sets member NAME; repeatable */
    OPT_COMMAND,     /* json_t *: NAME=COMMAND adds {"name", "command"} to a list; repeatable */
    OPT_KEY_FLAG,    /* true */
    OPT_KEY_TEXT,    /* string */
    OPT_KEY_CHOICE,  /* string, one of `value` */
    OPT_KEY_COUNT,   /* integer, at least 1 */
    OPT_KEY_SECONDS, /* real, more than 0 */
    OPT_KEY_SIZE,    /* integer, bytes */
    OPT_KEY_ENV,     /* object: NAME=VALUE, or NAME to copy from our environment; repeatable */
    OPT_KEY_LIST,    /* array of strings: A[,B]; repeatable */
    OPT_KEY_STRINGS, /* array of strings, each as it is; repeatable */
    OPT_STRINGS      /* json_t *, an array: the same */
};

struct option_spec {
    char letter; /* 0: no short form */
    const char *name;
    enum option_kind kind;
    size_t offset;
    const char *value; /* what --help calls the value; the choices of a choice; NULL for a flag */
    const char *help;  /* NULL: works, but is left out of help, man page and completion */
    const char *fallback; /* the default as people read it, or NULL */
};

struct option_group {
    const char *title; /* NULL: of options that are taken and nothing else is said of them */
    const struct option_spec *options;
    size_t count;
};

/* What is left of the command line: the words before "--", and those after it. Both point into
 * the parsed argv and end with NULL. */
struct operands {
    char **words;
    size_t count;
    char **rest;
};

/*
 * Parse `argv` (without program and command name, NULL-terminated) by `groups` (ended by NULL) into
 * `target`. Options and operands may be mixed; "--" ends the options. `argv` is reordered: the
 * operands point into it. Returns -1 with GB_E_INVALID and a message for people; the operands are
 * then those before what was refused, and `rest` begins with that.
 */
int options_parse(const struct option_group *const *groups, char **argv, void *target,
                  struct operands *ret, struct gb_err *err) gb_nodiscard;

/* What the kind of an option means for those who describe it. */
enum option_trait {
    OPT_TAKES_VALUE = 1u << 0,
    OPT_IS_CHOICE = 1u << 1, /* `value` is the closed set */
    OPT_REPEATS = 1u << 2    /* each use adds to the ones before */
};

bool option_has(const struct option_spec *option, enum option_trait trait);
