#pragma once
/* A dormant copy of this process: all of its memory as it is now, and none of its threads. */
#include <sys/types.h>

/* Descriptors that a copy keeps beside the standard streams; the rest only if they are files. */
struct copy_keeps {
    int chan, answer;
    int more[4]; /* or -1 */
    pid_t init;  /* the only one who can wake it */
};

/* Make one, a child of init's. Returns its number in the original; in the copy 0, once it was
 * woken; -1 with errno if it could not be made. The interpreter must be held. */
pid_t copy_make(const struct copy_keeps *keeps);
