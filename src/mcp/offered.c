/* A server's tools as the engine's: names that Python takes, schemas that can be checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/relax.h"
#include "engine/tools.h"
#include "mcp/downstream_core.h"

enum {
    NAME_MAX_BYTES = 128,
    DESCRIPTION_MAX = 16 << 10
};

/* ---- names ---- */

static bool is_taken(const struct upstream *u, const char *name)
{
    for (size_t i = 0; i < u->n_tools; i++)
        if (strcmp(u->tools[i].name, name) == 0)
            return true;
    return false;
}

/* How many of the listed tools programs would find under this name. */
static size_t count_named(const json_t *list, const char *ident)
{
    char other[NAME_MAX_BYTES + 4];
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        n += ident_of(json_string_at(json_array_get(list, i), "name", ""), false, other,
                      sizeof(other)) &&
             strcmp(other, ident) == 0;
    return n;
}

/* "server.tool"; NULL, having said so, when there can be none. The caller frees it. */
static char *name_of(struct upstream *u, const json_t *list, const char *tool)
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
    if (count_named(list, ident) > 1) {
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

json_t *offered_spec(const struct upstream *u, const struct offered *o)
{
    const char *description = json_string_at(o->described, "description", NULL);
    json_t *spec = json_pack("{s:s,s:b,s:f}", "name", o->name, "hosted", 1, "timeout",
                             (double)server_timeout_ms(u->spec, o->tool) / 1000);

    if (!description)
        description = json_string_at(o->described, "title", NULL);
    if (description)
        put(spec, "description", cut_text(description));
    put(spec, "parameters", schema_relax(json_object_get(o->described, "inputSchema")));
    put(spec, "returns", json_incref(o->returns));
    if (o->needs_approval)
        put(spec, "approval", json_string("always"));
    return spec;
}

/* Does the engine take it? Without its schemas, if they are what it does not take. */
static bool is_usable(struct upstream *u, const struct offered *o)
{
    auto_json json_t *spec = offered_spec(u, o);
    auto_json json_t *list = json_pack("[O]", spec);
    struct gb_err err = { 0 };
    struct toolset *set = list ? toolset_read(list, &err) : NULL;

    if (!set)
        downstream_log(u, "the tool '%.60s' is left out: %.160s", o->tool, err.msg);
    (void)toolset_unref(set);
    return set != NULL;
}

/* ---- all ---- */

void offered_done(struct upstream *u)
{
    for (size_t i = 0; i < u->n_tools; i++) {
        free(u->tools[i].name);
        json_decref(u->tools[i].returns);
    }
    free(take_ptr(u->tools));
    u->n_tools = 0;
}

void offered_read(struct upstream *u)
{
    const json_t *list = client_tools(u->client);

    offered_done(u);
    u->tools = calloc(json_array_size(list) + 1, sizeof(*u->tools));
    for (size_t i = 0; u->tools && i < json_array_size(list); i++) {
        const json_t *described = json_array_get(list, i);
        const char *tool = json_string_at(described, "name", "");
        const json_t *returns = json_object_get(described, "outputSchema");
        struct offered o = { .tool = tool, .described = described };

        if (!server_offers(u->spec, tool))
            continue;
        o.name = name_of(u, list, tool);
        o.needs_approval = server_lists(u->spec->approval, tool);
        o.returns = returns ? schema_relax(returns) : NULL;
        if (o.name && !is_taken(u, o.name) && is_usable(u, &o)) {
            u->tools[u->n_tools++] = o;
            continue;
        }
        free(o.name);
        json_decref(o.returns);
    }
}
