#include "engine/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/cpus.h"
#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"

enum setting_kind {
    KIND_SECONDS,
    KIND_SIZE,
    KIND_COUNT,
    KIND_CHOICE
};

struct setting {
    const char *key;         /* in the configuration */
    const char *request_key; /* in a request */
    bool in_limits;          /* there below "limits" */
    enum setting_kind kind;
    size_t offset;
    uint64_t min, max;
    const char *const *choices; /* NULL-terminated, loosest first */
};

static const char *const isolations[] = {
    "none", "process", "landlock", "namespaces", "auto", NULL
};
static const char *const policies[] = { "off", "standard", "strict", NULL };
static const char *const patterns[] = { "off", "warn", "block", NULL };
static const char *const approvals[] = { "never", "ask", "always", NULL };
static const char *const networks[] = { "host", "none", NULL };
static const char *const backends[] = { "local", NULL };
static const char *const captures[] = { "inline", "list", "off", NULL };

#define AT(field) offsetof(struct settings, field)
static const uint64_t day_ms = 86400000, tib = (uint64_t)1 << 40;

static const struct setting table[] = {
    { "timeout", "timeout", false, KIND_SECONDS, AT(timeout_ms), 1, 7 * day_ms, NULL },
    { "memory", "memory", true, KIND_SIZE, AT(memory_bytes), 16 << 20, tib, NULL },
    { "disk", "disk", true, KIND_SIZE, AT(disk_bytes), 64 << 10, tib, NULL },
    { "processes", "processes", true, KIND_COUNT, AT(processes), 1, 4000, NULL },
    { "open_files", "open_files", true, KIND_COUNT, AT(open_files), 16, 1 << 20, NULL },
    { "cpu", "cpu", true, KIND_SECONDS, AT(cpu_ms), 1, 7 * day_ms, NULL },
    { "stdout_limit", "stdout", true, KIND_SIZE, AT(stdout_bytes), 0, 1 << 30, NULL },
    { "stderr_limit", "stderr", true, KIND_SIZE, AT(stderr_bytes), 0, 1 << 30, NULL },
    { "tool_calls", "tool_calls", true, KIND_COUNT, AT(tool_calls), 1, 100000000, NULL },
    { "isolation", "isolation", false, KIND_CHOICE, AT(isolation), 0, 0, isolations },
    { "policy", "policy", false, KIND_CHOICE, AT(policy), 0, 0, policies },
    { "patterns", "patterns", false, KIND_CHOICE, AT(patterns), 0, 0, patterns },
    { "approve", "approve", false, KIND_CHOICE, AT(approve), 0, 0, approvals },
    { "network", "network", false, KIND_CHOICE, AT(network), 0, 0, networks },
    { "backend", "backend", false, KIND_CHOICE, AT(backend), 0, 0, backends },
    { "capture", "capture", false, KIND_CHOICE, AT(capture), 0, 0, captures },
    { "capture_file", "capture_file", true, KIND_SIZE, AT(capture_file_bytes), 0, 1 << 30, NULL },
    { "capture_mount", "capture_mount", true, KIND_SIZE, AT(capture_mount_bytes), 0, 1 << 30,
      NULL },
    { "capture_total", "capture_total", true, KIND_SIZE, AT(capture_total_bytes), 0, 1 << 30,
      NULL },
    { "capture_files", "capture_files", true, KIND_COUNT, AT(capture_files), 0, 100000, NULL },
    { "spill_limit", "spill", true, KIND_SIZE, AT(spill_bytes), 0, tib, NULL },
};

/* Libraries start a thread for each processor, and a program may use several of them. */
static uint64_t default_processes(void)
{
    enum {
        LEAST = 64,
        EACH = 16,
        MOST = 4000
    };
    uint64_t n = (uint64_t)EACH * cpus_usable();

    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

struct settings settings_default(void)
{
    return (struct settings){
        .timeout_ms = 30000,
        .memory_bytes = 512 << 20,
        .disk_bytes = 256 << 20,
        .processes = default_processes(),
        .open_files = 256,
        .stdout_bytes = 64 << 10,
        .stderr_bytes = 64 << 10,
        .tool_calls = 100000,
        .isolation = ISOLATE_AUTO,
        .policy = POLICY_DEFAULT,
        .patterns = PATTERNS_DEFAULT,
        .approve = APPROVE_DEFAULT,
        .network = NETWORK_NONE,
        .capture = CAPTURE_LIST,
        .capture_file_bytes = 10 << 20,
        .capture_mount_bytes = 32 << 20,
        .capture_total_bytes = 32 << 20,
        .capture_files = 1000,
        .spill_bytes = 64 << 20,
    };
}

const char *isolation_name(uint64_t isolation)
{
    return isolation < ARRAY_LEN(isolations) - 1 ? isolations[isolation] : "auto";
}

const char *policy_name(uint64_t policy)
{
    return policy < ARRAY_LEN(policies) - 1 ? policies[policy] : "default";
}

const char *patterns_name(uint64_t choice)
{
    return choice < ARRAY_LEN(patterns) - 1 ? patterns[choice] : "default";
}

/* ---- choices that nobody made ---- */

bool settings_is_held(const struct settings *s)
{
    return s->isolation >= ISOLATE_LANDLOCK;
}

enum policy_choice settings_policy(const struct settings *s)
{
    if (s->policy != POLICY_DEFAULT)
        return (enum policy_choice)s->policy;
    return settings_is_held(s) ? POLICY_STANDARD : POLICY_STRICT;
}

enum patterns_choice settings_patterns(const struct settings *s)
{
    static const enum patterns_choice by_policy[] = { [POLICY_OFF] = PATTERNS_OFF,
                                                      [POLICY_STANDARD] = PATTERNS_WARN,
                                                      [POLICY_STRICT] = PATTERNS_BLOCK };

    return s->patterns != PATTERNS_DEFAULT ? (enum patterns_choice)s->patterns
                                           : by_policy[settings_policy(s)];
}

enum approve_choice settings_approve(const struct settings *s)
{
    if (s->approve != APPROVE_DEFAULT)
        return (enum approve_choice)s->approve;
    return settings_is_held(s) ? APPROVE_NEVER : APPROVE_ASK;
}

static uint64_t *field(struct settings *s, const struct setting *t)
{
    return (uint64_t *)((char *)s + t->offset);
}

/* ---- values for people ---- */

static void show(const struct setting *t, uint64_t value, char *ret, size_t size)
{
    static const char units[] = "\0KMGT";
    size_t unit = 0;

    switch (t->kind) {
    case KIND_SECONDS:
        (void)snprintf(ret, size, "%g s", (double)value / 1000);
        break;
    case KIND_SIZE:
        while (value >= 1024 && value % 1024 == 0 && unit < 4) {
            value /= 1024;
            unit++;
        }
        (void)snprintf(ret, size, "%" PRIu64 "%.1s", value, units + unit);
        break;
    case KIND_COUNT:
        (void)snprintf(ret, size, "%" PRIu64, value);
        break;
    case KIND_CHOICE:
        (void)snprintf(ret, size, "%s", t->choices[value]);
        break;
    }
}

static const struct setting *by_limit(const char *limit)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].in_limits && strcmp(table[i].request_key, limit) == 0)
            return &table[i];
    return NULL;
}

uint64_t settings_limit_value(const struct settings *s, const char *limit)
{
    const struct setting *t = by_limit(limit);

    return t ? *(const uint64_t *)((const char *)s + t->offset) : 0;
}

void settings_limit_text(const struct settings *s, const char *limit, char *ret, size_t size)
{
    const struct setting *t = by_limit(limit);

    ret[0] = '\0';
    if (t)
        show(t, settings_limit_value(s, limit), ret, size);
}

/* ---- reading values ---- */

static int read_choice(const struct setting *t, const char *name, const json_t *value,
                       uint64_t *ret, struct gb_err *err)
{
    const char *text = json_string_value(value);
    char list[120] = "";
    size_t len = 0, room;

    for (size_t i = 0; t->choices[i]; i++) {
        if (text && strcmp(text, t->choices[i]) == 0) {
            *ret = i;
            return 0;
        }
        room = sizeof(list) - len;
        (void)snprintf(list + len, room, "%s%s", i ? ", " : "", t->choices[i]);
        len += strlen(list + len); /* what fitted */
    }
    return gb_fail(err, GB_E_INVALID, 0, "%s: must be one of %s", name, list);
}

static bool read_number(const struct setting *t, const json_t *value, uint64_t *ret)
{
    if (t->kind == KIND_SECONDS) {
        double s = json_number_value(value);
        if (!json_is_number(value) || !(s >= 0) || s > 1e9)
            return false;
        *ret = (uint64_t)llround(s * 1000);
        return true;
    }
    if (json_is_string(value) && t->kind == KIND_SIZE)
        return parse_size(json_string_value(value), ret) == 0;
    *ret = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static int read_value(const struct setting *t, const char *name, const json_t *value, uint64_t *ret,
                      struct gb_err *err)
{
    static const char *const wanted[] = { [KIND_SECONDS] = "a number of seconds",
                                          [KIND_SIZE] = "a size such as 512M",
                                          [KIND_COUNT] = "a whole number",
                                          [KIND_CHOICE] = "" };
    char low[32], high[32];

    if (t->kind == KIND_CHOICE)
        return read_choice(t, name, value, ret, err);
    if (!read_number(t, value, ret))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be %s", name, wanted[t->kind]);
    if (*ret >= t->min && *ret <= t->max)
        return 0;
    show(t, t->min, low, sizeof(low));
    show(t, t->max, high, sizeof(high));
    return gb_fail(err, GB_E_INVALID, 0, "%s: must be between %s and %s", name, low, high);
}

int settings_configure(struct settings *s, const char *key, const json_t *value, struct gb_err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strcmp(table[i].key, key) == 0)
            return read_value(&table[i], key, value, field(s, &table[i]), err) < 0 ? -1 : 1;
    return 0;
}

const char *settings_key(size_t i)
{
    return i < ARRAY_LEN(table) ? table[i].key : NULL;
}

const char *settings_request_key(size_t i, bool *ret_in_limits)
{
    if (i >= ARRAY_LEN(table))
        return NULL;
    *ret_in_limits = table[i].in_limits;
    return table[i].request_key;
}

/* ---- requests: only tighter ---- */

int settings_fail_looser(const char *key, struct gb_err *err)
{
    return gb_fail_hint(err,
                        "a request may only tighten; the operator can configure more, "
                        "or allow it with \"allow_request\": [\"%s\"]",
                        key);
}

/* What is configured, and where nothing is, what that comes to. */
static uint64_t in_force(const struct settings *s, const struct setting *t)
{
    if (t->choices == policies)
        return settings_policy(s);
    if (t->choices == patterns)
        return settings_patterns(s);
    if (t->choices == approvals)
        return settings_approve(s);
    return *(const uint64_t *)((const char *)s + t->offset);
}

json_t *settings_json(const struct settings *s)
{
    json_t *all = json_object();

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        uint64_t value = in_force(s, &table[i]);
        json_object_set_new(all, table[i].key,
                            table[i].kind == KIND_CHOICE ? json_string(table[i].choices[value])
                                                         : json_integer((json_int_t)value));
    }
    return all;
}

/* Is `want` at least as tight as what is configured? */
static bool is_tighter(const struct setting *t, uint64_t want, uint64_t have)
{
    if (t->choices == isolations && have == ISOLATE_AUTO)
        return want >= ISOLATE_LANDLOCK; /* auto is whatever the kernel holds */
    if (t->choices == captures)
        return true; /* what it may take of the program's own files has limits of its own */
    if (t->kind == KIND_CHOICE)
        return want >= have;
    return want <= have || (have == 0 && t->offset == AT(cpu_ms));
}

static int request_one(struct settings *s, const struct settings *configured,
                       const struct setting *t, const json_t *value, const json_t *allowed,
                       struct gb_err *err)
{
    uint64_t have = in_force(configured, t), want;
    char name[40], want_text[32], have_text[32];

    (void)snprintf(name, sizeof(name), "%s%s", t->in_limits ? "limits." : "", t->request_key);
    if (read_value(t, name, value, &want, err) < 0)
        return -1;
    if (t->choices == isolations && want == ISOLATE_AUTO)
        return 1; /* no wish of its own */
    if (!is_tighter(t, want, have) && !json_array_has(allowed, t->key)) {
        show(t, want, want_text, sizeof(want_text));
        show(t, have, have_text, sizeof(have_text));
        (void)gb_fail(err, GB_E_INVALID, 0, "%s: %s is looser than the configured %s", name,
                      want_text, have_text);
        return settings_fail_looser(t->key, err);
    }
    *field(s, t) = want;
    return 1;
}

static int request_limits(struct settings *s, const struct settings *configured,
                          const json_t *limits, const json_t *allowed, struct gb_err *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object(limits))
        return gb_fail(err, GB_E_INVALID, 0, "limits: must be an object");
    json_object_foreach (json_shared(limits), key, value) {
        const struct setting *t = by_limit(key);
        if (!t)
            return gb_fail(err, GB_E_INVALID, 0, "limits: unknown key '%s'", key);
        if (request_one(s, configured, t, value, allowed, err) < 0)
            return -1;
    }
    return 1;
}

/* The timeout, or a limit, by its name in the configuration; or NULL. */
static const struct setting *limit_of(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strcmp(table[i].key, key) == 0)
            return table[i].in_limits || table[i].offset == AT(timeout_ms) ? &table[i] : NULL;
    return NULL;
}

int settings_tighten(json_t *config, const json_t *found, json_t *ignored, struct gb_err *err)
{
    struct settings have = settings_default();
    struct gb_err later; /* what is wrong in `config` is told by the engine that reads it */
    uint64_t want = 0;
    const char *key;
    json_t *value;
    int r = 0;

    json_object_foreach (config, key, value)
        (void)settings_configure(&have, key, value, &later);
    json_object_foreach (json_shared(found), key, value) {
        const struct setting *t = limit_of(key);

        if (t && read_value(t, key, value, &want, err) < 0)
            return -1;
        if (t && is_tighter(t, want, *field(&have, t)))
            r |= json_object_set(config, key, value);
        else
            r |= json_array_append_new(ignored, json_string(key));
    }
    return r < 0 ? gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the configuration") : 0;
}

int settings_request(struct settings *s, const struct settings *configured, const char *key,
                     const json_t *value, const json_t *allowed, struct gb_err *err)
{
    if (strcmp(key, "limits") == 0)
        return request_limits(s, configured, value, allowed, err);
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (!table[i].in_limits && strcmp(table[i].request_key, key) == 0)
            return request_one(s, configured, &table[i], value, allowed, err);
    return 0;
}
