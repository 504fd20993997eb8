#pragma once
/*
 * Pictures, sounds and resources that servers gave to programs, which hold them by handles and read
 * them when they want to. Bounded: the oldest go first, and all of them after a while.
 */
#include <jansson.h>
#include <stddef.h>

enum {
    SHELF_ID = 33 /* of a handle's text, with the NUL */
};

struct shelf;

/* What a handle stands for. */
struct shelf_item {
    size_t server;      /* whose it is */
    const json_t *data; /* {"base64"} or {"text"}, or NULL: it must be asked for, by its */
    const char *uri;
};

struct shelf *shelf_new(void);
struct shelf *shelf_free(struct shelf *shelf); /* accepts NULL */

/* Keep it. `data` is taken and may be NULL, `uri` is copied and may be. Writes the handle's text.
 * Returns 0, -1 when it is too large, or memory ran out. */
int shelf_add(struct shelf *shelf, size_t server, json_t *data, const char *uri,
              char ret[SHELF_ID]);

/* Find it again. Returns 0, -1 when there is none (any more). Borrowed until the next call. */
int shelf_find(struct shelf *shelf, const char *handle, struct shelf_item *ret);
