#include "engine/files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

bool files_is_path(const char *path)
{
    size_t total = strlen(path);

    if (total == 0 || total >= PATH_MAX)
        return false;
    for (const char *part = path;; part++) {
        size_t len = strcspn(part, "/");

        if (len == 0 || len > NAME_MAX || (len == 1 && part[0] == '.') ||
            (len == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        part += len;
        if (*part == '\0')
            return true;
    }
}

static int decode(const char *path, const json_t *value, char **ret, uint64_t *ret_len,
                  struct gb_err *err)
{
    const json_t *text = json_object_get(value, "base64");
    uint64_t len = json_string_length(text);
    char *bytes = json_is_string(text) && json_object_size(value) == 1 ? malloc(len + 1) : NULL;

    if (bytes)
        memcpy(bytes, json_string_value(text), len);
    if (bytes && base64_decode(bytes, &len)) {
        *ret = bytes;
        *ret_len = len;
        return 0;
    }
    free(bytes);
    return gb_fail(err, GB_E_INVALID, 0,
                   "files: '%.80s' must be a string, or an object with 'base64'", path);
}

static int check_depth(struct request_files *f, const char *path, struct gb_err *err)
{
    size_t depth = 0;

    for (const char *at = path; *at; at++)
        depth += *at == '/';
    f->n_directories += depth;
    if (depth > FILES_DEPTH_MAX)
        return gb_fail(err, GB_E_LIMIT, 0, "files: '%.80s' is more than %d directories deep", path,
                       FILES_DEPTH_MAX);
    if (f->n_directories > FILES_DIRECTORIES_MAX)
        return gb_fail(err, GB_E_LIMIT, 0, "files: more than %d directories in all paths",
                       FILES_DIRECTORIES_MAX);
    return 0;
}

static int read_one(struct request_files *f, const char *path, const json_t *value,
                    struct gb_err *err)
{
    struct workspace_file *file = &f->list[f->n];
    uint64_t len = json_string_length(value);

    if (!files_is_path(path))
        return gb_fail(err, GB_E_INVALID, 0,
                       "files: '%.80s' is not a path below the workspace: relative, without '.' "
                       "and '..'",
                       path);
    if (check_depth(f, path, err) < 0)
        return -1;
    file->path = path;
    if (json_is_string(value)) {
        file->data = json_string_value(value);
    } else {
        if (decode(path, value, &f->owned[f->n], &len, err) < 0)
            return -1;
        file->data = f->owned[f->n];
    }
    file->bytes = len;
    f->n++;
    f->bytes += len;
    return f->bytes <= FILES_BYTES_MAX
               ? 0
               : gb_fail(err, GB_E_LIMIT, 0, "files: more than %d MiB", FILES_BYTES_MAX >> 20);
}

int files_read(json_t *value, struct request_files *ret, struct gb_err *err)
{
    size_t n = json_object_size(value);
    const char *path;
    json_t *content;

    if (!json_is_object(value))
        return gb_fail(err, GB_E_INVALID, 0,
                       "files: must be an object: what is in each, by its path");
    if (n > FILES_MAX)
        return gb_fail(err, GB_E_LIMIT, 0, "files: more than %d", FILES_MAX);
    files_done(ret);
    ret->list = calloc(n + 1, sizeof(*ret->list));
    ret->owned = calloc(n + 1, sizeof(*ret->owned));
    if (!ret->list || !ret->owned)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the request");
    json_object_foreach (value, path, content)
        if (read_one(ret, path, content, err) < 0)
            return -1;
    return 0;
}

void files_done(struct request_files *f)
{
    for (size_t i = 0; f->owned && i < f->n; i++)
        free(f->owned[i]);
    free(f->owned);
    free(f->list);
    *f = (struct request_files){ 0 };
}
