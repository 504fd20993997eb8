#pragma once
/*
 * Scratch directories: what a box without a private root has to write in, on the host's own disk.
 *
 * Init removes its box's directory, and the engine does when init could not. Should both have been
 * killed, the next engine does: whoever uses one holds a lock on it (flock), engine and init each
 * their own, so one that nobody has locked belongs to nobody.
 *
 * What a program left may be a million files. They are removed in turns of the engine's loop.
 */
#include <event2/event.h>
#include <stdbool.h>

#include "sandbox/mounts.h"

#define SCRATCH_NAME "glovebox-box-XXXXXX"

struct scratch_grave;

struct scratch_bin {
    struct event *on_turn; /* or NULL: nothing was buried yet */
    struct event_base *base;
    struct scratch_grave *first; /* is being emptied */
    bool has_swept;
};

/* One for a box, which the caller frees; NULL with errno. The lock is held for as long as the
 * descriptor *ret_lock is open. Before the first, those are buried that nobody uses. */
char *scratch_make(struct scratch_bin *bin, int *ret_lock);

/* Links in it, below mnt, to what is mounted where there is a private root. Returns 0, -1 with
 * errno. */
int scratch_link(const char *scratch, const struct mounts *mounts);

/* Remove it, soon, if it is still there. */
void scratch_bury(struct scratch_bin *bin, const char *path);

/* Remove all that is buried, now. */
void scratch_bin_done(struct scratch_bin *bin);
