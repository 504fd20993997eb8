#pragma once
/* A job: one request on its way to a result. */
#include <event2/event.h>
#include <stdbool.h>

#include "backend/backend.h"
#include "engine/calls.h"
#include "engine/config.h"
#include "engine/digest.h"
#include "engine/manifest.h"
#include "engine/output.h"
#include "engine/request.h"
#include "engine/review.h"
#include "engine/spill.h"
#include "glovebox.h"
#include "shell/plain.h"

struct trail;
struct session;
struct grave;

struct gb_engine {
    struct config config;
    struct trail *trail; /* the audit file, or NULL */
    uint64_t n_runs;     /* that the audit has numbered */
    struct event_base *base;
    bool is_guest; /* the loop is somebody else's */
    struct backend *backend;
    struct gb_job *jobs;
    int n_jobs;
    struct calls_host calls;
    int wake_fd; /* eventfd */
    struct review_link review_link;
    int out; /* directory for captured files, or -1 */
    struct event *on_wake;
    struct event *on_later; /* delivers jobs that ended before they ran */
    struct event *on_step;  /* ends a step that waited long enough */
    struct session *sessions;
    struct grave *graves; /* sessions that ended, and whose users do not know it yet */
    bool freeing;
    bool was_short;  /* the last run that was waited for */
    bool is_probing; /* what is started now are questions of our own (probe.c) */
};

enum stop_reason {
    STOP_NONE,
    STOP_TIMEOUT,
    STOP_CANCEL,
    STOP_REJECTED /* its result says why */
};

/* What the audit knows of a job (audit.h). */
struct job_record {
    char run[48]; /* its name there; empty: not recorded */
    char code[DIGEST_HEX + 1];
    char asked[DIGEST_HEX + 1];
    char policy[DIGEST_HEX + 1];
    unsigned noted; /* 1u << event */
    bool is_failed; /* a line could not be written: */
    struct gb_err err;
};

/* Whether a person was asked, and said so. */
enum approval {
    APPROVAL_NONE,
    APPROVAL_ASKED,
    APPROVAL_YES,
    APPROVAL_NO
};

struct capture;
struct review;

struct gb_job {
    struct gb_job *next;
    struct gb_engine *engine;
    struct gb_callbacks callbacks;
    void (*done)(void *data, json_t *result); /* instead of the callbacks', see engine_start() */
    struct request request;
    struct output out, err;
    struct spill spill;
    struct plain *plain; /* two, where the result is to be without colours and the like; or NULL */
    struct calls calls;
    size_t stage;     /* the next on its road */
    struct run *run;  /* while it has a box */
    bool is_held;     /* which does not begin before it is let go */
    bool is_starting; /* gb_start() has not returned: nobody may be called back */
    bool is_put_off;  /* its stage is to be tried again from the loop */
    bool is_over;     /* the result is filled, and to be delivered from the loop */
    struct session *session;
    struct gb_job *behind; /* the next in the same session */
    struct review *review;
    struct capture *capture; /* of files, where there is something to look at */
    bool is_looking;         /* at files, in the loop; nobody else ends the job meanwhile */
    int keeper;              /* keeps the workspace until that is done, or -1 */
    int64_t ended_us;
    enum approval approval;
    bool was_read[READERS]; /* by a model, by a person, who agreed */
    bool is_calling;        /* the callback that asks has not returned */
    struct event *on_timeout;
    enum stop_reason stopped;
    int64_t admitted_us;
    int64_t check_us; /* how long the check took, where it has told */
    bool has_begun;   /* some of the program may have run */
    struct job_record record;
    json_t *result; /* filled stage by stage */
};

/* Send a job down the road (road.c). Never calls its callbacks. */
void road_begin(struct gb_job *job, const char *text);

/* The engine is being freed: say in its result what became of a job that has no box. */
void road_abandon(struct gb_job *job);

/* On from admission, for a job whose turn in its session has come. */
void road_turn(struct gb_job *job);

/* End a job that has no box. */
void road_cancel(struct gb_job *job);

/* A person's answer, as gb_approve() has it. Returns 0, or -1 when none is waited for. */
int road_approve(struct gb_job *job, int yes, const char *reason);

/* What the configuration says of the reviewer; `url` is NULL where there is none. */
struct review_spec review_of(struct gb_engine *engine);

/* What settings ask of a backend. */
struct run_order order_of(const struct settings *s, struct mounts *mounts);

/* Hand over the result and free the job. */
void job_deliver(struct gb_job *job);
