#include "sandbox/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "sandbox/notice.h"
#include "sandbox/verify.h"

/* Debian 12's headers know ABI 2; the kernel's numbers are stable, so they are written out. */
struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net; /* ABI 4 */
    uint64_t scoped;             /* ABI 6 */
};
struct path_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

enum {
    RULE_PATH_BENEATH = 1,
    CREATE_VERSION = 1
};

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REMOVE_DIR = 1 << 4,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_CHAR = 1 << 6,
    FS_MAKE_DIR = 1 << 7,
    FS_MAKE_REG = 1 << 8,
    FS_MAKE_SOCK = 1 << 9,
    FS_MAKE_FIFO = 1 << 10,
    FS_MAKE_BLOCK = 1 << 11,
    FS_MAKE_SYM = 1 << 12,
    FS_REFER = 1 << 13,
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL_DEV = 1 << 15,
    FS_RESOLVE_UNIX = 1 << 16, /* sockets of one's own domain are reachable without it */
    NET_BIND_TCP = 1 << 0,
    NET_CONNECT_TCP = 1 << 1,
    SCOPE_ABSTRACT_UNIX = 1 << 0,
    SCOPE_SIGNAL = 1 << 1,
    /* What can be said of a file; the rest only of directories. */
    FS_OF_FILE =
        FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV | FS_RESOLVE_UNIX,
};

uint64_t landlock_read_access(void)
{
    return FS_EXECUTE | FS_READ_FILE | FS_READ_DIR;
}

uint64_t landlock_write_access(void)
{
    return landlock_read_access() | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR |
           FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_SYM | FS_REFER | FS_TRUNCATE;
}

uint64_t landlock_source_access(void)
{
    return FS_READ_FILE;
}

uint64_t landlock_device_access(void)
{
    return FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
}

uint32_t landlock_abi(int *ret_errno)
{
    long v = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

    *ret_errno = v < 0 ? errno : 0;
    return v < 0 ? 0 : (uint32_t)v;
}

uint64_t landlock_all_fs(uint32_t abi)
{
    uint64_t all = ((uint64_t)FS_RESOLVE_UNIX << 1) - 1;

    if (abi < LANDLOCK_ABI_UNIX)
        all &= ~(uint64_t)FS_RESOLVE_UNIX;
    if (abi < 5)
        all &= ~(uint64_t)FS_IOCTL_DEV;
    if (abi < 3)
        all &= ~(uint64_t)FS_TRUNCATE;
    if (abi < 2)
        all &= ~(uint64_t)FS_REFER;
    return abi == 0 ? 0 : all;
}

uint64_t landlock_all_net(uint32_t abi)
{
    return abi < 4 ? 0 : NET_BIND_TCP | NET_CONNECT_TCP;
}

uint64_t landlock_all_scope(uint32_t abi)
{
    return abi < 6 ? 0 : SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
}

static int ruleset_new(const struct ruleset_attr *attr, uint32_t abi, struct gb_err *err)
{
    size_t size = abi < 4 ? sizeof(uint64_t) : abi < 6 ? 2 * sizeof(uint64_t) : sizeof(*attr);
    long fd = syscall(SYS_landlock_create_ruleset, attr, size, 0);

    return fd < 0 ? gb_fail(err, GB_E_NO_ISOLATION, errno, "making a Landlock ruleset") : (int)fd;
}

/* `mark` is 0, or NOTICE_SEAL where init need not hear of it. */
static int ruleset_enter(int ruleset, unsigned long mark, struct gb_err *err)
{
    if (syscall(SYS_landlock_restrict_self, ruleset, mark) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "entering the Landlock domain");
    return 0;
}

static int rule_add(int ruleset, const struct plan *plan, const struct plan_rule *rule,
                    struct gb_err *err)
{
    auto_close int fd =
        rule->is_mount ? fd_open_plain_dir(rule->path) : open(rule->path, O_PATH | O_CLOEXEC);
    struct stat st;

    if (fd < 0 && rule->is_mount) {
        (void)gb_fail(err, GB_E_SYSTEM, -fd, "opening the mount %s", rule->path);
        if (plan->change_ids)
            gb_err_hint(err, "without namespaces root's programs run as a user that owns nothing: "
                             "everybody must be able to enter it");
        return -1;
    }
    if (fd < 0 && errno == ENOENT)
        return 0; /* nothing there, nothing to allow */
    if (fd < 0 || fstat(fd, &st) < 0) {
        (void)gb_fail(err, GB_E_NO_ISOLATION, errno, "opening %s for a Landlock rule", rule->path);
        if (err->sys == EACCES)
            gb_err_hint(err,
                        "the box's user cannot enter it (a box of root's runs as nobody); name "
                        "an interpreter that everybody can read with --python");
        return -1;
    }

    struct path_attr attr = { .allowed_access = rule->access & plan->landlock_fs, .parent_fd = fd };
    if (!S_ISDIR(st.st_mode))
        attr.allowed_access &= FS_OF_FILE;
    if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, NOTICE_SEAL) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "allowing %s by Landlock", rule->path);
    return 0;
}

int landlock_apply(const struct plan *plan, struct gb_err *err)
{
    struct ruleset_attr attr = { .handled_access_fs = plan->landlock_fs,
                                 .handled_access_net = plan->landlock_net,
                                 .scoped = plan->landlock_scope };
    auto_close int ruleset = ruleset_new(&attr, plan->landlock_abi, err);

    if (ruleset < 0)
        return -1;
    for (size_t i = 0; i < plan->n_rules; i++)
        if (rule_add(ruleset, plan, &plan->rules[i], err) < 0)
            return -1;
    if (ruleset_enter(ruleset, NOTICE_SEAL, err) < 0)
        return -1;
    return verify_landlock(plan->workdir, err);
}

int landlock_scope_signals(int outsider, struct gb_err *err)
{
    struct ruleset_attr attr = { .scoped = SCOPE_SIGNAL };
    auto_close int ruleset = ruleset_new(&attr, 6, err);

    if (ruleset < 0 || ruleset_enter(ruleset, 0, err) < 0)
        return -1;
    return verify_signal_scope(outsider, err);
}

/* ---- a fence inside the box ---- */

/* Is one of these paths the entry of "/", or below it? */
static bool is_shut(const char *entry, const char *const *shut, size_t n)
{
    size_t len = strlen(entry);

    for (size_t i = 0; i < n; i++)
        if (strncmp(shut[i] + 1, entry, len) == 0 && (shut[i][len + 1] == '/' || !shut[i][len + 1]))
            return true;
    return false;
}

/* Whatever the domains around it allow there. What cannot be opened cannot be used either. */
static int allow_all(int ruleset, const char *path, uint64_t all, struct gb_err *err)
{
    auto_close int fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || S_ISLNK(st.st_mode))
        return 0;
    struct path_attr attr = { .allowed_access = all, .parent_fd = fd };
    if (!S_ISDIR(st.st_mode))
        attr.allowed_access &= FS_OF_FILE;
    if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "allowing %s by Landlock", path);
    return 0;
}

static int allow_entry(int ruleset, const char *name, const struct landlock_fence *fence,
                       uint64_t all, struct gb_err *err)
{
    char path[300];

    if (name[0] == '.' || is_shut(name, fence->shut, fence->n_shut))
        return 0;
    (void)snprintf(path, sizeof(path), "/%s", name);
    return allow_all(ruleset, path, all, err);
}

/* What lies in "/"; or, where that cannot be listed, what usually does. */
static int allow_entries(int ruleset, const struct landlock_fence *fence, uint64_t all,
                         struct gb_err *err)
{
    static const char *const usual[] = { "bin", "dev", "etc", "home", "lib",  "lib32", "lib64",
                                         "mnt", "nix", "opt", "proc", "root", "run",   "sbin",
                                         "srv", "sys", "tmp", "usr",  "var" };
    DIR *dir = opendir("/");
    int r = 0;

    for (struct dirent *e = dir ? readdir(dir) : NULL; e && r == 0; e = readdir(dir))
        r = allow_entry(ruleset, e->d_name, fence, all, err);
    for (size_t i = 0; !dir && i < ARRAY_LEN(usual) && r == 0; i++)
        r = allow_entry(ruleset, usual[i], fence, all, err);
    if (dir)
        (void)closedir(dir);
    return r;
}

int landlock_enclose(const struct landlock_fence *fence, struct gb_err *err)
{
    int why, r;
    uint32_t abi = landlock_abi(&why);
    struct ruleset_attr attr = { .handled_access_fs = landlock_all_fs(abi),
                                 .scoped = landlock_all_scope(abi) };

    if (abi == 0)
        return 0;
    auto_close int ruleset = ruleset_new(&attr, abi, err);
    if (ruleset < 0)
        return -1;
    r = allow_entries(ruleset, fence, attr.handled_access_fs, err);
    for (size_t i = 0; i < fence->n_open && r == 0; i++)
        r = allow_all(ruleset, fence->open[i], attr.handled_access_fs, err);
    return r < 0 ? -1 : ruleset_enter(ruleset, 0, err);
}
