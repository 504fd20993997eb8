/*
 * `glovebox batch`: one request a line in, one result a line out, in the same order.
 *
 * How this works: a window of slots, one for each line between the oldest whose result is not
 * written and the newest that was started. At most `jobs` of them run, the others hold results
 * that wait for an older one; a full window holds back new lines, so memory stays bounded
 * however slow one line is. Lines are read by a thread (lines.h), all else happens here.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/lines.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/servers.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "cli/tools.h"
#include "glovebox.h"

#define WINDOW_FACTOR 4
#define TICK_MS       250 /* how often a shown progress bar moves by itself */

struct slot {
    struct batch *batch;
    struct gb_job *job; /* the engine's, until there is a result */
    char *result;       /* with its newline */
    uint64_t line;      /* its number in the input */
    uint64_t end_offset;
};

struct batch {
    struct gb_engine *engine;
    struct slot *slots;
    size_t window;
    uint64_t started; /* lines that have, or had, a slot */
    uint64_t written; /* results that are out */
    int running;
    int jobs;
    bool is_ended; /* no more lines will be started */
    bool is_out_of_memory;
    int write_error;   /* -errno of standard output, or 0 */
    struct gb_err err; /* why the lines could not be read; code GB_OK: they could */
    struct progress progress;
    struct asker asker;
};

static struct slot *slot_at(const struct batch *b, uint64_t sequence)
{
    return &b->slots[sequence % b->window];
}

static void slot_answer(struct slot *slot, const char *result)
{
    size_t len = strlen(result);

    slot->job = NULL;
    slot->result = malloc(len + 2);
    if (!slot->result) {
        slot->batch->is_out_of_memory = true;
        return;
    }
    memcpy(slot->result, result, len);
    memcpy(slot->result + len, "\n", 2);
}

static void on_done(void *data, struct gb_job *job, const char *result)
{
    struct slot *slot = data;

    ask_forget(&slot->batch->asker, job);
    slot->batch->running--;
    slot_answer(slot, result);
}

static void on_approve(void *data, struct gb_job *job, const char *question)
{
    struct slot *slot = data;

    ask_add(&slot->batch->asker, job, question, slot->line);
}

static void before_asking(void *data)
{
    progress_hide(data);
}

/* The answer to a line that cannot even be handed to the engine. */
static void slot_refuse(struct slot *slot, const struct line *line)
{
    json_auto_t *answer = json_pack("{s:n}", "id");
    json_auto_t *error = json_pack("{s:s, s:s, s:n}", "type", gb_code_name(GB_E_INVALID), "message",
                                   line->problem, "hint");
    json_auto_t *failed = report_failed(error);
    auto_free char *text = NULL;

    if (json_object_update(answer, failed) == 0)
        text = json_dumps(answer, JSON_COMPACT);
    if (text)
        slot_answer(slot, text);
    else
        slot->batch->is_out_of_memory = true;
}

static void start_line(struct batch *b, struct line *line)
{
    auto_free char *text = line->text;
    struct slot *slot = slot_at(b, b->started);
    struct gb_callbacks callbacks = {
        .size = sizeof(callbacks), .data = slot, .done = on_done, .approve = on_approve
    };

    *slot = (struct slot){ .batch = b, .line = line->number, .end_offset = line->end_offset };
    b->started++;
    if (!text) {
        slot_refuse(slot, line);
        return;
    }
    slot->job = gb_start(b->engine, text, &callbacks);
    if (slot->job)
        b->running++;
    else
        b->is_out_of_memory = true;
}

static void start_lines(struct batch *b, struct lines *lines)
{
    while (!b->is_ended && b->running < b->jobs && b->started - b->written < b->window) {
        struct line line = { 0 };
        enum lines_state state = lines_next(lines, &line, &b->err);

        if (state == LINES_WAIT)
            return;
        if (state == LINES_ONE)
            start_line(b, &line);
        b->is_ended = b->is_ended || state != LINES_ONE || b->is_out_of_memory;
    }
}

/* Write what is ready and next in order. Returns whether there was any. */
static bool write_results(struct batch *b)
{
    uint64_t before = b->written;

    while (b->written < b->started && slot_at(b, b->written)->result) {
        struct slot *slot = slot_at(b, b->written);

        if (b->write_error == 0) {
            progress_hide(&b->progress);
            b->write_error = write_all(STDOUT_FILENO, slot->result, strlen(slot->result));
            progress_count(&b->progress, slot->result, slot->end_offset);
        }
        free(take_ptr(slot->result));
        b->written++;
    }
    return b->written > before;
}

/* End what runs; every line that was started still gets its result. */
static void cancel_all(struct batch *b)
{
    b->is_ended = true;
    for (uint64_t i = b->written; i < b->started; i++) {
        if (slot_at(b, i)->job)
            gb_cancel(slot_at(b, i)->job);
    }
}

static bool must_stop(const struct batch *b)
{
    return signals_caught() != 0 || b->write_error != 0 || b->is_out_of_memory;
}

static void drive(struct batch *b, struct lines *lines)
{
    bool is_cancelled = false;

    for (;;) {
        /* Written results make room in the window, so look for lines again before waiting. */
        do
            start_lines(b, lines);
        while (write_results(b));

        ask_look(&b->asker);
        if (must_stop(b) && !is_cancelled) {
            cancel_all(b);
            is_cancelled = true;
        }
        if (b->is_ended && b->running == 0)
            break;
        if (b->asker.first) { /* the terminal is the question's */
            (void)gb_step(b->engine, ask_step_ms(&b->asker));
            continue;
        }
        progress_draw(&b->progress);
        (void)gb_step(b->engine, b->progress.is_on ? TICK_MS : -1);
    }
    (void)write_results(b);
    progress_done(&b->progress);
}

static int conclude(const struct batch *b)
{
    if (signals_caught() != 0)
        return CLI_SIGNAL + signals_caught();
    if (b->write_error != 0)
        return write_failed(b->write_error);
    if (b->is_out_of_memory)
        return report_refused(NULL, false);
    if (b->err.code != GB_OK) {
        message_err(&b->err);
        return CLI_FAILED;
    }
    return CLI_OK;
}

static int batch_input(const struct args *args, struct gb_err *err)
{
    const struct operands *given = &args->operands;

    if (given->count == 0)
        return gb_fail(err, GB_E_INVALID, 0,
                       "no requests: give a FILE.jsonl, or '-' for standard input");
    if (given->count > 1 || given->rest[0])
        return gb_fail(err, GB_E_INVALID, 0, "unexpected argument '%.80s'",
                       given->count > 1 ? given->words[1] : given->rest[0]);
    return open_input(given->words[0], err);
}

static int batch_run(struct batch *b, int fd, const struct args *args)
{
    auto_lines struct lines *lines = NULL;

    b->jobs = args->jobs > 0 ? args->jobs : default_jobs();
    b->window = (size_t)b->jobs * WINDOW_FACTOR;
    b->slots = calloc(b->window, sizeof(*b->slots));
    if (!b->slots)
        return report_refused(NULL, false);
    if (lines_open(fd, (size_t)b->jobs, b->engine, &lines, &b->err) < 0) {
        message_err(&b->err);
        return CLI_FAILED;
    }
    progress_init(&b->progress, fd, args->is_quiet);
    drive(b, lines);
    return conclude(b);
}

static int batch_main(const struct args *args)
{
    struct batch batch = { .asker = ASKER_EMPTY };
    json_auto_t *config = NULL;
    json_auto_t *error = NULL;
    auto_close int fd = -1;
    auto_engine struct gb_engine *engine = NULL;
    auto_downstream struct downstream *servers = NULL;
    struct gb_err err;

    fd = batch_input(args, &err);
    if (fd < 0 || settings_load(args, &config, &err) < 0)
        return cli_refuse(args->command, &err);
    /* As many as we start may be for one session, and wait for each other. */
    if (args->jobs > 0 && !json_object_get(config, "session_queue") &&
        json_object_set_new(config, "session_queue", json_integer(args->jobs)) < 0)
        return report_refused(NULL, false);
    if (engine_open(args, config, &engine, &error) < 0)
        return report_refused(error, false);
    if (downstream_open(config, engine, &servers, &err) < 0)
        return report_err(&err, false);

    batch.engine = engine;
    batch.asker.before = before_asking;
    batch.asker.data = &batch.progress;
    int status = batch_run(&batch, fd, args);
    free(batch.slots);
    ask_done(&batch.asker);
    return status;
}

static const struct option_spec batch_specs[] = {
    { 'j', "jobs", OPT_COUNT, offsetof(struct args, jobs), "N", "how many to run at once",
      "one a processor" },
    { 0, "pool", OPT_KEY_COUNT, offsetof(struct args, config), "N", "how many boxes to keep ready",
      NULL },
    { 'q', "quiet", OPT_FLAG, offsetof(struct args, is_quiet), NULL,
      "no progress bar on the terminal", NULL },
};
static const struct option_group batch_options = { "Batch", batch_specs, ARRAY_LEN(batch_specs) };

static const struct option_group *const groups[] = {
    &batch_options,        &mount_options, &capture_options, &tool_options,    &shell_options,
    &command_rule_options, &spill_options, &limit_options,   &policy_options,  &consent_options,
    &box_options,          &audit_options, &config_options,  &general_options, NULL
};

const struct command cmd_batch = {
    .name = "batch",
    .operands = "[OPTIONS] FILE.jsonl|-",
    .summary = "run many requests, one JSON object a line",
    .description =
        "Reads one request a line and writes one result a line, in the order of the input, each "
        "with the id of its request. A line that is no request is answered with a result of "
        "status failed, and the others go on. Exits with 0 when every line was answered.",
    .groups = groups,
    .run = batch_main,
};
