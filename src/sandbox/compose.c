#include "sandbox/compose.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cover.h"
#include "base/fd.h"
#include "base/own.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"
#include "sandbox/verify.h"
#include "sandbox/watch.h"

enum {
    INSIDE_ID = 1000,
    /* When the engine is root, boxes run as users that own nothing on the host. */
    OUTSIDE_FIRST = 0x70000000,
    OUTSIDE_COUNT = 0x00ffffff,
};

/* ---- what is in the private root ---- */

/* Directories of programs and libraries. Where the host has a link (usr-merge) the box has it
 * too. */
static const char *const system_dirs[] = {
    "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"
};

/* Of /etc only what programs need and no host should mind being read. Every one is a mount, and
 * mounts are a good part of what a box costs, so the list is short. */
static const char *const etc_files[] = { "alternatives", "ld.so.cache", "localtime", "fonts",
                                         "os-release" };

/* Small ones are copied, which is cheaper. */
static const char *const etc_copies[] = {
    "services",
    "matplotlibrc",
    "python3.9/sitecustomize.py",
    "python3.10/sitecustomize.py",
    "python3.11/sitecustomize.py",
    "python3.12/sitecustomize.py",
    "python3.13/sitecustomize.py",
    "python3.14/sitecustomize.py",
};

/* Without a private root, where it would be refused and not missing: node ends at that. */
static const char *const etc_unrooted[] = { "ssl/openssl.cnf" };

/* And these where the box can reach a network. */
static const char *const etc_network[] = { "resolv.conf", "ssl", "ca-certificates", "gai.conf" };

static const char *const devices[] = { "null", "zero", "full", "urandom" };

static const struct plan_op fixed_ops[] = {
    { OP_FILE, false,
      "root:x:0:0:root:/root:/usr/sbin/nologin\n"
      "box:x:1000:1000:box:" BOX_HOME ":/bin/bash\n"
      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
      "etc/passwd" },
    { OP_FILE, false, "root:x:0:\nbox:x:1000:\nnogroup:x:65534:\n", "etc/group" },
    { OP_FILE, false, "127.0.0.1 localhost glovebox\n::1 localhost\n", "etc/hosts" },
    { OP_FILE, false, "glovebox\n", "etc/hostname" },
    { OP_FILE, false, "passwd: files\ngroup: files\nhosts: files dns\n", "etc/nsswitch.conf" },
    { OP_SYMLINK, false, "urandom", "dev/random" }, /* the same since Linux 5.6 */
    { OP_SYMLINK, false, "/proc/self/fd", "dev/fd" },
    { OP_SYMLINK, false, "/proc/self/fd/0", "dev/stdin" },
    { OP_SYMLINK, false, "/proc/self/fd/1", "dev/stdout" },
    { OP_SYMLINK, false, "/proc/self/fd/2", "dev/stderr" },
    { OP_SYMLINK, false, "/proc/self/mounts", "etc/mtab" },
    { OP_DIR, false, "", "run" },
    { OP_DIR, false, "", "var/tmp" },
    { OP_PROC, false, "", "proc" },
    { OP_DEVICE, true, "/dev/null", "proc/keys" }, /* it names the caller's keys */
    { OP_PTS, false, "", "dev/pts" },
    { OP_SYMLINK, false, "pts/ptmx", "dev/ptmx" },
    { OP_OWN, false, "", "workspace" },
    { OP_OWN, false, "", "tmp" },
    { OP_OWN, false, "", "home/box" },
    { OP_OWN, false, "", "dev/shm" },
};

/* ---- building ---- */

struct builder {
    struct composed *c;
    struct gb_err *err;
    bool bad;
};

gb_printf(2, 3) static const char *keep(struct builder *b, const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;

    va_start(ap, fmt);
    if (b->c->n_strings == ARRAY_LEN(b->c->strings) || vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    if (!text) {
        b->bad = true;
        return "";
    }
    b->c->strings[b->c->n_strings++] = text;
    return text;
}

static void add_op(struct builder *b, struct plan_op op)
{
    struct plan *p = &b->c->plan;

    if (p->n_ops == PLAN_OPS_MAX)
        b->bad = true;
    else
        p->ops[p->n_ops++] = op;
}

static void add_any_rule(struct builder *b, struct plan_rule rule)
{
    struct plan *p = &b->c->plan;

    if (p->n_rules == PLAN_RULES_MAX)
        b->bad = true;
    else
        p->rules[p->n_rules++] = rule;
}

static void add_rule(struct builder *b, const char *path, uint64_t access)
{
    add_any_rule(b, (struct plan_rule){ path, access, false });
}

static void add_rlimit(struct builder *b, int resource, uint64_t value)
{
    struct plan *p = &b->c->plan;

    if (p->n_rlimits == PLAN_RLIMITS_MAX)
        b->bad = true;
    else
        p->rlimits[p->n_rlimits++] = (struct plan_rlimit){ resource, value };
}

/* A link is copied as a link; what it points to is in the box or it is not. */
static void add_host_path(struct builder *b, const char *path)
{
    char link[PATH_MAX];
    ssize_t n = readlink(path, link, sizeof(link) - 1);

    if (n > 0) {
        link[n] = '\0';
        add_op(b, (struct plan_op){ OP_SYMLINK, false, keep(b, "%s", link), path + 1 });
        return;
    }
    if (access(path, R_OK) == 0)
        add_op(b, (struct plan_op){ OP_BIND, true, path, path + 1 });
}

/* A small file costs less than a mount. */
static void add_copy(struct builder *b, const char *path)
{
    enum {
        COPY_MAX = 4 << 10
    };
    auto_free char *text = malloc(COPY_MAX + 1);
    ssize_t n = text ? fd_slurp_at(AT_FDCWD, path, text, COPY_MAX) : -1;

    if (n > 0 && n < COPY_MAX && strlen(text) == (size_t)n)
        add_op(b, (struct plan_op){ OP_FILE, false, keep(b, "%s", text), path + 1 });
    else if (n > 0)
        add_host_path(b, path);
}

/* What a link points to is copied, under the link's name: resolv.conf often is one into /run. */
static void add_bind(struct builder *b, const char *path)
{
    if (access(path, R_OK) == 0)
        add_op(b, (struct plan_op){ OP_BIND, true, path, path + 1 });
}

/* Already there through a system directory or an earlier path? */
static bool is_covered(const struct plan *p, const char *path)
{
    for (size_t i = 0; i < p->n_ops; i++)
        if (p->ops[i].kind == OP_BIND && path_is_below(path + 1, p->ops[i].target))
            return true;
    return false;
}

static void add_mounts(struct builder *b, const struct mounts *mounts)
{
    for (size_t i = 0; mounts && i < mounts->n; i++) {
        const struct mount *m = &mounts->list[i];
        add_op(b, (struct plan_op){ m->is_rw ? OP_MOUNT_RW : OP_MOUNT_RO, false,
                                    keep(b, "%s", m->host),
                                    keep(b, "%s/%s", BOX_MOUNTS + 1, m->name) });
    }
}

/* What runs outside any box must not be changed from inside of one: the interpreter, and what it
 * imports there. */
static int check_mount(const struct plan_wish *wish, const struct mount *m,
                       const struct cover *cover, struct gb_err *err)
{
    char target[PATH_MAX];

    (void)snprintf(target, sizeof(target), BOX_MOUNTS "/%s", m->name);
    for (size_t i = 0; i < wish->n_visible; i++) {
        const char *path = wish->visible[i];

        if (m->is_rw && (!cover || cover_has_program(cover, path) || path_is_below(path, m->host) ||
                         path_is_below(m->host, path))) {
            (void)gb_fail(err, GB_E_INVALID, 0,
                          "mount %s: rw would let the program change %s, which its interpreter "
                          "imports outside the box",
                          m->name, path);
            return gb_fail_hint(err, "mount it ro, or mount a directory that has no part of the "
                                     "interpreter in it");
        }
        if (wish->level == LEVEL_NAMESPACES && path_is_below(path, target))
            return gb_fail(err, GB_E_INVALID, 0, "mount %s: it would hide the interpreter's %s",
                           m->name, path);
    }
    return 0;
}

static int check_mounts(const struct plan_wish *wish, const struct plan *p, struct gb_err *err)
{
    for (size_t i = 0; wish->mounts && i < wish->mounts->n; i++) {
        const struct mount *m = &wish->mounts->list[i];
        struct cover *cover = m->is_rw ? cover_new(m->host) : NULL;
        int r = check_mount(wish, m, cover, err);

        (void)cover_free(cover);
        if (r < 0)
            return -1;
    }
    if (wish->level == LEVEL_NAMESPACES || !p->change_ids || !mounts_any_rw(wish->mounts))
        return 0;
    (void)gb_fail(err, GB_E_INVALID, 0, "a mount cannot be rw at isolation '%s' for root",
                  plan_level_name(wish->level));
    return gb_fail_hint(err, "the program runs as a user that owns nothing: use --isolation "
                             "namespaces, or run glovebox as the directory's owner");
}

static void compose_root(struct builder *b, const struct plan_wish *wish)
{
    for (size_t i = 0; i < ARRAY_LEN(system_dirs); i++)
        add_host_path(b, keep(b, "/%s", system_dirs[i]));
    for (size_t i = 0; i < ARRAY_LEN(fixed_ops); i++)
        add_op(b, fixed_ops[i]);
    for (size_t i = 0; i < ARRAY_LEN(etc_files); i++)
        add_host_path(b, keep(b, "/etc/%s", etc_files[i]));
    for (size_t i = 0; i < ARRAY_LEN(etc_copies); i++)
        add_copy(b, keep(b, "/etc/%s", etc_copies[i]));
    for (size_t i = 0; wish->host_network && i < ARRAY_LEN(etc_network); i++)
        add_bind(b, keep(b, "/etc/%s", etc_network[i]));
    for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
        const char *path = keep(b, "/dev/%s", devices[i]);
        add_op(b, (struct plan_op){ OP_DEVICE, false, path, path + 1 });
    }
    /* Last, so that an interpreter below /tmp or /home lands on top of the box's own. */
    for (size_t i = 0; i < wish->n_visible; i++) {
        const char *path = wish->visible[i];
        if (!is_covered(&b->c->plan, path))
            add_op(b,
                   (struct plan_op){ OP_BIND, true, keep(b, "%s", path), keep(b, "%s", path + 1) });
    }
    add_mounts(b, wish->mounts);
}

static void add_mount_rules(struct builder *b, const struct mounts *mounts, bool rooted)
{
    for (size_t i = 0; mounts && i < mounts->n; i++) {
        const struct mount *m = &mounts->list[i];
        const char *path = rooted ? keep(b, BOX_MOUNTS "/%s", m->name) : keep(b, "%s", m->host);
        uint64_t access = m->is_rw ? landlock_write_access() : landlock_read_access();

        add_any_rule(b, (struct plan_rule){ path, access, true });
    }
}

/* Landlock says the same as the mounts do, a second time and by other means. With a private root
 * the whole of it may be read; without one, only what is listed. */
static void compose_landlock(struct builder *b, const struct plan_wish *wish)
{
    struct plan *p = &b->c->plan;
    bool rooted = p->level == LEVEL_NAMESPACES;
    const char *base = rooted ? "" : wish->scratch;

    p->landlock_abi = wish->landlock_abi;
    p->landlock_fs = landlock_all_fs(p->landlock_abi);
    p->landlock_scope = landlock_all_scope(p->landlock_abi);
    if (!wish->host_network && !rooted)
        p->landlock_net = landlock_all_net(p->landlock_abi);
    if (rooted)
        add_rule(b, "/", landlock_read_access());
    for (size_t i = 0; !rooted && i < ARRAY_LEN(system_dirs); i++)
        add_rule(b, keep(b, "/%s", system_dirs[i]), landlock_read_access());
    for (size_t i = 0; !rooted && i < ARRAY_LEN(etc_files); i++)
        add_rule(b, keep(b, "/etc/%s", etc_files[i]), landlock_read_access());
    for (size_t i = 0; !rooted && i < ARRAY_LEN(etc_copies); i++)
        add_rule(b, keep(b, "/etc/%s", etc_copies[i]), landlock_read_access());
    for (size_t i = 0; !rooted && i < ARRAY_LEN(etc_unrooted); i++)
        add_rule(b, keep(b, "/etc/%s", etc_unrooted[i]), landlock_read_access());
    if (!rooted)
        add_rule(b, "/dev/random", landlock_device_access());
    for (size_t i = 0; !rooted && i < wish->n_visible; i++)
        add_rule(b, keep(b, "%s", wish->visible[i]), landlock_read_access());
    for (size_t i = 0; !rooted && wish->host_network && i < ARRAY_LEN(etc_network); i++)
        add_rule(b, keep(b, "/etc/%s", etc_network[i]), landlock_read_access());
    /* Written to, it makes shared anonymous memory of which init hears nothing (notice.h). */
    for (size_t i = 0; i < ARRAY_LEN(devices); i++)
        add_rule(b, keep(b, "/dev/%s", devices[i]),
                 strcmp(devices[i], "zero") == 0 ? landlock_source_access()
                                                 : landlock_device_access());
    if (rooted) {
        add_rule(b, BOX_WORKSPACE, landlock_write_access());
        add_rule(b, BOX_TMP, landlock_write_access());
        add_rule(b, BOX_HOME, landlock_write_access());
        add_rule(b, "/dev/shm", landlock_write_access());
        add_rule(b, "/dev/pts", landlock_device_access());
    } else {
        add_rule(b, keep(b, "%s", base), landlock_write_access());
    }
    add_mount_rules(b, wish->mounts, rooted);
}

/* RLIMIT_NPROC counts all that a user runs in a user namespace. In one of the box's own, or as a
 * user of its own, that is the box; otherwise the watcher counts, and this, beside what the user
 * runs already, is only a stop for a fork bomb between two looks: few enough that the watcher still
 * gets its turn among them. */
static uint64_t process_rlimit(const struct plan *p, uint64_t processes)
{
    enum {
        SLACK = 256
    };

    if (p->level == LEVEL_NAMESPACES)
        return processes + 1; /* init */
    return plan_shares_user(p) ? processes + SLACK : processes + 1;
}

static void compose_limits(struct builder *b, const struct plan_limits *limits)
{
    struct plan *p = &b->c->plan;
    uint64_t cpu_s = limits->cpu_ms == 0 ? RLIM_INFINITY : (limits->cpu_ms + 999) / 1000;

    /* The watcher holds the box's memory as a whole. This stops a single huge request early, with
     * a MemoryError; twice, since thread stacks and reserved arenas count though unused. */
    add_rlimit(b, RLIMIT_DATA, limits->memory_bytes * 2);
    add_rlimit(b, RLIMIT_NPROC, process_rlimit(p, limits->processes));
    add_rlimit(b, RLIMIT_NOFILE, limits->open_files);
    add_rlimit(b, RLIMIT_FSIZE, limits->disk_bytes);
    add_rlimit(b, RLIMIT_CPU, cpu_s);
    /* One byte: the value at which the kernel does not even start a core handler of the host. */
    add_rlimit(b, RLIMIT_CORE, 1);
    add_rlimit(b, RLIMIT_MEMLOCK, 1 << 20);
    add_rlimit(b, RLIMIT_MSGQUEUE, 0);
    add_rlimit(b, RLIMIT_SIGPENDING, 1024);
    /* The host may grant its users more: a box gets ahead of nobody. */
    add_rlimit(b, RLIMIT_RTPRIO, 0);
    add_rlimit(b, RLIMIT_NICE, 0);
    add_rlimit(b, RLIMIT_STACK, 8 << 20);

    p->watch =
        (struct plan_watch){ .memory_bytes = limits->memory_bytes, .cpu_ms = limits->cpu_ms };
    p->watch.own_net = (p->namespaces & CLONE_NEWNET) != 0;
    if (p->level == LEVEL_NAMESPACES) {
        p->tmpfs_bytes = limits->disk_bytes + (64 << 10); /* our own few files beside the guest's */
        p->tmpfs_inodes = limits->inodes + 256;
        return;
    }
    p->watch.processes = limits->processes;
    p->watch.disk_bytes = limits->disk_bytes;
    p->watch.inodes = limits->inodes;
}

uint32_t plan_outside_id(uint64_t number)
{
    /* Different engines start elsewhere, so that their boxes seldom share a user. */
    return OUTSIDE_FIRST + (uint32_t)(((uint64_t)getpid() * 4096 + number) % OUTSIDE_COUNT);
}

bool plan_is_outside_id(uint32_t id)
{
    return id >= OUTSIDE_FIRST && id < OUTSIDE_FIRST + OUTSIDE_COUNT;
}

/* May a process look into its own children? Yama can forbid even that. */
static bool may_look_into_children(void)
{
    char scope[8];
    ssize_t n =
        fd_slurp_at(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope) - 1);

    return n <= 0 || scope[0] < '2';
}

static uint32_t guards_for(const struct plan_wish *wish)
{
    uint32_t guards = wish->level == LEVEL_LANDLOCK            ? GUARD_METADATA
                      : wish->landlock_abi < LANDLOCK_ABI_UNIX ? GUARD_SOCKETS
                                                               : 0;

    return guards != 0 && !may_look_into_children() ? guards | GUARD_DEAF : guards;
}

static void compose_ids(struct plan *p)
{
    p->inside_id = INSIDE_ID;
    p->outside_uid = geteuid();
    p->outside_gid = getegid();
    p->change_ids = p->outside_uid == 0;
    if (p->change_ids)
        p->outside_uid = p->outside_gid = plan_outside_id(0);
}

int compose(const struct plan_wish *wish, struct composed *ret, struct gb_err *err)
{
    struct builder b = { .c = ret, .err = err };
    struct plan *p = &ret->plan;

    *ret = (struct composed){ 0 };
    *p = (struct plan){
        .level = wish->level, .hostname = "glovebox", .workdir = BOX_WORKSPACE, .scratch = ""
    };
    compose_ids(p);
    if (wish->level > LEVEL_NONE && !watch_can_see()) {
        (void)gb_fail(err, GB_E_NO_ISOLATION, 0,
                      "/proc does not list the children of processes, so no limit of a whole box "
                      "could be watched");
        return gb_fail_hint(err, "mount /proc, on a kernel with CONFIG_PROC_CHILDREN");
    }
    if (check_mounts(wish, p, err) < 0)
        return -1;
    if (wish->level == LEVEL_NAMESPACES) {
        p->namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
        p->namespaces |= wish->host_network ? 0 : CLONE_NEWNET;
        verify_note_host(p);
        compose_root(&b, wish);
    } else {
        p->scratch = keep(&b, "%s", wish->scratch);
        p->workdir = keep(&b, "%s" BOX_WORKSPACE, wish->scratch);
    }
    if (wish->level >= LEVEL_LANDLOCK) {
        compose_landlock(&b, wish);
        p->guards = guards_for(wish);
    }
    if (wish->level > LEVEL_NONE)
        compose_limits(&b, &wish->limits);
    const struct seccomp_filter *filter =
        seccomp_filter_for(&(struct seccomp_wish){ .level = wish->level,
                                                   .host_network = wish->host_network,
                                                   .writes_host = mounts_any_rw(wish->mounts) });
    if (!filter && wish->level >= LEVEL_LANDLOCK) {
        composed_done(ret);
        return gb_fail(err, GB_E_NO_ISOLATION, 0, "this build has no seccomp filter for the box");
    }
    p->seccomp = filter ? filter->code : "";
    p->seccomp_bytes = filter ? filter->bytes : 0;
    if (!b.bad)
        return 0;
    composed_done(ret);
    return gb_fail(err, GB_E_LIMIT, 0, "the interpreter needs more directories than a plan holds");
}

void composed_done(struct composed *c)
{
    for (size_t i = 0; i < c->n_strings; i++)
        free(c->strings[i]);
    c->n_strings = 0;
}
