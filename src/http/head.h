#pragma once
/*
 * evhttp hands a request out when all of it is there. How much of it is taken depends on who sends
 * it, so its head is looked at as it arrives, for the token alone: whether it is good is decided
 * later, and elsewhere.
 */
#include <stdbool.h>
#include <stddef.h>

#include "http/token.h"

enum {
    HEAD_LINE_MAX = TOKEN_MAX + 64 /* a line that is longer does not show a token */
};

struct head {
    char line[HEAD_LINE_MAX + 1];
    size_t len;   /* of the line so far, also of what is not kept */
    bool is_over; /* what follows is the body */
};

/* The next bytes of a request. Does one of the lines that end in them show the token? */
bool head_feed(struct head *head, const char *bytes, size_t len, const char *token);
