#pragma once
/* Mounts for a box whose user owns nothing on the host. */
#include "sandbox/plan.h"

/* Copies of the directories that a plan mounts, in the order of its operations, where they must be
 * opened by somebody who is still the host's root; none for other plans. */
struct idmap_mounts {
    int fds[PLAN_OPS_MAX];
    size_t n;
};

/*
 * An engine that is root runs its boxes as users that own nothing. On a mount such a user counts as
 * the directory's owner, and what it makes there belongs to that owner: the kernel translates the
 * one to the other (an idmapped mount). Needs the capabilities of the host's root, which a process
 * in a user namespace has no more. A file system that cannot do it is mounted as it is if it is
 * only to be read, and refused otherwise.
 */
int idmap_open(const struct plan *plan, struct idmap_mounts *ret, struct gb_err *err) gb_nodiscard;

void idmap_close(struct idmap_mounts *m);
