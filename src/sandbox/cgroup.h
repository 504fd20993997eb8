#pragma once
/*
 * Control groups: a ceiling that the kernel itself holds for the whole box, its kernel memory
 * included. The watcher still names what was passed; this stops what it cannot see. Used by the
 * engine only.
 *
 * Of version 2 it takes a directory that was delegated. Of version 1, which has no delegation, it
 * takes root, and somebody who asks for it: entering a group costs a tenth of a millisecond a box
 * there. All groups are made inside the engine's own, or inside what was delegated to it, so that
 * whatever bounds the engine bounds its boxes too.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/box.h"
#include "sandbox/compose.h"

struct cgroup_dialect;

/* Where the boxes' groups are made: one directory for the memory and the pids controller, or one
 * for each, as version 1 has it. */
struct cgroups {
    const struct cgroup_dialect *dialect;
    size_t n; /* 0: boxes have none */
    struct cgroup_tree {
        int dir;
        unsigned controllers; /* which it has, as bits */
    } trees[BOX_CGROUPS_MAX];
};

/* What may be wanted instead of a directory. */
#define CGROUP_AUTO "auto" /* any that this process can have; none is an error */
#define CGROUP_NONE "none"

/* Open the place that was wanted: a directory, or one of the words. NULL: what was delegated to
 * this process, or none. A process that is alone in a group of version 2 which was delegated to it
 * moves itself into a group inside, since the kernel gives controllers only to groups without
 * processes. Returns -1 with cause and remedy if what was asked for cannot be had. */
int cgroups_open(const char *wanted, struct cgroups *ret, struct gb_err *err) gb_nodiscard;

/* What CGROUP_AUTO would find: "v1" or "v2", or -1 with cause and remedy. Changes nothing. */
int cgroups_try(const char **ret_version, struct gb_err *err) gb_nodiscard;

void cgroups_close(struct cgroups *c);

/* "v1" or "v2". */
const char *cgroups_version(const struct cgroups *c);

/* Remove what an engine left that was killed before it could. */
void cgroups_sweep(const struct cgroups *c);

/* Make a group for a box. Returns how many descriptors it wrote to `procs`: the box's first process
 * enters by writing to each; or -1 with err. */
int cgroup_make(const struct cgroups *c, uint64_t number, const struct plan_limits *limits,
                int procs[BOX_CGROUPS_MAX], struct gb_err *err) gb_nodiscard;

/* How many processes in it the kernel has killed for its memory. */
uint64_t cgroup_oom_kills(const struct cgroups *c, uint64_t number);

/* Remove the group of a box that is gone. */
void cgroup_remove(const struct cgroups *c, uint64_t number);
