#pragma once
/*
 * A box: one contained process tree.
 *
 * Its first process ("init", init.c) sets it up, watches, reaps, and ends with the engine. The
 * guest is our own code until it has read a request.
 */
#include <sys/types.h>

#include "sandbox/heir.h"
#include "sandbox/plan.h"
#include "sandbox/watch.h"

/* What init tells the engine on its control socket, one message each. */
enum box_event_kind {
    BOX_READY,  /* set up and sealed, the guest waits for a request; brings its workspace */
    BOX_FAILED, /* could not be set up: err says why */
    /* The main process is dead and reaped, every other but init killed. Brings the box's network
     * namespace, if that may be handed on when init is gone too. */
    BOX_ENDED,
    /* of a box that a session lives in: */
    BOX_RESTED,  /* as ordered: what the cell used */
    BOX_ROLLED,  /* the main process is dead, and all but the copies killed: how, as BOX_ENDED */
    BOX_DROPPED, /* the copy `pid` is gone, or never was one */
    BOX_OPENED,  /* as ordered; with a descriptor, unless it cannot be had */
};

enum box_end {
    END_EXITED, /* the guest's main process ended: status is its wait status */
    END_LIMIT,  /* the watcher saw a limit passed: sample */
    END_TOLD,   /* the engine said so */
    END_LATE,   /* its time was up, and the engine did not say so: it is busy elsewhere */
    END_BLIND,  /* the watcher could not see its processes: sample.blind is why */
};

/* Of all that ran in the box, by the kernel's count. No type of a C library: init has another one
 * than the engine. */
struct box_usage {
    int64_t cpu_us;
    int64_t max_rss_kb;
};

/* What still ran when the main process had ended. */
struct box_survivor {
    pid_t pid;        /* as the box sees it */
    char command[16]; /* as the kernel has it: the program's own choice */
};

enum {
    BOX_SURVIVORS_MAX = 16
};

struct box_event {
    enum box_event_kind kind;
    int64_t cpu_us;    /* with BOX_READY: what the guest had used by then */
    uint32_t layers;   /* and what init and guest found to hold it */
    struct gb_err err; /* with BOX_FAILED */
    enum box_end end;  /* and what follows, with BOX_ENDED */
    int status;
    struct watch_sample sample;
    struct box_usage usage;
    pid_t pid;            /* with BOX_DROPPED */
    uint32_t n_survivors; /* all of them; the first are named, if the engine asked for it */
    struct box_survivor survivors[BOX_SURVIVORS_MAX];
};

/* What the engine tells init. End of file on the socket means: die, and take everything along. */
enum box_order_kind {
    BOX_WATCH, /* a request runs: watch it, with these limits */
    BOX_LIST,  /* at its end, say what still runs; comes before the request does */
    BOX_DIE,
    /* of a box that a session lives in: */
    BOX_KEEP, /* `pid` is a dormant copy of the main process, of which nothing runs: spare it */
    BOX_DROP, /* end the copy `pid` */
    BOX_REST, /* the cell has ended: say what it used, go on watching, now and then */
    BOX_ROLL, /* kill everything but the copies: BOX_ROLLED follows */
    BOX_WAKE, /* the copy `pid` is the main process from now on */
    BOX_INTERRUPT, /* SIGINT to the main process */
    BOX_STOP,      /* end what a command of the shell `pid` has started, and it with `signal` */
    BOX_SEAT,      /* `pid` lives on as a session of its own, heard of on the descriptor that
                      comes with this */
    BOX_OPEN,      /* the workspace of a session that was forked, while its first process lives */
};

enum {
    BOX_SPARE_MAX = 16,
    /* What a persistent shell takes as: leave the command; and: leave altogether
     * (shell/loader.sh). */
    BOX_UNWIND_SIGNAL = 61,
    BOX_LEAVE_SIGNAL = 60,
};

struct box_order {
    enum box_order_kind kind;
    pid_t pid;
    struct plan_watch limits;
    uint64_t timeout_ms;        /* of wall clock; the engine watches it too, and comes first */
    int signal;                 /* and what follows, with BOX_STOP */
    int64_t since_us;           /* how long ago the command began */
    pid_t spare[BOX_SPARE_MAX]; /* groups of processes that are older than that */
    uint32_t n_spare;
};

/* Sent to the guest's main process shortly before it is killed for its time or at the caller's
 * wish: it may flush what it had not written yet. */
enum {
    BOX_LAST_WORDS_SIGNAL = 63
};

/* What wakes a dormant copy; it listens to init alone. */
enum {
    BOX_WAKE_SIGNAL = 62,
    BOX_CGROUPS_MAX = 2, /* control groups of one box: version 1 has them by controller */
    BOX_COPIES_MAX = 32, /* of one session */
    BOX_SEATS_MAX = 16,  /* sessions in one box: one that was made, and those forked from it */
};

/* Descriptors handed to a box; the box owns its copies. */
struct box_fds {
    int ctl;    /* init's end of the control socket (SOCK_SEQPACKET) */
    int chan;   /* where the guest reads its request (SOCK_STREAM) */
    int answer; /* the pipe that it answers on */
    int out, err;
    int cgroups[BOX_CGROUPS_MAX]; /* cgroup.procs of the box's control groups, or -1 */
    int net;                      /* a network namespace that was handed on, or -1 */
    int plan;                     /* a memory file with the packed plan */
    int init;                     /* the program glovebox-init */
};

struct box_spec {
    const struct plan *plan;
    struct box_fds fds;
    /* Runs in the guest first of all, before it is sealed: what makes a copy of the zygote
     * ready. */
    void (*prepare)(const struct box_fds *fds);
    /* Runs in the guest, sealed, with 0, 1, 2 in place and ctl, chan and answer open. Says
     * box_ready() when it is ready to read a request. Must not return. */
    void (*guest)(const struct box_fds *fds);
    /* Not NULL: the guest inherits the caller's memory. When the box is made, the caller ends at
     * once, and leaves this and all that it points to as it is. */
    const struct heir *heir;
};

/* Tell the engine that the guest waits for a request, and let go of the control socket. */
void box_ready(int ctl);

/* Make a box from the calling, single-threaded process: a sibling of it, that is, a child of its
 * parent. Returns 0 with the box's pid and a pidfd that the caller owns; set-up goes on in the
 * box and reports on the control socket. On failure *ret_pid may be set too (else 0): a process
 * that is ending and that the parent must reap. */
int box_spawn(const struct box_spec *spec, pid_t *ret_pid, int *ret_pidfd,
              struct gb_err *err) gb_nodiscard;
