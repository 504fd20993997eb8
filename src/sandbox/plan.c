#include "sandbox/plan.h"

#include <sched.h>
#include <string.h>

#include "base/own.h"

/* Changed whenever the layout below changes: a library and an interpreter extension that were not
 * built together must not understand each other by accident. */
static const uint32_t plan_magic = 0x47425036;

const char *plan_level_name(enum plan_level level)
{
    static const char *const names[] = {
#define X(sym, name) [LEVEL_##sym] = (name),
        PLAN_LEVEL_MAP(X)
#undef X
    };
    return (size_t)level < ARRAY_LEN(names) ? names[level] : "unknown";
}

const char *plan_layer_name(enum plan_layer_at at)
{
    static const char *const names[] = {
#define X(sym, name) [LAYER_AT_##sym] = (name),
        PLAN_LAYER_MAP(X)
#undef X
    };
    return (size_t)at < ARRAY_LEN(names) ? names[at] : "unknown";
}

uint32_t plan_layers(const struct plan *plan)
{
    const struct {
        bool is_wanted;
        enum plan_layer layer;
    } layers[] = {
        { (plan->namespaces & CLONE_NEWUSER) != 0, LAYER_USER },
        { (plan->namespaces & CLONE_NEWNS) != 0, LAYER_MOUNT },
        { (plan->namespaces & CLONE_NEWPID) != 0, LAYER_PID },
        { (plan->namespaces & CLONE_NEWNET) != 0, LAYER_NET },
        { (plan->namespaces & CLONE_NEWIPC) != 0, LAYER_IPC },
        { (plan->namespaces & CLONE_NEWUTS) != 0, LAYER_UTS },
        { plan->seccomp_bytes > 0, LAYER_SECCOMP },
        { plan->landlock_fs != 0, LAYER_LANDLOCK },
        { plan->level > LEVEL_NONE, LAYER_NNP },
        { plan->level > LEVEL_NONE, LAYER_CAPS },
        { plan->n_rlimits > 0, LAYER_RLIMITS },
        { plan->watch.memory_bytes > 0, LAYER_WATCHER },
    };
    uint32_t all = 0;

    for (size_t i = 0; i < ARRAY_LEN(layers); i++)
        all |= layers[i].is_wanted ? (uint32_t)layers[i].layer : 0;
    return all;
}

/* ---- one walk for both directions ---- */

/* The fields are visited once, in one order, by plan_visit(); a visitor either writes or reads.
 * That way packing and unpacking cannot drift apart. */
struct visitor {
    struct gb_buf *out; /* writing */
    const char *in;     /* reading */
    size_t left;
    bool bad;
};

static void visit_bytes(struct visitor *v, void *data, size_t len)
{
    struct gb_err ignored;

    if (v->out) {
        v->bad |= gb_buf_add(v->out, data, len, &ignored) < 0;
        return;
    }
    if (v->bad || len > v->left) {
        v->bad = true;
        memset(data, 0, len);
        return;
    }
    memcpy(data, v->in, len);
    v->in += len;
    v->left -= len;
}

#define visit(v, field) visit_bytes((v), &(field), sizeof(field))

static void visit_blob(struct visitor *v, const void **data, size_t *len)
{
    visit(v, *len);
    if (v->out) {
        struct gb_err ignored;
        v->bad |= gb_buf_add(v->out, *data, *len, &ignored) < 0;
        return;
    }
    if (v->bad || *len > v->left) {
        v->bad = true;
        *data = "";
        *len = 0;
        return;
    }
    *data = v->in;
    v->in += *len;
    v->left -= *len;
}

static void visit_string(struct visitor *v, const char **text)
{
    const void *data = *text;
    size_t len = v->out ? strlen(*text) + 1 : 0;

    visit_blob(v, &data, &len);
    if (!v->out) {
        v->bad |= len == 0 || memchr(data, '\0', len) != (const char *)data + len - 1;
        *text = v->bad ? "" : data;
    }
}

static void visit_count(struct visitor *v, size_t *n, size_t max)
{
    visit(v, *n);
    if (*n > max) {
        v->bad = true;
        *n = 0;
    }
}

static void plan_visit(struct visitor *v, struct plan *p)
{
    uint32_t magic = plan_magic;

    visit(v, magic);
    v->bad |= magic != plan_magic;
    visit(v, p->level);
    visit(v, p->namespaces);
    visit(v, p->host_namespaces);
    visit(v, p->lends_net);
    visit(v, p->guards);
    visit(v, p->inside_id);
    visit(v, p->outside_uid);
    visit(v, p->outside_gid);
    visit(v, p->change_ids);
    visit(v, p->tmpfs_bytes);
    visit(v, p->tmpfs_inodes);
    visit(v, p->landlock_fs);
    visit(v, p->landlock_net);
    visit(v, p->landlock_scope);
    visit(v, p->landlock_abi);
    visit(v, p->watch);
    visit_count(v, &p->n_rlimits, PLAN_RLIMITS_MAX);
    visit_bytes(v, p->rlimits, p->n_rlimits * sizeof(p->rlimits[0]));

    visit_string(v, &p->hostname);
    visit_string(v, &p->workdir);
    visit_string(v, &p->scratch);
    visit_count(v, &p->n_ops, PLAN_OPS_MAX);
    for (size_t i = 0; i < p->n_ops; i++) {
        visit(v, p->ops[i].kind);
        visit(v, p->ops[i].optional);
        visit_string(v, &p->ops[i].source);
        visit_string(v, &p->ops[i].target);
    }
    visit_count(v, &p->n_rules, PLAN_RULES_MAX);
    for (size_t i = 0; i < p->n_rules; i++) {
        visit(v, p->rules[i].access);
        visit(v, p->rules[i].is_mount);
        visit_string(v, &p->rules[i].path);
    }
    visit_blob(v, &p->seccomp, &p->seccomp_bytes);
}

int plan_pack(const struct plan *plan, struct gb_buf *out, struct gb_err *err)
{
    struct plan copy = *plan;
    struct visitor v = { .out = out };

    plan_visit(&v, &copy);
    return v.bad ? gb_fail(err, GB_E_LIMIT, 0, "the plan has more than %zu bytes", out->max) : 0;
}

int plan_unpack(const void *data, size_t len, struct plan *ret, struct gb_err *err)
{
    struct visitor v = { .in = data, .left = len };

    *ret = (struct plan){ 0 };
    plan_visit(&v, ret);
    if (!v.bad && v.left == 0)
        return 0;
    (void)gb_fail(err, GB_E_PROTOCOL, 0, "the plan cannot be read");
    return gb_fail_hint(err, "library and interpreter extension must come from the same build");
}
