/*
 * What a shell finds in its box. One command asks the shell about itself, and one each asks the
 * named programs for their versions, side by side and each in a box and with a time limit of its
 * own: one that hangs keeps nobody waiting, and none can speak for another. Nothing is remembered,
 * so what failed once is asked again.
 */
#include "engine/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/job.h"
#include "engine/result.h"
#include "shell/probe.h"

enum {
    TIMEOUT_DEFAULT_S = 5,
    NOT_FOUND = 127
};

struct asking {
    const char *name; /* of the program, or NULL: the shell itself */
    char *result;
    bool is_done;
};

struct probing {
    struct asking *list;
    size_t n;
    json_t *request; /* what all have in common */
    double timeout;
};

static void on_done(void *data, struct gb_job *job, const char *result)
{
    struct asking *a = data;

    (void)job;
    a->result = strdup(result);
    a->is_done = true;
}

/* ---- options ---- */

static bool is_asked(const struct probing *p, const char *name)
{
    for (size_t i = 1; i < p->n; i++)
        if (strcasecmp(p->list[i].name, name) == 0)
            return true;
    return false;
}

static json_t *usual_tools(void)
{
    return json_pack("[s,s,s,s,s]", "git", "node", "python", "python3", "docker");
}

static int read_options(struct probing *p, const json_t *options, const json_t *tools,
                        struct gb_err *err)
{
    const json_t *request = json_object_get(options, "request");
    const json_t *timeout = json_object_get(options, "timeout");

    p->timeout = timeout ? json_number_value(timeout) : TIMEOUT_DEFAULT_S;
    if (timeout && !(json_is_number(timeout) && p->timeout > 0))
        return gb_fail(err, GB_E_INVALID, 0, "timeout: must be a number of seconds");
    if (request && !json_is_object(request))
        return gb_fail(err, GB_E_INVALID, 0, "request: must be an object");
    if (!json_is_array(tools) || json_array_size(tools) > PROBE_NAMES_MAX)
        return gb_fail(err, GB_E_INVALID, 0, "tools: must be a list of at most %d names",
                       PROBE_NAMES_MAX);
    p->request = request ? json_copy(json_shared(request)) : json_object();
    p->list = calloc(json_array_size(tools) + 1, sizeof(*p->list));
    if (!p->list)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "probing");
    p->n = 1;
    for (size_t i = 0; i < json_array_size(tools); i++) {
        const char *name = json_string_value(json_array_get(tools, i));

        if (!name)
            return gb_fail(err, GB_E_INVALID, 0, "tools: must be a list of names");
        /* What is no name is not asked for: it would be a command. */
        if (probe_is_name(name) && !is_asked(p, name))
            p->list[p->n++].name = name;
    }
    return 0;
}

/* ---- asking ---- */

static enum shell_family family_of(const struct gb_engine *engine, const json_t *request)
{
    const json_t *words = engine->config.shell.words;
    struct gb_err err;
    auto_json json_t *own = json_object_get(request, "shell")
                                ? shell_words(json_object_get(request, "shell"), &err)
                                : NULL;
    const char *first = json_string_value(json_array_get(own ? own : words, 0));

    return first ? shell_family_of(first) : SHELL_BASH;
}

static void start(struct gb_engine *engine, struct probing *p, struct asking *a)
{
    struct gb_callbacks callbacks = { .size = sizeof(callbacks), .data = a, .done = on_done };
    enum shell_family family = family_of(engine, p->request);
    auto_json json_t *request = json_copy(p->request);
    double configured = (double)engine->config.settings.timeout_ms / 1000;
    auto_free char *text = NULL;

    json_object_set_new(request, "kind", json_string("shell"));
    json_object_set_new(request, "command",
                        a->name ? json_sprintf("%s --version", a->name)
                                : json_string(probe_command(family)));
    json_object_set_new(request, "timeout",
                        json_real(p->timeout < configured ? p->timeout : configured));
    text = json_text(request);
    if (!text || !gb_start(engine, text, &callbacks))
        a->is_done = true;
}

static bool is_over(const struct probing *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (!p->list[i].is_done)
            return false;
    return true;
}

/* ---- answers ---- */

static void add_tool(json_t *probe, const struct asking *a)
{
    auto_json json_t *result = a->result ? json_loads(a->result, JSON_ALLOW_NUL, NULL) : NULL;
    json_int_t code = json_integer_value(json_object_get(result, "exit_code"));
    json_t *version = NULL;

    if (strcmp(json_string_at(result, "status", ""), "ok") == 0) {
        version = probe_first_line(json_string_at(result, "stdout", ""));
        if (!version)
            version = probe_first_line(json_string_at(result, "stderr", ""));
    } else if (code == NOT_FOUND) {
        json_array_append_new(json_object_get(probe, "missing"), json_string(a->name));
    }
    json_object_set_new(json_object_get(probe, "tools"), a->name, version ? version : json_null());
}

/* Those that were no names are there as well, without a version. */
static void add_refused(json_t *probe, const json_t *tools)
{
    json_t *all = json_object_get(probe, "tools");

    for (size_t i = 0; i < json_array_size(tools); i++) {
        const char *name = json_string_value(json_array_get(tools, i));
        if (!probe_is_name(name))
            json_object_set_new(all, name, json_null());
    }
}

static json_t *answer_of(const struct probing *p, const json_t *tools)
{
    auto_json json_t *first =
        p->list[0].result ? json_loads(p->list[0].result, JSON_ALLOW_NUL, NULL) : NULL;
    json_t *probe = probe_read(json_string_at(first, "stdout", ""));
    auto_free char *text = NULL;

    json_object_set_new(probe, "tools", json_object());
    json_object_set_new(probe, "missing", json_array());
    for (size_t i = 1; i < p->n; i++)
        add_tool(probe, &p->list[i]);
    add_refused(probe, tools);
    json_object_set_new(probe, "status", json_string(json_string_at(first, "status", "failed")));
    json_object_set(probe, "error", json_object_get(first, "error"));
    json_object_set(probe, "isolation", json_object_get(first, "isolation"));
    json_object_set(probe, "findings", json_object_get(first, "findings"));
    json_object_set(probe, "exit_code", json_object_get(first, "exit_code"));
    text = probe_text(probe);
    json_object_set_new(probe, "text", text ? json_string(text) : json_null());
    return probe;
}

static void done(struct probing *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->list[i].result);
    free(p->list);
    json_decref(p->request);
}

char *probe_shell(struct gb_engine *engine, const char *options)
{
    json_error_t where;
    auto_json json_t *json = json_loads(options ? options : "{}", JSON_REJECT_DUPLICATES, &where);
    const json_t *named = json_object_get(json, "tools");
    auto_json json_t *tools = named ? json_copy(json_shared(named)) : usual_tools();
    auto_json json_t *answer = NULL;
    struct probing p = { 0 };
    struct gb_err err = { 0 };
    char *text;

    if (!json_is_object(json))
        (void)gb_fail(&err, GB_E_INVALID, 0, "the options are not a JSON object");
    if (err.code != GB_OK || read_options(&p, json, tools, &err) < 0) {
        done(&p);
        return result_failed_text(&err);
    }
    /* What is asked is ours: the rules for commands are not about it. */
    engine->is_probing = true;
    for (size_t i = 0; i < p.n; i++)
        start(engine, &p, &p.list[i]);
    engine->is_probing = false;
    while (!is_over(&p))
        (void)gb_step(engine, -1);
    answer = answer_of(&p, tools);
    text = json_text(answer);
    done(&p);
    return text;
}
