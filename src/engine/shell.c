#include "engine/shell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "engine/config.h"
#include "engine/job.h"
#include "engine/request.h"
#include "engine/result.h"
#include "shell/commands.h"
#include "shell/environment.h"
#include "shell/resolve.h"

enum {
    JOBS_MAX = 64
};

/* ---- one reader a key ---- */

static int say_shell(struct shell_settings *s, const char *key, json_t *value, struct gb_err *err)
{
    json_t *words = shell_words(value, err);

    (void)key;
    if (!words)
        return -1;
    json_decref(s->words);
    s->words = words;
    return 0;
}

static int say_unset(struct shell_settings *s, const char *key, json_t *value, struct gb_err *err)
{
    bool ok = json_is_array(value);

    for (size_t i = 0; ok && i < json_array_size(value); i++)
        ok = json_string_length(json_array_get(value, i)) > 0;
    if (!ok)
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a list of names", key);
    json_decref(s->unset);
    s->unset = json_incref(value);
    return 0;
}

static int say_workdir(struct shell_settings *s, const char *key, json_t *value, struct gb_err *err)
{
    const char *text = json_string_value(value);

    if (!text || !*text || strlen(text) != json_string_length(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be the path of a directory in the box", key);
    free(s->workdir);
    s->workdir = strdup(text);
    return s->workdir ? 0 : gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading '%s'", key);
}

static int say_bool(bool *ret, const char *key, const json_t *value, struct gb_err *err)
{
    if (!json_is_boolean(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be true or false", key);
    *ret = json_is_true(value);
    return 0;
}

static int say_clean(struct shell_settings *s, const char *key, json_t *value, struct gb_err *err)
{
    return say_bool(&s->clean_env, key, value, err);
}

static int say_raw(struct shell_settings *s, const char *key, json_t *value, struct gb_err *err)
{
    return say_bool(&s->raw, key, value, err);
}

static int say_confine(struct shell_settings *s, const char *key, json_t *value, struct gb_err *err)
{
    const char *word = json_string_value(value); /* as the command line has it */
    bool is_confined = word && strcmp(word, "yes") == 0;

    if (!(word && (is_confined || strcmp(word, "no") == 0)) &&
        say_bool(&is_confined, key, value, err) < 0)
        return -1;
    s->confine = is_confined ? CONFINE_YES : CONFINE_NO;
    return 0;
}

static int say_pty(struct shell_settings *s, const char *key, json_t *value, struct gb_err *err)
{
    return say_bool(&s->pty, key, value, err);
}

static const struct {
    const char *key;
    int (*say)(struct shell_settings *s, const char *key, json_t *value, struct gb_err *err);
} keys[] = {
    { "clean_env", say_clean }, { "confine_workdir", say_confine },
    { "pty", say_pty },         { "raw", say_raw },
    { "shell", say_shell },     { "unset_env", say_unset },
    { "workdir", say_workdir },
};

int shell_say(struct shell_settings *s, const char *key, json_t *value, struct gb_err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (strcmp(keys[i].key, key) == 0)
            return keys[i].say(s, key, value, err) < 0 ? -1 : 1;
    return shell_rules_say(&s->rules, key, value, err);
}

const char *shell_key(size_t i)
{
    return i < ARRAY_LEN(keys) ? keys[i].key : shell_rules_key(i - ARRAY_LEN(keys));
}

int shell_from_environment(struct shell_settings *s, struct gb_err *err)
{
    const char *named = s->words ? NULL : getenv("GLOVEBOX_SHELL");
    auto_json json_t *text = NULL;

    if (!named || !named[strspn(named, " \t\r\n")])
        return 0;
    text = json_string(named);
    s->words = text ? shell_words(text, err) : NULL;
    if (s->words)
        return 0;
    if (!text)
        gb_err_set(err, GB_E_INVALID, 0, "it is not valid UTF-8");
    return gb_fail_wrap(err, "GLOVEBOX_SHELL");
}

void shell_settings_done(struct shell_settings *s)
{
    json_decref(s->words);
    json_decref(s->unset);
    free(s->workdir);
    shell_rules_done(&s->rules);
    *s = (struct shell_settings){ 0 };
}

/* ---- a request ---- */

bool shell_is_foreign(const char *key)
{
    static const char *const foreign[] = { "code",   "code_base64", "filename",
                                           "inputs", "prelude",     "tools" };

    for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
        if (strcmp(foreign[i], key) == 0)
            return true;
    return false;
}

/* Which shell it is may be what the operator relies on. */
static int set_shell(struct request *r, const struct config *config, struct gb_err *err)
{
    const json_t *words = config->shell.words;

    if (r->shell.words && words && !json_equal(r->shell.words, json_shared(words)) &&
        !json_array_has(config->allow_request, "shell")) {
        (void)gb_fail(err, GB_E_INVALID, 0, "shell: it is not the one that is configured");
        return settings_fail_looser("shell", err);
    }
    if (r->shell.words)
        words = r->shell.words;
    if (words)
        json_object_set(r->program, "shell", json_shared(words));
    return 0;
}

static int set_environment(struct request *r, const struct config *config, struct gb_err *err)
{
    auto_json json_t *unset = json_array();
    struct environment_wish wish = { .base = config->env,
                                     .clean = config->shell.clean_env,
                                     .bare = r->shell.clean_env,
                                     .unset = unset,
                                     .add = json_object_get(r->program, "env") };
    json_t *env;

    if (config->shell.unset)
        json_array_extend(unset, config->shell.unset);
    if (r->shell.unset)
        json_array_extend(unset, r->shell.unset);
    env = environment_make(&wish, err);
    return env && json_object_set_new(r->program, "env", env) == 0 ? 0 : -1;
}

/* What the request changes in a shell that is there: values, and null for what goes. */
static json_t *exports_of(const struct request *r)
{
    json_t *exports = json_object();

    for (size_t i = 0; i < json_array_size(r->shell.unset); i++)
        json_object_set_new(exports, json_string_value(json_array_get(r->shell.unset, i)),
                            json_null());
    json_object_update(exports, json_object_get(r->json, "env"));
    return exports;
}

/* What is beside the command decides what runs as well, and the operator's rules do not look at
 * it. */
static int check_beside(const struct request *r, const struct config *config, struct gb_err *err)
{
    const struct shell_rules *rules = &config->shell.rules;
    bool is_exclusive = rules->allow || rules->allow_command;
    auto_json json_t *names = exports_of(r);
    json_t *value;
    const char *name;

    if ((is_exclusive || json_array_size(rules->deny) > 0) && json_array_size(r->shell.words) > 1 &&
        !config->shell.words && !json_array_has(config->allow_request, "shell")) {
        (void)gb_fail(err, GB_E_INVALID, 0,
                      "shell: has words of its own, which no rule that is configured looks at");
        return settings_fail_looser("shell", err);
    }
    if (!is_exclusive || json_array_has(config->allow_request, "env"))
        return 0;
    json_object_foreach (names, name, value) {
        if (!commands_decides(name))
            continue;
        (void)gb_fail(err, GB_E_INVALID, 0,
                      "%s: '%.60s' decides what runs, and only some commands are allowed",
                      json_is_string(value) ? "env" : "unset_env", name);
        return settings_fail_looser("env", err);
    }
    return 0;
}

int shell_request(struct request *r, const struct config *config, struct gb_err *err)
{
    const char *workdir = r->shell.workdir ? r->shell.workdir : config->shell.workdir;

    toolset_unref(r->tools); /* a command cannot call them, and nobody need agree to them */
    r->tools = NULL;
    if (workdir)
        json_object_set_new(r->program, "workdir", json_string(workdir));
    if (r->shell.pty && !r->session) {
        (void)gb_fail(err, GB_E_INVALID, 0, "pty: a command has a terminal only in a session");
        return gb_fail_hint(err, "name a session, or leave 'pty' out");
    }
    if (r->session && (r->shell.pty || config->shell.pty))
        json_object_set_new(r->program, "pty", json_true());
    if (check_beside(r, config, err) < 0 || set_shell(r, config, err) < 0)
        return -1;
    return set_environment(r, config, err);
}

/* ---- a command of a session ---- */

/* Of PATH only absolute directories stay, and a shell without one would look into the working
 * directory: as it is with the environment that a shell begins with. */
static json_t *safe_path(json_t *exports)
{
    const json_t *wish = json_object_get(exports, "PATH");
    auto_free char *path = wish ? environment_path(json_string_at(exports, "PATH", "")) : NULL;

    if (wish)
        json_object_set_new(exports, "PATH", json_string(path ? path : ENVIRONMENT_PATH));
    return exports;
}

void shell_session_program(struct request *r, const struct config *config, bool is_first)
{
    enum shell_confine confine = r->shell.confine ? r->shell.confine : config->shell.confine;
    json_t *workdir = json_object_get(r->program, "workdir");

    if (workdir && confine != CONFINE_NO)
        json_object_set(r->program, "anchor", workdir);
    if (!is_first) { /* it has them */
        json_object_set_new(r->program, "exports", safe_path(exports_of(r)));
        json_object_del(r->program, "env");
        json_object_del(r->program, "shell");
    }
    json_object_del(r->program, "check");
    json_object_set_new(r->program, "session", json_pack("{s:s}", "op", "cell"));
}

static json_t *clean_job(const json_t *from)
{
    static const char *const numbers[] = { "pid", "number", "cell", "late_bytes" };
    json_t *to = json_pack(
        "{s:b,s:s,s:s}", "running", json_is_true(json_object_get(from, "running")), "state",
        json_string_at(from, "state", ""), "command", json_string_at(from, "command", ""));

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        json_object_set_new(to, numbers[i],
                            json_integer(json_integer_value(json_object_get(from, numbers[i]))));
    return to;
}

static json_t *clean_terminal(const json_t *from)
{
    static const char *const numbers[] = { "rows", "columns", "row", "column", "exit_code" };
    json_t *to =
        json_pack("{s:b,s:b,s:s}", "running", json_is_true(json_object_get(from, "running")),
                  "waiting", json_is_true(json_object_get(from, "waiting")), "screen",
                  json_string_at(from, "screen", ""));

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (json_is_integer(json_object_get(from, numbers[i])))
            json_object_set(to, numbers[i], json_object_get(from, numbers[i]));
    return to;
}

void shell_session_collect(struct gb_job *job, const json_t *answer)
{
    const json_t *about = json_object_get(answer, "shell"), *jobs = json_object_get(about, "jobs");
    json_t *list = json_array();

    for (size_t i = 0; i < json_array_size(jobs) && i < JOBS_MAX; i++)
        json_array_append_new(list, clean_job(json_array_get(jobs, i)));
    json_object_set_new(job->result, "jobs", list);
    if (json_is_object(json_object_get(about, "pty")))
        json_object_set_new(job->result, "pty", clean_terminal(json_object_get(about, "pty")));
    if (json_is_string(json_object_get(about, "cwd")) &&
        json_is_object(json_object_get(job->result, "session")))
        json_object_set(json_object_get(job->result, "session"), "cwd",
                        json_object_get(about, "cwd"));
}

/* ---- judging it ---- */

const char *shell_policy_name(const struct request *r, const struct config *config)
{
    return shell_rules_name(&config->shell.rules, &r->shell.rules);
}

static void reject(struct gb_job *job, const struct shell_refusal *why)
{
    result_rejected_at(job, why->rule, why->message, why->line, why->remedy);
    if (why->name[0]) {
        json_t *findings = json_object_get(job->result, "findings");
        json_object_set_new(json_array_get(findings, json_array_size(findings) - 1), "name",
                            json_lossy(why->name));
    }
}

/* The embedding program has the last word, and only a no changes anything. */
static bool asks_caller(struct gb_job *job, const char *command)
{
    const char *why = NULL;
    struct shell_refusal refusal = { .rule = "callback",
                                     .remedy = "do it in another way, or ask the operator" };

    if (job->callbacks.command)
        why = job->callbacks.command(job->callbacks.data, command,
                                     json_string_at(job->request.program, "workdir", "."));
    if (!why)
        return true;
    (void)snprintf(refusal.message, sizeof(refusal.message), "refused by the host program: %s",
                   why);
    if (utf8_first_bad(refusal.message, strlen(refusal.message)) >= 0)
        (void)snprintf(refusal.message, sizeof(refusal.message), "refused by the host program");
    reject(job, &refusal);
    return false;
}

bool shell_may_run(struct gb_job *job)
{
    const struct shell_rules *rules[] = { &job->engine->config.shell.rules,
                                          &job->request.shell.rules };
    const json_t *command = json_object_get(job->request.program, "code");
    struct shell_judged judged = { 0 };
    struct shell_refusal why;

    if (job->engine->is_probing)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (shell_rules_judge(rules[i], json_string_value(command), json_string_length(command),
                              &judged, &why))
            continue;
        reject(job, &why);
        return false;
    }
    /* The guest sees to it that the shell is one that reads it as it was read here. */
    if (judged.is_looked)
        json_object_set_new(job->request.program, "dialect",
                            json_string(judged.is_bash ? "bash" : "sh"));
    return asks_caller(job, json_string_value(command));
}

/* ---- judging what is typed ---- */

static bool refuse_typing(struct gb_job *job, const char *message)
{
    struct shell_refusal why = { .rule = "typed",
                                 .remedy = "type whole lines of plain text, or ask the operator" };

    (void)snprintf(why.message, sizeof(why.message), "%s", message);
    reject(job, &why);
    return false;
}

/* What a line becomes by other keys nobody can tell: a terminal's program edits it, or takes it
 * from its history. */
static bool is_plain_typing(const struct request *r)
{
    static const char *const plain[] = { "enter", "ctrl-c", "ctrl-d", "ctrl-z" };
    const char *text = json_string_value(r->typed[0]);

    for (size_t i = 0; i < json_string_length(r->typed[0]); i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\r') || text[i] == 0x7f)
            return false;
    for (size_t i = 0; i < json_array_size(r->typed[1]); i++) {
        const char *key = json_string_value(json_array_get(r->typed[1], i));
        bool is_plain = false;

        for (size_t k = 0; key && k < ARRAY_LEN(plain); k++)
            is_plain |= strcasecmp(key, plain[k]) == 0;
        if (!is_plain)
            return false;
    }
    return true;
}

/* Where the line begins that is not ended yet; one that ends in a backslash is not. */
static size_t open_line(const char *text, size_t len)
{
    for (size_t i = len; i > 0; i--)
        if ((text[i - 1] == '\n' || text[i - 1] == '\r') && (i < 2 || text[i - 2] != '\\'))
            return i;
    return 0;
}

/* Carriage returns end lines on a terminal. */
static void as_lines(struct gb_buf *b)
{
    for (size_t i = 0; i < b->len; i++)
        if (b->data[i] == '\r')
            b->data[i] = '\n';
}

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\n\v\f", text[i]))
            return false;
    return true;
}

/* The line that is being typed by all rules, all that was typed by those that deny. */
static bool judge_typed(struct gb_job *job, const char *text, size_t len, size_t line)
{
    const struct shell_rules *rules = &job->engine->config.shell.rules;
    const struct shell_rules denying = { .deny = rules->deny };
    struct shell_judged judged = { 0 };
    struct shell_refusal why = { 0 };

    if (is_blank(text + line, len - line))
        return true;
    if (shell_rules_judge(&denying, text, len, &judged, &why) &&
        shell_rules_judge(rules, text + line, len - line, &judged, &why))
        return true;
    reject(job, &why);
    return false;
}

bool shell_may_type(struct gb_job *job, const char *before, size_t len)
{
    const struct shell_rules *rules = &job->engine->config.shell.rules;
    const json_t *text = job->request.typed[0];
    struct gb_err err;
    struct gb_buf all;
    bool may = true;

    if (json_array_size(rules->deny) > 0 || rules->allow || rules->allow_command) {
        if (!is_plain_typing(&job->request))
            return refuse_typing(job, "where rules look at commands, only text and the keys enter, "
                                      "ctrl-c, ctrl-d and ctrl-z can be typed");
        gb_buf_init(&all, TYPED_KEPT_MAX);
        may = gb_buf_add(&all, len > 0 ? before : "", len, &err) == 0 &&
              gb_buf_add(&all, text ? json_string_value(text) : "", json_string_length(text),
                         &err) == 0;
        if (!may) {
            (void)refuse_typing(job, "more was typed into this program than the rules look at");
        } else if (all.len > 0) {
            as_lines(&all);
            may = judge_typed(job, all.data, all.len, open_line(all.data, len));
        }
        gb_buf_done(&all);
    }
    return may && asks_caller(job, text ? json_string_value(text) : "");
}
