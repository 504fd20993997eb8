#include "engine/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "engine/mounts.h"
#include "shell/commands.h"

enum {
    TITLE_MAX = 4200 /* a path, and some words */
};

/* ---- which keys are shown ---- */

static const char bounds[] = "it only bounds how long or how much; nothing else runs for it";
static const char tells[] = "it decides what is told of a run, not what runs";
static const char judges[] = "it adds to what is refused";
static const char looks[] = "the op changes nothing and runs nothing";
static const char own[] = "what runs there has been shown in its own time";

static const struct {
    const char *key;
    const char *shown;    /* where; or NULL, and: */
    const char *harmless; /* why nobody need see it */
} classes[] = {
    { "id", "id", NULL },
    { "kind", "kind", NULL },
    { "code", "program", NULL },
    { "code_base64", "program", NULL },
    { "command", "command", NULL },
    { "command_base64", "command", NULL },
    { "filename", "filename", NULL },
    { "prelude", "prelude", NULL },
    { "argv", "args", NULL },
    { "inputs", "inputs", NULL },
    { "env", "env", NULL },
    { "stdin", "stdin", NULL },
    { "stdin_base64", "stdin", NULL },
    { "tools", "tools", NULL },
    { "files", "file", NULL },
    { "echo", NULL, tells },
    { "session", "earlier", NULL },
    { "op", "kind", NULL },
    { "cell", NULL, own },
    { "job", NULL, "it names what is read or killed" },
    { "text", "typed", NULL },
    { "keys", "keys", NULL },
    { "rows", NULL, "it is the size of a terminal" },
    { "columns", NULL, "it is the size of a terminal" },
    { "into", NULL, own },
    { "path", NULL, looks },
    { "offset", NULL, looks },
    { "length", NULL, looks },
    { "limits", NULL, bounds },
    { "mounts", "mounts", NULL },
    { "timeout", NULL, bounds },
    { "memory", NULL, bounds },
    { "disk", NULL, bounds },
    { "processes", NULL, bounds },
    { "open_files", NULL, bounds },
    { "cpu", NULL, bounds },
    { "stdout", NULL, bounds },
    { "stderr", NULL, bounds },
    { "tool_calls", NULL, bounds },
    { "isolation", "isolation", NULL },
    { "policy", "policy", NULL },
    { "patterns", NULL, judges },
    { "approve", NULL, "it decides who is asked, and only the operator can let it ask less" },
    { "network", "network", NULL },
    { "backend", "backend", NULL },
    { "capture", NULL, tells },
    { "capture_file", NULL, tells },
    { "capture_mount", NULL, tells },
    { "capture_total", NULL, tells },
    { "capture_files", NULL, tells },
    { "spill", NULL, tells },
    { "allow_import", NULL, judges },
    { "block_import", NULL, judges },
    { "allow_builtin", NULL, judges },
    { "block_builtin", NULL, judges },
    { "allow_os_attr", NULL, judges },
    { "clean_env", "options", NULL },
    { "confine_workdir", "options", NULL },
    { "pty", "options", NULL },
    { "raw", NULL, tells },
    { "shell", "shell", NULL },
    { "unset_env", "options", NULL },
    { "workdir", "workdir", NULL },
    { "allow", NULL, judges },
    { "allow_command", NULL, judges },
    { "deny", NULL, judges },
    { "deny_preset", NULL, judges },
};

bool manifest_shows(const char *key, const char **ret_why)
{
    *ret_why = NULL;
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (strcmp(classes[i].key, key) != 0)
            continue;
        *ret_why = classes[i].shown ? classes[i].shown : classes[i].harmless;
        return classes[i].shown != NULL;
    }
    return false;
}

/* ---- parts ---- */

static int no_memory(struct gb_err *err)
{
    return gb_fail(err, GB_E_SYSTEM, ENOMEM, "saying what would run");
}

static int too_much(struct gb_err *err)
{
    (void)gb_fail(err, GB_E_LIMIT, 0, "what would run has more than %d MiB, which nobody can read",
                  MANIFEST_MAX >> 20);
    return gb_fail_hint(err, "send less with the request: code, files, standard input, inputs");
}

/* Takes `text`. */
static int append(struct manifest *to, const char *title, json_t *text, const char *lines,
                  bool is_brief, struct gb_err *err)
{
    json_t *part;

    if (!text)
        return no_memory(err);
    if (json_string_length(text) > to->max - to->bytes) {
        json_decref(text);
        return too_much(err);
    }
    to->bytes += json_string_length(text);
    part = json_pack("{s:o,s:o,s:s,s:b}", "title", json_lossy(title), "text", text, "lines", lines,
                     "is_brief", is_brief);
    return part && json_array_append_new(to->parts, part) == 0 ? 0 : no_memory(err);
}

int manifest_add(struct manifest *to, const char *title, const char *bytes, size_t len,
                 enum visible_lines lines, struct gb_err *err)
{
    bool is_text = !memchr(bytes, '\0', len) && utf8_first_bad(bytes, len) < 0;
    char encoded[TITLE_MAX];

    if (len > to->max - to->bytes)
        return too_much(err);
    (void)snprintf(encoded, sizeof(encoded), "%s, as base64", title);
    return append(to, is_text ? title : encoded,
                  is_text ? json_stringn(bytes, len) : json_base64(bytes, len),
                  visible_lines_name(lines), false, err);
}

/* A value as one line of JSON, or nothing for none. */
static int add_value(struct manifest *to, const char *title, const json_t *value,
                     struct gb_err *err)
{
    auto_free char *text = value ? json_text(value) : NULL;

    if (!value)
        return 0;
    return text ? append(to, title, json_string(text), "shell", true, err) : no_memory(err);
}

/* An object or a list that says something. */
static int add_filled(struct manifest *to, const char *title, const json_t *value,
                      struct gb_err *err)
{
    bool is_empty = json_object_size(value) == 0 && json_array_size(value) == 0;

    return is_empty ? 0 : add_value(to, title, value, err);
}

struct matter {
    const struct request *r;
    const struct config *config;
};

static int add_prelude(struct manifest *to, const struct matter *m, struct gb_err *err)
{
    const json_t *text = json_object_get(m->r->program, "prelude");

    return text ? manifest_add(to, "prelude, runs first", json_string_value(text),
                               json_string_length(text), LINES_PYTHON, err)
                : 0;
}

static int add_shell(struct manifest *to, const struct matter *m, struct gb_err *err)
{
    return m->r->is_shell
               ? add_value(to, "shell", json_object_get(m->r->program, "shell"), err) < 0
                     ? -1
                     : add_value(to, "workdir", json_object_get(m->r->program, "workdir"), err)
               : 0;
}

static int add_options(struct manifest *to, const struct matter *m, struct gb_err *err)
{
    static const char *const names[] = { "clean_env", "confine_workdir", "pty", "unset_env" };
    auto_json json_t *said = json_object();

    for (size_t i = 0; m->r->is_shell && i < ARRAY_LEN(names); i++)
        if (json_object_get(m->r->json, names[i]))
            json_object_set(said, names[i], json_object_get(m->r->json, names[i]));
    return add_filled(to, "options", said, err);
}

/* Those that every box has, unless they are as they always are, and those by which a shell or the
 * loader finds what it runs. */
static bool is_telling(const char *name, const json_t *value, const json_t *usual)
{
    const json_t *always = json_object_get(usual, name);

    return always ? !json_equal(json_shared(always), json_shared(value)) : commands_decides(name);
}

static int add_env(struct manifest *to, const struct matter *m, struct gb_err *err)
{
    auto_json json_t *usual = config_usual_env(), *said = json_object();
    const char *name;
    json_t *value;

    json_object_foreach (m->config->env, name, value)
        if (is_telling(name, value, usual))
            json_object_set(said, name, value);
    json_object_update(said, json_object_get(m->r->json, "env"));
    return add_filled(to, "env", said, err);
}

static int add_inputs(struct manifest *to, const struct matter *m, struct gb_err *err)
{
    return add_filled(to, "inputs", json_object_get(m->r->program, "inputs"), err);
}

/* A program's own name alone says nothing: it is that of its file, or what stands for one. */
static int add_argv(struct manifest *to, const struct matter *m, struct gb_err *err)
{
    const json_t *argv = json_object_get(m->r->program, "argv");
    const char *first = json_string_value(json_array_get(argv, 0));
    const char *file = json_string_at(m->r->program, "filename", "-c");

    if (!m->r->is_shell && json_array_size(argv) == 1 && strcmp(first, file) == 0)
        return 0;
    return add_filled(to, "args", argv, err);
}

static int add_stdin(struct manifest *to, const struct matter *m, struct gb_err *err)
{
    const struct request *r = m->r;

    return r->stdin_bytes > 0 ? manifest_add(to, "standard input", r->stdin_data, r->stdin_bytes,
                                             LINES_EITHER, err)
                              : 0;
}

static int add_files(struct manifest *to, const struct matter *m, struct gb_err *err)
{
    const struct request_files *f = &m->r->files;
    char title[TITLE_MAX];

    for (size_t i = 0; i < f->n; i++) {
        (void)snprintf(title, sizeof(title), "file %s", f->list[i].path);
        if (manifest_add(to, title, f->list[i].data, f->list[i].bytes, LINES_EITHER, err) < 0)
            return -1;
    }
    return 0;
}

static int add_typed(struct manifest *to, const struct matter *m, struct gb_err *err)
{
    const json_t *text = m->r->typed[0];

    if (m->r->op != SESSION_TYPE)
        return 0;
    if (text && manifest_add(to, "typed into the terminal", json_string_value(text),
                             json_string_length(text), LINES_EITHER, err) < 0)
        return -1;
    return add_value(to, "keys", m->r->typed[1], err);
}

static int add_program(struct manifest *to, const struct matter *m, struct gb_err *err)
{
    const json_t *code = json_object_get(m->r->program, "code");

    if (!code)
        return 0;
    if (manifest_add(to, m->r->is_shell ? "command" : "program", json_string_value(code),
                     json_string_length(code), m->r->is_shell ? LINES_SHELL : LINES_PYTHON,
                     err) < 0)
        return -1;
    return json_object_set_new(json_array_get(to->parts, json_array_size(to->parts) - 1),
                               "is_program", json_true());
}

typedef int (*adder)(struct manifest *to, const struct matter *m, struct gb_err *err);

static json_t *gather(const struct matter *m, const adder *adders, size_t n, size_t max,
                      struct gb_err *err)
{
    struct manifest to = { .parts = json_array(), .max = max };

    for (size_t i = 0; i < n; i++) {
        if (adders[i](&to, m, err) < 0) {
            json_decref(to.parts);
            return NULL;
        }
    }
    return to.parts;
}

json_t *manifest_parts(const struct request *r, const struct config *config, struct gb_err *err)
{
    static const adder all[] = { add_prelude, add_shell, add_options, add_env,   add_inputs,
                                 add_argv,    add_stdin, add_files,   add_typed, add_program };
    const struct matter m = { r, config };

    return gather(&m, all, ARRAY_LEN(all), MANIFEST_MAX, err);
}

json_t *manifest_kept(const struct request *r, const struct config *config, const char *title)
{
    static const adder kept[] = { add_prelude, add_shell, add_options, add_env,   add_inputs,
                                  add_argv,    add_stdin, add_files,   add_typed, add_program };
    const struct matter m = { r, config };
    struct gb_err err;
    json_t *parts = gather(&m, kept, ARRAY_LEN(kept), MANIFEST_MAX, &err);

    for (size_t i = 0; i < json_array_size(parts); i++) {
        json_t *part = json_array_get(parts, i);

        json_object_del(part, "is_program");
        json_object_set_new(part, "title",
                            json_sprintf("%s: %s", title, json_string_at(part, "title", "")));
    }
    return parts;
}

int manifest_insert(json_t *parts, const json_t *more, struct gb_err *err)
{
    size_t at = json_array_size(parts);

    if (manifest_bytes(parts) + manifest_bytes(more) > MANIFEST_MAX)
        return too_much(err);
    if (at > 0 && json_is_true(json_object_get(json_array_get(parts, at - 1), "is_program")))
        at--;
    for (size_t i = 0; i < json_array_size(more); i++)
        if (json_array_insert(parts, at + i, json_array_get(more, i)) < 0)
            return no_memory(err);
    return 0;
}

size_t manifest_bytes(const json_t *parts)
{
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(parts); i++)
        n += json_string_length(json_object_get(json_array_get(parts, i), "text"));
    return n;
}

void manifest_put(FILE *f, const json_t *part, const char *before)
{
    const json_t *text = json_object_get(part, "text");

    put_visible_lines(f, json_string_value(text), json_string_length(text),
                      visible_lines_of(json_string_at(part, "lines", "")), before);
}

/* ---- the digest ---- */

static void put_hex(json_t *object, const char *key, const void *data, size_t len)
{
    char hex[DIGEST_HEX + 1];

    digest_hex(data, len, hex);
    json_object_set_new(object, key, json_string(hex));
}

/* By their digests: they may be large. */
static json_t *files_digested(const struct request *r)
{
    json_t *files = json_object();

    for (size_t i = 0; i < r->files.n; i++)
        put_hex(files, r->files.list[i].path, r->files.list[i].data, r->files.list[i].bytes);
    return files;
}

void manifest_digest(const struct request *r, const struct config *config, char ret[DIGEST_HEX + 1])
{
    static const adder small[] = { add_prelude, add_shell, add_options, add_env,
                                   add_inputs,  add_argv,  add_typed,   add_program };
    static const char *const places[] = { "isolation", "network", "backend" };
    const struct matter m = { r, config };
    struct gb_err err;
    auto_json json_t *settings = settings_json(&r->settings), *all = json_object();
    json_t *parts = gather(&m, small, ARRAY_LEN(small), SIZE_MAX, &err);
    auto_free char *text = NULL;

    if (!parts) /* memory ran out: no digest is better than one of less */
        return;
    json_object_set_new(all, "parts", parts);
    json_object_set_new(all, "files", files_digested(r));
    put_hex(all, "stdin", r->stdin_data ? r->stdin_data : "", r->stdin_bytes);
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        json_object_set(all, places[i], json_object_get(settings, places[i]));
    json_object_set(all, "kind", json_object_get(r->json, "kind"));
    json_object_set(all, "op", json_object_get(r->json, "op"));
    json_object_set(all, "filename", json_object_get(r->program, "filename"));
    json_object_set_new(all, "mounts", mounts_json(r->mounts, false));
    json_object_set_new(all, "tools", toolset_names(r->tools, false));
    text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
    if (text)
        digest_hex(text, strlen(text), ret);
}
