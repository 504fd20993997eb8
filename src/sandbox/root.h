#pragma once
/* The private root: a tmpfs of the box's own with read-only pieces of the host in it. */
#include "sandbox/plan.h"

/*
 * Most of a root is the same in every box of an engine: the pieces of the host, links, small files.
 * Its zygote can make that part once, and give each box a copy: of the mounts, not of the files, as
 * all boxes share those of /usr. It is read-only. What a box can write to, its processes and its
 * terminals are its own all the same, and made by the box.
 *
 * Returns a descriptor for a box of this plan; -1 where there is none, and the box then makes all
 * of its root. Wants Linux 6.15, which copies mounts that hang nowhere.
 */
int root_common(const struct plan *plan);

/* What must be opened while the process still has its own identity and its view of the host:
 * detached copies of the bind sources, -1 where there is none. */
struct root_sources {
    int fds[PLAN_OPS_MAX];
};

/* What the zygote had to open, each consumed. */
struct root_given {
    const int *mounts; /* the first of the plan's mounts, in order; others are opened here */
    size_t n_mounts;
    int common; /* of root_common() */
};

int root_open_sources(const struct plan *plan, const struct root_given *given,
                      struct root_sources *ret, struct gb_err *err) gb_nodiscard;

/* Build the root and make it that of every process in this mount namespace. Consumes the sources.
 * The host's is still there, stacked on it: no path leads to it but "/..". */
int root_enter(const struct plan *plan, const struct root_given *given,
               struct root_sources *sources, struct gb_err *err) gb_nodiscard;

/* Then detach the host's: nothing of it is left but the copies in the new root. The kernel waits
 * for every processor here, for up to milliseconds. */
int root_leave_host(struct gb_err *err) gb_nodiscard;
