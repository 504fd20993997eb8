/*
 * A server's tools as the engine's: names that Python takes, schemas that can be checked.
 *
 * A list may have a thousand tools with schemas of a quarter of a megabyte each, and another one
 * may come every second. So it is read a few milliseconds at a time, tool by tool, and takes the
 * place of the one before when it is through. What is known of a tool that did not change is kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "engine/relax.h"
#include "engine/tools.h"
#include "mcp/downstream_core.h"

enum {
    NAME_MAX_BYTES = 128,
    DESCRIPTION_MAX = 16 << 10,
    SLICE_US = 5000
};

/* ---- names ---- */

/* How many of the listed tools programs would find under each name. */
static json_t *count_idents(const json_t *list)
{
    char ident[NAME_MAX_BYTES + 4];
    json_t *counts = json_object();

    for (size_t i = 0; i < json_array_size(list); i++)
        if (ident_of(json_string_at(json_array_get(list, i), "name", ""), false, ident,
                     sizeof(ident)))
            (void)json_object_set_new(
                counts, ident,
                json_integer(json_integer_value(json_object_get(counts, ident)) + 1));
    return counts;
}

/* "server.tool"; NULL, having said so, when there can be none. The caller frees it. */
static char *name_of(struct upstream *u, const char *tool)
{
    char ident[NAME_MAX_BYTES + 4];
    char *name = NULL;

    if (!ident_of(tool, false, ident, sizeof(ident)) ||
        strlen(u->spec->ident) + 1 + strlen(ident) > NAME_MAX_BYTES) {
        downstream_log(u,
                       "the tool '%.60s' is left out: its name cannot be made one that programs "
                       "can use",
                       tool);
        return NULL;
    }
    if (json_integer_value(json_object_get(u->reading.idents, ident)) > 1) {
        downstream_log(u,
                       "the tool '%.60s' is left out: programs would find another one as "
                       "'%s.%.60s' too",
                       tool, u->spec->ident, ident);
        return NULL;
    }
    return asprintf(&name, "%s.%s", u->spec->ident, ident) < 0 ? NULL : name;
}

/* ---- specs ---- */

static json_t *cut_text(const char *text)
{
    auto_free char *cut = strndup(text, DESCRIPTION_MAX);

    return cut ? json_lossy(cut) : NULL;
}

/* Takes the value; what is not there is left out. */
static void put(json_t *spec, const char *key, json_t *value)
{
    if (value)
        (void)json_object_set_new(spec, key, value);
}

/* Relaxed, as far as need be; NULL: there is none. One that is too large for the engine is left as
 * it is, and refused there, with the tool. */
static json_t *schema_of(const json_t *described, const char *key)
{
    json_t *schema = json_object_get(described, key);

    if (schema && json_dumpb(schema, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) > TOOL_SCHEMA_MAX)
        return json_incref(schema);
    return schema ? schema_relax(schema) : NULL;
}

/* The engine's description of it; new. */
static json_t *spec_of(const struct upstream *u, const struct offered *o)
{
    const char *description = json_string_at(o->described, "description", NULL);
    json_t *spec = json_pack("{s:s,s:b,s:f}", "name", o->name, "hosted", 1, "timeout",
                             (double)server_timeout_ms(u->spec, o->tool) / 1000);

    if (!description)
        description = json_string_at(o->described, "title", NULL);
    if (description)
        put(spec, "description", cut_text(description));
    put(spec, "parameters", schema_of(o->described, "inputSchema"));
    put(spec, "returns", json_incref(o->returns));
    if (o->needs_approval)
        put(spec, "approval", json_string("always"));
    return spec;
}

/* As the engine has it. NULL, having said so: it does not take it. */
static struct toolset *set_of(struct upstream *u, const struct offered *o)
{
    auto_json json_t *spec = spec_of(u, o);
    auto_json json_t *list = json_pack("[O]", spec);
    struct gb_err err = { 0 };
    struct toolset *set = list ? toolset_read(list, &err) : NULL;

    if (!set)
        downstream_log(u, "the tool '%.60s' is left out: %.160s", o->tool, err.msg);
    return set;
}

/* ---- all ---- */

static void offered_done(struct offered *o)
{
    free(o->name);
    json_decref(o->returns);
    (void)toolset_unref(o->set);
}

void offer_done(struct offer *o)
{
    for (size_t i = 0; i < o->n_tools; i++)
        offered_done(&o->tools[i]);
    free(o->tools);
    json_decref(o->idents);
    json_decref(o->list);
    *o = (struct offer){ 0 };
}

/* What is known of the same tool by the list in force; NULL: nothing, or it has changed. Lists
 * mostly keep their order. */
static const struct offered *known(const struct upstream *u, const char *name,
                                   const json_t *described)
{
    const struct offer *o = &u->offer;
    size_t from = u->reading.n_tools;

    for (size_t i = 0; i < o->n_tools; i++) {
        const struct offered *other = &o->tools[(from + i) % o->n_tools];

        if (strcmp(other->name, name) == 0)
            return json_equal(other->described, json_shared(described)) ? other : NULL;
    }
    return NULL;
}

static void read_one(struct upstream *u, const json_t *described)
{
    const char *tool = json_string_at(described, "name", "");
    struct offered o = { .tool = tool, .described = described };
    const struct offered *before;

    if (!server_offers(u->spec, tool))
        return;
    o.name = name_of(u, tool);
    o.needs_approval = server_lists(u->spec->approval, tool);
    before = o.name ? known(u, o.name, described) : NULL;
    if (before) {
        o.returns = json_incref(before->returns);
        o.set = toolset_ref(before->set);
    } else if (o.name) {
        o.returns = schema_of(described, "outputSchema");
        o.set = set_of(u, &o);
    }
    if (o.set)
        u->reading.tools[u->reading.n_tools++] = o;
    else
        offered_done(&o);
}

void offer_begin(struct upstream *u)
{
    const json_t *list = client_tools(u->client);

    offer_done(&u->reading);
    u->n_logged = 0;
    u->reading =
        (struct offer){ .list = json_incref(json_shared(list)),
                        .idents = count_idents(list),
                        .tools = calloc(json_array_size(list) + 1, sizeof(*u->reading.tools)) };
}

bool offer_go_on(struct upstream *u)
{
    struct offer *o = &u->reading;
    int64_t until = clock_us() + SLICE_US;

    if (offer_is_read(u))
        return true;
    for (; o->tools && o->at < json_array_size(o->list); o->at++) {
        if (clock_us() >= until)
            return false;
        read_one(u, json_array_get(o->list, o->at));
    }
    offer_done(&u->offer);
    u->offer = *o;
    *o = (struct offer){ 0 };
    return true;
}

bool offer_is_read(const struct upstream *u)
{
    return !u->reading.list;
}
