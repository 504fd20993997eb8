#pragma once
/* What is kept of a stream: its beginning and its end, within a limit. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output {
    size_t limit;
    uint64_t total; /* bytes that came */
    char *head;     /* the first limit - limit / 2 bytes; allocated as they come */
    size_t head_len, head_cap;
    char *tail;               /* a ring of the last limit / 2 bytes that did not fit there */
    size_t tail_len, tail_at; /* tail_at: where the next byte goes */
};

void output_init(struct output *o, size_t limit);
void output_done(struct output *o);

/* Keep what fits. When memory runs out, what comes is counted but not kept. */
void output_add(struct output *o, const char *bytes, size_t len);

/* The text: UTF-8 with replacement characters, and where something is missing one line between
 * head and tail that says how much. *ret_truncated tells whether something is. */
json_t *output_text(const struct output *o, bool *ret_truncated);
