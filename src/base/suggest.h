#pragma once
#include <stddef.h>

/* The known name that is nearest to what was typed, if one is near enough to be meant. */
struct suggestion {
    const char *typed;
    size_t typed_len;
    const char *best; /* NULL: nothing is near; borrowed from suggestion_offer() */
    size_t distance;
};

/* Consider `name`. The first of several equally near names wins. */
void suggestion_offer(struct suggestion *s, const char *name);
