#include "sandbox/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
#include "sandbox/hierarchy.h"

enum {
    NAME_SIZE = 64,
    OURS = 2, /* processes beside the program's: init, and the one that lets the guest leave */
};

enum controller {
    MEMORY,
    PIDS,
    CONTROLLERS
};

static const char *const controllers[CONTROLLERS] = { "memory", "pids" };

#define ALL_CONTROLLERS (1u << MEMORY | 1u << PIDS)

/* ---- what the two versions call the same things ---- */

enum amount {
    AMOUNT_ZERO,
    AMOUNT_MEMORY,
    AMOUNT_PROCESSES
};

struct setting {
    enum controller controller;
    const char *file; /* NULL: the last was the last */
    enum amount amount;
    bool is_optional; /* not every kernel has it, or it is switched off */
};

struct cgroup_dialect {
    const char *name;
    uint32_t magic;
    const char *oom; /* the file with a line "oom_kill NUMBER" */
    struct setting settings[5];
};

static const struct cgroup_dialect v1 = {
    .name = "v1",
    .magic = CGROUP_SUPER_MAGIC,
    .oom = "memory.oom_control",
    .settings = {
        { MEMORY, "memory.limit_in_bytes", AMOUNT_MEMORY, false },
        /* order: memory and swap together may not be less than memory alone */
        { MEMORY, "memory.memsw.limit_in_bytes", AMOUNT_MEMORY, true },
        /* What internet sockets hold is counted apart from the rest. */
        { MEMORY, "memory.kmem.tcp.limit_in_bytes", AMOUNT_MEMORY, true },
        { PIDS, "pids.max", AMOUNT_PROCESSES, false },
    },
};

static const struct cgroup_dialect v2 = {
    .name = "v2",
    .magic = CGROUP2_SUPER_MAGIC,
    .oom = "memory.events",
    .settings = {
        { MEMORY, "memory.max", AMOUNT_MEMORY, false },
        { MEMORY, "memory.swap.max", AMOUNT_ZERO, true }, /* no swap, no file */
        { MEMORY, "memory.oom.group", AMOUNT_ZERO, true },
        { PIDS, "pids.max", AMOUNT_PROCESSES, false },
    },
};

const char *cgroups_version(const struct cgroups *c)
{
    return c->dialect->name;
}

/* ---- directories ---- */

static bool has_word(int dirfd, const char *file, const char *word)
{
    char text[512];

    return fd_slurp_at(dirfd, file, text, sizeof(text) - 1) > 0 && strstr(text, word) != NULL;
}

static bool has_controllers(int dirfd, const char *file)
{
    return has_word(dirfd, file, controllers[MEMORY]) && has_word(dirfd, file, controllers[PIDS]);
}

static int open_group(const char *path, const struct cgroup_dialect *dialect)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct statfs fs;

    if (fd >= 0 && (fstatfs(fd, &fs) < 0 || (uint32_t)fs.f_type != dialect->magic)) {
        (void)close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* Take the directory for a controller; two controllers of one hierarchy share it. */
static void add_tree(struct cgroups *c, int fd, unsigned which)
{
    struct stat new, old;

    for (size_t i = 0; i < c->n; i++) {
        if (fstat(fd, &new) == 0 && fstat(c->trees[i].dir, &old) == 0 &&
            new.st_dev == old.st_dev &&new.st_ino == old.st_ino) {
            c->trees[i].controllers |= which;
            (void)close(fd);
            return;
        }
    }
    c->trees[c->n++] = (struct cgroup_tree){ fd, which };
}

void cgroups_close(struct cgroups *c)
{
    while (c->n > 0)
        gb_closep(&c->trees[--c->n].dir);
}

/* ---- version 2 ---- */

/* systemd marks what it delegated. */
static bool is_marked(int fd)
{
    char mark[4];

    return fgetxattr(fd, "trusted.delegate", mark, sizeof(mark)) > 0 ||
           fgetxattr(fd, "user.delegate", mark, sizeof(mark)) > 0;
}

static bool is_ours(int fd)
{
    struct stat st;

    return geteuid() != 0 && fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid();
}

/* Was the group of this process delegated to it? systemd below version 251 leaves no mark that an
 * ordinary user can see, but gives what it delegates to that user; what the user's own service
 * manager makes is the user's in any case. */
static bool is_own_delegated(int own, int above)
{
    return is_marked(own) || (is_ours(own) && above >= 0 && !is_ours(above));
}

/* Or the one above, by mark or owner? Slices are the service manager's own. */
static bool is_above_delegated(int above, const char *path)
{
    const char *dot = strrchr(path, '.');

    return is_marked(above) || (is_ours(above) && !(dot && strcmp(dot, ".slice") == 0));
}

static bool is_alone(int fd)
{
    char text[64];
    char *end;
    ssize_t n = fd_slurp_at(fd, "cgroup.procs", text, sizeof(text) - 1);

    return n > 0 && strtol(text, &end, 10) == getpid() && strcmp(end, "\n") == 0;
}

static bool give_controllers(int fd)
{
    return has_controllers(fd, "cgroup.subtree_control") ||
           fd_write_file_at(fd, "cgroup.subtree_control", "+memory +pids") == 0;
}

static void name_of_room(char name[NAME_SIZE])
{
    (void)snprintf(name, NAME_SIZE, "glovebox-%d-engine", (int)getpid());
}

/* Is it already there, since another engine of this process has made room? */
static bool is_in_room(const char *own)
{
    const char *last = strrchr(own, '/');
    char name[NAME_SIZE];

    name_of_room(name);
    return last && strcmp(last + 1, name) == 0;
}

/* Move this process into a group inside its own, which then can have others with controllers. */
static bool make_room(int own)
{
    char name[NAME_SIZE], procs[NAME_SIZE + 16];

    name_of_room(name);
    (void)snprintf(procs, sizeof(procs), "%s/cgroup.procs", name);
    if (mkdirat(own, name, 0755) < 0 && errno != EEXIST)
        return false;
    if (fd_write_file_at(own, procs, "0") == 0 && give_controllers(own))
        return true;
    (void)fd_write_file_at(own, "cgroup.procs", "0");
    (void)unlinkat(own, name, AT_REMOVEDIR);
    return false;
}

static int say_how_to_delegate(struct gb_err *err)
{
    return gb_fail_hint(err, "systemd-run %s--scope -p Delegate=yes glovebox ...",
                        geteuid() == 0 ? "" : "--user ");
}

/* How a place is looked for: one that was delegated; any, since somebody asks for it; or only to
 * tell what that would find, which changes nothing. */
enum manner {
    IF_DELEGATED,
    ASKED_FOR,
    ON_TRIAL
};

static int say_read_only(const char *path, struct gb_err *err)
{
    (void)gb_fail(err, GB_E_INVALID, EROFS, "cgroup: %s", path);
    return gb_fail_hint(err, "mount -o remount,rw it, or start the container with writable "
                             "control groups (docker run --privileged)");
}

/* Its own group if it was delegated or, for root, asked for; or the one above. */
static int find_v2(enum manner manner, struct cgroups *ret, struct gb_err *err)
{
    bool may_take = manner != IF_DELEGATED && geteuid() == 0, has_room;
    auto_close int own = -1, above = -1;
    struct hierarchy h;

    if (!hierarchy_of_host(NULL, &h) || !h.own[0])
        return gb_fail(err, GB_E_INVALID, 0, "cgroup: no cgroup v2 is mounted");
    own = open_group(h.own, &v2);
    if (own < 0 || !has_controllers(own, "cgroup.controllers"))
        return gb_fail(err, GB_E_INVALID, 0,
                       "cgroup: %s does not have the memory and pids controllers", h.own);
    if (h.is_read_only)
        return say_read_only(h.own, err);
    has_room = is_in_room(h.own);
    if (strcmp(h.own, h.point) != 0) {
        *strrchr(h.own, '/') = '\0'; /* a group with processes in it cannot have others */
        above = open_group(h.own, &v2);
    }
    ret->dialect = &v2;
    if (!has_room && (may_take || is_own_delegated(own, above)) && is_alone(own) &&
        (manner == ON_TRIAL || make_room(own))) {
        add_tree(ret, take_fd(&own), ALL_CONTROLLERS);
        return 0;
    }
    if (above >= 0 && (has_room || is_above_delegated(above, h.own)) &&
        has_controllers(above, "cgroup.subtree_control")) {
        add_tree(ret, take_fd(&above), ALL_CONTROLLERS);
        return 0;
    }
    (void)gb_fail(err, GB_E_INVALID, 0,
                  "cgroup: no group was delegated to this process alone (cgroup v2)");
    return say_how_to_delegate(err);
}

/* ---- version 1 ---- */

static int open_v1(const char *path, bool is_read_only, struct gb_err *err)
{
    auto_close int fd = -1;

    if (is_read_only)
        return say_read_only(path, err);
    fd = open_group(path, &v1);
    if (fd < 0)
        return gb_fail(err, GB_E_INVALID, errno, "cgroup: opening %s", path);
    if (faccessat(fd, ".", W_OK, AT_EACCESS) < 0) {
        (void)gb_fail(err, GB_E_INVALID, errno, "cgroup: making groups in %s (cgroup v1)", path);
        return gb_fail_hint(err, "run glovebox as root: version 1 has no delegation");
    }
    return take_fd(&fd);
}

/* Below this process' own group in each hierarchy. */
static int find_v1(struct cgroups *ret, struct gb_err *err)
{
    struct hierarchy h;

    ret->dialect = &v1;
    for (unsigned i = 0; i < CONTROLLERS; i++) {
        int fd;

        if (!hierarchy_of_host(controllers[i], &h) || !h.own[0]) {
            (void)gb_fail(err, GB_E_INVALID, 0,
                          "cgroup: no hierarchy that shows this process has "
                          "the %s controller",
                          controllers[i]);
            return say_how_to_delegate(err);
        }
        fd = open_v1(h.own, h.is_read_only, err);
        if (fd < 0)
            return -1;
        add_tree(ret, fd, 1u << i);
    }
    return 0;
}

/* ---- a directory that was named ---- */

static int open_named_v2(const char *path, int given, struct cgroups *ret, struct gb_err *err)
{
    auto_close int fd = given;

    if (!give_controllers(fd)) {
        (void)gb_fail(err, GB_E_INVALID, 0,
                      "cgroup: %s does not give the memory and pids controllers to its children",
                      path);
        return gb_fail_hint(err, "echo '+memory +pids' > %s/cgroup.subtree_control", path);
    }
    ret->dialect = &v2;
    add_tree(ret, take_fd(&fd), ALL_CONTROLLERS);
    return 0;
}

/* What of `path` is below the mount of one of the controllers, or NULL. */
static const char *inside_v1(const char *path)
{
    struct hierarchy h;

    for (unsigned i = 0; i < CONTROLLERS; i++) {
        size_t len = hierarchy_of_host(controllers[i], &h) ? strlen(h.point) : 0;
        if (len > 0 && strncmp(path, h.point, len) == 0 && (path[len] == '/' || !path[len]))
            return path + len;
    }
    return NULL;
}

/* Named in one hierarchy, it must be there under the same name in that of the other controller. */
static int open_named_v1(const char *path, struct cgroups *ret, struct gb_err *err)
{
    auto_free char *whole = realpath(path, NULL);
    const char *inside = whole ? inside_v1(whole) : NULL;
    struct hierarchy h;

    if (!inside)
        return gb_fail(err, GB_E_INVALID, 0,
                       "cgroup: the hierarchy of %s has neither the memory nor the pids controller",
                       path);
    ret->dialect = &v1;
    for (unsigned i = 0; i < CONTROLLERS; i++) {
        auto_free char *one = NULL;
        int fd;

        if (!hierarchy_of_host(controllers[i], &h))
            return gb_fail(err, GB_E_INVALID, 0, "cgroup: no hierarchy has the %s controller",
                           controllers[i]);
        if (asprintf(&one, "%s%s", h.point, inside) < 0)
            return gb_fail(err, GB_E_SYSTEM, ENOMEM, "cgroup");
        fd = open_v1(one, h.is_read_only, err);
        if (fd < 0 && err->sys == ENOENT)
            return gb_fail_hint(err, "mkdir %s", one);
        if (fd < 0)
            return -1;
        add_tree(ret, fd, 1u << i);
    }
    return 0;
}

static int open_named(const char *path, struct cgroups *ret, struct gb_err *err)
{
    int fd = open_group(path, &v2);

    if (fd >= 0)
        return open_named_v2(path, fd, ret, err);
    fd = open_group(path, &v1);
    if (fd < 0) {
        (void)gb_fail(err, GB_E_INVALID, errno, "cgroup: %s is no control group", path);
        return gb_fail_hint(err, "name a directory below /sys/fs/cgroup, or '" CGROUP_AUTO "'");
    }
    (void)close(fd);
    return open_named_v1(path, ret, err);
}

static int find(enum manner manner, struct cgroups *ret, struct gb_err *err)
{
    struct hierarchy h;

    if (find_v2(manner, ret, err) == 0 || manner == IF_DELEGATED)
        return 0;
    /* Where that is, the reason lies there. */
    return hierarchy_of_host(controllers[MEMORY], &h) ? find_v1(ret, err) : -1;
}

int cgroups_open(const char *wanted, struct cgroups *ret, struct gb_err *err)
{
    int r;

    *ret = (struct cgroups){ 0 };
    if (!wanted)
        r = find(IF_DELEGATED, ret, err);
    else if (strcmp(wanted, CGROUP_NONE) == 0)
        r = 0;
    else if (strcmp(wanted, CGROUP_AUTO) == 0)
        r = find(ASKED_FOR, ret, err);
    else
        r = open_named(wanted, ret, err);
    if (r < 0)
        cgroups_close(ret);
    return r;
}

int cgroups_try(const char **ret_version, struct gb_err *err)
{
    struct cgroups found = { 0 };
    int r = find(ON_TRIAL, &found, err);

    if (r == 0)
        *ret_version = found.dialect->name;
    cgroups_close(&found);
    return r;
}

/* ---- groups ---- */

static void name_of(char name[NAME_SIZE], uint64_t number)
{
    (void)snprintf(name, NAME_SIZE, "glovebox-%d-%llu", (int)getpid(), (unsigned long long)number);
}

static int set_up(const struct cgroups *c, const struct cgroup_tree *tree, int dir,
                  const struct plan_limits *limits)
{
    const uint64_t amounts[] = {
        [AMOUNT_ZERO] = 0,
        /* The box's files are memory as well, with a limit of their own. */
        [AMOUNT_MEMORY] = limits->memory_bytes + limits->disk_bytes,
        [AMOUNT_PROCESSES] = limits->processes + OURS,
    };

    for (const struct setting *s = c->dialect->settings; s->file; s++) {
        char text[32];
        int e;

        if ((tree->controllers & 1u << s->controller) == 0)
            continue;
        (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)amounts[s->amount]);
        e = fd_write_file_at(dir, s->file, text);
        if (e < 0 && !(s->is_optional && e == -ENOENT))
            return e;
    }
    return 0;
}

/* Returns a descriptor of the group's cgroup.procs, or an errno below zero. */
static int make_in(const struct cgroups *c, const struct cgroup_tree *tree, const char *name,
                   const struct plan_limits *limits)
{
    auto_close int dir = -1;
    int e, procs;

    if (mkdirat(tree->dir, name, 0755) < 0)
        return -errno;
    dir = openat(tree->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    e = dir < 0 ? -errno : set_up(c, tree, dir, limits);
    if (e < 0)
        return e;
    procs = openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    return procs < 0 ? -errno : procs;
}

int cgroup_make(const struct cgroups *c, uint64_t number, const struct plan_limits *limits,
                int procs[BOX_CGROUPS_MAX], struct gb_err *err)
{
    char name[NAME_SIZE];

    name_of(name, number);
    for (size_t i = 0; i < c->n; i++) {
        procs[i] = make_in(c, &c->trees[i], name, limits);
        if (procs[i] >= 0)
            continue;
        (void)gb_fail(err, GB_E_SYSTEM, -procs[i], "making the control group %s (%s)", name,
                      c->dialect->name);
        while (i > 0)
            gb_closep(&procs[--i]);
        cgroup_remove(c, number);
        return -1;
    }
    return (int)c->n;
}

uint64_t cgroup_oom_kills(const struct cgroups *c, uint64_t number)
{
    char name[NAME_SIZE], path[NAME_SIZE + 32], text[512];
    const char *kills;

    name_of(name, number);
    for (size_t i = 0; i < c->n; i++) {
        if ((c->trees[i].controllers & 1u << MEMORY) == 0)
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", name, c->dialect->oom);
        if (fd_slurp_at(c->trees[i].dir, path, text, sizeof(text) - 1) <= 0)
            return 0;
        kills = strstr(text, "oom_kill ");
        return kills ? strtoull(kills + strlen("oom_kill "), NULL, 10) : 0;
    }
    return 0;
}

void cgroup_remove(const struct cgroups *c, uint64_t number)
{
    char name[NAME_SIZE];

    name_of(name, number);
    for (size_t i = 0; i < c->n; i++)
        (void)unlinkat(c->trees[i].dir, name, AT_REMOVEDIR);
}

static void sweep(int parent)
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

void cgroups_sweep(const struct cgroups *c)
{
    for (size_t i = 0; i < c->n; i++)
        sweep(c->trees[i].dir);
}
