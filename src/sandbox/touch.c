/*
 * A path is resolved freely, since absolute names, links and ".." are all legitimate, and what it
 * leads to is pinned by a descriptor. Then the kernel is asked where that lies, and the call is
 * made on it: what was looked at is what is changed, whatever becomes of the path. A hard link to a
 * file elsewhere would be in the wrong place; Landlock does not let a guest make one.
 */
#include "sandbox/touch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "base/own.h"
#include "sandbox/landlock.h"

/* ---- where it lies ---- */

/* The path of what is open, as the kernel knows it; false if it has none that fits. */
static bool path_of(int fd, char ret[static PATH_MAX])
{
    char name[64];
    ssize_t n;

    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    n = readlink(name, ret, PATH_MAX);
    if (n <= 0 || n >= PATH_MAX)
        return false;
    ret[n] = '\0';
    return ret[0] == '/';
}

static bool is_below(const char *path, const char *place)
{
    size_t len = strlen(place);

    return strncmp(path, place, len) == 0 && (path[len] == '/' || !path[len]);
}

static bool may_write(const struct plan *plan, int scratch, const char *path)
{
    uint64_t all = landlock_write_access() & plan->landlock_fs;
    char own[PATH_MAX];

    if (path_of(scratch, own) && is_below(path, own))
        return true;
    for (size_t i = 0; i < plan->n_rules; i++) /* no link lies in the path of a mount */
        if (plan->rules[i].is_mount && (plan->rules[i].access & all) == all &&
            is_below(path, plan->rules[i].path))
            return true;
    return false;
}

static bool is_below_target(const char *path, const char *place)
{
    auto_close int fd = open(place, O_PATH | O_CLOEXEC);
    char real[PATH_MAX];

    return fd >= 0 && path_of(fd, real) && is_below(path, real);
}

/* Also a link on the way to such a place. */
static bool may_read(const struct plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->n_rules; i++)
        if (is_below(path, plan->rules[i].path) || is_below(plan->rules[i].path, path))
            return true;
    for (size_t i = 0; i < plan->n_rules; i++)
        if (is_below_target(path, plan->rules[i].path))
            return true;
    return false;
}

/* ---- what is meant ---- */

struct target {
    int dir; /* of the caller's */
    char path[PATH_MAX];
};

/* "/proc/self/fd/3" would be init's own. */
static void take_for_descriptor(struct target *t)
{
    static const char *const places[] = { "/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/" };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *number = t->path + strlen(places[i]);
        char *end;
        long fd;

        if (strncmp(t->path, places[i], strlen(places[i])) != 0)
            continue;
        fd = strtol(number, &end, 10);
        if (end == number || *end || fd < 0 || fd > INT_MAX)
            return;
        t->dir = (int)fd;
        t->path[0] = '\0';
        return;
    }
}

/* A NULL means the descriptor itself, for the calls that take one, and so does an empty path
 * where it may be. */
static int read_target(const struct notice *n, int dir, uint64_t path, bool may_be_empty,
                       struct target *ret)
{
    int e;

    ret->dir = dir;
    ret->path[0] = '\0';
    if (path == 0)
        return dir == AT_FDCWD ? -EFAULT : 0;
    e = notice_read_path(n, path, ret->path, sizeof(ret->path));
    return e == 0 && !ret->path[0] && !may_be_empty ? -ENOENT : e;
}

static int open_writable(const struct plan *plan, int scratch, const struct notice *n,
                         struct target *t, int flags)
{
    char where[PATH_MAX];
    int fd;

    take_for_descriptor(t);
    fd = notice_open(n, t->dir, t->path, flags);
    if (fd < 0)
        return fd;
    if (path_of(fd, where) && may_write(plan, scratch, where) && notice_is_valid(n))
        return fd;
    (void)close(fd);
    return -EPERM;
}

/* ---- the calls ---- */

struct context {
    const struct plan *plan;
    int scratch;
    const struct notice *n;
};

static int change_mode(const struct context *c, struct target *t, uint64_t mode)
{
    auto_close int fd = -1;
    char name[64];

    if ((mode & (S_ISUID | S_ISGID)) != 0) /* who executes it on the host gets its owner's rights */
        return -EPERM;
    fd = open_writable(c->plan, c->scratch, c->n, t, 0);
    if (fd < 0)
        return fd;
    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    return fchmodat(AT_FDCWD, name, mode & 07777, 0) < 0 ? -errno : 0;
}

static int change_times(const struct context *c, struct target *t, const struct timespec *times,
                        int flags)
{
    auto_close int fd = open_writable(c->plan, c->scratch, c->n, t,
                                      (flags & AT_SYMLINK_NOFOLLOW) != 0 ? O_NOFOLLOW : 0);

    if (fd < 0)
        return fd;
    return syscall(SYS_utimensat, fd, "", times, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

enum {
    MICROSECONDS = 1000,
    NANOSECONDS = 1
};

/* Two times as the calls have them: seconds, and parts that take so many nanoseconds each. Parts
 * that are none (UTIME_NOW, UTIME_OMIT) the kernel understands. */
static int read_times(const struct notice *n, uint64_t at, long unit, struct timespec ret[2])
{
    struct {
        int64_t seconds, parts;
    } given[2];
    int e = notice_read(n, at, given, sizeof(given));

    for (size_t i = 0; i < 2 && e == 0; i++) {
        if (unit != NANOSECONDS && (given[i].parts < 0 || given[i].parts >= 1000000))
            return -EINVAL;
        ret[i] =
            (struct timespec){ .tv_sec = given[i].seconds, .tv_nsec = (long)given[i].parts * unit };
    }
    return e;
}

static int do_times(const struct context *c, int dir, uint64_t path, uint64_t at, long unit,
                    int flags)
{
    struct timespec times[2];
    struct target t;
    int e = read_target(c->n, dir, path, (flags & AT_EMPTY_PATH) != 0, &t);

    if (e == 0 && at != 0)
        e = read_times(c->n, at, unit, times);
    return e < 0 ? e : change_times(c, &t, at != 0 ? times : NULL, flags);
}

#ifdef SYS_utime
static int do_utime(const struct context *c)
{
    struct utimbuf given;
    struct timespec times[2];
    struct target t;
    uint64_t at = c->n->args[1];
    int e = read_target(c->n, AT_FDCWD, c->n->args[0], false, &t);

    if (e == 0 && at != 0)
        e = notice_read(c->n, at, &given, sizeof(given));
    if (e < 0)
        return e;
    if (at != 0) {
        times[0] = (struct timespec){ .tv_sec = given.actime };
        times[1] = (struct timespec){ .tv_sec = given.modtime };
    }
    return change_times(c, &t, at != 0 ? times : NULL, 0);
}
#endif

static int do_mode(const struct context *c, int dir, uint64_t path, uint64_t mode)
{
    struct target t;
    int e = read_target(c->n, dir, path, false, &t);

    return e < 0 ? e : change_mode(c, &t, mode);
}

/* What a process may ask /proc about itself, by name. */
static ssize_t read_own_link(const struct notice *n, const char *path, char *ret, size_t size)
{
    static const char *const places[] = { "/proc/self/", "/proc/thread-self/" };
    static const char *const names[] = { "exe", "cwd", "root" };
    char real[64];

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *name = path + strlen(places[i]);

        if (strncmp(path, places[i], strlen(places[i])) != 0)
            continue;
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            if (strcmp(name, names[k]) != 0)
                continue;
            (void)snprintf(real, sizeof(real), "/proc/%d/%s", n->tid, names[k]);
            ssize_t len = readlink(real, ret, size);
            return len < 0 ? -errno : len;
        }
    }
    return -EACCES;
}

static ssize_t read_link(const struct context *c, struct target *t, char *ret, size_t size)
{
    char where[PATH_MAX];
    auto_close int fd = -1;
    struct stat st;
    ssize_t len = read_own_link(c->n, t->path, ret, size);

    if (len != -EACCES)
        return len;
    fd = notice_open(c->n, t->dir, t->path, O_NOFOLLOW);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0 || !S_ISLNK(st.st_mode)) /* as anybody may ask */
        return t->path[0] ? -EINVAL : -ENOENT;
    if (!path_of(fd, where) || !may_read(c->plan, where))
        return -EACCES;
    len = readlinkat(fd, "", ret, size);
    return len < 0 ? -errno : len;
}

static int do_link(const struct context *c, int dir, uint64_t path, uint64_t at, uint64_t size)
{
    char text[PATH_MAX];
    struct target t;
    ssize_t len;
    int e;

    if ((int)size <= 0)
        return -EINVAL;
    e = read_target(c->n, dir, path, true, &t);
    if (e < 0)
        return e;
    len = read_link(c, &t, text, size < sizeof(text) ? size : sizeof(text));
    if (len < 0)
        return (int)len;
    if (!notice_is_valid(c->n))
        return -EINTR;
    e = notice_write(c->n, at, text, (size_t)len);
    return e < 0 ? e : (int)len;
}

static int do_call(const struct context *c)
{
    const uint64_t *a = c->n->args;

    switch (c->n->nr) {
#ifdef SYS_chmod
    case SYS_chmod:
        return do_mode(c, AT_FDCWD, a[0], a[1]);
    case SYS_utime:
        return do_utime(c);
    case SYS_utimes:
        return do_times(c, AT_FDCWD, a[0], a[1], MICROSECONDS, 0);
    case SYS_futimesat:
        return do_times(c, (int)a[0], a[1], a[2], MICROSECONDS, 0);
    case SYS_readlink:
        return do_link(c, AT_FDCWD, a[0], a[1], a[2]);
#endif
    case SYS_fchmod:
        return do_mode(c, (int)a[0], 0, a[1]);
    case SYS_fchmodat:
        return do_mode(c, (int)a[0], a[1], a[2]);
    case SYS_utimensat:
        return do_times(c, (int)a[0], a[1], a[2], NANOSECONDS, (int)a[3]);
    case SYS_readlinkat:
        return do_link(c, (int)a[0], a[1], a[2], a[3]);
    default:
        return -ENOSYS;
    }
}

void touch_answer(const struct plan *plan, int scratch, const struct notice *n)
{
    const struct context c = { plan, scratch, n };
    int e = do_call(&c);

    notice_finish(n, e < 0 ? 0 : e, e < 0 ? -e : 0);
}
