#include "engine/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"

int outdir_open(const char *path, struct gb_err *err)
{
    int fd;

    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return gb_fail(err, GB_E_SYSTEM, errno, "out: making %.150s", path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? gb_fail(err, GB_E_SYSTEM, errno, "out: opening %.150s", path) : fd;
}

int outfile_begin(int out, const char *path, bool is_executable, struct outfile *ret)
{
    struct outfile f = OUTFILE_NONE;
    uint64_t number = 0;

    f.dir = fd_open_parent(out, path, &f.name);
    if (f.dir < 0)
        return f.dir;
    (void)!getrandom(&number, sizeof(number), GRND_NONBLOCK);
    (void)snprintf(f.temp, sizeof(f.temp), ".glovebox-%016" PRIx64, number);
    f.fd = openat(f.dir, f.temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  is_executable ? 0777 : 0666);
    if (f.fd < 0) {
        int e = -errno;
        (void)close(f.dir);
        return e;
    }
    *ret = f;
    return 0;
}

int outfile_commit(struct outfile *f)
{
    /* A full disk may only show now. */
    int e = close(take_fd(&f->fd)) < 0 ? -errno : 0;

    /* A link of that name is replaced, not followed. */
    if (e == 0 && renameat(f->dir, f->temp, f->dir, f->name) < 0)
        e = -errno;
    if (e < 0)
        (void)unlinkat(f->dir, f->temp, 0);
    (void)close(take_fd(&f->dir));
    return e;
}

void outfile_abort(struct outfile *f)
{
    if (f->dir < 0)
        return;
    (void)unlinkat(f->dir, f->temp, 0);
    (void)close(take_fd(&f->fd));
    (void)close(take_fd(&f->dir));
}
