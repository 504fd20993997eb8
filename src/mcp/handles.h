#pragma once
/* Sessions as clients see them: handles that cannot be guessed, each one's own. */
#include <jansson.h>
#include <stddef.h>

enum {
    HANDLE_TEXT = 32, /* bytes of one, with its NUL */
    HANDLES_MAX = 4096
};

struct handles;

struct handles *handles_new(void); /* NULL when memory ran out */
struct handles *handles_free(struct handles *handles);

/* A new one, for this principal and kind ("python", "shell"); NULL when it cannot be made. Borrowed
 * until it is dropped. When there are too many, the one that was used longest ago is forgotten. */
const char *handles_mint(struct handles *h, const char *kind, const char *principal);

/* Its kind, if there is such a one and it is this principal's; else NULL. */
const char *handles_kind(struct handles *h, const char *handle, const char *principal);

void handles_drop(struct handles *handles, const char *handle);
