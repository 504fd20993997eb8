#pragma once
/*
 * Asking again.
 *
 * A system call that returns 0 has, as a rule, done what it was asked. But a seccomp filter, a
 * tracer or an emulator around glovebox can answer for the kernel, and our code can be wrong. So
 * init, guest and zygote ask the kernel about each layer after they have made it, by another call
 * than the one that made it. A box that is not what its plan says is refused. Each function here
 * makes a few system calls at most.
 *
 * Not seen: something that answers these questions, too.
 */
#include "sandbox/plan.h"

/* Write down which namespaces the caller is in: the engine, when it composes a plan. */
void verify_note_host(struct plan *plan);

/* Is the caller, its first process, in namespaces of the box's own? `proc` is the box's /proc. */
int verify_namespaces(const struct plan *plan, int proc, struct gb_err *err) gb_nodiscard;

/* Is the caller's network namespace the one that this descriptor names? */
bool verify_net_entered(int net);

/* Is this mount the root of the caller? And does no path lead out of it? The second can only be
 * said when the host's root was detached. */
int verify_root(int root, struct gb_err *err) gb_nodiscard;
int verify_root_closed(struct gb_err *err) gb_nodiscard;

/* Is the host's name not the box's? */
int verify_host_name(const struct plan *plan, struct gb_err *err) gb_nodiscard;

/* Is what this descriptor shows what the path leads to? No, with errno set. */
bool verify_mounted(int fd, int dir, const char *path);

/* Is this mount read-only? No, with errno set. */
bool verify_read_only(int fd);

/* Is the file system that this mount shows no larger than the plan says? No, with errno set. */
bool verify_size(int fd, const struct plan *plan);

/* Is the caller this user, alone and in every respect? */
int verify_ids(uint32_t uid, uint32_t gid, struct gb_err *err) gb_nodiscard;

/* no_new_privs, and no capability in any set but the bounding set. */
int verify_privileges(struct gb_err *err) gb_nodiscard;

/* No capability in the bounding set. */
int verify_bounding_set(struct gb_err *err) gb_nodiscard;

/* Is the caller held to this, or to less? */
int verify_rlimit(int resource, uint64_t value, struct gb_err *err) gb_nodiscard;

/* Is the caller in a Landlock domain that denies what no plan allows? It may write in `dir`. Must
 * be asked before the seccomp filter is there. */
int verify_landlock(const char *dir, struct gb_err *err) gb_nodiscard;

/* Can the caller signal nobody outside its Landlock domain, as this process of the same user is? */
int verify_signal_scope(int outsider, struct gb_err *err) gb_nodiscard;

/* Is a filter of ours in force? Whatever it allows, it is none of the kernel's answers. */
int verify_filter(struct gb_err *err) gb_nodiscard;

/* Is this descriptor closed? */
bool verify_closed(int fd);
