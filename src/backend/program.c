#include "backend/program.h"

#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/json.h"

struct plan_watch program_watch(const struct run_order *order, const struct box_shape *made)
{
    const struct plan_limits *limits = &order->limits;
    struct plan_watch w = { 0 };

    if (made->level == LEVEL_NONE)
        return w;
    w.memory_bytes = limits->memory_bytes;
    w.cpu_ms = limits->cpu_ms;
    w.own_net = made->level == LEVEL_NAMESPACES && !made->host_network;
    if (made->level < LEVEL_NAMESPACES) {
        w.processes = limits->processes;
        w.disk_bytes = limits->disk_bytes;
        w.inodes = limits->inodes;
    }
    return w;
}

static void add_rlimit(json_t *list, int resource, uint64_t value)
{
    json_array_append_new(list, json_pack("[i,I]", resource, (json_int_t)value));
}

/* Limits below those that the box was made with, as the guest sets them. */
static json_t *rlimits_of(const struct run_order *order, const struct box_shape *made)
{
    const struct plan_limits *want = &order->limits, *have = &made->limits;
    uint64_t init = made->level == LEVEL_NAMESPACES ? 1 : 0;
    json_t *list = json_array();

    if (made->level == LEVEL_NONE || order->place) /* a session's are what it was made with */
        return list;
    if (want->memory_bytes != have->memory_bytes)
        add_rlimit(list, RLIMIT_DATA, want->memory_bytes * 2);
    /* Without a user of its own the watcher alone counts. */
    if (want->processes != have->processes && (init == 1 || geteuid() == 0))
        add_rlimit(list, RLIMIT_NPROC, want->processes + init);
    if (want->open_files != have->open_files)
        add_rlimit(list, RLIMIT_NOFILE, want->open_files);
    if (want->cpu_ms != have->cpu_ms)
        add_rlimit(list, RLIMIT_CPU, (want->cpu_ms + 999) / 1000);
    return list;
}

/* Where a box without a private root keeps what others find at the usual places. */
static void point_into_scratch(json_t *env, const char *scratch)
{
    json_object_set_new(env, "HOME", json_sprintf("%s/home", scratch));
    json_object_set_new(env, "TMPDIR", json_sprintf("%s/tmp", scratch));
}

/* What its frames about tools are known by. */
static uint64_t draw_token(json_t *program)
{
    uint64_t token = 0;

    (void)!getrandom(&token, sizeof(token), 0);
    token = (token >> 1) | 1; /* fits JSON, and is not 0 */
    json_object_set_new(program, "tool_token", json_integer((json_int_t)token));
    return token;
}

json_t *program_for(const struct run_order *order, const struct box_shape *made,
                    const char *scratch, bool is_fork, uint64_t *ret_tool_token)
{
    json_t *program = json_copy(json_shared(order->program));
    json_t *env = json_object_get(program, "env");

    env = env ? json_copy(env) : json_object();
    if (scratch && !is_fork)
        point_into_scratch(env, scratch);
    /* Where the host's /etc is refused and not missing, git would end at its own file there. */
    if (made->level == LEVEL_LANDLOCK && !json_object_get(env, "GIT_CONFIG_NOSYSTEM"))
        json_object_set_new(env, "GIT_CONFIG_NOSYSTEM", json_string("1"));
    if (order->mounts && order->mounts->n > 0 && !is_fork)
        json_object_set_new(env, "GLOVEBOX_MNT",
                            json_sprintf("%s" BOX_MOUNTS, scratch ? scratch : ""));
    json_object_set_new(program, "env", env);
    *ret_tool_token = json_object_get(program, "tools") ? draw_token(program) : 0;
    if (order->hold)
        json_object_set_new(program, "hold", json_true());
    json_object_set_new(program, "rlimits", rlimits_of(order, made));
    return program;
}
