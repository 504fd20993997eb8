/* The plan on its way to the box: what is packed is what is unpacked, and what is broken is
 * refused, or at least never read beyond its end. */
#include "unit.h"

#include <sys/mman.h>

#include "sandbox/compose.h"
#include "wish.h"

enum {
    PACKED_MAX = 1 << 20
};

static const enum plan_level levels[] = { LEVEL_NONE, LEVEL_PROCESS, LEVEL_LANDLOCK,
                                          LEVEL_NAMESPACES };

static void pack_level(enum plan_level level, struct composed *c, struct gb_buf *packed)
{
    struct plan_wish wish = a_wish(level);
    struct gb_err err = { 0 };

    assert_int_equal(compose(&wish, c, &err), 0);
    gb_buf_init(packed, PACKED_MAX);
    assert_int_equal(plan_pack(&c->plan, packed, &err), 0);
}

/* ---- memory that ends where the plan does ---- */

struct fence {
    char *base;
    size_t bytes;
};

static struct fence fence_new(size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct fence f = { .bytes = (len / page + 1) * page };

    f.base = mmap(NULL, f.bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.base != MAP_FAILED);
    assert_return_code(mprotect(f.base + f.bytes, page, PROT_NONE), 0);
    return f;
}

static void fence_free(const struct fence *f)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    assert_return_code(munmap(f->base, f->bytes + page), 0);
}

/* The last `len` bytes before the fence. */
static char *fence_end(const struct fence *f, size_t len)
{
    return f->base + f->bytes - len;
}

/* Look at every byte that the plan lays claim to. */
static size_t touch(const struct plan *p)
{
    size_t sum = strlen(p->hostname) + strlen(p->workdir) + strlen(p->scratch);
    const unsigned char *filter = p->seccomp;

    assert_true(p->n_ops <= PLAN_OPS_MAX && p->n_rules <= PLAN_RULES_MAX &&
                p->n_rlimits <= PLAN_RLIMITS_MAX);
    for (size_t i = 0; i < p->n_ops; i++)
        sum += strlen(p->ops[i].source) + strlen(p->ops[i].target);
    for (size_t i = 0; i < p->n_rules; i++)
        sum += strlen(p->rules[i].path);
    for (size_t i = 0; i < p->seccomp_bytes; i++)
        sum += filter[i];
    return sum;
}

/* ---- tests ---- */

static void assert_same_lists(const struct plan *a, const struct plan *b)
{
    assert_int_equal(a->n_ops, b->n_ops);
    for (size_t i = 0; i < a->n_ops; i++) {
        assert_int_equal(a->ops[i].kind, b->ops[i].kind);
        assert_int_equal(a->ops[i].optional, b->ops[i].optional);
        assert_string_equal(a->ops[i].source, b->ops[i].source);
        assert_string_equal(a->ops[i].target, b->ops[i].target);
    }
    assert_int_equal(a->n_rules, b->n_rules);
    for (size_t i = 0; i < a->n_rules; i++) {
        assert_int_equal(a->rules[i].access, b->rules[i].access);
        assert_string_equal(a->rules[i].path, b->rules[i].path);
    }
    assert_int_equal(a->n_rlimits, b->n_rlimits);
    for (size_t i = 0; i < a->n_rlimits; i++) {
        assert_int_equal(a->rlimits[i].resource, b->rlimits[i].resource);
        assert_int_equal(a->rlimits[i].value, b->rlimits[i].value);
    }
}

static void assert_same(const struct plan *a, const struct plan *b)
{
    assert_int_equal(a->level, b->level);
    assert_int_equal(a->namespaces, b->namespaces);
    assert_int_equal(a->inside_id, b->inside_id);
    assert_int_equal(a->outside_uid, b->outside_uid);
    assert_int_equal(a->outside_gid, b->outside_gid);
    assert_int_equal(a->change_ids, b->change_ids);
    assert_int_equal(a->tmpfs_bytes, b->tmpfs_bytes);
    assert_int_equal(a->tmpfs_inodes, b->tmpfs_inodes);
    assert_int_equal(a->landlock_fs, b->landlock_fs);
    assert_int_equal(a->landlock_net, b->landlock_net);
    assert_int_equal(a->landlock_scope, b->landlock_scope);
    assert_int_equal(a->landlock_abi, b->landlock_abi);
    assert_string_equal(a->hostname, b->hostname);
    assert_string_equal(a->workdir, b->workdir);
    assert_string_equal(a->scratch, b->scratch);
    assert_memory_equal(&a->watch, &b->watch, sizeof(a->watch));
    assert_same_lists(a, b);
    assert_int_equal(a->seccomp_bytes, b->seccomp_bytes);
    if (a->seccomp_bytes > 0)
        assert_memory_equal(a->seccomp, b->seccomp, a->seccomp_bytes);
}

static void test_there_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        struct composed c;
        struct gb_buf packed, again;
        struct gb_err err = { 0 };
        struct plan back;

        pack_level(levels[i], &c, &packed);
        assert_int_equal(plan_unpack(packed.data, packed.len, &back, &err), 0);
        assert_same(&c.plan, &back);
        gb_buf_init(&again, PACKED_MAX);
        assert_int_equal(plan_pack(&back, &again, &err), 0);
        assert_int_equal(again.len, packed.len);
        assert_memory_equal(again.data, packed.data, packed.len);
        gb_buf_done(&again);
        gb_buf_done(&packed);
        composed_done(&c);
    }
}

static void test_every_truncation_is_refused(void **state)
{
    struct composed c;
    struct gb_buf packed;

    (void)state;
    pack_level(LEVEL_NAMESPACES, &c, &packed);
    struct fence f = fence_new(packed.len);
    for (size_t len = 0; len < packed.len; len++) {
        struct gb_err err = { 0 };
        struct plan plan;

        memcpy(fence_end(&f, len), packed.data, len);
        if (plan_unpack(fence_end(&f, len), len, &plan, &err) == 0)
            fail_msg("%zu of %zu bytes make a plan", len, packed.len);
        assert_int_equal(err.code, GB_E_PROTOCOL);
        (void)touch(&plan); /* what was refused is whole all the same */
    }
    fence_free(&f);
    gb_buf_done(&packed);
    composed_done(&c);
}

static void test_no_corruption_reads_too_far(void **state)
{
    static const unsigned char flips[] = { 0x01, 0x10, 0x80, 0xff };
    struct composed c;
    struct gb_buf packed;

    (void)state;
    pack_level(LEVEL_NAMESPACES, &c, &packed);
    struct fence f = fence_new(packed.len);
    char *data = fence_end(&f, packed.len);
    memcpy(data, packed.data, packed.len);
    for (size_t i = 0; i < packed.len; i++) {
        for (size_t k = 0; k < ARRAY_LEN(flips); k++) {
            struct gb_err err = { 0 };
            struct plan plan;

            data[i] = (char)((unsigned char)packed.data[i] ^ flips[k]);
            int r = plan_unpack(data, packed.len, &plan, &err);
            assert_int_equal(err.code, r == 0 ? GB_OK : GB_E_PROTOCOL);
            assert_true(r < 0 || i >= sizeof(uint32_t)); /* the magic has no slack */
            (void)touch(&plan);
        }
        data[i] = packed.data[i];
    }
    fence_free(&f);
    gb_buf_done(&packed);
    composed_done(&c);
}

static void test_no_noise_reads_too_far(void **state)
{
    struct composed c;
    struct gb_buf packed;

    (void)state;
    pack_level(LEVEL_LANDLOCK, &c, &packed);
    struct fence f = fence_new(packed.len);
    for (int round = 0; round < 20000; round++) {
        size_t len = unit_random() % packed.len, keep = unit_random() % 200;
        char *data = fence_end(&f, len);
        struct gb_err err = { 0 };
        struct plan plan;

        memcpy(data, packed.data, len);
        for (size_t i = keep; i < len; i += 1 + unit_random() % 64)
            data[i] = (char)unit_random();
        (void)!plan_unpack(data, len, &plan, &err);
        (void)touch(&plan);
    }
    fence_free(&f);
    gb_buf_done(&packed);
    composed_done(&c);
}

static void test_nothing_follows(void **state)
{
    struct composed c;
    struct gb_buf packed;
    struct gb_err err = { 0 };
    struct plan plan;

    (void)state;
    pack_level(LEVEL_PROCESS, &c, &packed);
    assert_int_equal(gb_buf_add(&packed, "", 1, &err), 0);
    assert_int_equal(plan_unpack(packed.data, packed.len, &plan, &err), -1);
    assert_int_equal(err.code, GB_E_PROTOCOL);
    assert_non_null(strstr(err.hint, "same build"));
    gb_buf_done(&packed);
    composed_done(&c);
}

static void test_must_fit(void **state)
{
    struct plan_wish wish = a_wish(LEVEL_NAMESPACES);
    struct composed c;
    struct gb_buf small;
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(compose(&wish, &c, &err), 0);
    gb_buf_init(&small, 1000);
    assert_int_equal(plan_pack(&c.plan, &small, &err), -1);
    assert_int_equal(err.code, GB_E_LIMIT);
    gb_buf_done(&small);
    composed_done(&c);
}

static void test_names_of_levels(void **state)
{
    static const char *const names[] = { "none", "process", "landlock", "namespaces" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        assert_string_equal(plan_level_name(levels[i]), names[i]);
    assert_string_equal(plan_level_name((enum plan_level)99), "unknown");
    assert_true(LEVEL_NONE < LEVEL_PROCESS && LEVEL_PROCESS < LEVEL_LANDLOCK &&
                LEVEL_LANDLOCK < LEVEL_NAMESPACES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_no_corruption_reads_too_far),
        cmocka_unit_test(test_no_noise_reads_too_far),
        cmocka_unit_test(test_nothing_follows),
        cmocka_unit_test(test_must_fit),
        cmocka_unit_test(test_names_of_levels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
