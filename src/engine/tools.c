#include "engine/tools.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/visible.h"
#include "engine/schema.h"
#include "engine/signature.h"
#include "python/protocol.h"

enum {
    DESCRIPTION_MAX = 16 << 10,
    SCHEMA_DEPTH_MAX = 64,
    TIMEOUT_MAX_S = 7 * 86400,
    DOC_LINE_MAX = 1000,
    DOCS_MAX = 64 << 10 /* bytes of help texts that a program is sent */
};

/* ---- one tool ---- */

struct tool *tool_ref(struct tool *tool)
{
    tool->refs++;
    return tool;
}

void tool_unref(struct tool *tool)
{
    if (!tool || --tool->refs > 0)
        return;
    json_decref(tool->spec);
    free(tool->doc);
    free(tool);
}

static bool is_plain(const json_t *value)
{
    return json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value);
}

static int take_name(struct tool *t, const json_t *value, struct gb_err *err)
{
    const char *name = json_string_value(value);
    unsigned n;

    if (!is_plain(value) || !*name || json_string_length(value) > TOOL_NAME_MAX)
        return gb_fail(err, GB_E_INVALID, 0, "name: must be a string of 1 to %d bytes",
                       TOOL_NAME_MAX);
    for (const char *at = name; *at; at += n)
        if (visible_hides(visible_character(at, strnlen(at, 4), &n)) || *at == '\t')
            return gb_fail(err, GB_E_INVALID, 0,
                           "name: has a control character in it, or one that nobody sees");
    if (strcmp(name, "execute_code") == 0)
        return gb_fail(err, GB_E_INVALID, 0,
                       "name: 'execute_code' is what runs the code that calls tools");
    t->name = name;
    return 0;
}

static int take_description(struct tool *t, const json_t *value, struct gb_err *err)
{
    if (!is_plain(value) || json_string_length(value) > DESCRIPTION_MAX)
        return gb_fail(err, GB_E_INVALID, 0, "description: must be a string of at most %d KiB",
                       DESCRIPTION_MAX >> 10);
    t->description = json_string_value(value);
    return 0;
}

static int take_schema(const char *key, const json_t *value, struct gb_err *err)
{
    if (json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) > TOOL_SCHEMA_MAX ||
        json_depth(value) > SCHEMA_DEPTH_MAX)
        return gb_fail(err, GB_E_INVALID, 0, "%s: more than %d KiB, or more than %d deep", key,
                       TOOL_SCHEMA_MAX >> 10, SCHEMA_DEPTH_MAX);
    return schema_check(value, err) < 0 ? gb_fail_wrap(err, "%s", key) : 0;
}

static int take_parameters(struct tool *t, const json_t *value, struct gb_err *err)
{
    const json_t *type = json_object_get(value, "type");
    const char *name = json_string_value(type);

    if (!json_is_object(value) || (type && (!name || strcmp(name, "object") != 0)))
        return gb_fail(err, GB_E_INVALID, 0,
                       "parameters: must be a JSON Schema of the type 'object'");
    t->parameters = value;
    return take_schema("parameters", value, err);
}

static int take_returns(struct tool *t, const json_t *value, struct gb_err *err)
{
    t->returns = value;
    return take_schema("returns", value, err);
}

static int take_approval(struct tool *t, const json_t *value, struct gb_err *err)
{
    const char *text = json_string_value(value);

    t->needs_approval = text && strcmp(text, "always") == 0;
    if (t->needs_approval || (text && strcmp(text, "never") == 0))
        return 0;
    return gb_fail(err, GB_E_INVALID, 0, "approval: must be 'always' or 'never'");
}

static int take_command(struct tool *t, const json_t *value, struct gb_err *err)
{
    if (!is_plain(value) || !*json_string_value(value))
        return gb_fail(err, GB_E_INVALID, 0, "command: must be a string");
    t->command = json_string_value(value);
    return 0;
}

static int take_timeout(struct tool *t, const json_t *value, struct gb_err *err)
{
    double s = json_number_value(value);

    if (!(s >= 0.001) || s > TIMEOUT_MAX_S)
        return gb_fail(err, GB_E_INVALID, 0, "timeout: must be a number of seconds, 0.001 to %d",
                       TIMEOUT_MAX_S);
    t->timeout_ms = (uint64_t)llround(s * 1000);
    return 0;
}

static int take_hosted(struct tool *t, const json_t *value, struct gb_err *err)
{
    t->is_hosted = json_is_true(value);
    return json_is_boolean(value) ? 0
                                  : gb_fail(err, GB_E_INVALID, 0, "hosted: must be true or false");
}

/* What each is called, and which parameter of it may be given by its place. */
static const struct {
    const char *name, *positional;
} builtins[] = {
    [TOOL_ORDINARY] = { "", NULL },
    [TOOL_SEARCHES] = { "search", "query" },
    [TOOL_DESCRIBES] = { "describe", "name" },
    [TOOL_READS] = { "read", NULL },
};

static int take_builtin(struct tool *t, const json_t *value, struct gb_err *err)
{
    const char *text = json_string_value(value);

    for (size_t i = TOOL_ORDINARY + 1; text && i < ARRAY_LEN(builtins); i++) {
        if (strcmp(text, builtins[i].name) == 0) {
            t->builtin = (enum tool_builtin)i;
            return 0;
        }
    }
    return gb_fail(err, GB_E_INVALID, 0, "builtin: must be 'search', 'describe' or 'read'");
}

static const struct {
    const char *key;
    int (*take)(struct tool *t, const json_t *value, struct gb_err *err);
} keys[] = {
    { "name", take_name },
    { "description", take_description },
    { "parameters", take_parameters },
    { "returns", take_returns },
    { "approval", take_approval },
    { "command", take_command },
    { "timeout", take_timeout },
    { "hosted", take_hosted },
    { "builtin", take_builtin },
};

static int take_key(struct tool *t, const char *key, const json_t *value, struct gb_err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (strcmp(keys[i].key, key) == 0)
            return keys[i].take(t, value, err);
    return gb_fail(err, GB_E_INVALID, 0, "unknown key '%.60s'", key);
}

/* The signature and the description, as one help text. */
static char *doc_of(const struct tool *t)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        return NULL;
    fputs(t->name, f);
    signature_put(f, t->parameters, t->returns);
    if (t->description) {
        fputs("\n\n", f);
        signature_put_line(f, t->description, DOC_LINE_MAX);
    }
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* Takes `spec`. */
static struct tool *tool_new(json_t *spec, struct gb_err *err)
{
    struct tool *t = calloc(1, sizeof(*t));
    const char *key;
    json_t *value;
    int r = 0;

    if (!t) {
        json_decref(spec);
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading a tool");
        return NULL;
    }
    t->refs = 1;
    t->spec = spec;
    if (json_is_string(json_object_get(spec, "description"))) /* models read it */
        json_object_set_new(spec, "description",
                            visible_only(json_object_get(spec, "description")));
    if (!json_is_object(spec))
        r = gb_fail(err, GB_E_INVALID, 0, "must be an object");
    json_object_foreach (spec, key, value)
        if (r == 0)
            r = take_key(t, key, value, err);
    if (r == 0 && !t->name)
        r = gb_fail(err, GB_E_INVALID, 0, "has no name");
    t->doc = r == 0 ? doc_of(t) : NULL;
    if (r == 0 && !t->doc)
        r = gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading a tool");
    if (r == 0)
        return t;
    if (json_is_string(json_object_get(spec, "name")))
        gb_err_prefix(err, "'%.60s'", json_string_value(json_object_get(spec, "name")));
    tool_unref(t);
    return NULL;
}

/* ---- sets ---- */

static struct toolset *set_new(size_t room, struct gb_err *err)
{
    struct toolset *set =
        room <= TOOLS_MAX ? calloc(1, sizeof(*set) + room * sizeof(void *)) : NULL;

    if (set) {
        set->refs = 1;
        set->places = json_object();
    }
    if (set && set->places)
        return set;
    if (room > TOOLS_MAX)
        gb_err_set(err, GB_E_LIMIT, 0, "more than %d tools", TOOLS_MAX);
    else
        gb_err_set(err, GB_E_SYSTEM, ENOMEM, "making a list of tools");
    return toolset_unref(set);
}

struct toolset *toolset_ref(struct toolset *set)
{
    if (set)
        set->refs++;
    return set;
}

struct toolset *toolset_unref(struct toolset *set)
{
    if (!set || --set->refs > 0)
        return NULL;
    for (size_t i = 0; i < set->count; i++)
        tool_unref(set->tools[i]);
    json_decref(set->places);
    free(set);
    return NULL;
}

/* Its place; how many there are if there is none. */
static size_t find(const struct toolset *set, const char *name)
{
    const json_t *place = set ? json_object_get(set->places, name) : NULL;

    return place ? (size_t)json_integer_value(place) : toolset_count(set);
}

/* Takes the tool, of whose name there is none yet, or which takes that one's place. */
static void set_put(struct toolset *set, struct tool *tool)
{
    size_t place = find(set, tool->name);

    if (place == set->count) {
        (void)json_object_set_new(set->places, tool->name, json_integer((json_int_t)place));
        set->count++;
    } else {
        tool_unref(set->tools[place]);
    }
    set->tools[place] = tool;
}

struct tool *toolset_find(const struct toolset *set, const char *name)
{
    size_t i = find(set, name);

    return i < toolset_count(set) ? set->tools[i] : NULL;
}

size_t toolset_count(const struct toolset *set)
{
    return set ? set->count : 0;
}

static int set_read_one(struct toolset *set, json_t *spec, struct gb_err *err)
{
    struct tool *tool = tool_new(spec, err);

    if (!tool)
        return -1;
    if (toolset_find(set, tool->name)) {
        (void)gb_fail(err, GB_E_INVALID, 0, "'%.60s' is there twice", tool->name);
        tool_unref(tool);
        return -1;
    }
    set_put(set, tool);
    return 0;
}

/* The tool of an object of them by name. */
static json_t *named_spec(const char *name, const json_t *value)
{
    json_t *spec = json_deep_copy(value);

    if (json_is_object(spec) && !json_object_get(spec, "name"))
        json_object_set_new(spec, "name", json_string(name));
    return spec;
}

struct toolset *toolset_read(const json_t *tools, struct gb_err *err)
{
    struct toolset *set;
    const char *name;
    json_t *value;
    int r = 0;

    if (!json_is_array(tools) && !json_is_object(tools)) {
        (void)gb_fail(err, GB_E_INVALID, 0,
                      "must be a list of tools, or an object of them by name");
        return NULL;
    }
    set = set_new(json_is_array(tools) ? json_array_size(tools) : json_object_size(tools), err);
    for (size_t i = 0; set && r == 0 && i < json_array_size(tools); i++)
        r = set_read_one(set, json_deep_copy(json_array_get(tools, i)), err);
    json_object_foreach (json_shared(tools), name, value)
        if (set && r == 0)
            r = set_read_one(set, named_spec(name, value), err);
    return r == 0 ? set : toolset_unref(set);
}

struct toolset *toolset_join(struct toolset *const *sets, size_t n, struct gb_err *err)
{
    struct toolset *all;
    size_t room = 0;

    for (size_t i = 0; i < n; i++)
        room += toolset_count(sets[i]);
    all = set_new(room, err);
    for (size_t i = 0; all && i < n; i++)
        for (size_t k = 0; k < toolset_count(sets[i]); k++)
            set_put(all, tool_ref(sets[i]->tools[k]));
    return all;
}

struct toolset *toolset_with(const struct toolset *set, const json_t *tool, struct gb_err *err)
{
    struct toolset *more = set_new(toolset_count(set) + 1, err);
    struct tool *added = more ? tool_new(json_deep_copy(tool), err) : NULL;

    if (!added)
        return toolset_unref(more);
    for (size_t i = 0; set && i < set->count; i++)
        set_put(more, tool_ref(set->tools[i]));
    set_put(more, added);
    return more;
}

struct toolset *toolset_without(const struct toolset *set, const char *name, struct gb_err *err)
{
    struct toolset *less;
    char list[160];

    if (!toolset_find(set, name)) {
        toolset_list(set, list, sizeof(list));
        (void)gb_fail(err, GB_E_INVALID, 0, "there is no tool '%.60s'; there are: %s", name, list);
        return NULL;
    }
    less = set_new(set->count, err);
    for (size_t i = 0; less && i < set->count; i++)
        if (strcmp(set->tools[i]->name, name) != 0)
            set_put(less, tool_ref(set->tools[i]));
    return less;
}

struct toolset *toolset_narrow(const struct toolset *set, const json_t *names, struct gb_err *err)
{
    struct toolset *less = set_new(toolset_count(set), err);
    char list[160];

    if (json_array_size(names) > TOOLS_MAX) {
        (void)gb_fail(err, GB_E_LIMIT, 0, "more than %d names", TOOLS_MAX);
        return toolset_unref(less);
    }
    for (size_t i = 0; less && i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        struct tool *tool = toolset_find(set, name);

        if (!tool) {
            toolset_list(set, list, sizeof(list));
            (void)gb_fail(err, GB_E_INVALID, 0, "there is no tool '%.60s'; there are: %s", name,
                          list);
            return toolset_unref(less);
        }
        set_put(less, tool_ref(tool));
    }
    for (size_t i = 0; less && less->count > 0 && i < toolset_count(set); i++)
        if (set->tools[i]->builtin != TOOL_ORDINARY)
            set_put(less, tool_ref(set->tools[i]));
    return less;
}

bool toolset_has(const struct toolset *set, enum tool_builtin builtin)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (set->tools[i]->builtin == builtin)
            return true;
    return false;
}

bool toolset_needs_approval(const struct toolset *set)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (set->tools[i]->needs_approval)
            return true;
    return false;
}

/* ---- what is told of them ---- */

void toolset_list(const struct toolset *set, char *ret, size_t size)
{
    size_t len = 0;

    (void)snprintf(ret, size, "none");
    for (size_t i = 0; set && i < set->count; i++) {
        const char *name = set->tools[i]->name;

        if (len + strlen(name) + 8 > size) {
            (void)snprintf(ret + len, size - len, ", ...");
            return;
        }
        len += (size_t)snprintf(ret + len, size - len, "%s%s", i ? ", " : "", name);
    }
}

json_t *toolset_json(const struct toolset *set)
{
    json_t *list = json_array();

    for (size_t i = 0; set && i < set->count; i++)
        json_array_append(list, set->tools[i]->spec);
    return list;
}

json_t *toolset_names(const struct toolset *set, bool to_approve_only)
{
    json_t *list = json_array();

    for (size_t i = 0; set && i < set->count; i++)
        if (set->tools[i]->needs_approval || !to_approve_only)
            json_array_append_new(list, json_string(set->tools[i]->name));
    return list;
}

/* With very many tools their help texts would be most of what a run is sent; describe_tool() tells
 * the same. */
json_t *toolset_program(const struct toolset *set)
{
    json_t *list = json_array();
    size_t docs = 0;

    for (size_t i = 0; set && i < set->count; i++)
        docs += strlen(set->tools[i]->doc);
    for (size_t i = 0; set && i < set->count; i++) {
        const struct tool *t = set->tools[i];
        json_t *one = json_pack("{s:s}", "name", t->name);

        if (docs <= DOCS_MAX || t->builtin != TOOL_ORDINARY)
            json_object_set_new(one, "doc", json_string(t->doc));
        if (builtins[t->builtin].positional)
            json_object_set_new(one, "positional", json_string(builtins[t->builtin].positional));
        json_array_append_new(list, one);
    }
    return list;
}
