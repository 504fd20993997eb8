#include "shell/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"

char *environment_path(const char *path)
{
    char *made = malloc(strlen(path) + sizeof(ENVIRONMENT_PATH));
    char *end = made;

    if (!made)
        return NULL;
    for (const char *at = path; *at; at += *at == ':') {
        size_t n = strcspn(at, ":");

        if (*at == '/') {
            if (end != made)
                *end++ = ':';
            end = mempcpy(end, at, n);
        }
        at += n;
    }
    *end = '\0';
    if (end == made)
        (void)stpcpy(made, ENVIRONMENT_PATH);
    return made;
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_kept(const struct environment_wish *wish, const char *name)
{
    static const char *const needed[] = { "PATH", "HOME", "TMPDIR" };
    static const char *const convenient[] = { "LANG", "TERM" };

    if (wish->bare)
        return is_one_of(name, needed, ARRAY_LEN(needed));
    return !wish->clean || !is_one_of(name, convenient, ARRAY_LEN(convenient));
}

static void take_base(const struct environment_wish *wish, json_t *env)
{
    const char *name;
    json_t *value;

    /* What prints colours and moves cursors asks what the terminal can do: it cannot. */
    if (is_kept(wish, "TERM"))
        json_object_set_new(env, "TERM", json_string("dumb"));
    json_object_foreach (json_shared(wish->base), name, value)
        if (is_kept(wish, name))
            json_object_set(env, name, value);
}

static void take_more(const struct environment_wish *wish, json_t *env)
{
    const char *name;
    json_t *value;

    for (size_t i = 0; i < json_array_size(wish->unset); i++)
        (void)json_object_del(env, json_string_value(json_array_get(wish->unset, i)));
    json_object_foreach (json_shared(wish->add), name, value) {
        if (json_is_null(value))
            (void)json_object_del(env, name);
        else
            json_object_set(env, name, value);
    }
}

static int check_size(const json_t *env, struct gb_err *err)
{
    size_t bytes = 0;
    const char *name;
    json_t *value;

    json_object_foreach (json_shared(env), name, value)
        bytes += strlen(name) + json_string_length(value) + 2;
    if (json_object_size(env) > ENVIRONMENT_NAMES_MAX || bytes > ENVIRONMENT_BYTES_MAX)
        return gb_fail(err, GB_E_LIMIT, 0, "env: more than %d variables, or %d MiB",
                       ENVIRONMENT_NAMES_MAX, ENVIRONMENT_BYTES_MAX >> 20);
    return 0;
}

json_t *environment_make(const struct environment_wish *wish, struct gb_err *err)
{
    json_t *env = json_object();
    auto_free char *path = NULL;

    take_base(wish, env);
    take_more(wish, env);
    path = environment_path(json_string_at(env, "PATH", ""));
    if (!path || json_object_set_new(env, "PATH", json_string(path)) < 0)
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the environment");
    else if (check_size(env, err) == 0)
        return env;
    json_decref(env);
    return NULL;
}
