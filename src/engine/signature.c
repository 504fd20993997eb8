#include "engine/signature.h"

#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/visible.h"
#include "engine/schema.h"
#include "python/names.h"

enum {
    DEPTH_MAX = 4,     /* of types within types; deeper is Any */
    UNION_MAX = 12,    /* members */
    LITERAL_MAX = 200, /* bytes of values that are listed */
    TYPE_MAX = 400,    /* bytes of a type */
    WORK_MAX = 500     /* types and members of unions that are looked at for one signature */
};

/* A schema whose types are being written. References make one of a few lines stand for any number
 * of types: each that is looked at is paid for, and when nothing is left to pay with it is Any. */
struct source {
    const json_t *root;
    unsigned left;
};

static void put_type(FILE *f, struct source *s, const json_t *schema, int depth);

static bool spend(struct source *s)
{
    s->left -= s->left > 0;
    return s->left > 0;
}

/* The text of a type, which the caller frees. */
static char *type_text(struct source *s, const json_t *schema, int depth)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = spend(s) ? open_memstream(&text, &len) : NULL;

    if (!f)
        return strdup("Any");
    put_type(f, s, schema, depth);
    if (fclose(f) == 0 && len <= TYPE_MAX)
        return text;
    free(text);
    return strdup("Any");
}

/* ---- unions: each member once, None last ---- */

struct members {
    char *texts[UNION_MAX];
    size_t n;
    bool is_open; /* one of them is anything */
};

static void members_add(struct members *m, char *text)
{
    for (size_t i = 0; text && i < m->n; i++) {
        if (strcmp(m->texts[i], text) == 0) {
            free(text);
            return;
        }
    }
    if (!text || m->n == UNION_MAX || strcmp(text, "Any") == 0) {
        m->is_open = true;
        free(text);
        return;
    }
    m->texts[m->n++] = text;
}

static void members_put(FILE *f, struct members *m)
{
    const char *none = NULL, *between = "";

    if (m->is_open || m->n == 0)
        fputs("Any", f);
    for (size_t i = 0; i < m->n && !m->is_open; i++) {
        if (strcmp(m->texts[i], "None") == 0) {
            none = m->texts[i];
            continue;
        }
        fprintf(f, "%s%s", between, m->texts[i]);
        between = " | ";
    }
    if (none && !m->is_open)
        fprintf(f, "%s%s", between, none);
    for (size_t i = 0; i < m->n; i++)
        free(m->texts[i]);
}

/* ---- types ---- */

static void put_array(FILE *f, struct source *s, const json_t *schema, int depth)
{
    const json_t *items = json_object_get(schema, "items");
    auto_free char *text = json_is_object(items) ? type_text(s, items, depth + 1) : NULL;

    if (text && strcmp(text, "Any") != 0)
        fprintf(f, "list[%s]", text);
    else
        fputs("list", f);
}

static void put_object(FILE *f, struct source *s, const json_t *schema, int depth)
{
    const json_t *values = json_object_get(schema, "additionalProperties");
    bool is_map = json_is_object(values) && !json_object_get(schema, "properties");
    auto_free char *text = is_map ? type_text(s, values, depth + 1) : NULL;

    if (text && strcmp(text, "Any") != 0)
        fprintf(f, "dict[str, %s]", text);
    else
        fputs("dict", f);
}

static void put_named(FILE *f, struct source *s, const json_t *schema, const char *type, int depth)
{
    static const struct {
        const char *name, *python;
        void (*put)(FILE *f, struct source *s, const json_t *schema, int depth);
    } types[] = {
        { "string", "str", NULL },      { "integer", "int", NULL }, { "number", "float", NULL },
        { "boolean", "bool", NULL },    { "null", "None", NULL },   { "array", NULL, put_array },
        { "object", NULL, put_object },
    };

    for (size_t i = 0; type && i < ARRAY_LEN(types); i++) {
        if (strcmp(types[i].name, type) != 0)
            continue;
        if (types[i].put)
            types[i].put(f, s, schema, depth);
        else
            fputs(types[i].python, f);
        return;
    }
    fputs("Any", f);
}

static void put_types(FILE *f, struct source *s, const json_t *schema, const json_t *names,
                      int depth)
{
    struct members m = { .n = 0 };

    for (size_t i = 0; i < json_array_size(names) && !m.is_open; i++) {
        char *text = NULL;
        size_t len = 0;
        FILE *part = spend(s) ? open_memstream(&text, &len) : NULL;

        if (part) {
            put_named(part, s, schema, json_string_value(json_array_get(names, i)), depth);
            (void)fclose(part);
        }
        members_add(&m, text);
    }
    members_put(f, &m);
}

static void put_union(FILE *f, struct source *s, const json_t *list, int depth)
{
    struct members m = { .n = 0 };

    for (size_t i = 0; i < json_array_size(list) && !m.is_open; i++)
        members_add(&m, type_text(s, json_array_get(list, i), depth + 1));
    members_put(f, &m);
}

/* Literal["a", 1]: JSON, but for its three words, is Python too. */
static bool put_literal(FILE *f, const json_t *values)
{
    auto_free char *text = NULL;
    size_t len = 0;

    for (size_t i = 0; i < json_array_size(values) && len <= LITERAL_MAX; i++) {
        const json_t *value = json_array_get(values, i);
        if (!json_is_string(value) && !json_is_integer(value))
            return false;
        len += 2 + json_string_length(value); /* at least */
    }
    if (len > LITERAL_MAX)
        return false;
    text = json_dumps(values, JSON_ENSURE_ASCII);
    len = text ? strlen(text) : 0;
    if (len < 3 || len > LITERAL_MAX)
        return false;
    fprintf(f, "Literal%s", text);
    return true;
}

static bool put_const(FILE *f, const json_t *value)
{
    auto_json json_t *list = value ? json_pack("[O]", value) : NULL;

    return list && put_literal(f, list);
}

static void put_type(FILE *f, struct source *s, const json_t *schema, int depth)
{
    const json_t *type = json_object_get(schema, "type"), *any = json_object_get(schema, "anyOf");
    const json_t *all = json_object_get(schema, "allOf");
    const char *ref = json_string_value(json_object_get(schema, "$ref"));

    if (!any)
        any = json_object_get(schema, "oneOf");
    if (depth > DEPTH_MAX || !json_is_object(schema)) {
        fputs("Any", f);
        return;
    }
    if (put_literal(f, json_object_get(schema, "enum")) ||
        put_const(f, json_object_get(schema, "const")))
        return;
    if (json_is_string(type))
        put_named(f, s, schema, json_string_value(type), depth);
    else if (json_is_array(type))
        put_types(f, s, schema, type, depth);
    else if (any)
        put_union(f, s, any, depth);
    else if (ref)
        put_type(f, s, schema_refer(s->root, ref), depth + 1);
    else if (json_array_size(all) == 1)
        put_type(f, s, json_array_get(all, 0), depth + 1);
    else
        fputs("Any", f);
}

static void put_whole_type(FILE *f, struct source *s, const json_t *schema)
{
    auto_free char *text = schema ? type_text(s, schema, 0) : NULL;

    fputs(text ? text : "Any", f);
}

void signature_put_type(FILE *f, const json_t *root, const json_t *schema)
{
    put_whole_type(f, &(struct source){ .root = root, .left = WORK_MAX }, schema);
}

/* ---- the whole ---- */

/* Those that must be given, or those that need not be. Returns what the next is separated by. */
static const char *put_parameters(FILE *f, struct source *s, const json_t *required,
                                  bool is_required, const char *between)
{
    const char *name;
    json_t *schema;

    json_object_foreach (json_object_get(s->root, "properties"), name, schema) {
        if (!name_is_variable(name) || (json_object_get(required, name) != NULL) != is_required)
            continue;
        fprintf(f, "%s%s: ", between, name);
        put_whole_type(f, s, schema);
        if (!is_required)
            fputs(" = ...", f);
        between = ", ";
    }
    return between;
}

/* May there be arguments that the signature does not name? */
static bool has_more(const json_t *parameters)
{
    const json_t *properties = json_object_get(parameters, "properties");
    const char *name;
    json_t *schema;

    if (!properties)
        return !json_is_false(json_object_get(parameters, "additionalProperties"));
    json_object_foreach (json_shared(properties), name, schema)
        if (!name_is_variable(name))
            return true;
    return false;
}

void signature_put(FILE *f, const json_t *parameters, const json_t *returns)
{
    struct source s = { .root = parameters, .left = WORK_MAX };
    auto_json json_t *required = json_names(json_object_get(parameters, "required"));
    const char *between = "*, ";

    fputc('(', f);
    between = put_parameters(f, &s, required, true, between);
    between = put_parameters(f, &s, required, false, between);
    if (has_more(parameters))
        fprintf(f, "%s**more: Any", between[0] == ',' ? between : "");
    fputs(") -> ", f);
    signature_put_type(f, returns, returns);
}

void signature_put_line(FILE *f, const char *text, size_t max)
{
    size_t len = 0;
    bool is_blank = false;
    unsigned n;

    for (; *text; text += n) {
        uint32_t c = visible_character(text, strnlen(text, 4), &n);

        if (c <= ' ' || visible_hides(c)) { /* also what ends a line */
            is_blank = true;
            continue;
        }
        if (len >= max) {
            fputs("...", f);
            return;
        }
        if (is_blank && len > 0)
            fputc(' ', f);
        is_blank = false;
        fwrite(text, 1, n, f);
        len += n;
    }
}
