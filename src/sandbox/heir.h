#pragma once
/*
 * A guest that does not copy the zygote but inherits it.
 *
 * A zygote that makes one box and no other need not be copied: the guest is a process of its own
 * that shares its memory, and the zygote ends. That spares a cold run the copy, and a fault for
 * each page that the guest then writes to. Until the zygote, and the process that becomes init,
 * have left the memory, the heir does nothing but wait for it: nobody outside the box ever shares
 * memory with anything that has run a line of the guest's.
 */
#include <stdbool.h>
#include <sys/types.h>

struct heir {
    int alone[2]; /* its end is seen when nobody else has this memory any more */
    pid_t *tid;   /* where the C library keeps the thread's number */
    void *robust; /* and the list of locks that the kernel is to open, should it die */
    size_t robust_len;
};

/* In the zygote: can there be one? Then alone[] is open, and the caller's. */
bool heir_prepare(struct heir *ret);

/* Start it: `fn` on a lower part of the stack, once it is alone. `heir` and `data` must stay where
 * they are for good. Returns its pid, or -1 with errno. */
pid_t heir_clone(const struct heir *heir, void *stack, int (*fn)(void *data), void *data);
