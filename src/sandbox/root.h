#pragma once
/* The private root: a tmpfs of the box's own with read-only pieces of the host in it. */
#include "sandbox/plan.h"

/* What must be opened while the process still has its own identity and its view of the host:
 * detached copies of the bind sources, -1 where there is none. */
struct root_sources {
    int fds[PLAN_OPS_MAX];
};

/* `mounts` are those of the plan's mounts that were opened already, in order, each consumed; others
 * are opened here. */
int root_open_sources(const struct plan *plan, const int *mounts, size_t n_mounts,
                      struct root_sources *ret, struct gb_err *err) gb_nodiscard;

/* Build the root and make it that of every process in this mount namespace. Consumes the sources.
 * The host's is still there, stacked on it: no path leads to it but "/..". */
int root_enter(const struct plan *plan, struct root_sources *sources,
               struct gb_err *err) gb_nodiscard;

/* Then detach the host's: nothing of it is left but the copies in the new root. The kernel waits
 * for every processor here, for up to milliseconds. */
int root_leave_host(struct gb_err *err) gb_nodiscard;
