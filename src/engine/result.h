#pragma once
/* The result: one shape, whatever happened. */
#include "engine/job.h"

/* An empty result with every key of the contract in its order. */
json_t *result_new(const json_t *id);

/* Set these keys too. Takes `more`. */
void result_update(json_t *result, json_t *more);

/* Glovebox could not run it. */
void result_failed(struct gb_job *job, const struct gb_err *err);

/* What the check found in it, bounded and with nothing unexpected in it. */
void result_found(struct gb_job *job, const json_t *findings, json_int_t risk);

/* Where it runs. */
void result_where(struct gb_job *job, enum plan_level level, uint32_t layers);

/* A result of nothing but that failure, as text: for what is no run. The caller frees it. */
char *result_failed_text(const struct gb_err *err);

/* It was refused before it ran: one more finding, an error that has no place in the code. */
void result_rejected(struct gb_job *job, const char *rule, const char *message, const char *remedy);

/* The last of its files was collected, now. */
void result_collected(struct gb_job *job);
/* The caller does not want it any more. */
void result_cancelled(struct gb_job *job);

/* The same about a line of it, counted from 1; 0: about none. */
void result_rejected_at(struct gb_job *job, const char *rule, const char *message, size_t line,
                        const char *remedy);

/* It ran, and this is what became of it. */
void result_collect(struct gb_job *job, const struct run_outcome *o);
