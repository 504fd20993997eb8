#include "base/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"

enum {
    PATHS_MAX = 8 << 20 /* bytes of all paths that are held: a path alone may have four thousand */
};

/* As the kernel writes it. */
struct kernel_dirent {
    uint64_t ino;
    int64_t off;
    unsigned short len;
    unsigned char type;
    char name[];
};

struct walk {
    int root;
    bool unlock;
    struct walk_eyes eyes;
    enum walk_cut cut;
    size_t max;
    struct walk_entry *list;
    size_t n, room;
    size_t n_sorted; /* of them, in the order of their paths */
    size_t bytes;    /* of the paths of `list` and `queue` */
    char **queue;    /* directories that were met and not looked into; the first is at `head` */
    size_t head, n_queue, queue_room;
    int dir; /* the one that is being read, or -1 */
    char *path;
    size_t path_len;
    size_t at, have; /* in `buffer` */
    _Alignas(8) char buffer[32 << 10];
};

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

bool dir_is_empty(int dir)
{
    _Alignas(8) char buffer[1024];
    long n = syscall(SYS_getdents64, dir, buffer, sizeof(buffer));
    bool is_empty = true;

    for (long at = 0; at < n && is_empty;) {
        const struct kernel_dirent *e = (const void *)(buffer + at);
        is_empty = is_dots(e->name);
        at += e->len;
    }
    /* Of two names there is no second piece. */
    if (lseek(dir, 0, SEEK_SET) < 0)
        return false;
    return n >= 0 && is_empty;
}

struct walk *walk_new(int dir, size_t entries_max, bool unlock)
{
    struct walk *w = malloc(sizeof(*w)); /* most of it is a buffer, not to be cleared */

    if (!w)
        return NULL;
    memset(w, 0, offsetof(struct walk, buffer));
    w->root = dir;
    w->dir = -1;
    w->max = entries_max;
    w->unlock = unlock;
    w->queue = malloc(sizeof(*w->queue));
    w->queue_room = 1;
    if (w->queue)
        w->queue[w->n_queue++] = strdup("");
    return w;
}

void walk_as(struct walk *w, const struct walk_eyes *eyes)
{
    w->eyes = *eyes;
}

void walk_stop(struct walk *w, enum walk_cut why)
{
    w->cut = why;
    while (w->head < w->n_queue)
        free(w->queue[w->head++]);
    if (w->dir >= 0)
        (void)close(take_fd(&w->dir));
}

enum walk_cut walk_was_cut(const struct walk *w)
{
    return w->cut;
}

/* ---- what is found ---- */

static void *grown(void *list, size_t *room, size_t item)
{
    size_t more = *room == 0 ? 16 : *room * 2;
    void *bigger = reallocarray(list, more, item);

    if (bigger)
        *room = more;
    return bigger;
}

/* Is there room for one more path? */
static bool has_room(struct walk *w, const char *path)
{
    w->bytes += strlen(path) + 1;
    return w->bytes <= PATHS_MAX;
}

/* Takes the entry's path, also when it cannot be kept. */
static int add_entry(struct walk *w, struct walk_entry entry)
{
    if (entry.path && w->n == w->room) {
        struct walk_entry *bigger = grown(w->list, &w->room, sizeof(*w->list));
        if (bigger)
            w->list = bigger;
    }
    if (!entry.path || w->n == w->room || w->n == w->max || !has_room(w, entry.path)) {
        free(entry.path);
        walk_stop(w, WALK_MANY);
        return -1;
    }
    w->list[w->n++] = entry;
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct walk_entry *)a)->path, ((const struct walk_entry *)b)->path);
}

static void sort(struct walk *w)
{
    if (w->n_sorted < w->n)
        qsort(w->list, w->n, sizeof(*w->list), by_path);
    w->n_sorted = w->n;
}

/* Where in the order the path is, or belongs. */
static size_t position(const struct walk *w, const char *path)
{
    size_t low = 0, high = w->n_sorted;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(w->list[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct walk_entry *walk_note(struct walk *w, const char *path, const struct stamp *stamp)
{
    struct walk_entry entry = { .mode = S_IFREG, .n_links = 1, .stamp = *stamp };
    size_t at;

    sort(w);
    at = position(w, path);
    if (at < w->n && strcmp(w->list[at].path, path) == 0) {
        entry.path = w->list[at].path;
        w->list[at] = entry;
        return &w->list[at];
    }
    entry.path = strdup(path);
    if (add_entry(w, entry) < 0)
        return NULL;
    memmove(&w->list[at + 1], &w->list[at], (w->n - 1 - at) * sizeof(*w->list));
    w->list[at] = entry;
    w->n_sorted = w->n;
    return &w->list[at];
}

/* Takes the path. */
static void add_dir(struct walk *w, char *path)
{
    if (path && w->n_queue == w->queue_room) {
        char **bigger = grown(w->queue, &w->queue_room, sizeof(*w->queue));
        if (bigger)
            w->queue = bigger;
    }
    if (!path || w->n_queue == w->queue_room || w->n_queue == w->max || !has_room(w, path)) {
        free(path);
        walk_stop(w, WALK_MANY);
        return;
    }
    w->queue[w->n_queue++] = path;
}

/* ---- one directory after the other ---- */

static const char *why_not(int e)
{
    switch (e) {
    case -EXDEV:
        return "another file system is mounted there";
    case -ENAMETOOLONG:
        return "its path is too long";
    case -EACCES:
    case -EPERM:
        return "a directory that cannot be read";
    default:
        return "a directory that could not be opened";
    }
}

static int open_dir(const struct walk *w, const char *path)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    struct stat st;
    int fd;

    if (!*path && w->unlock)
        (void)fchmod(w->root, 0700); /* nothing can be reached by its name through a shut one */
    path = *path ? path : ".";
    fd = fd_open_beneath(w->root, path, flags, 0);

    if (fd == -EACCES && w->unlock) {
        auto_close int shut = fd_open_beneath(w->root, path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
        char self[64];

        (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", shut);
        if (shut >= 0 && chmod(self, 0700) == 0)
            fd = fd_open_beneath(w->root, path, flags, 0);
    }
    if (fd >= 0 && w->eyes.is_limited && (fstat(fd, &st) < 0 || !walk_may_read(&w->eyes, &st))) {
        (void)close(fd);
        return -EACCES;
    }
    return fd;
}

/* The next directory, or the end. */
static bool next_dir(struct walk *w)
{
    free(w->path);
    w->path = NULL;
    if (w->head == w->n_queue)
        return false;
    w->path = w->queue[w->head++];
    w->path_len = w->path ? strlen(w->path) : 0;
    w->bytes -= w->path_len > 0 ? w->path_len + 1 : 0; /* the first was not counted */
    w->dir = w->path ? open_dir(w, w->path) : -ENOMEM;
    w->at = w->have = 0;
    if (w->dir < 0 && w->dir != -ENOENT) /* in a mount it may be gone by now */
        (void)add_entry(w,
                        (struct walk_entry){ .path = take_ptr(w->path), .why = why_not(w->dir) });
    if (w->dir < 0)
        w->dir = -1;
    return true;
}

static char *joined(const struct walk *w, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s%s%s", w->path, w->path_len > 0 ? "/" : "", name) < 0 ? NULL : path;
}

static void look_at(struct walk *w, const struct kernel_dirent *d)
{
    struct stat st;

    if (is_dots(d->name) || d->type == DT_LNK ||
        fstatat(w->dir, d->name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(st.st_mode))
        return;
    if (S_ISDIR(st.st_mode))
        add_dir(w, joined(w, d->name));
    else
        (void)add_entry(w, (struct walk_entry){ .path = joined(w, d->name),
                                                .mode = st.st_mode,
                                                .n_links = st.st_nlink,
                                                .stamp = stamp_of(&st) });
}

/* False at the end of the directory. */
static bool next_entry(struct walk *w)
{
    if (w->at >= w->have) {
        long n = syscall(SYS_getdents64, w->dir, w->buffer, sizeof(w->buffer));
        if (n < 0)
            walk_stop(w, WALK_MANY); /* what is behind it was not seen */
        if (n <= 0)
            return false;
        w->at = 0;
        w->have = (size_t)n;
    }
    const struct kernel_dirent *d = (const void *)(w->buffer + w->at);
    w->at += d->len;
    look_at(w, d);
    return true;
}

bool walk_step(struct walk *w, size_t n)
{
    while (n-- > 0) {
        if (w->dir < 0 && !next_dir(w))
            return true;
        if (w->dir >= 0 && !next_entry(w) && w->dir >= 0)
            (void)close(take_fd(&w->dir));
    }
    return w->dir < 0 && w->head == w->n_queue;
}

/* ---- the whole ---- */

struct walk_entry *walk_sorted(struct walk *w, size_t *ret_n)
{
    sort(w);
    *ret_n = w->n;
    return w->list;
}

bool walk_is_foreign(const struct walk *w, const struct walk_entry *e)
{
    uint64_t met = 0;

    if (!S_ISREG(e->mode) || e->n_links < 2)
        return false;
    for (size_t i = 0; i < w->n; i++)
        met += w->list[i].stamp.ino == e->stamp.ino && w->list[i].stamp.dev == e->stamp.dev;
    return met < e->n_links;
}

const char *walk_odd(const struct walk_entry *e)
{
    if (e->why)
        return e->why;
    if (S_ISFIFO(e->mode))
        return "a FIFO";
    if (S_ISSOCK(e->mode))
        return "a socket";
    return S_ISREG(e->mode) ? NULL : "a device";
}

struct walk *walk_free(struct walk *w)
{
    if (!w)
        return NULL;
    walk_stop(w, w->cut);
    for (size_t i = 0; i < w->n; i++)
        free(w->list[i].path);
    free(w->list);
    free(w->queue);
    free(w->path);
    free(w);
    return NULL;
}
