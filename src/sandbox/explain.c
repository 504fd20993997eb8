#include "sandbox/explain.h"

#include <stdbool.h>
#include <sys/resource.h>

#include "base/own.h"
#include "sandbox/compose.h"
#include "sandbox/landlock.h"

static const char *op_name(enum plan_op_kind kind)
{
    static const char *const names[] = {
#define X(sym, name) [OP_##sym] = (name),
        PLAN_OP_MAP(X)
#undef X
    };
    return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}

static const char *rlimit_name(int resource)
{
    static const struct {
        int resource;
        const char *name;
    } names[] = { { RLIMIT_DATA, "data" },       { RLIMIT_NPROC, "nproc" },
                  { RLIMIT_NOFILE, "nofile" },   { RLIMIT_FSIZE, "fsize" },
                  { RLIMIT_CPU, "cpu" },         { RLIMIT_CORE, "core" },
                  { RLIMIT_MEMLOCK, "memlock" }, { RLIMIT_MSGQUEUE, "msgqueue" },
                  { RLIMIT_STACK, "stack" },     { RLIMIT_SIGPENDING, "sigpending" },
                  { RLIMIT_RTPRIO, "rtprio" },   { RLIMIT_NICE, "nice" } };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].resource == resource)
            return names[i].name;
    return "unknown";
}

json_t *layers_to_json(uint32_t layers)
{
    json_t *list = json_array();

    for (unsigned at = 0; at < PLAN_LAYERS; at++)
        if (layers & 1u << at)
            json_array_append_new(list, json_string(plan_layer_name(at)));
    return list;
}

static json_t *root_json(const struct plan *plan)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->n_ops; i++) {
        const struct plan_op *op = &plan->ops[i];
        json_t *item = json_pack("{s:s,s:s+}", "kind", op_name(op->kind), "path", "/", op->target);
        if (op->source[0])
            json_object_set_new(item, op->kind == OP_FILE ? "content" : "source",
                                json_string(op->source));
        json_array_append_new(list, item);
    }
    return list;
}

static const char *access_name(uint64_t access)
{
    if (access == landlock_read_access())
        return "read";
    return access == landlock_write_access() ? "write" : "device";
}

static json_t *landlock_json(const struct plan *plan)
{
    json_t *rules = json_array();

    for (size_t i = 0; i < plan->n_rules; i++)
        json_array_append_new(rules, json_pack("{s:s,s:s}", "path", plan->rules[i].path, "access",
                                               access_name(plan->rules[i].access)));
    return json_pack("{s:i,s:b,s:b,s:o}", "abi", (int)plan->landlock_abi, "tcp_refused",
                     plan->landlock_net != 0, "signals_held", plan->landlock_scope != 0, "rules",
                     rules);
}

static json_t *rlimits_json(const struct plan *plan)
{
    json_t *object = json_object();

    for (size_t i = 0; i < plan->n_rlimits; i++) {
        uint64_t value = plan->rlimits[i].value;
        json_object_set_new(object, rlimit_name(plan->rlimits[i].resource),
                            value == RLIM_INFINITY ? json_null() : json_integer((json_int_t)value));
    }
    return object;
}

json_t *plan_to_json(const struct plan *plan)
{
    return json_pack(
        "{s:s,s:o,s:{s:I,s:I,s:b},s:s,s:o,s:{s:I,s:I},s:o,s:{s:I},s:o,s:{s:I,s:I}}", "level",
        plan_level_name(plan->level), "layers", layers_to_json(plan_layers(plan)), "user", "inside",
        (json_int_t)(plan->namespaces ? plan->inside_id : plan->outside_uid), "outside",
        (json_int_t)plan->outside_uid, "changed", plan->change_ids, "workdir", plan->workdir,
        "root", root_json(plan), "tmpfs", "bytes", (json_int_t)plan->tmpfs_bytes, "inodes",
        (json_int_t)plan->tmpfs_inodes, "landlock", landlock_json(plan), "seccomp", "instructions",
        (json_int_t)(plan->seccomp_bytes / 8), "rlimits", rlimits_json(plan), "watcher",
        "memory_bytes", (json_int_t)plan->watch.memory_bytes, "cpu_ms",
        (json_int_t)plan->watch.cpu_ms);
}
