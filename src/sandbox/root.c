/*
 * How the private root is made.
 *
 * One tmpfs, size-limited, is the whole file system of the box. Its root is made read-only at the
 * end; the directories that the guest may write (OP_OWN) are mounted onto themselves before that,
 * so they stay writable and share the one size limit. Pieces of the host are detached copies
 * (open_tree) made read-only before they are attached: at no time is there a writable view, but of
 * what was asked for as writable (OP_MOUNT_RW).
 *
 * The sources are opened first, as the engine's own user and before the new root covers anything:
 * an interpreter may live below a directory that only that user can enter, or below /tmp.
 */
#include "sandbox/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"

/* glibc's <sys/mount.h> has these calls since 2.36 and clashes with <linux/mount.h> in older
 * headers; the raw calls work with both. */
static int open_tree_(int dirfd, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, dirfd, path, flags);
}

static int move_mount_(int from, int to_dir, const char *to)
{
    return (int)syscall(SYS_move_mount, from, "", to_dir, to, MOVE_MOUNT_F_EMPTY_PATH);
}

static int mount_attr(int fd, uint64_t set, unsigned flags)
{
    struct mount_attr attr = { .attr_set = set };

    return (int)syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | flags, &attr, sizeof(attr));
}

enum {
    PARENT_MAX = 512
};

/* ---- sources ---- */

static int source_open(const struct plan_op *op, struct gb_err *err)
{
    uint64_t set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    auto_close int fd =
        open_tree_(AT_FDCWD, op->source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

    if (fd < 0 && op->optional && (errno == ENOENT || errno == EACCES))
        return -1;
    if (fd < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "opening %s for the box", op->source);
    if (op->kind == OP_DEVICE)
        set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
    if (mount_attr(fd, set, AT_RECURSIVE) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "making %s read-only", op->source);
    return take_fd(&fd);
}

/* What was asked for by name: it must be there, and no link may lie in its path, which was resolved
 * when it was asked for. */
static int mount_open(const struct plan_op *op, struct gb_err *err)
{
    uint64_t set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    auto_close int dir = fd_open_plain_dir(op->source), fd = -1;

    if (dir < 0) {
        (void)gb_fail(err, GB_E_SYSTEM, -dir, "opening the mount %s", op->source);
        return gb_fail_hint(err, "was it moved, or replaced by a link?");
    }
    fd = open_tree_(dir, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
    if (fd < 0 ||
        mount_attr(fd, set | (op->kind == OP_MOUNT_RO ? MOUNT_ATTR_RDONLY : 0), AT_RECURSIVE) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "mounting %s", op->source);
    return take_fd(&fd);
}

int root_open_sources(const struct plan *plan, const int *mounts, size_t n_mounts,
                      struct root_sources *ret, struct gb_err *err)
{
    size_t used = 0;

    if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "making the mounts private");
    for (size_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];

        ret->fds[i] = -1;
        if (op->kind != OP_BIND && op->kind != OP_DEVICE && !plan_op_is_mount(op))
            continue;
        err->code = GB_OK;
        if (!plan_op_is_mount(op))
            ret->fds[i] = source_open(op, err);
        else
            ret->fds[i] = used < n_mounts ? mounts[used++] : mount_open(op, err);
        if (ret->fds[i] < 0 && err->code != GB_OK)
            return -1;
    }
    return 0;
}

/* ---- the new root ---- */

static int tmpfs_new(const struct plan *plan, struct gb_err *err)
{
    auto_close int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
    char size[32], inodes[32];
    int fd;

    if (fs < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "opening a tmpfs");
    (void)snprintf(size, sizeof(size), "%llu", (unsigned long long)plan->tmpfs_bytes);
    (void)snprintf(inodes, sizeof(inodes), "%llu", (unsigned long long)plan->tmpfs_inodes);
    if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "size", size, 0) < 0 ||
        syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "nr_inodes", inodes, 0) < 0 ||
        syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
        syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "configuring a tmpfs");
    fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (fd < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "making a tmpfs");
    /* It must hang somewhere before things can be mounted on it: on any directory that every host
     * has. Only this mount namespace sees that. */
    if (move_mount_(fd, AT_FDCWD, "/usr") < 0) {
        (void)gb_fail(err, GB_E_NO_ISOLATION, errno, "attaching the new root");
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Make the directories above `path`. Most things lie beside the one that came before. */
static int make_parents(int root, const char *path, char made[static PARENT_MAX])
{
    const char *last = strrchr(path, '/');
    size_t above = last ? (size_t)(last - path) : 0;
    char part[PARENT_MAX];

    if (above == strlen(made) && memcmp(path, made, above) == 0)
        return 0;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t len = (size_t)(slash - path);
        if (len == 0 || len >= sizeof(part))
            return len == 0 ? -EINVAL : -ENAMETOOLONG;
        memcpy(part, path, len);
        part[len] = '\0';
        if (mkdirat(root, part, 0755) < 0 && errno != EEXIST)
            return -errno;
        memcpy(made, part, len + 1);
    }
    return 0;
}

static int make_file(int root, const char *path, const char *text)
{
    auto_close int fd = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (fd < 0)
        return errno == EEXIST ? 0 : -errno;
    return fd_write_all(fd, text, strlen(text));
}

static int make_dir(int root, const char *path, mode_t mode)
{
    return mkdirat(root, path, mode) < 0 && errno != EEXIST ? -errno : 0;
}

static int do_bind(int root, const struct plan_op *op, int source)
{
    struct stat st;
    int e;

    if (source < 0)
        return 0;
    if (fstat(source, &st) < 0)
        return -errno;
    e = S_ISDIR(st.st_mode) ? make_dir(root, op->target, 0755) : make_file(root, op->target, "");
    if (e < 0)
        return e;
    return move_mount_(source, root, op->target) < 0 ? -errno : 0;
}

static int do_own(int root, const struct plan_op *op)
{
    int e = make_dir(root, op->target, 0700);
    auto_close int fd = -1;

    if (e < 0)
        return e;
    fd = open_tree_(root, op->target, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fd < 0 || move_mount_(fd, root, op->target) < 0)
        return -errno;
    return 0;
}

/* A new instance of one of the kernel's own file systems. */
static int do_kernel_fs(int root, const struct plan_op *op, const char *type, const char *ptmxmode)
{
    auto_close int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
    auto_close int fd = -1;
    int e = make_dir(root, op->target, 0555);

    if (e < 0)
        return e;
    if (fs < 0 ||
        (ptmxmode && syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "ptmxmode", ptmxmode, 0) < 0) ||
        syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -errno;
    fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
                      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | (ptmxmode ? 0 : MOUNT_ATTR_NODEV));
    if (fd < 0 || move_mount_(fd, root, op->target) < 0)
        return -errno;
    return 0;
}

static int op_do(int root, const struct plan_op *op, int source, char made[static PARENT_MAX])
{
    int e = make_parents(root, op->target, made);

    if (e < 0)
        return e;
    switch (op->kind) {
    case OP_DIR:
        return make_dir(root, op->target, 0755);
    case OP_FILE:
        return make_file(root, op->target, op->source);
    case OP_SYMLINK:
        return symlinkat(op->source, root, op->target) < 0 && errno != EEXIST ? -errno : 0;
    case OP_BIND:
    case OP_DEVICE:
    case OP_MOUNT_RO:
    case OP_MOUNT_RW:
        return do_bind(root, op, source);
    case OP_OWN:
        return do_own(root, op);
    case OP_PROC:
        return do_kernel_fs(root, op, "proc", NULL);
    case OP_PTS:
        return do_kernel_fs(root, op, "devpts", "0666");
    }
    return -EINVAL;
}

int root_enter(const struct plan *plan, struct root_sources *sources, struct gb_err *err)
{
    auto_close int root = tmpfs_new(plan, err);
    char made[PARENT_MAX] = "";

    if (root < 0)
        return -1;
    for (size_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];
        int e = op_do(root, op, sources->fds[i], made);

        if (sources->fds[i] >= 0)
            (void)close(take_fd(&sources->fds[i]));
        if (e < 0 && !(op->kind == OP_DEVICE && op->optional)) /* nothing there to be covered */
            return gb_fail(err, GB_E_NO_ISOLATION, -e, "making /%s in the box's root", op->target);
    }
    if (mount_attr(root, MOUNT_ATTR_RDONLY, 0) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "making the box's root read-only");
    /* The second "." stacks the old root onto the new one's mount point. */
    if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "entering the box's root");
    return 0;
}

int root_leave_host(struct gb_err *err)
{
    if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "leaving the host's root");
    return 0;
}
