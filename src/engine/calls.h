#pragma once
/*
 * Calls that programs make of tools. A call is taken from its program, checked, handed to whoever
 * answers (a callback of the embedding program's, or a command), and its answer sent back. It is
 * over when it was answered, when the program gave it up, when the tool took too long, or when the
 * run ended; whoever answers later is not heard.
 */
#include <event2/event.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "engine/lanes.h"
#include "engine/loop.h"

struct command;
struct gb_call;
struct gb_engine;
struct gb_job;

enum {
    CALLS_BUCKETS = 64
};

/* Those of a job. */
struct calls {
    struct gb_call *open[CALLS_BUCKETS]; /* by their numbers */
    size_t n_open;
    size_t open_bytes; /* of their arguments */
    uint64_t last_id;
    uint64_t total, failed; /* how many there were */
    struct lane *lane;      /* in which those with a command wait; NULL before the first */
};

/* Those of an engine. */
struct calls_host {
    struct gb_call *late;     /* over, but the embedding program has not answered them yet */
    struct command *commands; /* that run, or are being killed */
    struct lanes lanes;       /* whose command begins next */
    struct tool_host host;
};

/* A word of the program's (struct run_events). */
const char *calls_word(struct gb_job *job, const struct run_word *word);

/* The job is over, and so are all its calls. */
void calls_end(struct gb_job *job);

/* The engine is freed. */
void calls_close(struct gb_engine *engine);

/* What the embedding program answers, as gb_tool_result() and gb_tool_error() have it. */
int calls_answer(struct gb_call *call, const char *result);
int calls_answer_blocks(struct gb_call *call, const char *result); /* engine_tool_blocks() */
int calls_refuse(struct gb_call *call, const char *type, const char *message);
