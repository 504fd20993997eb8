#include "engine/session_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "base/piece.h"
#include "base/walk.h"

static int check_ground(const struct place_ground *ground, struct gb_err *err)
{
    if (ground->dir >= 0)
        return 0;
    return gb_fail(err, GB_E_INVALID, 0, "the session's workspace cannot be reached");
}

/* ---- what lies there ---- */

static json_t *entry_json(const struct walk_entry *e)
{
    const char *odd = walk_odd(e);
    size_t len = strlen(e->path);
    int64_t modified_ms = e->stamp.mtime_ns / 1000000;
    json_t *item =
        json_pack("{s:o,s:I,s:f}", "path", json_replaced(e->path, len), "bytes",
                  (json_int_t)(odd ? 0 : e->stamp.size), "modified", (double)modified_ms / 1000);

    if (odd)
        json_object_set_new(item, "omitted", json_string(odd));
    if (utf8_first_bad(e->path, len) >= 0)
        json_object_set_new(item, "path_base64", json_base64(e->path, len));
    return item;
}

struct walk *session_files_look(const struct place_ground *ground, size_t max)
{
    struct walk *walk = ground->dir >= 0 ? walk_new(ground->dir, max, false) : NULL;

    while (walk && !walk_step(walk, max))
        ;
    return walk;
}

json_t *session_files_list(const struct place_ground *ground, struct gb_err *err)
{
    struct walk_eyes eyes = { geteuid() == 0, ground->uid, ground->gid };
    const struct walk_entry *list;
    json_t *files;
    struct walk *walk;
    bool is_whole;
    size_t n;

    if (check_ground(ground, err) < 0)
        return NULL;
    walk = walk_new(ground->dir, SESSION_FILES_MAX, false);
    if (!walk) {
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "looking into the workspace");
        return NULL;
    }
    walk_as(walk, &eyes);
    while (!walk_step(walk, SESSION_FILES_MAX))
        ;
    is_whole = walk_was_cut(walk) == WALK_WHOLE;
    list = walk_sorted(walk, &n);
    files = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(files, entry_json(&list[i]));
    (void)walk_free(walk);
    return json_pack("{s:o,s:b}", "files", files, "is_whole", is_whole);
}

/* ---- what is in a file ---- */

/* Bytes from `at` on, as many as there are or fit. */
static ssize_t read_piece(int fd, char *bytes, size_t max, off_t at)
{
    size_t len = 0;
    ssize_t n = 1;

    while (len < max && n > 0) {
        n = pread(fd, bytes + len, max - len, at + (off_t)len);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            len += (size_t)n;
    }
    return n < 0 ? -errno : (ssize_t)len;
}

json_t *session_files_read(const struct place_ground *ground, const struct request *r,
                           struct gb_err *err)
{
    size_t max = r->length > 0 ? (size_t)r->length : SESSION_READ;
    auto_close int fd = -1;
    auto_free char *bytes = NULL;
    struct stat st;
    ssize_t n;

    if (check_ground(ground, err) < 0)
        return NULL;
    fd = workspace_open(ground->dir, ground->uid, ground->gid, r->path, err);
    if (fd < 0)
        return NULL;
    bytes = malloc(max);
    n = bytes && fstat(fd, &st) == 0 ? read_piece(fd, bytes, max, (off_t)r->offset) : -ENOMEM;
    if (n < 0) {
        (void)gb_fail(err, GB_E_SYSTEM, (int)-n, "path: reading '%.100s'", r->path);
        return NULL;
    }
    return piece_json(r->path, bytes, (size_t)n, (uint64_t)r->offset, (uint64_t)st.st_size);
}

ssize_t session_files_bytes(const struct place_ground *ground, const char *path, size_t max,
                            char **ret, struct gb_err *err)
{
    auto_close int fd = workspace_open(ground->dir, ground->uid, ground->gid, path, err);
    struct stat st;
    size_t size;
    ssize_t n;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "reading '%.100s' of the workspace", path);
    size = (size_t)st.st_size;
    if (size > max)
        return SESSION_FILES_MORE;
    *ret = malloc(size + 1);
    n = *ret ? read_piece(fd, *ret, size + 1, 0) : -ENOMEM;
    if (n > (ssize_t)size) /* it grows meanwhile */
        return SESSION_FILES_MORE;
    return n < 0 ? gb_fail(err, GB_E_SYSTEM, (int)-n, "reading '%.100s' of the workspace", path)
                 : n;
}
