/* The public API: engines and their jobs. Everything a job goes through is in road.c. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "backend/local.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "engine/audit.h"
#include "engine/capture.h"
#include "engine/control.h"
#include "engine/doctor.h"
#include "engine/instructions.h"
#include "engine/job.h"
#include "engine/loop.h"
#include "engine/mounts.h"
#include "engine/outdir.h"
#include "engine/probe.h"
#include "engine/result.h"
#include "engine/review.h"
#include "engine/road.h"
#include "engine/session.h"

enum {
    EXPLAIN_WAIT_MS = 20000,
    AWAKE_US = 300, /* at most, in a call that waits */
    SHORT_US = 600, /* a run that is worth it */
};

const char *gb_version(void)
{
    return GLOVEBOX_VERSION;
}

static char *error_text(const struct gb_err *err)
{
    auto_json json_t *json = json_pack("{s:s,s:o,s:o}", "type", gb_code_name(err->code), "message",
                                       json_lossy(err->msg), "hint", json_lossy(err->hint));
    return json_text(json);
}

/* ---- jobs ---- */

static void job_free(struct gb_job *job)
{
    struct gb_job **at = &job->engine->jobs;

    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    job->engine->n_jobs--;
    if (job->on_timeout)
        event_free(job->on_timeout);
    review_cancel(job->review);
    (void)capture_free(job->capture);
    gb_closep(&job->keeper);
    output_done(&job->out);
    output_done(&job->err);
    spill_done(&job->spill);
    free(job->plain);
    request_done(&job->request);
    json_decref(job->result);
    free(job);
}

void job_deliver(struct gb_job *job)
{
    auto_free char *text = NULL;
    struct gb_engine *engine = job->engine;

    calls_end(job);
    session_leave(job);
    audit_end(job);
    if (job->done) {
        job->done(job->callbacks.data, take_ptr(job->result));
    } else if (job->callbacks.done) {
        text = json_text(job->result);
        job->callbacks.done(job->callbacks.data, job, text ? text : "{\"status\":\"failed\"}");
    }
    job_free(job);
    audit_idle(engine);
}

/* Jobs that ended on the road before they ran, and those that wait for gb_start() to return. */
static void on_later(evutil_socket_t fd, short what, void *data)
{
    struct gb_engine *e = data;
    struct gb_job *job = e->jobs;

    (void)fd;
    (void)what;
    while (job) { /* from the start after each: a callback may begin jobs */
        if (job->is_over) {
            job_deliver(job);
            job = e->jobs;
        } else if (job->is_put_off) {
            job->is_put_off = false;
            road_resume(job);
            job = e->jobs;
        } else {
            job = job->next;
        }
    }
}

struct gb_job *gb_start(struct gb_engine *engine, const char *request,
                        const struct gb_callbacks *callbacks)
{
    struct gb_job *job = engine->freeing ? NULL : calloc(1, sizeof(*job));
    size_t size = callbacks ? callbacks->size : 0;

    if (!job)
        return NULL;
    job->engine = engine;
    job->keeper = -1;
    if (size > sizeof(job->callbacks))
        size = sizeof(job->callbacks);
    if (size > 0)
        memcpy(&job->callbacks, callbacks, size);
    job->next = engine->jobs;
    engine->jobs = job;
    engine->n_jobs++;
    job->is_starting = true;
    road_begin(job, request);
    job->is_starting = false;
    return job;
}

struct gb_job *engine_start(struct gb_engine *engine, const char *request,
                            const struct gb_callbacks *callbacks,
                            void (*done)(void *data, json_t *result))
{
    struct gb_job *job = gb_start(engine, request, callbacks); /* which calls nobody back */

    if (job)
        job->done = done;
    return job;
}

void gb_cancel(struct gb_job *job)
{
    if (job->is_over || job->ended_us != 0 || job->stopped != STOP_NONE)
        return;
    job->stopped = STOP_CANCEL;
    if (job->run)
        job->engine->backend->ops->kill(job->run);
    else if (!job->is_looking)
        road_cancel(job);
}

void gb_interrupt(struct gb_job *job)
{
    if (job->run && job->stopped == STOP_NONE)
        job->engine->backend->ops->interrupt(job->run);
}

int gb_approve(struct gb_job *job, int yes, const char *reason)
{
    return road_approve(job, yes, reason);
}

/* ---- tools ---- */

/* Put another set in place of the one that requests find; `set` is taken. */
static int replace_tools(struct gb_engine *engine, struct toolset *set, const struct gb_err *err,
                         char **ret_error)
{
    if (!set) {
        if (ret_error)
            *ret_error = error_text(err);
        return -1;
    }
    struct toolset *before = engine->config.tools;
    struct gb_err why;

    engine->config.tools = set;
    if (control_guard(&engine->config, engine->config.mounts, &why) < 0) {
        engine->config.tools = before;
        toolset_unref(set);
        if (ret_error)
            *ret_error = error_text(&why);
        return -1;
    }
    toolset_unref(before);
    return 0;
}

int engine_guard_program(struct gb_engine *engine, char *const *argv, const char *dir,
                         struct gb_err *err)
{
    return control_add_program(&engine->config, argv, dir, err);
}

static json_t *read_tools(const char *text, struct gb_err *err)
{
    json_error_t where;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &where);

    if (!json)
        (void)gb_fail(err, GB_E_INVALID, 0, "not JSON: %s (line %d, column %d)", where.text,
                      where.line, where.column);
    return json;
}

int gb_tools_set(struct gb_engine *engine, const char *tools, char **ret_error)
{
    struct gb_err err = { 0 };
    auto_json json_t *json = read_tools(tools ? tools : "[]", &err);

    return replace_tools(engine, json ? toolset_read(json, &err) : NULL, &err, ret_error);
}

int gb_tool_add(struct gb_engine *engine, const char *tool, char **ret_error)
{
    struct gb_err err = { 0 };
    auto_json json_t *json = read_tools(tool, &err);

    return replace_tools(engine, json ? toolset_with(engine->config.tools, json, &err) : NULL, &err,
                         ret_error);
}

int gb_tool_remove(struct gb_engine *engine, const char *name, char **ret_error)
{
    struct gb_err err = { 0 };

    return replace_tools(engine, toolset_without(engine->config.tools, name, &err), &err,
                         ret_error);
}

int engine_use_tools(struct gb_engine *engine, struct toolset *set, char **ret_error)
{
    struct gb_err none = { 0 };

    return replace_tools(engine, set, &none, ret_error);
}

char *gb_tools(const struct gb_engine *engine)
{
    auto_json json_t *list = toolset_json(engine->config.tools);

    return json_text(list);
}

int gb_tool_result(struct gb_call *call, const char *result)
{
    return calls_answer(call, result);
}

int gb_tool_error(struct gb_call *call, const char *type, const char *message)
{
    return calls_refuse(call, type, message);
}

char *gb_probe(struct gb_engine *engine, const char *options)
{
    return probe_shell(engine, options);
}

char *gb_instructions(struct gb_engine *engine, const char *request)
{
    return instructions_text(engine, request);
}

/* ---- the loop ---- */

static void on_wake(evutil_socket_t fd, short what, void *data)
{
    uint64_t n;

    (void)what;
    (void)data;
    (void)!read(fd, &n, sizeof(n));
}

/* Only makes the loop come round. */
static void on_step(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)data;
}

int gb_step(struct gb_engine *engine, int timeout_ms)
{
    struct timeval tv = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };

    if (timeout_ms > 0)
        (void)evtimer_add(engine->on_step, &tv);
    (void)event_base_loop(engine->base, timeout_ms == 0 ? EVLOOP_NONBLOCK : EVLOOP_ONCE);
    if (timeout_ms > 0)
        (void)evtimer_del(engine->on_step);
    return engine->n_jobs;
}

void gb_wake(struct gb_engine *engine)
{
    uint64_t one = 1;

    (void)!write(engine->wake_fd, &one, sizeof(one));
}

int gb_waiting(const struct gb_engine *engine)
{
    return engine->backend->ops->waiting(engine->backend);
}

struct blocking {
    char *result;
    bool done;
};

static void keep_result(void *data, struct gb_job *job, const char *result)
{
    struct blocking *b = data;

    (void)job;
    b->result = strdup(result);
    b->done = true;
}

/* To be put to sleep and woken again costs as much as a small command of a shell that stays: where
 * the last run was such a one, look for its end a few times before. */
static void wait_awake(struct gb_engine *engine, const struct blocking *b, int64_t from_us)
{
    while (!b->done && clock_us() - from_us < AWAKE_US) {
        (void)event_base_loop(engine->base, EVLOOP_NONBLOCK);
        (void)sched_yield(); /* there may be but one processor */
    }
}

char *gb_run(struct gb_engine *engine, const char *request)
{
    struct blocking b = { 0 };
    struct gb_callbacks callbacks = { .size = sizeof(callbacks), .data = &b, .done = keep_result };
    int64_t from_us = clock_us();

    if (!gb_start(engine, request, &callbacks))
        return NULL;
    if (engine->was_short)
        wait_awake(engine, &b, from_us);
    while (!b.done)
        (void)event_base_loop(engine->base, EVLOOP_ONCE);
    engine->was_short = clock_us() - from_us < SHORT_US;
    return b.result;
}

/* ---- for faces ---- */

bool engine_must_be_freed(const struct gb_engine *engine)
{
    return engine->backend->must_be_freed;
}

struct event_base *engine_loop(const struct gb_engine *engine)
{
    return engine->base;
}

bool engine_admits(const struct gb_engine *engine, const char *request)
{
    struct gb_err ignored;
    struct request r;
    int e = request_read(&engine->config, request, &r, &ignored);

    request_done(&r);
    return e == 0;
}

uint64_t engine_timeout_ms(const struct gb_engine *engine, bool *ret_is_loose)
{
    *ret_is_loose = json_array_has(engine->config.allow_request, "timeout");
    return engine->config.settings.timeout_ms;
}

void engine_host_tools(struct gb_engine *engine, const struct tool_host *host)
{
    engine->calls.host = host ? *host : (struct tool_host){ 0 };
}

int engine_tool_blocks(struct gb_call *call, const char *result)
{
    return calls_answer_blocks(call, result);
}

const char *engine_directory(const struct gb_engine *engine)
{
    return engine->config.extension_dir;
}

bool engine_reaches_out(const struct gb_engine *engine)
{
    const struct config *c = &engine->config;
    const struct settings *s = &c->settings;

    return s->network != NETWORK_NONE || mounts_any_rw(c->mounts) || toolset_count(c->tools) > 0 ||
           json_array_has(c->allow_request, "network") ||
           json_array_has(c->allow_request, "mounts");
}

struct engine_session_times engine_session_times(const struct gb_engine *engine)
{
    return (struct engine_session_times){ .idle_ms = engine->config.session_idle_ms,
                                          .life_ms = engine->config.session_life_ms };
}

/* ---- explain ---- */

static void explain_mounts(json_t *plan, const struct mounts *mounts)
{
    const char *level = json_string_value(json_object_get(plan, "level"));

    json_object_set_new(plan, "mounts",
                        mounts_json(mounts, level && strcmp(level, "namespaces") == 0));
}

int engine_can_hold(struct gb_engine *engine, struct gb_err *err)
{
    struct backend *b = engine->backend;
    struct request r;
    struct run_order order;
    auto_json json_t *plan = NULL;

    if (request_read(&engine->config, "{\"code\":\"\"}", &r, err) == 0) {
        order = order_of(&r.settings, r.mounts);
        plan = b->ops->explain(b, &order, err);
    }
    request_done(&r);
    return plan ? 1 : err->code == GB_E_BUSY ? 0 : -1;
}

char *gb_explain(struct gb_engine *engine, const char *request)
{
    struct backend *b = engine->backend;
    struct request r;
    struct gb_err err;
    struct run_order order;
    int64_t until = clock_us() + (int64_t)EXPLAIN_WAIT_MS * 1000;
    auto_json json_t *plan = NULL;

    if (request_read(&engine->config, request, &r, &err) < 0) {
        request_done(&r);
        return result_failed_text(&err);
    }
    order = order_of(&r.settings, r.mounts);
    while (!plan) {
        err.code = GB_OK;
        plan = b->ops->explain(b, &order, &err);
        if (!plan && (err.code != GB_E_BUSY || clock_us() > until))
            break;
        if (!plan)
            (void)gb_step(engine, 100);
    }
    if (plan) {
        json_object_set_new(plan, "backend", json_string(b->ops->name));
        json_object_set(plan, "check", json_object_get(r.program, "check"));
        json_object_set_new(plan, "timeout_ms", json_integer((json_int_t)r.settings.timeout_ms));
        json_object_set(plan, "env", engine->config.env);
        explain_mounts(plan, r.mounts);
        json_object_set_new(plan, "limits",
                            json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "memory",
                                      (json_int_t)order.limits.memory_bytes, "disk",
                                      (json_int_t)order.limits.disk_bytes, "inodes",
                                      (json_int_t)order.limits.inodes, "processes",
                                      (json_int_t)order.limits.processes, "open_files",
                                      (json_int_t)order.limits.open_files, "cpu_ms",
                                      (json_int_t)order.limits.cpu_ms));
    }
    request_done(&r);
    return plan ? json_text(plan) : result_failed_text(&err);
}

char *gb_doctor(struct gb_engine *engine)
{
    return doctor_report(engine);
}

/* ---- engines ---- */

/* Programs in the box find the interpreter that runs them first. */
static void prefer_interpreter(json_t *env, const char *python)
{
    const char *slash = python ? strrchr(python, '/') : NULL;
    const char *path = json_string_value(json_object_get(env, "PATH"));

    if (slash && slash > python && python[0] == '/' && path && strncmp(python, "/usr/bin/", 9) != 0)
        json_object_set_new(env, "PATH",
                            json_sprintf("%.*s:%s", (int)(slash - python), python, path));
}

static int start_backend(struct gb_engine *e, struct gb_err *err)
{
    struct local_spec spec = { .base = e->base,
                               .python = e->config.python,
                               .extension_dir = e->config.extension_dir,
                               .preload = e->config.preload,
                               .env = e->config.env,
                               .cgroup = e->config.cgroup,
                               .pool = e->config.pool,
                               .oneshot = e->config.oneshot,
                               .usual = order_of(&e->config.settings, e->config.mounts) };

    prefer_interpreter(e->config.env, e->config.python);
    return local_new(&spec, &e->backend, err);
}

struct event_base *engine_loop_new(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    /* One thread drives an engine, so libevent needs no locks; timers want microseconds. */
    if (config) {
        (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_PRECISE_TIMER |
                                                EVENT_BASE_FLAG_IGNORE_ENV);
        base = event_base_new_with_config(config);
        event_config_free(config);
    }
    return base;
}

static int start_loop(struct gb_engine *e, struct gb_err *err)
{
    if (!e->base)
        e->base = engine_loop_new();
    e->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (e->base && e->wake_fd >= 0) {
        e->on_wake = event_new(e->base, e->wake_fd, EV_READ | EV_PERSIST, on_wake, e);
        e->on_later = evtimer_new(e->base, on_later, e);
        e->on_step = evtimer_new(e->base, on_step, e);
    }
    if (!e->on_wake || !e->on_later || !e->on_step || event_add(e->on_wake, NULL) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making an event loop");
    return 0;
}

static int open_out(struct gb_engine *e, struct gb_err *err)
{
    if (e->config.out)
        e->out = outdir_open(e->config.out, err);
    return e->config.out && e->out < 0 ? -1 : 0;
}

/* Who cannot review is a mistake in the configuration, and not one in the first program. Looked at
 * while the interpreter starts. */
static int check_reviewer(struct gb_engine *e, struct gb_err *err)
{
    struct review_spec spec = review_of(e);

    return spec.url ? review_check(&spec, err) : 0;
}

int gb_engine_new(const char *config, struct gb_engine **ret, char **ret_error)
{
    return engine_new_on(NULL, config, ret, ret_error);
}

int engine_new_on(struct event_base *base, const char *config, struct gb_engine **ret,
                  char **ret_error)
{
    struct gb_engine *e = calloc(1, sizeof(*e));
    struct gb_err err = { .code = GB_E_SYSTEM, .msg = "memory ran out" };

    if (e) {
        e->base = base;
        e->is_guest = base != NULL;
        e->wake_fd = e->out = -1;
        if (config_init(&e->config, config, &err) == 0 && audit_open(e, &err) == 0 &&
            open_out(e, &err) == 0 && start_loop(e, &err) == 0 && start_backend(e, &err) == 0 &&
            check_reviewer(e, &err) == 0) {
            *ret = e;
            return 0;
        }
    }
    (void)gb_engine_free(e);
    if (ret_error)
        *ret_error = error_text(&err);
    return -1;
}

struct gb_engine *gb_engine_free(struct gb_engine *engine)
{
    if (!engine)
        return NULL;
    engine->freeing = true;
    for (struct gb_job *job = engine->jobs; job; job = job->next)
        job->stopped = job->stopped == STOP_NONE ? STOP_CANCEL : job->stopped;
    if (engine->backend)
        engine->backend->ops->free(engine->backend); /* ends the jobs that run */
    while (engine->jobs) {
        road_abandon(engine->jobs);
        job_deliver(engine->jobs);
    }
    calls_close(engine);
    sessions_free(engine);
    review_link_done(&engine->review_link);
    if (engine->on_wake)
        event_free(engine->on_wake);
    if (engine->on_later)
        event_free(engine->on_later);
    if (engine->on_step)
        event_free(engine->on_step);
    if (engine->base && !engine->is_guest)
        event_base_free(engine->base);
    gb_closep(&engine->wake_fd);
    gb_closep(&engine->out);
    audit_close(engine);
    config_done(&engine->config);
    free(engine);
    return NULL;
}
