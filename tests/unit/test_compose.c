/* What a level of isolation means: the plan says it all before anything is done. */
#include "unit.h"

#include <sched.h>
#include <sys/resource.h>

#include "sandbox/compose.h"
#include "sandbox/explain.h"
#include "sandbox/landlock.h"
#include "wish.h"

static struct composed *composed_for(const struct plan_wish *wish)
{
    struct composed *c = malloc(sizeof(*c));
    struct gb_err err = { 0 };

    assert_non_null(c);
    if (compose(wish, c, &err) < 0)
        fail_msg("%s", err.msg);
    return c;
}

static void composed_free(struct composed *c)
{
    composed_done(c);
    free(c);
}

/* ---- layers ---- */

static void test_levels_have_their_layers(void **state)
{
    static const struct {
        enum plan_level level;
        bool host_network;
        const char *layers;
    } cases[] = {
        { LEVEL_NONE, false, "" }, /* unboxed is unboxed */
        { LEVEL_PROCESS, false, " nnp caps rlimits watcher" },
        { LEVEL_LANDLOCK, false, " seccomp landlock nnp caps rlimits watcher" },
        { LEVEL_LANDLOCK, true, " seccomp landlock nnp caps rlimits watcher" },
        { LEVEL_NAMESPACES, false,
          " user mount pid net ipc uts seccomp landlock nnp caps rlimits watcher" },
        { LEVEL_NAMESPACES, true,
          " user mount pid ipc uts seccomp landlock nnp caps rlimits watcher" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct plan_wish wish = a_wish(cases[i].level);
        char text[200] = "";

        wish.host_network = cases[i].host_network;
        struct composed *c = composed_for(&wish);
        for (unsigned at = 0; at < PLAN_LAYERS; at++)
            if (plan_layers(&c->plan) & 1u << at)
                (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s",
                               plan_layer_name(at));
        assert_string_equal(text, cases[i].layers);
        composed_free(c);
    }
}

static void test_namespaces(void **state)
{
    const uint64_t all =
        CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

    (void)state;
    for (enum plan_level level = LEVEL_NONE; level <= LEVEL_NAMESPACES; level++) {
        struct plan_wish wish = a_wish(level);
        struct composed *c = composed_for(&wish);
        bool rooted = level == LEVEL_NAMESPACES;

        assert_int_equal(c->plan.level, level);
        assert_int_equal(c->plan.namespaces, rooted ? all : 0);
        assert_int_equal(c->plan.n_ops > 0, rooted);
        assert_int_equal(c->plan.tmpfs_bytes > 0, rooted);
        assert_string_equal(c->plan.scratch, rooted ? "" : "/tmp/scratch");
        assert_string_equal(c->plan.workdir, rooted ? "/workspace" : "/tmp/scratch/workspace");
        composed_free(c);
    }
}

/* ---- the private root ---- */

static void test_no_whole_directory_of_the_host(void **state)
{
    static const char *const never[] = { "/",    "/home", "/root", "/etc",  "/var", "/run", "/tmp",
                                         "/dev", "/proc", "/sys",  "/boot", "/srv", "/mnt" };

    (void)state;
    for (int host_network = 0; host_network < 2; host_network++) {
        struct plan_wish wish = a_wish(LEVEL_NAMESPACES);

        wish.host_network = host_network;
        struct composed *c = composed_for(&wish);
        for (size_t i = 0; i < c->plan.n_ops; i++) {
            const struct plan_op *op = &c->plan.ops[i];
            if (op->kind != OP_BIND && op->kind != OP_DEVICE)
                continue;
            assert_int_equal(op->source[0], '/');
            for (size_t k = 0; k < ARRAY_LEN(never); k++)
                assert_string_not_equal(op->source, never[k]);
        }
        composed_free(c);
    }
}

/* Parts between slashes: none empty, none that goes up. */
static bool stays_inside(const char *target)
{
    for (;;) {
        size_t n = strcspn(target, "/");
        if (n == 0 || strncmp(target, "..", n) == 0) /* n of 1: "." */
            return false;
        if (target[n] == '\0')
            return true;
        target += n + 1;
    }
}

static void test_targets_stay_inside(void **state)
{
    struct plan_wish wish = a_wish(LEVEL_NAMESPACES);

    (void)state;
    assert_true(stays_inside("a/..b/c"));
    assert_false(stays_inside("a/../b") || stays_inside("/a") || stays_inside("") ||
                 stays_inside("a/") || stays_inside("./a"));
    wish.host_network = true;
    struct composed *c = composed_for(&wish);
    for (size_t i = 0; i < c->plan.n_ops; i++) {
        if (!stays_inside(c->plan.ops[i].target))
            fail_msg("'%s'", c->plan.ops[i].target);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(c->plan.ops[i].target, c->plan.ops[k].target);
    }
    composed_free(c);
}

static size_t count_op(const struct plan *p, enum plan_op_kind kind, const char *target)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_ops; i++)
        n += p->ops[i].kind == kind && strcmp(p->ops[i].target, target) == 0;
    return n;
}

static void test_the_root_has_what_it_should(void **state)
{
    static const struct {
        enum plan_op_kind kind;
        const char *target;
        size_t want, want_network;
    } cases[] = {
        { OP_BIND, "usr", 1, 1 },          { OP_FILE, "etc/passwd", 1, 1 },
        { OP_BIND, "etc/passwd", 0, 0 },   { OP_BIND, "etc/shadow", 0, 0 },
        { OP_PROC, "proc", 1, 1 },         { OP_PTS, "dev/pts", 1, 1 },
        { OP_DEVICE, "dev/null", 1, 1 },   { OP_DEVICE, "dev/mem", 0, 0 },
        { OP_DEVICE, "dev/tty", 0, 0 },    { OP_OWN, "workspace", 1, 1 },
        { OP_OWN, "tmp", 1, 1 },           { OP_OWN, "home/box", 1, 1 },
        { OP_OWN, "dev/shm", 1, 1 },       { OP_BIND, "opt/python/lib", 1, 1 },
        { OP_BIND, "etc/gai.conf", 0, 1 }, { OP_BIND, "home/somebody/venv", 1, 1 },
    };

    (void)state;
    for (size_t network = 0; network < 2; network++) {
        struct plan_wish wish = a_wish(LEVEL_NAMESPACES);

        wish.host_network = network == 1;
        struct composed *c = composed_for(&wish);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            size_t want = network ? cases[i].want_network : cases[i].want;
            if (strcmp(cases[i].target, "etc/gai.conf") == 0 && access("/etc/gai.conf", R_OK) < 0)
                want = 0;
            if (count_op(&c->plan, cases[i].kind, cases[i].target) != want)
                fail_msg("%s: not %zu", cases[i].target, want);
        }
        size_t own = 0;
        for (size_t i = 0; i < c->plan.n_ops; i++)
            own += c->plan.ops[i].kind == OP_OWN;
        assert_int_equal(own, 4);
        composed_free(c);
    }
}

static void test_visible_paths_once(void **state)
{
    static const char *const visible[] = { "/usr/lib/python3", "/usr",        "/opt/py",
                                           "/opt/py/lib",      "/opt/py",     "/opt/python",
                                           "/usrlocal/lib",    "/tmp/venv/x", "/home/me/venv" };
    static const struct {
        const char *target;
        size_t want;
    } cases[] = { { "usr/lib/python3", 0 }, { "usr", 1 },         { "opt/py", 1 },
                  { "opt/py/lib", 0 },      { "opt/python", 1 },  { "usrlocal/lib", 1 },
                  { "tmp/venv/x", 1 },      { "home/me/venv", 1 } };
    struct plan_wish wish = a_wish(LEVEL_NAMESPACES);
    size_t last_own = 0;

    (void)state;
    wish.visible = visible;
    wish.n_visible = ARRAY_LEN(visible);
    struct composed *c = composed_for(&wish);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (count_op(&c->plan, OP_BIND, cases[i].target) != cases[i].want)
            fail_msg("%s: not bound %zu times", cases[i].target, cases[i].want);
    /* What lies below a writable place is mounted after it, or it would be hidden. */
    for (size_t i = 0; i < c->plan.n_ops; i++) {
        if (c->plan.ops[i].kind == OP_OWN)
            last_own = i;
        else if (strcmp(c->plan.ops[i].target, "tmp/venv/x") == 0)
            assert_true(i > last_own);
    }
    assert_true(last_own < c->plan.n_ops - 1);
    composed_free(c);
}

static void test_too_many_paths(void **state)
{
    static char names[2 * PLAN_OPS_MAX][16];
    static const char *visible[ARRAY_LEN(names)];
    static struct composed c;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)snprintf(names[i], sizeof(names[i]), "/opt/%zu", i);
        visible[i] = names[i];
    }
    for (enum plan_level level = LEVEL_LANDLOCK; level <= LEVEL_NAMESPACES; level++) {
        struct plan_wish wish = a_wish(level);
        struct gb_err err = { 0 };

        wish.visible = visible;
        wish.n_visible = ARRAY_LEN(visible);
        assert_int_equal(compose(&wish, &c, &err), -1);
        assert_int_equal(err.code, GB_E_LIMIT);
    }
}

/* ---- landlock ---- */

static void test_writes_only_where_the_guest_may(void **state)
{
    static const struct {
        enum plan_level level;
        const char *const places[5];
    } cases[] = {
        { LEVEL_NAMESPACES, { "/workspace", "/tmp", "/home/box", "/dev/shm" } },
        { LEVEL_LANDLOCK, { "/tmp/scratch" } },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct plan_wish wish = a_wish(cases[i].level);
        struct composed *c = composed_for(&wish);
        size_t n = 0;

        for (size_t k = 0; k < c->plan.n_rules; k++) {
            const struct plan_rule *rule = &c->plan.rules[k];
            if (rule->access == landlock_write_access()) {
                assert_non_null(cases[i].places[n]);
                assert_string_equal(rule->path, cases[i].places[n++]);
            } else if (rule->access == landlock_device_access() ||
                       rule->access == landlock_source_access()) {
                assert_int_equal(strncmp(rule->path, "/dev/", 5), 0);
            } else {
                assert_int_equal(rule->access, landlock_read_access());
            }
        }
        assert_null(cases[i].places[n]);
        composed_free(c);
    }
}

static void test_reads_only_what_is_listed(void **state)
{
    static const char *const never[] = { "/",    "/home", "/root",       "/etc",
                                         "/var", "/tmp",  "/proc",       "/dev",
                                         "/sys", "/run",  "/etc/passwd", "/etc/shadow" };
    struct plan_wish wish = a_wish(LEVEL_LANDLOCK);

    (void)state;
    wish.host_network = true;
    struct composed *c = composed_for(&wish);
    for (size_t i = 0; i < c->plan.n_rules; i++) {
        assert_int_equal(c->plan.rules[i].path[0], '/');
        for (size_t k = 0; k < ARRAY_LEN(never); k++)
            assert_string_not_equal(c->plan.rules[i].path, never[k]);
    }
    composed_free(c);
}

/* What neither a filter nor Landlock can tell, init does; not where Landlock can. */
static void test_guards(void **state)
{
    static const struct {
        enum plan_level level;
        uint32_t abi, guards;
    } cases[] = {
        { LEVEL_NONE, 7, 0 },
        { LEVEL_PROCESS, 7, 0 },
        { LEVEL_LANDLOCK, 7, GUARD_METADATA },
        { LEVEL_LANDLOCK, 9, GUARD_METADATA },
        { LEVEL_NAMESPACES, 0, GUARD_SOCKETS },
        { LEVEL_NAMESPACES, 8, GUARD_SOCKETS },
        { LEVEL_NAMESPACES, 9, 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct plan_wish wish = a_wish(cases[i].level);

        wish.landlock_abi = cases[i].abi;
        struct composed *c = composed_for(&wish);
        assert_int_equal(c->plan.guards & ~(uint32_t)GUARD_DEAF, cases[i].guards);
        composed_free(c);
    }
}

static void test_landlock_denies_what_its_version_can(void **state)
{
    static const struct {
        uint32_t abi;
        uint64_t fs, net, scope;
    } cases[] = {
        { 0, 0, 0, 0 },       { 1, 0x1fff, 0, 0 },   { 2, 0x3fff, 0, 0 }, { 3, 0x7fff, 0, 0 },
        { 4, 0x7fff, 3, 0 },  { 5, 0xffff, 3, 0 },   { 6, 0xffff, 3, 3 }, { 8, 0xffff, 3, 3 },
        { 9, 0x1ffff, 3, 3 }, { 99, 0x1ffff, 3, 3 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct plan_wish wish = a_wish(LEVEL_LANDLOCK);

        assert_int_equal(landlock_all_fs(cases[i].abi), cases[i].fs);
        wish.landlock_abi = cases[i].abi;
        for (int host_network = 0; host_network < 2; host_network++) {
            wish.host_network = host_network;
            struct composed *c = composed_for(&wish);
            assert_int_equal(c->plan.landlock_abi, cases[i].abi);
            assert_int_equal(c->plan.landlock_fs, cases[i].fs);
            assert_int_equal(c->plan.landlock_net, host_network ? 0 : cases[i].net);
            assert_int_equal(c->plan.landlock_scope, cases[i].scope);
            composed_free(c);
        }
    }
}

/* ---- users ---- */

static void test_the_box_is_never_root(void **state)
{
    (void)state;
    for (enum plan_level level = LEVEL_NONE; level <= LEVEL_NAMESPACES; level++) {
        struct plan_wish wish = a_wish(level);
        struct composed *c = composed_for(&wish);

        assert_int_equal(c->plan.change_ids, geteuid() == 0);
        assert_int_not_equal(c->plan.inside_id, 0);
        assert_int_not_equal(c->plan.outside_uid, 0);
        if (geteuid() == 0) { /* nobody that the host knows */
            assert_in_range(c->plan.outside_uid, 0x70000000, 0x7fffffff);
            assert_in_range(c->plan.outside_gid, 0x70000000, 0x7fffffff);
        }
        composed_free(c);
    }
}

static bool keeps_its_user(void *data)
{
    static struct composed c;
    struct plan_wish wish = a_wish(LEVEL_NAMESPACES);
    struct gb_err err;

    (void)data;
    return compose(&wish, &c, &err) == 0 && !c.plan.change_ids && c.plan.outside_uid == geteuid() &&
           c.plan.outside_gid == getegid();
}

static void test_an_ordinary_user_stays(void **state)
{
    (void)state;
    assert_true(unit_as_nobody(keeps_its_user, NULL));
}

static void test_outside_ids(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        assert_in_range(plan_outside_id(i), 0x70000000, 0x7fffffff);
        assert_int_not_equal(plan_outside_id(i), plan_outside_id(i + 1));
    }
    assert_in_range(plan_outside_id(UINT64_MAX), 0x70000000, 0x7fffffff);
}

/* ---- limits ---- */

static uint64_t rlimit_of(const struct plan *p, int resource)
{
    for (size_t i = 0; i < p->n_rlimits; i++)
        if (p->rlimits[i].resource == resource)
            return p->rlimits[i].value;
    fail_msg("no resource limit %d", resource);
    return 0;
}

static void test_limits(void **state)
{
    (void)state;
    for (enum plan_level level = LEVEL_PROCESS; level <= LEVEL_NAMESPACES; level++) {
        struct plan_wish wish = a_wish(level);
        bool rooted = level == LEVEL_NAMESPACES;
        struct composed *c = composed_for(&wish);
        const struct plan *p = &c->plan;

        assert_int_equal(rlimit_of(p, RLIMIT_CORE), 1);
        assert_int_equal(rlimit_of(p, RLIMIT_RTPRIO), 0);
        assert_int_equal(rlimit_of(p, RLIMIT_NICE), 0);
        assert_int_equal(rlimit_of(p, RLIMIT_NOFILE), 256);
        assert_int_equal(rlimit_of(p, RLIMIT_FSIZE), 256 << 20);
        assert_int_equal(rlimit_of(p, RLIMIT_CPU), RLIM_INFINITY);
        assert_true(rlimit_of(p, RLIMIT_DATA) >= 512 << 20);
        assert_true(rlimit_of(p, RLIMIT_NPROC) >= 64);
        if (rooted)
            assert_true(rlimit_of(p, RLIMIT_NPROC) <= 65);
        assert_int_equal(p->watch.memory_bytes, 512 << 20);
        assert_int_equal(p->watch.cpu_ms, 0);
        /* One of the two holds the disk: the box's own file system or the watcher. */
        assert_int_equal(p->watch.disk_bytes, rooted ? 0 : 256 << 20);
        assert_int_equal(p->watch.inodes, rooted ? 0 : 1000);
        assert_int_equal(p->tmpfs_bytes >= 256 << 20, rooted);
        assert_int_equal(p->tmpfs_inodes >= 1000, rooted);
        composed_free(c);
    }
}

static void test_cpu_seconds_round_up(void **state)
{
    static const uint64_t cases[][2] = { { 1, 1 },    { 999, 1 },  { 1000, 1 },
                                         { 1001, 2 }, { 1500, 2 }, { 60000, 60 } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct plan_wish wish = a_wish(LEVEL_PROCESS);

        wish.limits.cpu_ms = cases[i][0];
        struct composed *c = composed_for(&wish);
        assert_int_equal(rlimit_of(&c->plan, RLIMIT_CPU), cases[i][1]);
        assert_int_equal(c->plan.watch.cpu_ms, cases[i][0]);
        composed_free(c);
    }
}

/* ---- the plan for people ---- */

static void test_explained(void **state)
{
    (void)state;
    for (enum plan_level level = LEVEL_NONE; level <= LEVEL_NAMESPACES; level++) {
        struct plan_wish wish = a_wish(level);
        struct composed *c = composed_for(&wish);
        json_t *json = plan_to_json(&c->plan);
        const char *name = json_string_value(json_object_get(json, "level"));
        json_t *landlock = json_object_get(json, "landlock");
        json_t *rlimits = json_object_get(json, "rlimits");

        assert_non_null(json);
        assert_string_equal(name, plan_level_name(level));
        assert_int_equal(json_array_size(json_object_get(json, "layers")),
                         __builtin_popcount(plan_layers(&c->plan)));
        assert_int_equal(json_array_size(json_object_get(json, "root")), c->plan.n_ops);
        assert_int_equal(json_array_size(json_object_get(landlock, "rules")), c->plan.n_rules);
        assert_int_equal(json_object_size(rlimits), c->plan.n_rlimits); /* each by its name */
        assert_null(json_object_get(rlimits, "unknown"));
        assert_int_equal(json_is_null(json_object_get(rlimits, "cpu")), level > LEVEL_NONE);
        json_decref(json);
        composed_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_have_their_layers),
        cmocka_unit_test(test_namespaces),
        cmocka_unit_test(test_no_whole_directory_of_the_host),
        cmocka_unit_test(test_targets_stay_inside),
        cmocka_unit_test(test_the_root_has_what_it_should),
        cmocka_unit_test(test_visible_paths_once),
        cmocka_unit_test(test_too_many_paths),
        cmocka_unit_test(test_writes_only_where_the_guest_may),
        cmocka_unit_test(test_reads_only_what_is_listed),
        cmocka_unit_test(test_guards),
        cmocka_unit_test(test_landlock_denies_what_its_version_can),
        cmocka_unit_test(test_the_box_is_never_root),
        cmocka_unit_test(test_an_ordinary_user_stays),
        cmocka_unit_test(test_outside_ids),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_cpu_seconds_round_up),
        cmocka_unit_test(test_explained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
