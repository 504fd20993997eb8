#pragma once
#include <stddef.h>

#include "base/err.h"

/* A byte buffer with a hard ceiling. It never grows past `max`; a refused append leaves the
 * contents untouched and returns -1 with GB_E_LIMIT. */
struct gb_buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max;
};

void gb_buf_init(struct gb_buf *b, size_t max);
void gb_buf_done(struct gb_buf *b);
int gb_buf_add(struct gb_buf *b, const void *data, size_t len, struct gb_err *err) gb_nodiscard;
/* Make room for `len` more bytes at data + b->len; the caller then adds to b->len itself. */
int gb_buf_reserve(struct gb_buf *b, size_t len, struct gb_err *err) gb_nodiscard;
