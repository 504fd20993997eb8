#include "engine/config.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "base/suggest.h"
#include "engine/control.h"
#include "engine/mounts.h"
#include "engine/request.h"
#include "sandbox/box.h"
#include "sandbox/compose.h"

enum {
    POOL_DEFAULT = 2,
    POOL_MAX = 64
};

/* Loaded once into a warm interpreter, because programs often use them and importing asyncio
 * costs more than starting Python. */
static const char *const warm_modules[] = { "asyncio", "json", "random", "re", "traceback" };

/* ---- one reader a key ---- */

static int read_strings(json_t **ret, const char *key, json_t *value, struct gb_err *err)
{
    if (!json_is_array(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a list of strings", key);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_string(json_array_get(value, i)))
            return gb_fail(err, GB_E_INVALID, 0, "%s: must be a list of strings", key);
    json_decref(*ret);
    *ret = json_incref(value);
    return 0;
}

/* What a request could loosen. A name that is misspelt would allow nothing, and nobody would
 * know. */
static int check_loosened(const char *key, const char *name, struct gb_err *err)
{
    static const char *const others[] = { "env", "mounts", "prelude", "shell", NULL };
    const char *(*const lists[])(size_t i) = { settings_key, policy_key };
    struct suggestion near = { .typed = name, .typed_len = strlen(name) };
    const char *known;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        for (size_t k = 0; (known = lists[i](k)); k++) {
            if (strcmp(known, name) == 0)
                return 0;
            suggestion_offer(&near, known);
        }
    }
    for (size_t i = 0; others[i]; i++) {
        if (strcmp(others[i], name) == 0)
            return 0;
        suggestion_offer(&near, others[i]);
    }
    return gb_fail(err, GB_E_INVALID, 0, "%s: a request cannot loosen '%.60s'%s%s%s", key, name,
                   near.best ? " (did you mean '" : "", near.best ? near.best : "",
                   near.best ? "'?)" : "");
}

static int set_allow_request(struct config *c, const char *key, json_t *value, struct gb_err *err)
{
    if (read_strings(&c->allow_request, key, value, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (check_loosened(key, json_string_value(json_array_get(value, i)), err) < 0)
            return -1;
    return 0;
}

static int set_control_files(struct config *c, const char *key, json_t *value, struct gb_err *err)
{
    return read_strings(&c->control_files, key, value, err);
}

static int set_preload(struct config *c, const char *key, json_t *value, struct gb_err *err)
{
    json_t *list = NULL;
    int r = read_strings(&list, key, value, err);

    if (r == 0)
        json_array_extend(c->preload, list);
    json_decref(list);
    return r;
}

static int set_env(struct config *c, const char *key, json_t *value, struct gb_err *err)
{
    const char *name;
    json_t *text;

    if (!json_is_object(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be an object of strings", key);
    json_object_foreach (value, name, text) {
        if (!json_is_string(text) || !*name || strchr(name, '='))
            return gb_fail(err, GB_E_INVALID, 0, "%s: '%s' must be a name with a string", key,
                           name);
        json_object_set(c->env, name, text);
    }
    return 0;
}

static int set_text(char **ret, const char *key, const json_t *value, struct gb_err *err)
{
    if (!json_is_string(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a string", key);
    if (!*json_string_value(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must not be empty", key);
    free(*ret);
    *ret = strdup(json_string_value(value));
    return *ret ? 0 : gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");
}

static int set_mounts(struct config *c, const char *key, json_t *value, struct gb_err *err)
{
    (void)key;
    if (!c->mounts)
        c->mounts = mounts_new();
    if (!c->mounts)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration");
    return mounts_read(c->mounts, value, err);
}

static int set_pool(struct config *c, const char *key, json_t *value, struct gb_err *err)
{
    json_int_t n = json_integer_value(value);

    if (!json_is_integer(value) || n < 0 || n > POOL_MAX)
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be between 0 and %d", key, POOL_MAX);
    c->pool = (unsigned)n;
    return 0;
}

static int set_bool(bool *ret, const char *key, const json_t *value, struct gb_err *err)
{
    if (!json_is_boolean(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be true or false", key);
    *ret = json_is_true(value);
    return 0;
}

static int set_tools(struct config *c, const char *key, json_t *value, struct gb_err *err)
{
    struct toolset *tools = toolset_read(value, err);

    if (!tools)
        return gb_fail_wrap(err, "%s", key);
    toolset_unref(c->tools);
    c->tools = tools;
    return 0;
}

#define AT(field) offsetof(struct config, field)

static const struct {
    const char *key;
    size_t offset;
} texts[] = {
    { "audit", AT(audit) },
    { "cgroup", AT(cgroup) },
    { "extension_dir", AT(extension_dir) },
    { "out", AT(out) },
    { "prelude", AT(prelude) },
    { "python", AT(python) },
    { "review", AT(review) },
    { "review_ca", AT(review_ca) },
    { "review_key", AT(review_key) },
    { "review_model", AT(review_model) },
    { "spill", AT(spill) },
}, flags[] = {
    { "acknowledge_unsafe", AT(acknowledge_unsafe) },
    { "audit_required", AT(audit_required) },
    { "oneshot", AT(oneshot) },
};

static const struct {
    const char *key;
    int (*set)(struct config *c, const char *key, json_t *value, struct gb_err *err);
} others[] = {
    { "allow_request", set_allow_request },
    { "control_files", set_control_files },
    { "env", set_env },
    { "mount", set_mounts }, /* as the option is called */
    { "mounts", set_mounts },
    { "pool", set_pool },
    { "preload", set_preload },
    { "tools", set_tools },
};

static const struct {
    const char *key;
    size_t offset;
    double min, max, unit; /* a number of so many of what is kept */
} numbers[] = {
    { "session_checkpoints", AT(session_checkpoints), 1, BOX_COPIES_MAX, 1 },
    { "session_idle", AT(session_idle_ms), 0.001, 7 * 86400, 1000 },
    { "session_life", AT(session_life_ms), 0.001, 30 * 86400, 1000 },
    { "session_queue", AT(session_queue), 0, 100000, 1 },
    { "sessions_max", AT(sessions_max), 0, 100000, 1 },
};

static int set_number(struct config *c, size_t i, const json_t *value, struct gb_err *err)
{
    double n = json_number_value(value);
    bool is_whole = numbers[i].unit > 1 || json_is_integer(value);

    if (!json_is_number(value) || !is_whole || !(n >= numbers[i].min) || n > numbers[i].max)
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be %s between %g and %g", numbers[i].key,
                       numbers[i].unit > 1 ? "a number of seconds" : "a whole number",
                       numbers[i].min, numbers[i].max);
    *(uint64_t *)((char *)c + numbers[i].offset) = (uint64_t)llround(n * numbers[i].unit);
    return 0;
}

/* Every complaint about a key begins with it. */
static int fail_unknown(const char *key, struct gb_err *err)
{
    struct suggestion near = { .typed = key, .typed_len = strlen(key) };

    for (size_t i = 0; settings_key(i); i++)
        suggestion_offer(&near, settings_key(i));
    for (size_t i = 0; policy_key(i); i++)
        suggestion_offer(&near, policy_key(i));
    for (size_t i = 0; shell_key(i); i++)
        suggestion_offer(&near, shell_key(i));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        suggestion_offer(&near, texts[i].key);
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        suggestion_offer(&near, flags[i].key);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        suggestion_offer(&near, others[i].key);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        suggestion_offer(&near, numbers[i].key);
    (void)gb_fail(err, GB_E_INVALID, 0, "%.80s: unknown key in the configuration%s%s%s", key,
                  near.best ? " (did you mean '" : "", near.best ? near.best : "",
                  near.best ? "'?)" : "");
    if (strcmp(key, "limits") == 0) /* as requests have it */
        return gb_fail_hint(err, "limits are keys of their own here: \"memory\": \"1G\"");
    return -1;
}

static int set_key(struct config *c, const char *key, json_t *value, struct gb_err *err)
{
    int r = settings_configure(&c->settings, key, value, err);

    if (r == 0)
        r = policy_say(&c->lists, key, value, err);
    if (r == 0)
        r = shell_say(&c->shell, key, value, err);
    if (r != 0)
        return r < 0 ? -1 : 0;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (strcmp(texts[i].key, key) == 0)
            return set_text((char **)((char *)c + texts[i].offset), key, value, err);
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(flags[i].key, key) == 0)
            return set_bool((bool *)((char *)c + flags[i].offset), key, value, err);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (strcmp(numbers[i].key, key) == 0)
            return set_number(c, i, value, err);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (strcmp(others[i].key, key) == 0)
            return others[i].set(c, key, value, err);
    return fail_unknown(key, err);
}

/* ---- the extension ---- */

static bool has_extension(const char *dir)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof(path), "%s/_glovebox.abi3.so", dir) < PATH_MAX &&
           access(path, R_OK) == 0;
}

/* The file that this code is in. For a library that is what it was loaded from; for the command
 * itself the loader only knows what its caller called it, which may be anything. */
static bool own_file(char ret[PATH_MAX])
{
    struct link_map *map = NULL;
    Dl_info info;

    if (dladdr1(texts, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map)
        return false;
    return realpath(map->l_name[0] ? map->l_name : "/proc/self/exe", ret) != NULL;
}

/* Beside the library or the command, as in a build tree; as installed, in a folder of its own
 * beside the library. */
static int find_extension(struct config *c, struct gb_err *err)
{
    static const char *const below[] = { "", "/glovebox", "/../" GLOVEBOX_LIBDIR "/glovebox" };
    char path[PATH_MAX], dir[PATH_MAX];

    if (c->extension_dir)
        return 0;
    if (own_file(path)) {
        *strrchr(path, '/') = '\0';
        for (size_t i = 0; i < ARRAY_LEN(below); i++) {
            if (snprintf(dir, sizeof(dir), "%s%s", path, below[i]) < PATH_MAX &&
                has_extension(dir)) {
                c->extension_dir = strdup(dir);
                return c->extension_dir ? 0 : gb_fail(err, GB_E_SYSTEM, ENOMEM, "naming a file");
            }
        }
    }
    (void)gb_fail(err, GB_E_NO_INTERPRETER, 0,
                  "the interpreter extension _glovebox.abi3.so is not where glovebox is installed");
    return gb_fail_hint(err, "run 'make', or 'make install' again");
}

/* ---- the whole ---- */

static int read_json(struct config *c, const char *text, struct gb_err *err)
{
    json_error_t where;
    auto_json json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    const char *key;
    json_t *value;

    if (!json_is_object(json))
        return gb_fail(err, GB_E_INVALID, 0, "the configuration is not a JSON object: %s",
                       json ? "it is something else" : where.text);
    json_object_foreach (json, key, value)
        if (set_key(c, key, value, err) < 0)
            return -1;
    if (c->audit_required && !c->audit)
        return gb_fail(err, GB_E_INVALID, 0, "audit_required: there is no audit to be required");
    if (c->prelude && strlen(c->prelude) > CODE_MAX)
        return gb_fail(err, GB_E_LIMIT, 0, "prelude: it has more than %d bytes", CODE_MAX);
    return policy_check(&c->settings, &c->lists, err);
}

json_t *config_usual_env(void)
{
    return json_pack("{s:s,s:s,s:s,s:s}", "PATH", "/usr/local/bin:/usr/bin:/bin", "HOME", BOX_HOME,
                     "LANG", "C.UTF-8", "TMPDIR", BOX_TMP);
}

int config_init(struct config *c, const char *json, struct gb_err *err)
{
    *c = (struct config){ .settings = settings_default(),
                          .pool = POOL_DEFAULT,
                          .session_idle_ms = (uint64_t)30 * 60 * 1000,
                          .session_life_ms = (uint64_t)24 * 3600 * 1000,
                          .session_queue = 64,
                          .session_checkpoints = 8,
                          .sessions_max = 64 };
    c->preload = json_array();
    c->env = config_usual_env();
    if ((json && read_json(c, json, err) < 0) || shell_from_environment(&c->shell, err) < 0 ||
        find_extension(c, err) < 0 || control_guard(c, c->mounts, err) < 0) {
        config_done(c);
        return -1;
    }
    for (size_t i = 0; !c->oneshot && i < ARRAY_LEN(warm_modules); i++)
        json_array_append_new(c->preload, json_string(warm_modules[i]));
    return 0;
}

void config_done(struct config *c)
{
    policy_done(&c->lists);
    shell_settings_done(&c->shell);
    toolset_unref(c->tools);
    json_decref(c->env);
    json_decref(c->preload);
    json_decref(c->allow_request);
    json_decref(c->control_files);
    json_decref(c->control_programs);
    free(c->prelude);
    free(c->python);
    free(c->extension_dir);
    free(c->cgroup);
    free(c->review);
    free(c->review_model);
    free(c->review_ca);
    if (c->review_key)
        explicit_bzero(c->review_key, strlen(c->review_key));
    free(c->review_key);
    free(c->audit);
    free(c->out);
    free(c->spill);
    (void)mounts_unref(c->mounts);
    *c = (struct config){ 0 };
}
