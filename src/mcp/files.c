#include "mcp/files.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"

enum {
    ID_BYTES = 12,
    ENTRY_COST = 512 /* of memory, besides the content */
};

struct entry {
    struct entry *next;
    char *uri;
    char *mime;
    char *principal;
    json_t *text, *base64;
    size_t cost;
    int64_t expires_us;
};

struct mcp_files {
    struct entry *first, **last; /* the oldest first */
    size_t bytes, bytes_max;
    int64_t ttl_us;
    struct event *on_expiry;
};

static void drop_first(struct mcp_files *f)
{
    struct entry *e = f->first;

    f->first = e->next;
    if (!f->first)
        f->last = &f->first;
    f->bytes -= e->cost;
    json_decref(e->text);
    json_decref(e->base64);
    free(e->uri);
    free(e->mime);
    free(e->principal);
    free(e);
}

/* Sleep until the oldest goes. */
static void arm(struct mcp_files *f)
{
    int64_t left = f->first ? f->first->expires_us - clock_us() : 0;
    struct timeval tv = { .tv_sec = left / 1000000, .tv_usec = left % 1000000 };

    if (f->first)
        (void)evtimer_add(f->on_expiry, &tv);
}

static void on_expiry(evutil_socket_t fd, short what, void *data)
{
    struct mcp_files *f = data;

    (void)fd;
    (void)what;
    while (f->first && f->first->expires_us <= clock_us())
        drop_first(f);
    arm(f);
}

struct mcp_files *mcp_files_new(struct event_base *base, unsigned ttl_ms, size_t bytes_max)
{
    struct mcp_files *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->last = &f->first;
    f->bytes_max = bytes_max;
    f->ttl_us = (int64_t)ttl_ms * 1000;
    f->on_expiry = evtimer_new(base, on_expiry, f);
    return f->on_expiry ? f : mcp_files_free(f);
}

struct mcp_files *mcp_files_free(struct mcp_files *files)
{
    if (!files)
        return NULL;
    while (files->first)
        drop_first(files);
    if (files->on_expiry)
        event_free(files->on_expiry);
    free(files);
    return NULL;
}

/* ---- names ---- */

static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-._~/", c);
}

static char *uri_of(const char *path)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char id[ID_BYTES];
    char *text = NULL;
    size_t len = 0;
    FILE *f = NULL;

    if (getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id))
        return NULL;
    f = open_memstream(&text, &len);
    if (!f)
        return NULL;
    fputs("glovebox://file/", f);
    for (size_t i = 0; i < sizeof(id); i++)
        (void)fprintf(f, "%c%c", digits[id[i] >> 4], digits[id[i] & 15]);
    fputc('/', f);
    for (; *path; path++)
        (void)fprintf(f, is_plain((unsigned char)*path) ? "%c" : "%%%02X", (unsigned char)*path);
    if (fclose(f) != 0)
        free(take_ptr(text));
    return text;
}

static bool is_mine(const struct entry *e, const char *principal)
{
    return !e->principal == !principal && (!principal || strcmp(e->principal, principal) == 0);
}

/* ---- keeping ---- */

static size_t cost_of(const struct mcp_file *file)
{
    return ENTRY_COST + json_string_length(file->text) + json_string_length(file->base64);
}

char *mcp_files_add(struct mcp_files *f, const struct mcp_file *file)
{
    size_t cost = cost_of(file);
    struct entry *e = cost <= f->bytes_max ? calloc(1, sizeof(*e)) : NULL;
    auto_free char *uri = e ? uri_of(file->path) : NULL;
    char *kept = uri ? strdup(uri) : NULL;

    if (!kept) {
        free(e);
        return NULL;
    }
    while (f->bytes + cost > f->bytes_max)
        drop_first(f);
    *e = (struct entry){ .uri = kept,
                         .mime = strdup(file->mime),
                         .principal = file->principal ? strdup(file->principal) : NULL,
                         .text = json_incref(file->text),
                         .base64 = json_incref(file->base64),
                         .cost = cost,
                         .expires_us = clock_us() + f->ttl_us };
    *f->last = e;
    f->last = &e->next;
    f->bytes += cost;
    arm(f);
    return take_ptr(uri);
}

json_t *mcp_files_read(struct mcp_files *f, const char *uri, const char *principal)
{
    for (const struct entry *e = f->first; e; e = e->next) {
        if (strcmp(e->uri, uri) != 0 || !is_mine(e, principal) || e->expires_us <= clock_us())
            continue;
        return json_pack("{s:s,s:s?,s:O}", "uri", uri, "mimeType", e->mime,
                         e->text ? "text" : "blob", e->text ? e->text : e->base64);
    }
    return NULL;
}

json_t *mcp_files_complete(const struct mcp_files *f, const char *prefix, size_t max,
                           const char *principal)
{
    json_t *found = json_array();

    for (const struct entry *e = f->first; e && json_array_size(found) < max; e = e->next)
        if (is_mine(e, principal) && strncmp(e->uri, prefix, strlen(prefix)) == 0)
            (void)json_array_append_new(found, json_string(e->uri));
    return found;
}

/* ---- types ---- */

const char *mime_of_path(const char *path, bool is_text)
{
    static const char *const types[][2] = {
        { "csv", "text/csv" },
        { "gif", "image/gif" },
        { "gz", "application/gzip" },
        { "html", "text/html" },
        { "jpeg", "image/jpeg" },
        { "jpg", "image/jpeg" },
        { "json", "application/json" },
        { "md", "text/markdown" },
        { "mp3", "audio/mpeg" },
        { "parquet", "application/vnd.apache.parquet" },
        { "pdf", "application/pdf" },
        { "png", "image/png" },
        { "py", "text/x-python" },
        { "svg", "image/svg+xml" },
        { "tsv", "text/tab-separated-values" },
        { "txt", "text/plain" },
        { "wav", "audio/wav" },
        { "webp", "image/webp" },
        { "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
        { "xml", "application/xml" },
        { "zip", "application/zip" },
    };
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < ARRAY_LEN(types); i++)
        if (strcasecmp(dot + 1, types[i][0]) == 0)
            return types[i][1];
    return is_text ? "text/plain" : "application/octet-stream";
}
