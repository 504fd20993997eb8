/* gb_buf: a buffer that grows, up to its ceiling and not a byte further. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/own.h"

static void test_starts_empty(void **state)
{
    struct gb_buf b;

    (void)state;
    gb_buf_init(&b, 10);
    assert_null(b.data);
    assert_int_equal(b.len, 0);
    assert_int_equal(b.max, 10);
    gb_buf_done(&b);
}

static void test_keeps_what_was_added(void **state)
{
    struct gb_buf b;
    struct gb_err err = { 0 };

    (void)state;
    gb_buf_init(&b, 1 << 20);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(gb_buf_add(&b, "0123456789", 10, &err), 0);
    assert_int_equal(b.len, 100000);
    for (size_t at = 0; at < b.len; at += 10)
        assert_memory_equal(b.data + at, "0123456789", 10);
    gb_buf_done(&b);
}

static void test_bytes_are_bytes(void **state)
{
    static const char bytes[] = { 'a', '\0', '\xff', '\n' };
    struct gb_buf b;
    struct gb_err err = { 0 };

    (void)state;
    gb_buf_init(&b, 64);
    assert_int_equal(gb_buf_add(&b, bytes, sizeof(bytes), &err), 0);
    assert_int_equal(b.len, sizeof(bytes));
    assert_memory_equal(b.data, bytes, sizeof(bytes));
    gb_buf_done(&b);
}

static void test_ceiling(void **state)
{
    /* How much is there, how much more is wanted, and whether ten bytes hold it. */
    static const struct {
        size_t have, more;
        int want;
    } cases[] = {
        { 0, 0, 0 },   { 0, 10, 0 }, { 0, 11, -1 },       { 10, 0, 0 },
        { 10, 1, -1 }, { 9, 1, 0 },  { 1, SIZE_MAX, -1 }, { 10, SIZE_MAX, -1 },
    };
    static const char ten[10] = "abcdefghij";

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gb_buf b;
        struct gb_err err = { 0 };

        gb_buf_init(&b, 10);
        assert_int_equal(gb_buf_add(&b, ten, cases[i].have, &err), 0);
        assert_int_equal(gb_buf_add(&b, ten, cases[i].more, &err), cases[i].want);
        if (cases[i].want < 0) {
            assert_int_equal(err.code, GB_E_LIMIT);
            assert_string_equal(err.msg, "more than 10 bytes");
            assert_int_equal(b.len, cases[i].have);
            if (b.len > 0)
                assert_memory_equal(b.data, ten, b.len);
        }
        gb_buf_done(&b);
    }
}

static void test_no_ceiling_still_refuses_the_impossible(void **state)
{
    struct gb_buf b;
    struct gb_err err = { 0 };

    (void)state;
    gb_buf_init(&b, SIZE_MAX);
    assert_int_equal(gb_buf_add(&b, "x", 1, &err), 0);
    assert_int_equal(gb_buf_reserve(&b, SIZE_MAX, &err), -1);
    assert_int_equal(err.code, GB_E_LIMIT);
    assert_int_equal(b.len, 1);
    assert_int_equal(b.data[0], 'x');
    gb_buf_done(&b);
}

static void test_reserve_gives_room(void **state)
{
    struct gb_buf b;
    struct gb_err err = { 0 };

    (void)state;
    gb_buf_init(&b, 5000);
    assert_int_equal(gb_buf_reserve(&b, 5000, &err), 0);
    memset(b.data, 'x', 5000);
    b.len += 5000;
    assert_int_equal(gb_buf_reserve(&b, 1, &err), -1);
    gb_buf_done(&b);
}

static void test_done_leaves_a_usable_buffer(void **state)
{
    struct gb_buf b;
    struct gb_err err = { 0 };

    (void)state;
    gb_buf_init(&b, 16);
    assert_int_equal(gb_buf_add(&b, "abc", 3, &err), 0);
    gb_buf_done(&b);
    gb_buf_done(&b);
    assert_null(b.data);
    assert_int_equal(b.max, 16);
    assert_int_equal(gb_buf_add(&b, "de", 2, &err), 0);
    assert_memory_equal(b.data, "de", 2);
    gb_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_empty),
        cmocka_unit_test(test_keeps_what_was_added),
        cmocka_unit_test(test_bytes_are_bytes),
        cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_no_ceiling_still_refuses_the_impossible),
        cmocka_unit_test(test_reserve_gives_room),
        cmocka_unit_test(test_done_leaves_a_usable_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
