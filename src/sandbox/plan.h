#pragma once
/*
 * The plan: everything that will be done to make a box, as data, before anything is done.
 *
 * The engine composes it (compose.h), prints it (`--explain`), and packs it into a sealed memory
 * file that goes to the zygote with every request for a box. The box unpacks it and applies it in
 * the order of box.c. A plan holds no pointers into the host and no secrets but the environment.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Ordered from weak to strong, so that levels compare. */
#define PLAN_LEVEL_MAP(X)   \
    X(NONE, "none")         \
    X(PROCESS, "process")   \
    X(LANDLOCK, "landlock") \
    X(NAMESPACES, "namespaces")

enum plan_level {
#define X(sym, name) LEVEL_##sym,
    PLAN_LEVEL_MAP(X)
#undef X
};

const char *plan_level_name(enum plan_level level);

/* What holds a box, by the names that results carry, and in their order. */
#define PLAN_LAYER_MAP(X)   \
    X(USER, "user")         \
    X(MOUNT, "mount")       \
    X(PID, "pid")           \
    X(NET, "net")           \
    X(IPC, "ipc")           \
    X(UTS, "uts")           \
    X(SECCOMP, "seccomp")   \
    X(LANDLOCK, "landlock") \
    X(NNP, "nnp")           \
    X(CAPS, "caps")         \
    X(RLIMITS, "rlimits")   \
    X(WATCHER, "watcher")   \
    X(CGROUP, "cgroup")

enum plan_layer_at {
#define X(sym, name) LAYER_AT_##sym,
    PLAN_LAYER_MAP(X)
#undef X
    PLAN_LAYERS
};

/* A set of them is these, added up. */
enum plan_layer {
#define X(sym, name) LAYER_##sym = 1 << LAYER_AT_##sym,
    PLAN_LAYER_MAP(X)
#undef X
};

const char *plan_layer_name(enum plan_layer_at at);

enum {
    PLAN_NAMESPACES = LAYER_AT_UTS + 1 /* the first layers are namespaces */
};

/* What makes the private root. Targets are relative to it. */
#define PLAN_OP_MAP(X)                                                        \
    X(DIR, "dir")           /* a directory                                 */ \
    X(FILE, "file")         /* a file whose content is `source`            */ \
    X(SYMLINK, "symlink")   /* a link that says `source`                   */ \
    X(BIND, "bind")         /* the host's `source`, read-only              */ \
    X(MOUNT_RO, "mount ro") /* a directory that was asked for, read-only */   \
    X(MOUNT_RW, "mount rw") /* the same, to be written to                */   \
    X(DEVICE, "device")     /* the host's device node `source`             */ \
    X(OWN, "writable")      /* a writable directory on the box's own tmpfs */ \
    X(PROC, "proc")         /* a proc of the box's own pid namespace       */ \
    X(PTS, "pts")           /* terminals of the box's own                  */

enum plan_op_kind {
#define X(sym, name) OP_##sym,
    PLAN_OP_MAP(X)
#undef X
};

struct plan_op {
    enum plan_op_kind kind;
    bool optional;      /* skipped when the host does not have it */
    const char *source; /* "" where the kind has none */
    const char *target;
};

/* Landlock: `path` inside the box and what may be done beneath it. */
struct plan_rule {
    const char *path;
    uint64_t access;
    bool is_mount; /* it must be there, and no link may lie in its path */
};

struct plan_rlimit {
    int resource;
    uint64_t value;
};

enum {
    PLAN_OPS_MAX = 160,
    PLAN_RULES_MAX = 96,
    PLAN_RLIMITS_MAX = 16
};

/* What the watcher in the box's first process holds the whole tree to; 0 is no limit. */
struct plan_watch {
    uint64_t memory_bytes;
    uint64_t cpu_ms;
    uint64_t processes;
    uint64_t disk_bytes; /* only where no tmpfs holds it */
    uint64_t inodes;
    uint64_t own_net; /* 1: every socket of its network namespace is the box's */
};

/* What init does for the guest, since a filter cannot tell the harmless from the other
 * (notice.h). */
enum plan_guard {
    GUARD_SOCKETS = 1 << 0, /* connect(): Unix sockets only of the box's own */
    GUARD_METADATA =
        1 << 1,          /* modes, times and links of files, below the places that are allowed */
    GUARD_DEAF = 1 << 2, /* init may not look into the guest here: refuse what it would do */
};

struct plan {
    enum plan_level level;
    uint64_t namespaces; /* CLONE_NEW* */
    /* The engine's own, by their inodes: the box must not be in them. 0: not known. */
    uint64_t host_namespaces[PLAN_NAMESPACES];
    bool lends_net;     /* its network namespace may be another's before and afterwards (net.h) */
    uint32_t guards;    /* enum plan_guard */
    uint32_t inside_id; /* uid and gid that the guest sees */
    uint32_t outside_uid;
    uint32_t outside_gid;
    bool change_ids;      /* the engine is root: the box must not be */
    uint64_t tmpfs_bytes; /* size of the box's own file system, with namespaces */
    uint64_t tmpfs_inodes;
    uint64_t landlock_fs; /* accesses that are denied unless a rule gives them */
    uint64_t landlock_net;
    uint64_t landlock_scope; /* signals, abstract sockets */
    uint32_t landlock_abi;
    const char *hostname;
    const char *workdir; /* where the guest starts */
    const char *scratch; /* host directory that the box owns, without namespaces; else "" */
    struct plan_watch watch;
    size_t n_ops, n_rules, n_rlimits;
    struct plan_op ops[PLAN_OPS_MAX];
    struct plan_rule rules[PLAN_RULES_MAX];
    struct plan_rlimit rlimits[PLAN_RLIMITS_MAX];
    const void *seccomp; /* struct sock_filter[], as many bytes as seccomp_bytes */
    size_t seccomp_bytes;
};

static inline bool plan_op_is_mount(const struct plan_op *op)
{
    return op->kind == OP_MOUNT_RO || op->kind == OP_MOUNT_RW;
}

/* Does the guest run as the very user that the kernel counts the engine's other processes for? */
static inline bool plan_shares_user(const struct plan *plan)
{
    return plan->level < LEVEL_NAMESPACES && !plan->change_ids;
}

/* The layers that a plan is to put in force. */
uint32_t plan_layers(const struct plan *plan);

/* Write the plan to `out`. */
int plan_pack(const struct plan *plan, struct gb_buf *out, struct gb_err *err) gb_nodiscard;

/* Read a plan. Strings and filter point into `data`, which must outlive it. */
int plan_unpack(const void *data, size_t len, struct plan *ret, struct gb_err *err) gb_nodiscard;
