/*
 * Who else is to agree before a program runs: a model that reads it, a person who is asked. Both
 * wait for the box to have checked it, and what they say is recorded.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "engine/audit.h"
#include "engine/manifest.h"
#include "engine/mounts.h"
#include "engine/result.h"
#include "engine/review.h"
#include "engine/road.h"
#include "engine/session.h"

enum {
    REASON_MAX = 4 << 10
};

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

bool consent_must_hold(const struct gb_job *job)
{
    return job->request.is_check || job->engine->config.review || consent_of(job) != CONSENT_GIVEN;
}

/* ---- what they read ---- */

/* All that decides what would execute: of the request, and of its session what this reader has not
 * seen. New reference; NULL with err. */
static json_t *parts_for(struct gb_job *job, enum manifest_reader reader, struct gb_err *err)
{
    json_t *parts = manifest_parts(&job->request, &job->engine->config, err);
    auto_json json_t *unread = parts && job->session ? session_unread(job, reader, err) : NULL;

    if (parts && job->session && (!unread || manifest_insert(parts, unread, err) < 0)) {
        json_decref(parts);
        return NULL;
    }
    return parts;
}

static const char changed[] =
    "files of the session were changed by what runs there, while it was being read";
static const char again[] = "ask again, or reset the session";

/* Is what the reader agreed to still what is there? */
static bool agrees(struct gb_job *job, enum manifest_reader reader)
{
    job->was_read[reader] = !job->session || session_agree(job, reader);
    return job->was_read[reader];
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
        if (agrees(job, READER_MODEL)) {
            road_resume(job);
            return;
        }
        result_rejected(job, "review", changed, again);
        road_end_early(job);
        return;
    }
    if (json_is_string(error) || !verdict)
        reject_unreviewed(job, json_string_value(error));
    else
        reject_reviewed(job, "the reviewer objects",
                        json_string_value(json_object_get(verdict, "reason")), "",
                        "change what the reviewer objects to");
    road_end_early(job);
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

enum verdict consent_review(struct gb_job *job)
{
    struct review_spec spec = review_of(job->engine);
    auto_json json_t *tools = NULL, *parts = NULL;
    struct gb_err err = { 0 };

    if (!spec.url)
        return PASS;
    tools = toolset_names(job->request.tools, false);
    parts = parts_for(job, READER_MODEL, &err);
    job->review = parts ? review_begin(&spec, parts, tools, on_reviewed, job, &err) : NULL;
    if (job->review)
        return WAIT;
    if (err.code == GB_E_LIMIT)
        result_rejected(job, "review", err.msg, err.hint);
    else
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

/* The names in both, without their values: these are in the parts, or the operator's. */
static json_t *names_in(const json_t *one, const json_t *other)
{
    json_t *names = json_array(), *value;
    const char *name;

    json_object_foreach (json_shared(one), name, value)
        json_array_append_new(names, json_string(name));
    json_object_foreach (json_shared(other), name, value)
        if (!json_object_get(one, name))
            json_array_append_new(names, json_string(name));
    return names;
}

static void add_program(json_t *question, const struct gb_job *job)
{
    static const char *const given[] = { "code", "prelude", "argv" };
    const json_t *program = job->request.program;

    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        if (json_object_get(program, given[i]))
            json_object_set(question, given[i], json_object_get(program, given[i]));
    json_object_set_new(question, "env",
                        names_in(job->engine->config.env, json_object_get(program, "env")));
    json_object_set_new(question, "inputs", names_in(json_object_get(program, "inputs"), NULL));
    json_object_set_new(question, "has_prelude", json_boolean(json_object_get(program, "prelude")));
    json_object_set_new(question, "kind",
                        json_string(json_string_at(job->request.json, "kind", "python")));
    json_object_set_new(question, "filename",
                        json_string(json_string_at(program, "filename", "main.py")));
}

/* The parts are all that counts; the keys beside them are for programs that look for one. */
static char *question_of(struct gb_job *job, struct gb_err *err)
{
    static const char *const told[] = { "id", "findings", "risk", "isolation", "policy", "review" };
    const struct settings *s = &job->request.settings;
    auto_json json_t *question = json_pack(
        "{s:s,s:b,s:s}", "backend", job->engine->backend->ops->name, "is_held", settings_is_held(s),
        "network", s->network == NETWORK_HOST || !settings_is_held(s) ? "host" : "none");

    json_t *parts = parts_for(job, READER_PERSON, err);

    if (!parts)
        return NULL;
    json_object_set_new(question, "parts", parts);
    add_program(question, job);
    json_object_set_new(question, "tools", toolset_names(job->request.tools, false));
    json_object_set_new(question, "tools_to_approve", toolset_names(job->request.tools, true));
    json_object_set_new(question, "mounts", mounts_json(job->request.mounts, false));
    for (size_t i = 0; i < ARRAY_LEN(told); i++)
        if (json_object_get(job->result, told[i]))
            json_object_set(question, told[i], json_object_get(job->result, told[i]));
    if (!json_is_object(json_object_get(question, "isolation"))) /* no box has looked at it first */
        json_object_set_new(question, "isolation",
                            json_pack("{s:s}", "level", isolation_name(s->isolation)));
    return json_text(question);
}

/* Nobody said no, but nobody could say yes: that is an answer too, and recorded as one. */
static enum verdict refuse_unasked(struct gb_job *job, const char *why)
{
    if (note_answer(job, -1) == 0)
        reject_unasked(job, why);
    return ENDED;
}

/* What cannot be shown is not asked about: a yes to less would be none. */
static enum verdict refuse_unshown(struct gb_job *job, const struct gb_err *err)
{
    if (note_answer(job, -1) == 0)
        reject_unapproved(job, err->code == GB_OK ? "memory ran out" : err->msg, err->hint);
    return ENDED;
}

static enum verdict ask(struct gb_job *job)
{
    struct gb_err err = { 0 };
    auto_free char *question = NULL;

    if (!job->callbacks.approve)
        return refuse_unasked(job, "there is nobody to ask");
    /* Where no box checks first, the road comes here at once. The caller does not know its job yet,
     * and callbacks come from gb_step() alone. */
    if (job->is_starting)
        return road_put_off(job);
    question = question_of(job, &err);
    if (!question)
        return refuse_unshown(job, &err);
    job->approval = APPROVAL_ASKED;
    job->is_calling = true;
    job->callbacks.approve(job->callbacks.data, job, question);
    job->is_calling = false;
    if (job->approval == APPROVAL_ASKED)
        return WAIT;
    return job->approval == APPROVAL_YES ? PASS : ENDED;
}

enum verdict consent_approve(struct gb_job *job)
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
    if (yes > 0 && !agrees(job, READER_PERSON)) {
        yes = 0;
        job->approval = APPROVAL_NO;
        reject_unapproved(job, changed, again);
    } else if (yes < 0) {
        reject_unasked(job, reason);
    } else if (yes == 0) {
        reject_unapproved(job, reason, "change what the program does, or what it is to do it for");
    }
    if (job->is_calling)
        return 0; /* the stage goes on when the callback returns */
    if (yes > 0)
        road_resume(job);
    else
        road_end_early(job);
    return 0;
}
