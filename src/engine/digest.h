#pragma once
#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DIGEST_HEX = 64
};

/* SHA-256, in lower-case hexadecimal digits. */
void digest_hex(const void *data, size_t len, char ret[DIGEST_HEX + 1]);

/* The first bytes of it, of a text that comes in pieces. */
struct digest {
    struct sha256_ctx ctx;
};
void digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *data, size_t len);
void digest_end(struct digest *d, uint8_t *ret, size_t n);
