#pragma once
/* Bytes on their way to somebody who may not be reading. */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct outbox {
    struct gb_buf buf;
    size_t at;    /* how much of it is gone */
    bool is_deaf; /* nobody reads the other end any more */
};

void outbox_init(struct outbox *o, size_t max);
void outbox_done(struct outbox *o);

/* Send both pieces on a stream socket, now or later. Never blocks, never raises SIGPIPE. Returns
 * false, having queued neither, when they will not be delivered: nobody reads, or too much waits
 * already. */
bool outbox_send(struct outbox *o, int sock, const void *head, size_t head_len, const void *body,
                 size_t body_len) gb_nodiscard;

/* Send what the socket takes now. */
void outbox_flush(struct outbox *o, int sock);

/* How much waits. */
size_t outbox_len(const struct outbox *o);
