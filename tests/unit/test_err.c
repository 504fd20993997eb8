/* gb_err: what was tried, what the system said, what can be done; always whole, always in
 * bounds. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/own.h"

static void test_set(void **state)
{
    struct gb_err err;

    (void)state;
    gb_err_set(&err, GB_E_SYSTEM, ENOENT, "opening %s", "/x");
    assert_int_equal(err.code, GB_E_SYSTEM);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(err.msg, "opening /x: No such file or directory");
    assert_string_equal(err.hint, "");
}

static void test_without_errno(void **state)
{
    struct gb_err err;

    (void)state;
    gb_err_set(&err, GB_E_INVALID, 0, "timeout: %d is out of range", -1);
    assert_int_equal(err.sys, 0);
    assert_string_equal(err.msg, "timeout: -1 is out of range");
}

static void test_set_forgets_what_was_there(void **state)
{
    struct gb_err err;

    (void)state;
    gb_err_set(&err, GB_E_BUSY, EAGAIN, "a much longer message than the second one");
    gb_err_hint(&err, "wait");
    gb_err_set(&err, GB_E_GONE, 0, "gone");
    assert_int_equal(err.code, GB_E_GONE);
    assert_int_equal(err.sys, 0);
    assert_string_equal(err.msg, "gone");
    assert_string_equal(err.hint, "");
}

static void test_prefix_adds_the_outer_context(void **state)
{
    struct gb_err err;

    (void)state;
    gb_err_set(&err, GB_E_SYSTEM, EPERM, "mount");
    gb_err_hint(&err, "ask the administrator");
    gb_err_prefix(&err, "box %d", 7);
    assert_string_equal(err.msg, "box 7: mount: Operation not permitted");
    assert_string_equal(err.hint, "ask the administrator");
    assert_int_equal(err.code, GB_E_SYSTEM);
    assert_int_equal(err.sys, EPERM);
}

/* Whatever is put in, the texts end with NUL inside their arrays and the rest is untouched. */
static void test_long_texts_are_cut(void **state)
{
    char text[1000];
    struct gb_err err;

    (void)state;
    memset(text, 'm', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (size_t len = sizeof(err.msg) - 4; len < sizeof(err.msg) + 4; len++) {
        gb_err_set(&err, GB_E_SYSTEM, ENOENT, "%.*s", (int)len, text);
        gb_err_hint(&err, "%.*s", (int)len, text);
        gb_err_prefix(&err, "%.*s", (int)len, text);
        assert_true(strnlen(err.msg, sizeof(err.msg)) < sizeof(err.msg));
        assert_true(strnlen(err.hint, sizeof(err.hint)) < sizeof(err.hint));
        assert_int_equal(strspn(err.hint, "m"),
                         len < sizeof(err.hint) ? len : sizeof(err.hint) - 1);
        assert_int_equal(err.code, GB_E_SYSTEM);
        assert_int_equal(err.sys, ENOENT);
    }
}

static int refuses(struct gb_err *err)
{
    return gb_fail(err, GB_E_LIMIT, 0, "more than %d", 3);
}

static int wraps(struct gb_err *err)
{
    if (refuses(err) < 0)
        return gb_fail_wrap(err, "reading");
    return 0;
}

static void test_fail_returns_minus_one(void **state)
{
    struct gb_err err;

    (void)state;
    assert_int_equal(refuses(&err), -1);
    assert_string_equal(err.msg, "more than 3");
    assert_int_equal(wraps(&err), -1);
    assert_string_equal(err.msg, "reading: more than 3");
    assert_int_equal(gb_fail_hint(&err, "use %d", 2), -1);
    assert_string_equal(err.hint, "use 2");
}

/* Results carry these as error.type: programs depend on them. */
static void test_names(void **state)
{
    static const struct {
        enum gb_code code;
        const char *name;
    } cases[] = {
        { GB_OK, "ok" },
        { GB_E_INVALID, "invalid" },
        { GB_E_NO_ISOLATION, "no_isolation" },
        { GB_E_NO_INTERPRETER, "no_interpreter" },
        { GB_E_LIMIT, "limit" },
        { GB_E_BUSY, "busy" },
        { GB_E_GONE, "gone" },
        { GB_E_PROTOCOL, "protocol" },
        { GB_E_SYSTEM, "system" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(gb_code_name(cases[i].code), cases[i].name);
    assert_string_equal(gb_code_name((enum gb_code)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_without_errno),
        cmocka_unit_test(test_set_forgets_what_was_there),
        cmocka_unit_test(test_prefix_adds_the_outer_context),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_fail_returns_minus_one),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
