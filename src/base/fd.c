#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/own.h"

struct iovec fd_piece(const void *data, size_t len)
{
    union {
        const void *in;
        void *out;
    } cast = { .in = data };

    return (struct iovec){ .iov_base = cast.out, .iov_len = len };
}

static ssize_t send_pieces(int sock, struct iovec *pieces, size_t n_pieces, const int *fds,
                           size_t n_fds)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int) * FD_PASS_MAX)];
    } control = { 0 };
    struct msghdr msg = { .msg_iov = pieces, .msg_iovlen = n_pieces };
    ssize_t n;

    if (n_fds > FD_PASS_MAX)
        return -EINVAL;
    if (n_fds > 0) {
        msg.msg_control = control.space;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
    }
    do
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

ssize_t fd_send_some(int sock, const void *data, size_t len, const int *fds, size_t n_fds)
{
    struct iovec one = fd_piece(data, len);

    return send_pieces(sock, &one, 1, fds, n_fds);
}

int fd_send(int sock, const void *data, size_t len, const int *fds, size_t n_fds)
{
    ssize_t n = fd_send_some(sock, data, len, fds, n_fds);

    return n < 0 ? (int)n : (size_t)n == len ? 0 : -EMSGSIZE;
}

int fd_send_both(int sock, const void *head, size_t head_len, const void *data, size_t len,
                 const int *fds, size_t n_fds)
{
    struct iovec two[] = { fd_piece(head, head_len), fd_piece(data, len) };
    ssize_t n = send_pieces(sock, two, 2, fds, n_fds);

    if (n < (ssize_t)head_len)
        return n < 0 ? (int)n : -EMSGSIZE;
    n -= (ssize_t)head_len;
    return fd_send_all(sock, (const char *)data + n, len - (size_t)n);
}

/* write(), or on a socket send(), which raises no SIGPIPE. */
static int put_all(int fd, const void *data, size_t len, bool is_socket)
{
    for (size_t done = 0; done < len;) {
        const char *rest = (const char *)data + done;
        ssize_t n =
            is_socket ? send(fd, rest, len - done, MSG_NOSIGNAL) : write(fd, rest, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        done += (size_t)n;
    }
    return 0;
}

int fd_send_all(int sock, const void *data, size_t len)
{
    return put_all(sock, data, len, true);
}

int fd_write_all(int fd, const void *data, size_t len)
{
    return put_all(fd, data, len, false);
}

/* Keep what fits into fds, close the rest. */
static void collect_fds(struct msghdr *msg, int *fds, size_t *n_fds)
{
    size_t room = *n_fds, got = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (got < room)
                fds[got++] = fd;
            else
                (void)close(fd);
        }
    }
    *n_fds = got;
}

ssize_t fd_recv(int sock, void *data, size_t len, int *fds, size_t *n_fds)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int) * FD_PASS_MAX)];
    } control = { 0 };
    struct iovec iov = { .iov_base = data, .iov_len = len };
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.space,
                          .msg_controllen = sizeof(control.space) };
    size_t none = 0;
    ssize_t n;

    do
        n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    collect_fds(&msg, fds, n_fds ? n_fds : &none);
    return n;
}

static int sealed(const char *name, const void *data, size_t len, int seals)
{
    auto_close int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    char path[64];
    int ro, e;

    if (fd < 0)
        return -errno;
    e = fd_write_all(fd, data, len);
    if (e < 0)
        return e;
    if (fcntl(fd, F_ADD_SEALS, seals) < 0)
        return -errno;
    /* Reopened, so that the description is read-only and its offset is zero. */
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ro = open(path, O_RDONLY | O_CLOEXEC);
    return ro < 0 ? -errno : ro;
}

int fd_sealed(const char *name, const void *data, size_t len)
{
    return sealed(name, data, len, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

int fd_lent(const char *name, const void *data, size_t len)
{
    return sealed(name, data, len, F_SEAL_SEAL | F_SEAL_GROW | F_SEAL_WRITE);
}

void fd_take_back(int *fd)
{
    auto_close int writable = -1;
    char path[64];

    if (*fd < 0)
        return;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
    writable = open(path, O_WRONLY | O_CLOEXEC);
    if (writable >= 0)
        (void)!ftruncate(writable, 0);
    (void)close(take_fd(fd));
}

int fd_read_all(int fd, void *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = read(fd, (char *)data + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EPIPE;
        done += (size_t)n;
    }
    return 0;
}

ssize_t fd_slurp_at(int dirfd, const char *path, char *data, size_t max)
{
    auto_close int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
    size_t done = 0;

    if (fd < 0)
        return -errno;
    while (done < max) {
        ssize_t n = read(fd, data + done, max - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    data[done] = '\0';
    return (ssize_t)done;
}

int fd_write_file_at(int dirfd, const char *path, const char *text)
{
    auto_close int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);

    return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

int fd_open_subdir(int dirfd, const char *name, bool unlock)
{
    auto_close int path = -1;
    char self[64];

    if (!unlock)
        return openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    path = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (path < 0)
        return -1;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
    (void)chmod(self, 0700);
    return openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open2(int dirfd, const char *path, const struct open_how *how)
{
    int fd;

    do
        fd = (int)syscall(SYS_openat2, dirfd, path, how, sizeof(*how));
    while (fd < 0 && (errno == EINTR || errno == EAGAIN)); /* the latter: something was renamed */
    return fd < 0 ? -errno : fd;
}

int fd_open_plain_dir(const char *path)
{
    struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                            .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

    return open2(AT_FDCWD, path, &how);
}

int fd_open_beneath(int dirfd, const char *path, int flags, unsigned mode)
{
    struct open_how how = { .flags = (unsigned)(flags | O_CLOEXEC),
                            .mode = mode,
                            .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                       RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV };

    return open2(dirfd, path, &how);
}

int fd_open_parent(int dirfd, const char *path, const char **ret_name)
{
    int at = fcntl(dirfd, F_DUPFD_CLOEXEC, 3);
    const char *slash;

    if (at < 0)
        return -errno;
    while ((slash = strchr(path, '/'))) {
        size_t len = (size_t)(slash - path);
        char part[NAME_MAX + 1];
        int next;

        if (len >= sizeof(part)) {
            (void)close(at);
            return -ENAMETOOLONG;
        }
        memcpy(part, path, len);
        part[len] = '\0';
        next = mkdirat(at, part, 0755) < 0 && errno != EEXIST
                   ? -errno
                   : fd_open_beneath(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
        (void)close(at);
        if (next < 0)
            return next;
        at = next;
        path = slash + 1;
    }
    *ret_name = path;
    return at;
}

/* Remove what can be removed at once; the first directory that is not empty, opened, or -1. No more
 * than the budget, which is 0 then. */
static int sweep(int dirfd, size_t *budget)
{
    int copy = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), below = -1;
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);

    if (!dir) {
        gb_closep(&copy);
        return -1;
    }
    for (struct dirent *e = readdir(dir); e && below < 0 && *budget > 0; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        --*budget;
        if (unlinkat(dirfd, e->d_name, 0) < 0 && unlinkat(dirfd, e->d_name, AT_REMOVEDIR) < 0)
            below = fd_open_subdir(dirfd, e->d_name, true);
    }
    (void)closedir(dir);
    return below;
}

static bool is_same(int a, int b)
{
    struct stat x, y;

    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* One directory deeper each time it meets one, back up by "..": the depth costs no stack and no
 * descriptors, so a tree of any depth can be removed. Every process that could move a directory
 * away meanwhile is dead by then. Meeting again the one that was just left means that it cannot be
 * removed; then the rest stays too. */
void fd_empty_begin(struct fd_emptying *e, int dirfd)
{
    *e = (struct fd_emptying){ .here = fcntl(dirfd, F_DUPFD_CLOEXEC, 3), .left = -1 };
    (void)fchmod(dirfd, 0700);
}

bool fd_empty_step(struct fd_emptying *e, size_t *budget)
{
    while (e->here >= 0) {
        int next = sweep(e->here, budget);

        if (next < 0 && *budget == 0)
            return false;
        if (next >= 0 && e->left >= 0 && is_same(next, e->left)) {
            (void)close(next);
            break;
        }
        gb_closep(&e->left);
        e->left = -1;
        if (next >= 0) {
            e->depth++;
            (void)close(e->here);
        } else if (e->depth > 0) {
            e->depth--;
            next = openat(e->here, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            e->left = e->here;
        } else {
            break;
        }
        e->here = next;
    }
    return true;
}

void fd_empty_done(struct fd_emptying *e)
{
    gb_closep(&e->left);
    gb_closep(&e->here);
}

void fd_empty_dir(int dirfd)
{
    struct fd_emptying e;
    size_t all = SIZE_MAX;

    fd_empty_begin(&e, dirfd);
    (void)fd_empty_step(&e, &all);
    fd_empty_done(&e);
}
