#pragma once
/* What the programs of this directory share: a clock, and how they give up. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline int64_t now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static inline void die(const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s%s%.300s\n", program_invocation_short_name, what, detail ? ": " : "",
            detail ? detail : "");
    exit(1);
}
