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
 *
 * With a common part (root_common()) there are two: that, made beforehand, is the root, and the
 * tmpfs holds only what the guest may write, whose directories are mounted into the other.
 */
#include "sandbox/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "sandbox/verify.h"

/* glibc's <sys/mount.h> has these calls since 2.36 and clashes with <linux/mount.h> in older
 * headers; the raw calls work with both. */
static int open_tree_(int dirfd, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, dirfd, path, flags);
}

static int move_mount_(int from, int to_dir, const char *to)
{
    if (syscall(SYS_move_mount, from, "", to_dir, to, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return -1;
    return verify_mounted(from, to_dir, to) ? 0 : -1;
}

/* Private: what the host mounts later must not come into the box, nor the other way round. */
static int mount_attr(int fd, uint64_t set, unsigned flags)
{
    struct mount_attr attr = { .attr_set = set, .propagation = MS_PRIVATE };

    return (int)syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | flags, &attr, sizeof(attr));
}

enum {
    PARENT_MAX = 512
};

static bool has_source(const struct plan_op *op)
{
    return op->kind == OP_BIND || op->kind == OP_DEVICE || plan_op_is_mount(op);
}

static bool is_own(const struct plan_op *op)
{
    return op->kind == OP_OWN || op->kind == OP_PROC || op->kind == OP_PTS;
}

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
    /* Read-only goes for the node, not for what is behind it: that can be written to. */
    if (op->kind == OP_DEVICE)
        set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
    if (mount_attr(fd, set, AT_RECURSIVE) < 0 || !verify_read_only(fd))
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
    if (op->kind == OP_MOUNT_RO)
        set |= MOUNT_ATTR_RDONLY;
    if (fd < 0 || mount_attr(fd, set, AT_RECURSIVE) < 0 ||
        (op->kind == OP_MOUNT_RO && !verify_read_only(fd)))
        return gb_fail(err, GB_E_SYSTEM, errno, "mounting %s", op->source);
    return take_fd(&fd);
}

/* Is it inside something that every box has for itself? */
static bool is_inside_own(const struct plan *plan, const struct plan_op *op)
{
    for (size_t i = 0; i < plan->n_ops; i++) {
        const char *outer = plan->ops[i].target;

        if (is_own(&plan->ops[i]) && strncmp(op->target, outer, strlen(outer)) == 0 &&
            op->target[strlen(outer)] == '/')
            return true;
    }
    return false;
}

static bool is_common(const struct plan *plan, const struct plan_op *op)
{
    return !is_own(op) && !is_inside_own(plan, op);
}

int root_open_sources(const struct plan *plan, const struct root_given *given,
                      struct root_sources *ret, struct gb_err *err)
{
    size_t used = 0;

    if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "making the mounts private");
    for (size_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];

        ret->fds[i] = -1;
        if (!has_source(op) || (given->common >= 0 && is_common(plan, op)))
            continue;
        err->code = GB_OK;
        if (!plan_op_is_mount(op))
            ret->fds[i] = source_open(op, err);
        else
            ret->fds[i] = used < given->n_mounts ? given->mounts[used++] : mount_open(op, err);
        if (ret->fds[i] < 0 && err->code != GB_OK)
            return -1;
    }
    return 0;
}

static void close_source(int *fd)
{
    if (*fd >= 0)
        (void)close(take_fd(fd));
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
    if (!verify_size(fd, plan)) {
        (void)gb_fail(err, GB_E_NO_ISOLATION, errno, "limiting the size of a tmpfs");
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* It must hang somewhere before things can be mounted on it: on any directory that every host has.
 * Only this mount namespace sees that, and what is not the root in the end goes with the host's. */
static int attach(int fd, struct gb_err *err)
{
    if (move_mount_(fd, AT_FDCWD, "/usr") < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "attaching the new root");
    return 0;
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

/* `own` is the box's tmpfs: the root itself, or one beside it. */
static int do_own(int root, int own, const struct plan_op *op)
{
    char made[PARENT_MAX] = "";
    int e = own == root ? 0 : make_parents(own, op->target, made);
    auto_close int fd = -1;

    if (e == 0)
        e = make_dir(own, op->target, 0700);
    if (e < 0)
        return e;
    fd = open_tree_(own, op->target, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fd < 0 || move_mount_(fd, root, op->target) < 0)
        return -errno;
    return 0;
}

/* How many terminals a box may have: the host has a few thousand for everybody (kernel.pty.max),
 * and keeps some of them back for its own devpts alone (kernel.pty.reserve). */
#define TERMINALS_MAX "32"

/* One of the kernel's own file systems, and how it is mounted. */
struct kernel_fs {
    const char *type;
    uint64_t attributes;
    const char *options[2][2]; /* names and values; the first without a name ends them */
};

static const struct kernel_fs proc_fs = { "proc", MOUNT_ATTR_NODEV, { { NULL } } };
static const struct kernel_fs pts_fs = { "devpts",
                                         0,
                                         { { "ptmxmode", "0666" }, { "max", TERMINALS_MAX } } };

/* A new instance of it. */
static int do_kernel_fs(int root, const struct plan_op *op, const struct kernel_fs *it)
{
    auto_close int fs = (int)syscall(SYS_fsopen, it->type, FSOPEN_CLOEXEC);
    auto_close int fd = -1;

    if (fs < 0)
        return -errno;
    for (size_t i = 0; i < ARRAY_LEN(it->options) && it->options[i][0]; i++)
        if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, it->options[i][0], it->options[i][1],
                    0) < 0)
            return -errno;
    if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -errno;
    fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
                      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | it->attributes);
    if (fd < 0 || move_mount_(fd, root, op->target) < 0)
        return -errno;
    return 0;
}

/* Where something of a box's own is mounted. */
static int make_place(int root, const struct plan_op *op)
{
    return make_dir(root, op->target, op->kind == OP_OWN ? 0700 : 0555);
}

static int op_do(int root, int own, const struct plan_op *op, int source)
{
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
        return do_own(root, own, op);
    case OP_PROC:
        return do_kernel_fs(root, op, &proc_fs);
    case OP_PTS:
        return do_kernel_fs(root, op, &pts_fs);
    }
    return -EINVAL;
}

static int op_failed(const struct plan_op *op, int e, struct gb_err *err)
{
    if (op->kind == OP_DEVICE && op->optional) /* nothing there to be covered */
        return 0;
    return gb_fail(err, GB_E_NO_ISOLATION, -e, "making /%s in the box's root", op->target);
}

/* All of it, in a tmpfs that is empty. */
static int build(int root, const struct plan *plan, struct root_sources *sources,
                 struct gb_err *err)
{
    char made[PARENT_MAX] = "";

    for (size_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];
        int e = make_parents(root, op->target, made);

        if (e == 0 && is_own(op))
            e = make_place(root, op);
        if (e == 0)
            e = op_do(root, root, op, sources->fds[i]);
        close_source(&sources->fds[i]);
        if (e < 0 && op_failed(op, e, err) < 0)
            return -1;
    }
    if (mount_attr(root, MOUNT_ATTR_RDONLY, 0) < 0 || !verify_read_only(root))
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "making the box's root read-only");
    return 0;
}

/* What is the box's own, in a root that has all else, and a place for each of these. */
static int complete(int root, int own, const struct plan *plan, struct root_sources *sources,
                    struct gb_err *err)
{
    char made[PARENT_MAX] = "";

    for (size_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];
        int e = 0;

        if (is_common(plan, op))
            continue;
        if (!is_own(op)) /* an interpreter below /tmp, say */
            e = make_parents(root, op->target, made);
        if (e == 0)
            e = op_do(root, own, op, sources->fds[i]);
        close_source(&sources->fds[i]);
        if (e < 0 && op_failed(op, e, err) < 0)
            return -1;
    }
    return 0;
}

int root_enter(const struct plan *plan, const struct root_given *given,
               struct root_sources *sources, struct gb_err *err)
{
    auto_close int common = given->common, own = tmpfs_new(plan, err);
    int root = common >= 0 ? common : own;

    /* order: the root last, so that it lies on top. The other need not hang anywhere, but when it
     * drops a mount that does not, the kernel waits for every processor. */
    if (own < 0 || attach(own, err) < 0 || (common >= 0 && attach(common, err) < 0))
        return -1;
    if (common >= 0 ? complete(root, own, plan, sources, err) < 0
                    : build(root, plan, sources, err) < 0)
        return -1;
    /* The second "." stacks the old root onto the new one's mount point. */
    if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "entering the box's root");
    return verify_root(root, err);
}

int root_leave_host(struct gb_err *err)
{
    if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "leaving the host's root");
    return verify_root_closed(err);
}

/* ---- the common part ---- */

/* What a path leads to: a source that was replaced meanwhile is another one. */
struct found {
    dev_t dev;
    ino_t ino;
};

/* The last that was made, and of what. */
static struct {
    int fd; /* -1: it cannot be made */
    size_t n_ops;
    struct plan_op ops[PLAN_OPS_MAX]; /* with strings of its own */
    struct found found[PLAN_OPS_MAX];
} last = { .fd = -1 };

static struct found find(const struct plan_op *op)
{
    struct stat st = { 0 };

    if (has_source(op))
        (void)stat(op->source, &st);
    return (struct found){ st.st_dev, st.st_ino };
}

/* Nothing is kept or allocated: what a zygote writes to is copied for it, once a box. */
static bool is_of_last(const struct plan *plan)
{
    bool is = plan->n_ops == last.n_ops;

    for (size_t i = 0; is && i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i], *was = &last.ops[i];
        struct found found = find(op);

        is = op->kind == was->kind && op->optional == was->optional &&
             found.dev == last.found[i].dev && found.ino == last.found[i].ino &&
             strcmp(op->source, was->source) == 0 && strcmp(op->target, was->target) == 0;
    }
    return is;
}

static void forget_last(void)
{
    while (last.n_ops > 0) {
        const struct plan_op *op = &last.ops[--last.n_ops];
        union {
            const char *in;
            char *out;
        } source = { .in = op->source }, target = { .in = op->target };

        free(source.out);
        free(target.out);
    }
    gb_closep(&last.fd);
    last.fd = -1;
}

/* Without memory for it there is none that could be compared. */
static bool remember(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_ops; i++) {
        struct plan_op *op = &last.ops[last.n_ops++];

        *op = plan->ops[i];
        op->source = strdup(op->source);
        op->target = strdup(op->target);
        last.found[i] = find(&plan->ops[i]);
        if (!op->source || !op->target)
            return false;
    }
    return true;
}

static int make_common_op(int root, const struct plan *plan, const struct plan_op *op,
                          char made[static PARENT_MAX], struct gb_err *err)
{
    auto_close int source = -1;
    int e;

    if (!is_own(op) && !is_common(plan, op))
        return 0; /* the box has it to do */
    err->code = GB_OK;
    source = has_source(op) ? source_open(op, err) : -1;
    if (source < 0 && err->code != GB_OK)
        return -1;
    e = make_parents(root, op->target, made);
    if (e == 0)
        e = is_own(op) ? make_place(root, op) : op_do(root, root, op, source);
    return e < 0 ? op_failed(op, e, err) : 0;
}

static int make_common(const struct plan *plan, struct gb_err *err)
{
    auto_close int root = tmpfs_new(plan, err);
    char made[PARENT_MAX] = "";

    for (size_t i = 0; i < plan->n_ops && root >= 0; i++)
        if (make_common_op(root, plan, &plan->ops[i], made, err) < 0)
            return -1;
    if (root < 0 || mount_attr(root, MOUNT_ATTR_RDONLY, 0) < 0 || !verify_read_only(root))
        return -1;
    return take_fd(&root);
}

static bool has_mounts(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_ops; i++)
        if (plan_op_is_mount(&plan->ops[i]))
            return true;
    return false;
}

/* Has anything been mounted or unmounted since this was last asked? */
static bool have_mounts_changed(void)
{
    /* The kernel tells a descriptor once: the twin of a zygote needs one of its own. */
    static int mounts = -1;
    static pid_t owner;

    if (owner != getpid()) {
        gb_closep(&mounts);
        mounts = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
        owner = getpid();
        return true;
    }
    struct pollfd p = { .fd = mounts, .events = POLLPRI };
    return mounts < 0 || poll(&p, 1, 0) != 0;
}

static void renew(const struct plan *plan)
{
    struct gb_err err = { 0 };
    mode_t mask = umask(022); /* others are to read it */

    forget_last();
    if (remember(plan))
        last.fd = make_common(plan, &err);
    else
        forget_last();
    (void)umask(mask);
}

int root_common(const struct plan *plan)
{
    if (has_mounts(plan))
        return -1;
    if (have_mounts_changed() || !is_of_last(plan))
        renew(plan);
    return last.fd < 0
               ? -1
               : open_tree_(last.fd, "",
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
}
