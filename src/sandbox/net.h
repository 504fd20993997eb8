#pragma once
/*
 * The network namespace of a box: a loopback of its own, and nothing else.
 *
 * To make one and to take it down is a quarter of what a box costs, and most programs never open an
 * internet socket. So a namespace in which nobody had one is handed on to a later box of the same
 * engine. Three things hold that it is then as it was made:
 *
 *   1. No program may change one: none has a capability in it, and the filter lets it have Unix and
 *      internet sockets only (seccomp.c).
 *   2. Unix sockets leave nothing behind but themselves. Whoever asks for any other is noticed
 *      before he gets it (notice.h); the namespace then ends with the box.
 *   3. It is handed on when every process of the box is gone, and taken only if the kernel counts
 *      no socket in it: one that was on its way through another may still be waiting to be freed.
 *
 * At no time are two boxes in one namespace. Whatever fails, the next box has a new one.
 */
#include <stdbool.h>

#include "base/err.h"

/* ---- the zygote ---- */

/* An ordinary user may put a box into a namespace only from a user namespace of its own. The caller
 * moves into one, with its ids as they are and a network namespace, and stays there: it can make no
 * box any more that has no namespaces, or the host's network. It has a mount namespace too, where
 * the host's mounts come to be seen in it, so that it may copy mounts (root_common()). For root,
 * and where it cannot be done, nothing. */
void net_prepare_lending(void);

/* Go into a namespace that was handed on, so that a box is made there; false, and nothing has
 * changed, if it cannot be had or is not empty. */
bool net_enter(int net);

/* And back. Should that fail, though it was tried before, there is no way to go on. */
void net_leave(void);

/* ---- the box's first process ---- */

/* Bring up a new one. */
int net_set_up(struct gb_err *err) gb_nodiscard;
