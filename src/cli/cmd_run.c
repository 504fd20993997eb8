/*
 * `glovebox run`: one program, one box, one result.
 *
 * The order is for speed: everything that can be refused is refused first, then the engine is
 * made, which starts its interpreter in the background, and only then is the program read.
 * Without --json the guest's output goes out from inside the loop, as it comes.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/servers.h"
#include "cli/settings.h"
#include "cli/shown.h"
#include "cli/signals.h"
#include "cli/streams.h"
#include "cli/tools.h"
#include "engine/loop.h"
#include "glovebox.h"

struct run {
    const struct args *args;
    struct gb_job *job; /* the engine's, until is_done */
    char *result;
    int write_error; /* -errno of standard output, or 0 */
    const char *out; /* where files are written to, or NULL */
    bool is_done;
    struct report report;
    struct asker asker;
    struct shown shown;
    struct streams streams;
};

static void on_output(void *data, struct gb_job *job, enum gb_stream stream, const char *bytes,
                      size_t len)
{
    struct run *run = data;

    if (stream == GB_STDERR) {
        /* Nobody may be reading messages; that is no reason to stop the program. */
        (void)!streams_write(&run->streams, STDERR_FILENO, bytes, len);
        if (len > 0)
            run->report.is_line_open = bytes[len - 1] != '\n';
        return;
    }
    if (run->write_error != 0)
        return;
    run->write_error = streams_write(&run->streams, STDOUT_FILENO, bytes, len);
    if (run->write_error < 0)
        gb_cancel(job);
}

/* Text goes where the program's output goes; of a picture only where it went is said. */
static void on_display(void *data, struct gb_job *job, const char *forms)
{
    struct run *run = data;
    struct shown_as as = shown_take(&run->shown, forms);

    if (as.text)
        on_output(data, job, GB_STDOUT, as.text, as.len);
    if (as.file) {
        if (run->report.is_line_open)
            (void)!write_all(STDERR_FILENO, "\n", 1);
        run->report.is_line_open = false;
        message("%s written to %s", as.what, as.file);
    }
    free(as.text);
    free(as.file);
}

static void on_done(void *data, struct gb_job *job, const char *result)
{
    struct run *run = data;

    ask_forget(&run->asker, job);
    run->result = strdup(result);
    run->is_done = true;
}

static void on_approve(void *data, struct gb_job *job, const char *question)
{
    struct run *run = data;

    ask_add(&run->asker, job, question, 0);
}

/* Run the request to its end, or to the end that a signal asks for. */
static void drive(struct run *run, struct gb_engine *engine, const char *request)
{
    struct gb_callbacks callbacks = { .size = sizeof(callbacks),
                                      .data = run,
                                      .output = run->args->want_json ? NULL : on_output,
                                      .done = on_done,
                                      .approve = on_approve,
                                      .display = run->args->want_json ? NULL : on_display };
    bool is_cancelled = false;

    run->job = gb_start(engine, request, &callbacks);
    while (run->job && !run->is_done) {
        ask_look(&run->asker);
        if (signals_caught() != 0 && !is_cancelled) {
            gb_cancel(run->job);
            is_cancelled = true;
        }
        (void)gb_step(engine, ask_step_ms(&run->asker));
    }
}

/* One line of JSON on standard output. A result that a signal cut short carries our status. */
static int print_json(const struct run *run, json_t *result, int status)
{
    struct text t;

    if (text_open(&t) < 0)
        return CLI_FAILED;
    if (status != report_exit_code(result)) {
        (void)json_object_set_new(result, "exit_code", json_integer(status));
        (void)json_dumpf(result, t.stream, JSON_COMPACT);
    } else {
        fputs(run->result, t.stream);
    }
    fputc('\n', t.stream);
    return text_finish(&t, status);
}

static int conclude(const struct run *run)
{
    int status = CLI_FAILED;
    int sig = signals_caught();
    struct report report = run->report;
    json_auto_t *result = report_parse(run->result, run->args->want_json, &status);

    if (!result)
        return status;
    if (run->write_error != 0)
        return write_failed(run->write_error);

    /* A guest that ended before the signal reached it keeps its own status. */
    const char *word = json_string_value(json_object_get(result, "status"));
    status = report_exit_code(result);
    if (sig != 0 && word && strcmp(word, "cancelled") == 0)
        status = CLI_SIGNAL + sig;

    if (run->args->want_json)
        return print_json(run, result, status);
    report.are_warnings_known = run->asker.has_asked;
    report_result(result, &report);
    if (run->out)
        report_unwritten(result, run->out, &run->report);
    return status;
}

static int explain(const struct run *run, struct gb_engine *engine, const char *request)
{
    auto_free char *text = gb_explain(engine, request);
    int status = CLI_FAILED;
    json_auto_t *plan = report_parse(text, false, &status);
    const char *word = json_string_value(json_object_get(plan, "status"));
    struct text t;

    if (!plan)
        return status;
    if (word && strcmp(word, "failed") == 0) {
        report_result(plan, &run->report);
        return report_exit_code(plan);
    }
    if (text_open(&t) < 0)
        return CLI_FAILED;
    (void)json_dumpf(plan, t.stream, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    fputc('\n', t.stream);
    return text_finish(&t, CLI_OK);
}

static int run_with_engine(struct run *run, struct request *request, struct gb_engine *engine)
{
    auto_free char *text = NULL;
    struct gb_err err;

    if (cli_request_read(request, run->args, &text, &err) < 0) {
        if (signals_caught() != 0)
            return CLI_SIGNAL + signals_caught();
        return cli_refuse(run->args->command, &err);
    }
    if (run->args->want_explain)
        return explain(run, engine, text);
    run->report.request = text;
    drive(run, engine, text);
    return conclude(run);
}

/* The result is out, everything in the box is killed, and what is left dies with us: nobody needs
 * to wait until the kernel has taken it apart. Where leaks are looked for, go the long way. */
static void leave(int status)
{
#ifndef __SANITIZE_ADDRESS__
    if (fflush(NULL) == 0)
        _exit(status);
#else
    (void)status;
#endif
}

int run_once(const struct args *args)
{
    auto_request struct request request = REQUEST_EMPTY;
    json_auto_t *config = NULL;
    json_auto_t *error = NULL;
    auto_engine struct gb_engine *engine = NULL;
    auto_downstream struct downstream *servers = NULL;
    struct run run = { .args = args, .asker = ASKER_EMPTY };
    struct gb_err err;

    if (request_open(args, &request, &err) < 0 || settings_load(args, &config, &err) < 0)
        return cli_refuse(args->command, &err);
    run.report.filename = request.filename;
    streams_open(&run.streams, args->want_raw || json_is_true(json_object_get(config, "raw")));
    run.out = json_string_value(json_object_get(config, "out"));

    /* One box, made for this program: nothing to refill, nothing to import that it does not. */
    if (json_object_set_new(config, "oneshot", json_true()) < 0)
        return report_refused(NULL, args->want_json);
    if (engine_open(args, config, &engine, &error) < 0)
        return report_refused(error, args->want_json);
    if (downstream_open(config, engine, &servers, &err) < 0)
        return report_err(&err, args->want_json);

    int status = run_with_engine(&run, &request, engine);
    downstream_closep(&servers);
    free(run.result);
    ask_done(&run.asker);
    shown_done(&run.shown);
    streams_close(&run.streams);
    if (!engine_must_be_freed(engine))
        leave(status);
    return status;
}

static const struct option_spec program[] = {
    { 'c', "code", OPT_TEXT_ONCE, offsetof(struct args, code), "CODE", "run CODE instead of a file",
      NULL },
    { 0, "input", OPT_BINDING, offsetof(struct args, inputs), "NAME=JSON",
      "bind a variable before the program starts; repeatable", NULL },
    { 0, "file", OPT_STRINGS, offsetof(struct args, files), "PATH[:NAME]",
      "copy the file PATH into the workspace, as NAME; repeatable", NULL },
    { 'o', "out", OPT_KEY_TEXT, offsetof(struct args, config), "DIR",
      "write the files that the program made or changed in its workspace to DIR", "not written" },
    { 0, "stdin", OPT_TEXT, offsetof(struct args, stdin_path), "FILE|-",
      "what the program reads as standard input", "nothing" },
    { 0, "prelude", OPT_TEXT, offsetof(struct args, prelude_path), "FILE",
      "your own code, run first in the same namespace", NULL },
    { 'j', "json", OPT_FLAG, offsetof(struct args, want_json), NULL,
      "print one result object and nothing else", NULL },
    { 0, "raw", OPT_FLAG, offsetof(struct args, want_raw), NULL,
      "pass all that the program prints to a terminal: titles, modes and queries, too", NULL },
    { 0, "explain", OPT_FLAG, offsetof(struct args, want_explain), NULL,
      "print the resolved plan, run nothing", NULL },
};
static const struct option_group program_options = { "Program", program, ARRAY_LEN(program) };

static const struct option_group *const groups[] = { &program_options,
                                                     &mount_options,
                                                     &capture_options,
                                                     &tool_options,
                                                     &spill_options,
                                                     &limit_options,
                                                     &policy_options,
                                                     &consent_options,
                                                     &box_options,
                                                     &audit_options,
                                                     &config_options,
                                                     &general_options,
                                                     NULL };

static void run_advise(const struct args *args, struct gb_err *err)
{
    if (args->operands.count > 0 && !strstr(err->msg, "did you mean"))
        gb_err_hint(err, "what is meant for the program goes after '--'");
}

const struct command cmd_run = {
    .name = "run",
    .operands = "[OPTIONS] [FILE|-] [-- ARG...]",
    .summary = "run Python once, in a fresh box",
    .description =
        "Runs FILE, the CODE of --code, or standard input, in a box of its own that is gone "
        "afterwards. What the program prints appears as it comes, and its exit status becomes "
        "that of glovebox. The words after '--' are the program's arguments.",
    .groups = groups,
    .run = run_once,
    .advise = run_advise,
};
