#pragma once
/*
 * Sessions: places that keep their names between requests. One is made by the first request that
 * names it, serves its requests one after another in the order in which they came, and ends when it
 * was idle or has lived for too long, when it is closed, or with its box.
 */
#include <stdbool.h>

#include "backend/backend.h"
#include "base/err.h"
#include "engine/job.h"

enum {
    SESSION_NAME_MAX = 128
};

struct walk;

/* Whether a job may go on. */
enum session_turn {
    TURN_NOW,
    TURN_LATER,  /* others are before it: road_turn() is called when it is its turn */
    TURN_REFUSED /* err says why */
};

/* Queue a job that names a session; finds or makes the session. */
enum session_turn session_enter(struct gb_job *job, struct gb_err *err);

/* The job has ended, or is to: let the next one have its turn. Does nothing for one without. */
void session_leave(struct gb_job *job);

/* May this job have its turn, now that it has come? -1 with err if not. */
int session_admit(struct gb_job *job, struct gb_err *err) gb_nodiscard;

/* What the check is to see: the program and, where the rules refuse anything, what ran here before
 * it. New reference; NULL with err. */
json_t *session_check_program(const struct gb_job *job, struct gb_err *err);

/* Findings of that check, with lines of this cell. New reference. */
json_t *session_findings(const struct gb_job *job, const json_t *findings, json_int_t *risk);

/* What a reader is to see with this request: all that ran in the session, or changed there, that
 * this reader has not seen. New reference; NULL with err. */
json_t *session_unread(struct gb_job *job, enum manifest_reader reader, struct gb_err *err);

/* The reader agreed to it. False: the session's files are not what was shown any more. */
bool session_agree(struct gb_job *job, enum manifest_reader reader);

/* What was typed into its terminal since the last command began, without the end of a line. */
const char *session_typed(const struct gb_job *job, size_t *ret_len);

/* Add to an order what makes it a run in the session. -1 with err. */
int session_order(struct gb_job *job, struct run_order *order, struct gb_err *err) gb_nodiscard;

/* What its workspace held after the last cell whose files were looked at: taken out, is there any,
 * put in. */
struct walk *session_take_seen(struct gb_job *job);
bool session_has_seen(const struct gb_job *job);
void session_see(struct gb_job *job, struct walk *seen);

/* A run in it has ended: what the result says about the session. */
void session_collect(struct gb_job *job, const struct run_outcome *o);

/* Serve a request of the kind "session" that needs no run. */
void session_serve(struct gb_job *job);

/* Add what the engine knows to the answer of one that did. */
void session_answer(struct gb_job *job, const struct run_outcome *o);

/* Forget all of them; their places are gone. */
void sessions_free(struct gb_engine *engine);
