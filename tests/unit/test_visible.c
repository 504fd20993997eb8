/* Text of others on a terminal: whatever it holds, it shows, and moves nothing. */
#include "unit.h"

#include "base/json.h"
#include "base/visible.h"

static void expect(const char *text, size_t len, const char *want)
{
    char *shown = NULL;
    size_t shown_len = 0;
    FILE *f = open_memstream(&shown, &shown_len);

    assert_non_null(f);
    put_visible(f, text, len);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(shown, want);
    free(shown);
}

#define SHOWS(text, want) expect((text), sizeof(text) - 1, (want))

static void test_plain_text_stays(void **state)
{
    (void)state;
    SHOWS("", "");
    SHOWS("x = 'a'\t# b", "x = 'a'\t# b");
    SHOWS("\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d",
          "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d");
}

static void test_controls_show(void **state)
{
    (void)state;
    SHOWS("\x1b[2J", "\\x1b[2J");
    SHOWS("a\rb\nc\bd", "a\\x0db\\x0ac\\x08d");
    SHOWS("a\0b", "a\\x00b");
    SHOWS("\x7f", "\\x7f");
    SHOWS("\xc2\x9b"
          "31m",
          "\\x9b31m"); /* one character that begins a sequence like ESC [ */
}

static void test_what_hides_or_turns_round_shows(void **state)
{
    (void)state;
    SHOWS("\xe2\x80\xae", "\\u{202e}");
    SHOWS("\xe2\x81\xa6", "\\u{2066}");
    SHOWS("\xe2\x80\x8b", "\\u{200b}");
    SHOWS("\xef\xbb\xbf", "\\u{feff}");
    SHOWS("\xe2\x80\xa8", "\\u{2028}");
    SHOWS("\xc2\xad", "\\xad");
    SHOWS("\xf3\xa0\x81\x81", "\\u{e0041}");
}

static void test_what_is_no_text_shows(void **state)
{
    (void)state;
    SHOWS("\xff", "\\xff");
    SHOWS("\xed\xa0\x80", "\\xed\\xa0\\x80");
    SHOWS("\xc3", "\\xc3");
}

/* Format characters, fillers, selectors, tags, private use, noncharacters: one table. */
static void test_all_that_nobody_sees(void **state)
{
    static const uint32_t seen[] = { ' ',    '\t',   'a',    0xa0,   0xe9,    0x300,  0x20ac,
                                     0x3000, 0x4e00, 0xac00, 0xfffd, 0x1f40d, 0x1f600 };
    static const uint32_t unseen[] = { 0,       0x1b,    0x7f,    0x85,    0xad,    0x34f,
                                       0x61c,   0x115f,  0x17b4,  0x180e,  0x200b,  0x200f,
                                       0x2028,  0x202e,  0x2060,  0x2066,  0x2800,  0x3164,
                                       0xe000,  0xfe0f,  0xfeff,  0xffa0,  0xfff9,  0xffff,
                                       0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0100,
                                       0xe01ef, 0xf0000, 0x10ffff };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        if (visible_hides(seen[i]))
            fail_msg("U+%04X is seen", (unsigned)seen[i]);
    for (size_t i = 0; i < ARRAY_LEN(unseen); i++)
        if (!visible_hides(unseen[i]))
            fail_msg("U+%04X is not seen", (unsigned)unseen[i]);
}

static void expect_lines(const char *text, enum visible_lines how, const char *want)
{
    char *shown = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&shown, &len);

    assert_non_null(f);
    put_visible_lines(f, text, strlen(text), how, "|");
    assert_int_equal(fclose(f), 0);
    assert_string_equal(shown, want);
    free(shown);
}

/* A carriage return ends a line of Python, also in a comment; to a shell it is a character. */
static void test_lines(void **state)
{
    (void)state;
    expect_lines("", LINES_PYTHON, "");
    expect_lines("a\nb", LINES_PYTHON, "\n|a\n|b");
    expect_lines("a\n\nb\n", LINES_PYTHON, "\n|a\n|\n|b");
    expect_lines("# c\rimport os\r\nx\n\ry", LINES_PYTHON, "\n|# c\n|import os\n|x\n|\n|y");
    expect_lines("# c\rimport os\r\nx\r", LINES_EITHER, "\n|# c\\x0d\n|import os\n|x\\x0d");
    assert_int_equal(visible_lines_of("python"), LINES_PYTHON);
    assert_int_equal(visible_lines_of("what"), LINES_EITHER);
    expect_lines("# c\rrm\r\nx", LINES_SHELL, "\n|# c\\x0drm\\x0d\n|x");
    expect_lines("# c\x0cx\xe2\x80\xa8y", LINES_PYTHON, "\n|# c\\x0cx\\u{2028}y");
    /* Python forgets what indents before a form feed. */
    expect_lines("if 0:\n  \x0c x\n", LINES_PYTHON, "\n|if 0:\n|\\x20\\x20\\x0c x");
    expect_lines("  x \x0cy", LINES_PYTHON, "\n|  x \\x0cy");
}

static void test_for_models(void **state)
{
    auto_json json_t *dirty = json_pack("{s:s,s:[s,i],s:{s:s}}", "a", "x\xf3\xa0\x81\x81y\nz", "b",
                                        "\xe2\x80\xae\x1b", 1, "c", "d", "\xe2\x81\xa0");
    auto_json json_t *want =
        json_pack("{s:s,s:[s,i],s:{s:s}}", "a", "xy\nz", "b", "", 1, "c", "d", "");
    auto_json json_t *clean = visible_only(dirty);
    auto_json json_t *named = json_pack("{s:{s:i}}", "a", "b\xe2\x80\x8b", 1);

    (void)state;
    assert_non_null(clean);
    assert_true(json_equal(clean, want));
    assert_null(visible_only(named));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_text_stays),
        cmocka_unit_test(test_controls_show),
        cmocka_unit_test(test_what_hides_or_turns_round_shows),
        cmocka_unit_test(test_what_is_no_text_shows),
        cmocka_unit_test(test_all_that_nobody_sees),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_for_models),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
