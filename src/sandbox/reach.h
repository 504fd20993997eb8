#pragma once
/*
 * connect() on behalf of a guest.
 *
 * A Unix socket is reached by a path, and neither a read-only mount nor Landlock before ABI 9 stops
 * that: a service of the host may listen below /usr, in the interpreter's directory or in a mount.
 * So init connects for the guest, where the kernel cannot be told: by a path that leads to the
 * box's own file system, and to no other. All connections are made that way, since a filter cannot
 * see which family an address is of, and a descriptor that init has looked at may stand for another
 * socket a moment later.
 *
 * Init must never wait. A socket that blocks is made not to while init connects it; if that takes
 * longer, the call waits, and init tries again now and then. Should the program set it to block
 * again between the two steps, a timer ends the call.
 */
#include <stdbool.h>
#include <stdint.h>

#include "sandbox/notice.h"

/* Before init is sealed: what the timer's signal does. */
void reach_prepare(void);

/* Connect, and answer now or later. */
void reach_connect(const struct plan *plan, const struct notice *n);

/* Try some of those again that wait, every REACH_TICK_US at most; to be called at least as often
 * while there are any. */
bool reach_is_waiting(void);
void reach_retry(void);

enum {
    REACH_TICK_US = 5000
};
