#pragma once
/* Filters half as long. libseccomp compares with every number that it was told of; most of what is
 * allowed, or refused, lies side by side, and the kernel translates and tries the whole filter anew
 * for every box. Part of the build, like seccomp.c. */
#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/* The same filter, shorter: its length, or 0 if it is not one that this understands. */
size_t shrink(const struct sock_filter *code, size_t n, struct sock_filter *ret, size_t max);

/* Do both say the same, for every number and all arguments? */
bool shrink_is_same(const struct sock_filter *a, size_t n_a, const struct sock_filter *b,
                    size_t n_b);
