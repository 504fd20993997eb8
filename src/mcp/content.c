#include "mcp/content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mime.h"
#include "base/own.h"
#include "mcp/mcp.h"

enum {
    VALUE_SHOWN = 16 << 10, /* bytes of a value, or of what was displayed, in the text;
                               structuredContent has all of it */
    BLOCKS_SHOWN = 24,      /* of content, besides the text; structuredContent names the others */
    FINDINGS_SHOWN = 20,
    FILES_SHOWN = 50,
    JOBS_SHOWN = 16,
    INLINE_TEXT = 4 << 10,    /* a text file up to this is shown in the content, */
    INLINE_TEXTS = 16 << 10,  /* all of them together up to this, */
    INLINE_PICTURE = 1 << 20, /* and pictures, as base64 */
    INLINE_PICTURES = 4 << 20
};

/* ---- text ---- */

/* End the line that is open, and begin another section. */
struct page {
    FILE *f;
    char last; /* byte that was written; 0: none */
};

static void put(struct page *p, const char *text, size_t len)
{
    if (len == 0)
        return;
    (void)fwrite(text, 1, len, p->f);
    p->last = text[len - 1];
}

static void begin_section(struct page *p)
{
    if (p->last && p->last != '\n')
        put(p, "\n", 1);
}

static void put_line(struct page *p, const char *label, const char *text)
{
    begin_section(p);
    put(p, label, strlen(label));
    put(p, text, strlen(text));
}

static void put_stream(struct page *p, const json_t *result, const char *name, const char *label)
{
    const json_t *text = json_object_get(result, name);

    if (json_string_length(text) == 0)
        return;
    begin_section(p);
    put(p, label, strlen(label));
    put(p, json_string_value(text), json_string_length(text));
}

/* A text up to VALUE_SHOWN, on whole characters. */
static void put_long(struct page *p, const char *text, size_t len, const char *what)
{
    size_t shown = len;
    char note[96];

    if (len > VALUE_SHOWN)
        for (shown = VALUE_SHOWN; ((unsigned char)text[shown] & 0xc0) == 0x80;)
            shown--;
    put(p, text, shown);
    if (shown == len)
        return;
    (void)snprintf(note, sizeof(note), "\n... (%zu of %zu bytes of %s are shown)", shown, len,
                   what);
    put(p, note, strlen(note));
}

/* The text of the thing that was displayed at `at`, in any of its forms, or NULL. *ret_next: where
 * the next thing begins. */
static const json_t *plain_form(const json_t *outputs, size_t at, size_t *ret_next)
{
    static const char *const plain[] = { "text/plain", "text/markdown", "text/latex" };
    const json_t *found[ARRAY_LEN(plain)] = { NULL };

    do {
        const json_t *form = json_array_get(outputs, at);

        for (size_t i = 0; i < ARRAY_LEN(plain); i++)
            if (!found[i] && strcmp(json_string_at(form, "mime", ""), plain[i]) == 0)
                found[i] = json_object_get(form, "data");
        at++;
    } while (json_is_true(json_object_get(json_array_get(outputs, at), "alternative")));
    *ret_next = at;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (json_is_string(found[i]))
            return found[i];
    return NULL;
}

/* What was displayed, as text where it has one. */
static void put_outputs(struct page *p, const json_t *result)
{
    const json_t *outputs = json_object_get(result, "outputs");

    for (size_t i = 0, next; i < json_array_size(outputs); i = next) {
        const json_t *text = plain_form(outputs, i, &next);

        begin_section(p);
        if (text)
            put_long(p, json_string_value(text), json_string_length(text), "what was displayed");
        else
            put_line(p, "displayed: ", json_string_at(json_array_get(outputs, i), "mime", "?"));
    }
}

/* A last expression that is more than text is displayed, and its repr() is the value. */
static bool is_displayed(const json_t *result, const json_t *value)
{
    const json_t *outputs = json_object_get(result, "outputs"), *last = NULL;

    for (size_t i = 0, next; i < json_array_size(outputs); i = next)
        last = plain_form(outputs, i, &next);
    return last && json_equal(json_shared(last), json_shared(value));
}

static void put_value(struct page *p, const json_t *result)
{
    const json_t *value = json_object_get(result, "value");
    auto_free char *text = NULL;

    if (!json_is_true(json_object_get(result, "has_value")) || json_is_null(value) ||
        is_displayed(result, value))
        return;
    text = json_text(value);
    begin_section(p);
    put(p, "value: ", 7);
    put_long(p, text, text ? strlen(text) : 0, "the value");
}

static void put_error(struct page *p, const json_t *result)
{
    const json_t *error = json_object_get(result, "error");
    const char *traceback = json_string_at(error, "traceback", "");
    const char *hint = json_string_at(error, "hint", "");

    if (!json_is_object(error) || strcmp(json_string_at(error, "type", ""), "exit") == 0)
        return; /* of a command: the status says it */
    if (*traceback) {
        put_line(p, "", traceback);
        return;
    }
    put_line(p, json_string_at(error, "type", "error"), ": ");
    put(p, json_string_at(error, "message", ""), strlen(json_string_at(error, "message", "")));
    if (*hint)
        put_line(p, "hint: ", hint);
}

/* Some findings are about the whole: they have no place, or only a line. */
static void put_finding(struct page *p, const json_t *f)
{
    static const char *const parts[] = { "line", "column" };
    const char *message = json_string_at(f, "message", "");
    const char *remedy = json_string_at(f, "remedy", "");
    char part[48];

    put_line(p, json_string_at(f, "severity", "error"), " (");
    put(p, json_string_at(f, "rule", "?"), strlen(json_string_at(f, "rule", "?")));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        json_int_t at = json_integer_value(json_object_get(f, parts[i]));
        int len = at > 0 ? snprintf(part, sizeof(part), ", %s %lld", parts[i], (long long)at) : 0;

        put(p, part, (size_t)len);
    }
    put(p, "): ", 3);
    put(p, message, strlen(message));
    if (*remedy)
        put_line(p, "help: ", remedy);
}

static void put_findings(struct page *p, const json_t *result)
{
    const json_t *findings = json_object_get(result, "findings");
    size_t n = json_array_size(findings);

    for (size_t i = 0; i < n && i < FINDINGS_SHOWN; i++)
        put_finding(p, json_array_get(findings, i));
    if (n > FINDINGS_SHOWN)
        put_line(p, "", "... and more findings");
}

static void put_files(struct page *p, const json_t *result)
{
    const json_t *files = json_object_get(result, "files");
    size_t n = json_array_size(files);
    char line[64];

    for (size_t i = 0; i < n && i < FILES_SHOWN; i++) {
        const json_t *f = json_array_get(files, i);
        const char *omitted = json_string_at(f, "omitted", NULL);
        const char *mount = json_string_at(f, "mount", "workspace");

        put_line(p, "file: ", strcmp(mount, "workspace") != 0 ? mount : "");
        if (strcmp(mount, "workspace") != 0)
            put(p, "/", 1);
        put(p, json_string_at(f, "path", "?"), strlen(json_string_at(f, "path", "?")));
        (void)snprintf(line, sizeof(line), " (%.10s, %lld bytes)", json_string_at(f, "change", "?"),
                       (long long)json_integer_value(json_object_get(f, "bytes")));
        put(p, line, strlen(line));
        if (omitted) {
            put(p, ", not kept: ", 12);
            put(p, omitted, strlen(omitted));
        }
    }
    if (n > FILES_SHOWN || json_object_get(result, "files_omitted"))
        put_line(p, "", "... and more files");
}

static void put_cut(struct page *p, const json_t *result, const char *name)
{
    char key[32], line[128];
    const json_t *bytes;

    (void)snprintf(key, sizeof(key), "%s_truncated", name);
    if (!json_is_true(json_object_get(result, key)))
        return;
    (void)snprintf(key, sizeof(key), "%s_bytes", name);
    bytes = json_object_get(result, key);
    (void)snprintf(line, sizeof(line),
                   "(%s was cut: it had %lld bytes, its head and tail are shown)", name,
                   (long long)json_integer_value(bytes));
    put_line(p, "", line);
}

static void put_status(struct page *p, const json_t *result)
{
    const char *status = json_string_at(result, "status", "failed");
    const char *limit = json_string_at(result, "limit", NULL);
    json_int_t code = json_integer_value(json_object_get(result, "exit_code"));
    char line[96];

    if (strcmp(status, "ok") == 0)
        return;
    if (limit)
        (void)snprintf(line, sizeof(line), "%.20s (%.20s)", status, limit);
    else if (strcmp(status, "error") == 0)
        (void)snprintf(line, sizeof(line), "error (exit code %lld)", (long long)code);
    else
        (void)snprintf(line, sizeof(line), "%.20s", status);
    put_line(p, "status: ", line);
}

/* What a command left in the background, and was ended with it. */
static void put_survivors(struct page *p, const json_t *result)
{
    const json_t *survivors = json_object_get(result, "survivors");

    for (size_t i = 0; i < json_array_size(survivors); i++)
        put_line(p, "left running, and ended: ",
                 json_string_at(json_array_get(survivors, i), "command", "?"));
}

/* What a session's shell has in the background. */
static void put_jobs(struct page *p, const json_t *result)
{
    const json_t *jobs = json_object_get(result, "jobs");

    for (size_t i = 0; i < json_array_size(jobs) && i < JOBS_SHOWN; i++) {
        const json_t *job = json_array_get(jobs, i);
        const char *command = json_string_at(job, "command", "?");
        char line[64];

        (void)snprintf(line, sizeof(line),
                       "job %lld %s: ", (long long)json_integer_value(json_object_get(job, "pid")),
                       json_is_true(json_object_get(job, "running")) ? "runs" : "has ended");
        put_line(p, line, command);
    }
    if (json_array_size(jobs) > JOBS_SHOWN)
        put_line(p, "", "... and more jobs");
}

static void put_session(struct page *p, const json_t *result)
{
    const json_t *session = json_object_get(result, "session");
    auto_free char *line = NULL;

    if (!json_is_object(session) || asprintf(&line, "%s (%s)", json_string_at(session, "name", "?"),
                                             json_string_at(session, "state", "?")) < 0)
        return;
    put_line(p, "session: ", line);
}

char *content_text(const json_t *result)
{
    char *text = NULL;
    size_t len = 0;
    struct page p = { .f = open_memstream(&text, &len) };

    if (!p.f)
        return NULL;
    put_stream(&p, result, "stdout", "");
    put_stream(&p, result, "stderr", "stderr:\n");
    put_outputs(&p, result);
    put_value(&p, result);
    put_error(&p, result);
    put_findings(&p, result);
    put_status(&p, result);
    put_cut(&p, result, "stdout");
    put_cut(&p, result, "stderr");
    put_survivors(&p, result);
    put_jobs(&p, result);
    put_files(&p, result);
    put_session(&p, result);
    if (!p.last)
        put(&p, "(no output)", 11);
    if (fclose(p.f) != 0)
        free(take_ptr(text));
    return text;
}

/* ---- pictures and files ---- */

struct gathering {
    json_t *content;
    struct mcp_files *files;
    const char *principal;
    size_t texts, pictures; /* bytes that are shown already */
    size_t blocks;
};

/* One more block, unless there are many: a model that gets a thousand reads none of them. */
static bool add_block(struct gathering *g, json_t *block)
{
    if (g->blocks == BLOCKS_SHOWN) {
        json_decref(block);
        return false;
    }
    g->blocks++;
    return json_array_append_new(g->content, block) == 0;
}

static const char *block_type(const char *mime)
{
    static const char *const shown[] = { "image/png", "image/jpeg", "image/gif", "image/webp" };

    for (size_t i = 0; i < ARRAY_LEN(shown); i++)
        if (strcmp(mime, shown[i]) == 0)
            return "image";
    return strncmp(mime, "audio/", 6) == 0 ? "audio" : NULL;
}

/* Show it if it is a picture, and not too large. */
static bool show_picture(struct gathering *g, const char *mime, const json_t *base64)
{
    const char *type = block_type(mime);
    size_t len = json_string_length(base64);

    if (!type || !base64 || len > INLINE_PICTURE || g->pictures + len > INLINE_PICTURES)
        return false;
    g->pictures += len;
    return add_block(g, json_pack("{s:s,s:O,s:s}", "type", type, "data", base64, "mimeType", mime));
}

static void show_link(struct gathering *g, const struct mcp_file *file, const char *uri,
                      json_int_t bytes)
{
    const char *slash = strrchr(file->path, '/');

    (void)add_block(g, json_pack("{s:s,s:s,s:s,s:s,s:I}", "type", "resource_link", "uri", uri,
                                 "name", slash ? slash + 1 : file->path, "mimeType", file->mime,
                                 "size", bytes));
}

/* A small text is shown where it is: the model need not ask for it. */
static bool embed(struct gathering *g, const struct mcp_file *file, const char *uri)
{
    size_t len = json_string_length(file->text);

    if (!file->text || len > INLINE_TEXT || g->texts + len > INLINE_TEXTS)
        return false;
    g->texts += len;
    return add_block(g, json_pack("{s:s,s:{s:s,s:s,s:O}}", "type", "resource", "resource", "uri",
                                  uri, "mimeType", file->mime, "text", file->text));
}

static void gather_file(struct gathering *g, json_t *entry)
{
    json_t *text = json_object_get(entry, "text"), *base64 = json_object_get(entry, "base64");
    const char *path = json_string_at(entry, "path", "file");
    struct mcp_file file = { .path = path,
                             .mime = mime_of_path(path, text != NULL),
                             .text = text,
                             .base64 = base64,
                             .principal = g->principal };
    auto_free char *uri = NULL;

    if (!text && !base64)
        return;
    uri = mcp_files_add(g->files, &file);
    if (uri && !show_picture(g, file.mime, base64) && !embed(g, &file, uri))
        show_link(g, &file, uri, json_integer_value(json_object_get(entry, "bytes")));
    if (uri)
        (void)json_object_set_new(entry, "uri", json_string(uri));
    else
        (void)json_object_set_new(entry, "omitted", json_string("more than is kept of all files"));
    (void)json_object_del(entry, "text");
    (void)json_object_del(entry, "base64");
}

/* Text is in the text already. Everything else can be read later, and a picture is shown. */
static void gather_output(struct gathering *g, json_t *output, size_t number)
{
    const char *mime = json_string_at(output, "mime", "text/plain");
    json_t *data = json_object_get(output, "data");
    bool is_text = mime_is_text(mime);
    struct mcp_file file = { .mime = mime,
                             .text = is_text ? data : NULL,
                             .base64 = is_text ? NULL : data,
                             .principal = g->principal };
    auto_free char *uri = NULL;
    char name[64];

    if (!json_is_string(data) || json_is_true(json_object_get(output, "alternative")) ||
        strcmp(mime, "text/plain") == 0 || strcmp(mime, "text/markdown") == 0)
        return;
    (void)snprintf(name, sizeof(name), "display-%zu.%.20s", number + 1, mime_extension(mime));
    file.path = name;
    uri = mcp_files_add(g->files, &file);
    if (uri)
        (void)json_object_set_new(output, "uri", json_string(uri));
    if ((is_text || !show_picture(g, mime, data)) && uri)
        show_link(g, &file, uri, (json_int_t)json_string_length(data));
    if (!is_text || uri)
        (void)json_object_del(output, "data");
}

/* ---- the two halves of a result ---- */

/* For those who run models and not for models: several clients hand all of structuredContent to
 * one. */
static const char *const for_operators[] = { "isolation", "policy",       "risk",        "usage",
                                             "timings",   "stdout_bytes", "stderr_bytes" };

static bool is_empty(const json_t *value)
{
    return json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

/* Takes what operators want out of the result, and drops what says nothing. New. */
static json_t *split_off(json_t *result)
{
    json_t *apart = json_object(), *value;
    const char *key;
    void *next;

    for (size_t i = 0; i < ARRAY_LEN(for_operators); i++) {
        (void)json_object_set(apart, for_operators[i], json_object_get(result, for_operators[i]));
        (void)json_object_del(result, for_operators[i]);
    }
    /* A value may be empty; then it is there, and only None is told by has_value alone. */
    json_object_foreach_safe(result, next, key,
                             value) if (json_is_null(value) ||
                                        (is_empty(value) && strcmp(key, "value") != 0))(void)
        json_object_del(result, key);
    return apart;
}

json_t *content_of_run(json_t *result, struct mcp_files *files, const char *principal)
{
    json_t *entries = json_object_get(result, "files"),
           *outputs = json_object_get(result, "outputs");
    auto_free char *text = content_text(result);
    struct gathering g = { .content = json_array(), .files = files, .principal = principal };
    bool is_error = strcmp(json_string_at(result, "status", "failed"), "ok") != 0;
    json_t *apart;

    (void)json_array_append_new(g.content, text ? mcp_text(text) : NULL);
    for (size_t i = 0; i < json_array_size(outputs); i++)
        gather_output(&g, json_array_get(outputs, i), i);
    for (size_t i = 0; i < json_array_size(entries); i++)
        gather_file(&g, json_array_get(entries, i));
    apart = split_off(result);
    return json_pack("{s:o,s:o,s:b,s:{s:o}}", "content", g.content, "structuredContent", result,
                     "isError", is_error, "_meta", "glovebox/result", apart);
}

/* ---- sessions ---- */

static void put_list(struct page *p, const json_t *files)
{
    char line[64];

    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *f = json_array_get(files, i);

        put_line(p, "", json_string_at(f, "path", "?"));
        (void)snprintf(line, sizeof(line), " (%lld bytes)",
                       (long long)json_integer_value(json_object_get(f, "bytes")));
        put(p, line, strlen(line));
    }
}

static void put_part(struct page *p, const json_t *value)
{
    char line[128];

    if (json_is_true(json_object_get(value, "is_whole")))
        return;
    (void)snprintf(line, sizeof(line), "(%lld bytes from %lld on, of %lld)",
                   (long long)json_integer_value(json_object_get(value, "length")),
                   (long long)json_integer_value(json_object_get(value, "offset")),
                   (long long)json_integer_value(json_object_get(value, "bytes")));
    put_line(p, "", line);
}

/* What an operation found, in words, and in which session. The caller frees it. */
static char *op_text(const json_t *value, const char *session)
{
    const json_t *files = json_object_get(value, "files"), *text = json_object_get(value, "text");
    char *whole = NULL;
    size_t len = 0;
    struct page p = { .f = open_memstream(&whole, &len) };

    if (!p.f)
        return NULL;
    if (json_is_array(files))
        put_list(&p, files);
    put(&p, json_string_value(text), json_string_length(text));
    if (json_object_get(value, "base64"))
        put_line(&p, "", "(not text: base64 has it)");
    if (text || json_object_get(value, "base64"))
        put_part(&p, value);
    if (!p.last)
        put_line(&p, "", json_is_array(files) ? "(no files)" : text ? "(empty)" : "done");
    if (session && !text)
        put_line(&p, "session: ", session);
    if (fclose(p.f) != 0)
        free(take_ptr(whole));
    return whole;
}

json_t *content_of_op(json_t *result)
{
    auto_json json_t *whole = result;
    json_t *value = json_object_get(result, "value");
    const char *name = json_string_at(json_object_get(result, "session"), "name", NULL);
    bool is_ok = strcmp(json_string_at(result, "status", "failed"), "ok") == 0;
    auto_free char *text = is_ok ? op_text(value, name) : content_text(result);
    auto_free char *of = NULL;
    json_t *content = json_pack("[o]", mcp_text(text ? text : "failed"));
    const char *path = json_string_at(value, "path", "");
    struct gathering g = { .content = content };

    if (!is_ok)
        return json_pack("{s:o,s:b}", "content", content, "isError", 1);
    if (name && !json_object_get(value, "name") && json_is_object(value) && !*path)
        (void)json_object_set_new(value, "name", json_string(name));
    /* A file's text stands alone, so that it can be taken as it is. */
    if (name && json_object_get(value, "text") && asprintf(&of, "session: %s", name) > 0)
        (void)json_array_append_new(content, mcp_text(of));
    (void)show_picture(&g, mime_of_path(path, false), json_object_get(value, "base64"));
    return json_pack("{s:o,s:o}", "content", content, "structuredContent",
                     json_is_object(value) ? json_incref(value) : json_object());
}
