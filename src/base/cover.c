#include "base/cover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

enum {
    LINKS_MAX = 40,
    ROOTS_MAX = 4096,
};

struct root {
    dev_t dev;
    ino_t ino;
};

/* Directories through which one comes into it. */
struct cover {
    struct root *list;
    size_t n, room;
    bool is_full; /* there were too many: everything is taken to lie in it */
};

/* A line of /proc/self/mountinfo. */
struct mounted {
    char device[32]; /* major:minor */
    char *root;      /* which part of its file system it is */
    char *point;     /* where */
};

struct table {
    struct mounted *list;
    size_t n, room;
};

static void table_done(struct table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->list[i].root);
        free(t->list[i].point);
    }
    free(t->list);
}

/* Room for one more; false when memory ran out. */
static bool grow(void **list, size_t n, size_t *room, size_t item)
{
    size_t more = *room ? *room * 2 : 16;
    void *bigger;

    if (n < *room)
        return true;
    bigger = reallocarray(*list, more, item);
    if (!bigger)
        return false;
    *list = bigger;
    *room = more;
    return true;
}

/* Blanks and backslashes are written as \040. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *at = text; *at; to++) {
        if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] && at[3]) {
            *to = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
            at += 4;
        } else {
            *to = *at++;
        }
    }
    *to = '\0';
}

static int table_read(struct table *t)
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    auto_free char *line = NULL;
    size_t size = 0;
    int r = 0;

    while (f && r == 0 && getline(&line, &size, f) > 0) {
        struct mounted m = { 0 };

        if (!grow((void **)&t->list, t->n, &t->room, sizeof(*t->list)))
            r = -ENOMEM;
        else if (sscanf(line, "%*d %*d %31s %ms %ms", m.device, &m.root, &m.point) == 3)
            t->list[t->n++] = m;
        else
            free(m.root); /* not a line as it should be: nothing is known of that mount */
    }
    if (f)
        (void)fclose(f);
    for (size_t i = 0; i < t->n; i++) {
        unescape(t->list[i].root);
        unescape(t->list[i].point);
    }
    return r;
}

/* What comes behind `dir` in a path that is it or is below it, with its slash; else NULL. */
static const char *below(const char *path, const char *dir)
{
    size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

    return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0') ? path + len
                                                                                   : NULL;
}

static int add_root(struct cover *c, const char *dir)
{
    struct stat st;

    if (stat(dir, &st) < 0)
        return 0; /* where we cannot look, nothing of ours is */
    if (c->n == ROOTS_MAX) {
        c->is_full = true;
        return 0;
    }
    if (!grow((void **)&c->list, c->n, &c->room, sizeof(*c->list)))
        return -ENOMEM;
    c->list[c->n++] = (struct root){ st.st_dev, st.st_ino };
    return 0;
}

/* Other places where something of this part of a file system is mounted. */
static int add_again(struct cover *c, const struct table *t, const char *device, const char *root)
{
    int r = 0;

    for (size_t i = 0; i < t->n && r == 0; i++)
        if (strcmp(t->list[i].device, device) == 0 && below(t->list[i].root, root))
            r = add_root(c, t->list[i].point);
    return r;
}

/* What a directory is on its file system: with the last of the mounts that it may be of. */
static int add_own(struct cover *c, const struct table *t, const char *dir)
{
    const struct mounted *of = NULL;
    char part[2 * PATH_MAX];

    for (size_t i = 0; i < t->n; i++)
        if (below(dir, t->list[i].point) && (!of || strlen(t->list[i].point) >= strlen(of->point)))
            of = &t->list[i];
    if (!of)
        return 0;
    (void)snprintf(part, sizeof(part), "%s%s", strcmp(of->root, "/") == 0 ? "" : of->root,
                   below(dir, of->point));
    return add_again(c, t, of->device, part[0] ? part : "/");
}

struct cover *cover_new(const char *dir)
{
    struct cover *c = calloc(1, sizeof(*c));
    struct table t = { 0 };
    int r = c ? table_read(&t) : -ENOMEM;

    if (r == 0)
        r = add_root(c, dir);
    if (r == 0)
        r = add_own(c, &t, dir);
    for (size_t i = 0; i < t.n && r == 0; i++) {
        if (!below(t.list[i].point, dir))
            continue;
        r = add_root(c, t.list[i].point);
        if (r == 0)
            r = add_again(c, &t, t.list[i].device, t.list[i].root);
    }
    table_done(&t);
    return r < 0 ? cover_free(c) : c;
}

struct cover *cover_free(struct cover *c)
{
    if (c)
        free(c->list);
    free(c);
    return NULL;
}

/* ---- looking a path up ---- */

static bool is_root(const struct cover *c, const struct stat *st)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].dev == st->st_dev && c->list[i].ino == st->st_ino)
            return true;
    return c->is_full;
}

/* Could a file have a name in it? Only on one of its file systems. */
static bool may_be_linked(const struct cover *c, const struct stat *st)
{
    for (size_t i = 0; i < c->n; i++)
        if (S_ISREG(st->st_mode) && st->st_nlink > 1 && c->list[i].dev == st->st_dev)
            return true;
    return false;
}

/* A path on its way: the directory that was reached, and what is left of it. */
struct way {
    int at;
    int links;
    char rest[2 * PATH_MAX];
};

enum where {
    GOES_ON,
    INSIDE,
    OUTSIDE
};

/* Put what a link says before what is left. */
static enum where follow(struct way *w, int link)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);
    size_t len = strlen(w->rest);

    if (n <= 0 || ++w->links > LINKS_MAX || (size_t)n + 1 + len >= sizeof(w->rest))
        return INSIDE;
    memmove(w->rest + n + 1, w->rest, len + 1);
    memcpy(w->rest, target, (size_t)n);
    w->rest[n] = '/';
    if (w->rest[0] != '/')
        return GOES_ON;
    (void)close(take_fd(&w->at));
    w->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return w->at < 0 ? INSIDE : GOES_ON;
}

/* Take the next component off what is left. Its length, 0 after the last. */
static size_t next_name(struct way *w, char name[PATH_MAX])
{
    size_t skip = strspn(w->rest, "/"), len = strcspn(w->rest + skip, "/");

    (void)snprintf(name, PATH_MAX, "%.*s", (int)len, w->rest + skip);
    memmove(w->rest, w->rest + skip + len, strlen(w->rest + skip + len) + 1);
    return len;
}

/* One component, as the kernel would. */
static enum where step(const struct cover *c, struct way *w, bool counts_links)
{
    char name[PATH_MAX];
    struct stat st;

    if (fstat(w->at, &st) < 0 || is_root(c, &st))
        return INSIDE;
    if (next_name(w, name) == 0)
        return OUTSIDE;
    auto_close int next = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) /* what is not there would lie in a directory that was looked at */
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? OUTSIDE : INSIDE;
    if (fstat(next, &st) < 0)
        return INSIDE;
    if (S_ISLNK(st.st_mode))
        return follow(w, next);
    if (!S_ISDIR(st.st_mode))
        return counts_links && may_be_linked(c, &st) ? INSIDE : OUTSIDE;
    (void)close(take_fd(&w->at));
    w->at = take_fd(&next);
    return GOES_ON;
}

static bool has(const struct cover *c, const char *path, bool counts_links)
{
    auto_free char *here = path[0] == '/' ? strdup("") : getcwd(NULL, 0);
    struct way w = { .at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) };
    enum where where = INSIDE; /* what cannot be looked at, too */

    if (w.at >= 0 && here &&
        snprintf(w.rest, sizeof(w.rest), "%s/%s", here, path) < (int)sizeof(w.rest))
        do
            where = step(c, &w, counts_links);
        while (where == GOES_ON);
    gb_closep(&w.at);
    return where == INSIDE;
}

bool cover_has(const struct cover *c, const char *path)
{
    return has(c, path, true);
}

bool cover_has_program(const struct cover *c, const char *path)
{
    return has(c, path, false);
}
