#pragma once
/* From what is wanted to a plan: the policy of isolation in one place, as data. */
#include <stdbool.h>
#include <stdint.h>

#include "sandbox/mounts.h"
#include "sandbox/plan.h"

struct plan_limits {
    uint64_t memory_bytes;
    uint64_t disk_bytes;
    uint64_t inodes;
    uint64_t processes;
    uint64_t open_files;
    uint64_t cpu_ms; /* 0: none */
};

struct plan_wish {
    enum plan_level level;
    bool host_network;
    struct plan_limits limits;
    uint32_t landlock_abi;
    const char *scratch;        /* for levels without a private root */
    const char *const *visible; /* what the interpreter needs to see: absolute paths */
    size_t n_visible;
    const struct mounts *mounts; /* directories for the program, or NULL */
};

/* A composed plan and the memory that its strings live in. */
struct composed {
    struct plan plan;
    char *strings[2 * PLAN_OPS_MAX];
    size_t n_strings;
};

void composed_done(struct composed *c);

/* Where the guest writes; the same names at every level, below the scratch directory where there
 * is no private root. */
#define BOX_WORKSPACE "/workspace"
#define BOX_HOME      "/home/box"
#define BOX_TMP       "/tmp"
#define BOX_MOUNTS    "/mnt"

/* Compose the plan. Asks the host only what exists; changes nothing. */
int compose(const struct plan_wish *wish, struct composed *ret, struct gb_err *err) gb_nodiscard;

/* The user of the host that box `number` of an engine runs as when the engine is root. */
uint32_t plan_outside_id(uint64_t number);

/* Is it one of those? */
bool plan_is_outside_id(uint32_t id);
