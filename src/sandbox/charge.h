#pragma once
/*
 * What a box holds that no process's resident memory shows: shared anonymous memory that is not
 * mapped at the moment, data in sockets and pipes, the kernel's own structures, files that are
 * deleted but open. Without a memory control group the kernel keeps no account of these by box, so
 * each is charged what it could hold. docs/limits.md has the table of them, and of what is bounded
 * by other means and not charged.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct charge {
    uint64_t shared_bytes;  /* anonymous shared memory, by its size (shared.h) */
    uint64_t socket_bytes;  /* sockets, by what their buffers may hold: most hold little */
    uint64_t pipe_bytes;    /* and pipes */
    uint64_t object_bytes;  /* mappings, locks, watches, open files, by what each takes */
    uint64_t deleted_bytes; /* of regular files on `device` that have no name any more */
};

struct charge_wish {
    dev_t device; /* the file system whose deleted files count, or 0 */
    bool fds;     /* look at descriptors */
    bool maps;    /* and at mappings, which is dearer */
};

/* Add what the processes hold, each thing once however many share it. A process that hides what it
 * holds is charged as if it held as much as it could. */
void charge_look(int proc, const pid_t *pids, size_t n, const struct charge_wish *wish,
                 struct charge *ret);

/* What all sockets of the caller's network namespace may hold, those that no descriptor leads to
 * included: connections that nobody has accepted, senders whose datagrams nobody has read, sockets
 * that are on their way through another. */
uint64_t charge_net(int proc);
