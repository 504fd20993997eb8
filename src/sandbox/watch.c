#include "sandbox/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "sandbox/charge.h"
#include "sandbox/shared.h"

enum {
    ROUNDS = 5,             /* until a tree that changes while we look is taken as it is */
    TREE_MAX = 4096,        /* processes looked at; more than any limit allows */
    LOOK_PROCESSES_MS = 10, /* where no rlimit holds them: a fork bomb is fast */
    LOOK_MAX_MS = 50,       /* at most this long between two looks */
    LOOK_MIN_MS = 2,        /* at least, so that a busy box cannot busy its watcher */
    BYTES_PER_MS = 4 << 20, /* faster than this, memory is not filled by two cores */
};

const char *watch_limit_name(enum watch_limit limit)
{
    static const char *const names[] = { [LIMIT_NONE] = "none",
#define X(sym, name) [LIMIT_##sym] = (name),
                                         WATCH_LIMIT_MAP(X)
#undef X
    };
    return (size_t)limit < ARRAY_LEN(names) ? names[limit] : "unknown";
}

/* ---- the tree ---- */

/* Processes end, and threads of theirs execute programs and take another number, while we look. */
static bool is_gone(int e)
{
    return e == ENOENT || e == ESRCH;
}

/* What a walk saw of the tree, and how. */
struct walk {
    pid_t *pids;
    size_t n, max;
    bool is_torn; /* something was gone when it was to be read: look again */
    int blind;    /* or the errno with which something could not be read that is there */
};

static void fail_walk(struct walk *w, int e)
{
    if (is_gone(e))
        w->is_torn = true;
    else
        w->blind = e;
}

static void add_pid(struct walk *w, pid_t pid)
{
    if (w->n < w->max)
        w->pids[w->n++] = pid;
}

/* The file lists pids with a space after each; it can be longer than any buffer. */
static void children_of_task(int proc, const char *path, struct walk *w)
{
    auto_close int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    char text[4096];
    pid_t pid = 0;
    ssize_t len;

    do {
        len = fd < 0 ? -1 : read(fd, text, sizeof(text));
        for (ssize_t i = 0; i < len; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
            } else if (pid > 0) {
                add_pid(w, pid);
                pid = 0;
            }
        }
    } while (len > 0);
    if (len < 0)
        fail_walk(w, errno);
}

static DIR *open_dir(int proc, const char *path, struct walk *w)
{
    int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        fail_walk(w, errno);
        gb_closep(&fd);
    }
    return dir;
}

/* The end of a directory, and a failure to read on, look the same but for errno. */
static struct dirent *next_entry(DIR *dir, struct walk *w)
{
    struct dirent *e;

    errno = 0;
    e = readdir(dir);
    if (!e && errno != 0)
        fail_walk(w, errno);
    return e;
}

static void children_of(int proc, pid_t pid, struct walk *w)
{
    char path[64];
    DIR *dir;

    (void)snprintf(path, sizeof(path), "%d/task", pid);
    dir = open_dir(proc, path, w);
    if (!dir)
        return;
    for (struct dirent *task = next_entry(dir, w); task; task = next_entry(dir, w)) {
        if (task->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "%d/task/%.20s/children", pid, task->d_name);
        children_of_task(proc, path, w);
    }
    (void)closedir(dir);
}

/* In a pid namespace of the box's own everybody else is below its first process, and /proc lists
 * them all: nobody can change parents while a tree is walked. */
static void list_all(int proc, struct walk *w)
{
    DIR *dir = open_dir(proc, ".", w);

    if (!dir)
        return;
    for (struct dirent *e = next_entry(dir, w); e; e = next_entry(dir, w)) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 1)
            add_pid(w, pid);
    }
    (void)closedir(dir);
}

static struct walk walk_below(int proc, pid_t pid, pid_t *ret, size_t max)
{
    struct walk w = { .pids = ret, .max = max };

    if (pid == 1 && getpid() == 1) {
        list_all(proc, &w);
        return w;
    }
    children_of(proc, pid, &w);
    if (w.is_torn && pid == getpid())
        w.blind = ENOENT; /* we are here */
    for (size_t i = 0; i < w.n; i++)
        children_of(proc, ret[i], &w);
    return w;
}

size_t watch_descendants(int proc, pid_t pid, pid_t *ret, size_t max)
{
    return walk_below(proc, pid, ret, max).n;
}

bool watch_can_see(void)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/self/task/%ld/children", syscall(SYS_gettid));
    return access(path, R_OK) == 0;
}

/* ---- one process ---- */

/* Does this thread still have its memory? */
static bool is_living(int proc, const char *status)
{
    char text[4096];

    return fd_slurp_at(proc, status, text, sizeof(text) - 1) > 0 && strstr(text, "\nVmSize:");
}

void watch_path(int proc, pid_t pid, const char *file, char ret[WATCH_PATH])
{
    char path[WATCH_PATH];
    DIR *dir;
    int fd;

    (void)snprintf(ret, WATCH_PATH, "%d/%s", pid, file);
    (void)snprintf(path, sizeof(path), "%d/status", pid);
    if (is_living(proc, path))
        return;
    (void)snprintf(path, sizeof(path), "%d/task", pid);
    fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *task = dir ? readdir(dir) : NULL; task; task = readdir(dir)) {
        (void)snprintf(path, sizeof(path), "%d/task/%.20s/status", pid, task->d_name);
        if (task->d_name[0] == '.' || !is_living(proc, path))
            continue;
        (void)snprintf(ret, WATCH_PATH, "%d/task/%.20s/%.16s", pid, task->d_name, file);
        break;
    }
    if (dir)
        (void)closedir(dir);
    else
        gb_closep(&fd);
}

static uint64_t field_kb(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

struct usage {
    uint64_t anonymous, shared; /* resident or swapped */
    uint64_t tables;            /* its own bookkeeping */
    uint64_t tasks;
    uint64_t reserved; /* address space, in which more can be held than is resident */
};

static void add_usage(struct usage *all, const struct usage *one)
{
    all->anonymous += one->anonymous;
    all->shared += one->shared;
    all->tables += one->tables;
    all->tasks += one->tasks;
    all->reserved += one->reserved;
}

/* 0, or an errno: ESRCH if it is gone. */
static int read_status(int proc, pid_t pid, struct usage *ret)
{
    char path[WATCH_PATH], text[4096];
    ssize_t n;

    (void)snprintf(path, sizeof(path), "%d/status", pid);
    n = fd_slurp_at(proc, path, text, sizeof(text) - 1);
    if (n > 0 && !strstr(text, "\nVmSize:") && field_kb(text, "\nThreads:") > 0) {
        watch_path(proc, pid, "status", path); /* its first thread has ended */
        n = fd_slurp_at(proc, path, text, sizeof(text) - 1);
    }
    if (n <= 0)
        return n == 0 ? ESRCH : (int)-n;
    *ret = (struct usage){
        .anonymous = (field_kb(text, "\nRssAnon:") + field_kb(text, "\nVmSwap:")) << 10,
        .shared = field_kb(text, "\nRssShmem:") << 10,
        .tables = field_kb(text, "\nVmPTE:") << 10,
        .tasks = field_kb(text, "\nThreads:"),
        .reserved = field_kb(text, "\nVmSize:") << 10,
    };
    return 0;
}

/* The share of this process in memory that forks share. Dearer, so only asked near the limit; of
 * one that hid it (not dumpable), or has gone since, all that it had is counted. */
static void make_exact(int proc, pid_t pid, struct usage *u)
{
    char path[WATCH_PATH], text[4096];

    watch_path(proc, pid, "smaps_rollup", path);
    if (fd_slurp_at(proc, path, text, sizeof(text) - 1) <= 0)
        return;
    u->anonymous = (field_kb(text, "\nPss_Anon:") + field_kb(text, "\nSwapPss:")) << 10;
    u->shared = field_kb(text, "\nPss_Shmem:") << 10;
}

struct ticks {
    pid_t pid;
    unsigned long long start, own, reaped; /* of the children that it waited for */
};

static struct ticks ticks_of(int proc, pid_t pid)
{
    struct ticks t = { .pid = pid };
    unsigned long long fields[23] = { 0 }; /* numbered as in proc(5) */
    char path[32], text[1024];
    const char *at;

    (void)snprintf(path, sizeof(path), "%d/stat", pid);
    if (fd_slurp_at(proc, path, text, sizeof(text) - 1) <= 0)
        return t;
    at = strrchr(text, ')'); /* the name may hold anything; fields are counted after it */
    for (size_t field = 3; at && field < ARRAY_LEN(fields); field++) {
        at = strchr(at + 1, ' ');
        fields[field] = at ? strtoull(at, NULL, 10) : 0;
    }
    t.own = fields[14] + fields[15];
    t.reaped = fields[16] + fields[17];
    t.start = fields[22];
    return t;
}

static uint64_t tick_us(void)
{
    return 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

size_t watch_children(int proc, size_t max, uint64_t *ret_cpu_us)
{
    char path[64];
    pid_t pids[8];
    struct walk w = { .pids = pids, .max = max < ARRAY_LEN(pids) ? max : ARRAY_LEN(pids) };

    (void)snprintf(path, sizeof(path), "%d/task/%d/children", getpid(), getpid());
    children_of_task(proc, path, &w);
    *ret_cpu_us = 0;
    if (w.is_torn || w.blind != 0)
        return max; /* it cannot be told, so there may be that many */
    for (size_t i = 0; i < w.n; i++) {
        struct ticks t = ticks_of(proc, pids[i]);
        *ret_cpu_us += (t.own + t.reaped) * tick_us();
    }
    return w.n;
}

/* What processes had used when they were last seen that are gone now. A program that ignores its
 * children's end leaves no other account of them. */
static uint64_t vanished_ticks(const struct ticks *now, size_t n)
{
    static struct ticks before[TREE_MAX]; /* of the box's single first process */
    static size_t n_before;
    static uint64_t vanished;

    for (size_t i = 0; i < n_before; i++) {
        bool is_here = false;
        for (size_t k = 0; k < n && !is_here; k++)
            is_here = now[k].pid == before[i].pid && now[k].start == before[i].start;
        vanished += is_here ? 0 : before[i].own;
    }
    memcpy(before, now, n * sizeof(*now));
    n_before = n;
    return vanished;
}

/* ---- the scratch directory, where no tmpfs limits it ---- */

struct disk {
    uint64_t bytes, inodes;
};

static void add_disk(int dirfd, const struct plan_watch *limits, struct disk *d, int depth)
{
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        struct stat st;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (d->inodes > limits->inodes || d->bytes > limits->disk_bytes)
            break;
        d->inodes++;
        if (fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        d->bytes += (uint64_t)st.st_blocks * 512;
        if (!S_ISDIR(st.st_mode))
            continue;
        auto_close int sub = fd_open_subdir(dirfd, e->d_name, false);
        if (sub < 0 && errno == EACCES) /* shut, and nothing to hide in it? */
            sub = fd_open_subdir(dirfd, e->d_name, true);
        if (depth > 64) /* deeper than any honest tree: what is below counts as too much */
            d->inodes = limits->inodes + 1;
        else if (sub >= 0)
            add_disk(sub, limits, d, depth + 1);
    }
    (void)closedir(dir);
}

/* ---- the whole ---- */

static bool over(uint64_t used, uint64_t limit)
{
    return limit != 0 && used > limit;
}

static uint32_t next_look(const struct plan_watch *limits, const struct watch_sample *s)
{
    uint64_t ms = limits->processes != 0 ? LOOK_PROCESSES_MS : LOOK_MAX_MS;

    if (limits->memory_bytes != 0 && (limits->memory_bytes - s->memory_bytes) / BYTES_PER_MS < ms)
        ms = (limits->memory_bytes - s->memory_bytes) / BYTES_PER_MS;
    if (limits->cpu_ms != 0 && limits->cpu_ms - s->cpu_ms < ms)
        ms = limits->cpu_ms - s->cpu_ms;
    return (uint32_t)(ms < LOOK_MIN_MS ? LOOK_MIN_MS : ms);
}

static uint64_t reaped_cpu_ms(void)
{
    struct rusage r;

    if (getrusage(RUSAGE_CHILDREN, &r) < 0)
        return 0;
    return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000 +
           (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1000;
}

/* By what was waited for, or by what was seen: the larger, since each misses something. */
static uint64_t cpu_ms_of(int proc, const pid_t *tree, size_t n)
{
    static struct ticks now[TREE_MAX];
    uint64_t own = 0, reaped = 0, tick_ms = tick_us() / 1000, seen;

    for (size_t i = 0; i < n; i++) {
        now[i] = ticks_of(proc, tree[i]);
        own += now[i].own;
        reaped += now[i].reaped;
    }
    seen = (own + vanished_ticks(now, n)) * tick_ms;
    reaped = (own + reaped) * tick_ms + reaped_cpu_ms();
    return seen > reaped ? seen : reaped;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Shared memory is, as a rule, both resident and charged. What sockets and pipes might hold, most
 * do not: it counts if with it alone the limit is passed. */
static uint64_t memory_of(const struct usage *u, const struct charge *c)
{
    uint64_t held = u->anonymous + u->tables + larger(u->shared, c->shared_bytes);

    return larger(held, c->shared_bytes + c->socket_bytes + c->pipe_bytes) + c->object_bytes;
}

static enum watch_limit passed(const struct plan_watch *limits, const struct watch_sample *s,
                               uint64_t inodes)
{
    if (over(s->memory_bytes, limits->memory_bytes))
        return LIMIT_MEMORY;
    if (over(s->processes, limits->processes))
        return LIMIT_PROCESSES;
    if (over(s->cpu_ms, limits->cpu_ms))
        return LIMIT_CPU;
    return over(s->disk_bytes, limits->disk_bytes) || over(inodes, limits->inodes) ? LIMIT_DISK
                                                                                   : LIMIT_NONE;
}

struct tree {
    pid_t pids[TREE_MAX];
    struct usage usages[TREE_MAX];
    size_t n;
    int blind; /* errno, if it could not be read */
};

/* order: again, if something was gone when it was to be read. Its memory may have gone over to a
 * process that was not there when the list was made. */
static void look_at_tree(int proc, size_t max, struct tree *ret)
{
    bool is_torn = true;

    for (int round = 0; round < ROUNDS && is_torn; round++) {
        struct walk w = walk_below(proc, getpid(), ret->pids, max);

        for (size_t i = 0; i < w.n; i++) {
            int e;

            ret->usages[i] = (struct usage){ 0 };
            e = read_status(proc, ret->pids[i], &ret->usages[i]);
            if (e != 0)
                fail_walk(&w, e);
        }
        ret->n = w.n;
        ret->blind = w.blind;
        is_torn = w.is_torn;
    }
}

static struct usage sum_of(const struct tree *tree)
{
    struct usage all = { 0 };

    for (size_t i = 0; i < tree->n; i++)
        add_usage(&all, &tree->usages[i]);
    return all;
}

static uint64_t look_at_memory(const struct plan_watch *limits, int proc, struct tree *tree,
                               const struct charge *charge)
{
    struct usage all = sum_of(tree);

    if (over(memory_of(&all, charge), limits->memory_bytes)) {
        for (size_t i = 0; i < tree->n; i++)
            make_exact(proc, tree->pids[i], &tree->usages[i]);
        all = sum_of(tree);
    }
    return memory_of(&all, charge);
}

struct watch_sample watch_look(const struct plan_watch *limits, int proc, int scratch)
{
    static struct tree tree; /* only ever used by a box's single first process */
    /* order: one more than are allowed is enough to know. A fork bomb grows while it is counted. */
    size_t max =
        limits->processes == 0 || limits->processes >= TREE_MAX ? TREE_MAX : limits->processes + 1;
    struct watch_sample s = { .processes = 0 };
    struct charge charge = { 0 };
    struct disk d = { 0 };
    struct stat st = { 0 };
    struct usage all;

    look_at_tree(proc, max, &tree);
    all = sum_of(&tree);
    if (scratch >= 0) {
        add_disk(scratch, limits, &d, 0);
        (void)fstat(scratch, &st);
    }
    if (limits->memory_bytes != 0 || scratch >= 0)
        charge_look(proc, tree.pids, tree.n,
                    &(struct charge_wish){ .device = st.st_dev,
                                           .fds = true,
                                           .maps = scratch >= 0 || shared_is_used() ||
                                                   over(all.reserved, limits->memory_bytes) },
                    &charge);
    if (limits->own_net != 0) /* it counts those that have a descriptor, too */
        charge.socket_bytes = larger(charge.socket_bytes, charge_net(proc));
    s.memory_bytes = look_at_memory(limits, proc, &tree, &charge);
    s.processes = all.tasks;
    s.cpu_ms = cpu_ms_of(proc, tree.pids, tree.n);
    s.disk_bytes = d.bytes + charge.deleted_bytes;
    s.blind = tree.blind;
    s.hit = passed(limits, &s, d.inodes);
    if (s.hit == LIMIT_NONE)
        s.next_ms = next_look(limits, &s);
    return s;
}

void watch_look_at_shared(int proc)
{
    static pid_t pids[TREE_MAX];
    struct charge charge;

    /* A look that misses a process would clear its mappings from the book. Without a whole look the
     * book stays as it is, which is never too little. */
    for (int round = 0; round < ROUNDS; round++) {
        struct walk w = walk_below(proc, getpid(), pids, ARRAY_LEN(pids));

        if (w.blind != 0)
            return;
        if (w.is_torn)
            continue;
        charge_look(proc, pids, w.n, &(struct charge_wish){ .maps = true }, &charge);
        return;
    }
}

/* UINT_MAX where the kernel does not say (before Linux 5.9). */
static unsigned filters_of_task(int proc, const char *path)
{
    static const char name[] = "\nSeccomp_filters:";
    char text[4096];
    const char *at;

    if (fd_slurp_at(proc, path, text, sizeof(text) - 1) <= 0)
        return 0; /* gone */
    at = strstr(text, name);
    return at ? (unsigned)strtoul(at + sizeof(name) - 1, NULL, 10) : UINT_MAX;
}

static uint64_t filters_of(int proc, pid_t pid, unsigned common, struct walk *w)
{
    char path[WATCH_PATH];
    uint64_t n = 0;
    DIR *dir;

    (void)snprintf(path, sizeof(path), "%d/task", pid);
    dir = open_dir(proc, path, w);
    for (struct dirent *task = dir ? readdir(dir) : NULL; task; task = readdir(dir)) {
        unsigned all;

        if (task->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "%d/task/%.20s/status", pid, task->d_name);
        all = filters_of_task(proc, path);
        n += all > common ? all - common : 0;
    }
    if (dir)
        (void)closedir(dir);
    return n;
}

unsigned watch_filters(int proc)
{
    static pid_t pids[TREE_MAX];
    struct walk w = walk_below(proc, getpid(), pids, ARRAY_LEN(pids));
    /* We have as many as every guest: those around glovebox, the one that init hears from, and one
     * of our own. */
    unsigned common = filters_of_task(proc, "self/status");
    uint64_t n = common == UINT_MAX ? UINT_MAX : 0;

    for (size_t i = 0; i < w.n; i++)
        n += filters_of(proc, pids[i], common, &w);
    return w.blind != 0 || n > UINT_MAX ? UINT_MAX : (unsigned)n;
}
