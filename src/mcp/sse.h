#pragma once
/* Server-sent events, as they come in pieces. */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
    SSE_ID_MAX = 256
};

struct sse {
    struct gb_buf line, data;
    char id[SSE_ID_MAX]; /* of the last event that had one; empty: none had */
    long retry_ms;       /* -1: the server did not say */
    bool is_after_cr, has_data;
};

/* `max` bytes of an event at most. */
void sse_init(struct sse *s, size_t max);
void sse_done(struct sse *s);

/* Take a piece. `event` is called with the data of each event that is whole; it returns false to
 * stop. Returns 0, or -1 when an event is too large. */
int sse_feed(struct sse *s, const char *bytes, size_t len,
             bool (*event)(void *data, const char *text, size_t len), void *data);
