#pragma once
/*
 * Control groups (v2), where a directory was delegated to us: a ceiling that the kernel itself
 * holds for the whole box, its kernel memory included. The watcher still names what was passed;
 * this stops what it cannot see. Used by the engine only.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/compose.h"

/* A descriptor of a directory in which we may make groups with the memory and pids controllers,
 * or -1. `configured` names one (then err says why it will not do); NULL: the group above our own,
 * if it was delegated to us. */
int cgroup_open_parent(const char *configured, struct gb_err *err) gb_nodiscard;

/* Make a group for a box. Returns a descriptor of its cgroup.procs, to be written by the box's
 * first process, or -1 with err. */
int cgroup_make(int parent, uint64_t number, const struct plan_limits *limits,
                struct gb_err *err) gb_nodiscard;

/* Did the kernel kill something in it for its memory? */
bool cgroup_was_oom(int parent, uint64_t number);

/* Remove the group of a box that is gone. */
void cgroup_remove(int parent, uint64_t number);

/* Remove what an engine left that was killed before it could. */
void cgroup_sweep(int parent);
