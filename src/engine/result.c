/*
 * From what the kernel and the guest said to a result. What the guest said (its answer) is taken
 * only in the places where it cannot lie about anything but itself: value and error. How it ended
 * is the kernel's word. That a limit was hit is believed of a program that failed: it only ever
 * makes the guest's own result worse.
 */
#include "engine/result.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "python/protocol.h"
#include "sandbox/explain.h"

enum {
    EXIT_TIMEOUT = 124,
    EXIT_FAILED = 125,
    EXIT_REJECTED = 126,
    EXIT_CANCELLED = 130,
    EXIT_SIGNAL = 128,
    EXIT_LIMIT = 137,
    RISK_MAX = 1000000,
};

void result_update(json_t *result, json_t *more)
{
    json_object_update(result, more);
    json_decref(more);
}

json_t *result_new(const json_t *id)
{
    json_t *r = json_object();

    if (id)
        json_object_set_new(r, "id", json_deep_copy(id));
    result_update(r, json_pack("{s:s,s:i,s:s,s:s,s:b,s:b,s:i,s:i}", "status", "failed", "exit_code",
                               EXIT_FAILED, "stdout", "", "stderr", "", "stdout_truncated", 0,
                               "stderr_truncated", 0, "stdout_bytes", 0, "stderr_bytes", 0));
    return r;
}

static void set(struct gb_job *job, const char *key, json_t *value)
{
    json_object_set_new(job->result, key, value);
}

static void set_status(struct gb_job *job, const char *status, int exit_code)
{
    set(job, "status", json_string(status));
    set(job, "exit_code", json_integer(exit_code));
}

void result_failed(struct gb_job *job, const struct gb_err *err)
{
    set_status(job, "failed", EXIT_FAILED);
    set(job, "error",
        json_pack("{s:s,s:o,s:o}", "type", gb_code_name(err->code), "message", json_lossy(err->msg),
                  "hint", json_lossy(err->hint)));
}

char *result_failed_text(const struct gb_err *err)
{
    auto_json json_t *json = json_pack(
        "{s:s,s:i,s:{s:s,s:o,s:o}}", "status", "failed", "exit_code", EXIT_FAILED, "error", "type",
        gb_code_name(err->code), "message", json_lossy(err->msg), "hint", json_lossy(err->hint));
    return json_text(json);
}

void result_rejected(struct gb_job *job, const char *rule, const char *message, const char *remedy)
{
    result_rejected_at(job, rule, message, 0, remedy);
}

void result_rejected_at(struct gb_job *job, const char *rule, const char *message, size_t line,
                        const char *remedy)
{
    json_t *finding = json_pack("{s:s,s:s,s:s,s:n,s:n,s:s,s:s}", "rule", rule, "severity", "error",
                                "message", message, "line", "column", "name", "", "remedy", remedy);

    if (line > 0)
        json_object_set_new(finding, "line", json_integer((json_int_t)line));
    set_status(job, "rejected", EXIT_REJECTED);
    json_array_append_new(json_object_get(job->result, "findings"), finding);
}

/* ---- what the guest said, with only the expected in it ---- */

static json_t *string_or(const json_t *object, const char *key, const char *otherwise)
{
    json_t *value = json_object_get(object, key);

    return json_is_string(value) ? json_incref(value) : json_string(otherwise);
}

static json_t *integer_or_null(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_incref(value) : json_null();
}

static json_t *clean_error(const json_t *error)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "type", string_or(error, "type", "Exception"), "message",
                     string_or(error, "message", ""), "line", integer_or_null(error, "line"),
                     "traceback", string_or(error, "traceback", ""));
}

/* The interpreter's own complaint comes without, and stops at the first. */
static json_t *remedy_of(const json_t *finding)
{
    bool is_syntax = strcmp(json_string_at(finding, "rule", ""), "syntax") == 0;

    return string_or(finding, "remedy",
                     is_syntax ? "correct this; what follows it was not looked at" : "");
}

static json_t *clean_findings(const json_t *findings)
{
    static const char *const texts[] = { "rule", "severity", "message", "name", "source", "file" };
    json_t *list = json_array();

    for (size_t i = 0; i < json_array_size(findings) && i <= FINDINGS_MAX; i++) {
        const json_t *from = json_array_get(findings, i);
        json_t *to = json_object();

        for (size_t k = 0; k < ARRAY_LEN(texts); k++)
            if (k < 4 || json_string_length(json_object_get(from, texts[k])) > 0)
                json_object_set_new(to, texts[k], string_or(from, texts[k], ""));
        json_object_set_new(to, "remedy", remedy_of(from));
        json_object_set_new(to, "line", integer_or_null(from, "line"));
        json_object_set_new(to, "column", integer_or_null(from, "column"));
        if (json_is_integer(json_object_get(from, "points")))
            json_object_set_new(to, "points", integer_or_null(from, "points"));
        json_array_append_new(list, to);
    }
    return list;
}

void result_found(struct gb_job *job, const json_t *findings, json_int_t risk)
{
    set(job, "findings", clean_findings(findings));
    set(job, "risk", json_integer(risk < 0 ? 0 : risk > RISK_MAX ? RISK_MAX : risk));
}

/* ---- limits ---- */

static bool is_limit(const char *name)
{
#define X(sym, text)                     \
    if (name && strcmp(name, text) == 0) \
        return true;
    WATCH_LIMIT_MAP(X)
#undef X
    return false;
}

static void note_limit(struct gb_job *job, const char *limit, json_t *error)
{
    const struct settings *s = &job->request.settings;
    const char *message = json_string_value(json_object_get(error, "message"));
    char value[32];

    settings_limit_text(s, limit, value, sizeof(value));
    json_object_set_new(error, "message",
                        json_sprintf("%s%s%s limit of %s reached%s",
                                     message && *message ? message : "",
                                     message && *message ? " (" : "", limit, value,
                                     message && *message ? ")" : ""));
    set_status(job, "limit", EXIT_LIMIT);
    set(job, "limit", json_string(limit));
    set(job, "limit_value", json_integer((json_int_t)settings_limit_value(s, limit)));
    set(job, "error", error);
}

static json_t *plain_error(const char *type, const char *message)
{
    return json_pack("{s:s,s:s,s:n,s:s}", "type", type, "message", message, "line", "traceback",
                     "");
}

/* ---- one function an end ---- */

static void collect_signal(struct gb_job *job, const struct run_outcome *o, int sig);

/* The guest's own word, from before there was a program: what it was to become is not there. */
static void collect_unready(struct gb_job *job, const json_t *failed)
{
    struct gb_err err;

    gb_err_set(&err, (enum gb_code)json_integer_value(json_object_get(failed, "code")), 0, "%s",
               json_string_at(failed, "message", ""));
    gb_err_hint(&err, "%s", json_string_at(failed, "hint", ""));
    result_failed(job, &err);
}

/* A shell that stays could not begin the command, or says so: it is in a box where commands ran. */
static bool collect_shell_failed(struct gb_job *job, const json_t *failed)
{
    json_t *error;

    if (!job->request.is_shell || !json_is_object(failed))
        return false;
    error = plain_error("shell", json_string_at(failed, "message", ""));
    json_object_set_new(error, "hint", json_string(json_string_at(failed, "hint", "")));
    set_status(job, "error", EXIT_FAILED);
    set(job, "error", error);
    return true;
}

static void collect_answer(struct gb_job *job, const struct run_outcome *o)
{
    const json_t *answer = o->answer, *error = json_object_get(answer, "error");
    const char *limit = json_string_value(json_object_get(answer, "limit"));
    const char *noun = job->request.is_shell ? "command" : "program";
    int code = WEXITSTATUS(o->status);

    if (WIFSIGNALED(o->status)) {
        collect_signal(job, o, WTERMSIG(o->status));
        return;
    }
    if (o->is_verdict && json_object_get(answer, "failed")) {
        collect_unready(job, json_object_get(answer, "failed"));
        return;
    }
    if (o->is_verdict) {
        bool rejected = !job->request.is_check || json_is_true(json_object_get(answer, "rejected"));
        set_status(job, rejected ? "rejected" : "ok", rejected ? EXIT_REJECTED : 0);
        result_found(job, json_object_get(answer, "findings"),
                     json_integer_value(json_object_get(answer, "risk")));
        return;
    }
    if (collect_shell_failed(job, json_object_get(answer, "failed")))
        return;
    if (json_is_true(json_object_get(answer, "has_value"))) {
        json_t *value = json_object_get(answer, "value");
        set(job, "has_value", json_true());
        set(job, "value", value ? json_incref(value) : json_null());
    }
    set_status(job, code == 0 ? "ok" : "error", code);
    if (is_limit(limit)) {
        note_limit(job, limit, clean_error(error));
    } else if (json_is_object(error)) {
        set_status(job, "error", code == 0 ? 1 : code);
        set(job, "error", clean_error(error));
    } else if (code != 0) {
        char text[64];
        (void)snprintf(text, sizeof(text), "the %s exited with status %d", noun, code);
        set(job, "error", plain_error(job->request.is_shell ? "exit" : "SystemExit", text));
    }
}

static void collect_forged(struct gb_job *job, const struct run_outcome *o)
{
    char text[160];

    (void)snprintf(text, sizeof(text), "the program wrote to the engine's channel, and %s%s",
                   o->forged ? "it was " : "not an answer", o->forged ? o->forged : "");
    set_status(job, "error", 1);
    set(job, "error", plain_error("ProtocolError", text));
}

static void collect_signal(struct gb_job *job, const struct run_outcome *o, int sig)
{
    uint64_t cpu_ms = (uint64_t)o->usage.cpu_us / 1000;
    uint64_t limit_ms = job->request.settings.cpu_ms;
    char text[96];

    if (limit_ms != 0 && (sig == SIGXCPU || (sig == SIGKILL && cpu_ms >= limit_ms))) {
        note_limit(job, "cpu", plain_error("limit", ""));
        return;
    }
    (void)snprintf(text, sizeof(text), "killed by signal %d (SIG%s)%s", sig,
                   sigabbrev_np(sig) ? sigabbrev_np(sig) : "?",
                   sig == SIGSYS ? ": a system call that boxes do not have" : "");
    set_status(job, "crashed", EXIT_SIGNAL + sig);
    set(job, "error", plain_error("crashed", text));
}

static void collect_exit(struct gb_job *job, const struct run_outcome *o)
{
    int code = WEXITSTATUS(o->status);
    char text[64];

    if (WIFSIGNALED(o->status)) {
        collect_signal(job, o, WTERMSIG(o->status));
        return;
    }
    set_status(job, code == 0 ? "ok" : "error", code);
    if (code == 0)
        return;
    (void)snprintf(text, sizeof(text), "the %s exited with status %d",
                   job->request.is_shell ? "command" : "program", code);
    set(job, "error", plain_error(job->request.is_shell ? "exit" : "SystemExit", text));
}

static void collect_limit(struct gb_job *job, const struct run_outcome *o)
{
    note_limit(job, watch_limit_name(o->sample.hit), plain_error("limit", ""));
}

void result_cancelled(struct gb_job *job)
{
    set_status(job, "cancelled", EXIT_CANCELLED);
    set(job, "error", plain_error("cancelled", "cancelled by the caller"));
}

static void collect_killed(struct gb_job *job, const struct run_outcome *o)
{
    char text[64];

    if (job->stopped == STOP_TIMEOUT && o->started_us == 0) {
        struct gb_err err;
        gb_err_set(&err, GB_E_BUSY, 0, "no box was ready in time");
        gb_err_hint(&err, "too much may be running at once, or what is preloaded takes too long");
        result_failed(job, &err);
        return;
    }
    if (job->stopped != STOP_TIMEOUT) {
        result_cancelled(job);
        return;
    }
    (void)snprintf(text, sizeof(text), "timed out after %g s",
                   (double)job->request.settings.timeout_ms / 1000);
    set_status(job, "timeout", EXIT_TIMEOUT);
    set(job, "error", plain_error("timeout", text));
}

static void collect_late(struct gb_job *job, const struct run_outcome *o)
{
    job->stopped = STOP_TIMEOUT;
    collect_killed(job, o);
}

static void collect_failed(struct gb_job *job, const struct run_outcome *o)
{
    result_failed(job, &o->err);
}

/* It ended before any of it could run. What was being done to it then was ours, and the caller
 * does not wish to hear of a crash or a timeout of a program that never began. */
static void collect_unbegun(struct gb_job *job, const struct run_outcome *o)
{
    char text[120];
    struct gb_err err;

    if (o->is_checked) {
        gb_err_set(&err, GB_E_GONE, 0, "the box ended while the program waited to begin");
        gb_err_hint(&err, "something on this host may have killed it; try again");
        result_failed(job, &err);
    } else if (o->end == RUN_EXITED && WIFSIGNALED(o->status)) {
        (void)snprintf(text, sizeof(text),
                       "the interpreter was killed by signal %d (SIG%s) while "
                       "it read the code",
                       WTERMSIG(o->status),
                       sigabbrev_np(WTERMSIG(o->status)) ? sigabbrev_np(WTERMSIG(o->status)) : "?");
        result_rejected(job, "crash", text, "make the code shorter, or less deeply nested");
    } else if (job->stopped == STOP_TIMEOUT) {
        (void)snprintf(text, sizeof(text), "checking the code took longer than %g s",
                       (double)job->request.settings.timeout_ms / 1000);
        result_rejected(job, "timeout", text, "make the code shorter, or the timeout longer");
    } else {
        result_rejected(job, "limit", "checking the code took more than the box may use",
                        "make the code shorter, or the limits wider");
    }
}

static void collect_output(struct gb_job *job)
{
    bool cut;

    for (size_t i = 0; job->plain && i < 2; i++)
        plain_end(&job->plain[i]);
    set(job, "stdout", output_text(&job->out, &cut));
    set(job, "stdout_truncated", json_boolean(cut));
    set(job, "stderr", output_text(&job->err, &cut));
    set(job, "stderr_truncated", json_boolean(cut));
    set(job, "stdout_bytes", json_integer((json_int_t)job->spill.files[0].came));
    set(job, "stderr_bytes", json_integer((json_int_t)job->spill.files[1].came));
    if (job->spill.dir)
        set(job, "spill", spill_json(&job->spill));
}

/* What the command had left in the background. */
static void collect_survivors(struct gb_job *job, const struct run_outcome *o)
{
    json_t *list = json_array();

    for (size_t i = 0; i < o->n_survivors && i < BOX_SURVIVORS_MAX; i++)
        json_array_append_new(list, json_pack("{s:i,s:o}", "pid", (int)o->survivors[i].pid,
                                              "command", json_lossy(o->survivors[i].command)));
    set(job, "survivors", list);
    if (o->n_survivors > BOX_SURVIVORS_MAX)
        set(job, "survivors_omitted",
            json_integer((json_int_t)(o->n_survivors - BOX_SURVIVORS_MAX)));
}

/* ---- usage and times ---- */

static json_t *ms(double us)
{
    return json_real(us < 0 ? 0 : floor(us + 0.5) / 1000);
}

static void collect_usage(struct gb_job *job, const struct run_outcome *o)
{
    double cpu = (double)(o->usage.cpu_us - o->setup_cpu_us);
    int64_t wall = o->started_us ? o->ended_us - o->begun_us : 0;
    json_int_t check =
        o->is_checked ? job->check_us : json_integer_value(json_object_get(o->answer, "check_us"));
    int64_t run;

    if (check < 0 || check > o->ended_us - o->started_us)
        check = 0;
    if (!o->has_begun) /* it may have waited long */
        wall = check;
    run = job->is_held && o->has_begun ? wall : wall - check;
    set(job, "usage",
        json_pack("{s:o,s:o,s:I}", "wall_ms", ms((double)wall), "cpu_ms", ms(cpu), "max_rss_kb",
                  (json_int_t)o->usage.max_rss_kb));
    set(job, "timings",
        json_pack("{s:o,s:o,s:o,s:o}", "check_ms", ms((double)check), "start_ms",
                  ms(o->started_us ? (double)(o->started_us - job->admitted_us) : 0), "run_ms",
                  ms((double)run), "collect_ms", ms((double)(clock_us() - o->ended_us))));
}

void result_where(struct gb_job *job, enum plan_level level, uint32_t layers)
{
    set(job, "isolation",
        json_pack("{s:s,s:o}", "level", plan_level_name(level), "layers", layers_to_json(layers)));
}

void result_collected(struct gb_job *job)
{
    json_object_set_new(json_object_get(job->result, "timings"), "collect_ms",
                        ms((double)(clock_us() - job->ended_us)));
}

void result_collect(struct gb_job *job, const struct run_outcome *o)
{
    static void (*const by_end[])(struct gb_job *, const struct run_outcome *) = {
        [RUN_ANSWERED] = collect_answer, [RUN_EXITED] = collect_exit, [RUN_LIMIT] = collect_limit,
        [RUN_KILLED] = collect_killed,   [RUN_LATE] = collect_late,   [RUN_FAILED] = collect_failed,
    };
    bool is_unbegun = o->started_us != 0 && !o->has_begun && o->end != RUN_ANSWERED &&
                      o->end != RUN_FAILED && job->stopped != STOP_CANCEL;

    job->ended_us = o->ended_us;
    job->has_begun = o->started_us != 0 && o->has_begun && !o->is_verdict;
    collect_output(job);
    if (job->stopped == STOP_REJECTED)
        ; /* the result says so already */
    else if (o->end == RUN_ANSWERED && !o->answer)
        collect_forged(job, o);
    else if (is_unbegun)
        collect_unbegun(job, o);
    else
        by_end[o->end](job, o);
    if (job->request.is_shell && job->has_begun)
        collect_survivors(job, o);
    if (o->started_us != 0)
        result_where(job, o->level, o->layers);
    collect_usage(job, o);
}
