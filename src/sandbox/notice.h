#pragma once
/*
 * Calls that the box's first process hears of before the kernel makes them.
 *
 * A filter that init installs before there is a guest stops the caller and tells init, which allows
 * the call or refuses it. So init can count what no resource limit counts and no file of /proc
 * shows afterwards (shared.h, init.c), and knows whether a network namespace was used (net.h).
 * What it is told are arguments in registers, which nobody can change after the filter has seen
 * them; what they point to is never looked at. A program cannot hear from a filter of its own
 * (seccomp.c): being newer, that would decide.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Upper half of the last argument of the calls with which the guest seals itself by Landlock: the
 * kernel does not look there, and init need not hear of them. The guest's own filter refuses it
 * (seccomp.c), so that nobody can say it afterwards. */
#define NOTICE_SEAL (1ul << 32)

struct notice {
    uint64_t id;
    pid_t tid; /* who asks */
    int nr;
    uint64_t args[6];
};

/* From now on this process, so it must not make such calls, and all that it starts waits for an
 * answer to:
 *   mmap of shared anonymous memory
 *   landlock_add_rule and landlock_restrict_self, unless with NOTICE_SEAL
 *   seccomp, to install a filter
 *   socket, of other families than AF_UNIX, if `sockets`
 * Returns a descriptor that is readable then. Where the kernel cannot tell us (EBUSY, EPERM: we
 * have a filter already that somebody hears from), the first three are refused instead, and
 * -1 is in *ret_fd. Fails if not even that can be had. */
int notice_install(bool sockets, int *ret_fd, struct gb_err *err) gb_nodiscard;

/* Somebody has asked. False if they were killed meanwhile. */
bool notice_receive(int notices, struct notice *ret);

/* Let the kernel make the call, or have it fail with `e` if that is not 0. */
void notice_answer(int notices, const struct notice *asked, int e);
