#include "backend/plans.h"

#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/landlock.h"

enum {
    VISIBLE_MAX = 64,
    LANDLOCK_ABI_MIN = 6, /* signals and abstract sockets held too: what a box without namespaces
                             needs */
};

bool shape_same(const struct box_shape *a, const struct box_shape *b)
{
    return a->level == b->level && a->host_network == b->host_network &&
           memcmp(&a->limits, &b->limits, sizeof(a->limits)) == 0 &&
           mounts_same(a->mounts, b->mounts);
}

/* An interpreter that claims one of these as its own is not believed. */
static bool is_private(const char *path)
{
    static const char *const dirs[] = { "/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/proc",
                                        "/root", "/run", "/srv", "/sys",  "/tmp",   "/var" };

    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (strcmp(path, dirs[i]) == 0)
            return true;
    return strstr(path, "/..") || strstr(path, "//");
}

static size_t add_visible(const char *path, const char **list, size_t n)
{
    if (path && is_private(path))
        return n;
    if (!path || path[0] != '/' || path[1] == '\0' || n == VISIBLE_MAX)
        return n;
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], path) == 0)
            return n;
    list[n] = path;
    return n + 1;
}

/* What the interpreter must be able to read: its prefixes and wherever it looks for modules. */
static size_t visible_paths(const json_t *info, const char **list)
{
    const json_t *prefixes = json_object_get(info, "prefixes");
    const json_t *path = json_object_get(info, "path");
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(prefixes); i++) {
        const char *prefix = json_string_value(json_array_get(prefixes, i));
        if (prefix && strcmp(prefix, "/usr") != 0)
            n = add_visible(prefix, list, n);
    }
    for (size_t i = 0; i < json_array_size(path); i++)
        n = add_visible(json_string_value(json_array_get(path, i)), list, n);
    return n;
}

static int compose_shape(const struct box_shape *shape, const char *scratch, const json_t *info,
                         struct composed *ret, struct gb_err *err)
{
    const char *visible[VISIBLE_MAX];
    struct plan_wish wish = { .level = shape->level,
                              .host_network = shape->host_network,
                              .limits = shape->limits,
                              .scratch = scratch,
                              .visible = visible,
                              .mounts = shape->mounts };
    uint32_t abi_min = shape->level == LEVEL_LANDLOCK ? LANDLOCK_ABI_MIN : 1;
    int why;

    wish.n_visible = visible_paths(info, visible);
    wish.landlock_abi = landlock_abi(&why);
    if (shape->level >= LEVEL_LANDLOCK && wish.landlock_abi < abi_min) {
        (void)gb_fail(err, GB_E_NO_ISOLATION, why,
                      "this kernel offers Landlock ABI %u, isolation '%s' needs %u",
                      wish.landlock_abi, plan_level_name(shape->level), abi_min);
        return gb_fail_hint(err, "'glovebox doctor' says what this host allows");
    }
    return compose(&wish, ret, err);
}

static void forget(struct plans *p, unsigned at)
{
    if (!p->kept[at].used)
        return;
    composed_done(&p->kept[at].composed);
    (void)mounts_unref(p->kept[at].shape.mounts);
    p->kept[at].used = false;
}

struct composed *plans_get(struct plans *p, const struct box_shape *shape, const char *scratch,
                           const json_t *info, struct gb_err *err)
{
    unsigned at = p->next % PLANS_KEPT;

    for (size_t i = 0; i < PLANS_KEPT && !scratch; i++)
        if (p->kept[i].used && shape_same(&p->kept[i].shape, shape))
            return &p->kept[i].composed;
    forget(p, at);
    if (compose_shape(shape, scratch ? scratch : "", info, &p->kept[at].composed, err) < 0)
        return NULL;
    p->kept[at].used = true;
    p->kept[at].shape = *shape;
    (void)mounts_ref(shape->mounts);
    if (scratch)
        p->kept[at].shape.limits.disk_bytes = UINT64_MAX; /* names a directory: for this box only */
    else
        p->next++;
    return &p->kept[at].composed;
}

void plans_done(struct plans *p)
{
    for (unsigned i = 0; i < PLANS_KEPT; i++)
        forget(p, i);
}
