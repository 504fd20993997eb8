#include "mcp/state.h"

#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/version.h>
#include <string.h>

enum {
    EXPIRY = 8,
    PAYLOAD = STATE_ID_BYTES + EXPIRY,
    MAC = SHA256_DIGEST_SIZE,
    WHOLE = PAYLOAD + MAC
};
_Static_assert(BASE64_ENCODE_RAW_LENGTH(WHOLE) >= STATE_TEXT - 1, "its padding is left out");
_Static_assert((WHOLE * 8 + 5) / 6 == STATE_TEXT - 1, "the length of its text");

static void authenticate(const unsigned char *key, const uint8_t *payload, const void *bound,
                         size_t bound_len, uint8_t ret[MAC])
{
    struct hmac_sha256_ctx ctx;

    hmac_sha256_set_key(&ctx, STATE_KEY_BYTES, key);
    hmac_sha256_update(&ctx, PAYLOAD, payload);
    hmac_sha256_update(&ctx, bound_len, bound);
#if NETTLE_VERSION_MAJOR >= 4
    hmac_sha256_digest(&ctx, ret);
#else
    hmac_sha256_digest(&ctx, MAC, ret);
#endif
}

void state_write(const unsigned char key[STATE_KEY_BYTES], const struct state *state,
                 const void *bound, size_t bound_len, char ret[STATE_TEXT])
{
    char text[BASE64_ENCODE_RAW_LENGTH(WHOLE)];
    uint8_t whole[WHOLE];

    memcpy(whole, state->id, STATE_ID_BYTES);
    for (unsigned i = 0; i < EXPIRY; i++)
        whole[STATE_ID_BYTES + i] = (uint8_t)(state->expires_ms >> (8 * i));
    authenticate(key, whole, bound, bound_len, whole + PAYLOAD);
    base64_encode_raw(text, WHOLE, whole);
    for (unsigned i = 0; i < STATE_TEXT - 1; i++) {
        char c = text[i];

        if (c == '+')
            c = '-';
        else if (c == '/')
            c = '_';
        ret[i] = c;
    }
    ret[STATE_TEXT - 1] = '\0';
}

bool state_read(const unsigned char key[STATE_KEY_BYTES], const char *text, size_t len,
                const void *bound, size_t bound_len, struct state *ret)
{
    struct base64_decode_ctx ctx;
    uint8_t whole[BASE64_DECODE_LENGTH(STATE_TEXT) + 1], mac[MAC];
    char again[STATE_TEXT];
    size_t n = sizeof(whole);

    if (len != STATE_TEXT - 1)
        return false;
    base64url_decode_init(&ctx);
    if (!base64_decode_update(&ctx, &n, whole, len, text) || n != WHOLE)
        return false;
    authenticate(key, whole, bound, bound_len, mac);
    if (!memeql_sec(mac, whole + PAYLOAD, MAC))
        return false;
    memcpy(ret->id, whole, STATE_ID_BYTES);
    ret->expires_ms = 0;
    for (unsigned i = 0; i < EXPIRY; i++)
        ret->expires_ms |= (uint64_t)whole[STATE_ID_BYTES + i] << (8 * i);
    /* One value has one text: the last character has bits to spare. */
    state_write(key, ret, bound, bound_len, again);
    return memcmp(again, text, STATE_TEXT - 1) == 0;
}
