#include "engine/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "engine/result.h"
#include "engine/trail.h"

enum {
    ID_MAX = 256,   /* bytes of JSON; a longer id is recorded as its digest */
    TEXT_MAX = 500, /* bytes of a reviewer's reason and the like */
    RULES_MAX = 64,
    RULE_MAX = 48
};

/* ---- facts ---- */

static void put(json_t *facts, const char *key, json_t *value)
{
    if (value)
        json_object_set_new(facts, key, value);
}

/* Unless it is null: what there is not is left out. */
static void copy(json_t *facts, const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);

    if (!json_is_null(value))
        put(facts, key, json_incref(value));
}

/* A scalar as it is, but text not longer than TEXT_MAX; nothing for the rest. */
static json_t *scalar(const json_t *value)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);

    if (json_is_object(value) || json_is_array(value))
        return NULL;
    if (!text || len <= TEXT_MAX)
        return json_incref(json_shared(value));
    len = TEXT_MAX;
    while (len > 0 && (text[len] & 0xc0) == 0x80) /* not in the middle of a character */
        len--;
    return json_stringn(text, len);
}

static void copy_scalars(json_t *facts, const json_t *from)
{
    const char *key;
    json_t *value;

    json_object_foreach (json_shared(from), key, value)
        if (!json_is_null(value))
            put(facts, key, scalar(value));
}

/* The checker's own names; a finding says nothing else that is not the program's. */
static bool is_rule(const char *name)
{
    size_t len = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") : 0;

    return len > 0 && len <= RULE_MAX && name[len] == '\0';
}

/* How often each rule was broken. */
static json_t *rules_of(const json_t *findings)
{
    json_t *rules = json_object();

    for (size_t i = 0; i < json_array_size(findings); i++) {
        const char *rule = json_string_value(json_object_get(json_array_get(findings, i), "rule"));
        json_int_t n;

        if (!is_rule(rule))
            rule = "other";
        n = json_integer_value(json_object_get(rules, rule));
        if (n > 0 || json_object_size(rules) < RULES_MAX)
            json_object_set_new(rules, rule, json_integer(n + 1));
    }
    return rules;
}

static void add_admitted(const struct gb_job *job, json_t *facts)
{
    const json_t *code = json_object_get(job->request.program, "code");
    json_t *kind = json_object_get(job->request.json, "kind");
    json_t *settings = settings_json(&job->request.settings);

    copy(settings, job->result, "policy"); /* what it came to here */
    put(facts, "kind", kind ? json_incref(kind) : json_string("python"));
    if (job->request.session)
        put(facts, "session", json_string(job->request.session));
    put(facts, "code_bytes", json_integer((json_int_t)json_string_length(code)));
    put(facts, "settings", settings);
}

static void add_checked(const struct gb_job *job, json_t *facts)
{
    const json_t *findings = json_object_get(job->result, "findings");
    const char *status = json_string_value(json_object_get(job->result, "status"));

    put(facts, "verdict",
        json_string(status && strcmp(status, "rejected") == 0 ? "rejected" : "passed"));
    put(facts, "rules", rules_of(findings));
    copy(facts, job->result, "risk");
}

static void add_reviewed(const struct gb_job *job, json_t *facts)
{
    static const char *const keys[] = { "model", "verdict", "reason", "ms", "attempts" };
    const json_t *review = json_object_get(job->result, "review");

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!json_is_null(json_object_get(review, keys[i])))
            put(facts, keys[i], scalar(json_object_get(review, keys[i])));
    copy(facts, review, "tokens"); /* numbers that we counted up, or null */
}

static void add_started(const struct gb_job *job, json_t *facts)
{
    put(facts, "backend", json_string(job->engine->backend->ops->name));
    copy(facts, job->result, "isolation"); /* once the box is known */
}

static void add_limit(const struct gb_job *job, json_t *facts)
{
    const json_t *limit = json_object_get(job->result, "limit");

    if (json_is_string(limit)) {
        copy(facts, job->result, "limit");
        put(facts, "value", json_incref(json_object_get(job->result, "limit_value")));
    } else {
        put(facts, "limit", json_string("timeout"));
        put(facts, "value", json_integer((json_int_t)job->request.settings.timeout_ms));
    }
}

static void add_finished(const struct gb_job *job, json_t *facts)
{
    static const char *const keys[] = { "status",    "exit_code",    "limit",
                                        "isolation", "stdout_bytes", "stderr_bytes",
                                        "usage",     "timings",      "risk" };
    const json_t *result = job->result;
    const char *status = json_string_value(json_object_get(result, "status"));

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        copy(facts, result, keys[i]);
    put(facts, "rules", rules_of(json_object_get(result, "findings")));
    if (job->calls.total > 0)
        put(facts, "tool_calls",
            json_pack("{s:I,s:I}", "total", (json_int_t)job->calls.total, "failed",
                      (json_int_t)job->calls.failed));
    /* Our own word; the type of an exception is the program's. */
    if (status && strcmp(status, "failed") == 0)
        put(facts, "error", json_incref(json_object_get(json_object_get(result, "error"), "type")));
}

static const char *const names[] = {
#define X(sym, text) [AUDIT_##sym] = (text),
    AUDIT_EVENT_MAP(X)
#undef X
};

static void (*const adders[ARRAY_LEN(names)])(const struct gb_job *job, json_t *facts) = {
    [AUDIT_ADMITTED] = add_admitted, [AUDIT_CHECKED] = add_checked, [AUDIT_REVIEWED] = add_reviewed,
    [AUDIT_STARTED] = add_started,   [AUDIT_LIMIT_HIT] = add_limit, [AUDIT_FINISHED] = add_finished,
};

/* ---- whose line it is ---- */

/* Of the bytes that came, also when they are no text and the program has none of them. */
static void digest_code(const struct request *r, char ret[DIGEST_HEX + 1])
{
    const json_t *code = json_object_get(r->program, "code");
    const char *sent =
        json_string_at(r->json, "code_base64", json_string_at(r->json, "command_base64", NULL));
    const json_t *prelude = json_object_get(r->program, "prelude");
    uint64_t len;

    if (r->op == SESSION_TYPE)
        code = r->typed[0];
    if (r->bad_byte >= 0 && sent) {
        auto_free char *bytes = strdup(sent);
        len = strlen(sent);
        if (bytes && base64_decode(bytes, &len))
            digest_hex(bytes, len, ret);
    } else if (code && (prelude || r->shell.words)) { /* code as well */
        auto_json json_t *all =
            json_pack("[O?,O?,O]", json_shared(prelude), r->shell.words, json_shared(code));
        auto_free char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
        if (text)
            digest_hex(text, strlen(text), ret);
    } else if (code) {
        digest_hex(json_string_value(code), json_string_length(code), ret);
    }
}

/* Of the rules that the code is checked by, as they were resolved for this request. */
static void digest_policy(const struct gb_job *job, char ret[DIGEST_HEX + 1])
{
    json_t *rules = json_object_get(job->request.program, "check");
    auto_json json_t *all = rules ? json_incref(rules) : json_object();
    auto_free char *text = NULL;

    if (!rules)
        copy(all, job->result, "policy");
    text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
    if (text)
        digest_hex(text, strlen(text), ret);
}

static void identify(struct gb_job *job)
{
    struct job_record *r = &job->record;

    (void)snprintf(r->run, sizeof(r->run), "%s-%" PRIu64, trail_id(job->engine->trail),
                   ++job->engine->n_runs);
    digest_code(&job->request, r->code);
    manifest_digest(&job->request, &job->engine->config, r->asked);
    digest_policy(job, r->policy);
}

static void put_digest(json_t *facts, const char *key, const char *hex)
{
    put(facts, key, hex[0] ? json_string(hex) : json_null());
}

static json_t *identity(const struct gb_job *job)
{
    const struct job_record *r = &job->record;
    json_t *facts = json_object(), *id = job->request.id;
    auto_free char *text = id ? json_dumps(id, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    char hex[DIGEST_HEX + 1];

    put(facts, "run", json_string(r->run));
    if (text && strlen(text) <= ID_MAX) {
        put(facts, "id", json_incref(id));
    } else if (text) {
        digest_hex(text, strlen(text), hex);
        put_digest(facts, "id_sha256", hex);
    }
    put_digest(facts, "code_sha256", r->code);
    put_digest(facts, "asked_sha256", r->asked);
    put_digest(facts, "policy_sha256", r->policy);
    return facts;
}

/* ---- notes ---- */

static void fail(struct gb_job *job, const struct gb_err *err)
{
    struct job_record *r = &job->record;

    if (!r->is_failed)
        r->err = *err; /* the first tells most */
    r->is_failed = true;
    if (!job->engine->config.audit_required)
        return;
    result_failed(job, &r->err);
    if (job->run && job->stopped == STOP_NONE) {
        job->stopped = STOP_CANCEL;
        job->engine->backend->ops->kill(job->run);
    }
}

int audit_note(struct gb_job *job, enum audit_event event, json_t *facts)
{
    auto_json json_t *more = facts;
    auto_json json_t *all = NULL;
    auto_free char *text = NULL;
    struct gb_err err;
    int r;

    if (!job->engine->trail)
        return 0;
    if (!job->record.run[0])
        identify(job);
    job->record.noted |= 1u << event;
    all = identity(job);
    if (adders[event])
        adders[event](job, all);
    if (more)
        copy_scalars(all, more);
    text = json_text(all);
    r = text ? trail_write(job->engine->trail, names[event], text, &err)
             : gb_fail(&err, GB_E_AUDIT, 0, "memory ran out while an event was recorded");
    if (r < 0)
        fail(job, &err);
    return r < 0 && job->engine->config.audit_required ? -1 : 0;
}

static bool has_status(const struct gb_job *job, const char *status)
{
    const char *have = json_string_value(json_object_get(job->result, "status"));

    return have && strcmp(have, status) == 0;
}

/* What the road did not stop for. */
static void note_rest(struct gb_job *job, bool ran)
{
    if ((ran || has_status(job, "rejected")) && !(job->record.noted & 1u << AUDIT_CHECKED))
        (void)!audit_note(job, AUDIT_CHECKED, NULL);
    if (has_status(job, "limit") || (has_status(job, "timeout") && ran))
        (void)!audit_note(job, AUDIT_LIMIT_HIT, NULL);
}

void audit_end(struct gb_job *job)
{
    const struct job_record *r = &job->record;
    bool ran = json_is_object(json_object_get(job->result, "isolation"));
    struct gb_err err;

    if (!job->engine->trail)
        return;
    note_rest(job, ran);
    if (r->is_failed && job->engine->config.audit_required) /* collecting has said otherwise */
        result_failed(job, &r->err);
    (void)!audit_note(job, AUDIT_FINISHED, NULL);
    if (!r->is_failed)
        return;
    err = r->err;
    json_object_set_new(job->result, "audit_error", json_lossy(err.msg));
    if (job->engine->config.audit_required && job->has_begun) {
        gb_err_prefix(&err, "the program ran, but not all of it could be recorded");
        result_failed(job, &err);
    }
}

/* ---- the engine's file ---- */

int audit_open(struct gb_engine *engine, struct gb_err *err)
{
    return engine->config.audit ? trail_open(engine->config.audit, &engine->trail, err) : 0;
}

void audit_close(struct gb_engine *engine)
{
    engine->trail = trail_close(engine->trail);
}

void audit_idle(struct gb_engine *engine)
{
    if (engine->trail && engine->config.oneshot && engine->n_jobs == 0)
        trail_rest(engine->trail);
}
