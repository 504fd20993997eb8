#pragma once
/* Sessions as clients see them: handles that cannot be guessed, each one's own. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    HANDLE_TEXT = 32, /* bytes of one, with its NUL */
    HANDLES_MAX = 4096
};

struct handles;

struct handles *handles_new(void); /* NULL when memory ran out */
struct handles *handles_free(struct handles *handles);

/* A new one, for this principal; NULL when it cannot be made. Borrowed until it is dropped. When
 * there are too many, the one that was used longest ago is forgotten. */
const char *handles_mint(struct handles *h, const char *principal);

/* Is there such a one, and is it this principal's? */
bool handles_has(struct handles *h, const char *handle, const char *principal);

void handles_drop(struct handles *handles, const char *handle);
