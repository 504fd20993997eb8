#include "sandbox/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "sandbox/charge.h"

enum {
    FD_MIGHT_HOLD = 1 << 19, /* what a descriptor could hide: enough to look closer */
    TREE_MAX = 4096,         /* processes looked at; more than any limit allows */
    LOOK_PROCESSES_MS = 10,  /* where no rlimit holds them: a fork bomb is fast */
    LOOK_MAX_MS = 50,        /* at most this long between two looks */
    LOOK_MIN_MS = 2,         /* at least, so that a busy box cannot busy its watcher */
    BYTES_PER_MS = 4 << 20,  /* faster than this, memory is not filled by two cores */
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

/* The file lists pids with a space after each; it can be longer than any buffer. */
static size_t children_of_task(int proc, const char *path, pid_t *ret, size_t max)
{
    auto_close int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    char text[4096];
    size_t n = 0;
    pid_t pid = 0;

    for (;;) {
        ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));
        if (len <= 0)
            return n;
        for (ssize_t i = 0; i < len; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
            } else if (pid > 0) {
                if (n < max)
                    ret[n++] = pid;
                pid = 0;
            }
        }
    }
}

static size_t children_of(int proc, pid_t pid, pid_t *ret, size_t max)
{
    char path[64];
    size_t n = 0;
    DIR *dir;
    int fd;

    (void)snprintf(path, sizeof(path), "%d/task", pid);
    fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            (void)close(fd);
        return 0;
    }
    for (struct dirent *task = readdir(dir); task; task = readdir(dir)) {
        if (task->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "%d/task/%.20s/children", pid, task->d_name);
        n += children_of_task(proc, path, ret + n, max - n);
    }
    (void)closedir(dir);
    return n;
}

size_t watch_descendants(int proc, pid_t pid, pid_t *ret, size_t max)
{
    size_t n = children_of(proc, pid, ret, max);

    for (size_t i = 0; i < n; i++)
        n += children_of(proc, ret[i], ret + n, max - n);
    return n;
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
    uint64_t memory, tasks;
    uint64_t tables;   /* of memory, what its own bookkeeping takes */
    uint64_t hideable; /* what could be held beside the resident memory */
};

static void add_status(int proc, pid_t pid, struct usage *u)
{
    char path[WATCH_PATH], text[4096];

    (void)snprintf(path, sizeof(path), "%d/status", pid);
    if (fd_slurp_at(proc, path, text, sizeof(text) - 1) <= 0)
        return;
    if (!strstr(text, "\nVmSize:") && field_kb(text, "\nThreads:") > 0) {
        watch_path(proc, pid, "status", path); /* its first thread has ended */
        if (fd_slurp_at(proc, path, text, sizeof(text) - 1) <= 0)
            return;
    }
    u->memory += (field_kb(text, "\nRssAnon:") + field_kb(text, "\nRssShmem:") +
                  field_kb(text, "\nVmSwap:") + field_kb(text, "\nVmPTE:"))
                 << 10;
    u->tables += field_kb(text, "\nVmPTE:") << 10;
    u->tasks += field_kb(text, "\nThreads:");
    u->hideable +=
        (field_kb(text, "\nVmSize:") << 10) + field_kb(text, "\nFDSize:") * (uint64_t)FD_MIGHT_HOLD;
}

/* The share of this process in memory that forks share. Dearer, so only asked near the limit;
 * a process that hid it (not dumpable) is counted in full. */
static uint64_t exact_memory(int proc, pid_t pid)
{
    char path[WATCH_PATH], text[4096];
    struct usage plain = { 0 };

    watch_path(proc, pid, "smaps_rollup", path);
    if (fd_slurp_at(proc, path, text, sizeof(text) - 1) > 0)
        return (field_kb(text, "\nPss_Anon:") + field_kb(text, "\nPss_Shmem:") +
                field_kb(text, "\nSwapPss:"))
               << 10;
    add_status(proc, pid, &plain);
    return plain.memory;
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
    size_t n;

    (void)snprintf(path, sizeof(path), "%d/task/%d/children", getpid(), getpid());
    n = children_of_task(proc, path, pids, max < ARRAY_LEN(pids) ? max : ARRAY_LEN(pids));
    *ret_cpu_us = 0;
    for (size_t i = 0; i < n; i++) {
        struct ticks t = ticks_of(proc, pids[i]);
        *ret_cpu_us += (t.own + t.reaped) * tick_us();
    }
    return n;
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

static uint64_t memory_of(const struct plan_watch *limits, int proc, const pid_t *tree, size_t n,
                          const struct usage *u)
{
    uint64_t exact = 0;

    if (!over(u->memory, limits->memory_bytes))
        return u->memory;
    for (size_t i = 0; i < n; i++)
        exact += exact_memory(proc, tree[i]);
    return exact + u->tables;
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

struct watch_sample watch_look(const struct plan_watch *limits, int proc, int scratch)
{
    static pid_t tree[TREE_MAX]; /* only ever used by a box's single first process */
    /* order: one more than are allowed is enough to know. A fork bomb grows while it is counted. */
    size_t max =
        limits->processes == 0 || limits->processes >= TREE_MAX ? TREE_MAX : limits->processes + 1;
    size_t n = watch_descendants(proc, getpid(), tree, max);
    struct watch_sample s = { .processes = 0 };
    struct usage u = { 0 };
    struct charge charge = { 0 };
    struct disk d = { 0 };
    struct stat st = { 0 };
    uint64_t net = 0;

    for (size_t i = 0; i < n; i++)
        add_status(proc, tree[i], &u);
    if (scratch >= 0) {
        add_disk(scratch, limits, &d, 0);
        (void)fstat(scratch, &st);
    }
    if (over(u.hideable, limits->memory_bytes) || scratch >= 0)
        charge_look(proc, tree, n, st.st_dev, &charge);
    if (limits->own_net != 0)
        net = charge_net(proc);
    if (net > charge.socket_bytes) /* it counts those that have a descriptor, too */
        charge.socket_bytes = net;

    s.memory_bytes = memory_of(limits, proc, tree, n, &u);
    if (charge.shared_bytes + charge.socket_bytes > s.memory_bytes)
        s.memory_bytes = charge.shared_bytes + charge.socket_bytes; /* mostly the same pages */
    s.processes = u.tasks;
    s.cpu_ms = cpu_ms_of(proc, tree, n);
    s.disk_bytes = d.bytes + charge.deleted_bytes;
    s.hit = passed(limits, &s, d.inodes);
    if (s.hit == LIMIT_NONE)
        s.next_ms = next_look(limits, &s);
    return s;
}
