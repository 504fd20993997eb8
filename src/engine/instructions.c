/*
 * Short on purpose: a model reads this before each of its turns. One function a section; what is
 * said depends on what is configured, and nothing is said that is not so. Names and descriptions of
 * tools are somebody else's text (another server's, perhaps): they stay on their own lines.
 */
#include "engine/instructions.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/job.h"
#include "engine/mounts.h"
#include "engine/result.h"
#include "engine/signature.h"
#include "python/names.h"

enum {
    DESCRIPTION_MAX = 1000, /* bytes of a tool's */
    PARAMETER_MAX = 300,    /* of a parameter's */
    RETURNS_MAX = 12,       /* members of what is returned that are listed */
    TOOLS_BYTES = 8 << 10,  /* of all tools together; beyond that they are to be looked up */
    NAMES_BYTES = 3 << 10   /* and this much of their names is told */
};

/* ---- small things ---- */

static void put_limit(FILE *f, const struct settings *s, const char *limit, const char *what)
{
    char text[40];

    settings_limit_text(s, limit, text, sizeof(text));
    fprintf(f, ", %s %s", text, what);
}

/* "a, b, c" */
static void put_names(FILE *f, const json_t *names)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        fprintf(f, "%s%s", i ? ", " : "", json_string_value(json_array_get(names, i)));
}

/* A list of the policy's, if it has anything in it. */
static void put_list(FILE *f, const char *title, const json_t *names)
{
    if (json_array_size(names) == 0)
        return;
    fprintf(f, "- %s: ", title);
    put_names(f, names);
    fputs(".\n", f);
}

/* ---- sections ---- */

static void put_session(FILE *f)
{
    fputs(
        "Write Python cell by cell, as in a notebook: variables, imports, files and threads of one "
        "cell are there in the next, also if it raised. Do not repeat what an earlier cell has "
        "done.\n"
        "A cell that is killed (it took too long, or too much) is undone: the session is as it "
        "was before it, but for files. If the session is gone, you are told so, and begin anew.\n",
        f);
}

static void put_program(FILE *f, const struct request *r, const struct gb_engine *e)
{
    const struct settings *s = &r->settings;
    char out[40];

    settings_limit_text(s, "stdout", out, sizeof(out));
    fputs("# Running Python\n\n", f);
    if (r->session)
        put_session(f);
    else
        fputs("Write one whole Python program; it runs on its own in a fresh interpreter. "
              "Variables, imports and files of one run are gone in the next.\n",
              f);
    fputs("You get back what it prints, the value of its last expression (as JSON where it is "
          "JSON, else its repr), or its exception with the line. Print or return only what you "
          "need",
          f);
    fprintf(f, ": of each stream %s are kept, head and tail.\n", out);
    fputs("display(x) shows tables and pictures; figures that are open at the end are shown too.\n",
          f);
    if (settings_approve(s) != APPROVE_NEVER || toolset_needs_approval(r->tools))
        fputs("A person reads each program before it runs, and may refuse it.\n", f);
    if (e->config.review)
        fputs("A model reviews each program before it runs, and may refuse it.\n", f);
}

static void put_parameters(FILE *f, const json_t *parameters)
{
    const char *name;
    json_t *schema;

    json_object_foreach (json_object_get(parameters, "properties"), name, schema) {
        const char *text = json_string_value(json_object_get(schema, "description"));

        if (!text && name_is_variable(name))
            continue; /* the signature says it */
        fputs("    ", f);
        signature_put_line(f, name, PARAMETER_MAX);
        if (!name_is_variable(name)) { /* it goes in as **{"name": ...} */
            fputs(" (", f);
            signature_put_type(f, parameters, schema);
            fputs(", as **{...})", f);
        }
        fputs(text ? ": " : "", f);
        signature_put_line(f, text ? text : "", PARAMETER_MAX);
        fputc('\n', f);
    }
}

/* What an object that is returned has in it. */
static void put_returns(FILE *f, const json_t *returns)
{
    json_t *properties = json_object_get(returns, "properties"), *schema;
    const char *name, *between = "    returns {";

    if (json_object_size(properties) == 0 || json_object_size(properties) > RETURNS_MAX)
        return;
    json_object_foreach (properties, name, schema) {
        fputs(between, f);
        signature_put_line(f, name, PARAMETER_MAX);
        fputs(": ", f);
        signature_put_type(f, returns, schema);
        between = ", ";
    }
    fputs("}\n", f);
}

static void put_tool(FILE *f, const struct tool *t)
{
    auto_json json_t *name = json_string(t->name);
    auto_free char *quoted = json_dumps(name, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

    if (name_is_function(t->name))
        fprintf(f, "def %s", t->name);
    else if (name_is_spaced(t->name))
        fputs(t->name, f);
    else
        fprintf(f, "call_tool(%s, ...)  # ", quoted ? quoted : "");
    signature_put(f, t->parameters, t->returns);
    fputc('\n', f);
    if (t->description && *t->description) {
        fputs("    ", f);
        signature_put_line(f, t->description, DESCRIPTION_MAX);
        fputc('\n', f);
    }
    put_parameters(f, t->parameters);
    put_returns(f, t->returns);
}

/* All of them in full; the caller frees it. */
static char *tools_text(const struct toolset *set)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    for (size_t i = 0; f && i < set->count; i++)
        if (set->tools[i]->builtin == TOOL_ORDINARY)
            put_tool(f, set->tools[i]);
    if (f && fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* The names of a namespace's tools on one line, from the tool `first` on. */
static size_t put_space(FILE *f, const struct toolset *set, size_t first, size_t room)
{
    const char *name = set->tools[first]->name;
    size_t space = strcspn(name, "."), n = 0, used = 0, shown = 0;

    fprintf(f, "%.*s:", (int)space, name);
    for (size_t i = first; i < set->count; i++) {
        const char *other = set->tools[i]->name;

        if (strncmp(other, name, space + 1) != 0 || !name_is_spaced(other))
            continue;
        n++;
        if (used > room)
            continue;
        shown++;
        used += (size_t)fprintf(f, "%s %s", n > 1 ? "," : "", other + space + 1);
    }
    if (shown < n)
        fprintf(f, ", and %zu more", n - shown);
    fputc('\n', f);
    return used;
}

static bool is_first_of_space(const struct toolset *set, size_t at)
{
    const char *name = set->tools[at]->name;
    size_t space = strcspn(name, ".") + 1;

    for (size_t i = 0; i < at; i++)
        if (strncmp(set->tools[i]->name, name, space) == 0)
            return false;
    return true;
}

/* There are too many to describe each of them: those in namespaces are named, as far as there is
 * room, and can be looked up. */
static void put_many(FILE *f, const struct toolset *set)
{
    size_t room = NAMES_BYTES;

    fputs(
        "There are many of them: search_tools(\"words\") finds some, as a list of {name, "
        "signature, description}, best first; describe_tool(\"server.tool\") tells all about one. "
        "Look a tool up, print its signature, and then call it.\n\n",
        f);
    for (size_t i = 0; i < set->count; i++) {
        if (set->tools[i]->builtin != TOOL_ORDINARY)
            continue;
        if (!name_is_spaced(set->tools[i]->name)) {
            put_tool(f, set->tools[i]);
        } else if (is_first_of_space(set, i)) {
            size_t used = put_space(f, set, i, room);
            room -= used < room ? used : room;
        }
    }
}

static void put_tools(FILE *f, const struct request *r)
{
    auto_free char *all = NULL;

    if (toolset_count(r->tools) == 0)
        return;
    fputs("\n## Tools\n\n"
          "The program may call these functions, with keyword arguments only; "
          "call_tool(\"name\", key=value) calls any of them by name. They run outside, and return "
          "objects, not text.\n"
          "Where no event loop runs, a call gives its value. In a program with `await`, and inside "
          "`async def`, await it: `x = await f(a=1)`; `await asyncio.gather(f(a=1), f(a=2))` runs "
          "calls side by side.\n"
          "A call that fails raises ToolError, with `type` and `message`.\n"
          "Rather than many small programs write one that calls tools in loops and prints what "
          "matters.\n",
          f);
    if (toolset_has(r->tools, TOOL_READS))
        fputs(
            "A picture or a resource comes as a handle: `kind`, `mime`, `size`; h.read() gives its "
            "bytes, h.text() its text, display(h) shows it.\n",
            f);
    all = tools_text(r->tools);
    if (all && strlen(all) > TOOLS_BYTES && toolset_has(r->tools, TOOL_SEARCHES)) {
        put_many(f, r->tools);
        return;
    }
    fputc('\n', f);
    fputs(all ? all : "", f);
}

/* Where the host's directories are: below /mnt, or, without a root of its own, where a variable
 * says (which "auto" may come to as well). */
static void put_mounts(FILE *f, const struct request *r)
{
    const struct mounts *m = r->mounts;
    const char *where = "the directory that the variable GLOVEBOX_MNT names";

    if (!m || m->n == 0)
        return;
    if (r->settings.isolation == ISOLATE_NAMESPACES)
        where = "/mnt";
    else if (r->settings.isolation == ISOLATE_AUTO)
        where = "/mnt (or where the variable GLOVEBOX_MNT says)";
    fprintf(f, "Below %s there are also:\n", where);
    for (size_t i = 0; i < m->n; i++) {
        fputs("- ", f);
        signature_put_line(f, m->list[i].name, PARAMETER_MAX);
        fputs(m->list[i].is_rw ? " (can be written)\n" : " (read-only)\n", f);
    }
}

static void put_captured(FILE *f, const struct request *r)
{
    if (r->settings.capture != CAPTURE_OFF)
        fprintf(f, "Files that are made or changed %s.\n",
                r->settings.capture == CAPTURE_INLINE ? "come back with the result"
                                                      : "are listed in the result");
}

static void put_files(FILE *f, const struct request *r)
{
    char disk[40];

    settings_limit_text(&r->settings, "disk", disk, sizeof(disk));
    fprintf(f,
            "\n## Files\n\n"
            "The working directory is the %s's own, empty at first; it and the directory of "
            "tempfile can be written, %s in all.\n",
            r->session ? "session" : "program", disk);
    put_mounts(f, r);
    put_captured(f, r);
}

static void put_limits(FILE *f, const struct request *r)
{
    const struct settings *s = &r->settings;

    fprintf(f, "\n## Limits\n\n%g s", (double)s->timeout_ms / 1000);
    fputs(toolset_count(r->tools) > 0 ? " (waiting for tools counts)" : "", f);
    put_limit(f, s, "memory", "of memory");
    put_limit(f, s, "processes", "processes and threads");
    put_limit(f, s, "open_files", "open files");
    if (s->cpu_ms > 0)
        put_limit(f, s, "cpu", "of processor time");
    if (toolset_count(r->tools) > 0)
        put_limit(f, s, "tool_calls", "tool calls");
    fprintf(f, ". What goes beyond fails, or ends the %s.\n", r->is_shell ? "command" : "program");
}

static void put_policy(FILE *f, const json_t *rules)
{
    const char *policy = json_string_value(json_object_get(rules, "policy"));
    bool is_strict = policy && strcmp(policy, "strict") == 0;

    if (is_strict)
        put_list(f, "Only these modules can be imported", json_object_get(rules, "allow_imports"));
    put_list(f, "These modules cannot be imported", json_object_get(rules, "block_imports"));
    put_list(f, "These builtins cannot be used", json_object_get(rules, "block_builtins"));
    if (is_strict) {
        put_list(f, "Of os only these can be used", json_object_get(rules, "allow_os_attrs"));
        fputs("- No dunder attributes, no access to frames, code objects or other modules through "
              "attributes.\n",
              f);
    }
}

static void put_impossible(FILE *f, const struct request *r)
{
    const struct settings *s = &r->settings;

    fputs("\n## Not possible\n\n", f);
    if (!settings_is_held(s))
        fputs("- Nothing holds the program: it runs with the rights of the user who started it. "
              "Do nothing that was not asked for.\n",
              f);
    else if (s->network == NETWORK_NONE)
        fputs("- There is no network.\n", f);
    fputs("- Packages cannot be installed", f);
    fputs(settings_policy(s) == POLICY_STRICT
              ? ".\n"
              : "; what can be imported is the standard library and "
                "what the operator has.\n",
          f);
    fputs("- There is nobody to answer input().\n", f);
    put_policy(f, json_object_get(r->program, "check"));
}

/* ---- the shell ---- */

static void put_commands(FILE *f, const struct request *r, const struct gb_engine *e)
{
    const struct settings *s = &r->settings;
    const json_t *words = json_object_get(r->program, "shell");
    char out[40], disk[40];

    settings_limit_text(s, "stdout", out, sizeof(out));
    settings_limit_text(s, "disk", disk, sizeof(disk));
    fputs("# Running shell commands\n\nEach command runs on its own in a fresh shell", f);
    if (words)
        fprintf(f, " (%s)", json_string_value(json_array_get(words, 0)));
    else
        fputs(" (bash where there is one, else sh)", f);
    fputs(". Directory, variables and files of one are gone in the next: join with `&&` what "
          "belongs together.\n"
          "You get back what it prints on each stream, and its exit status. Colours and progress "
          "bars are taken out",
          f);
    fprintf(f, "; of each stream %s are kept, head and tail.\n", out);
    fputs("It is over when the shell ends. What it leaves in the background is ended then: start a "
          "server and use it in the same command.\n",
          f);
    if (settings_approve(s) != APPROVE_NEVER)
        fputs("A person reads each command before it runs, and may refuse it.\n", f);
    if (e->config.review)
        fputs("A model reviews each command before it runs, and may refuse it.\n", f);
    fprintf(f,
            "\n## Files\n\n"
            "The working directory is the command's own, empty at first; it, $HOME and $TMPDIR can "
            "be written, %s in all.\n",
            disk);
    put_mounts(f, r);
    put_captured(f, r);
}

static void put_rules(FILE *f, const struct shell_rules *rules)
{
    enum {
        SHOWN = 30
    };

    if (rules->allow_command) {
        put_list(f, "Only these commands can be used", rules->allow_command);
        fputs("- Name each command plainly: no computed names, no eval, no arithmetic with "
              "variables, no setting of PATH or of variables that name programs.\n",
              f);
    }
    if (rules->allow)
        fputs("- A command that matches none of these patterns is refused:\n", f);
    for (size_t i = 0; i < json_array_size(rules->allow) && i < SHOWN; i++)
        fprintf(f, "    %s\n", json_string_value(json_array_get(rules->allow, i)));
    if (json_array_size(rules->deny) > 0)
        fputs("- A command that matches one of these patterns is refused:\n", f);
    for (size_t i = 0; i < json_array_size(rules->deny) && i < SHOWN; i++)
        fprintf(f, "    %s\n", json_string_value(json_array_get(rules->deny, i)));
}

static void put_shell(FILE *f, const struct request *r, const struct gb_engine *e)
{
    const struct settings *s = &r->settings;

    put_commands(f, r, e);
    put_limits(f, r);
    fputs("\n## Not possible\n\n", f);
    if (!settings_is_held(s))
        fputs("- Nothing holds the command: it runs with the rights of the user who started it. "
              "Do nothing that was not asked for.\n",
              f);
    else if (s->network == NETWORK_NONE)
        fputs("- There is no network.\n", f);
    if (settings_is_held(s))
        fputs("- Nothing can be installed in the system, and there is no sudo.\n", f);
    fputs("- Standard input is empty, and there is no terminal: nobody answers questions.\n", f);
    put_rules(f, &e->config.shell.rules);
    put_rules(f, &r->shell.rules);
}

/* ---- the whole ---- */

/* The request with some code in it, as it must have to be read. */
static char *with_code(const char *request)
{
    const char *text = request ? request : "{}";
    auto_json json_t *json = json_loads(text, JSON_ALLOW_NUL, NULL);

    if (!json_is_object(json))
        return strdup(text);
    if (strcmp(json_string_at(json, "kind", ""), "shell") == 0) {
        if (!json_object_get(json, "command"))
            json_object_set_new(json, "command", json_string(""));
    } else if (!json_object_get(json, "code") && !json_object_get(json, "code_base64")) {
        json_object_set_new(json, "code", json_string(""));
    }
    return json_text(json);
}

char *instructions_text(struct gb_engine *engine, const char *request)
{
    auto_free char *whole = with_code(request);
    char *text = NULL;
    size_t len = 0;
    struct request r;
    struct gb_err err;
    FILE *f;

    if (!whole)
        return NULL;
    if (request_read(&engine->config, whole, &r, &err) < 0) {
        request_done(&r);
        return result_failed_text(&err);
    }
    f = open_memstream(&text, &len);
    if (f && r.is_shell)
        put_shell(f, &r, engine);
    if (f && !r.is_shell) {
        put_program(f, &r, engine);
        put_tools(f, &r);
        put_files(f, &r);
        put_limits(f, &r);
        put_impossible(f, &r);
    }
    if (f) {
        if (fclose(f) != 0)
            free(take_ptr(text));
    }
    request_done(&r);
    return text;
}
