#pragma once
/*
 * What a box holds that no process's resident memory shows: shared anonymous mappings whose pages
 * are not mapped at the moment, data in sockets, files that are deleted but open. Without a memory
 * control group the kernel keeps no account of these by box, so each is charged what it could
 * hold. That is more than it does hold; it matters only to programs that have very many.
 */
#include <stdint.h>
#include <sys/types.h>

struct charge {
    uint64_t shared_bytes;  /* anonymous shared mappings, by their size */
    uint64_t socket_bytes;  /* sockets, by what their buffers may hold */
    uint64_t deleted_bytes; /* of regular files on `device` that have no name any more */
};

/* Add what the processes hold, each thing once however many share it. `device` is the file system
 * whose deleted files count, or 0. A process that hides what it holds is charged as if it held as
 * much as it could. */
void charge_look(int proc, const pid_t *pids, size_t n, dev_t device, struct charge *ret);

/* What all sockets of the caller's network namespace may hold, those that no descriptor leads to
 * included: connections that nobody has accepted, senders whose datagrams nobody has read, sockets
 * that are on their way through another. */
uint64_t charge_net(int proc);
