#pragma once
/* The engine's side of one box: its process, its descriptors, what it has said so far. */
#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>

#include "backend/backend.h"
#include "backend/outbox.h"
#include "base/buf.h"
#include "sandbox/box.h"
#include "sandbox/compose.h"
#include "sandbox/plan.h"

/* What decides whether a waiting box fits an order; the rest can still be tightened. */
struct box_shape {
    enum plan_level level;
    bool host_network;
    struct plan_limits limits; /* what it is made with */
    struct mounts *mounts;     /* or NULL */
};

struct host_box;
struct box_seat; /* what a box has in which a session lives (seat.h) */

struct box_callbacks {
    void *data;
    void (*ready)(void *data, struct host_box *box);
    /* The code passed the check: what was found. */
    void (*checked)(void *data, struct host_box *box, const json_t *found);
    void (*output)(void *data, struct host_box *box, int stream, const char *bytes, size_t len);
    /* Something to show, as run_events.display() has it. */
    void (*display)(void *data, struct host_box *box, const json_t *shown);
    /* A word of the program's; NULL, or what is wrong with it. */
    const char *(*word)(void *data, struct host_box *box, const struct run_word *word);
    /* Everything in the box is dead, and all that it wrote was delivered. Not called for a box
     * that never ran. In a box where a session lives: a run has ended, and, unless the state is
     * BOX_OVER, another may come. */
    void (*ended)(void *data, struct host_box *box);
    /* Its first process is gone too. The box is freed when this returns. */
    void (*gone)(void *data, struct host_box *box);
};

enum box_state {
    BOX_MAKING,
    BOX_WAITING,
    BOX_RUNNING,
    BOX_OVER /* ended, or never to be used */
};

/* The far ends, to be sent to the zygote and then closed. */
struct box_far {
    int ctl, chan, answer, out, err;
};

enum {
    BOX_LINGER_S = 3 /* how long a guest that has answered may take to exit; it does so at once,
                        unless the host is very busy */
};

/* Sessions that were forked from each other share one box, and each has one of these structs for
 * it. */
struct box_kin {
    size_t n;
};

struct host_box {
    struct host_box *next;
    uint64_t number;
    struct box_shape shape; /* with a reference to its mounts */
    enum box_state state;
    pid_t pid;
    int pidfd, ctl, chan, answer_fd, out, err;
    int words;     /* where a session's cell hears of its tools; else -1 */
    int request;   /* of a session: the last that was sent as a file, or -1 */
    int workspace; /* where the program writes, once the box is ready; else -1 */
    int net;       /* its network namespace, when it has ended and that may be handed on; else -1 */
    uid_t uid;     /* whose it is there, by the host's numbers */
    gid_t gid;
    struct event *on_pid, *on_ctl, *on_answer, *on_out, *on_err, *on_watch, *on_late, *on_chan,
        *on_rest;
    const struct box_callbacks *callbacks;
    void *run;             /* whoever uses it */
    void *place;           /* what it is kept for, or NULL */
    struct box_seat *seat; /* or NULL: for one run */
    struct box_kin *kin;   /* or NULL: it has the box for itself */
    bool is_fork;          /* it came to a box that was another's */

    /* what was seen */
    bool is_ready; /* sealed, and reading */
    bool killed, setup_failed;
    const char *forged; /* what it sent that it could not have meant, or NULL */
    bool reported;      /* init told how it ended: */
    enum box_end end;
    int status;
    struct watch_sample sample;
    struct gb_err setup_err;
    struct gb_buf in; /* the frames that are coming */
    size_t display_bytes;
    unsigned display_things; /* taken so far */
    bool is_display_full;
    json_t *answer;
    uint64_t token;  /* what the check's own word must know */
    bool is_verdict; /* the answer did */
    bool is_checked; /* the code has passed the check */
    bool is_held;    /* and its program waits, or will, to be let go */
    bool has_tools;  /* its program may call some: */
    uint64_t tool_token;
    struct outbox outbox; /* what it was told and has not read */
    bool is_paused;       /* it is not listened to until it has read more of that */
    bool is_resting;      /* nor for a while after it had us read much: */
    int64_t parse_us;     /* what that took */
    bool is_ending;       /* only what it said last is still of interest */
    uint64_t oom_kills;   /* that its control group had counted when a run last ended */
    struct box_usage usage;
    struct box_survivor survivors[BOX_SURVIVORS_MAX];
    size_t n_survivors;
    int64_t setup_cpu_us;
    struct plan_watch watch;
    uint64_t timeout_ms;
    uint32_t layers;  /* that init and guest found to be in force, when it was ready */
    char *scratch;    /* host directory of a box without a private root, or NULL */
    int scratch_lock; /* until init has one of its own; or -1 */
};

/* Make the engine's side: sockets, pipes, events. */
int host_box_new(struct event_base *base, const struct box_callbacks *callbacks,
                 struct host_box **ret, struct box_far *ret_far, struct gb_err *err) gb_nodiscard;

/* The zygote made it: from now on it is a process to be waited for. Takes the pidfd. */
int host_box_born(struct host_box *box, pid_t pid, int pidfd, struct gb_err *err) gb_nodiscard;

/* What a box is given to do; all borrowed. */
struct box_work {
    const json_t *program;
    int in; /* a descriptor for standard input, or -1 */
    struct plan_watch watch;
    uint64_t timeout_ms;
    bool hold;           /* the program will wait for host_box_go() */
    uint64_t tool_token; /* the program's "tool_token", or 0: it has no tools */
    enum place_act act;  /* and what follows, where a session lives */
    uint64_t cell;
    struct host_box *fork; /* the other, which is taken; its far ends too */
    struct box_far far;
    bool list_survivors;
};

/* Send the program; the box may still be being made. */
int host_box_run(struct host_box *box, const struct box_work *work,
                 struct gb_err *err) gb_nodiscard;

/* Let a program begin that is held. If its box is lost, its end is told like any other. */
void host_box_go(struct host_box *box);

/* Tell the program what became of a tool call. Never blocks; false if nobody reads it. */
bool host_box_tell(struct host_box *box, const char *json, size_t len);

/* End it, and everything in it. `gone` follows. */
void host_box_kill(struct host_box *box);

/* End the run that it was given: `ended` follows. That is the end of the box, unless a session
 * lives in it. */
void host_box_stop(struct host_box *box);

/* For frames.c: anything that is not a well-formed frame, at a time when it can be meant, ends the
 * run. */
void host_box_forged(struct host_box *box, const char *what);

/* For frames.c: nothing comes after an answer, unless a session lives there. */
bool host_box_has_answered(const struct host_box *box);

/* For frames.c: what waits for this may begin. */
void host_box_send_go(const struct host_box *box);

/* For seat.c: read what is in the pipes now, without waiting for more. */
void host_box_drain(struct host_box *box);

/* For seat.c: the same for the answer, when nobody can write any more; half a frame is
 * forgotten. */
void host_box_drain_answer(struct host_box *box);

/* For seat.c: a socket on which a cell hears of its tools, whose far end the caller gets and
 * closes; none if the token is 0. And its end, with all that was not heard. */
int host_box_open_words(struct host_box *box, uint64_t token, int *ret_far,
                        struct gb_err *err) gb_nodiscard;
void host_box_close_words(struct host_box *box);

/* For seat.c: begin to watch what a program uses, unless it has ended by then. */
void host_box_watch(struct host_box *box);

/* What became of the run that it was given. `was_killed`: the engine had told it to end. Gives away
 * the workspace, or, where a session lives, a descriptor of its own of it. */
struct run_outcome host_box_outcome(struct host_box *box, bool was_killed);

/* Does nobody else live in it? */
bool host_box_is_last(const struct host_box *box);

/* `fork` is to live in the box of `box`: as that is, and told of its end as well. */
int host_box_join(struct host_box *fork, struct host_box *box, struct gb_err *err) gb_nodiscard;

void box_far_close(const struct box_far *far);

/* Free a box whose process is gone or never was. */
void host_box_free(struct host_box *box);
