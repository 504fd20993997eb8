/*
 * How sessions are kept.
 *
 * A job that names a session waits in its queue until it is at the head, and only then goes down
 * the road: what a cell may say can depend on those before it. The session's box is the backend's
 * affair (a place); here are names, order, lifetimes, and what results say.
 *
 * A session that ended behind its users' backs leaves a grave: the next request that names it is
 * told so, once, and not answered from an empty namespace. The one after that begins a new session.
 */
#include "engine/session.h"
#include "engine/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "base/walk.h"
#include "engine/docket.h"
#include "engine/graves.h"
#include "engine/history.h"
#include "engine/loop.h"
#include "engine/result.h"
#include "engine/session_files.h"

struct session {
    struct session *next;
    struct gb_engine *engine;
    char name[SESSION_NAME_MAX + 1];
    struct place *place;
    struct settings made;  /* what its box is made with */
    struct mounts *mounts; /* and what it sees of the host, or NULL */
    struct walk *seen;     /* its workspace after the last cell, or NULL: empty */
    struct gb_job *first;  /* has its turn; those behind it wait */
    size_t n_jobs;
    struct history history; /* for the check */
    struct docket unread[READERS];
    struct gb_buf typed;    /* into its terminal, since the last command began */
    bool is_begun;          /* a cell has run */
    bool is_shell;          /* what lives in it */
    bool is_forked;         /* or a fork itself */
    bool has_pty, is_clean; /* of a shell, as its first command wanted it; and which one: */
    json_t *words;
    const struct gb_job *coming; /* the fork that will begin it; until then its queue stands */
    bool is_lost;                /* what is queued is to hear of it */
    char why[200];
    uint64_t n_cells; /* ever, which names them in tracebacks */
    int64_t born_us, used_us;
    struct event *on_expiry;
};

/* ---- the list ---- */

static struct session *find(const struct gb_engine *engine, const char *name)
{
    struct session *s = engine->sessions;

    while (s && strcmp(s->name, name) != 0)
        s = s->next;
    return s;
}

static void session_free(struct session *s)
{
    struct session **at = &s->engine->sessions;

    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (s->place && !s->engine->freeing)
        s->engine->backend->ops->place_free(s->place);
    if (s->on_expiry)
        event_free(s->on_expiry);
    (void)mounts_unref(s->mounts);
    (void)walk_free(s->seen);
    history_done(&s->history);
    for (size_t i = 0; i < READERS; i++)
        docket_done(&s->unread[i]);
    gb_buf_done(&s->typed);
    json_decref(s->words);
    free(s);
}

/* Its box is gone, or is to go. */
static void empty(struct session *s)
{
    if (s->place)
        s->engine->backend->ops->place_free(s->place);
    s->place = NULL;
    s->seen = walk_free(s->seen);
    s->is_begun = s->is_forked = false;
    s->n_cells = 0;
    history_clear(&s->history);
    for (size_t i = 0; i < READERS; i++)
        docket_clear(&s->unread[i]);
    s->typed.len = 0;
}

static void on_lost(void *data, const struct gb_err *why)
{
    struct session *s = data;

    if (s->first) { /* whoever is about to use it will find out */
        s->is_lost = true;
        (void)snprintf(s->why, sizeof(s->why), "%.190s", why->msg);
        return;
    }
    grave_dig(s->engine, s->name, why->msg);
    session_free(s);
}

static int64_t expires_us(const struct session *s, const char **ret_why)
{
    const struct config *c = &s->engine->config;
    int64_t idle = s->used_us + (int64_t)c->session_idle_ms * 1000;
    int64_t life = s->born_us + (int64_t)c->session_life_ms * 1000;

    *ret_why = idle < life ? "it was idle for too long" : "it has lived for as long as it may";
    return idle < life ? idle : life;
}

static void arm_expiry(struct session *s)
{
    const char *why;
    int64_t in_us = expires_us(s, &why) - clock_us();
    struct timeval in = { 0 };

    if (in_us > 0)
        in = (struct timeval){ .tv_sec = in_us / 1000000, .tv_usec = in_us % 1000000 };
    (void)evtimer_add(s->on_expiry, &in);
}

static void on_expiry(evutil_socket_t fd, short what, void *data)
{
    struct session *s = data;
    const char *why;

    (void)fd;
    (void)what;
    if (s->first)
        return; /* it is used: looked at again when it is not */
    if (expires_us(s, &why) > clock_us()) {
        arm_expiry(s);
        return;
    }
    if (s->is_begun)
        grave_dig(s->engine, s->name, why);
    session_free(s);
}

static struct session *session_new(const struct gb_job *job, const char *name, struct gb_err *err)
{
    struct gb_engine *engine = job->engine;
    struct session *s;
    size_t n = 0;

    for (s = engine->sessions; s; s = s->next)
        n++;
    if (n >= engine->config.sessions_max) {
        (void)gb_fail(err, GB_E_BUSY, 0, "session: there are %zu sessions already", n);
        (void)gb_fail_hint(err, "close one, or allow more with sessions_max");
        return NULL;
    }
    s = calloc(1, sizeof(*s));
    if (s) {
        (void)snprintf(s->name, sizeof(s->name), "%s", name);
        s->engine = engine;
        s->made = job->request.settings;
        s->is_shell = false; /* until a command of one is ordered */
        s->born_us = s->used_us = clock_us();
        history_init(&s->history);
        gb_buf_init(&s->typed, TYPED_KEPT_MAX);
        s->on_expiry = evtimer_new(engine->base, on_expiry, s);
        s->next = engine->sessions;
        engine->sessions = s;
    }
    if (s && s->on_expiry)
        return s;
    if (s)
        session_free(s);
    (void)gb_fail(err, GB_E_SYSTEM, 0, "memory ran out");
    return NULL;
}

void sessions_free(struct gb_engine *engine)
{
    while (engine->sessions)
        session_free(engine->sessions);
    graves_free(engine);
}

/* ---- turns ---- */

static int no_such(const char *name, struct gb_err *err)
{
    (void)gb_fail(err, GB_E_GONE, 0, "session: there is no session '%.80s'", name);
    return gb_fail_hint(err, "a request with code begins one");
}

/* Is there nothing that the request could do where there is no session yet? */
static bool needs_begun(const struct request *r)
{
    return r->is_op && r->op != SESSION_CLOSE && r->op != SESSION_RESET &&
           r->op != SESSION_WRITE_FILE;
}

static struct session *session_for(struct gb_job *job, struct gb_err *err)
{
    const struct request *r = &job->request;
    struct session *s = find(job->engine, r->session);

    if (s)
        return s;
    if (grave_visit(job->engine, r->session, err) < 0)
        return NULL;
    if (needs_begun(r)) {
        (void)no_such(r->session, err);
        return NULL;
    }
    return session_new(job, r->session, err);
}

/* A fork has its name from when it was asked for: a request that comes after it and names it
 * waits. */
static int fork_reserve(const struct gb_job *job, struct gb_err *err)
{
    struct session *fork;

    if (find(job->engine, job->request.into))
        return gb_fail(err, GB_E_INVALID, 0, "into: there is a session '%.80s' already",
                       job->request.into);
    fork = session_new(job, job->request.into, err);
    if (!fork)
        return -1;
    fork->coming = job;
    return 0;
}

enum session_turn session_enter(struct gb_job *job, struct gb_err *err)
{
    struct session *s = session_for(job, err);
    struct gb_job **end;

    if (!s)
        return TURN_REFUSED;
    if (s->n_jobs > job->engine->config.session_queue) {
        (void)gb_fail(err, GB_E_BUSY, 0, "session: %zu requests wait for '%.60s' already",
                      s->n_jobs - 1, s->name);
        (void)gb_fail_hint(err, "wait for results, or allow more with session_queue");
        return TURN_REFUSED;
    }
    if (job->request.op == SESSION_FORK && fork_reserve(job, err) < 0)
        return TURN_REFUSED;
    job->session = s;
    for (end = &s->first; *end; end = &(*end)->behind)
        ;
    *end = job;
    s->n_jobs++;
    return s->first == job && !s->coming ? TURN_NOW : TURN_LATER;
}

static int refuse_other(const struct session *s, const struct request *r, struct gb_err *err)
{
    const struct settings *want = &r->settings;
    const struct {
        const char *key;
        uint64_t have, want;
    } fixed[] = {
        { "isolation", s->made.isolation, want->isolation },
        { "network", s->made.network, want->network },
        { "limits.disk", s->made.disk_bytes, want->disk_bytes },
        { "limits.processes", s->made.processes, want->processes },
        { "limits.open_files", s->made.open_files, want->open_files },
        { "mounts", true, mounts_same(s->mounts, r->mounts) },
    };

    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        if (fixed[i].have == fixed[i].want)
            continue;
        (void)gb_fail(err, GB_E_INVALID, 0, "%s: the session '%.60s' was begun with another",
                      fixed[i].key, s->name);
        return gb_fail_hint(err, "leave it out, or use another session");
    }
    if (want->memory_bytes > s->made.memory_bytes)
        return gb_fail(err, GB_E_INVALID, 0, "limits.memory: the session '%.60s' has less",
                       s->name);
    return 0;
}

/* A strict cell could use what a cell that was not left behind. */
static int refuse_stricter(const struct session *s, const struct gb_job *job, struct gb_err *err)
{
    uint64_t policy = settings_policy(&job->request.settings);

    if (job->request.is_shell || !s->is_begun || policy <= s->history.policy)
        return 0;
    (void)gb_fail(err, GB_E_INVALID, 0,
                  "policy: '%s' means nothing in a session where a cell ran under '%s'",
                  policy_name(policy), policy_name(s->history.policy));
    return gb_fail_hint(err, "reset the session, or use another");
}

static bool is_about_shell(const struct request *r)
{
    return r->op >= SESSION_JOBS;
}

/* Were there only files put into it? Then it can still become either. */
static bool is_untouched(const struct session *s)
{
    return !s->is_shell && s->n_cells == 0 && !s->is_forked;
}

/* What a shell is it is from its first command on. */
static int refuse_other_shell(const struct session *s, const struct request *r, struct gb_err *err)
{
    const struct {
        const char *key;
        bool is_other;
        const char *how;
    } wishes[] = {
        { "shell", r->shell.words && !json_equal(r->shell.words, s->words), "with another" },
        { "pty", r->shell.pty && !s->has_pty, "without a terminal" },
        { "clean_env", r->shell.clean_env && !s->is_clean, "with variables of the operator's" },
    };

    for (size_t i = 0; s->is_begun && s->is_shell && i < ARRAY_LEN(wishes); i++) {
        if (!wishes[i].is_other)
            continue;
        (void)gb_fail(err, GB_E_INVALID, 0, "%s: the session '%.60s' was begun %s", wishes[i].key,
                      s->name, wishes[i].how);
        return gb_fail_hint(err, "leave it out, or use another session");
    }
    return 0;
}

/* A shell has no use for Python, nor an interpreter for commands. */
static int refuse_foreign(const struct session *s, const struct request *r, struct gb_err *err)
{
    bool wants_shell = r->is_shell || is_about_shell(r);
    bool wants_python =
        (!r->is_op && !r->is_shell) || r->op == SESSION_REWIND || r->op == SESSION_FORK;

    if (!s->is_begun || (s->is_shell ? !wants_python : !wants_shell) ||
        (r->is_shell && is_untouched(s)))
        return 0;
    if (r->is_op)
        return gb_fail(err, GB_E_INVALID, 0, "op: the session '%.60s' is %s", s->name,
                       s->is_shell ? "a shell, which cannot be taken back or forked"
                                   : "Python, and has no jobs and no terminal");
    (void)gb_fail(err, GB_E_INVALID, 0, "session: in '%.60s' there is %s", s->name,
                  s->is_shell ? "a shell and no Python" : "Python and no shell");
    return gb_fail_hint(err, "use another session");
}

static int fail_lost(const struct session *s, struct gb_err *err)
{
    (void)gb_fail(err, GB_E_GONE, 0, "the session '%.60s' is gone: %.150s", s->name, s->why);
    return gb_fail_hint(err, "what it held is lost; the next request begins a new one");
}

/* The operator's has run with the first cell, and what it made is there; a request's own is meant
 * for its cell. */
static void skip_prelude(const struct session *s, const struct request *r)
{
    if (s->place && s->engine->backend->ops->place_about(s->place).cell > 0 &&
        !json_object_get(r->json, "prelude"))
        json_object_del(r->program, "prelude");
}

int session_admit(struct gb_job *job, struct gb_err *err)
{
    struct session *s = job->session;
    const char *why;
    bool is_old = s->is_begun && expires_us(s, &why) <= clock_us() &&
                  s->born_us + (int64_t)s->engine->config.session_life_ms * 1000 <= clock_us();

    if (is_old && !s->is_lost) {
        s->is_lost = true;
        (void)snprintf(s->why, sizeof(s->why), "%s", why);
    }
    if (s->is_lost)
        return fail_lost(s, err);
    if (needs_begun(&job->request) && !s->is_begun)
        return no_such(s->name, err);
    if (refuse_foreign(s, &job->request, err) < 0)
        return -1;
    skip_prelude(s, &job->request);
    if (job->request.is_op) {
        if (s->is_begun) /* what holds the session holds what is put into it */
            job->request.settings.isolation = s->made.isolation;
        return 0;
    }
    if (refuse_other_shell(s, &job->request, err) < 0)
        return -1;
    return s->is_begun && refuse_other(s, &job->request, err) < 0 ? -1
                                                                  : refuse_stricter(s, job, err);
}

/* Nobody is in it. */
static void session_rest(struct session *s)
{
    if (s->is_lost || !s->is_begun)
        session_free(s);
    else
        arm_expiry(s);
}

/* The fork is over: its session begins to serve its queue, or tells it that there is none. */
static void fork_settle(const struct gb_job *job)
{
    struct session *fork =
        job->request.op == SESSION_FORK ? find(job->engine, job->request.into) : NULL;

    if (!fork || fork->coming != job)
        return;
    fork->coming = NULL;
    if (!fork->is_begun) {
        fork->is_lost = true;
        (void)snprintf(fork->why, sizeof(fork->why), "the fork that was to begin it failed");
    }
    if (fork->first)
        road_turn(fork->first);
    else if (fork->is_begun)
        arm_expiry(fork);
    else
        session_free(fork);
}

void session_leave(struct gb_job *job)
{
    struct session *s = job->session;
    bool had_turn;

    if (!s)
        return;
    had_turn = s->first == job;
    for (struct gb_job **at = &s->first; *at; at = &(*at)->behind) {
        if (*at == job) {
            *at = job->behind;
            break;
        }
    }
    job->session = NULL;
    s->n_jobs--;
    s->used_us = clock_us();
    if (job->engine->freeing)
        return;
    fork_settle(job);
    if (s->coming)
        return;
    if (!s->first)
        session_rest(s);
    else if (had_turn)
        road_turn(s->first);
}

/* ---- the check ---- */

json_t *session_check_program(const struct gb_job *job, struct gb_err *err)
{
    return history_check_program(&job->session->history, job->request.program, err);
}

json_t *session_findings(const struct gb_job *job, const json_t *findings, json_int_t *risk)
{
    static const struct history none; /* the session may be gone before its check is over */

    return history_findings(job->session ? &job->session->history : &none, job->request.program,
                            findings, risk);
}

/* ---- what is read before it runs ---- */

/* NULL: there is none yet. */
static const struct place_ground *ground_of(const struct session *s, struct place_ground *ret)
{
    if (!s->place || !s->is_begun)
        return NULL;
    *ret = s->engine->backend->ops->place_ground(s->place);
    return ret;
}

json_t *session_unread(struct gb_job *job, enum manifest_reader reader, struct gb_err *err)
{
    struct session *s = job->session;
    struct place_ground ground;

    return docket_unread(&s->unread[reader], ground_of(s, &ground), err);
}

bool session_agree(struct gb_job *job, enum manifest_reader reader)
{
    struct session *s = job->session;
    struct place_ground ground;

    return docket_agree(&s->unread[reader], ground_of(s, &ground));
}

const char *session_typed(const struct gb_job *job, size_t *ret_len)
{
    *ret_len = job->session->typed.len;
    return job->session->typed.data;
}

/* It is about to run: whoever has not read it will, with what comes after it. */
static void note_unread(struct session *s, const struct gb_job *job)
{
    const struct config *config = &s->engine->config;
    char title[64];

    if (job->request.is_op)
        (void)snprintf(title, sizeof(title), "earlier");
    else
        (void)snprintf(title, sizeof(title), "earlier, %s %llu",
                       job->request.is_shell ? "command" : "cell", (unsigned long long)s->n_cells);
    for (size_t i = 0; i < READERS; i++)
        if (!job->was_read[i] && (i != READER_MODEL || config->review))
            docket_add(&s->unread[i], manifest_kept(&job->request, config, title));
}

/* It has run: what it left in the workspace is its doing. */
static void see_read(struct session *s, const struct gb_job *job)
{
    struct place_ground ground;

    for (size_t i = 0; i < READERS; i++)
        if (job->was_read[i] && ground_of(s, &ground))
            docket_see(&s->unread[i], &ground);
}

/* ---- runs ---- */

static void note_shell(struct session *s, const struct request *r)
{
    s->has_pty = json_is_true(json_object_get(r->program, "pty"));
    s->is_clean = r->shell.clean_env;
    json_decref(s->words);
    s->words = json_incref(json_object_get(r->program, "shell"));
}

static int order_cell(struct session *s, struct gb_job *job, struct run_order *order,
                      struct gb_err *err)
{
    json_t *program = job->request.program;

    if (job->request.is_shell) {
        if (!s->is_shell)
            note_shell(s, &job->request);
        s->n_cells++;
        s->typed.len = 0;
        note_unread(s, job);
        shell_session_program(&job->request, &s->engine->config, !s->is_shell);
        s->is_shell = true;
        order->program = program;
        return 0;
    }
    if (history_add(&s->history, program, settings_policy(&job->request.settings), err) < 0)
        return -1;
    s->n_cells++;
    note_unread(s, job);
    json_object_del(program, "check");
    json_object_set_new(program, "session",
                        json_pack("{s:s,s:b}", "op", "cell", "is_strict",
                                  settings_policy(&job->request.settings) == POLICY_STRICT));
    if (!json_object_get(program, "filename"))
        json_object_set_new(program, "filename",
                            json_sprintf("cell-%llu.py", (unsigned long long)s->n_cells));
    order->program = program;
    return 0;
}

static int order_rewind(struct session *s, const struct gb_job *job, struct run_order *order,
                        struct gb_err *err)
{
    struct place_about about = s->engine->backend->ops->place_about(s->place);
    json_int_t cell = json_integer_value(job->request.cell);

    if (!job->request.cell && about.cell == 0)
        return gb_fail(err, GB_E_INVALID, 0, "cell: no cell of the session can be taken back");
    order->act = PLACE_REWIND;
    order->cell = job->request.cell ? (uint64_t)cell : about.cell - 1;
    for (size_t i = 0; i < about.n_cells; i++)
        if (about.cells[i] == order->cell)
            return 0;
    (void)gb_fail(err, GB_E_INVALID, 0, "cell: the session cannot be taken back to cell %lld",
                  (long long)order->cell);
    if (about.n_cells > 0)
        (void)gb_fail_hint(err, "it can to cell %llu at the earliest, and stands at %llu",
                           (unsigned long long)about.cells[0], (unsigned long long)about.cell);
    return -1;
}

/* The other begins as this one is. It is nobody's yet, and goes if the fork does not come to be. */
static int order_fork(struct session *s, struct gb_job *job, struct run_order *order,
                      struct gb_err *err)
{
    struct session *fork = find(s->engine, job->request.into);
    struct place_spec spec = { .copies = (unsigned)s->engine->config.session_checkpoints,
                               .data = fork,
                               .lost = on_lost };
    fork->place = s->engine->backend->ops->place_new(s->engine->backend, &spec);
    if (!fork->place || history_copy(&fork->history, &s->history, err) < 0 ||
        docket_copy(&fork->unread[READER_MODEL], &s->unread[READER_MODEL], err) < 0 ||
        docket_copy(&fork->unread[READER_PERSON], &s->unread[READER_PERSON], err) < 0)
        return gb_fail(err, GB_E_SYSTEM, 0, "memory ran out");
    fork->made = s->made;
    fork->mounts = mounts_ref(s->mounts);
    fork->n_cells = s->n_cells;
    fork->is_forked = s->is_forked = true;
    order->act = PLACE_FORK;
    order->into = fork->place;
    return 0;
}

/* It is there for whoever names it, or it is not. */
static void fork_collect(const struct gb_job *job, const struct run_outcome *o)
{
    struct session *fork = find(job->engine, job->request.into);

    if (!fork || fork->coming != job || o->end != RUN_ANSWERED || o->place == PLACE_LOST)
        return;
    struct place_ground ground = fork->engine->backend->ops->place_ground(fork->place);

    fork->seen =
        session_files_look(&ground, SESSION_FILES_MAX); /* copies, with times of their own */
    fork->is_begun = true;
}

/* What is asked of the guest that changes nothing in it. */
static json_t *inspection(const struct request *r)
{
    static const char *const ops[] = {
        [SESSION_JOBS] = "jobs", [SESSION_JOB_READ] = "job_read", [SESSION_JOB_KILL] = "job_kill",
        [SESSION_TYPE] = "type", [SESSION_SCREEN] = "screen",     [SESSION_RESIZE] = "resize"
    };

    if (!is_about_shell(r))
        return json_pack("{s:s}", "op", "inspect");
    return json_pack("{s:s,s:O?,s:O?,s:O?,s:O?,s:I,s:I,s:I}", "op", ops[r->op], "text", r->typed[0],
                     "keys", r->typed[1], "rows", r->typed[2], "columns", r->typed[3], "job",
                     (json_int_t)r->job, "offset", r->offset, "length", r->length);
}

/* The rules look at what is typed as a whole, as the program that reads it does. */
static int note_typed(struct session *s, const struct gb_job *job, struct gb_err *err)
{
    const json_t *text = job->request.typed[0];

    if (json_string_length(text) + 1 > TYPED_KEPT_MAX - s->typed.len)
        s->typed.len = 0; /* without rules nobody looks at it; with rules it was refused */
    note_unread(s, job);
    if (text && gb_buf_add(&s->typed, json_string_value(text), json_string_length(text), err) < 0)
        return -1;
    return json_array_has(job->request.typed[1], "enter") ? gb_buf_add(&s->typed, "\n", 1, err) : 0;
}

int session_order(struct gb_job *job, struct run_order *order, struct gb_err *err)
{
    struct session *s = job->session;
    struct gb_engine *engine = s->engine;
    struct place_spec spec = { .copies = (unsigned)engine->config.session_checkpoints,
                               .data = s,
                               .lost = on_lost };

    if (s->is_lost) /* since it was its turn */
        return fail_lost(s, err);
    if (!s->place)
        s->place = engine->backend->ops->place_new(engine->backend, &spec);
    if (!s->place)
        return gb_fail(err, GB_E_SYSTEM, 0, "memory ran out");
    if (!s->is_begun) {
        s->made = job->request.settings;
        s->is_shell = false; /* until a command of one is ordered */
        (void)mounts_unref(s->mounts);
        s->mounts = mounts_ref(job->request.mounts);
    }
    order->place = s->place;
    if (job->request.op == SESSION_REWIND)
        return order_rewind(s, job, order, err);
    if (job->request.op == SESSION_CELL)
        return order_cell(s, job, order, err);
    if (job->request.op == SESSION_FORK)
        return order_fork(s, job, order, err);
    if (job->request.op == SESSION_TYPE && note_typed(s, job, err) < 0)
        return -1;
    if (job->request.op == SESSION_WRITE_FILE)
        note_unread(s, job);
    order->act = PLACE_INSPECT;
    json_object_set_new(job->request.program, "session", inspection(&job->request));
    order->program = job->request.program;
    return 0;
}

/* ---- files ---- */

struct walk *session_take_seen(struct gb_job *job)
{
    return take_ptr(job->session->seen);
}

bool session_has_seen(const struct gb_job *job)
{
    return job->session && job->session->seen;
}

void session_see(struct gb_job *job, struct walk *seen)
{
    (void)walk_free(job->session->seen);
    job->session->seen = seen;
}

/* With a digest of what is in it: by the next look the request is gone. */
static void note_file(struct walk *seen, const struct workspace_file *f)
{
    struct walk_entry *e = walk_note(seen, f->path, &f->stamp);
    struct digest d;

    if (!e || (uint64_t)f->stamp.size != f->bytes)
        return;
    digest_begin(&d);
    digest_add(&d, f->data, f->bytes);
    digest_end(&d, e->digest, sizeof(e->digest));
    e->has_digest = true;
}

/* What somebody else put there is no cell's doing. */
static void see_written(const struct gb_job *job)
{
    const struct request_files *f = &job->request.files;
    struct session *s = job->session;

    if (!s->seen) {
        s->seen = walk_new(-1, SESSION_FILES_MAX, false);
        if (s->seen)
            walk_stop(s->seen, WALK_WHOLE);
    }
    for (size_t i = 0; s->seen && i < f->n; i++)
        note_file(s->seen, &f->list[i]);
}

/* ---- results ---- */

static void set_state(struct gb_job *job, const char *state)
{
    const struct session *s = job->session;
    json_t *session = json_pack("{s:s,s:s}", "name", s->name, "state", state);

    if (s->place)
        json_object_set_new(
            session, "cell",
            json_integer((json_int_t)s->engine->backend->ops->place_about(s->place).cell));
    json_object_set_new(job->result, "session", session);
}

static void warn(struct gb_job *job, const char *message)
{
    json_array_append_new(json_object_get(job->result, "findings"),
                          json_pack("{s:s,s:s,s:s,s:n,s:n,s:s}", "rule", "session", "severity",
                                    "warning", "message", message, "line", "column", "name",
                                    job->session->name));
}

void session_collect(struct gb_job *job, const struct run_outcome *o)
{
    struct session *s = job->session;
    json_t *timings = json_object_get(job->result, "timings");

    if (!s)
        return;
    if (o && job->request.op == SESSION_FORK)
        fork_collect(job, o);
    if (!o || o->end == RUN_FAILED) { /* nothing ran */
        s->is_lost |= o && o->place == PLACE_LOST;
        if (s->is_begun && !s->is_lost)
            set_state(job, "intact");
        return;
    }
    json_object_set_new(timings, "check_ms", json_real((double)job->check_us / 1000));
    if (o->place == PLACE_LOST) {
        char text[300];
        (void)snprintf(text, sizeof(text), "the session is gone with all that it held%s%.150s",
                       o->note ? ": " : "", o->note ? o->note : "");
        warn(job, text);
        s->is_lost = true;
        (void)snprintf(s->why, sizeof(s->why), "it ended with the request before");
        return;
    }
    if (o->note)
        warn(job, o->note);
    if (o->place == PLACE_NEW && s->is_begun)
        warn(job,
             "the shell has ended, and a new one has taken its place: variables, functions and "
             "the directory are gone, files are there");
    set_state(job, o->place == PLACE_ROLLED               ? "rolled_back"
                   : s->is_begun && o->place != PLACE_NEW ? "intact"
                                                          : "new");
    s->is_begun = true;
    see_read(s, job);
    if (s->is_shell)
        shell_session_collect(job, o->answer ? o->answer : o->said);
}

/* Whole milliseconds, in seconds. */
static double seconds_since(int64_t us)
{
    int64_t ms = (clock_us() - us) / 1000;

    return (double)ms / 1000;
}

static json_t *about(const struct session *s)
{
    struct place_about p = { 0 };
    json_t *cells = json_array();

    if (s->place)
        p = s->engine->backend->ops->place_about(s->place);
    for (size_t i = 0; i < p.n_cells; i++)
        json_array_append_new(cells, json_integer((json_int_t)p.cells[i]));
    return json_pack("{s:s,s:I,s:o,s:I,s:f,s:f}", "name", s->name, "cell", (json_int_t)p.cell,
                     "checkpoints", cells, "requests", (json_int_t)s->n_jobs, "age_s",
                     seconds_since(s->born_us), "idle_s",
                     s->first ? 0.0 : seconds_since(s->used_us));
}

static void answer(struct gb_job *job, json_t *value)
{
    result_update(job->result, json_pack("{s:s,s:i,s:o,s:b,s:n}", "status", "ok", "exit_code", 0,
                                         "value", value, "has_value", 1, "error"));
}

void session_answer(struct gb_job *job, const struct run_outcome *o)
{
    json_t *value;

    if (o->end != RUN_ANSWERED && !(job->request.op == SESSION_REWIND && o->end == RUN_KILLED))
        return;
    if ((o->place != PLACE_INTACT && o->place != PLACE_NEW) || !job->session)
        return;
    value = about(job->session);
    if (is_about_shell(&job->request)) {
        json_object_set(value, "jobs", json_object_get(job->result, "jobs"));
        if (json_is_object(json_object_get(o->answer, "value")))
            json_object_set(value, "output", json_object_get(o->answer, "value"));
        if (json_object_get(job->result, "pty"))
            json_object_set(value, "pty", json_object_get(job->result, "pty"));
    }
    if (job->request.op == SESSION_WRITE_FILE) {
        see_written(job);
        json_object_set_new(value, "files", json_integer((json_int_t)job->request.files.n));
    }
    if (job->request.op == SESSION_FORK)
        json_object_set_new(value, "into", json_string(job->request.into));
    if (job->request.op == SESSION_INSPECT)
        json_object_set(value, "contents", json_object_get(job->result, "value"));
    answer(job, value);
}

size_t engine_sessions(const struct gb_engine *engine)
{
    size_t n = 0;

    for (const struct session *s = engine->sessions; s; s = s->next)
        n += s->is_begun;
    return n;
}

static json_t *list(const struct gb_engine *engine)
{
    json_t *all = json_array();

    for (const struct session *s = engine->sessions; s; s = s->next)
        if (s->is_begun)
            json_array_append_new(all, about(s));
    return all;
}

/* Seen from outside, whatever state its process is in. */
static void serve_files(struct gb_job *job)
{
    struct session *s = job->session;
    struct place_ground ground = s->engine->backend->ops->place_ground(s->place);
    struct gb_err err = { 0 };
    json_t *value = job->request.op == SESSION_LIST_FILES
                        ? session_files_list(&ground, &err)
                        : session_files_read(&ground, &job->request, &err);

    if (value)
        answer(job, value);
    else
        result_failed(job, &err);
    set_state(job, "intact");
}

void session_serve(struct gb_job *job)
{
    struct session *s = job->session;

    if (job->request.op == SESSION_LIST) {
        answer(job, list(job->engine));
        return;
    }
    if (job->request.op == SESSION_LIST_FILES || job->request.op == SESSION_READ_FILE) {
        serve_files(job);
        return;
    }
    answer(job, json_pack("{s:s,s:b}", "name", s->name, "existed", s->is_begun));
    empty(s);
}
