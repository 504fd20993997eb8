/* Text of others on a terminal: whatever it holds, it shows, and moves nothing. */
#include "unit.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_text_stays),
        cmocka_unit_test(test_controls_show),
        cmocka_unit_test(test_what_hides_or_turns_round_shows),
        cmocka_unit_test(test_what_is_no_text_shows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
