/*
 * How files are collected.
 *
 * A tree is the workspace or an rw mount. Before the program runs, the mounts are walked; after
 * everything in its box is dead, all trees are, and the two walks of each are compared. Then the
 * files that changed are gone through, one after the other, and each is taken (written out, put
 * into the result) or left out with a reason.
 *
 * The workspace cannot change any more, unless it is a session's. A mount can: other programs of
 * the host may be at work in it, and other boxes. So a file is opened below the tree's own
 * descriptor, through no link, and must be the one that the walk has seen.
 */
#include "engine/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "base/walk.h"
#include "engine/digest.h"
#include "engine/outdir.h"

enum {
    ENTRIES_MAX = 100000,   /* of a tree */
    LOOK_MAX_US = 10000000, /* for all trees, each time */
    SLICE_US = 4000,        /* of the engine's loop */
    SLICE_ENTRIES = 256,    /* between two looks at the clock */
    PIECE = 256 << 10,      /* of a file */
    READ_MAX = 16 << 20,    /* bytes of all files whose contents are looked at, each time */
};

struct tree {
    const char *name;
    int dir; /* or -1 */
    bool is_workspace;
    struct walk_eyes eyes;       /* what the program could see of it */
    bool is_live;                /* in use, by a box or by the host */
    bool is_read;                /* what is in files is looked at: see "contents" */
    struct walk *before, *after; /* or NULL */
    size_t n_before, n_after;    /* of these, entries that were compared */
    uint64_t taken;              /* bytes */
};

enum change {
    CHANGE_CREATED,
    CHANGE_MODIFIED,
    CHANGE_DELETED
};

/* A file that is not as it was. */
struct finding {
    struct tree *tree;
    const struct walk_entry *entry;
    enum change change;
};

/* The file whose content is looked at. */
struct reading {
    int fd; /* or -1 */
    uint64_t at, left;
    bool is_other; /* than the one that is known */
    bool wants_digest;
    struct digest digest;
};

/* The file that is being taken. */
struct taking {
    int fd; /* or -1 */
    uint64_t left;
    struct outfile out;
    struct gb_buf bytes;
    json_t *item; /* borrowed */
};

struct capture {
    struct event *on_slice;
    const struct settings *settings;
    int out;
    capture_done_fn *done;
    void *data;
    int64_t deadline_us;
    int64_t looked_ns; /* when it was looked at the mounts first, by the clock that files have */
    struct tree trees[1 + MOUNTS_MAX];
    size_t n_trees;
    bool (*work)(struct capture *c); /* what the slices do: true when it is done */
    size_t at;                       /* of trees, then of findings */
    struct reading reading;
    uint64_t read_left; /* bytes of files that may be read for their digests */
    struct finding *findings;
    size_t n_findings, findings_room;
    uint64_t n_omitted; /* that are not even listed */
    bool is_cut;        /* a tree was not looked at to its end */
    uint64_t taken;     /* bytes, of all trees */
    struct taking now;
    json_t *files;
};

/* ---- slices ---- */

/* Work for a while. True when it is done. */
static bool slice(struct capture *c)
{
    int64_t until = clock_us() + SLICE_US;

    while (!c->work(c))
        if (clock_us() >= until)
            return false;
    return true;
}

static void on_slice(evutil_socket_t fd, short what, void *data)
{
    static const struct timeval at_once = { 0 };
    struct capture *c = data;

    (void)fd;
    (void)what;
    if (slice(c))
        c->done(c->data);
    else
        (void)evtimer_add(c->on_slice, &at_once);
}

static bool begin(struct capture *c, bool (*work)(struct capture *), capture_done_fn *done,
                  void *data)
{
    static const struct timeval at_once = { 0 };

    c->work = work;
    c->done = done;
    c->data = data;
    c->at = 0;
    c->deadline_us = clock_us() + LOOK_MAX_US;
    c->read_left = READ_MAX;
    if (slice(c))
        return true;
    (void)evtimer_add(c->on_slice, &at_once);
    return false;
}

/* ---- looking ---- */

/* A step of one tree's walk. True when the tree is done. */
static bool look(struct capture *c, struct tree *t, struct walk **walk)
{
    if (t->dir < 0)
        return true;
    if (!*walk) {
        *walk = walk_new(t->dir, ENTRIES_MAX, !t->is_live);
        if (*walk)
            walk_as(*walk, &t->eyes);
    }
    if (!*walk || walk_step(*walk, SLICE_ENTRIES))
        return true;
    if (clock_us() > c->deadline_us)
        walk_stop(*walk, WALK_LONG);
    return false;
}

/* ---- contents ---- */

/*
 * A program that writes through a shared mapping leaves no time on a tmpfs, and on other file
 * systems only with the first write to a page. So files whose stamp is as it was are read where
 * that can matter: those that were put into the workspace are compared with what was put there;
 * those of a session's workspace, and of mounts that are a tmpfs, have a digest from the look
 * before.
 */

/* A file that its owner may not read can be read all the same once nobody needs it to be so. */
static int open_seen(const struct tree *t, const struct walk_entry *e)
{
    int fd = fd_open_beneath(t->dir, e->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    char self[64];

    if (fd != -EACCES || t->is_live)
        return fd;
    auto_close int shut = fd_open_beneath(t->dir, e->path, O_PATH | O_NOFOLLOW, 0);
    if (shut < 0)
        return shut;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", shut);
    (void)chmod(self, 0600);
    fd = open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Is it still the file that the walk has seen, and one that the program could read? */
static bool is_seen(const struct tree *t, const struct walk_entry *e, int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == e->stamp.ino &&
           st.st_dev == e->stamp.dev && walk_may_read(&t->eyes, &st);
}

/* Begin to read a file. False: there is no need to, or it cannot be. */
static bool start_reading(struct capture *c, const struct tree *t, const struct walk_entry *old,
                          const struct walk_entry *e)
{
    struct reading *r = &c->reading;
    bool is_known = old && (old->content || old->has_digest);
    uint64_t size = (uint64_t)e->stamp.size;

    *r = (struct reading){ .fd = -1, .left = size, .wants_digest = t->is_read };
    if (!S_ISREG(e->mode) || clock_us() > c->deadline_us)
        return false;
    if (r->wants_digest && size > c->read_left)
        r->wants_digest = false;
    if (!r->wants_digest && !(is_known && old->content))
        return false;
    r->fd = open_seen(t, e);
    if (r->fd < 0 || !is_seen(t, e, r->fd)) {
        gb_closep(&r->fd);
        r->fd = -1;
        return false;
    }
    c->read_left -= r->wants_digest ? size : 0;
    digest_begin(&r->digest);
    return true;
}

/* One piece. True when the file is done: the entry has its digest then, and `is_other` says
 * whether it is another content than that of `old`. */
static bool read_some(struct capture *c, const struct walk_entry *old, struct walk_entry *e)
{
    struct reading *r = &c->reading;
    auto_free char *piece = malloc(PIECE);
    size_t want = r->left < PIECE ? (size_t)r->left : PIECE;
    ssize_t n = piece && want > 0 ? read(r->fd, piece, want) : 0;

    if (n > 0) {
        if (old && old->content &&
            memcmp((const char *)old->content + r->at, piece, (size_t)n) != 0)
            r->is_other = true;
        digest_add(&r->digest, piece, r->wants_digest ? (size_t)n : 0);
        r->at += (uint64_t)n;
        r->left -= (uint64_t)n;
    }
    if (n > 0 && r->left > 0)
        return false;
    if (r->left > 0)
        r->is_other = r->is_other || old; /* shorter than it was a moment ago */
    if (r->wants_digest) {
        digest_end(&r->digest, e->digest, sizeof(e->digest));
        e->has_digest = true;
        r->is_other |=
            old && old->has_digest && memcmp(old->digest, e->digest, sizeof(e->digest)) != 0;
    }
    (void)close(take_fd(&r->fd));
    return true;
}

static bool is_tmpfs(int dir)
{
    struct statfs fs;

    return dir >= 0 && fstatfs(dir, &fs) == 0 &&
           (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* The contents of a mount before the program runs. True when the tree is done. */
static bool read_before(struct capture *c, struct tree *t)
{
    size_t n = 0;
    struct walk_entry *list = t->before && t->is_read ? walk_sorted(t->before, &n) : NULL;

    if (list && t->n_before < n &&
        ((c->reading.fd < 0 && !start_reading(c, t, NULL, &list[t->n_before])) ||
         read_some(c, NULL, &list[t->n_before])))
        t->n_before++;
    return t->n_before >= n;
}

static bool look_before(struct capture *c)
{
    struct tree *t = &c->trees[c->at];

    if (c->at < c->n_trees && (t->is_workspace || (look(c, t, &t->before) && read_before(c, t)))) {
        t->n_before = 0;
        c->at++;
    }
    return c->at == c->n_trees;
}

/* ---- comparing ---- */

static void add_finding(struct capture *c, struct finding f)
{
    if (c->n_findings == c->settings->capture_files) {
        c->n_omitted++;
        return;
    }
    if (c->n_findings == c->findings_room) {
        size_t room = c->findings_room == 0 ? 16 : c->findings_room * 2;
        struct finding *bigger = reallocarray(c->findings, room, sizeof(*bigger));
        if (!bigger) {
            c->n_omitted++;
            return;
        }
        c->findings = bigger;
        c->findings_room = room;
    }
    c->findings[c->n_findings++] = f;
}

/* What was not looked at is not known to be gone. */
static void note_gone(struct capture *c, struct tree *t, const struct walk_entry *old)
{
    if (t->after && walk_was_cut(t->after) == WALK_WHOLE && S_ISREG(old->mode))
        add_finding(c, (struct finding){ t, old, CHANGE_DELETED });
}

/* Nor is what was not seen before known to be new: there the kernel's own time tells. */
static void note_new(struct capture *c, struct tree *t, const struct walk_entry *new)
{
    if (!t->before || walk_was_cut(t->before) == WALK_WHOLE)
        add_finding(c, (struct finding){ t, new, CHANGE_CREATED });
    else if (new->stamp.ctime_ns >= c->looked_ns)
        add_finding(c, (struct finding){ t, new, CHANGE_MODIFIED });
}

static void note_both(struct capture *c, struct tree *t, const struct walk_entry *old,
                      const struct walk_entry *new, bool is_other)
{
    if (is_other || !stamp_same(&old->stamp, &new->stamp))
        add_finding(c, (struct finding){ t, new, CHANGE_MODIFIED });
}

/* The next entry that is in either walk, in the order of their paths, which both lists are in; its
 * content is read first where that is called for. True after the last. */
static bool compare_next(struct capture *c, struct tree *t)
{
    size_t n_old = 0, n_new = 0;
    struct walk_entry *olds = t->before ? walk_sorted(t->before, &n_old) : NULL;
    struct walk_entry *news = t->after ? walk_sorted(t->after, &n_new) : NULL;
    struct walk_entry *old = t->n_before < n_old ? &olds[t->n_before] : NULL;
    struct walk_entry *new = t->n_after < n_new ? &news[t->n_after] : NULL;
    int order = !new ? -1 : !old ? 1 : strcmp(old->path, new->path);

    if (!old && !new)
        return true;
    if (order < 0) {
        note_gone(c, t, old);
        t->n_before++;
        return false;
    }
    const struct walk_entry *same = order == 0 && stamp_same(&old->stamp, &new->stamp) ? old : NULL;
    if (c->reading.fd < 0 && start_reading(c, t, same, new))
        return false;
    if (c->reading.fd >= 0 && !read_some(c, same, new))
        return false;
    if (order > 0)
        note_new(c, t, new);
    else
        note_both(c, t, old, new, same && c->reading.is_other);
    t->n_before += order == 0;
    t->n_after++;
    return false;
}

static bool take_each(struct capture *c);

static bool look_after(struct capture *c)
{
    struct tree *t = &c->trees[c->at];

    if (c->at < c->n_trees && look(c, t, &t->after) && compare_next(c, t)) {
        c->is_cut |= !t->after || walk_was_cut(t->after) != WALK_WHOLE ||
                     (t->before && walk_was_cut(t->before) != WALK_WHOLE);
        c->at++;
    }
    if (c->at < c->n_trees)
        return false;
    c->work = take_each;
    c->at = 0;
    return false;
}

/* ---- taking ---- */

static void omit(json_t *item, const char *why)
{
    json_object_set_new(item, "omitted", json_string(why));
}

static void omit_errno(json_t *item, const char *what, int e)
{
    json_object_set_new(item, "omitted", json_sprintf("%s: %s", what, strerror(-e)));
}

static bool is_utf8(const char *bytes, size_t len)
{
    return utf8_first_bad(bytes, len) < 0;
}

static json_t *new_item(const struct finding *f)
{
    static const char *const changes[] = {
        [CHANGE_CREATED] = "created", [CHANGE_MODIFIED] = "modified", [CHANGE_DELETED] = "deleted"
    };
    const char *path = f->entry->path;
    json_t *item = json_pack("{s:o,s:s,s:I,s:s}", "path", json_replaced(path, strlen(path)),
                             "mount", f->tree->name, "bytes",
                             f->change == CHANGE_DELETED ? (json_int_t)0 : f->entry->stamp.size,
                             "change", changes[f->change]);

    if (!is_utf8(path, strlen(path)))
        json_object_set_new(item, "path_base64", json_base64(path, strlen(path)));
    return item;
}

/* Why a file will not be taken, whatever is in it; NULL if nothing speaks against it. */
static const char *refusal(const struct finding *f)
{
    const char *odd = walk_odd(f->entry);

    if (odd)
        return odd;
    return walk_is_foreign(f->tree->after, f->entry) ? "a hard link to a file elsewhere" : NULL;
}

/* The limit that a file of this size would pass, or NULL. */
static const char *limit_passed(const struct capture *c, const struct finding *f)
{
    const struct settings *s = c->settings;
    uint64_t size = (uint64_t)f->entry->stamp.size;

    if (size > s->capture_file_bytes)
        return "capture_file";
    if (size > s->capture_mount_bytes - f->tree->taken)
        return "capture_mount";
    return size > s->capture_total_bytes - c->taken ? "capture_total" : NULL;
}

static void omit_limit(const struct capture *c, json_t *item, const char *limit)
{
    static const struct {
        const char *limit, *of;
    } words[] = { { "capture_file", "a file" },
                  { "capture_mount", "a mount" },
                  { "capture_total", "all files" } };
    char value[32];

    settings_limit_text(c->settings, limit, value, sizeof(value));
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(words[i].limit, limit) == 0)
            json_object_set_new(item, "omitted",
                                json_sprintf("more than the %s that is captured of %s (%s)", value,
                                             words[i].of, limit));
}

static bool wants_inline(const struct capture *c)
{
    return c->settings->capture == CAPTURE_INLINE;
}

static bool wants_out(const struct capture *c, const struct finding *f)
{
    return c->out >= 0 && f->tree->is_workspace;
}

static void drop(struct taking *t)
{
    outfile_abort(&t->out);
    gb_buf_done(&t->bytes);
    if (t->fd >= 0)
        (void)close(take_fd(&t->fd));
}

static void start_taking(struct capture *c, const struct finding *f, json_t *item)
{
    struct taking *t = &c->now;
    struct stat st;
    int e;

    *t = (struct taking){ .fd = open_seen(f->tree, f->entry), .out = OUTFILE_NONE, .item = item };
    gb_buf_init(&t->bytes, c->settings->capture_file_bytes);
    if (t->fd < 0) {
        omit_errno(item, "it cannot be read", t->fd);
        t->fd = -1;
        return;
    }
    if (fstat(t->fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_ino != f->entry->stamp.ino ||
        st.st_dev != f->entry->stamp.dev || st.st_nlink != f->entry->n_links) {
        omit(item, "it changed while it was looked at");
        drop(t);
        return;
    }
    if (!walk_may_read(&f->tree->eyes, &st)) {
        omit_errno(item, "it cannot be read", -EACCES);
        drop(t);
        return;
    }
    t->left = (uint64_t)f->entry->stamp.size;
    if (!wants_out(c, f))
        return;
    e = outfile_begin(c->out, f->entry->path, (st.st_mode & S_IXUSR) != 0, &t->out);
    if (e < 0) {
        omit_errno(item, "it could not be written", e);
        drop(t);
    }
}

static void put_inline(json_t *item, const struct gb_buf *bytes)
{
    const char *data = bytes->data ? bytes->data : "";
    bool is_text = !memchr(data, '\0', bytes->len) && is_utf8(data, bytes->len);

    json_object_set_new(item, is_text ? "text" : "base64",
                        is_text ? json_stringn(data, bytes->len) : json_base64(data, bytes->len));
}

static void end_taking(struct capture *c, const struct finding *f)
{
    struct taking *t = &c->now;
    int e = t->out.dir >= 0 ? outfile_commit(&t->out) : 0;

    if (e < 0)
        omit_errno(t->item, "it could not be written", e);
    else if (wants_inline(c))
        put_inline(t->item, &t->bytes);
    drop(t);
    f->tree->taken += (uint64_t)f->entry->stamp.size;
    c->taken += (uint64_t)f->entry->stamp.size;
}

/* One piece. True when the file is done. What it has grown by meanwhile is not taken. */
static bool take_piece(struct capture *c, const struct finding *f)
{
    struct taking *t = &c->now;
    size_t want = t->left < PIECE ? (size_t)t->left : PIECE;
    auto_free char *piece = malloc(PIECE);
    struct gb_err err;
    ssize_t n = piece ? read(t->fd, piece, want) : -1;
    int e = 0;

    if (n < 0) {
        omit_errno(t->item, "it cannot be read", -errno);
        drop(t);
        return true;
    }
    if (n == 0 && t->left > 0) { /* half of it under its name would be a lie */
        omit(t->item, "it changed while it was looked at");
        drop(t);
        return true;
    }
    t->left -= (uint64_t)n;
    if (t->out.fd >= 0)
        e = fd_write_all(t->out.fd, piece, (size_t)n);
    if (e < 0 || (wants_inline(c) && gb_buf_add(&t->bytes, piece, (size_t)n, &err) < 0)) {
        omit_errno(t->item, "it could not be written", e < 0 ? e : -ENOMEM);
        drop(t);
        return true;
    }
    if (t->left > 0)
        return false;
    end_taking(c, f);
    return true;
}

/* Begin with a file. True when there is nothing to be taken of it. */
static bool take(struct capture *c, const struct finding *f)
{
    json_t *item = new_item(f);
    const char *why = f->change == CHANGE_DELETED ? NULL : refusal(f), *limit;

    json_array_append_new(c->files, item);
    if (why)
        omit(item, why);
    if (why || f->change == CHANGE_DELETED || (!wants_inline(c) && !wants_out(c, f)))
        return true;
    limit = limit_passed(c, f);
    if (limit) {
        omit_limit(c, item, limit);
        return true;
    }
    start_taking(c, f, item);
    return c->now.fd < 0;
}

static bool take_each(struct capture *c)
{
    if (c->at == c->n_findings)
        return true;

    const struct finding *f = &c->findings[c->at];
    if (c->now.fd >= 0 ? take_piece(c, f) : take(c, f))
        c->at++;
    return c->at == c->n_findings;
}

/* ---- life ---- */

/* An engine that is root sees more than the program did, which was the directory's owner there.
 * What the program could only move is not to reach anybody by that. */
static struct walk_eyes eyes_for(int dir)
{
    struct stat st;

    if (geteuid() != 0 || fstat(dir, &st) < 0)
        return (struct walk_eyes){ 0 };
    return (struct walk_eyes){ true, st.st_uid, st.st_gid };
}

struct capture *capture_new(const struct capture_spec *spec)
{
    struct capture *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->settings = spec->settings;
    c->out = spec->out;
    c->now = (struct taking){ .fd = -1, .out = OUTFILE_NONE };
    c->reading.fd = -1;
    c->files = json_array();
    c->on_slice = evtimer_new(spec->base, on_slice, c);
    c->trees[c->n_trees++] = (struct tree){ .name = "workspace", .dir = -1, .is_workspace = true };
    for (size_t i = 0; spec->mounts && i < spec->mounts->n; i++) {
        const struct mount *m = &spec->mounts->list[i];
        int dir = m->is_rw ? fd_open_plain_dir(m->host) : -1;

        if (m->is_rw)
            c->trees[c->n_trees++] = (struct tree){ .name = m->name,
                                                    .dir = dir < 0 ? -1 : dir,
                                                    .is_live = true,
                                                    .is_read = is_tmpfs(dir),
                                                    .eyes = eyes_for(dir) };
    }
    return c->on_slice && c->files ? c : capture_free(c);
}

bool capture_before(struct capture *c, capture_done_fn *done, void *data)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    c->looked_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return begin(c, look_before, done, data);
}

bool capture_after(struct capture *c, const struct capture_ground *ground, capture_done_fn *done,
                   void *data)
{
    struct tree *t = &c->trees[0];

    t->dir = ground->dir;
    t->is_live = t->is_read = ground->is_live; /* a session's: there will be another look */
    t->before = ground->before;
    if (!t->before && ground->n_files > 0) {
        t->before = walk_new(-1, ground->n_files, false);
        if (t->before)
            walk_stop(t->before, WALK_WHOLE);
    }
    for (size_t i = 0; t->before && i < ground->n_files; i++) {
        const struct workspace_file *f = &ground->files[i];
        struct walk_entry *e = walk_note(t->before, f->path, &f->stamp);

        if (e && (uint64_t)f->stamp.size == f->bytes)
            e->content = f->data;
    }
    return begin(c, look_after, done, data);
}

struct walk *capture_take_after(struct capture *c)
{
    return take_ptr(c->trees[0].after);
}

void capture_tell(struct capture *c, json_t *result)
{
    char reason[96];

    json_object_set(result, "files", c->files);
    if (c->n_omitted == 0 && !c->is_cut)
        return;
    if (c->n_omitted > 0)
        (void)snprintf(reason, sizeof(reason), "only %zu files are listed (capture_files)",
                       c->n_findings);
    else
        (void)snprintf(reason, sizeof(reason), "there was more than could be looked at");
    json_object_set_new(result, "files_omitted",
                        json_pack("{s:I,s:b,s:s}", "count", (json_int_t)c->n_omitted, "is_exact",
                                  !c->is_cut, "reason", reason));
}

struct capture *capture_free(struct capture *c)
{
    if (!c)
        return NULL;
    if (c->on_slice)
        event_free(c->on_slice);
    drop(&c->now);
    gb_closep(&c->reading.fd);
    for (size_t i = 0; i < c->n_trees; i++) {
        gb_closep(&c->trees[i].dir);
        (void)walk_free(c->trees[i].before);
        (void)walk_free(c->trees[i].after);
    }
    free(c->findings);
    json_decref(c->files);
    free(c);
    return NULL;
}
