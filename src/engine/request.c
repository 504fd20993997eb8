#include "engine/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fence.h"
#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "base/suggest.h"
#include "engine/mounts.h"
#include "engine/session.h"
#include "engine/session_files.h"
#include "python/names.h"

/* ---- one reader a key ---- */

static int take_id(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    (void)key;
    (void)err;
    r->id = value;
    return 0;
}

static int take_kind(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    const char *kind = json_string_value(value);

    r->is_check = kind && strcmp(kind, "check") == 0;
    if (r->is_check)
        json_object_set_new(r->program, "check_only", json_true());
    r->is_op = kind && strcmp(kind, "session") == 0;
    if (r->is_shell)
        json_object_set(r->program, "kind", value);
    if (r->is_check || r->is_op || r->is_shell || (kind && strcmp(kind, "python") == 0))
        return 0;
    return gb_fail(err, GB_E_INVALID, 0, "%s: must be 'python', 'shell', 'check' or 'session'",
                   key);
}

static int take_session(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    size_t len = json_string_length(value);
    const char **name = strcmp(key, "into") == 0 ? &r->into : &r->session;

    if (!json_is_string(value) || len == 0 || len > SESSION_NAME_MAX ||
        strlen(json_string_value(value)) != len)
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a name of 1 to %d bytes, without NUL",
                       key, SESSION_NAME_MAX);
    *name = json_string_value(value);
    return 0;
}

static int take_op(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    static const char *const names[] = { [SESSION_INSPECT] = "inspect",
                                         [SESSION_REWIND] = "rewind",
                                         [SESSION_FORK] = "fork",
                                         [SESSION_RESET] = "reset",
                                         [SESSION_CLOSE] = "close",
                                         [SESSION_LIST] = "list",
                                         [SESSION_LIST_FILES] = "list_files",
                                         [SESSION_READ_FILE] = "read_file",
                                         [SESSION_WRITE_FILE] = "write_file",
                                         [SESSION_JOBS] = "jobs",
                                         [SESSION_JOB_READ] = "job_read",
                                         [SESSION_JOB_KILL] = "job_kill",
                                         [SESSION_TYPE] = "type",
                                         [SESSION_SCREEN] = "screen",
                                         [SESSION_RESIZE] = "resize" };
    const char *name = json_string_value(value);

    for (size_t i = SESSION_INSPECT; name && i < ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            r->op = (enum session_op)i;
            return 0;
        }
    }
    return gb_fail(err, GB_E_INVALID, 0,
                   "%s: must be 'inspect', 'rewind', 'fork', 'reset', 'close', 'list', "
                   "'list_files', 'read_file', 'write_file', 'jobs', 'job_read', "
                   "'job_kill', 'type', 'screen' or 'resize'",
                   key);
}

static int take_path(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    const char *path = json_string_value(value);

    if (!path || strlen(path) != json_string_length(value) || !files_is_path(path))
        return gb_fail(err, GB_E_INVALID, 0,
                       "%s: must be a path below the workspace: relative, without '.' and '..'",
                       key);
    r->path = path;
    return 0;
}

static int take_part(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    bool is_length = strcmp(key, "length") == 0;
    json_int_t n = json_integer_value(value);

    if (!json_is_integer(value) || n < (is_length ? 1 : 0) || (is_length && n > SESSION_READ_MAX))
        return gb_fail(err, GB_E_INVALID, 0,
                       is_length ? "%s: must be a number of bytes, from 1 to %d"
                                 : "%s: must be a number of bytes",
                       key, SESSION_READ_MAX);
    *(is_length ? &r->length : &r->offset) = n;
    return 0;
}

static int take_job(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    json_int_t pid = json_integer_value(value);

    if (!json_is_integer(value) || pid < 2 || pid > INT32_MAX)
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be the pid of a job", key);
    r->job = (pid_t)pid;
    return 0;
}

static const char *const typed_keys[] = { "text", "keys", "rows", "columns" };

static int take_typed(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    size_t i = 0;
    bool ok;

    while (strcmp(typed_keys[i], key) != 0)
        i++;
    if (i == 0)
        ok = json_is_string(value) && json_string_length(value) <= TYPED_MAX;
    else if (i == 1)
        ok = json_is_array(value) && json_array_size(value) <= 256;
    else
        ok = json_is_integer(value) && json_integer_value(value) >= 1 &&
             json_integer_value(value) <= 400;
    if (!ok)
        return gb_fail(err, GB_E_INVALID, 0,
                       i == 0   ? "%s: must be a string of at most 4096 bytes"
                       : i == 1 ? "%s: must be a list of at most 256 names of keys"
                                : "%s: must be a number from 1 to 400",
                       key);
    r->typed[i] = value;
    return 0;
}

static int take_cell(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a cell's number, or 0", key);
    r->cell = value;
    return 0;
}

static int too_large(const char *key, size_t len, size_t max, struct gb_err *err)
{
    return gb_fail(err, GB_E_LIMIT, 0, "%s: %zu bytes are more than the %zu MiB allowed", key, len,
                   max >> 20);
}

/* Is this text at all? */
static void inspect(struct request *r, const char *bytes, size_t len)
{
    static const char elf[] = "\x7f"
                              "ELF";
    const char *nul = memchr(bytes, '\0', len);

    r->bad_byte = utf8_first_bad(bytes, len);
    r->is_nul = nul && r->bad_byte < 0;
    r->is_binary = (nul && r->bad_byte >= 0) || (len >= 4 && memcmp(bytes, elf, 4) == 0);
    if (r->is_nul)
        r->bad_byte = nul - bytes;
    r->bad_line = 1;
    for (int64_t i = 0; i < r->bad_byte; i++)
        r->bad_line += bytes[i] == '\n';
}

static int take_code(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    if (!json_is_string(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a string", key);
    if (json_string_length(value) > CODE_MAX)
        return too_large(key, json_string_length(value), CODE_MAX, err);
    inspect(r, json_string_value(value), json_string_length(value));
    json_object_set(r->program, "code", value);
    return 0;
}

/* A model's answer may be the code as a chat shows it. A fence is no Python, so that nothing else
 * can be meant. What is reviewed, shown and recorded is the code without it. */
static void remove_fence(struct request *r)
{
    const json_t *code = json_object_get(r->program, "code");
    size_t len = json_string_length(code);
    auto_free char *text = NULL;

    if (r->is_shell || r->is_op || r->bad_byte >= 0 || !code)
        return;
    if (!memchr(json_string_value(code), '`', len))
        return;
    text = malloc(len + 1);
    if (!text)
        return; /* then the parser says what is wrong */
    memcpy(text, json_string_value(code), len + 1);
    if (fence_blank(text, len))
        json_object_set_new(r->program, "code", json_stringn(text, len));
}

static int need_shell(const struct request *r, const char *key, struct gb_err *err)
{
    if (r->is_shell)
        return 0;
    (void)gb_fail(err, GB_E_INVALID, 0, "%s: is for the kind 'shell'", key);
    return gb_fail_hint(err, "say \"kind\": \"shell\"; over HTTP, send it to /v1/shell");
}

static int take_command(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    if (need_shell(r, key, err) < 0)
        return -1;
    if (json_string_length(value) > COMMAND_MAX)
        return gb_fail(err, GB_E_LIMIT, 0,
                       "%s: %zu bytes are more than the 128 KiB that a shell "
                       "takes; put it into a file of 'files'",
                       key, json_string_length(value));
    return take_code(r, key, value, err);
}

/* A copy of the decoded bytes, which the caller frees. */
static char *decoded(const char *key, const json_t *value, uint64_t *len, struct gb_err *err)
{
    char *bytes;

    *len = json_string_length(value);
    bytes = json_is_string(value) ? malloc(*len + 1) : NULL;
    if (bytes) {
        memcpy(bytes, json_string_value(value), *len); /* it may hold NULs: not strdup */
        if (base64_decode(bytes, len))
            return bytes;
    }
    free(bytes);
    (void)gb_fail(err, GB_E_INVALID, 0, "%s: must be base64", key);
    return NULL;
}

static int take_code_base64(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    uint64_t len;
    auto_free char *bytes = decoded(key, value, &len, err);

    if (!bytes)
        return -1;
    if (len > (r->is_shell ? (size_t)COMMAND_MAX : (size_t)CODE_MAX))
        return too_large("code", len, CODE_MAX, err);
    inspect(r, bytes, len);
    json_object_set_new(r->program, "code",
                        r->bad_byte < 0 || r->is_nul ? json_stringn(bytes, len) : json_string(""));
    return 0;
}

static int take_command_base64(struct request *r, const char *key, json_t *value,
                               struct gb_err *err)
{
    return need_shell(r, key, err) < 0 ? -1 : take_code_base64(r, key, value, err);
}

static int take_stdin(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    if (!json_is_string(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a string", key);
    r->stdin_bytes = json_string_length(value);
    if (r->stdin_bytes > STDIN_MAX)
        return too_large(key, r->stdin_bytes, STDIN_MAX, err);
    free(r->stdin_data);
    r->stdin_data = malloc(r->stdin_bytes + 1);
    if (!r->stdin_data)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the request");
    memcpy(r->stdin_data, json_string_value(value), r->stdin_bytes);
    return 0;
}

static int take_stdin_base64(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    uint64_t len;
    char *bytes = decoded(key, value, &len, err);

    if (!bytes)
        return -1;
    free(r->stdin_data);
    r->stdin_data = bytes;
    r->stdin_bytes = len;
    return len > STDIN_MAX ? too_large("stdin", len, STDIN_MAX, err) : 0;
}

static int take_text(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a string without NUL", key);
    if (json_string_length(value) > CODE_MAX)
        return too_large(key, json_string_length(value), CODE_MAX, err);
    json_object_set(r->program, key, value);
    return 0;
}

/* The operator's own code, which strict does not look at: from the configuration, unless the
 * operator lets requests bring it. */
static int take_prelude(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    if (!json_array_has(r->allowed, key)) {
        (void)gb_fail(err, GB_E_INVALID, 0, "%s: is the operator's, and no key of a request", key);
        return settings_fail_looser(key, err);
    }
    return take_text(r, key, value, err);
}

static int take_echo(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    if (!json_is_boolean(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be true or false", key);
    json_object_set(r->program, key, value);
    return 0;
}

static int take_argv(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    if (!json_is_array(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a list of strings", key);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_string(json_array_get(value, i)))
            return gb_fail(err, GB_E_INVALID, 0, "%s: must be a list of strings", key);
    json_object_set(r->program, key, value);
    return 0;
}

static int take_inputs(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    const char *name;
    json_t *input;

    if (!json_is_object(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be an object", key);
    json_object_foreach (value, name, input)
        if (!name_is_variable(name))
            return gb_fail(err, GB_E_INVALID, 0, "%s: '%s' is not a variable's name", key, name);
    json_object_set(r->program, key, value);
    return 0;
}

static int take_env(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    const char *name;
    json_t *text;

    if (!json_is_object(value))
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be an object of strings", key);
    if (json_object_size(value) > ENV_MAX)
        return gb_fail(err, GB_E_LIMIT, 0, "%s: more than %d variables", key, ENV_MAX);
    json_object_foreach (value, name, text)
        if ((!json_is_string(text) && !(r->is_shell && json_is_null(text))) || !*name ||
            strchr(name, '=') ||
            (json_is_string(text) && strlen(json_string_value(text)) != json_string_length(text)))
            return gb_fail(err, GB_E_INVALID, 0, "%s: '%s' must be a name with a string", key,
                           name);
    json_object_set(r->program, key, value);
    return 0;
}

static int take_tools(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    struct toolset *fewer;
    bool ok = json_is_array(value);

    for (size_t i = 0; ok && i < json_array_size(value); i++)
        ok = json_is_string(json_array_get(value, i));
    if (!ok)
        return gb_fail(err, GB_E_INVALID, 0, "%s: must be a list of names", key);
    fewer = toolset_narrow(r->tools, value, err);
    if (!fewer)
        return gb_fail_wrap(err, "%s", key);
    toolset_unref(r->tools);
    r->tools = fewer;
    return 0;
}

/* What its program finds beside its inputs: for the guest, and for the check. */
static void add_tools(struct request *r, json_t *rules)
{
    static const char *const also[] = { "call_tool", "ToolError", "UnknownToolError" };
    json_t *names;

    if (r->is_op) { /* nobody agrees to what threads of earlier cells would call meanwhile */
        toolset_unref(r->tools);
        r->tools = NULL;
    }
    if (toolset_count(r->tools) == 0)
        return;
    names = toolset_names(r->tools, false);
    for (size_t i = 0; i < ARRAY_LEN(also); i++)
        json_array_append_new(names, json_string(also[i]));
    json_object_set_new(rules, "tools", names);
    json_object_set_new(r->program, "tools", toolset_program(r->tools));
}

/* A request that may bring its own brings it in the place of the operator's. */
static void add_prelude(struct request *r, const struct config *config)
{
    if (config->prelude && !r->is_op && !json_object_get(r->program, "prelude"))
        json_object_set_new(r->program, "prelude", json_string(config->prelude));
}

static int take_files(struct request *r, const char *key, json_t *value, struct gb_err *err)
{
    (void)key;
    return files_read(value, &r->files, err);
}

static const struct {
    const char *key;
    int (*take)(struct request *r, const char *key, json_t *value, struct gb_err *err);
} keys[] = {
    { "id", take_id },
    { "kind", take_kind },
    { "code", take_code },
    { "code_base64", take_code_base64 },
    { "command", take_command },
    { "command_base64", take_command_base64 },
    { "filename", take_text },
    { "prelude", take_prelude },
    { "argv", take_argv },
    { "inputs", take_inputs },
    { "env", take_env },
    { "stdin", take_stdin },
    { "stdin_base64", take_stdin_base64 },
    { "tools", take_tools },
    { "files", take_files },
    { "echo", take_echo },
    { "session", take_session },
    { "op", take_op },
    { "cell", take_cell },
    { "job", take_job },
    { "text", take_typed },
    { "keys", take_typed },
    { "rows", take_typed },
    { "columns", take_typed },
    { "into", take_session },
    { "path", take_path },
    { "offset", take_part },
    { "length", take_part },
};

static int take_mounts(struct request *r, const struct config *config, const json_t *value,
                       struct gb_err *err)
{
    r->mounts = mounts_unref(r->mounts);
    return mounts_request(config, value, &r->mounts, err);
}

/* They are the program's first use of its disk. */
static int check_room(const struct request *r, struct gb_err *err)
{
    char limit[32];

    if (r->files.bytes <= r->settings.disk_bytes)
        return 0;
    settings_limit_text(&r->settings, "disk", limit, sizeof(limit));
    return gb_fail(err, GB_E_LIMIT, 0, "files: %zu bytes are more than the disk limit of %s",
                   r->files.bytes, limit);
}

/* The i-th setting that is not below "limits". */
static const char *setting_key(size_t i)
{
    bool in_limits = false;
    const char *name = NULL;

    for (size_t k = 0; (name = settings_request_key(k, &in_limits)); k++)
        if (!in_limits && i-- == 0)
            return name;
    return NULL;
}

static const char *own_key(size_t i)
{
    static const char *const others[] = { "limits", "mounts" };

    if (i < ARRAY_LEN(keys))
        return keys[i].key;
    i -= ARRAY_LEN(keys);
    return i < ARRAY_LEN(others) ? others[i] : NULL;
}

const char *request_key(size_t i)
{
    static const char *(*const sources[])(size_t i) = { own_key, setting_key, policy_key,
                                                        shell_key };

    for (size_t k = 0; k < ARRAY_LEN(sources); k++)
        for (size_t n = 0; sources[k](n); n++)
            if (i-- == 0)
                return sources[k](n);
    return NULL;
}

/* Limits have a place of their own, which is easily forgotten. */
static int fail_unknown(const char *key, struct gb_err *err)
{
    struct suggestion near = { .typed = key, .typed_len = strlen(key) };
    bool in_limits = false;
    const char *name;

    (void)gb_fail(err, GB_E_INVALID, 0, "unknown key '%s' in the request", key);
    for (size_t i = 0; (name = settings_request_key(i, &in_limits)); i++)
        if (in_limits && strcmp(name, key) == 0)
            return gb_fail_hint(err, "it goes into 'limits': \"limits\": {\"%s\": ...}", key);
    for (size_t i = 0; (name = request_key(i)); i++)
        suggestion_offer(&near, name);
    return near.best ? gb_fail_hint(err, "did you mean '%s'?", near.best) : -1;
}

static int take_key(struct request *r, const struct config *config,
                    const struct settings *configured, const char *key, json_t *value,
                    struct gb_err *err)
{
    /* The level is read already: what else may be asked for depends on it. */
    int n = strcmp(key, "isolation") == 0 ? 1
                                          : settings_request(&r->settings, configured, key, value,
                                                             config->allow_request, err);

    if (r->is_shell && shell_is_foreign(key))
        return gb_fail(err, GB_E_INVALID, 0, "%s: is not for the kind 'shell'", key);
    if (n == 0)
        n = policy_say(&r->lists, key, value, err);
    if (n == 0 && r->is_shell)
        n = shell_say(&r->shell, key, value, err);
    if (n != 0)
        return n < 0 ? -1 : 0;
    if (strcmp(key, "mounts") == 0)
        return take_mounts(r, config, value, err);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (strcmp(keys[i].key, key) == 0)
            return keys[i].take(r, key, value, err);
    return fail_unknown(key, err);
}

static int take_isolation(struct request *r, const struct config *config, struct gb_err *err)
{
    const json_t *value = json_object_get(r->json, "isolation");

    return value && settings_request(&r->settings, &config->settings, "isolation", value,
                                     config->allow_request, err) < 0
               ? -1
               : 0;
}

static int take_keys(struct request *r, const struct config *config, struct gb_err *err)
{
    struct settings configured;
    json_t *value, *rules;
    const char *key;

    if (take_isolation(r, config, err) < 0)
        return -1;
    configured = r->settings;
    json_object_foreach (r->json, key, value)
        if (take_key(r, config, &configured, key, value, err) < 0)
            return -1;
    if (policy_request(&configured, &config->lists, &r->settings, &r->lists, config->allow_request,
                       &rules, err) < 0)
        return -1;
    if (r->is_shell) {
        json_decref(rules);
        if (shell_request(r, config, err) < 0)
            return -1;
    } else {
        add_prelude(r, config);
        add_tools(r, rules);
        json_object_set_new(r->program, "check", rules);
    }
    return check_room(r, err);
}

static int check_session_files(const struct request *r, struct gb_err *err)
{
    bool is_read = r->op == SESSION_READ_FILE;

    if (is_read && !r->path)
        return gb_fail(err, GB_E_INVALID, 0, "the request names no 'path' to read");
    if (!is_read && (r->path || ((r->offset > 0 || r->length > 0) && r->op != SESSION_JOB_READ)))
        return gb_fail(err, GB_E_INVALID, 0, "%s: only with op 'read_file'",
                       r->path         ? "path"
                       : r->offset > 0 ? "offset"
                                       : "length");
    if (r->op == SESSION_WRITE_FILE && r->files.n == 0)
        return gb_fail(err, GB_E_INVALID, 0, "the request has no 'files' to write");
    if (r->is_op && r->op != SESSION_WRITE_FILE && r->files.n > 0)
        return gb_fail(err, GB_E_INVALID, 0, "files: only with code, or with op 'write_file'");
    if (r->is_check && r->session)
        return gb_fail(err, GB_E_INVALID, 0, "session: a check needs none");
    return 0;
}

/* Two names of one thing: which of them counts would be anybody's guess. */
static int check_twice(const struct request *r, struct gb_err *err)
{
    static const char *const pairs[][2] = { { "code", "code_base64" },
                                            { "command", "command_base64" },
                                            { "stdin", "stdin_base64" } };

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (json_object_get(r->json, pairs[i][0]) && json_object_get(r->json, pairs[i][1]))
            return gb_fail(err, GB_E_INVALID, 0, "%s: and %s say the same thing twice; send one",
                           pairs[i][0], pairs[i][1]);
    if (r->is_op && json_object_get(r->program, "code"))
        return gb_fail(err, GB_E_INVALID, 0, "code: is not for the kind 'session'");
    return 0;
}

/* Which keys go together. */
static int check_session(const struct request *r, struct gb_err *err)
{
    if (!r->is_op && (r->op != SESSION_CELL || r->cell)) {
        (void)gb_fail(err, GB_E_INVALID, 0, "%s: only for requests of the kind 'session'",
                      r->cell ? "cell" : "op");
        return gb_fail_hint(err, "say \"kind\": \"session\"");
    }
    if (r->is_op && r->op == SESSION_CELL)
        return gb_fail(err, GB_E_INVALID, 0, "the request has no 'op'");
    if (r->is_op && r->op != SESSION_LIST && !r->session)
        return gb_fail(err, GB_E_INVALID, 0, "the request names no 'session'");
    if ((r->op == SESSION_FORK) != (r->into != NULL))
        return gb_fail(err, GB_E_INVALID, 0,
                       r->into ? "into: only with op 'fork'"
                               : "the request names no session to fork 'into'");
    if ((r->op == SESSION_JOB_READ || r->op == SESSION_JOB_KILL) != (r->job > 0))
        return gb_fail(err, GB_E_INVALID, 0,
                       r->job > 0 ? "job: only with op 'job_read' or 'job_kill'"
                                  : "the request names no 'job'");
    if (r->op != SESSION_TYPE && (r->typed[0] || r->typed[1]))
        return gb_fail(err, GB_E_INVALID, 0, "%s: only with op 'type'",
                       r->typed[0] ? "text" : "keys");
    if ((r->op == SESSION_RESIZE) != (r->typed[2] && r->typed[3]))
        return gb_fail(err, GB_E_INVALID, 0,
                       "op 'resize' takes 'rows' and 'columns', and no other does");
    if (r->cell && r->op != SESSION_REWIND)
        return gb_fail(err, GB_E_INVALID, 0, "cell: only with op 'rewind'");
    return check_session_files(r, err);
}

int request_read(const struct config *config, const char *text, struct request *ret,
                 struct gb_err *err)
{
    json_error_t where;

    *ret = (struct request){ .settings = config->settings,
                             .bad_byte = -1,
                             .allowed = config->allow_request };
    ret->program = json_object();
    ret->tools = toolset_ref(config->tools);
    ret->mounts = mounts_ref(config->mounts);
    ret->json = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &where);
    if (!ret->json)
        return gb_fail(err, GB_E_INVALID, 0, "the request is not JSON: %s (line %d, column %d)",
                       where.text, where.line, where.column);
    if (!json_is_object(ret->json))
        return gb_fail(err, GB_E_INVALID, 0, "the request is not a JSON object");
    ret->id = json_object_get(ret->json, "id");
    ret->is_shell = strcmp(json_string_at(ret->json, "kind", ""), "shell") == 0;
    if (take_keys(ret, config, err) < 0)
        return -1;
    if (check_session(ret, err) < 0 || check_twice(ret, err) < 0)
        return -1;
    if (!ret->is_op && !json_object_get(ret->program, "code"))
        return gb_fail(err, GB_E_INVALID, 0, "the request has no '%s'",
                       ret->is_shell ? "command" : "code");
    remove_fence(ret);
    return 0;
}

void request_done(struct request *r)
{
    policy_done(&r->lists);
    shell_settings_done(&r->shell);
    toolset_unref(r->tools);
    files_done(&r->files);
    (void)mounts_unref(r->mounts);
    json_decref(r->program);
    json_decref(r->json);
    free(r->stdin_data);
    *r = (struct request){ 0 };
}
