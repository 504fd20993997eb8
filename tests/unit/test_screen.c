/* What a terminal shows after what it was sent. */
#include "unit.h"

#include "shell/screen.h"

static void expect(const char *sent, const char *want)
{
    struct screen s;
    char *text;

    assert_int_equal(screen_init(&s, 4, 10), 0);
    screen_add(&s, sent, strlen(sent));
    text = screen_text(&s);
    assert_string_equal(text, want);
    free(text);
    screen_done(&s);
}

static void test_text(void **state)
{
    (void)state;
    expect("", "");
    expect("a\r\nb", "a\nb\n");
    expect("a\nb", "a\n b\n");
    expect("0123456789ab", "0123456789\nab\n");
    expect("1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5\n");
    expect("ab\b\bX\tT", "Xb      T\n");
    expect("10%\r20%", "20%\n");
    expect("caf\xc3\xa9 \xf0\x9f\x90\x8d", "caf\xc3\xa9 \xf0\x9f\x90\x8d\n");
    expect("\xff\xc3(\xed\xa0\x80", "\xef\xbf\xbd(\xef\xbf\xbd\n");
    /* An escape, and CSI, in disguise. */
    expect("\xe0\x80\x9b[31mx", "\xef\xbf\xbd[31mx\n");
    expect("\xf0\x80\x80\x9b[x", "\xef\xbf\xbd[x\n");
    expect("\xc2\x9b"
           "31mx\xc2\xa0y",
           "\xef\xbf\xbd"
           "31mx\xc2\xa0y\n");
}

static void test_sequences(void **state)
{
    (void)state;
    expect("\033[2;3Hx\033[Hy", "y\n  x\n");
    expect("abc\033[2D\033[K", "a\n");
    expect("abc\033[1K", "");
    expect("abc\r\ndef\033[1;1H\033[J", "");
    expect("abc\r\ndef\033[2J", "");
    expect("\033[31;1mred\033[0m", "red\n");
    expect("abc\r\033[2@", "  abc\n");
    expect("abc\r\033[P", "bc\n");
    expect("abcd\r\033[2X", "  cd\n");
    expect("1\r\n2\r\n3\033[1;1H\033[L", "\n1\n2\n3\n");
    expect("1\r\n2\r\n3\033[1;1H\033[2M", "3\n");
    expect("\033[2;3rA\033[3;1HB\r\nC", "A\nB\nC\n");
    expect("a\0337\033[4;4Hz\0338b", "ab\n\n\n   z\n");
    expect("shell\033[?1049hfull\033[?1049l", "shell\n");
    expect("\033[99;99Hx", "\n\n\n         x\n");
    expect("\033[99999999999999A\033[;;;;;;;;;;;;mx", "x\n");
}

/* Titles, questions and what is cut short are read over, and nothing is ever answered. */
static void test_strings(void **state)
{
    (void)state;
    expect("\033]0;title\aok", "ok\n");
    expect("\033P+q544e\033\\ok\033[6n\033[c", "ok\n");
    expect("\033(0ok\033", "ok\n");
    expect("\033[12;", "");
    expect("\033]0;x\r\nok", "\nok\n");
    expect("\033Px\033\nok", "\nok\n");
    expect("\033[12\nok", "\nok\n");
}

static void test_resize(void **state)
{
    struct screen s;
    char *text;

    (void)state;
    assert_int_equal(screen_init(&s, 4, 10), 0);
    screen_add(&s, "1\r\n2\r\n3\r\n4", 10);
    assert_int_equal(screen_resize(&s, 2, 5), 0);
    text = screen_text(&s);
    assert_string_equal(text, "3\n4\n");
    free(text);
    assert_int_equal(screen_resize(&s, 100000, -3), 0);
    assert_int_equal(s.rows, SCREEN_ROWS_MAX);
    assert_int_equal(s.columns, 1);
    screen_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_resize),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
