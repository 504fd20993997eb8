#include "sandbox/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/own.h"

static int failed(struct gb_err *err, const char *what)
{
    (void)gb_fail(err, GB_E_NO_ISOLATION, 0, "the kernel agreed, and yet %s", what);
    return gb_fail_hint(err, "something answers for the kernel: a tracer, a seccomp filter around "
                             "glovebox, an emulator");
}

/* ---- namespaces ---- */

static const struct {
    uint64_t flag;
    const char *name, *complaint;
} namespaces[PLAN_NAMESPACES] = {
    [LAYER_AT_USER] = { CLONE_NEWUSER, "user", "the user namespace is the engine's" },
    [LAYER_AT_MOUNT] = { CLONE_NEWNS, "mnt", "the mount namespace is the engine's" },
    [LAYER_AT_PID] = { CLONE_NEWPID, "pid", "the pid namespace is the engine's" },
    [LAYER_AT_NET] = { CLONE_NEWNET, "net", "the network namespace is the engine's" },
    [LAYER_AT_IPC] = { CLONE_NEWIPC, "ipc", "the ipc namespace is the engine's" },
    [LAYER_AT_UTS] = { CLONE_NEWUTS, "uts", "the uts namespace is the engine's" },
};

/* The inode of a namespace, by the link that names it: asking for the inode itself would make the
 * kernel make one. 0 if it cannot be had. */
static uint64_t number_of(int dir, const char *name)
{
    char text[64];
    ssize_t n = readlinkat(dir, name, text, sizeof(text) - 1); /* user:[4026531837] */
    const char *number;

    text[n > 0 ? n : 0] = '\0';
    number = strchr(text, '[');
    return number ? strtoull(number + 1, NULL, 10) : 0;
}

void verify_note_host(struct plan *plan)
{
    auto_close int dir = open("/proc/self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++)
        plan->host_namespaces[i] = dir < 0 ? 0 : number_of(dir, namespaces[i].name);
}

int verify_namespaces(const struct plan *plan, int proc, struct gb_err *err)
{
    auto_close int dir =
        plan->namespaces ? openat(proc, "self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
        uint64_t ours, host = plan->host_namespaces[i];

        if ((plan->namespaces & namespaces[i].flag) == 0)
            continue;
        ours = dir < 0 ? 0 : number_of(dir, namespaces[i].name);
        if (ours == 0 || host == 0)
            return gb_fail(err, GB_E_NO_ISOLATION, errno, "looking at /proc/self/ns/%s of the %s",
                           namespaces[i].name, ours == 0 ? "box" : "engine");
        if (ours == host)
            return failed(err, namespaces[i].complaint);
    }
    return 0;
}

bool verify_net_entered(int net)
{
    struct stat st;

    return fstat(net, &st) == 0 && number_of(AT_FDCWD, "/proc/self/ns/net") == (uint64_t)st.st_ino;
}

int verify_host_name(const struct plan *plan, struct gb_err *err)
{
    struct utsname name;

    if (uname(&name) == 0 && strcmp(name.nodename, plan->hostname) == 0)
        return 0;
    return failed(err, "the box has not its own host name");
}

/* ---- files ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool verify_mounted(int fd, int dir, const char *path)
{
    struct stat made, seen;

    if (fstat(fd, &made) < 0 || fstatat(dir, path, &seen, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    errno = ENOENT;
    return is_same(&made, &seen);
}

int verify_root(int root, struct gb_err *err)
{
    struct stat made, seen;

    if (fstat(root, &made) == 0 && stat("/", &seen) == 0 && is_same(&made, &seen))
        return 0;
    return failed(err, "the root is not the one that was made for the box");
}

/* What is stacked on the root is found by the way up from it. */
int verify_root_closed(struct gb_err *err)
{
    struct stat up, seen;

    if (stat("/..", &up) == 0 && stat("/", &seen) == 0 && is_same(&up, &seen))
        return 0;
    return failed(err, "the host's root is still there");
}

bool verify_read_only(int fd)
{
    struct statvfs fs;

    if (fstatvfs(fd, &fs) < 0)
        return false;
    errno = EROFS; /* what it should have been */
    return (fs.f_flag & ST_RDONLY) != 0;
}

bool verify_size(int fd, const struct plan *plan)
{
    struct statvfs fs;

    if (fstatvfs(fd, &fs) < 0)
        return false;
    errno = EFBIG;
    /* 0 is what an unlimited one says; and the kernel rounds up to whole pages. */
    return fs.f_blocks > 0 && (fs.f_blocks - 1) * fs.f_frsize < plan->tmpfs_bytes &&
           fs.f_files > 0 && fs.f_files <= plan->tmpfs_inodes;
}

int verify_landlock(const char *dir, struct gb_err *err)
{
    char path[512];
    int made;

    /* A node of the kind that needs no right but Landlock's, which no plan gives. Landlock is asked
     * before the file system is. */
    (void)snprintf(path, sizeof(path), "%.500s/.probe", dir);
    made = mknodat(AT_FDCWD, path, S_IFCHR | 0600, 0);
    if (made < 0 && errno == EACCES)
        return 0;
    if (made == 0)
        (void)unlinkat(AT_FDCWD, path, 0);
    return failed(err, "Landlock does not hold");
}

/* ---- processes ---- */

int verify_signal_scope(int outsider, struct gb_err *err)
{
    if (kill(outsider, 0) < 0 && errno == EPERM)
        return 0;
    return failed(err, "Landlock does not hold signals");
}

int verify_ids(uint32_t uid, uint32_t gid, struct gb_err *err)
{
    uid_t u[3] = { 0 };
    gid_t g[3] = { 0 };

    if (getresuid(&u[0], &u[1], &u[2]) == 0 && getresgid(&g[0], &g[1], &g[2]) == 0 && u[0] == uid &&
        u[1] == uid && u[2] == uid && g[0] == gid && g[1] == gid && g[2] == gid &&
        getgroups(0, NULL) == 0)
        return 0;
    return failed(err, "the user is not the box's");
}

int verify_privileges(struct gb_err *err)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2] = { { .effective = ~0u } };

    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return failed(err, "no_new_privs is not set");
    /* Ambient capabilities are among the permitted. */
    if (syscall(SYS_capget, &head, data) == 0 &&
        (data[0].effective | data[1].effective | data[0].permitted | data[1].permitted |
         data[0].inheritable | data[1].inheritable) == 0)
        return 0;
    return failed(err, "there are capabilities left");
}

int verify_bounding_set(struct gb_err *err)
{
    /* The one that would count most. Asking for each of forty would cost as much as dropping
     * them. */
    return prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 0
               ? 0
               : failed(err, "the bounding set is not empty");
}

int verify_rlimit(int resource, uint64_t value, struct gb_err *err)
{
    struct rlimit now = { RLIM_INFINITY, RLIM_INFINITY };
    char what[64];

    /* The raw call: C libraries disagree about the type of a resource's number. */
    if (syscall(SYS_prlimit64, 0, resource, NULL, &now) == 0 && now.rlim_cur <= value &&
        now.rlim_max <= value)
        return 0;
    (void)snprintf(what, sizeof(what), "resource limit %d does not hold", resource);
    return failed(err, what);
}

int verify_filter(struct gb_err *err)
{
    enum {
        NO_OPTION = 0x676c6f76 /* the kernel says EINVAL, filters of ours that there is no call */
    };

    if (prctl(NO_OPTION, 0, 0, 0, 0) < 0 && errno == ENOSYS)
        return 0;
    return failed(err, "the seccomp filter is not there");
}

bool verify_closed(int fd)
{
    return fd < 0 || (fcntl(fd, F_GETFD) < 0 && errno == EBADF);
}
