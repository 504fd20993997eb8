#pragma once
/*
 * A shell that lives on in a box: bash, and what it is told and says. All of it is the guest's
 * side: whatever happens here can harm nobody but this box.
 *
 * bash loads a builtin of ours and is handed each command through it (step.h; loader.sh has what
 * comes first). The command's own standard input is empty, or a file; what it prints goes to pipes
 * that are its own (stream.h); its end is reported (report.h) on a socket that its programs do not
 * have. If bash ends, another takes its place, with what it held if it could still say so.
 */
#include <jansson.h>
#include <poll.h>

#include "base/buf.h"
#include "base/err.h"
#include "shell/pty.h"
#include "shell/report.h"
#include "shell/stream.h"

enum {
    LIVE_STREAMS_MAX = 32,
    LIVE_JOBS_MAX = 64,
    LIVE_POLL_MAX = 2 + 2 * LIVE_STREAMS_MAX,
};

struct live_job {
    struct report_job about;
    uint64_t cell;  /* the command that it came from */
    bool is_orphan; /* its shell is gone */
    bool is_told;   /* that it has ended */
};

struct live {
    const json_t *begun; /* how it began: the environment, which shell */
    char *program;
    char dir[160];        /* where its files are */
    pid_t pid;            /* of the shell; 0: there is none */
    int nothing;          /* /dev/null: what most commands read */
    int script;           /* where it reads lines */
    int talk;             /* where it takes commands and reports (step.h) */
    struct gb_buf to_say; /* what it was not told yet */
    int pass[3];          /* and what comes with it: a command's standard descriptors */
    size_t n_pass;
    struct gb_buf said; /* what it reported, as far as it came */
    char number[REPORT_NUMBER + 1];
    char mark[REPORT_NUMBER + 1]; /* that of the last command that was taken: what the shell leaves
                                   * ends with it */
    bool is_untaken;              /* it has ended with what it was handed unread */
    bool has_left;                /* something to go on from, when it is started again */
    uint64_t cell;
    int last_status;
    bool is_heard; /* it has reported once: it could load what it needs for that */
    bool is_running;
    bool is_asked; /* what runs is no command, but a question (live_ask) */
    /* A command has just begun: most are over before it is worth looking at its pipes. */
    bool is_fresh;
    bool is_new; /* since the last command: what an earlier shell held is lost */
    struct stream streams[LIVE_STREAMS_MAX];
    struct stream_pipes ahead;
    struct live_job jobs[LIVE_JOBS_MAX];
    size_t n_jobs;
    char cwd[1024];
    struct pty pty;
    bool is_attended; /* somebody waits for what is printed there; else it is kept: */
    struct gb_buf pending;
    int64_t printed_us; /* when that was last */
};

/* Start it, as the request says: "env", "shell", "workdir". Keeps a reference to that. */
int live_begin(struct live *l, json_t *request, struct gb_err *err) gb_nodiscard;

/* Begin a command: "code", "argv", "exports", "workdir". `in`: its standard input, or -1.
 * is_running is true until it is over. -1 with err: it has not begun. */
int live_run(struct live *l, const json_t *request, int in, struct gb_err *err) gb_nodiscard;

/* Somebody waits again, or does not any more: what was printed there meanwhile is told first. */
void live_attend(struct live *l, bool is_attended);

/* Nobody waits: make what the next command will need. */
void live_prepare(struct live *l);

/* Ask for a report alone: the same, without a command. */
int live_ask(struct live *l, struct gb_err *err) gb_nodiscard;

/* What to wait for, and what to do when it has come. */
size_t live_poll(const struct live *l, struct pollfd *ret);
void live_turn(struct live *l, const struct pollfd *fds, size_t n);

/* A child has ended. */
void live_reap(struct live *l);

/* A report has come: what it says of jobs. */
void live_note_jobs(struct live *l, const struct report *r);

/* What is known when a command is over: a new object. Jobs that have ended are told of once, unless
 * `all` are asked for. */
json_t *live_about(struct live *l, bool all);

/* What a job has printed since its command was over, from that byte on; NULL if there is none. */
json_t *live_read_job(const struct live *l, pid_t pid, json_int_t offset, json_int_t length);

/* End a job: politely, and then not. False if there is none. */
bool live_end_job(const struct live *l, pid_t pid);
