/* Media types as guests and people write them. */
#include "unit.h"

#include "base/mime.h"

static void test_valid(void **state)
{
    static const char *const good[] = { "text/plain", "image/svg+xml", "application/vnd.a.v1+json",
                                        "a/b", "x-y/!#$&-^_." };
    static const char *const bad[] = {
        "",        "text",       "text/",         "/plain",
        "a/b/c",   "Text/plain", "text/a b",      "text/html;charset=x",
        " text/a", "text/a\n",   "text/\xc3\xa9", "a//b"
    };
    char longest[MIME_MAX + 2];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!mime_is_valid(good[i], strlen(good[i])))
            fail_msg("'%s' is refused", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (mime_is_valid(bad[i], strlen(bad[i])))
            fail_msg("'%s' is taken", bad[i]);
    assert_false(mime_is_valid("text/a\0b", 8));
    memset(longest, 'a', sizeof(longest));
    longest[1] = '/';
    longest[MIME_MAX] = '\0';
    assert_true(mime_is_valid(longest, MIME_MAX));
    longest[MIME_MAX] = 'a';
    longest[MIME_MAX + 1] = '\0';
    assert_false(mime_is_valid(longest, MIME_MAX + 1));
}

static void test_text(void **state)
{
    (void)state;
    assert_true(mime_is_text("text/html"));
    assert_true(mime_is_text("application/json"));
    assert_true(mime_is_text("application/vnd.plotly.v1+json"));
    assert_true(mime_is_text("image/svg+xml"));
    assert_true(mime_is_text("application/javascript"));
    assert_false(mime_is_text("image/png"));
    assert_false(mime_is_text("application/pdf"));
    assert_false(mime_is_text("application/xjson"));
    assert_false(mime_is_text("x"));
}

static void test_extension(void **state)
{
    (void)state;
    assert_string_equal(mime_extension("image/png"), "png");
    assert_string_equal(mime_extension("image/svg+xml"), "svg");
    assert_string_equal(mime_extension("text/markdown"), "txt");
    assert_string_equal(mime_extension("application/x-odd"), "bin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_extension),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
