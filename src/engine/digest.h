#pragma once
#include <stddef.h>

enum {
    DIGEST_HEX = 64
};

/* SHA-256, in lower-case hexadecimal digits. */
void digest_hex(const void *data, size_t len, char ret[DIGEST_HEX + 1]);
