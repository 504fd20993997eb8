#pragma once
/* The result: one shape, whatever happened. */
#include "engine/job.h"

/* An empty result with every key of the contract in its order. */
json_t *result_new(const json_t *id);

/* Set these keys too. Takes `more`. */
void result_update(json_t *result, json_t *more);

/* Glovebox could not run it. */
void result_failed(struct gb_job *job, const struct gb_err *err);

/* It was refused before it ran: one finding. Takes `finding`. */
void result_rejected(struct gb_job *job, json_t *finding);

/* It ran, and this is what became of it. */
void result_collect(struct gb_job *job, const struct run_outcome *o);
