#pragma once
/* Giving up: identity, privileges, resources, system calls. None of it can be taken back. */
#include "sandbox/plan.h"

/* Stop being the engine's user where the plan says so (the engine is root). */
int seal_ids(const struct plan *plan, struct gb_err *err) gb_nodiscard;

/* No capability may be had back by executing a program. */
int seal_bounding_set(struct gb_err *err) gb_nodiscard;

/* no_new_privs, and no capability in any set. */
int seal_privileges(struct gb_err *err) gb_nodiscard;

/* The plan's resource limits for this process and all that it starts. */
int seal_rlimits(const struct plan *plan, struct gb_err *err) gb_nodiscard;

/* Landlock, then seccomp: the last step, since the filter forbids what the others need. */
int seal_shut(const struct plan *plan, struct gb_err *err) gb_nodiscard;

/* Only these system calls from now on, for a process of our own; no other architecture's. */
int seal_calls(const int *calls, size_t n, struct gb_err *err) gb_nodiscard;
