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
#include "base/parse.h"
#include "base/walk.h"
#include "engine/audit.h"
#include "engine/capture.h"
#include "engine/job.h"
#include "engine/mounts.h"
#include "engine/outputs.h"
#include "engine/result.h"
#include "engine/review.h"

enum verdict {
    PASS,
    WAIT, /* somebody will call resume(), or the box will end */
    ENDED /* the result says why */
};

enum {
    REASON_MAX = 4 << 10
};

static void resume(struct gb_job *job);
static void end_early(struct gb_job *job);

static void arm(struct gb_job *job, uint64_t ms)
{
    struct timeval in = { .tv_sec = (time_t)(ms / 1000),
                          .tv_usec = (suseconds_t)(ms % 1000 * 1000) };

    (void)evtimer_add(job->on_timeout, &in);
}

static const char *code_of(const struct gb_job *job)
{
    return json_string_value(json_object_get(job->request.program, "code"));
}

/* ---- what a person has to say to it ---- */

enum consent {
    CONSENT_GIVEN,
    CONSENT_ASK,
    CONSENT_REFUSED
};

/* Acknowledging that unboxed code is unsafe is the answer to the question whether to run it so,
 * unless that is always to be asked. */
static enum consent consent_of(const struct gb_job *job)
{
    const struct settings *s = &job->request.settings;
    enum approve_choice choice = settings_approve(s);
    bool is_acknowledged = job->engine->config.acknowledge_unsafe;

    if (choice == APPROVE_ALWAYS || toolset_needs_approval(job->request.tools))
        return CONSENT_ASK; /* for all of them at once, and for the program with them */
    if (settings_is_held(s))
        return choice == APPROVE_ASK ? CONSENT_ASK : CONSENT_GIVEN;
    if (is_acknowledged)
        return CONSENT_GIVEN;
    return choice == APPROVE_ASK ? CONSENT_ASK : CONSENT_REFUSED;
}

static bool must_hold(const struct gb_job *job)
{
    return job->request.is_check || job->engine->config.review || consent_of(job) != CONSENT_GIVEN;
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
    result_where(job, check->level, check->layers, check->n_layers);
    (void)evtimer_del(job->on_timeout); /* reviewers and people take the time that they take */
    if (audit_note(job, AUDIT_CHECKED, NULL) == 0)
        resume(job);
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
    return !job->request.is_check && job->request.settings.capture != CAPTURE_OFF;
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
        resume(job);
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

static void on_collected(void *data)
{
    struct gb_job *job = data;

    job->is_looking = false;
    capture_tell(job->capture, job->result);
    result_collected(job);
    job_deliver(job);
}

void road_abandon(struct gb_job *job)
{
    if (!job->is_looking)
        return;
    if (job->ended_us == 0)
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

    if (!wants_files(job) || !job->has_begun || job->engine->freeing ||
        (!job->capture && files->n == 0 && workspace >= 0 && dir_is_empty(workspace)))
        return true;
    if (!job->capture)
        job->capture = capture_of(job);
    if (!job->capture)
        return true;
    job->is_looking = true;
    if (capture_after(job->capture, take_fd(&workspace), files->list, files->n, on_collected,
                      job)) {
        job->is_looking = false;
        capture_tell(job->capture, job->result);
        result_collected(job);
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

struct run_order order_of(const struct settings *s, struct mounts *mounts)
{
    enum {
        INODES = 32 << 10
    };

    return (struct run_order){ .isolation = isolation_of(s),
                               .timeout_ms = s->timeout_ms,
                               .host_network = s->network == NETWORK_HOST,
                               .mounts = mounts,
                               .limits = { .memory_bytes = s->memory_bytes,
                                           .disk_bytes = s->disk_bytes,
                                           .inodes = INODES,
                                           .processes = s->processes,
                                           .open_files = s->open_files,
                                           .cpu_ms = s->cpu_ms } };
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
    enum {
        BOX_WAIT_MS = 60000
    };
    struct backend *b = job->engine->backend;
    struct gb_err err = { 0 };

    order.program = job->request.program;
    order.stdin_data = job->request.stdin_data;
    order.stdin_bytes = job->request.stdin_bytes;
    order.hold = job->is_held;
    order.files = job->request.files.list;
    order.n_files = job->request.files.n;
    order.list_survivors = job->request.is_shell;
    job->on_timeout = evtimer_new(job->engine->base, on_timeout, job);
    if (job->on_timeout) {
        arm(job, BOX_WAIT_MS);
        job->run = b->ops->run(b, &order, &events, &err);
    }
    if (job->run)
        return job->is_held ? WAIT : PASS;
    if (err.code == GB_OK)
        gb_err_set(&err, GB_E_SYSTEM, 0, "memory ran out");
    result_failed(job, &err);
    return ENDED;
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

static enum verdict stage_check(struct gb_job *job)
{
    if (job->request.bad_byte < 0) {
        if (job->request.is_shell && !shell_may_run(job))
            return ENDED;
        job->is_held = must_hold(job);
        /* What is not held begins as soon as it has passed. */
        if (!job->is_held && audit_note(job, AUDIT_STARTED, NULL) < 0)
            return ENDED;
        return begin(job);
    }
    reject_unreadable(job);
    return ENDED;
}

/* ---- review: a model may object ---- */

/* The verdict as results have it. */
static json_t *reviewed(const json_t *verdict)
{
    json_t *review = json_deep_copy(verdict);
    const char *word = "insecure";

    if (!json_is_null(json_object_get(verdict, "error")))
        word = "failed";
    else if (json_is_true(json_object_get(verdict, "secure")))
        word = "secure";
    json_object_del(review, "secure");
    json_object_set_new(review, "verdict", json_string(word));
    return review;
}

static void reject_reviewed(struct gb_job *job, const char *what, const char *why, const char *more,
                            const char *remedy)
{
    auto_free char *text = NULL;

    if (asprintf(&text, "%s: %s%s", what, why && *why ? why : "no reason given", more) < 0)
        text = NULL;
    result_rejected(job, "review", text ? text : what, remedy);
}

static void reject_unreviewed(struct gb_job *job, const char *why)
{
    reject_reviewed(job, "the review failed", why, "; the program was not judged",
                    "this is for the operator: see that the reviewer answers; what it did not see "
                    "does not run");
}

static void on_reviewed(void *data, const json_t *verdict)
{
    struct gb_job *job = data;
    const json_t *error = json_object_get(verdict, "error");

    job->review = NULL;
    if (job->stopped != STOP_NONE)
        return; /* its end is on the way */
    if (verdict)
        json_object_set_new(job->result, "review", reviewed(verdict));
    if (audit_note(job, AUDIT_REVIEWED, NULL) < 0)
        return;
    if (json_is_true(json_object_get(verdict, "secure"))) {
        resume(job);
        return;
    }
    if (json_is_string(error) || !verdict)
        reject_unreviewed(job, json_string_value(error));
    else
        reject_reviewed(job, "the reviewer objects",
                        json_string_value(json_object_get(verdict, "reason")), "",
                        "change what the reviewer objects to");
    end_early(job);
}

struct review_spec review_of(struct gb_engine *engine)
{
    const struct config *c = &engine->config;

    return (struct review_spec){ .url = c->review,
                                 .model = c->review_model,
                                 .key = c->review_key,
                                 .ca = c->review_ca,
                                 .module_dir = c->extension_dir,
                                 .base = engine->base,
                                 .link = &engine->review_link };
}

static enum verdict stage_review(struct gb_job *job)
{
    struct review_spec spec = review_of(job->engine);
    auto_json json_t *tools = toolset_names(job->request.tools, false);
    struct gb_err err = { 0 };

    if (!spec.url)
        return PASS;
    job->review = review_begin(&spec, code_of(job), tools, on_reviewed, job, &err);
    if (job->review)
        return WAIT;
    reject_unreviewed(job, err.msg);
    return ENDED;
}

/* ---- approve: a person may object ---- */

static void reject_unapproved(struct gb_job *job, const char *why, const char *remedy)
{
    auto_free char *text = NULL;

    if (why && (strlen(why) > REASON_MAX || utf8_first_bad(why, strlen(why)) >= 0))
        why = "for a reason that is too long, or not UTF-8";
    if (asprintf(&text, "not approved%s%s", why && *why ? ": " : "", why ? why : "") < 0)
        text = NULL;
    result_rejected(job, "approval", text ? text : "not approved", remedy);
}

static int note_answer(struct gb_job *job, int yes)
{
    static const char *const words[] = { "nobody", "no", "yes" };

    return audit_note(job, AUDIT_APPROVED, json_pack("{s:s}", "answer", words[yes + 1]));
}

static void reject_unasked(struct gb_job *job, const char *why)
{
    const char *remedy = "run it where a person can be asked, or with approve 'never'";

    if (toolset_needs_approval(job->request.tools))
        remedy = "run it where a person can be asked, or without the tools that need it";
    reject_unapproved(job, why,
                      settings_is_held(&job->request.settings)
                          ? remedy
                          : "use --isolation auto, run it where a person can be asked, or add "
                            "--acknowledge-unsafe");
}

/* Names without what they stand for, which may be secret, or long. */
static void add_names(json_t *names, const json_t *object)
{
    const char *name;
    json_t *value;

    json_object_foreach (json_shared(object), name, value)
        if (!json_array_has(names, name))
            json_array_append_new(names, json_string(name));
}

static void add_program(json_t *question, const struct gb_job *job)
{
    static const char *const given[] = { "code", "prelude", "argv" };
    const json_t *program = job->request.program;
    json_t *env = json_array(), *inputs = json_array();

    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        if (json_object_get(program, given[i]))
            json_object_set(question, given[i], json_object_get(program, given[i]));
    add_names(env, job->engine->config.env);
    add_names(env, json_object_get(program, "env"));
    add_names(inputs, json_object_get(program, "inputs"));
    json_object_set_new(question, "env", env);
    json_object_set_new(question, "inputs", inputs);
    json_object_set_new(question, "has_prelude", json_boolean(json_object_get(program, "prelude")));
    json_object_set_new(question, "filename",
                        json_string(json_string_at(program, "filename", "main.py")));
}

static char *question_of(const struct gb_job *job)
{
    static const char *const told[] = { "id", "findings", "risk", "isolation", "policy", "review" };
    const struct settings *s = &job->request.settings;
    auto_json json_t *question = json_pack(
        "{s:s,s:b,s:s}", "backend", job->engine->backend->ops->name, "is_held", settings_is_held(s),
        "network", s->network == NETWORK_HOST || !settings_is_held(s) ? "host" : "none");

    add_program(question, job);
    json_object_set_new(question, "tools", toolset_names(job->request.tools, false));
    json_object_set_new(question, "tools_to_approve", toolset_names(job->request.tools, true));
    json_object_set_new(question, "mounts", mounts_json(job->request.mounts, false));
    for (size_t i = 0; i < ARRAY_LEN(told); i++)
        if (json_object_get(job->result, told[i]))
            json_object_set(question, told[i], json_object_get(job->result, told[i]));
    return json_text(question);
}

/* Nobody said no, but nobody could say yes: that is an answer too, and recorded as one. */
static enum verdict refuse_unasked(struct gb_job *job, const char *why)
{
    if (note_answer(job, -1) == 0)
        reject_unasked(job, why);
    return ENDED;
}

static enum verdict ask(struct gb_job *job)
{
    auto_free char *question = question_of(job);

    if (!job->callbacks.approve || !question)
        return refuse_unasked(job, question ? "there is nobody to ask" : "memory ran out");
    job->approval = APPROVAL_ASKED;
    job->is_calling = true;
    job->callbacks.approve(job->callbacks.data, job, question);
    job->is_calling = false;
    if (job->approval == APPROVAL_ASKED)
        return WAIT;
    return job->approval == APPROVAL_YES ? PASS : ENDED;
}

static enum verdict stage_approve(struct gb_job *job)
{
    switch (consent_of(job)) {
    case CONSENT_GIVEN:
        return PASS;
    case CONSENT_ASK:
        return ask(job);
    case CONSENT_REFUSED:
        break;
    }
    return refuse_unasked(job, "without kernel isolation the code could do whatever you can");
}

int road_approve(struct gb_job *job, int yes, const char *reason)
{
    if (job->approval != APPROVAL_ASKED || job->stopped != STOP_NONE)
        return -1;
    yes = yes > 0 ? 1 : yes < 0 ? -1 : 0;
    job->approval = yes > 0 ? APPROVAL_YES : APPROVAL_NO;
    if (note_answer(job, yes) < 0)
        return 0; /* its end is on the way */
    if (yes < 0)
        reject_unasked(job, reason);
    else if (yes == 0)
        reject_unapproved(job, reason, "change what the program does, or what it is to do it for");
    if (job->is_calling)
        return 0; /* the stage goes on when the callback returns */
    if (yes > 0)
        resume(job);
    else
        end_early(job);
    return 0;
}

/* ---- run: what was held may begin ---- */

static enum verdict stage_run(struct gb_job *job)
{
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

/* The result is filled before any of the program ran: end the box if there is one, and tell the
 * caller from the loop, like any other end. */
static void end_early(struct gb_job *job)
{
    struct timeval now = { 0 };

    if (!job->run) {
        (void)evtimer_add(job->engine->on_later, &now);
        return;
    }
    job->stopped = STOP_REJECTED;
    job->engine->backend->ops->kill(job->run);
}

/* On from where it waited. */
static void resume(struct gb_job *job)
{
    static enum verdict (*const stages[])(
        struct gb_job *) = { stage_look, stage_check, stage_review, stage_approve, stage_run };
    enum verdict v = PASS;

    while (v == PASS && job->stage < ARRAY_LEN(stages) && job->stopped == STOP_NONE)
        v = stages[job->stage++](job);
    if (v == ENDED)
        end_early(job);
}

void road_begin(struct gb_job *job, const char *text)
{
    job->admitted_us = clock_us();
    if (stage_admit(job, text) == PASS)
        resume(job);
    else
        end_early(job);
}
