#pragma once
/* What is different where a shell lives in a box and not an interpreter: it has no copies, and is
 * stopped where it stands. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/box.h"

struct host_box;

struct seat_shell {
    bool is_one;
    bool is_begun;
    bool is_new; /* it has taken the place of another, which held what is lost */
    pid_t pid;   /* what the guest says of it, as all that follows */
    pid_t jobs[BOX_SPARE_MAX];
    uint32_t n_jobs;
    bool has_rested;  /* init watches it */
    int64_t began_us; /* its command */
    unsigned steps;   /* taken towards ending that; 0: none */
    bool is_killed;   /* its end is not its own */
};

bool seat_shell_is(const json_t *program);

/* What begins such a session: new reference. */
json_t *seat_shell_begin(const json_t *program);

/* Take what the guest says of its shell, if it does. */
void seat_shell_note(struct seat_shell *s, const json_t *said);

/* Did the guest say that something could not be? Then err has it. */
bool seat_shell_failed(const json_t *said, struct gb_err *err);

/* A command begins. */
void seat_shell_starts(struct seat_shell *s);

/* A command that was over before anybody watched it has used less than the kernel counts in:
 * nothing is to be asked for. What it left behind is watched since the first command. */
static inline bool seat_shell_is_short(const struct seat_shell *s, bool is_unwatched)
{
    return s->is_one && s->has_rested && is_unwatched;
}

/* End the command: a little more firmly each time. Returns how long to wait for it, in
 * microseconds; 0 if there is nothing left to try. */
long seat_shell_stop(struct seat_shell *s, int ctl);
