#pragma once
/* Steps of a filter that find the range which a number lies in. By halves, since the kernel tries a
 * filter with every number there is when it is installed. */
#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

struct halves_range {
    uint32_t first; /* number; the range ends before the next one's */
    size_t to;      /* the step to go on with, behind all of the search */
};

/* Write n - 1 steps for n ranges, in order, to `at`. Where they lead to must be less than 256 steps
 * away. */
static inline void halves_search(struct sock_filter *code, size_t at,
                                 const struct halves_range *ranges, size_t n)
{
    size_t left = n / 2, right = n - left;
    size_t low = left > 1 ? at + 1 : ranges[0].to;
    size_t high = right > 1 ? at + left : ranges[left].to;

    if (n < 2)
        return;
    code[at] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, ranges[left].first,
                                            (uint8_t)(high - at - 1), (uint8_t)(low - at - 1));
    halves_search(code, at + 1, ranges, left);
    halves_search(code, at + left, ranges + left, right);
}
