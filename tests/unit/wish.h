#pragma once
/* An ordinary wish for a box, for tests of plans. */
#include "base/own.h"
#include "sandbox/compose.h"

static const char *const wish_visible[] = { "/opt/python/lib", "/home/somebody/venv" };

static inline struct plan_wish a_wish(enum plan_level level)
{
    return (struct plan_wish){
        .level = level,
        .limits = { .memory_bytes = 512 << 20,
                    .disk_bytes = 256 << 20,
                    .inodes = 1000,
                    .processes = 64,
                    .open_files = 256 },
        .landlock_abi = 6,
        .scratch = "/tmp/scratch",
        .visible = wish_visible,
        .n_visible = ARRAY_LEN(wish_visible),
    };
}
