#include "sandbox/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "sandbox/verify.h"

#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif

/* ---- a user namespace that nobody lives in ---- */

/* Should the zygote be killed meanwhile, this must not stay, with all that it has open. */
static int wait_for_the_end(void *data)
{
    const pid_t *zygote = data;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (getppid() == *zygote) /* order: after the signal was asked for */
        (void)syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
    return 0;
}

static int write_maps(int proc, uint32_t inside[2], const uint32_t outside[2])
{
    static const char *const files[] = { "uid_map", "gid_map" };
    char line[64];
    int e = 0;

    for (size_t i = 0; i < ARRAY_LEN(files) && e == 0; i++) {
        (void)snprintf(line, sizeof(line), "%u %u 1", inside[i], outside[i]);
        e = fd_write_file_at(proc, files[i], line);
    }
    return e;
}

/* Only a process makes a namespace, so there is one for a moment. It shares our memory and sleeps
 * in a stack of its own. */
static int map_new(uint32_t owner[2], const uint32_t outside[2])
{
    static _Alignas(16) char stack[16 << 10];
    char path[64];
    int fd = -1, e;
    pid_t self = getpid();
    pid_t pid = clone(wait_for_the_end, stack + sizeof(stack), CLONE_VM | CLONE_NEWUSER, &self);

    if (pid < 0)
        return -errno;
    (void)snprintf(path, sizeof(path), "/proc/%d", pid);
    auto_close int proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    e = proc < 0 ? -errno : write_maps(proc, owner, outside);
    if (e == 0) {
        fd = openat(proc, "ns/user", O_RDONLY | O_CLOEXEC);
        e = fd < 0 ? -errno : fd;
    }
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    return e;
}

/* ---- the copies ---- */

static int set_attributes(int fd, bool is_rw, int map)
{
    struct mount_attr attr = {
        .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (is_rw ? 0U : MOUNT_ATTR_RDONLY) |
                    (map >= 0 ? MOUNT_ATTR_IDMAP : 0U),
        .propagation = MS_PRIVATE,
        .userns_fd = map >= 0 ? (unsigned)map : 0,
    };

    if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0 ||
        (!is_rw && !verify_read_only(fd)))
        return -errno;
    return 0;
}

static int refuse(const struct plan_op *op, int e, struct gb_err *err)
{
    (void)gb_fail(err, GB_E_SYSTEM, -e, "letting the box's user write to %s", op->source);
    return gb_fail_hint(err, "its file system cannot translate owners: mount it ro, or run "
                             "glovebox as the directory's owner");
}

static int mount_open(const struct plan *plan, const struct plan_op *op, struct gb_err *err)
{
    const uint32_t outside[] = { plan->outside_uid, plan->outside_gid };
    auto_close int dir = fd_open_plain_dir(op->source), fd = -1, map = -1;
    bool is_rw = op->kind == OP_MOUNT_RW;
    struct stat st;
    int e;

    if (dir < 0 || fstat(dir, &st) < 0)
        return gb_fail(err, GB_E_SYSTEM, dir < 0 ? -dir : errno, "opening the mount %s",
                       op->source);
    fd = (int)syscall(SYS_open_tree, dir, "",
                      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
    if (fd < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "opening the mount %s", op->source);
    map = map_new((uint32_t[]){ st.st_uid, st.st_gid }, outside);
    e = map < 0 ? map : set_attributes(fd, is_rw, map);
    if (e < 0 && is_rw)
        return refuse(op, e, err);
    if (e < 0)
        e = set_attributes(fd, false, -1); /* what anybody may read is what there is to read */
    return e < 0 ? gb_fail(err, GB_E_SYSTEM, -e, "making %s read-only", op->source) : take_fd(&fd);
}

int idmap_open(const struct plan *plan, struct idmap_mounts *ret, struct gb_err *err)
{
    ret->n = 0;
    if (plan->level != LEVEL_NAMESPACES || !plan->change_ids)
        return 0;
    for (size_t i = 0; i < plan->n_ops; i++) {
        int fd = plan_op_is_mount(&plan->ops[i]) ? mount_open(plan, &plan->ops[i], err) : -2;

        if (fd == -2)
            continue;
        if (fd < 0) {
            idmap_close(ret);
            return -1;
        }
        ret->fds[ret->n++] = fd;
    }
    return 0;
}

void idmap_close(struct idmap_mounts *m)
{
    while (m->n > 0)
        (void)close(m->fds[--m->n]);
}
