#include "http/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"

static const char log_hint[] = "the server's log says more";

/* Kinds of errors that are about the host, and what is said of them instead. Others are about the
 * request; a kind that is not listed is about the host. */
static const struct {
    const char *type;
    const char *message; /* NULL: its own */
} kinds[] = {
    { "invalid", NULL },
    { "limit", NULL },
    { "gone", NULL },
    { "busy", NULL },
    { "no_isolation", "this server cannot hold programs in a box" },
    { "no_interpreter", "this server has no interpreter for this" },
    { "audit", "this server cannot record what it runs" },
    { "protocol", "the server could not understand one of its parts" },
};

/* Paths that a client knows: those of the server, and those of a box. */
static const char *const known_paths[] = { "/v1", "/mcp", "/workspace", "/mnt" };

static const char *message_for(const char *type, const char *own)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].type, type) == 0)
            return kinds[i].message ? kinds[i].message : own;
    return "the server could not run this";
}

/* ---- paths ---- */

static bool is_known_path(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(known_paths); i++) {
        size_t len = strlen(known_paths[i]);

        if (strncmp(path, known_paths[i], len) == 0 && strchr("/ ,;:)'\"", path[len]))
            return true; /* or at its end */
    }
    return false;
}

/* Does a path of the host begin here? What is before the slash decides: "1/2" is none. */
static bool is_path(const char *text, const char *at)
{
    return *at == '/' && at[1] && !strchr(" /'\".,;)", at[1]) &&
           (at == text || strchr(" '\"(:=[<", at[-1])) && !is_known_path(at);
}

/* The text without its paths, which the caller frees. A path ends where a quote does, or a word. */
static char *without_paths(const char *text)
{
    char *cut = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&cut, &len);
    const char *at = text;

    if (!f)
        return NULL;
    while (*at) {
        if (!is_path(text, at)) {
            (void)fputc(*at++, f);
            continue;
        }
        (void)fputs("(a path)", f);
        at += strcspn(at, at > text && at[-1] == '\''  ? "'"
                          : at > text && at[-1] == '"' ? "\""
                                                       : " ,;:)");
    }
    return fclose(f) == 0 ? cut : NULL;
}

static void put_text(json_t *object, const char *key, const char *text)
{
    auto_free char *cut = without_paths(text);

    (void)json_object_set_new(object, key, json_lossy(cut ? cut : ""));
}

/* ---- results ---- */

/* Members beside the error that say what went wrong on the host. */
static const char *const notes[] = { "audit_error" };

/* What was kept of output lies on the host: its name is enough to ask for it. */
static void name_spilled(json_t *result)
{
    json_t *spill = json_object_get(result, "spill"), *stream;
    const char *key;

    json_object_foreach (spill, key, stream) {
        const char *path = json_string_value(json_object_get(stream, "path"));
        const char *slash = path ? strrchr(path, '/') : NULL;

        if (slash)
            (void)json_object_set_new(stream, "path", json_lossy(slash + 1));
        if (json_string_value(json_object_get(stream, "error")))
            put_text(stream, "error", json_string_value(json_object_get(stream, "error")));
    }
}

char *remote_censor(json_t *result)
{
    json_t *error = json_object_get(result, "error");
    auto_free char *type = strdup(json_string_at(error, "type", ""));
    auto_free char *own = strdup(json_string_at(error, "message", ""));
    auto_free char *hint = strdup(json_string_at(error, "hint", ""));
    const char *message = type && own ? message_for(type, own) : "";
    char *said = NULL;

    name_spilled(result);
    for (size_t i = 0; i < ARRAY_LEN(notes); i++)
        if (json_string_value(json_object_get(result, notes[i])))
            put_text(result, notes[i], json_string_value(json_object_get(result, notes[i])));
    if (!json_is_object(error) || strcmp(json_string_at(result, "status", ""), "failed") != 0)
        return NULL;
    put_text(error, "message", message);
    put_text(error, "hint", message == own && hint ? hint : log_hint);
    if (own && type && strcmp(json_string_at(error, "message", ""), own) != 0 &&
        asprintf(&said, "%s: %s%s%s", type, own, hint && *hint ? "; " : "", hint ? hint : "") < 0)
        return NULL;
    return said;
}
