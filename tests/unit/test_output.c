/* What is kept of a stream: head and tail, on character borders, with a true count between. */
#include "unit.h"

#include "engine/output.h"

enum {
    TEXT_MAX = 8192
};

/* The text of `bytes` kept within `limit`, added in pieces of 1 to `piece` bytes. */
static json_t *keep(size_t limit, const char *bytes, size_t len, size_t piece, bool *ret_truncated)
{
    struct output o;

    output_init(&o, limit);
    for (size_t done = 0; done < len;) {
        size_t n = piece == 0 ? len : 1 + unit_random() % piece;
        n = n > len - done ? len - done : n;
        output_add(&o, bytes + done, n);
        done += n;
    }
    assert_int_equal(o.total, len);
    json_t *text = output_text(&o, ret_truncated);
    output_done(&o);
    assert_true(json_is_string(text));
    return text;
}

static void assert_kept(size_t limit, const char *bytes, size_t len, const char *want,
                        size_t want_len)
{
    for (size_t piece = 0; piece < 4; piece++) {
        bool truncated;
        json_t *text = keep(limit, bytes, len, piece, &truncated);

        assert_int_equal(truncated, len > limit);
        if (json_string_length(text) != want_len ||
            memcmp(json_string_value(text), want, want_len) != 0)
            fail_msg("limit %zu, pieces %zu: '%s', not '%s'", limit, piece, json_string_value(text),
                     want);
        json_decref(text);
    }
}

#define GAP(n) "\n... [" #n " bytes not shown] ...\n"

static void test_limits(void **state)
{
    static const struct {
        size_t limit;
        const char *bytes, *want;
    } cases[] = {
        { 0, "", "" },
        { 0, "abc", GAP(3) },
        { 1, "a", "a" },
        { 1, "ab", "a" GAP(1) },
        { 1, "abcdef", "a" GAP(5) },
        { 2, "ab", "ab" },
        { 2, "abc", "a" GAP(1) "c" },
        { 2, "abcdef", "a" GAP(4) "f" },
        { 3, "abc", "abc" },
        { 3, "abcd", "ab" GAP(1) "d" },
        { 3, "abcdefgh", "ab" GAP(5) "h" },
        { 10, "0123456789", "0123456789" },
        { 10, "0123456789a", "01234" GAP(1) "6789a" },
        { 10, "0123456789abcdefghij", "01234" GAP(10) "fghij" },
        { 11, "0123456789abcdefghij", "012345" GAP(9) "fghij" },
        { SIZE_MAX, "0123456789", "0123456789" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_kept(cases[i].limit, cases[i].bytes, strlen(cases[i].bytes), cases[i].want,
                    strlen(cases[i].want));
}

#define EURO "\xe2\x82\xac"
#define BAD  "\xef\xbf\xbd"

static void test_character_borders(void **state)
{
    static const struct {
        size_t limit;
        const char *bytes, *want;
    } cases[] = {
        { 6, EURO EURO, EURO EURO },
        { 6, EURO EURO EURO, EURO GAP(3) EURO },
        { 6, "a" EURO EURO "bc", "a" GAP(6) "bc" },
        { 8, "a" EURO EURO EURO, "a" EURO GAP(3) EURO },
        { 5, EURO EURO, EURO GAP(3) },
        { 4, EURO EURO, GAP(6) },
        { 2, EURO, GAP(3) },
        { 3, "\xc3\xbc\xc3\x9f", "\xc3\xbc" GAP(2) },
        { 8, "\xf0\x9f\x98\x80-\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" GAP(1) "\xf0\x9f\x98\x80" },
        { 7, "\xf0\x9f\x98\x80-\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" GAP(5) },
        { 6, "\xf0\x9f\x98\x80-\xf0\x9f\x98\x80", GAP(9) },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_kept(cases[i].limit, cases[i].bytes, strlen(cases[i].bytes), cases[i].want,
                    strlen(cases[i].want));
}

static void test_what_is_no_text(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *want;
        size_t want_len;
    } cases[] = {
        { "a\0b", 3, "a\0b", 3 },
        { "\0", 1, "\0", 1 },
        { "a\xff"
          "b",
          3, "a" BAD "b", 5 },
        { "\x80", 1, BAD, 3 },
        { "\xc0\xaf", 2, BAD BAD, 6 },
        { "\xed\xa0\x80", 3, BAD BAD BAD, 9 },
        { "a\xe2\x82", 3, "a" BAD BAD, 7 },
        { "\xf4\x90\x80\x80", 4, BAD BAD BAD BAD, 12 },
        { EURO "\xe2", 4, EURO BAD, 6 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_kept(100, cases[i].bytes, cases[i].len, cases[i].want, cases[i].want_len);
}

/* ---- any text, any limit, any pieces ---- */

/* Characters of one to four bytes, as many as fit. */
static size_t random_text(char *to, size_t max)
{
    static const char *const chars[] = { "a", "\n", "z", "\xc3\xbc", EURO, "\xf0\x9f\x98\x80" };
    size_t len = 0, want = unit_random() % (max - 4);

    while (len < want) {
        const char *end = stpcpy(to + len, chars[unit_random() % ARRAY_LEN(chars)]);
        len = (size_t)(end - to);
    }
    return len;
}

static bool is_border(const char *text, size_t len, size_t at)
{
    return at == 0 || at >= len || ((unsigned char)text[at] & 0xc0) != 0x80;
}

/* Head and tail as large as whole characters allow, and the gap between them counted. */
static size_t expected(size_t limit, const char *text, size_t len, char *to)
{
    size_t head = limit - limit / 2, tail = len - limit / 2, n;

    if (len <= limit) {
        memcpy(to, text, len);
        return len;
    }
    while (!is_border(text, len, head))
        head--;
    while (!is_border(text, len, tail))
        tail++;
    memcpy(to, text, head);
    n = head + (size_t)snprintf(to + head, 64, "\n... [%zu bytes not shown] ...\n", tail - head);
    memcpy(to + n, text + tail, len - tail);
    return n + len - tail;
}

static void test_any_text(void **state)
{
    static char text[TEXT_MAX], want[TEXT_MAX + 64];

    (void)state;
    for (int round = 0; round < 3000; round++) {
        size_t len = random_text(text, round % 2 ? 64 : TEXT_MAX);
        size_t limit = unit_random() % (len + 3), piece = unit_random() % 200;
        size_t want_len = expected(limit, text, len, want);
        bool truncated;
        json_t *got = keep(limit, text, len, piece, &truncated);

        assert_int_equal(truncated, len > limit);
        assert_int_equal(json_string_length(got), want_len);
        assert_memory_equal(json_string_value(got), want, want_len);
        json_decref(got);
    }
}

static void test_any_bytes(void **state)
{
    static char bytes[TEXT_MAX];

    (void)state;
    for (int round = 0; round < 3000; round++) {
        size_t len = unit_random() % (round % 2 ? 64 : TEXT_MAX);
        size_t limit = unit_random() % (len + 3);
        bool truncated, again;

        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)(unit_random() >> 7 | (round % 3 ? 0x80 : 0));
        json_t *whole = keep(limit, bytes, len, 0, &truncated);
        json_t *pieces = keep(limit, bytes, len, 1 + unit_random() % 100, &again);

        assert_true(json_equal(whole, pieces));
        assert_int_equal(truncated, len > limit);
        assert_int_equal(again, truncated);
        assert_true(json_string_length(whole) <= 3 * limit + 64);
        json_decref(whole);
        json_decref(pieces);
    }
}

static void test_memory_follows_what_comes(void **state)
{
    struct output o;

    (void)state;
    output_init(&o, (size_t)1 << 40);
    output_add(&o, "abc", 3);
    assert_in_range(o.head_cap, 3, 4096);
    assert_null(o.tail);
    output_done(&o);
    assert_int_equal(o.limit, (size_t)1 << 40);
    assert_int_equal(o.total, 0);
    output_done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),          cmocka_unit_test(test_character_borders),
        cmocka_unit_test(test_what_is_no_text), cmocka_unit_test(test_any_text),
        cmocka_unit_test(test_any_bytes),       cmocka_unit_test(test_memory_follows_what_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
