#pragma once
/* The watcher: what the whole tree below this process uses, by the kernel's own count. It works
 * without cgroups; it samples, so it names a limit some milliseconds after it was passed. */
#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/plan.h"

/* In the order in which they are asked for. */
#define WATCH_LIMIT_MAP(X)    \
    X(MEMORY, "memory")       \
    X(PROCESSES, "processes") \
    X(CPU, "cpu")             \
    X(DISK, "disk")           \
    X(OPEN_FILES, "open_files")

enum watch_limit {
    LIMIT_NONE,
#define X(sym, name) LIMIT_##sym,
    WATCH_LIMIT_MAP(X)
#undef X
};

const char *watch_limit_name(enum watch_limit limit);

struct watch_sample {
    enum watch_limit hit;
    uint64_t memory_bytes;
    uint64_t processes;
    uint64_t cpu_ms;
    uint64_t disk_bytes;
    int blind;        /* 0, or the errno with which the processes could not be looked at */
    uint32_t next_ms; /* when to look again: sooner when there is little left */
};

/* Look once. `proc` is a descriptor of /proc, `scratch` of the directory whose size counts, or
 * -1. */
struct watch_sample watch_look(const struct plan_watch *limits, int proc, int scratch);

/* Look only at mappings, to bring what shared.h knows up to date. */
void watch_look_at_shared(int proc);

/* How many seccomp filters the threads below this process have beyond those of every guest, one
 * that several have inherited as often. */
unsigned watch_filters(int proc);

/* Does this kernel list the children of a process (CONFIG_PROC_CHILDREN)? Without that nobody can
 * say what is in a box that has no pid namespace. */
bool watch_can_see(void);

/* The path of a process's file below /proc. Where its first thread has ended and others live, that
 * of one that lives: the dead one's files are empty. */
enum {
    WATCH_PATH = 64
};
void watch_path(int proc, pid_t pid, const char *file, char ret[WATCH_PATH]);

/* How many children this process has, as far as its first thread made or inherited them, but not
 * more than `max`, and what those have used: a small read for each. `max` if it cannot be told. */
size_t watch_children(int proc, size_t max, uint64_t *ret_cpu_us);

/* The processes below `pid`, children before grandchildren, at most `max`. Returns how many. */
size_t watch_descendants(int proc, pid_t pid, pid_t *ret, size_t max);
