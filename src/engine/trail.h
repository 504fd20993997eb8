#pragma once
/*
 * An audit file, as one of those who append to it. Any number of engines, in this process and in
 * others, may share one: each line is put at the end in a single write(), under a lock, and hangs
 * on whatever line was last by then.
 *
 * Besides the events that it is given, a trail writes of its own:
 *   opened     before its first line in a file
 *   recovered  what lies before is the rest of a line that somebody did not finish
 *   lost       events that could not be written, how many
 *   closed     nothing more comes
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct trail;

enum {
    TRAIL_ID = 16
};

/* Open or make the file, readable by its owner alone. Refuses what is not a regular file, a link,
 * and a file that holds something else. A relative path means the directory of now, for good. */
int trail_open(const char *path, struct trail **ret, struct gb_err *err) gb_nodiscard;

/* What tells this trail from all others: TRAIL_ID hexadecimal digits. */
const char *trail_id(const struct trail *t);

/* Append one event. `facts` is the text of a JSON object that is not empty. What cannot be written
 * is counted, and told of by the next line that can. */
int trail_write(struct trail *t, const char *event, const char *facts,
                struct gb_err *err) gb_nodiscard;

/* Say "closed", if there is anything to close. Another event opens it again. */
void trail_rest(struct trail *t);

/* The same, and free it. Accepts NULL. */
struct trail *trail_close(struct trail *t);

/* ---- for readers ---- */

/* Keep writers out, for as short as possible: only between them is a file's end a line's end.
 * Waits a little; false when that did not help. */
bool trail_freeze(int fd);
void trail_thaw(int fd);

/* Does an engine have this file open for writing? */
bool trail_is_held(int fd);
