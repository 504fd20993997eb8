#include "sandbox/heir.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    STACK_MIN = 4 << 20, /* it begins further down on it than a copy does */
};

/* ---- what a new process does not have, though its memory says so ---- */

enum {
    RSEQ_BYTES = 32, /* as the C library registers it */
    RSEQ_CPU_ID = 4, /* where in it the number of the processor is kept up to date */
};

#define RSEQ_SIGNATURE 0x53053053 /* the C library's, on this architecture */

/* Since glibc 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

static void register_rseq(void)
{
    char *area;

    if (!&__rseq_size || __rseq_size == 0)
        return;
    area = (char *)__builtin_thread_pointer() + __rseq_offset;
    if (syscall(SYS_rseq, area, RSEQ_BYTES, 0, RSEQ_SIGNATURE) < 0)
        __atomic_store_n((int32_t *)(void *)(area + RSEQ_CPU_ID), -2, __ATOMIC_RELAXED);
}

/* ---- the heir ---- */

static struct {
    const struct heir *heir;
    int (*fn)(void *data);
    void *data;
} start; /* not on a stack: the frames of those that end are no place for it */

static int inherit(void *unused)
{
    const struct heir *heir = start.heir;
    char byte;

    (void)unused;
    (void)close(heir->alone[1]); /* this process' own; the others have theirs */
    while (read(heir->alone[0], &byte, 1) < 0 && errno == EINTR)
        ;
    (void)close(heir->alone[0]);
    /* order: when the zygote ended, the kernel has set it to zero, as for a thread that ends */
    *heir->tid = (pid_t)syscall(SYS_set_tid_address, heir->tid);
    (void)syscall(SYS_set_robust_list, heir->robust, heir->robust_len);
    register_rseq();
    return start.fn(start.data);
}

bool heir_prepare(struct heir *ret)
{
    struct rlimit stack;

    *ret = (struct heir){ .alone = { -1, -1 } };
    if (getrlimit(RLIMIT_STACK, &stack) < 0 || stack.rlim_cur < STACK_MIN)
        return false;
    /* The word is the C library's if it says what the library's would. */
    if (prctl(PR_GET_TID_ADDRESS, &ret->tid, 0, 0, 0) < 0 || !ret->tid || *ret->tid != getpid() ||
        syscall(SYS_get_robust_list, 0, &ret->robust, &ret->robust_len) < 0)
        return false;
    return pipe2(ret->alone, O_CLOEXEC) == 0;
}

pid_t heir_clone(const struct heir *heir, void *stack, int (*fn)(void *data), void *data)
{
    start.heir = heir;
    start.fn = fn;
    start.data = data;
    return clone(inherit, stack, CLONE_VM | SIGCHLD, NULL);
}
