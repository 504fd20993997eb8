#pragma once
/* The token that clients show: made once, kept in a file that nobody else can read. */
#include <stdbool.h>

#include "base/err.h"

enum {
    TOKEN_MIN = 16,
    TOKEN_MAX = 512
};

/* Where it is kept unless somebody says otherwise: glovebox/token in the XDG state folder. The
 * caller frees it; NULL without a home. */
char *token_path(void);

/* Read it, or make it where there is none. The caller frees it. */
int token_load(const char *path, char **ret, bool *ret_is_new, struct gb_err *err) gb_nodiscard;
