/* Sizes, seconds, UTF-8 and base64 as people and programs write them. */
#include "unit.h"

#include <errno.h>

#include "base/parse.h"

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        int want;
        uint64_t bytes;
    } cases[] = {
        { "0", 0, 0 },
        { "4096", 0, 4096 },
        { "007", 0, 7 },
        { "64K", 0, 64 << 10 },
        { "64k", 0, 64 << 10 },
        { "512M", 0, 512 << 20 },
        { "1G", 0, 1 << 30 },
        { "2T", 0, (uint64_t)2 << 40 },
        { "1KB", 0, 1024 },
        { "1KiB", 0, 1024 },
        { "1kiB", 0, 1024 },
        { "18446744073709551615", 0, UINT64_MAX },
        { "18014398509481983K", 0, UINT64_MAX - 1023 },
        { "18446744073709551616", -ERANGE, 0 },
        { "18014398509481984K", -ERANGE, 0 },
        { "16777216T", -ERANGE, 0 },
        { "99999999999999999999G", -ERANGE, 0 },
        { "", -EINVAL, 0 },
        { "K", -EINVAL, 0 },
        { " 1", -EINVAL, 0 },
        { "1 ", -EINVAL, 0 },
        { "1 K", -EINVAL, 0 },
        { "+1", -EINVAL, 0 },
        { "-1", -EINVAL, 0 },
        { "0x10", -EINVAL, 0 },
        { "1.5G", -EINVAL, 0 },
        { "1e3", -EINVAL, 0 },
        { "1KK", -EINVAL, 0 },
        { "1Ki", -EINVAL, 0 },
        { "1KIB", -EINVAL, 0 },
        { "1B", -EINVAL, 0 },
        { "1P", -EINVAL, 0 },
        { "1\xcb", -EINVAL, 0 },
        { "99999999999999999999x", -EINVAL, 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t got = 4711;

        if (parse_size(cases[i].text, &got) != cases[i].want)
            fail_msg("'%s': not %d", cases[i].text, cases[i].want);
        assert_int_equal(got, cases[i].want == 0 ? cases[i].bytes : 4711);
    }
}

static void test_seconds(void **state)
{
    static const struct {
        const char *text;
        bool want;
        uint64_t ms;
    } cases[] = {
        { "0", true, 0 },       { "30", true, 30000 }, { "2.5", true, 2500 },
        { ".5", true, 500 },    { "1.", true, 1000 },  { "0.0004", true, 0 },
        { "0.0006", true, 1 },  { "0.25", true, 250 }, { "1000000000", true, 1000000000000 },
        { "", false, 0 },       { "s", false, 0 },     { "1s", false, 0 },
        { "1 ", false, 0 },     { "1,5", false, 0 },   { "-1", false, 0 },
        { "-0.001", false, 0 }, { "inf", false, 0 },   { "nan", false, 0 },
        { "1e999", false, 0 },  { "1e10", false, 0 },  { "1.2.3", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t got = 4711;

        if (parse_seconds(cases[i].text, &got) != cases[i].want)
            fail_msg("'%s': not %d", cases[i].text, cases[i].want);
        assert_int_equal(got, cases[i].want ? cases[i].ms : 4711);
    }
}

/* ---- UTF-8 ---- */

/* On memory that ends where the text does, so that a sanitizer sees a look too far. */
static int64_t first_bad(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);

    assert_non_null(copy);
    memcpy(copy, text, len);
    int64_t at = utf8_first_bad(copy, len);
    free(copy);
    return at;
}

/* As UTF-8 would write it if nothing were forbidden, in at least `least` bytes. */
static size_t encode(uint32_t c, size_t least, char *to)
{
    static const unsigned char lead[] = { 0, 0x00, 0xc0, 0xe0, 0xf0 };
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    if (n < least)
        n = least;
    for (size_t i = n; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(lead[n] | c);
    return n;
}

static void test_every_character(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x200000; c++) {
        bool good = c < 0x110000 && (c < 0xd800 || c > 0xdfff);
        char text[4];
        size_t n = encode(c, 1, text);
        int64_t bad = utf8_first_bad(text, n);

        if (bad != (good ? -1 : 0))
            fail_msg("U+%X: first bad byte %d", c, (int)bad);
        if (good)
            assert_int_equal(utf8_char_len((const unsigned char *)text, n), n);
    }
}

static void test_longer_than_needed(void **state)
{
    static const uint32_t chars[] = { 0, '/', 0x7f, 0x80, 0x7ff, 0x800, 0xffff };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(chars); i++) {
        char text[4];
        size_t n = encode(chars[i], 1, text);

        for (size_t least = n + 1; least <= 4; least++)
            assert_int_equal(first_bad(text, encode(chars[i], least, text)), 0);
    }
}

static void test_cut_short(void **state)
{
    static const uint32_t chars[] = {
        0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(chars); i++) {
        char text[8] = "ab";
        size_t n = encode(chars[i], 1, text + 2);

        assert_int_equal(first_bad(text, 2 + n), -1);
        for (size_t have = 1; have < n; have++) {
            assert_int_equal(first_bad(text, 2 + have), 2);
            text[2 + have] = 'x'; /* and the same with something else in its place */
            assert_int_equal(first_bad(text, 2 + n), 2);
            (void)encode(chars[i], 1, text + 2);
        }
    }
}

static void test_first_bad_byte(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        int64_t want;
    } cases[] = {
        { "", 0, -1 },
        { "\0a", 2, -1 },
        { "gr\xc3\xbc\xc3\x9f", 6, -1 },
        { "\x80", 1, 0 },
        { "a\xbf", 2, 1 },
        { "\xfe", 1, 0 },
        { "\xff", 1, 0 },
        { "\xc3\xbc\xff", 3, 2 },
        { "\xf8\x88\x80\x80\x80", 5, 0 },
        { "\xed\xa0\x80\xed\xb0\x80", 6, 0 }, /* a pair of surrogates */
        { "ok\xe2\x82\xac\x80", 6, 5 },
        { "\xe2\x82\xe2\x82\xac", 5, 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(first_bad(cases[i].text, cases[i].len), cases[i].want);
}

/* ---- base64 ---- */

static void test_base64(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *want; /* NULL: refused */
    } cases[] = {
        { "", 0, "" },
        { "Zg==", 4, "f" },
        { "b2Y=", 4, "of" },
        { "Zm9v", 4, "foo" },
        { "Zm9vYg==", 8, "foob" },
        { "Zg", 2, "f" },
        { "b2Y", 3, "of" },
        { "+/+/", 4, "\xfb\xff\xbf" },
        { "Z", 1, NULL },
        { "Zm9vY", 5, NULL },
        { "====", 4, NULL },
        { "Zg===", 5, NULL },
        { "Z===", 4, NULL },
        { "=Zg=", 4, NULL },
        { "Zg==Zg==", 8, NULL },
        { "-_-_", 4, NULL },
        { "Zm 9v", 5, NULL },
        { "Zm9v\n", 5, NULL },
        { "Zm9\xfc", 4, NULL },
        { "Zm\0v", 4, NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = malloc(cases[i].len ? cases[i].len : 1);
        uint64_t len = cases[i].len;

        assert_non_null(text);
        memcpy(text, cases[i].text, cases[i].len);
        if (base64_decode(text, &len) != !!cases[i].want)
            fail_msg("'%s'", cases[i].text);
        if (cases[i].want) {
            assert_int_equal(len, strlen(cases[i].want));
            assert_memory_equal(text, cases[i].want, len);
        }
        free(text);
    }
}

static void test_base64_is_looked_at(void **state)
{
    static const char *const good[] = { "", "AAAA", "AAA=", "AA==", "+/09azAZ" };
    static const char *const bad[] = { "A",    "AA",     "AAA",  "AA=A", "A===",
                                       "====", "AAAA\n", "AA A", "-_-_" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!base64_is_valid(good[i], strlen(good[i])))
            fail_msg("'%s' is refused", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (base64_is_valid(bad[i], strlen(bad[i])))
            fail_msg("'%s' is taken", bad[i]);
    assert_false(base64_is_valid("AA\0A", 4));
}

static size_t base64_encode(const unsigned char *in, size_t len, char *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;

    for (size_t i = 0; i < len; i += 3) {
        uint32_t bits = (uint32_t)in[i] << 16;
        bits |= i + 1 < len ? (uint32_t)in[i + 1] << 8 : 0;
        bits |= i + 2 < len ? in[i + 2] : 0;
        for (unsigned k = 0; k < 4; k++)
            to[n++] = (char)(i + k > len ? '=' : digits[bits >> (18 - 6 * k) & 0x3f]);
    }
    return n;
}

static void test_base64_there_and_back(void **state)
{
    unsigned char in[99];
    char text[132];

    (void)state;
    for (size_t len = 0; len <= sizeof(in); len++) {
        for (size_t i = 0; i < len; i++)
            in[i] = (unsigned char)unit_random();
        uint64_t n = base64_encode(in, len, text);
        assert_true(base64_decode(text, &n));
        assert_int_equal(n, len);
        if (len > 0)
            assert_memory_equal(text, in, len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_longer_than_needed),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_first_bad_byte),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_base64_is_looked_at),
        cmocka_unit_test(test_base64_there_and_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
