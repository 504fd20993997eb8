/*
 * One table of keywords, each with two functions: is its own value well formed, and does a value
 * obey it? Keywords that only describe have neither. A path to the place is kept while descending,
 * for the message.
 *
 * Schemas and values are hostile. Whatever looks at something pays for it first (spend()): a step
 * for each place, and one for each 64 bytes of text that are looked at there. When that is used up,
 * every loop ends, and the value does not obey.
 */
#include "engine/schema.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "base/pattern.h"

enum {
    DEPTH_MAX = 64,      /* of schemas within schemas, and of references */
    STEPS_MAX = 1 << 20, /* that checking one value may take: a tenth of a second */
    STEP_BYTES = 64,     /* of text, looked at in one step */
    PATH_BYTES = 100,
    SHOWN_MAX = 60
};

struct walk {
    const json_t *root;
    struct gb_err *err;
    unsigned depth;
    unsigned trials; /* that are under way: what fails in them is not told */
    size_t steps;
    bool is_told;        /* why it is over */
    int64_t patterns_us; /* that are left for them */
    size_t path_len;
    char path[PATH_BYTES]; /* as far as it fits */
};

static int check(struct walk *w, const json_t *schema);
static int validate(struct walk *w, const json_t *schema, const json_t *value);

/* In a trial a no is expected, and often many of them: no message is made of it. */
#define fail(w, ...) \
    ((w)->trials > 0 || (w)->is_told ? -1 : gb_fail((w)->err, GB_E_INVALID, 0, __VA_ARGS__))

/* Pay for looking at so many bytes of text. False: there is nothing left to pay with. */
static bool spend(struct walk *w, size_t bytes)
{
    w->steps += 1 + bytes / STEP_BYTES;
    return w->steps < STEPS_MAX;
}

static bool is_over(const struct walk *w)
{
    return w->steps >= STEPS_MAX;
}

static int end(struct walk *w)
{
    w->steps = STEPS_MAX;
    w->is_told = true;
    return -1;
}

/* It cannot be told: not even "not" can make that a yes, so it is told although it be a trial. */
#define give_up(w, ...) \
    (w->is_told ? -1 : ((void)gb_fail((w)->err, GB_E_INVALID, 0, __VA_ARGS__), end(w)))

/* ---- the place ---- */

/* Returns what to give to leave(). */
static size_t enter(struct walk *w, const char *format, const char *text, size_t number)
{
    size_t before = w->path_len, room = sizeof(w->path) - before;
    int n;

    if (format[0] == '[')
        n = snprintf(w->path + before, room, "[%zu]", number);
    else
        n = snprintf(w->path + before, room, "%s%.60s", before ? "." : "", text);
    w->path_len += (size_t)n < room ? (size_t)n : room - 1;
    return before;
}

static void leave(struct walk *w, size_t before)
{
    w->path_len = before;
    w->path[before] = '\0';
}

/* ---- what values are ---- */

static bool is_whole(const json_t *value)
{
    double d = json_real_value(value);

    return json_is_integer(value) || (json_is_real(value) && floor(d) == d);
}

static const char *const type_names[] = { "null",   "boolean", "integer", "number",
                                          "string", "array",   "object" };

static bool is_type(const json_t *value, const char *type)
{
    switch (json_typeof(value)) {
    case JSON_NULL:
        return strcmp(type, "null") == 0;
    case JSON_TRUE:
    case JSON_FALSE:
        return strcmp(type, "boolean") == 0;
    case JSON_STRING:
        return strcmp(type, "string") == 0;
    case JSON_ARRAY:
        return strcmp(type, "array") == 0;
    case JSON_OBJECT:
        return strcmp(type, "object") == 0;
    case JSON_INTEGER:
    case JSON_REAL:
        break;
    }
    return strcmp(type, "number") == 0 || (strcmp(type, "integer") == 0 && is_whole(value));
}

static const char *type_of(const json_t *value)
{
    for (size_t i = 0; i < ARRAY_LEN(type_names); i++)
        if (is_type(value, type_names[i]))
            return type_names[i];
    return "nothing";
}

/* Are they the same? No when that takes too long: whoever asks will stop. */
static bool is_equal(struct walk *w, const json_t *a, const json_t *b)
{
    size_t len = json_string_length(a);
    const char *key;
    json_t *item;

    if (!spend(w, len == json_string_length(b) ? len : 0))
        return false;
    if (json_is_number(a) && json_is_number(b) && json_typeof(a) != json_typeof(b))
        return json_number_value(a) == json_number_value(b);
    if (json_typeof(a) != json_typeof(b) || json_array_size(a) != json_array_size(b) ||
        json_object_size(a) != json_object_size(b))
        return false;
    if (!json_is_array(a) && !json_is_object(a))
        return json_equal(a, b) != 0;
    for (size_t i = 0; i < json_array_size(a); i++)
        if (!is_equal(w, json_array_get(a, i), json_array_get(b, i)))
            return false;
    json_object_foreach (json_shared(a), key, item) {
        const json_t *other = spend(w, strlen(key)) ? json_object_get(b, key) : NULL;
        if (!other || !is_equal(w, item, other))
            return false;
    }
    return true;
}

/* 0 when that takes too long. */
static size_t count_characters(struct walk *w, const json_t *text)
{
    const char *at = json_string_value(text);
    size_t n = 0;

    if (!spend(w, json_string_length(text)))
        return 0;
    for (size_t i = 0; i < json_string_length(text); i++)
        n += (at[i] & 0xc0) != 0x80;
    return n;
}

struct shown {
    char text[SHOWN_MAX + 2];
    size_t len;
};

/* Ends the writing as soon as there is more than is shown. */
static int take_shown(const char *piece, size_t len, void *data)
{
    struct shown *s = data;
    size_t room = sizeof(s->text) - 1 - s->len;

    memcpy(s->text + s->len, piece, len < room ? len : room);
    s->len += len < room ? len : room;
    return s->len > SHOWN_MAX ? -1 : 0;
}

/* JSON of a value, short enough for a message. A string is one piece of it, however long. */
static void show(const struct walk *w, const json_t *value, char ret[SHOWN_MAX + 4])
{
    struct shown s = { .len = 0 };
    size_t n;

    if (w->trials == 0)
        (void)json_dump_callback(value, take_shown, &s, JSON_COMPACT | JSON_ENCODE_ANY);
    n = s.len > SHOWN_MAX ? SHOWN_MAX : s.len;
    while (n > 0 && s.text[n] && (s.text[n] & 0xc0) == 0x80)
        n--;
    (void)snprintf(ret, SHOWN_MAX + 4, "%.*s%s", (int)n, s.text, s.text[n] ? "..." : "");
}

/* ---- is a keyword well formed? ---- */

static int check_type_name(struct walk *w, const json_t *name)
{
    const char *text = json_string_value(name);

    for (size_t i = 0; text && i < ARRAY_LEN(type_names); i++)
        if (strcmp(text, type_names[i]) == 0)
            return 0;
    return fail(w, "'type' must be null, boolean, integer, number, string, array or object");
}

static int check_type(struct walk *w, const char *key, const json_t *value)
{
    (void)key;
    if (!json_is_array(value))
        return check_type_name(w, value);
    if (json_array_size(value) == 0)
        return fail(w, "'type' is an empty list");
    for (size_t i = 0; i < json_array_size(value); i++)
        if (check_type_name(w, json_array_get(value, i)) < 0)
            return -1;
    return 0;
}

static int check_schema(struct walk *w, const char *key, const json_t *value)
{
    (void)key;
    return check(w, value);
}

static int check_schemas(struct walk *w, const char *key, const json_t *value)
{
    if (!json_is_array(value) || json_array_size(value) == 0)
        return fail(w, "'%s' must be a list of schemas", key);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (check(w, json_array_get(value, i)) < 0)
            return -1;
    return 0;
}

static int check_named(struct walk *w, const char *key, const json_t *value)
{
    const char *name;
    json_t *schema;

    if (!json_is_object(value))
        return fail(w, "'%s' must be an object of schemas", key);
    json_object_foreach (json_shared(value), name, schema)
        if (check(w, schema) < 0)
            return -1;
    return 0;
}

static int check_strings(struct walk *w, const char *key, const json_t *value)
{
    bool ok = json_is_array(value);

    for (size_t i = 0; ok && i < json_array_size(value); i++)
        ok = json_is_string(json_array_get(value, i));
    return ok ? 0 : fail(w, "'%s' must be a list of strings", key);
}

static int check_list(struct walk *w, const char *key, const json_t *value)
{
    return json_array_size(value) > 0 ? 0 : fail(w, "'%s' must be a list of values", key);
}

static int check_number(struct walk *w, const char *key, const json_t *value)
{
    return json_is_number(value) ? 0 : fail(w, "'%s' must be a number", key);
}

static int check_positive(struct walk *w, const char *key, const json_t *value)
{
    return json_number_value(value) > 0 ? 0 : fail(w, "'%s' must be a number above 0", key);
}

static int check_count(struct walk *w, const char *key, const json_t *value)
{
    return is_whole(value) && json_number_value(value) >= 0
               ? 0
               : fail(w, "'%s' must be a whole number, not below 0", key);
}

static int check_flag(struct walk *w, const char *key, const json_t *value)
{
    return json_is_boolean(value) ? 0 : fail(w, "'%s' must be true or false", key);
}

static int check_pattern(struct walk *w, const char *key, const json_t *value)
{
    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
        return fail(w, "'%s' must be a string without NUL", key);
    return pattern_check(json_string_value(value), &w->patterns_us, w->err) < 0
               ? gb_fail_wrap(w->err, "'%s'", key)
               : 0;
}

const json_t *schema_refer(const json_t *root, const char *ref)
{
    static const char *const places[] = { "#/$defs/", "#/definitions/" };

    if (strcmp(ref, "#") == 0)
        return root;
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        size_t n = strlen(places[i]);
        if (strncmp(ref, places[i], n) == 0)
            return json_object_get(json_object_get(root, i == 0 ? "$defs" : "definitions"),
                                   ref + n);
    }
    return NULL;
}

static int check_ref(struct walk *w, const char *key, const json_t *value)
{
    if (json_is_string(value) && schema_refer(w->root, json_string_value(value)))
        return 0;
    return fail(w, "'%s' must be '#', or '#/$defs/NAME' with such a NAME", key);
}

/* ---- does a value obey? ---- */

static int obey_type(struct walk *w, const json_t *schema, const json_t *rule, const json_t *value)
{
    char list[80] = "";
    size_t len = 0, n = json_is_array(rule) ? json_array_size(rule) : 1;

    (void)schema;
    for (size_t i = 0; i < n && spend(w, 0); i++) {
        const char *type = json_string_value(json_is_array(rule) ? json_array_get(rule, i) : rule);
        if (is_type(value, type))
            return 0;
        if (len < sizeof(list))
            len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? " or " : "", type);
    }
    return fail(w, "%s must be %s, not %s", w->path, list, type_of(value));
}

static int obey_enum(struct walk *w, const json_t *schema, const json_t *rule, const json_t *value)
{
    char list[SHOWN_MAX + 4];

    (void)schema;
    for (size_t i = 0; i < json_array_size(rule) && !is_over(w); i++)
        if (is_equal(w, json_array_get(rule, i), value))
            return 0;
    show(w, rule, list);
    return fail(w, "%s must be one of %s", w->path, list);
}

static int obey_const(struct walk *w, const json_t *schema, const json_t *rule, const json_t *value)
{
    char text[SHOWN_MAX + 4];

    (void)schema;
    if (is_equal(w, rule, value))
        return 0;
    show(w, rule, text);
    return fail(w, "%s must be %s", w->path, text);
}

/* Integers are compared as such: as reals, large ones would be equal to their neighbours. */
static int compare(const json_t *a, const json_t *b)
{
    double x = json_number_value(a), y = json_number_value(b);

    if (json_is_integer(a) && json_is_integer(b))
        return (json_integer_value(a) > json_integer_value(b)) -
               (json_integer_value(a) < json_integer_value(b));
    return (x > y) - (x < y);
}

static int fail_bound(struct walk *w, const char *what, const json_t *rule)
{
    char text[SHOWN_MAX + 4];

    show(w, rule, text);
    return fail(w, "%s must be %s %s", w->path, what, text);
}

static int obey_minimum(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    return !json_is_number(value) || compare(value, rule) >= 0 ? 0
                                                               : fail_bound(w, "at least", rule);
}

static int obey_maximum(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    return !json_is_number(value) || compare(value, rule) <= 0 ? 0 : fail_bound(w, "at most", rule);
}

static int obey_above(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    return !json_is_number(value) || compare(value, rule) > 0 ? 0 : fail_bound(w, "above", rule);
}

static int obey_below(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    return !json_is_number(value) || compare(value, rule) < 0 ? 0 : fail_bound(w, "below", rule);
}

static int obey_multiple(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    double q = json_number_value(value) / json_number_value(rule);

    (void)s;
    if (!json_is_number(value))
        return 0;
    if (json_is_integer(value) && json_is_integer(rule))
        return json_integer_value(value) % json_integer_value(rule) == 0
                   ? 0
                   : fail_bound(w, "a multiple of", rule);
    return isfinite(q) && fabs(q - round(q)) <= 1e-9 * fmax(1, fabs(q))
               ? 0
               : fail_bound(w, "a multiple of", rule);
}

static int fail_count(struct walk *w, size_t have, const char *what, const char *unit,
                      const json_t *rule)
{
    return fail(w, "%s must have %s %.0f %s, not %zu", w->path, what, json_number_value(rule), unit,
                have);
}

static int obey_min_length(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    size_t n = count_characters(w, value);

    (void)s;
    return !json_is_string(value) || (double)n >= json_number_value(rule)
               ? 0
               : fail_count(w, n, "at least", "characters", rule);
}

static int obey_max_length(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    size_t n = count_characters(w, value);

    (void)s;
    return !json_is_string(value) || (double)n <= json_number_value(rule)
               ? 0
               : fail_count(w, n, "at most", "characters", rule);
}

static int obey_min_items(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    size_t n = json_array_size(value);

    (void)s;
    return !json_is_array(value) || (double)n >= json_number_value(rule)
               ? 0
               : fail_count(w, n, "at least", "items", rule);
}

static int obey_max_items(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    size_t n = json_array_size(value);

    (void)s;
    return !json_is_array(value) || (double)n <= json_number_value(rule)
               ? 0
               : fail_count(w, n, "at most", "items", rule);
}

static int obey_min_keys(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    size_t n = json_object_size(value);

    (void)s;
    return !json_is_object(value) || (double)n >= json_number_value(rule)
               ? 0
               : fail_count(w, n, "at least", "keys", rule);
}

static int obey_max_keys(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    size_t n = json_object_size(value);

    (void)s;
    return !json_is_object(value) || (double)n <= json_number_value(rule)
               ? 0
               : fail_count(w, n, "at most", "keys", rule);
}

static int obey_pattern(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    int n;

    (void)s;
    if (!json_is_string(value))
        return 0;
    if (!spend(w, json_string_length(value)))
        return -1;
    n = pattern_match(json_string_value(rule), json_string_value(value), json_string_length(value),
                      &w->patterns_us);
    if (n > 0)
        return 0;
    if (n == 0)
        return fail(w, "%s does not match the pattern %.80s", w->path, json_string_value(rule));
    return give_up(w, "%s takes too long to match against the pattern %.80s", w->path,
                   json_string_value(rule));
}

static int obey_unique(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    for (size_t i = 0; json_is_true(rule) && i < json_array_size(value) && !is_over(w); i++)
        for (size_t k = 0; k < i && !is_over(w); k++)
            if (is_equal(w, json_array_get(value, i), json_array_get(value, k)))
                return fail(w, "%s has the same item at %zu and at %zu", w->path, k, i);
    return 0;
}

static int obey_required(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    for (size_t i = 0; json_is_object(value) && i < json_array_size(rule); i++) {
        const char *name = json_string_value(json_array_get(rule, i));
        if (!spend(w, strlen(name)))
            return -1;
        if (!json_object_get(value, name))
            return fail(w, "%s%s'%.60s' is missing", w->path, w->path_len ? ": " : "", name);
    }
    return 0;
}

static int validate_at(struct walk *w, const json_t *schema, const json_t *value, const char *key,
                       size_t number)
{
    size_t before = enter(w, key ? "." : "[", key, number);
    int r = spend(w, 0) ? validate(w, schema, value) : -1;

    if (r == 0)
        leave(w, before);
    return r;
}

static int obey_properties(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    const char *name;
    json_t *schema;

    (void)s;
    json_object_foreach (json_shared(rule), name, schema) {
        const json_t *item = spend(w, strlen(name)) ? json_object_get(value, name) : NULL;
        if (is_over(w))
            return -1;
        if (item && validate_at(w, schema, item, name, 0) < 0)
            return -1;
    }
    return 0;
}

static int obey_additional(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    const json_t *known = json_object_get(s, "properties");
    const char *name;
    json_t *item;

    json_object_foreach (json_shared(value), name, item) {
        if (!spend(w, strlen(name)))
            return -1;
        if (json_object_get(known, name))
            continue;
        if (json_is_false(rule))
            return fail(w, "%s%s'%.60s' is not known", w->path, w->path_len ? ": " : "", name);
        if (validate_at(w, rule, item, name, 0) < 0)
            return -1;
    }
    return 0;
}

static int obey_names(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    const char *name;
    json_t *item;

    (void)s;
    json_object_foreach (json_shared(value), name, item) {
        auto_json json_t *text = spend(w, strlen(name)) ? json_string(name) : NULL;
        if (is_over(w))
            return -1;
        if (text && validate_at(w, rule, text, name, 0) < 0)
            return -1;
    }
    return 0;
}

static int obey_prefix(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    for (size_t i = 0; i < json_array_size(rule) && i < json_array_size(value); i++)
        if (validate_at(w, json_array_get(rule, i), json_array_get(value, i), NULL, i) < 0)
            return -1;
    return 0;
}

static int obey_items(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    for (size_t i = json_array_size(json_object_get(s, "prefixItems")); i < json_array_size(value);
         i++)
        if (validate_at(w, rule, json_array_get(value, i), NULL, i) < 0)
            return -1;
    return 0;
}

static bool does_obey(struct walk *w, const json_t *schema, const json_t *value)
{
    size_t before = w->path_len;
    unsigned trials = w->trials++;
    int r = validate(w, schema, value);

    w->trials = trials;
    leave(w, before);
    return r == 0;
}

/* How many of the schemas the value obeys, up to `most`. */
static size_t count_obeyed(struct walk *w, const json_t *list, const json_t *value, size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list) && n < most && !is_over(w); i++)
        n += does_obey(w, json_array_get(list, i), value);
    return n;
}

static int obey_any(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    if (json_array_size(rule) == 1)
        return validate(w, json_array_get(rule, 0), value);
    if (count_obeyed(w, rule, value, 1) > 0)
        return 0;
    return fail(w, "%s is none of what it may be", w->path);
}

static int obey_one(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    size_t n = count_obeyed(w, rule, value, 2);

    (void)s;
    if (n == 1)
        return 0;
    return fail(w,
                n == 0 ? "%s is none of what it may be" : "%s is more than one of what it may be",
                w->path);
}

static int obey_all(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    for (size_t i = 0; i < json_array_size(rule); i++)
        if (validate(w, json_array_get(rule, i), value) < 0)
            return -1;
    return 0;
}

static int obey_not(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    return does_obey(w, rule, value) ? fail(w, "%s is what it may not be", w->path) : 0;
}

static int obey_if(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    const json_t *next = json_object_get(s, does_obey(w, rule, value) ? "then" : "else");

    return next ? validate(w, next, value) : 0;
}

static int obey_ref(struct walk *w, const json_t *s, const json_t *rule, const json_t *value)
{
    (void)s;
    return validate(w, schema_refer(w->root, json_string_value(rule)), value);
}

/* ---- the whole ---- */

static const struct {
    const char *key;
    int (*check)(struct walk *w, const char *key, const json_t *value);
    int (*obey)(struct walk *w, const json_t *schema, const json_t *rule, const json_t *value);
} keywords[] = {
    { "type", check_type, obey_type },
    { "properties", check_named, obey_properties },
    { "required", check_strings, obey_required },
    { "additionalProperties", check_schema, obey_additional },
    { "propertyNames", check_schema, obey_names },
    { "minProperties", check_count, obey_min_keys },
    { "maxProperties", check_count, obey_max_keys },
    { "items", check_schema, obey_items },
    { "prefixItems", check_schemas, obey_prefix },
    { "minItems", check_count, obey_min_items },
    { "maxItems", check_count, obey_max_items },
    { "uniqueItems", check_flag, obey_unique },
    { "enum", check_list, obey_enum },
    { "const", NULL, obey_const },
    { "minimum", check_number, obey_minimum },
    { "maximum", check_number, obey_maximum },
    { "exclusiveMinimum", check_number, obey_above },
    { "exclusiveMaximum", check_number, obey_below },
    { "multipleOf", check_positive, obey_multiple },
    { "minLength", check_count, obey_min_length },
    { "maxLength", check_count, obey_max_length },
    { "pattern", check_pattern, obey_pattern },
    { "anyOf", check_schemas, obey_any },
    { "oneOf", check_schemas, obey_one },
    { "allOf", check_schemas, obey_all },
    { "not", check_schema, obey_not },
    { "if", check_schema, obey_if },
    { "then", check_schema, NULL },
    { "else", check_schema, NULL },
    { "$ref", check_ref, obey_ref },
    { "$defs", check_named, NULL },
    { "definitions", check_named, NULL },
    /* these only describe */
    { "title", NULL, NULL },
    { "description", NULL, NULL },
    { "default", NULL, NULL },
    { "examples", NULL, NULL },
    { "deprecated", NULL, NULL },
    { "readOnly", NULL, NULL },
    { "writeOnly", NULL, NULL },
    { "format", NULL, NULL },
    { "contentEncoding", NULL, NULL },
    { "contentMediaType", NULL, NULL },
    { "$schema", NULL, NULL },
    { "$id", NULL, NULL },
    { "$comment", NULL, NULL },
};

static int check_keyword(struct walk *w, const char *key, const json_t *value)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (strcmp(keywords[i].key, key) == 0)
            return keywords[i].check ? keywords[i].check(w, key, value) : 0;
    if (strncmp(key, "x-", 2) == 0)
        return 0; /* somebody's own, which only describes */
    (void)fail(w, "'%.60s' is no keyword of JSON Schema that can be checked", key);
    return gb_fail_hint(w->err, "leave it out; docs/tools.md lists what can be checked");
}

static int check(struct walk *w, const json_t *schema)
{
    const char *key;
    json_t *value;
    int r = 0;

    if (json_is_boolean(schema))
        return 0;
    if (!json_is_object(schema))
        return fail(w, "a schema must be an object, or true or false");
    if (++w->depth > DEPTH_MAX)
        return fail(w, "schemas are nested more than %d deep", DEPTH_MAX);
    json_object_foreach (json_shared(schema), key, value) {
        r = check_keyword(w, key, value);
        if (r < 0)
            break;
    }
    w->depth--;
    return r;
}

int schema_check(const json_t *schema, struct gb_err *err)
{
    struct walk w = { .root = schema, .err = err, .patterns_us = PATTERN_CHECK_US };

    return check(&w, schema);
}

static int obey_keywords(struct walk *w, const json_t *schema, const json_t *value)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
        const json_t *rule = keywords[i].obey ? json_object_get(schema, keywords[i].key) : NULL;

        if (rule && keywords[i].obey(w, schema, rule, value) < 0)
            return -1;
        if (is_over(w))
            return -1;
    }
    return 0;
}

static int validate(struct walk *w, const json_t *schema, const json_t *value)
{
    int r;

    if (json_is_true(schema))
        return 0;
    if (json_is_false(schema))
        return fail(w, "%s may not be there", w->path);
    if (!spend(w, 0))
        return -1;
    if (w->depth >= DEPTH_MAX)
        return give_up(w, "%s is nested too deeply to be checked", w->path);
    w->depth++;
    r = obey_keywords(w, schema, value);
    w->depth--;
    return r;
}

int schema_validate(const json_t *schema, const json_t *value, const char *name, struct gb_err *err)
{
    struct walk w = { .root = schema, .err = err, .patterns_us = PATTERN_US };

    w.path_len = (size_t)snprintf(w.path, sizeof(w.path), "%.40s", name);
    if (validate(&w, schema, value) == 0)
        return 0;
    return is_over(&w) ? fail(&w, "it takes too long to check") : -1;
}
