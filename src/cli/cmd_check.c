/*
 * `glovebox check`: what the check would say, and nothing runs.
 *
 * How this works: the files go through one engine, a few at once, and what was found is printed in
 * their order. A file whose turn has not come to be printed holds its text and its result, so only
 * so many are started ahead.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "cli/cli.h"
#include "cli/findings.h"
#include "cli/io.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "cli/tools.h"
#include "glovebox.h"

#define WINDOW_FACTOR 4

/* One file, or the code of --code. */
struct item {
    struct check *check;
    const char *path; /* NULL: --code */
    struct gb_buf text;
    struct gb_job *job; /* the engine's, until there is a result */
    char *result;
};

struct check {
    const struct args *args;
    struct gb_engine *engine;
    json_t *prelude; /* or NULL */
    struct item *items;
    size_t count;
    size_t started;
    size_t printed;
    size_t running;
    size_t jobs;
    bool is_colored;
    int write_error; /* -errno of standard output, or 0 */
    struct {
        size_t rejected, failed, errors, warnings;
    } seen;
};

/* ---- asking the engine ---- */

static bool is_stdin(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static const char *item_name(const struct item *item)
{
    if (!item->path)
        return "main.py";
    return is_stdin(item->path) ? "stdin.py" : item->path;
}

/* The answer for a file that cannot even be read. */
static char *failed_text(const struct item *item, const struct gb_err *err)
{
    json_auto_t *error = json_pack("{s:s,s:s,s:s}", "type", gb_code_name(err->code), "message",
                                   err->msg, "hint", err->hint);
    json_auto_t *result = json_object();
    json_auto_t *failed = report_failed(error);

    if (item->path && json_object_set_new(result, "id", json_lossy(item->path)) < 0)
        return NULL;
    return failed && json_object_update(result, failed) == 0 ? json_dumps(result, JSON_COMPACT)
                                                             : NULL;
}

static void on_done(void *data, struct gb_job *job, const char *result)
{
    struct item *item = data;

    (void)job;
    item->job = NULL;
    item->result = strdup(result);
    item->check->running--;
}

static void start_item(struct check *c, struct item *item)
{
    struct gb_callbacks callbacks = { .size = sizeof(callbacks), .data = item, .done = on_done };
    auto_free char *request = NULL;
    struct gb_err err = { .code = GB_E_SYSTEM, .msg = "out of memory" };
    int rc = item->path ? request_check(item->path, c->prelude, &item->text, &request, &err)
                        : request_check_code(c->args->code, c->prelude, &request, &err);

    if (rc == 0)
        item->job = gb_start(c->engine, request, &callbacks);
    if (item->job)
        c->running++;
    else
        item->result = failed_text(item, &err);
}

/* ---- telling ---- */

static void count(struct check *c, const json_t *result)
{
    const json_t *findings = json_object_get(result, "findings");
    int status = report_exit_code(result);

    c->seen.rejected += status == CLI_REJECTED;
    c->seen.failed += status != CLI_REJECTED && status != CLI_OK;
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const char *severity =
            json_string_value(json_object_get(json_array_get(findings, i), "severity"));
        bool is_warning = severity && strcmp(severity, "warning") == 0;

        c->seen.warnings += is_warning;
        c->seen.errors += !is_warning;
    }
}

static void print_failure(const struct item *item, const json_t *result)
{
    const json_t *error = json_object_get(result, "error");
    const char *text = json_string_value(json_object_get(error, "message"));
    const char *hint = json_string_value(json_object_get(error, "hint"));

    if (text && strstr(text, item_name(item))) /* it says already which */
        message("%s", text);
    else
        message("%s: %s", item_name(item), text ? text : "out of memory");
    if (hint && *hint)
        message("hint: %s", hint);
}

static void print_item(struct check *c, const struct item *item)
{
    json_auto_t *result = item->result ? json_loads(item->result, JSON_ALLOW_NUL, NULL) : NULL;
    const char *code = item->path ? item->text.data : c->args->code;
    struct source source = { .name = item_name(item),
                             .code = code,
                             .len = item->path ? item->text.len : strlen(code),
                             .is_colored = c->is_colored };
    struct text t;

    count(c, result);
    if (c->write_error != 0 || text_open(&t) < 0)
        return;
    if (c->args->want_json && item->result)
        fprintf(t.stream, "%s\n", item->result);
    else if (!c->args->want_json)
        findings_print(t.stream, json_object_get(result, "findings"), &source);
    c->write_error = text_send(&t, STDOUT_FILENO);
    if (!c->args->want_json && report_exit_code(result) == CLI_FAILED)
        print_failure(item, result);
}

static void print_ready(struct check *c)
{
    while (c->printed < c->started && !c->items[c->printed].job) {
        struct item *item = &c->items[c->printed++];

        print_item(c, item);
        gb_buf_done(&item->text);
        free(take_ptr(item->result));
    }
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static int print_summary(const struct check *c, int status)
{
    struct text t;

    if (text_open(&t) < 0)
        return CLI_FAILED;
    fprintf(t.stream, "%zu checked", c->count - c->seen.failed);
    if (c->seen.failed > 0)
        fprintf(t.stream, ", %zu could not be", c->seen.failed);
    fprintf(t.stream, ", %zu rejected: %zu error%s, %zu warning%s\n", c->seen.rejected,
            c->seen.errors, plural(c->seen.errors), c->seen.warnings, plural(c->seen.warnings));
    return text_finish(&t, status);
}

/* ---- the whole ---- */

static void start_some(struct check *c)
{
    while (c->started < c->count && c->running < c->jobs &&
           c->started - c->printed < c->jobs * WINDOW_FACTOR)
        start_item(c, &c->items[c->started++]);
}

static void cancel_all(struct check *c)
{
    c->count = c->started;
    for (size_t i = c->printed; i < c->started; i++)
        if (c->items[i].job)
            gb_cancel(c->items[i].job);
}

static int drive(struct check *c)
{
    bool is_cancelled = false;
    int status = CLI_OK;

    while (c->printed < c->count) {
        start_some(c);
        print_ready(c);
        if ((signals_caught() != 0 || c->write_error != 0) && !is_cancelled) {
            cancel_all(c);
            is_cancelled = true;
        }
        if (c->running > 0 && c->items[c->printed].job)
            (void)gb_step(c->engine, -1);
    }
    if (signals_caught() != 0)
        return CLI_SIGNAL + signals_caught();
    if (c->write_error != 0)
        return write_failed(c->write_error);
    if (c->seen.failed > 0)
        status = CLI_FAILED;
    else if (c->seen.rejected > 0)
        status = CLI_REJECTED;
    return c->args->want_json ? status : print_summary(c, status);
}

static int make_items(struct check *c, size_t n_rest, struct gb_err *err)
{
    const struct operands *given = &c->args->operands;
    size_t n_stdin = is_stdin(c->args->prelude_path);

    c->count = given->count + n_rest > 0 ? given->count + n_rest : 1;
    c->items = calloc(c->count + 1, sizeof(*c->items));
    if (!c->items)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the command line");
    for (size_t i = 0; i < c->count; i++) {
        struct item *item = &c->items[i];

        item->check = c;
        gb_buf_init(&item->text, REQUEST_BYTES_MAX);
        if (i < given->count)
            item->path = given->words[i];
        else if (i < given->count + n_rest)
            item->path = given->rest[i - given->count];
        else
            item->path = c->args->code ? NULL : "-";
        n_stdin += is_stdin(item->path);
    }
    if (n_stdin > 1)
        return gb_fail(err, GB_E_INVALID, 0, "standard input can be read only once");
    return 0;
}

/* Which files? Those that are named; or standard input, when it is not a terminal. */
static int choose_files(struct check *c, struct gb_err *err)
{
    const struct operands *given = &c->args->operands;
    const char *first = given->count > 0 ? given->words[0] : given->rest[0];
    size_t n_rest = 0;

    while (given->rest[n_rest])
        n_rest++;
    if (c->args->code && first)
        return gb_fail(err, GB_E_INVALID, 0, "both --code and the file '%.80s'", first);
    if (!c->args->code && !first && isatty(STDIN_FILENO))
        return gb_fail(err, GB_E_INVALID, 0,
                       "no code: give a FILE, --code CODE, or '-' for standard input");
    return make_items(c, n_rest, err);
}

/* Nobody is to review, so nobody need be able to. */
static void drop_review(json_t *config)
{
    static const char *const keys[] = { "review", "review_ca", "review_key", "review_model" };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        (void)json_object_del(config, keys[i]);
}

static int open_all(struct check *c, json_t **ret_config, struct gb_err *err)
{
    if (choose_files(c, err) < 0 || settings_load(c->args, ret_config, err) < 0)
        return -1;
    drop_review(*ret_config);
    if (c->args->prelude_path) {
        c->prelude = request_text_of(c->args->prelude_path, err);
        if (!c->prelude)
            return -1;
    }
    /* One box, made for this file. */
    if (c->count == 1 && json_object_set_new(*ret_config, "oneshot", json_true()) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");
    return 0;
}

static int check_main(const struct args *args)
{
    struct check c = { .args = args,
                       .jobs = (size_t)default_jobs(),
                       .is_colored = !args->want_json && wants_color(STDOUT_FILENO) };
    json_auto_t *config = NULL;
    json_auto_t *error = NULL;
    struct gb_engine *engine = NULL;
    struct gb_err err;
    int status;

    if (open_all(&c, &config, &err) < 0) {
        status = cli_refuse(args->command, &err);
    } else if (engine_open(args, config, &engine, &error) < 0) {
        status = report_refused(error, args->want_json);
    } else {
        c.engine = engine;
        status = drive(&c);
        engine_closep(&engine);
    }
    for (size_t i = 0; c.items && i < c.count; i++) {
        gb_buf_done(&c.items[i].text);
        free(c.items[i].result);
    }
    free(c.items);
    json_decref(c.prelude);
    return status;
}

static const struct option_spec code[] = {
    { 'c', "code", OPT_TEXT_ONCE, offsetof(struct args, code), "CODE",
      "check CODE instead of files", NULL },
    { 0, "prelude", OPT_TEXT, offsetof(struct args, prelude_path), "FILE",
      "your own code, that would run first in the same namespace", NULL },
    { 'j', "json", OPT_FLAG, offsetof(struct args, want_json), NULL,
      "print one result object for each file, with its name as id, and nothing else", NULL },
};
static const struct option_group code_options = { "Code", code, ARRAY_LEN(code) };

static const struct option_group *const groups[] = {
    &code_options,    &tool_options,   &policy_options,
    &check_options,   &audit_options,  &config_options,
    &general_options, &unused_options, NULL
};

const struct command cmd_check = {
    .name = "check",
    .operands = "[OPTIONS] [FILE...|-]",
    .summary = "say what is wrong with code, and run nothing",
    .description =
        "Looks at each FILE, the CODE of --code, or standard input, as 'run' would before it "
        "starts: whether it parses, whether the policy allows it, how dangerous it looks. Nothing "
        "runs, nobody is asked, and no model reviews it; options of 'run' that are about that are "
        "taken and do nothing. Exits with 0 when everything is accepted, with 126 when something "
        "is rejected, and "
        "with 125 when a file could not be checked, which keeps no other from it.",
    .groups = groups,
    .run = check_main,
};
