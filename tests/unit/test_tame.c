/* What a program may say to a person's terminal. */
#include "unit.h"

#include "cli/tame.h"

static void expect(const char *text, size_t len, size_t step, const char *want)
{
    char out[512];
    size_t n = 0;
    struct tame t = { 0 };

    for (size_t at = 0; at < len; at += step)
        n += tame_add(&t, text + at, len - at < step ? len - at : step, out + n);
    out[n] = '\0';
    assert_string_equal(out, want);
}

/* Whole, and a byte at a time. */
#define BECOMES(text, want)                            \
    do {                                               \
        expect((text), sizeof(text) - 1, 512, (want)); \
        expect((text), sizeof(text) - 1, 1, (want));   \
    } while (0)

static void test_what_passes(void **state)
{
    (void)state;
    BECOMES("plain\ttext\r\n", "plain\ttext\r\n");
    BECOMES("12\b3", "12\b3");
    BECOMES("\x1b[1;31mred\x1b[0m\x1b[m", "\x1b[1;31mred\x1b[0m\x1b[m");
    BECOMES("\x1b[38:2:1:2:3mx", "\x1b[38:2:1:2:3mx");
    BECOMES("50%\x1b[K\x1b[2K\x1b[1A\x1b[3C\x1b[1G", "50%\x1b[K\x1b[2K\x1b[1A\x1b[3C\x1b[1G");
    BECOMES("\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8d\xc2\xa0",
            "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8d\xc2\xa0");
}

static void test_what_does_not(void **state)
{
    (void)state;
    BECOMES("a\x1b[6nb\x1b[c\x1b[>c\x1b[5n\x1b[18tb", "abb"); /* queries */
    BECOMES("a\x1b]0;title\x07z", "az");
    BECOMES("a\x1b]52;c;ZWNobw==\x1b\\z", "az"); /* the clipboard */
    BECOMES("a\x1bP$qm\x1b\\z\x1b_x\x1b\\\x1b^y\x1b\\\x1bXq\x1b\\", "az");
    BECOMES("a\x1b[?25l\x1b[?1049h\x1b[?2004h\x1b[?1mz", "az"); /* modes */
    BECOMES("a\x1b[2J\x1b[H\x1b[1;5H\x1b[s\x1b[r\x1b[1;2Kz", "az");
    BECOMES("a\x1b(0\x1b%G\x1b=\x1b>\x1b"
            "c\x1bZz",
            "az");
    BECOMES("a\x07\x0b\x0c\x0e\x0f\x7f\x05z", "az"); /* 0x05 asks, too */
    BECOMES("a\xc2\x9b"
            "6nz",
            "a6nz");
    BECOMES("a\x9b"
            "6nz\x90",
            "a6nz");
    BECOMES("a\0z", "az");
}

static void test_a_sequence_hides_no_more_than_its_line(void **state)
{
    (void)state;
    BECOMES("\x1b]0;never ended\nshown", "\nshown");
    BECOMES("\x1b[1;\nshown", "\nshown");
    BECOMES("\x1b\x1b[31mred", "\x1b[31mred");
    BECOMES("\x1b[1\x1b[31mred", "\x1b[31mred");
}

static void test_a_long_sequence_is_dropped(void **state)
{
    char text[300] = "\x1b[", out[512];
    struct tame t = { 0 };

    (void)state;
    memset(text + 2, '1', 250);
    text[252] = 'm';
    text[253] = 'z';
    assert_int_equal(tame_add(&t, text, 254, out), 1);
    assert_int_equal(out[0], 'z');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_passes),
        cmocka_unit_test(test_what_does_not),
        cmocka_unit_test(test_a_sequence_hides_no_more_than_its_line),
        cmocka_unit_test(test_a_long_sequence_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
