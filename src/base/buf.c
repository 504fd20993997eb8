#include "base/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gb_buf_init(struct gb_buf *b, size_t max)
{
    *b = (struct gb_buf){ .max = max };
}

void gb_buf_done(struct gb_buf *b)
{
    free(b->data);
    *b = (struct gb_buf){ .max = b->max };
}

int gb_buf_reserve(struct gb_buf *b, size_t len, struct gb_err *err)
{
    size_t cap = b->cap ? b->cap : 256;

    if (len > b->max - b->len)
        return gb_fail(err, GB_E_LIMIT, 0, "more than %zu bytes", b->max);
    if (len <= b->cap - b->len)
        return 0;

    while (cap < b->len + len)
        cap = cap > b->max / 2 ? b->max : cap * 2;
    char *grown = realloc(b->data, cap);
    if (!grown)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "growing a buffer to %zu bytes", cap);
    b->data = grown;
    b->cap = cap;
    return 0;
}

int gb_buf_add(struct gb_buf *b, const void *data, size_t len, struct gb_err *err)
{
    if (gb_buf_reserve(b, len, err) < 0)
        return -1;
    if (len > 0)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    return 0;
}
