#pragma once
/* Giving up: identity, privileges, resources, system calls. None of it can be taken back. */
#include "sandbox/plan.h"

struct sock_filter;

/* Stop being the engine's user where the plan says so (the engine is root). */
int seal_ids(const struct plan *plan, struct gb_err *err) gb_nodiscard;

/* No capability may be had back by executing a program. To be done while CAP_SETPCAP is held, which
 * a root of the host's may not have; in a new user namespace everybody has it. */
int seal_bounding_set(bool has_right, struct gb_err *err) gb_nodiscard;

/* no_new_privs, and no capability in any set but the bounding set. */
int seal_privileges(struct gb_err *err) gb_nodiscard;

/* The plan's resource limits for this process and all that it starts. */
int seal_rlimits(const struct plan *plan, struct gb_err *err) gb_nodiscard;

/* Landlock, then seccomp: the last step, since the filter forbids what the others need. */
int seal_shut(const struct plan *plan, struct gb_err *err) gb_nodiscard;

enum {
    SEAL_CALLS_MAX = 64, /* so that every jump of the filter fits into a byte */
    SEAL_IOCTLS_MAX = 8,
    SEAL_CODE_MAX = SEAL_CALLS_MAX * 2 + SEAL_IOCTLS_MAX + 9
};

/* System calls, at least one and not ioctl, and what may be asked with that. */
struct seal_allowed {
    const int *calls;
    size_t n_calls;
    const uint32_t *ioctls;
    size_t n_ioctls;
};

/* A filter that allows these, and no other architecture's; its length. */
size_t seal_filter(const struct seal_allowed *allowed, struct sock_filter *ret);

/* Only these from now on, for a process of our own. */
int seal_calls(const struct seal_allowed *allowed, struct gb_err *err) gb_nodiscard;
