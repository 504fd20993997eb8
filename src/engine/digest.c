#include "engine/digest.h"

#include <nettle/version.h>
#include <string.h>

/* Nettle 4 always gives the whole digest. */
static void finish(struct sha256_ctx *ctx, uint8_t *ret)
{
#if NETTLE_VERSION_MAJOR >= 4
    sha256_digest(ctx, ret);
#else
    sha256_digest(ctx, SHA256_DIGEST_SIZE, ret);
#endif
}

void digest_hex(const void *data, size_t len, char ret[DIGEST_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    sha256_update(&ctx, len, data);
    finish(&ctx, digest);
    for (size_t i = 0; i < sizeof(digest); i++) {
        ret[2 * i] = digits[digest[i] >> 4];
        ret[2 * i + 1] = digits[digest[i] & 15];
    }
    ret[DIGEST_HEX] = '\0';
}

void digest_begin(struct digest *d)
{
    sha256_init(&d->ctx);
}

void digest_add(struct digest *d, const void *data, size_t len)
{
    sha256_update(&d->ctx, len, data);
}

void digest_end(struct digest *d, uint8_t *ret, size_t n)
{
    uint8_t whole[SHA256_DIGEST_SIZE];

    finish(&d->ctx, whole);
    memcpy(ret, whole, n < sizeof(whole) ? n : sizeof(whole));
}
