#include "backend/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"

/* Written a second ago, by its times: what the program does to it in the same tick of the clock
 * shows all the same. */
static int age(int fd, struct stamp *ret)
{
    struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
    struct stat st;

    (void)clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec--;
    times[1].tv_nsec = 0;
    if (futimens(fd, times) < 0 || fstat(fd, &st) < 0)
        return -errno;
    *ret = stamp_of(&st);
    return 0;
}

static int put(int dir, struct workspace_file *f)
{
    const char *name = NULL;
    auto_close int parent = fd_open_parent(dir, f->path, &name), fd = -1;
    int e;

    if (parent < 0)
        return parent;
    fd = fd_open_beneath(parent, name, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd == -EEXIST && unlinkat(parent, name, 0) == 0) /* of an earlier cell of a session */
        fd = fd_open_beneath(parent, name, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0)
        return fd;
    e = fd_write_all(fd, f->data, f->bytes);
    return e < 0 ? e : age(fd, &f->stamp);
}

/* Only the box's own user exists on its file system. For this thread alone we become it, and root
 * reads no more than it could. */
static void be_owner(uid_t uid, gid_t gid)
{
    if (geteuid() != 0)
        return;
    (void)setfsgid(gid);
    (void)setfsuid(uid);
}

static void be_oneself(void)
{
    if (geteuid() != 0)
        return;
    (void)setfsuid(geteuid());
    (void)setfsgid(getegid());
}

/* Whose fault it is that a file could not be put there: of what was asked for, of a limit, or of
 * the host. */
static enum gb_code blame(int e)
{
    static const int asked[] = { -ENOTDIR, -EISDIR, -EEXIST, -ENAMETOOLONG, -ELOOP };

    for (size_t i = 0; i < ARRAY_LEN(asked); i++)
        if (asked[i] == e)
            return GB_E_INVALID;
    return e == -ENOSPC ? GB_E_LIMIT : GB_E_SYSTEM;
}

int workspace_put(int dir, uid_t uid, gid_t gid, struct workspace_file *files, size_t n,
                  struct gb_err *err)
{
    int e = 0;

    if (n == 0)
        return 0;
    be_owner(uid, gid);
    for (size_t i = 0; i < n && e == 0; i++) {
        e = put(dir, &files[i]);
        if (e < 0)
            (void)gb_fail(err, blame(e), -e, "putting '%.100s' into the workspace", files[i].path);
    }
    be_oneself();
    return e < 0 ? -1 : 0;
}

int workspace_open(int dir, uid_t uid, gid_t gid, const char *path, struct gb_err *err)
{
    struct stat st;
    int fd;

    be_owner(uid, gid);
    fd = fd_open_beneath(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    be_oneself();
    if (fd < 0)
        return gb_fail(err, GB_E_INVALID, -fd, "path: opening '%.100s' in the workspace", path);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1)
        return fd;
    (void)close(fd);
    return gb_fail(err, GB_E_INVALID, 0, "path: '%.100s' is no file, or has another name elsewhere",
                   path);
}
