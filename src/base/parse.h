#pragma once
#include <stdbool.h>
#include <stdint.h>

/* "512M", "64K", "1G", "4096": bytes. Returns 0, -EINVAL when it is none of these, -ERANGE when it
 * does not fit. */
int parse_size(const char *text, uint64_t *ret);

/* "2.5": seconds as milliseconds. false when it is not a number from 0 up. */
bool parse_seconds(const char *text, uint64_t *ret_ms);

/* Can this be the name of a variable in Python? Of ASCII letters, digits and '_'; no keyword. */
bool is_variable(const char *text);

/* The first byte of `text` that is not part of a valid UTF-8 sequence, or -1. */
int64_t utf8_first_bad(const char *text, uint64_t len);

/* How many bytes the character that starts at `text` has, as far as `len` goes: 1 for a byte that
 * starts none. */
unsigned utf8_char_len(const unsigned char *text, uint64_t len);

/* Is it base64, padded to its end? */
bool base64_is_valid(const char *text, uint64_t len);

/* Decode base64 in place. false when it is not base64. */
bool base64_decode(char *text, uint64_t *len);
