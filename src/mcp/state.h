#pragma once
/*
 * requestState: what a modern client brings back with its answers. It names a call that waits, says
 * until when, and is authenticated together with what it is bound to, so that nobody can make one
 * up, change one, or use it for another request. That each is used once is the caller's to see to.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STATE_KEY_BYTES = 32,
    STATE_ID_BYTES = 16,
    STATE_TEXT = 76 /* characters of one, as base64url, and the NUL */
};

struct state {
    unsigned char id[STATE_ID_BYTES];
    uint64_t expires_ms; /* on whatever clock the caller has */
};

/* `bound` is what it is bound to: the request, who asks. */
void state_write(const unsigned char key[STATE_KEY_BYTES], const struct state *state,
                 const void *bound, size_t bound_len, char ret[STATE_TEXT]);

/* False when it was not made with this key for this. Takes the same time wherever it differs. */
bool state_read(const unsigned char key[STATE_KEY_BYTES], const char *text, size_t len,
                const void *bound, size_t bound_len, struct state *ret);
