/*
 * The road that every request takes:
 *
 *   request -> admit -> check -> review -> approve -> run -> collect -> result
 *
 * A stage looks at the job and lets it pass, ends it by filling its result, or waits: whoever it
 * waits for then sends the job on. The check is made in the box, on the tree that is compiled
 * there. Where a reviewer or a person is to see the program first, the box holds it meanwhile, and
 * is told to go when it has passed every stage; else it goes on by itself, and the stages between
 * let pass. A request of the kind "check" ends where its check does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "base/walk.h"
#include "engine/audit.h"
#include "engine/capture.h"
#include "engine/mounts.h"
#include "engine/outputs.h"
#include "engine/result.h"
#include "engine/road.h"
#include "engine/session.h"

static void arm(struct gb_job *job, uint64_t ms)
{
    struct timeval in = { .tv_sec = (time_t)(ms / 1000),
                          .tv_usec = (suseconds_t)(ms % 1000 * 1000) };

    (void)evtimer_add(job->on_timeout, &in);
}

/* ---- check: the box gets the program, and looks at it first ---- */

static void on_started(void *data)
{
    struct gb_job *job = data;

    /* Only now does a clock run, the check's or the program's: waiting for a box is not its
     * doing. */
    arm(job, job->request.settings.timeout_ms);
}

static void on_checked(void *data, const struct run_check *check)
{
    struct gb_job *job = data;

    result_found(job, check->findings, check->risk);
    job->check_us = check->us;
    if (!job->is_held || job->stopped != STOP_NONE)
        return;
    result_where(job, check->level, check->layers);
    (void)evtimer_del(job->on_timeout); /* reviewers and people take the time that they take */
    if (audit_note(job, AUDIT_CHECKED, NULL) == 0)
        road_resume(job);
}

static void keep_plain(void *data, const char *bytes, size_t len)
{
    output_add(data, bytes, len);
}

/* A model has no use for what a terminal would make of a command's output. */
static void begin_plain(struct gb_job *job)
{
    if (!job->request.is_shell || job->request.shell.raw || job->engine->config.shell.raw)
        return;
    job->plain = calloc(2, sizeof(*job->plain));
    if (!job->plain)
        return; /* then as it comes */
    plain_init(&job->plain[0], keep_plain, &job->out);
    plain_init(&job->plain[1], keep_plain, &job->err);
}

static void on_output(void *data, int stream, const char *bytes, size_t len)
{
    struct gb_job *job = data;

    spill_add(&job->spill, stream - 1, bytes, len);
    if (job->plain)
        plain_add(&job->plain[stream - 1], bytes, len);
    else
        output_add(stream == 1 ? &job->out : &job->err, bytes, len);
    if (job->callbacks.output)
        job->callbacks.output(job->callbacks.data, job, stream == 1 ? GB_STDOUT : GB_STDERR, bytes,
                              len);
}

static void on_display(void *data, const json_t *shown)
{
    outputs_add(data, shown);
}

static const char *on_word(void *data, const struct run_word *word)
{
    return calls_word(data, word);
}

/* ---- files: what was there before, and what is there in the end ---- */

static bool wants_files(const struct gb_job *job)
{
    return !job->request.is_check && !job->request.is_op &&
           job->request.settings.capture != CAPTURE_OFF;
}

static struct capture *capture_of(const struct gb_job *job)
{
    struct capture_spec spec = { .base = job->engine->base,
                                 .settings = &job->request.settings,
                                 .mounts = job->request.mounts,
                                 .out = job->engine->out };

    return capture_new(&spec);
}

static void cancel_unbegun(struct gb_job *job)
{
    struct run_outcome none = { .end = RUN_KILLED, .workspace = -1, .keeper = -1 };

    result_collect(job, &none);
}

static void on_looked(void *data)
{
    struct gb_job *job = data;

    job->is_looking = false;
    if (job->stopped == STOP_NONE) {
        road_resume(job);
        return;
    }
    cancel_unbegun(job);
    job_deliver(job);
}

/* A mount that may be written to is looked at first: only so can be told what changed. */
static enum verdict stage_look(struct gb_job *job)
{
    struct gb_err err;

    if (!wants_files(job) || !mounts_any_rw(job->request.mounts))
        return PASS;
    job->capture = capture_of(job);
    if (!job->capture) {
        gb_err_set(&err, GB_E_SYSTEM, 0, "memory ran out");
        result_failed(job, &err);
        return ENDED;
    }
    job->is_looking = true;
    if (!capture_before(job->capture, on_looked, job))
        return WAIT;
    job->is_looking = false;
    return PASS;
}

static void tell_files(struct gb_job *job)
{
    job->is_looking = false;
    capture_tell(job->capture, job->result);
    if (job->session)
        session_see(job, capture_take_after(job->capture));
    result_collected(job);
}

static void on_collected(void *data)
{
    struct gb_job *job = data;

    tell_files(job);
    job_deliver(job);
}

void road_abandon(struct gb_job *job)
{
    if (job->is_over)
        return;
    if (!job->is_looking)
        result_cancelled(job);
    else if (job->ended_us == 0)
        cancel_unbegun(job);
    else
        json_object_set_new(job->result, "files_omitted",
                            json_pack("{s:i,s:b,s:s}", "count", 0, "is_exact", 0, "reason",
                                      "the engine was freed while it looked at files"));
}

/* True when there is nothing more to wait for. A program that left nothing, as most do, costs next
 * to nothing here. */
static bool collect_files(struct gb_job *job, const struct run_outcome *o)
{
    const struct request_files *files = &job->request.files;
    auto_close int workspace = o->workspace, keeper = o->keeper;
    struct capture_ground ground = { .files = files->list, .n_files = files->n };

    if (!wants_files(job) || !job->has_begun || job->engine->freeing ||
        (!job->capture && files->n == 0 && !session_has_seen(job) && workspace >= 0 &&
         dir_is_empty(workspace)))
        return true;
    if (!job->capture)
        job->capture = capture_of(job);
    if (!job->capture)
        return true;
    job->is_looking = true;
    ground.dir = take_fd(&workspace);
    ground.is_live = job->session && o->place != PLACE_LOST;
    ground.before = job->session ? session_take_seen(job) : NULL;
    if (capture_after(job->capture, &ground, on_collected, job)) {
        tell_files(job);
        return true;
    }
    job->keeper = take_fd(&keeper);
    return false;
}

static void on_done(void *data, const struct run_outcome *outcome)
{
    struct gb_job *job = data;

    job->run = NULL;
    calls_end(job);
    result_collect(job, outcome);
    if (collect_files(job, outcome))
        job_deliver(job);
}

static void on_timeout(evutil_socket_t fd, short what, void *data)
{
    struct gb_job *job = data;

    (void)fd;
    (void)what;
    if (!job->run || job->stopped != STOP_NONE)
        return;
    job->stopped = STOP_TIMEOUT;
    job->engine->backend->ops->kill(job->run);
}

static int isolation_of(const struct settings *s)
{
    static const int levels[] = { [ISOLATE_NONE] = LEVEL_NONE,
                                  [ISOLATE_PROCESS] = LEVEL_PROCESS,
                                  [ISOLATE_LANDLOCK] = LEVEL_LANDLOCK,
                                  [ISOLATE_NAMESPACES] = LEVEL_NAMESPACES,
                                  [ISOLATE_AUTO] = ISOLATION_AUTO };
    return levels[s->isolation];
}

/* One for each 8 KiB of disk, within bounds: the kernel keeps a kilobyte for each. */
static uint64_t inodes_of(uint64_t disk_bytes)
{
    enum {
        LEAST = 32 << 10,
        MOST = 256 << 10
    };
    uint64_t n = disk_bytes / (8 << 10);

    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

struct run_order order_of(const struct settings *s, struct mounts *mounts)
{
    return (struct run_order){ .isolation = isolation_of(s),
                               .timeout_ms = s->timeout_ms,
                               .host_network = s->network == NETWORK_HOST,
                               .mounts = mounts,
                               .limits = { .memory_bytes = s->memory_bytes,
                                           .disk_bytes = s->disk_bytes,
                                           .inodes = inodes_of(s->disk_bytes),
                                           .processes = s->processes,
                                           .open_files = s->open_files,
                                           .cpu_ms = s->cpu_ms } };
}

static enum verdict begin_run(struct gb_job *job, const struct run_order *order,
                              const struct run_events *events, struct gb_err *err)
{
    struct backend *b = job->engine->backend;
    enum {
        BOX_WAIT_MS = 60000
    };

    if (!job->on_timeout)
        job->on_timeout = evtimer_new(job->engine->base, on_timeout, job);
    if (job->on_timeout) {
        arm(job, BOX_WAIT_MS);
        job->run = b->ops->run(b, order, events, err);
    }
    if (job->run)
        return WAIT;
    if (err->code == GB_OK)
        gb_err_set(err, GB_E_SYSTEM, 0, "memory ran out");
    result_failed(job, err);
    return ENDED;
}

static enum verdict begin(struct gb_job *job)
{
    struct run_order order = order_of(&job->request.settings, job->request.mounts);
    struct run_events events = { .data = job,
                                 .started = on_started,
                                 .checked = on_checked,
                                 .output = on_output,
                                 .display = on_display,
                                 .word = on_word,
                                 .done = on_done };
    struct gb_err err = { 0 };
    enum verdict v;

    order.program = job->request.program;
    order.stdin_data = job->request.stdin_data;
    order.stdin_bytes = job->request.stdin_bytes;
    order.hold = job->is_held;
    order.files = job->request.files.list;
    order.n_files = job->request.files.n;
    order.list_survivors = job->request.is_shell;
    v = begin_run(job, &order, &events, &err);
    return v == WAIT && !job->is_held ? PASS : v;
}

/* ---- in a session ---- */

/* Its check comes from a box of its own: what earlier cells left in the session's could say
 * anything. Nothing is held meanwhile. */
static void on_check_done(void *data, const struct run_outcome *o)
{
    struct gb_job *job = data;
    const json_t *answer = o->end == RUN_ANSWERED && o->is_verdict ? o->answer : NULL;
    json_int_t risk = json_integer_value(json_object_get(answer, "risk"));
    auto_json json_t *findings = NULL;
    auto_close int workspace = o->workspace, keeper = o->keeper; /* nothing ran */

    (void)workspace;
    (void)keeper;
    job->run = NULL;
    (void)evtimer_del(job->on_timeout);
    findings = session_findings(job, json_object_get(answer, "findings"), &risk);
    if (!answer || json_is_true(json_object_get(answer, "rejected")) || job->stopped != STOP_NONE) {
        result_collect(job, o);
        if (answer && job->stopped == STOP_NONE)
            result_found(job, findings, risk);
        session_collect(job, NULL);
        job_deliver(job);
        return;
    }
    result_found(job, findings, risk);
    result_where(job, o->level, o->layers);
    job->check_us = json_integer_value(json_object_get(answer, "check_us"));
    if (audit_note(job, AUDIT_CHECKED, NULL) == 0)
        road_resume(job);
}

static void on_cell_done(void *data, const struct run_outcome *outcome)
{
    struct gb_job *job = data;

    job->run = NULL;
    calls_end(job);
    result_collect(job, outcome);
    session_collect(job, outcome);
    if (job->request.is_op)
        session_answer(job, outcome);
    if (collect_files(job, outcome))
        job_deliver(job);
}

static enum verdict check_cell(struct gb_job *job)
{
    struct run_order order = order_of(&job->engine->config.settings, job->engine->config.mounts);
    struct run_events events = { .data = job, .started = on_started, .done = on_check_done };
    struct gb_err err = { 0 };
    auto_json json_t *program = session_check_program(job, &err);

    if (!program) {
        result_failed(job, &err);
        return ENDED;
    }
    order.isolation = isolation_of(&job->request.settings);
    order.timeout_ms = job->request.settings.timeout_ms;
    order.program = program;
    return begin_run(job, &order, &events, &err);
}

static enum verdict run_cell(struct gb_job *job)
{
    struct run_order order = order_of(&job->request.settings, job->request.mounts);
    struct run_events events = { .data = job,
                                 .started = on_started,
                                 .output = on_output,
                                 .display = on_display,
                                 .word = on_word,
                                 .done = on_cell_done };
    struct gb_err err = { 0 };

    if (audit_note(job, AUDIT_STARTED, NULL) < 0)
        return ENDED;
    order.stdin_data = job->request.stdin_data;
    order.stdin_bytes = job->request.stdin_bytes;
    order.files = job->request.files.list;
    order.n_files = job->request.files.n;
    if (session_order(job, &order, &err) < 0) {
        result_failed(job, &err);
        return ENDED;
    }
    enum verdict verdict = begin_run(job, &order, &events, &err);
    if (verdict == ENDED) /* nobody else says that a fork did not come to be */
        session_collect(job, &(struct run_outcome){ .end = RUN_FAILED });
    return verdict;
}

/* Told before there is a box, since no interpreter gets to read it. */
static void reject_unreadable(struct gb_job *job)
{
    const struct request *r = &job->request;
    char text[120];

    if (r->is_binary) {
        result_rejected(job, "syntax",
                        r->is_shell ? "this is a binary file and no command"
                                    : "this is a binary file and not Python source",
                        "name the file with the source, not what was made of it");
    } else if (r->is_nul) {
        result_rejected_at(job, "syntax", "the code has a NUL byte in it", r->bad_line,
                           "take it out; in a string, write \\0 for it");
    } else {
        (void)snprintf(text, sizeof(text),
                       "the code is not UTF-8: byte %lld is not part of a character",
                       (long long)r->bad_byte);
        result_rejected_at(job, "syntax", text, r->bad_line, "save the file as UTF-8");
    }
}

/* The rules for commands need no box. */
static enum verdict check_command(struct gb_job *job)
{
    if (!shell_may_run(job))
        return ENDED;
    return audit_note(job, AUDIT_CHECKED, NULL) < 0 ? ENDED : PASS;
}

/* What is typed may be commands; files are read by those who are to agree. */
static enum verdict check_op(struct gb_job *job)
{
    size_t len = 0;
    const char *before = session_typed(job, &len);

    if (job->request.op == SESSION_TYPE && !shell_may_type(job, before, len))
        return ENDED;
    return audit_note(job, AUDIT_CHECKED, NULL) < 0 ? ENDED : PASS;
}

static enum verdict stage_check(struct gb_job *job)
{
    if (job->request.is_op)
        return check_op(job);
    if (job->request.bad_byte < 0 && job->session)
        return job->request.is_shell ? check_command(job) : check_cell(job);
    if (job->request.bad_byte < 0) {
        if (job->request.is_shell && !shell_may_run(job))
            return ENDED;
        job->is_held = consent_must_hold(job);
        /* What is not held begins as soon as it has passed. */
        if (!job->is_held && audit_note(job, AUDIT_STARTED, NULL) < 0)
            return ENDED;
        return begin(job);
    }
    reject_unreadable(job);
    return ENDED;
}

/* ---- run: what was held may begin ---- */

static enum verdict stage_run(struct gb_job *job)
{
    if (job->session)
        return run_cell(job);
    if (job->is_held) {
        if (audit_note(job, AUDIT_STARTED, NULL) < 0)
            return ENDED;
        arm(job, job->request.settings.timeout_ms);
        job->engine->backend->ops->go(job->run);
    }
    return WAIT; /* for its end */
}

/* ---- admit, and the whole ---- */

static const char *policy_of(const struct gb_job *job)
{
    return job->request.is_shell ? shell_policy_name(&job->request, &job->engine->config)
                                 : policy_name(settings_policy(&job->request.settings));
}

static enum verdict stage_admit(struct gb_job *job, const char *text)
{
    struct gb_err err;
    int r = request_read(&job->engine->config, text, &job->request, &err);

    job->result = result_new(job->request.id);
    output_init(&job->out, job->request.settings.stdout_bytes);
    output_init(&job->err, job->request.settings.stderr_bytes);
    spill_init(&job->spill, job->engine->config.spill, job->request.settings.spill_bytes);
    begin_plain(job);
    result_update(job->result,
                  json_pack("{s:n,s:b,s:n,s:[],s:n,s:[],s:[],s:n,s:[],s:n,s:s,s:i,s:{s:f,s:f,s:i},"
                            "s:{s:f,s:f,s:f,s:f}}",
                            "value", "has_value", 0, "error", "findings", "limit", "files",
                            "tool_calls", "session", "outputs", "isolation", "policy",
                            policy_of(job), "risk", 0, "usage", "wall_ms", 0.0, "cpu_ms", 0.0,
                            "max_rss_kb", 0, "timings", "check_ms", 0.0, "start_ms", 0.0, "run_ms",
                            0.0, "collect_ms", 0.0));
    if (job->request.is_shell)
        json_object_set_new(job->result, "survivors", json_array());
    if (r == 0)
        return audit_note(job, AUDIT_ADMITTED, NULL) < 0 ? ENDED : PASS;
    result_failed(job, &err);
    return ENDED;
}

void road_end_early(struct gb_job *job)
{
    struct timeval now = { 0 };

    if (!job->run) {
        if (job->session && job->stage > 0) /* which is as it was, and says so */
            session_collect(job, NULL);
        job->is_over = true;
        (void)evtimer_add(job->engine->on_later, &now);
        return;
    }
    job->stopped = STOP_REJECTED;
    job->engine->backend->ops->kill(job->run);
}

enum verdict road_put_off(struct gb_job *job)
{
    struct timeval now = { 0 };

    job->stage--;
    job->is_put_off = true;
    (void)evtimer_add(job->engine->on_later, &now);
    return WAIT;
}

void road_resume(struct gb_job *job)
{
    static enum verdict (*const stages[])(
        struct gb_job *) = { stage_look, stage_check, consent_review, consent_approve, stage_run };
    enum verdict v = PASS;

    while (v == PASS && job->stage < ARRAY_LEN(stages) && job->stopped == STOP_NONE)
        v = stages[job->stage++](job);
    if (v == ENDED)
        road_end_early(job);
}

void road_cancel(struct gb_job *job)
{
    result_cancelled(job);
    road_end_early(job);
}

/* A request about a session is none that a reviewer or a person has to see, unless it puts
 * something there: a file may be imported or executed, and what reads a terminal may be a shell. */
static void serve(struct gb_job *job)
{
    enum session_op op = job->request.op;

    if (op == SESSION_WRITE_FILE || op == SESSION_TYPE) {
        road_resume(job);
        return;
    }
    if (op == SESSION_INSPECT || op == SESSION_REWIND || op == SESSION_FORK || op >= SESSION_JOBS) {
        if (run_cell(job) == ENDED)
            road_end_early(job);
        return;
    }
    session_serve(job);
    road_end_early(job);
}

void road_turn(struct gb_job *job)
{
    struct gb_err err;

    if (session_admit(job, &err) < 0) {
        result_failed(job, &err);
        road_end_early(job);
    } else if (job->request.is_op) {
        serve(job);
    } else {
        road_resume(job);
    }
}

static void enter_session(struct gb_job *job)
{
    struct gb_err err;

    switch (session_enter(job, &err)) {
    case TURN_NOW:
        road_turn(job);
        break;
    case TURN_LATER:
        break;
    case TURN_REFUSED:
        result_failed(job, &err);
        road_end_early(job);
        break;
    }
}

void road_begin(struct gb_job *job, const char *text)
{
    job->admitted_us = clock_us();
    if (stage_admit(job, text) != PASS)
        road_end_early(job);
    else if (job->request.session)
        enter_session(job);
    else if (job->request.is_op)
        serve(job);
    else
        road_resume(job);
}
