/*
 * Leaving out a keyword makes a schema looser, except below "not", "if" and "oneOf", where it may
 * make it tighter: there the whole keyword goes if anything below would. The same is true of what
 * other keywords of the same schema refer to: "additionalProperties" means others where
 * "patternProperties" is not seen.
 */
#include "engine/relax.h"

#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/schema.h"

enum {
    DEPTH_MAX = 60
};

enum below {
    BELOW_NOTHING,
    BELOW_SCHEMA,
    BELOW_LIST,  /* of schemas */
    BELOW_NAMED, /* schemas */
    BELOW_EXACT  /* one that must not change */
};

static const struct {
    const char *key;
    enum below below;
} inner[] = {
    { "properties", BELOW_NAMED },
    { "$defs", BELOW_NAMED },
    { "definitions", BELOW_NAMED },
    { "additionalProperties", BELOW_SCHEMA },
    { "propertyNames", BELOW_SCHEMA },
    { "items", BELOW_SCHEMA },
    { "prefixItems", BELOW_LIST },
    { "anyOf", BELOW_LIST },
    { "allOf", BELOW_LIST },
    { "oneOf", BELOW_EXACT },
    { "not", BELOW_EXACT },
    { "if", BELOW_EXACT },
    { "then", BELOW_SCHEMA },
    { "else", BELOW_SCHEMA },
};

static json_t *relax(const json_t *root, const json_t *schema, int depth);

static enum below below_of(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(inner); i++)
        if (strcmp(inner[i].key, key) == 0)
            return inner[i].below;
    return BELOW_NOTHING;
}

/* Would a schema of this keyword alone do? */
static bool is_taken(const json_t *root, const char *key, const json_t *value)
{
    auto_json json_t *alone = NULL;
    struct gb_err ignored;

    if (strcmp(key, "$ref") == 0)
        return json_is_string(value) && schema_refer(root, json_string_value(value));
    alone = json_object();
    (void)json_object_set_new(alone, key, json_incref(json_shared(value)));
    return schema_check(alone, &ignored) == 0;
}

static json_t *relax_list(const json_t *root, const json_t *value, int depth)
{
    json_t *list = json_array();

    for (size_t i = 0; i < json_array_size(value); i++)
        (void)json_array_append_new(list, relax(root, json_array_get(value, i), depth));
    return list;
}

static json_t *relax_named(const json_t *root, const json_t *value, int depth)
{
    json_t *all = json_object(), *schema;
    const char *name;

    json_object_foreach (json_shared(value), name, schema)
        (void)json_object_set_new(all, name, relax(root, schema, depth));
    return all;
}

/* Of one keyword; NULL: it goes. */
static json_t *relax_keyword(const json_t *root, const char *key, const json_t *value, int depth)
{
    enum below below = below_of(key);
    auto_json json_t *same = NULL;

    if (below == BELOW_NAMED)
        return json_is_object(value) ? relax_named(root, value, depth) : NULL;
    if (below == BELOW_LIST)
        return json_array_size(value) > 0 ? relax_list(root, value, depth) : NULL;
    if (below == BELOW_SCHEMA)
        return json_is_object(value) || json_is_boolean(value) ? relax(root, value, depth) : NULL;
    if (below == BELOW_EXACT) {
        same = json_is_array(value) ? relax_list(root, value, depth) : relax(root, value, depth);
        return json_equal(same, value) ? json_incref(same) : NULL;
    }
    return is_taken(root, key, value) ? json_incref(json_shared(value)) : NULL;
}

static json_t *relax(const json_t *root, const json_t *schema, int depth)
{
    json_t *out, *value, *kept;
    const char *key;

    if (json_is_boolean(schema))
        return json_incref(json_shared(schema));
    out = json_object();
    if (depth > DEPTH_MAX)
        return out;
    json_object_foreach (json_shared(schema), key, value) {
        kept = relax_keyword(root, key, value, depth + 1);
        if (kept)
            (void)json_object_set_new(out, key, kept);
    }
    if (json_object_get(schema, "patternProperties"))
        (void)json_object_del(out, "additionalProperties");
    if (json_is_array(json_object_get(schema, "items"))) /* the tuples of older drafts */
        (void)json_object_del(out, "additionalItems");
    if (!json_object_get(out, "if")) {
        (void)json_object_del(out, "then");
        (void)json_object_del(out, "else");
    }
    return out;
}

json_t *schema_relax(const json_t *schema)
{
    auto_json json_t *out = NULL;
    struct gb_err ignored;

    if (schema_check(schema, &ignored) == 0)
        return json_incref(json_shared(schema));
    out = json_is_object(schema) ? relax(schema, schema, 0) : NULL;
    if (out && schema_check(out, &ignored) == 0)
        return json_incref(out);
    return NULL;
}
