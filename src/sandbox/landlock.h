#pragma once
/* Landlock: what the process and all that it starts may still open, and whom it may signal. */
#include <stdint.h>

#include "sandbox/plan.h"

/* Groups of accesses that plans are made of. */
uint64_t landlock_read_access(void);   /* read, list, execute */
uint64_t landlock_write_access(void);  /* all of that, and make, change, move, remove; no nodes */
uint64_t landlock_source_access(void); /* read a node that is there */
uint64_t landlock_device_access(void); /* read and write a node that is there */

/* The ABI version that this kernel has; 0 when it has none or does not let us use it, and then
 * *ret_errno says why (ENOSYS: not built in or filtered; EOPNOTSUPP: disabled at boot). */
uint32_t landlock_abi(int *ret_errno);

enum {
    LANDLOCK_ABI_UNIX = 9 /* the first that can deny Unix sockets by their path (Linux 7.1) */
};

/* Everything that this ABI can deny. */
uint64_t landlock_all_fs(uint32_t abi);
uint64_t landlock_all_net(uint32_t abi);
uint64_t landlock_all_scope(uint32_t abi);

/* Restrict the calling thread as the plan says. Needs no_new_privs. */
int landlock_apply(const struct plan *plan, struct gb_err *err) gb_nodiscard;

/* A fence inside the box: what is left open by it, which can be no more than was before. */
struct landlock_fence {
    const char *const *shut; /* the top directories in which these lie are closed */
    size_t n_shut;
    const char *const *open; /* but these are not */
    size_t n_open;
};

/* Restrict the calling thread further, and let it signal nobody outside. Does nothing where there
 * is no Landlock. */
int landlock_enclose(const struct landlock_fence *fence, struct gb_err *err) gb_nodiscard;

/* Only make a domain that signals cannot leave: the box's supervisor can then kill every process
 * of the box, and no other, with one kill(-1). `outsider` is one that it must not reach, though it
 * is the same user's. */
int landlock_scope_signals(int outsider, struct gb_err *err) gb_nodiscard;
