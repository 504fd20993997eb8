#pragma once
/*
 * A chunked body (RFC 9112, 7.1) as its pieces arrive. Sizes are hexadecimal digits and nothing
 * else; extensions are legal and mean nothing here, and so do the fields behind the last chunk.
 */
#include <event2/buffer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct chunks {
    int state;
    uint64_t left;   /* of the chunk */
    uint64_t total;  /* bytes of the body so far */
    uint64_t framed; /* bytes of sizes, extensions, fields */
};

enum chunks_said {
    CHUNKS_MORE, /* there must be more */
    CHUNKS_OVER, /* the body is whole; what follows in the input is not its */
    CHUNKS_TOO_BIG,
    CHUNKS_MALFORMED
};

/* Move `n` bytes that are there. False: there is no room for them. */
bool chunks_move(struct evbuffer *from, struct gb_buf *to, size_t n);

/* Move what is there of the body, which may have `max` bytes. Begin with one that is zeroed. */
enum chunks_said chunks_take(struct chunks *c, struct evbuffer *from, struct gb_buf *to,
                             uint64_t max);
