#pragma once
/* The parts of a box's first process: init_setup.c builds the box, init.c watches it,
 * init_notices.c answers calls of guests, seat.c keeps the sessions that live in it. */
#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/box.h"
#include "sandbox/mounts.h"

/* What the engine talks to: the one program of a box, or a session. A session that is forked
 * gets a seat of its own beside the first. */
struct seat {
    int ctl;
    pid_t guest;   /* its main process; 0 while a copy is to be chosen */
    bool watching; /* limits are known */
    bool is_lasting;
    bool is_resting; /* no cell runs */
    bool is_called;  /* the engine has said something */
    bool is_listing; /* what is left at the end */
    struct plan_watch limits;
    uint64_t rest_cpu_ms; /* what it may use until the next cell, from the next look on; 0: known */
    uint64_t cpu_each_ms; /* that a cell may use, and a rest */
    int64_t still_us;     /* what it had used at the last look */
    int64_t deadline_us;  /* of the cell; 0: none */
    int64_t cpu_before_us;
    pid_t shell; /* or 0; what it and its children had used when the last command began: */
    int64_t shell_before_us;
    pid_t copies[BOX_COPIES_MAX]; /* dormant, oldest first */
    size_t n_copies;
    char own[512]; /* of a fork: its directory, below the home of the box; else empty */
};

enum {
    INIT_RULES = 256, /* of Landlock, in all rulesets that a box ever makes */
    INIT_DOMAINS = 64,
    INIT_SEAT_RULES = 64, /* more for each session that is forked, for its fence */
    INIT_SEAT_DOMAINS = 2,
    INIT_FILTERS_MAX = 64, /* seccomp filters of programs' own at once */
};

struct init {
    const struct plan *plan;
    int proc;    /* descriptor of /proc */
    int scratch; /* of the box's host directory, or -1 */
    int notices; /* tells of calls that we answer (notice.h), or -1 */
    int net;     /* that, to be handed on, or -1 */
    bool is_net_used;
    unsigned rules_left, domains_left; /* of Landlock, that programs may make */
    unsigned n_filters;                /* of their own, that they have asked for */
    int64_t notices_us;                /* what that cost so far, of processor time */
    int64_t next_look_us;
    int64_t
        still_until_us; /* nothing runs but those that wait: until then, see only that they do */
    struct seat seats[BOX_SEATS_MAX];
    size_t n_seats;
};

/* What the new process was given. */
struct init_given {
    pid_t guest;
    int ctl, plan, ready, net, root;
    int mounts[MOUNTS_MAX];
    size_t n_mounts;
};

/* ---- init_setup.c ---- */

/* Build the box. The guest is told when its place is there, and seals itself meanwhile. */
int init_set_up(const struct plan *plan, const struct init_given *p,
                struct gb_err *err) gb_nodiscard;

/* What init has left to do: wait, look, kill, answer, tidy up. */
int init_seal(const struct plan *plan, struct gb_err *err) gb_nodiscard;

/* ---- init_notices.c ---- */

/* Receive one call of a guest, and answer it now or later. */
void init_hear_notice(struct init *in);

/* ---- init.c ---- */

/* Are the limits of any seat known? */
bool init_is_watching(const struct init *in);

void init_tell(const struct seat *s, const struct box_event *event);

/* Let the program write what it still holds, for a moment. */
void init_hear_last_words(const struct seat *s);

/* Kill everything, tell the engine of this seat's end, and go. */
_Noreturn void init_end(const struct init *in, const struct seat *s, struct box_event *event);

/* ---- seat.c ---- */

/* The seat's main process has ended, or is to: kill all of it but the copies and tell the engine,
 * which then says which of them goes on. Without copies that is the end of the seat, and of the
 * box if it was the last. */
void seat_roll(struct init *in, struct seat *s, struct box_event *event);

/* The end of one seat among several: nothing of it is left. */
void seat_close(struct init *in, struct seat *s, struct box_event *event);

/* Follow an order that only sessions get. `fd` came with it, or is -1; it is taken. */
void seat_obey(struct init *in, struct seat *s, const struct box_order *order, int fd);

/* A child of init's was reaped: if it was a copy, forget it and tell. */
void seat_note_death(struct init *in, pid_t pid);

/* End the oldest copy of whoever has the most, but nobody's last. Returns false when there is
 * none to spare. */
bool seat_shed(struct init *in);

/* What its main process and its shell have used, to the nanosecond: it does not change while they
 * wait. */
int64_t seat_cpu_us(const struct seat *s);

/* How many tasks there are if nothing runs in the box but those that wait: main processes, shells
 * and copies. */
uint64_t seat_waiting(const struct init *in);

/* The seat that a limit which the whole box has passed is put down to. */
struct seat *seat_blamed(struct init *in);

/* What may be used by all of them together, copies not counted. */
struct plan_watch seat_limits(const struct init *in);
