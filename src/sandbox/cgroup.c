#include "sandbox/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"

enum {
    NAME_SIZE = 64
};

static const char root[] = "/sys/fs/cgroup";

static void name_of(char name[NAME_SIZE], uint64_t number)
{
    (void)snprintf(name, NAME_SIZE, "glovebox-%d-%llu", (int)getpid(), (unsigned long long)number);
}

/* ---- finding a place ---- */

static bool has_word(int dirfd, const char *file, const char *word)
{
    char text[512];

    return fd_slurp_at(dirfd, file, text, sizeof(text) - 1) > 0 && strstr(text, word) != NULL;
}

static bool has_controllers(int dirfd)
{
    return has_word(dirfd, "cgroup.subtree_control", "memory") &&
           has_word(dirfd, "cgroup.subtree_control", "pids");
}

static int open_group(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct statfs fs;

    if (fd >= 0 && (fstatfs(fd, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)) {
        (void)close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* systemd marks what it delegated, and gives an ordinary user's to that user. */
static bool is_delegated(int fd)
{
    struct stat st;
    char mark[4];

    if (fgetxattr(fd, "trusted.delegate", mark, sizeof(mark)) > 0 ||
        fgetxattr(fd, "user.delegate", mark, sizeof(mark)) > 0)
        return true;
    return geteuid() != 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid();
}

static int open_configured(const char *path, struct gb_err *err)
{
    auto_close int fd = open_group(path);

    if (fd < 0)
        return gb_fail(err, GB_E_INVALID, errno, "cgroup: %s is not a cgroup v2 directory", path);
    if (!has_controllers(fd))
        (void)fd_write_file_at(fd, "cgroup.subtree_control", "+memory +pids");
    if (!has_controllers(fd)) {
        (void)gb_fail(err, GB_E_INVALID, 0,
                      "cgroup: %s does not give the memory and pids controllers to its children",
                      path);
        return gb_fail_hint(err, "echo '+memory +pids' > %s/cgroup.subtree_control", path);
    }
    return take_fd(&fd);
}

int cgroup_open_parent(const char *configured, struct gb_err *err)
{
    char text[1024], path[PATH_MAX];
    char *own, *end;
    auto_close int fd = -1;

    if (configured)
        return open_configured(configured, err);
    if (fd_slurp_at(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text) - 1) <= 0)
        return -1;
    own = strstr(text, "0::/");
    end = own ? strchr(own, '\n') : NULL;
    if (!end)
        return -1;
    *end = '\0';
    end = strrchr(own + 3, '/'); /* a group with processes in it cannot have children: go up */
    *end = '\0';
    (void)snprintf(path, sizeof(path), "%s%s", root, own + 3);
    fd = open_group(path);
    return fd >= 0 && is_delegated(fd) && has_controllers(fd) ? take_fd(&fd) : -1;
}

/* ---- groups ---- */

static int set_number(int dirfd, const char *file, uint64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    return fd_write_file_at(dirfd, file, text);
}

int cgroup_make(int parent, uint64_t number, const struct plan_limits *limits, struct gb_err *err)
{
    enum {
        OURS = 2
    }; /* init, and the one that lets the guest leave */
    char name[NAME_SIZE];
    auto_close int dir = -1;
    int procs, e;

    name_of(name, number);
    if (mkdirat(parent, name, 0755) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making the control group %s", name);
    dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* The box's files are memory as well, with a limit of their own. */
    e = set_number(dir, "memory.max", limits->memory_bytes + limits->disk_bytes);
    if (e == 0)
        e = set_number(dir, "pids.max", limits->processes + OURS);
    if (e == 0) {
        (void)set_number(dir, "memory.swap.max", 0); /* no swap, no file */
        (void)set_number(dir, "memory.oom.group", 0);
    }
    procs = e == 0 ? openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC) : -1;
    if (procs >= 0)
        return procs;
    (void)gb_fail(err, GB_E_SYSTEM, e < 0 ? -e : errno, "setting up the control group %s", name);
    cgroup_remove(parent, number);
    return -1;
}

bool cgroup_was_oom(int parent, uint64_t number)
{
    char name[NAME_SIZE], path[NAME_SIZE + 16], text[512];
    const char *kills;

    name_of(name, number);
    (void)snprintf(path, sizeof(path), "%s/memory.events", name);
    if (fd_slurp_at(parent, path, text, sizeof(text) - 1) <= 0)
        return false;
    kills = strstr(text, "oom_kill ");
    return kills && strtoull(kills + strlen("oom_kill "), NULL, 10) > 0;
}

void cgroup_remove(int parent, uint64_t number)
{
    char name[NAME_SIZE];

    name_of(name, number);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void cgroup_sweep(int parent)
{
    int copy = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);

    if (!dir) {
        gb_closep(&copy);
        return;
    }
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        char *end;
        if (strncmp(e->d_name, "glovebox-", 9) != 0)
            continue;
        long pid = strtol(e->d_name + 9, &end, 10);
        if (*end == '-' && pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
            (void)unlinkat(parent, e->d_name, AT_REMOVEDIR);
    }
    (void)closedir(dir);
}
