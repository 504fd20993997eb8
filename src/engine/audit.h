#pragma once
/*
 * The audit: what happened to each request, one line an event, without what it said. No code, no
 * output, no values, no environment; digests, names and numbers instead (docs/audit.md has the
 * schema). Without a configured file every call here does nothing.
 */
#include "engine/job.h"

/* One list gives the enum and the names in the file. */
#define AUDIT_EVENT_MAP(X)        \
    X(ADMITTED, "admitted")       \
    X(CHECKED, "checked")         \
    X(REVIEWED, "reviewed")       \
    X(APPROVED, "approved")       \
    X(STARTED, "started")         \
    X(TOOL_CALLED, "tool_called") \
    X(LIMIT_HIT, "limit_hit")     \
    X(FINISHED, "finished")

enum audit_event {
#define X(sym, name) AUDIT_##sym,
    AUDIT_EVENT_MAP(X)
#undef X
};

/* Open the engine's file, if it has one. */
int audit_open(struct gb_engine *engine, struct gb_err *err) gb_nodiscard;
void audit_close(struct gb_engine *engine);

/*
 * Write down that this happened, now, before it has consequences. What is known of the event is
 * taken from the job and its result; `facts` (taken, may be NULL) is added to it.
 * Returns -1 when it could not be written and must be: the result is then "failed", and a job that
 * runs is killed. Else a failure is told in the result as "audit_error".
 */
int audit_note(struct gb_job *job, enum audit_event event, json_t *facts) gb_nodiscard;

/* The result is complete: write down what was not yet (that it was checked, that a limit was hit)
 * and the end. The last word on the result. */
void audit_end(struct gb_job *job);

/* A job is gone. An engine for one program closes its file with it: nobody may come to free it. */
void audit_idle(struct gb_engine *engine);
