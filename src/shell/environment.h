#pragma once
/*
 * The environment of a command. Nothing is inherited from the host program but what it names; PATH
 * is always there, and holds only absolute directories: a name must not mean whatever lies in the
 * directory that a command happens to be in.
 */
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

#define ENVIRONMENT_PATH "/usr/local/bin:/usr/bin:/bin"

enum {
    ENVIRONMENT_NAMES_MAX = 1000,
    ENVIRONMENT_BYTES_MAX = 1 << 20
};

struct environment_wish {
    const json_t *base;  /* an object of strings: what every box has, and what was configured */
    bool clean;          /* without what is there only because it is convenient: LANG, TERM */
    bool bare;           /* of it only what a box cannot do without: PATH, HOME, TMPDIR */
    const json_t *unset; /* a list of names to remove, or NULL */
    const json_t *add;   /* an object: strings are set, null removes; or NULL */
};

/* A new object of strings, or NULL with err. */
json_t *environment_make(const struct environment_wish *wish, struct gb_err *err);

/* The directories of it that are absolute, or the usual ones if none is; the caller frees it. */
char *environment_path(const char *path);
