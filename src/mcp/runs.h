#pragma once
/*
 * Requests of the engine that wait for their turn: so many run at once, the others in the order in
 * which they came. For every face that serves several callers.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "glovebox.h"

struct runs;
struct run_turn;

/* What a run tells about itself. Members may be NULL, but for `done`. */
struct runs_events {
    void (*done)(void *data,
                 json_t *result); /* once, last; the result is the callee's. NULL: no memory */
    void (*output)(void *data, enum gb_stream stream, const char *bytes, size_t len);
    /* Shall it run? Answer with run_approve(). While it waits, another may have its turn. */
    void (*approve)(void *data, const json_t *question);
};

/* NULL when memory ran out. */
struct runs *runs_new(struct gb_engine *engine, unsigned at_once);

/* Cancel all; nobody is told. The engine may be freed before or after. Accepts NULL. */
struct runs *runs_free(struct runs *runs);

/* Queue a request. `request` is taken. NULL when memory ran out; `done` is not called then, nor
 * ever from inside. */
struct run_turn *runs_add(struct runs *runs, json_t *request, const struct runs_events *events,
                          void *data);

/* End it; nobody is told any more. */
void run_drop(struct run_turn *t);

/* As gb_approve(). */
void run_approve(struct run_turn *t, int yes, const char *reason);

/* Tell of every result before its `done` is called; NULL: of none. */
void runs_observe(struct runs *runs, void (*seen)(void *data, const json_t *result), void *data);

/* Take out of every result what is not for callers, after it was observed. */
void runs_censor(struct runs *runs, void (*censor)(json_t *result));

/* How many run, and how many wait for their turn. */
size_t runs_running(const struct runs *runs);
size_t runs_waiting(const struct runs *runs);
