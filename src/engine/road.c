/*
 * The road that every request takes:
 *
 *   request -> admit -> check -> approve -> run -> collect -> result
 *
 * A stage looks at the job and either lets it pass, or ends it by filling its result. The parser's
 * part of the check happens in the box, on the tree that is then compiled.
 */
#include "base/clock.h"
#include "base/own.h"
#include "engine/audit.h"
#include "engine/job.h"
#include "engine/result.h"

enum verdict {
    PASS,
    ENDED /* the result says why */
};

/* What the policy setting means for this isolation. */
static uint64_t policy_of(const struct gb_job *job)
{
    const struct settings *s = &job->request.settings;

    if (s->policy != POLICY_DEFAULT)
        return s->policy;
    return s->isolation >= ISOLATE_LANDLOCK ? POLICY_STANDARD : POLICY_STRICT;
}

static enum verdict stage_check(struct gb_job *job)
{
    struct gb_err err;

    if (job->request.bad_byte >= 0) {
        json_t *finding = json_pack(
            "{s:s,s:s,s:o,s:n,s:n,s:s,s:s}", "rule", "syntax", "severity", "error", "message",
            json_sprintf("the code is not UTF-8: byte %lld is not part of "
                         "a character",
                         (long long)job->request.bad_byte),
            "line", "column", "name", "", "remedy", "save the file as UTF-8");
        result_rejected(job, finding);
        return ENDED;
    }
    if (policy_of(job) != POLICY_STRICT)
        return PASS;
    gb_err_set(&err, GB_E_INVALID, 0, "policy 'strict' is not available in this version");
    if (job->request.settings.isolation >= ISOLATE_LANDLOCK)
        gb_err_hint(&err, "leave --policy out: the kernel holds this box");
    else
        gb_err_hint(&err, "without kernel isolation the default is strict; to run all the same, "
                          "say --policy off and --acknowledge-unsafe");
    result_failed(job, &err);
    return ENDED;
}

static enum verdict stage_approve(struct gb_job *job)
{
    struct gb_err err;

    if (job->request.settings.isolation >= ISOLATE_LANDLOCK ||
        job->engine->config.acknowledge_unsafe)
        return PASS;
    gb_err_set(&err, GB_E_NO_ISOLATION, 0,
               "without kernel isolation the code could do whatever you can");
    gb_err_hint(&err, "use --isolation auto, or add --acknowledge-unsafe");
    result_failed(job, &err);
    return ENDED;
}

/* ---- run ---- */

static void arm(struct gb_job *job, uint64_t ms)
{
    struct timeval in = { .tv_sec = (time_t)(ms / 1000),
                          .tv_usec = (suseconds_t)(ms % 1000 * 1000) };

    (void)evtimer_add(job->on_timeout, &in);
}

/* Only now does the program's clock run: waiting for a box is not its doing. */
static void on_started(void *data)
{
    struct gb_job *job = data;

    arm(job, job->request.settings.timeout_ms);
}

static void on_output(void *data, int stream, const char *bytes, size_t len)
{
    struct gb_job *job = data;

    output_add(stream == 1 ? &job->out : &job->err, bytes, len);
    if (job->callbacks.output)
        job->callbacks.output(job->callbacks.data, job, stream == 1 ? GB_STDOUT : GB_STDERR, bytes,
                              len);
}

static void on_done(void *data, const struct run_outcome *outcome)
{
    struct gb_job *job = data;

    job->run = NULL;
    result_collect(job, outcome);
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

struct run_order order_of(const struct settings *s)
{
    enum {
        INODES = 32 << 10
    };

    return (struct run_order){ .isolation = isolation_of(s),
                               .timeout_ms = s->timeout_ms,
                               .host_network = s->network == NETWORK_HOST,
                               .limits = { .memory_bytes = s->memory_bytes,
                                           .disk_bytes = s->disk_bytes,
                                           .inodes = INODES,
                                           .processes = s->processes,
                                           .open_files = s->open_files,
                                           .cpu_ms = s->cpu_ms } };
}

static enum verdict stage_run(struct gb_job *job)
{
    struct run_order order = order_of(&job->request.settings);
    struct run_events events = {
        .data = job, .started = on_started, .output = on_output, .done = on_done
    };
    enum {
        BOX_WAIT_MS = 60000
    };
    struct backend *b = job->engine->backend;
    struct gb_err err = { 0 };

    order.program = job->request.program;
    order.stdin_data = job->request.stdin_data;
    order.stdin_bytes = job->request.stdin_bytes;
    if (audit_note(job, AUDIT_STARTED, NULL) < 0)
        return ENDED;
    job->on_timeout = evtimer_new(job->engine->base, on_timeout, job);
    if (job->on_timeout) {
        arm(job, BOX_WAIT_MS);
        job->run = b->ops->run(b, &order, &events, &err);
    }
    if (job->run)
        return PASS;
    if (err.code == GB_OK)
        gb_err_set(&err, GB_E_SYSTEM, 0, "memory ran out");
    result_failed(job, &err);
    return ENDED;
}

/* ---- admit, and the whole ---- */

static enum verdict stage_admit(struct gb_job *job, const char *text)
{
    struct gb_err err;
    int r = request_read(&job->engine->config, text, &job->request, &err);

    job->result = result_new(job->request.id);
    output_init(&job->out, job->request.settings.stdout_bytes);
    output_init(&job->err, job->request.settings.stderr_bytes);
    result_update(job->result,
                  json_pack("{s:n,s:b,s:n,s:[],s:n,s:[],s:[],s:n,s:[],s:n,s:s,s:i,s:{s:f,s:f,s:i},"
                            "s:{s:f,s:f,s:f,s:f}}",
                            "value", "has_value", 0, "error", "findings", "limit", "files",
                            "tool_calls", "session", "outputs", "isolation", "policy",
                            policy_name(policy_of(job)), "risk", 0, "usage", "wall_ms", 0.0,
                            "cpu_ms", 0.0, "max_rss_kb", 0, "timings", "check_ms", 0.0, "start_ms",
                            0.0, "run_ms", 0.0, "collect_ms", 0.0));
    if (r == 0)
        return audit_note(job, AUDIT_ADMITTED, NULL) < 0 ? ENDED : PASS;
    result_failed(job, &err);
    return ENDED;
}

void road_begin(struct gb_job *job, const char *text)
{
    static enum verdict (*const stages[])(struct gb_job *) = { stage_check, stage_approve,
                                                               stage_run };
    struct timeval now = { 0 };
    enum verdict v;

    job->admitted_us = clock_us();
    v = stage_admit(job, text);
    for (size_t i = 0; i < ARRAY_LEN(stages) && v == PASS; i++)
        v = stages[i](job);
    if (v == ENDED) /* told from the loop, like any other end */
        (void)evtimer_add(job->engine->on_later, &now);
}
