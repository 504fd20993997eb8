#pragma once
/*
 * Calls that the box's first process hears of before the kernel makes them.
 *
 * A filter that the guest installs when it seals itself stops the caller and tells init, which
 * allows the call, refuses it, or makes it for the caller. So init can count what no resource limit
 * counts and no file of /proc shows afterwards (shared.h, init.c), and knows whether a network
 * namespace was used (net.h). What it is told are arguments in registers, which nobody can change
 * after the filter has seen them, and the kernel may go on with the call. A program cannot hear
 * from a filter of its own (seccomp.c): being newer, that would decide.
 *
 * Where the answer depends on what the arguments point to, or on what a descriptor stands for, the
 * kernel never goes on: the program could change both after init has looked. Init copies the memory
 * once, opens what it names, looks at that, and makes the call on it itself (reach.h, touch.h). For
 * this it must not be under the filter.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/plan.h"

/* Upper half of the last argument of the calls with which the guest seals itself by Landlock: the
 * kernel does not look there, and init need not hear of them. The guest's own filter refuses it
 * (seccomp.c), so that nobody can say it afterwards. */
#define NOTICE_SEAL (1ul << 32)

struct notice {
    int fd; /* where it came from */
    uint64_t id;
    pid_t tid; /* who asks */
    int nr;
    uint64_t args[6];
};

/* From now on this process and all that it starts waits for an answer to:
 *   mmap of shared anonymous memory
 *   landlock_add_rule and landlock_restrict_self, unless with NOTICE_SEAL
 *   seccomp, to install a filter
 *   socket, of other families than AF_UNIX, if the plan lends a network namespace
 *   what the plan's guards say
 * Returns a descriptor that is readable then. Where the kernel cannot tell us (EBUSY, EPERM: we
 * have a filter already that somebody hears from), all but the sockets are refused instead, and
 * -1 is in *ret_fd. Fails if not even that can be had. */
int notice_install(const struct plan *plan, int *ret_fd, struct gb_err *err) gb_nodiscard;

/* Somebody has asked. False if they were killed meanwhile. */
bool notice_receive(int notices, struct notice *ret);

/* Let the kernel make the call, or have it fail with `e` if that is not 0. */
void notice_answer(const struct notice *asked, int e);

/* ---- a call that init makes for the caller ---- */

/* It was made: its value, or the errno that it failed with. */
void notice_finish(const struct notice *asked, int64_t value, int e);

/* Does the caller still wait? Only then was all that was read of its memory and of /proc its
 * own. */
bool notice_is_valid(const struct notice *asked);

/* Copy from and to the caller's memory; 0 or -errno. */
int notice_read(const struct notice *asked, uint64_t at, void *ret, size_t len);
int notice_write(const struct notice *asked, uint64_t at, const void *data, size_t len);

/* A path of the caller's, that ends somewhere in `max` bytes. */
int notice_read_path(const struct notice *asked, uint64_t at, char *ret, size_t max);

/* What a path of the caller's leads to, opened with O_PATH and these flags: `dir` is a
 * descriptor of the caller's or AT_FDCWD, and an empty path means that itself. No magic link of
 * /proc is followed: it would be init's own. */
int notice_open(const struct notice *asked, int dir, const char *path, int flags);
