#pragma once
/*
 * A conversation with one session, on a terminal or from a pipe: requests one after another, what
 * they print as it comes, the questions that they raise, and Ctrl-C: the first interrupts what
 * runs, the second kills it.
 */
#include <jansson.h>
#include <stdbool.h>

#include "cli/ask.h"
#include "cli/report.h"
#include "cli/shown.h"
#include "cli/streams.h"
#include "glovebox.h"

struct converse {
    struct gb_engine *engine;
    struct asker asker;
    struct report report;
    struct shown shown;
    struct streams streams;
    int lost;       /* the exit status for output that could not be written, or 0 */
    bool is_silent; /* nothing is printed as it comes: the result has it */
    const char *
        echo; /* a line that was typed here, which a terminal in the box shows once more; or NULL */
    /* of the request under way */
    struct gb_job *job;
    char *result;
    bool is_done;
};

/* How often it was interrupted since somebody has set it to 0. */
extern volatile int converse_interrupts;

/* From here on Ctrl-C interrupts; until converse_end(). `is_raw`: a terminal gets all that programs
 * print. */
void converse_begin(struct converse *c, struct gb_engine *engine, bool is_raw);
void converse_end(struct converse *c);

/* Serve a request. The result, which the caller drops; NULL when memory ran out, which was told.
 * Its text stays in c->result until the next. */
json_t *converse_serve(struct converse *c, const json_t *request);

/* Say what happened to the session, unless it is as one would think. */
void converse_tell_state(const json_t *result);

/* Where the history of this name is kept: the caller frees it; NULL: nowhere. */
char *converse_history(const char *name);
