#include "engine/docket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/own.h"
#include "base/walk.h"
#include "engine/manifest.h"
#include "engine/session_files.h"

enum {
    TITLE_MAX = 4200,
    FILES_MAX_LOOKED =
        40000,            /* more than a box has inodes, where it has a file system of its own */
    FILES_BYTES = 1 << 20 /* of all changed files together */
};

static int fail_over(const char *what, struct gb_err *err)
{
    (void)gb_fail(err, GB_E_LIMIT, 0,
                  "%s of this session that nobody has read are too much to show", what);
    return gb_fail_hint(err, "reset the session, or begin another, and do it in smaller steps");
}

/* ---- what ran ---- */

void docket_clear(struct docket *d)
{
    json_decref(take_ptr(d->parts));
    d->bytes = 0;
    d->is_over = false;
    d->now = walk_free(d->now);
    d->read = walk_free(d->read);
}

void docket_done(struct docket *d)
{
    docket_clear(d);
}

int docket_copy(struct docket *d, const struct docket *from, struct gb_err *err)
{
    d->parts = from->parts ? json_copy(from->parts) : NULL;
    d->bytes = from->bytes;
    d->is_over = from->is_over;
    return from->parts && !d->parts ? gb_fail(err, GB_E_SYSTEM, 0, "memory ran out") : 0;
}

void docket_add(struct docket *d, json_t *parts)
{
    size_t bytes = manifest_bytes(parts);

    if (!d->parts)
        d->parts = json_array();
    if (parts && !d->is_over && bytes <= DOCKET_MAX - d->bytes &&
        json_array_size(d->parts) + json_array_size(parts) <= DOCKET_PARTS_MAX &&
        json_array_extend(d->parts, parts) == 0) {
        d->bytes += bytes;
    } else {
        d->is_over = true;
        json_decref(take_ptr(d->parts));
    }
    json_decref(parts);
}

/* ---- files ---- */

static bool is_known(struct walk *known, const struct walk_entry *e, size_t *at)
{
    size_t n = 0;
    const struct walk_entry *list = known ? walk_sorted(known, &n) : NULL;

    while (*at < n && strcmp(list[*at].path, e->path) < 0)
        (*at)++;
    return *at < n && strcmp(list[*at].path, e->path) == 0 && list[*at].mode == e->mode &&
           stamp_same(&list[*at].stamp, &e->stamp);
}

/* Is it there as a request brought it? What was brought is kept, whatever became of it since: it
 * may have been executed, and replaced by something harmless. */
static bool is_as_brought(const struct docket *d, const char *path, const json_t *text)
{
    for (size_t i = 0; i < json_array_size(d->parts); i++) {
        const json_t *part = json_array_get(d->parts, i);
        const char *title = json_string_at(part, "title", ""), *at = strstr(title, ": file ");

        if (at && strcmp(at + strlen(": file "), path) == 0 &&
            json_equal(json_shared(json_object_get(part, "text")), json_shared(text)))
            return true;
    }
    return false;
}

static int add_file(const struct docket *d, struct manifest *to, const struct place_ground *ground,
                    const struct walk_entry *e, struct gb_err *err)
{
    const char *odd = walk_odd(e);
    auto_free char *bytes = NULL;
    char title[TITLE_MAX];
    ssize_t len;

    (void)snprintf(title, sizeof(title), "changed file %s", e->path);
    if (e->why)
        return fail_over("directories that are shut, or files below them,", err);
    if (odd) /* a socket, say: nothing that could be imported */
        return manifest_add(to, title, odd, strlen(odd), LINES_SHELL, err);
    len = session_files_bytes(ground, e->path, to->max - to->bytes, &bytes, err);
    if (len == SESSION_FILES_MORE)
        return fail_over("changed files", err);
    if (len < 0 || manifest_add(to, title, bytes, (size_t)len, LINES_EITHER, err) < 0)
        return -1;
    size_t last = json_array_size(to->parts) - 1;
    if (is_as_brought(d, e->path, json_object_get(json_array_get(to->parts, last), "text")))
        (void)json_array_remove(to->parts, last);
    return 0;
}

/* What differs from what was read. */
static int add_files(struct docket *d, const struct place_ground *ground, struct manifest *to,
                     struct gb_err *err)
{
    const struct walk_entry *list;
    size_t n, at = 0;

    d->now = session_files_look(ground, FILES_MAX_LOOKED);
    if (!d->now || walk_was_cut(d->now) != WALK_WHOLE)
        return fail_over("files", err);
    list = walk_sorted(d->now, &n);
    for (size_t i = 0; i < n; i++) {
        if (is_known(d->read, &list[i], &at))
            continue;
        if (json_array_size(to->parts) >= DOCKET_PARTS_MAX)
            return fail_over("changed files", err);
        if (add_file(d, to, ground, &list[i], err) < 0)
            return -1;
    }
    return 0;
}

json_t *docket_unread(struct docket *d, const struct place_ground *ground, struct gb_err *err)
{
    struct manifest to = { .max = FILES_BYTES };

    d->now = walk_free(d->now);
    if (d->is_over) {
        (void)fail_over("cells and commands", err);
        return NULL;
    }
    to.parts = d->parts ? json_copy(d->parts) : json_array();
    if (!ground || add_files(d, ground, &to, err) == 0)
        return to.parts;
    json_decref(to.parts);
    return NULL;
}

/* ---- a yes ---- */

static bool is_same(struct walk *a, struct walk *b)
{
    size_t n_a = 0, n_b = 0, at = 0;
    const struct walk_entry *list = walk_sorted(a, &n_a);

    (void)walk_sorted(b, &n_b);
    for (size_t i = 0; i < n_a; i++)
        if (!is_known(b, &list[i], &at))
            return false;
    return n_a == n_b;
}

bool docket_agree(struct docket *d, const struct place_ground *ground)
{
    struct walk *shown = take_ptr(d->now),
                *now = ground ? session_files_look(ground, FILES_MAX_LOOKED) : NULL;
    bool is_shown = !ground || (shown && now && is_same(shown, now));

    (void)walk_free(now);
    if (is_shown) {
        json_decref(take_ptr(d->parts));
        d->bytes = 0;
        (void)walk_free(d->read);
        d->read = take_ptr(shown);
    }
    (void)walk_free(shown);
    return is_shown;
}

void docket_see(struct docket *d, const struct place_ground *ground)
{
    struct walk *now = session_files_look(ground, FILES_MAX_LOOKED);

    if (!now || walk_was_cut(now) != WALK_WHOLE) { /* then all of it is to be read again */
        (void)walk_free(now);
        now = NULL;
    }
    (void)walk_free(d->read);
    d->read = now;
}
