#pragma once
/* What a reviewer sends back. Nothing of it is believed but a verdict in the right form. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* What it cost, as far as the server said. */
struct answer_tokens {
    bool known;
    json_int_t prompt, completion, total;
};

/* A text from outside, made fit for people's eyes: valid UTF-8 without control characters other
 * than line breaks and tabs, without characters that change the direction of writing, without
 * the key (or NULL), at most `max` bytes. The caller frees it; NULL: no memory. */
char *answer_clean(const char *text, const char *key, size_t max);

/* Read the body of a chat completion: {"secure", "reason", "model", "detail"}, where model may be
 * null. What the server says of tokens is added to *tokens in any case. The caller owns it; NULL
 * with err when it is not an answer. */
json_t *answer_read(const char *body, size_t len, const char *key, struct answer_tokens *tokens,
                    struct gb_err *err);

/* What the body of a refused request says for people, cleaned; NULL when it says nothing. The
 * caller frees it. */
char *answer_complaint(const char *body, size_t len, const char *key);
