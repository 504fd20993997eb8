/*
 * How this works: options_parse() walks argv once. Each option is looked up in the groups, its
 * text is handed to the store function of its kind (the table `kinds`), which checks it and puts
 * it where the option's offset points. Operands are moved to the front of argv as they are met.
 */
#include "cli/options.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/parse.h"
#include "base/suggest.h"

#define SECONDS_MAX  604800 /* a week, as the library has it */
#define NAME_MAX_LEN 63     /* of an option or of a variable, so that a name fits a small buffer */

struct word {
    const struct option_spec *option;
    const char *text;
};

static int out_of_memory(struct gb_err *err)
{
    return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the options");
}

/* The key of the engine's configuration that the option sets. */
static const char *key_name(const struct word *w, char key[NAME_MAX_LEN + 1])
{
    size_t i = 0;

    for (; i < NAME_MAX_LEN && w->option->name[i]; i++) {
        key[i] = w->option->name[i];
        if (key[i] == '-')
            key[i] = '_';
    }
    key[i] = '\0';
    return key;
}

/* Takes over `value`; NULL means that memory ran out. */
static int set_key(const struct word *w, json_t *object, json_t *value, struct gb_err *err)
{
    char key[NAME_MAX_LEN + 1];

    return json_object_set_new(object, key_name(w, key), value) < 0 ? out_of_memory(err) : 0;
}

/* The container at the option's key, made at first use. Borrowed. */
static json_t *key_container(const struct word *w, json_t *object, json_t *(*make)(void))
{
    char key[NAME_MAX_LEN + 1];
    json_t *found = json_object_get(object, key_name(w, key));

    if (!found && json_object_set_new(object, key, make()) == 0)
        found = json_object_get(object, key);
    return found;
}

static int read_text(const struct word *w, json_t **ret, struct gb_err *err)
{
    *ret = json_string(w->text);
    if (!*ret)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: the value is not valid UTF-8", w->option->name);
    return 0;
}

static int check_choice(const struct word *w, struct gb_err *err)
{
    size_t len = strlen(w->text);
    char list[160] = { 0 };
    size_t used = 0;

    for (const char *c = w->option->value; *c; c += *c == '|') {
        size_t n = strcspn(c, "|");
        if (n == len && memcmp(c, w->text, n) == 0)
            return 0;
        if (used + n + 3 < sizeof(list)) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%.*s%s", (int)n, c,
                                     c[n] ? ", " : "");
        }
        c += n;
    }
    return gb_fail(err, GB_E_INVALID, 0, "--%s: '%.40s' is not one of %s", w->option->name, w->text,
                   list);
}

static int read_count(const struct word *w, int *ret, struct gb_err *err)
{
    char *end = NULL;

    errno = 0;
    long n = strtol(w->text, &end, 10);
    if (w->text[0] < '0' || w->text[0] > '9' || *end || n == 0)
        return gb_fail(err, GB_E_INVALID, 0,
                       "--%s: '%.80s' is not a whole number above 0 (for example 8)",
                       w->option->name, w->text);
    if (errno == ERANGE || n > INT32_MAX)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: '%.80s' is out of range (at most %d)",
                       w->option->name, w->text, INT32_MAX);
    *ret = (int)n;
    return 0;
}

static int store_flag(const struct word *w, void *target, struct gb_err *err)
{
    (void)w;
    (void)err;
    *(bool *)target = true;
    return 0;
}

static int store_text(const struct word *w, void *target, struct gb_err *err)
{
    (void)err;
    *(const char **)target = w->text;
    return 0;
}

static int store_text_once(const struct word *w, void *target, struct gb_err *err)
{
    if (*(const char **)target)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: given twice; only one is possible",
                       w->option->name);
    return store_text(w, target, err);
}

static int store_choice(const struct word *w, void *target, struct gb_err *err)
{
    return check_choice(w, err) < 0 ? -1 : store_text(w, target, err);
}

static int store_count(const struct word *w, void *target, struct gb_err *err)
{
    return read_count(w, target, err);
}

static int store_binding(const struct word *w, void *target, struct gb_err *err)
{
    const char *equals = strchr(w->text, '=');
    char name[NAME_MAX_LEN + 1] = { 0 };
    json_error_t why;
    json_t *value = NULL;

    if (!equals || equals == w->text)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: '%.80s' is not NAME=JSON (for example n=3)",
                       w->option->name, w->text);
    if ((size_t)(equals - w->text) > NAME_MAX_LEN)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: a name of more than %d bytes", w->option->name,
                       NAME_MAX_LEN);
    memcpy(name, w->text, (size_t)(equals - w->text));
    if (!is_variable(name))
        return gb_fail(err, GB_E_INVALID, 0, "--%s: '%s' cannot be the name of a variable",
                       w->option->name, name);

    value = json_loads(equals + 1, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!value)
        return gb_fail(err, GB_E_INVALID, 0,
                       "--%s: the value of '%s' is not JSON: %.60s (a string needs its quotes: "
                       "'%s=\"text\"')",
                       w->option->name, name, why.text, name);
    if (json_object_set_new(*(json_t **)target, name, value) < 0)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: the name is not valid UTF-8", w->option->name);
    return 0;
}

static int store_command(const struct word *w, void *target, struct gb_err *err)
{
    const char *equals = strchr(w->text, '=');
    json_t *tool;

    if (!equals || equals == w->text || !equals[1])
        return gb_fail(err, GB_E_INVALID, 0,
                       "--%s: '%.80s' is not NAME=COMMAND (for example now='date +%%s')",
                       w->option->name, w->text);
    tool =
        json_pack("{s:s%,s:s}", "name", w->text, (size_t)(equals - w->text), "command", equals + 1);
    if (!tool || json_array_append_new(*(json_t **)target, tool) < 0)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: the value is not valid UTF-8", w->option->name);
    return 0;
}

static int store_key_flag(const struct word *w, void *target, struct gb_err *err)
{
    return set_key(w, *(json_t **)target, json_true(), err);
}

static int store_key_text(const struct word *w, void *target, struct gb_err *err)
{
    json_t *value = NULL;

    if (!*w->text)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: must not be empty", w->option->name);
    if (read_text(w, &value, err) < 0)
        return -1;
    return set_key(w, *(json_t **)target, value, err);
}

static int store_key_choice(const struct word *w, void *target, struct gb_err *err)
{
    return check_choice(w, err) < 0 ? -1 : store_key_text(w, target, err);
}

static int store_key_count(const struct word *w, void *target, struct gb_err *err)
{
    int n = 0;

    if (read_count(w, &n, err) < 0)
        return -1;
    return set_key(w, *(json_t **)target, json_integer(n), err);
}

static int store_key_seconds(const struct word *w, void *target, struct gb_err *err)
{
    uint64_t ms = 0;

    if (!parse_seconds(w->text, &ms))
        return gb_fail(err, GB_E_INVALID, 0,
                       "--%s: '%.80s' is not a number of seconds (for example 2.5)",
                       w->option->name, w->text);
    if (ms < 1 || ms > SECONDS_MAX * 1000)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: '%.80s' is out of range (0.001 to %d)",
                       w->option->name, w->text, SECONDS_MAX);
    return set_key(w, *(json_t **)target, json_real((double)ms / 1000), err);
}

static int store_key_size(const struct word *w, void *target, struct gb_err *err)
{
    uint64_t n = 0;
    int e = parse_size(w->text, &n);

    if (e == -EINVAL)
        return gb_fail(err, GB_E_INVALID, 0,
                       "--%s: '%.80s' is not a size (for example 512M; K, M, G or plain bytes)",
                       w->option->name, w->text);
    if (e < 0 || n > INT64_MAX)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: '%.80s' is out of range", w->option->name,
                       w->text);
    return set_key(w, *(json_t **)target, json_integer((json_int_t)n), err);
}

static int store_key_env(const struct word *w, void *target, struct gb_err *err)
{
    const char *equals = strchr(w->text, '=');
    const char *value = equals ? equals + 1 : getenv(w->text);
    size_t len = equals ? (size_t)(equals - w->text) : strlen(w->text);
    auto_free char *name = strndup(w->text, len);
    json_t *variables = key_container(w, *(json_t **)target, json_object);

    if (!name || !variables)
        return out_of_memory(err);
    if (len == 0)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: '%.80s' has no name before the '='",
                       w->option->name, w->text);
    if (!value)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: '%.80s' is not set in the environment",
                       w->option->name, name);
    if (json_object_set_new(variables, name, json_string(value)) < 0)
        return gb_fail(err, GB_E_INVALID, 0, "--%s: '%.80s' is not valid UTF-8", w->option->name,
                       name);
    return 0;
}

static int store_key_list(const struct word *w, void *target, struct gb_err *err)
{
    json_t *list = key_container(w, *(json_t **)target, json_array);

    if (!list)
        return out_of_memory(err);
    for (const char *item = w->text;; item++) {
        size_t n = strcspn(item, ",");
        if (n == 0)
            return gb_fail(err, GB_E_INVALID, 0, "--%s: an empty name in '%.80s'", w->option->name,
                           w->text);
        if (json_array_append_new(list, json_stringn(item, n)) < 0)
            return gb_fail(err, GB_E_INVALID, 0, "--%s: the value is not valid UTF-8",
                           w->option->name);
        item += n;
        if (!*item)
            return 0;
    }
}

static int append(const struct word *w, json_t *list, struct gb_err *err)
{
    json_t *value = NULL;

    if (!list)
        return out_of_memory(err);
    if (read_text(w, &value, err) < 0)
        return -1;
    return json_array_append_new(list, value) < 0 ? out_of_memory(err) : 0;
}

static int store_key_strings(const struct word *w, void *target, struct gb_err *err)
{
    return append(w, key_container(w, *(json_t **)target, json_array), err);
}

static int store_strings(const struct word *w, void *target, struct gb_err *err)
{
    return append(w, *(json_t **)target, err);
}

static const struct {
    unsigned traits;
    int (*store)(const struct word *w, void *target, struct gb_err *err);
} kinds[] = {
    [OPT_FLAG] = { 0, store_flag },
    [OPT_TEXT] = { OPT_TAKES_VALUE, store_text },
    [OPT_TEXT_ONCE] = { OPT_TAKES_VALUE, store_text_once },
    [OPT_CHOICE] = { OPT_TAKES_VALUE | OPT_IS_CHOICE, store_choice },
    [OPT_COUNT] = { OPT_TAKES_VALUE, store_count },
    [OPT_BINDING] = { OPT_TAKES_VALUE | OPT_REPEATS, store_binding },
    [OPT_COMMAND] = { OPT_TAKES_VALUE | OPT_REPEATS, store_command },
    [OPT_KEY_FLAG] = { 0, store_key_flag },
    [OPT_KEY_TEXT] = { OPT_TAKES_VALUE, store_key_text },
    [OPT_KEY_CHOICE] = { OPT_TAKES_VALUE | OPT_IS_CHOICE, store_key_choice },
    [OPT_KEY_COUNT] = { OPT_TAKES_VALUE, store_key_count },
    [OPT_KEY_SECONDS] = { OPT_TAKES_VALUE, store_key_seconds },
    [OPT_KEY_SIZE] = { OPT_TAKES_VALUE, store_key_size },
    [OPT_KEY_ENV] = { OPT_TAKES_VALUE | OPT_REPEATS, store_key_env },
    [OPT_KEY_LIST] = { OPT_TAKES_VALUE | OPT_REPEATS, store_key_list },
    [OPT_KEY_STRINGS] = { OPT_TAKES_VALUE | OPT_REPEATS, store_key_strings },
    [OPT_STRINGS] = { OPT_TAKES_VALUE | OPT_REPEATS, store_strings },
};

bool option_has(const struct option_spec *option, enum option_trait trait)
{
    return (kinds[option->kind].traits & trait) != 0;
}

static const struct option_spec *find_long(const struct option_group *const *groups,
                                           const char *name, size_t len)
{
    for (; *groups; groups++) {
        for (size_t i = 0; i < (*groups)->count; i++) {
            const struct option_spec *o = &(*groups)->options[i];
            if (strncmp(o->name, name, len) == 0 && !o->name[len])
                return o;
        }
    }
    return NULL;
}

/* "-x", or "-xVALUE" where x takes a value. */
static const struct option_spec *find_short(const struct option_group *const *groups,
                                            const char *text)
{
    for (; *groups; groups++) {
        for (size_t i = 0; i < (*groups)->count; i++) {
            const struct option_spec *o = &(*groups)->options[i];
            if (o->letter && o->letter == text[0])
                return !text[1] || option_has(o, OPT_TAKES_VALUE) ? o : NULL;
        }
    }
    return NULL;
}

static int unknown_option(const struct option_group *const *groups, const char *text, size_t len,
                          struct gb_err *err)
{
    struct suggestion near = { .typed = text + 2, .typed_len = len > 2 ? len - 2 : 0 };

    for (; text[1] == '-' && *groups; groups++) {
        for (size_t i = 0; i < (*groups)->count; i++) {
            if ((*groups)->options[i].help)
                suggestion_offer(&near, (*groups)->options[i].name);
        }
    }
    if (near.best)
        return gb_fail(err, GB_E_INVALID, 0, "unknown option '%.*s' (did you mean '--%s'?)",
                       (int)len, text, near.best);
    return gb_fail(err, GB_E_INVALID, 0, "unknown option '%.*s'", (int)len, text);
}

/* Take one option at argv[0]. Returns how many words it used, or -1. */
static int take_option(const struct option_group *const *groups, char **argv, void *target,
                       struct gb_err *err)
{
    const char *text = argv[0];
    bool is_long = text[1] == '-';
    size_t len = is_long ? strcspn(text, "=") : strlen(text);
    struct word w = { .option = is_long ? find_long(groups, text + 2, len - 2)
                                        : find_short(groups, text + 1) };
    int used = 1;

    if (!w.option)
        return unknown_option(groups, text, len < 80 ? len : 80, err);
    if (is_long && text[len])
        w.text = text + len + 1;
    else if (!is_long && text[2])
        w.text = text + 2;

    if (!option_has(w.option, OPT_TAKES_VALUE)) {
        if (w.text)
            return gb_fail(err, GB_E_INVALID, 0, "--%s takes no value", w.option->name);
    } else if (!w.text) {
        w.text = argv[1];
        used = 2;
        if (!w.text)
            return gb_fail(err, GB_E_INVALID, 0, "--%s needs a value: %s", w.option->name,
                           w.option->value);
    }

    if (kinds[w.option->kind].store(&w, (char *)target + w.option->offset, err) < 0)
        return -1;
    return used;
}

int options_parse(const struct option_group *const *groups, char **argv, void *target,
                  struct operands *ret, struct gb_err *err)
{
    struct operands found = { .words = argv };
    char **next = argv;

    while (*next && strcmp(*next, "--") != 0) {
        if (next[0][0] != '-' || !next[0][1]) {
            argv[found.count++] = *next++;
            continue;
        }
        int used = take_option(groups, next, target, err);
        if (used < 0) {
            found.rest = next;
            *ret = found;
            return -1;
        }
        next += used;
    }

    found.rest = *next ? next + 1 : next;
    /* A slot before `rest`: "--" itself, an option already taken, or the NULL at the end. */
    argv[found.count] = NULL;
    *ret = found;
    return 0;
}
