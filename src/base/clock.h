#pragma once
#include <stdint.h>
#include <time.h>

/* Microseconds on a clock that only goes forward. */
static inline int64_t clock_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Microseconds of processor time that this process has used. */
static inline int64_t clock_cpu_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
