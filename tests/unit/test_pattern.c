#include "base/pattern.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/own.h"
#include "unit.h"

enum {
    GENEROUS_US = 20 * PATTERN_US /* machines are slow */
};

static int64_t used_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Patterns that are cheap by PCRE2's own limits, on texts that make them dear. */
static void test_bounded(void **state)
{
    static const struct {
        const char *pattern, *piece;
        size_t times;
    } cases[] = {
        { "(a{1,65535})\\1[bc]", "a", 130000 },
        { "(?i)(a{1,65535})\\1[bc]", "a", 130000 },
        { "(a+)(a+)\\2\\1[bc]", "a", 130000 },
        { "(?<x>a{1,9999})\\k<x>+[bc]", "a", 130000 },
        { "(a*)(?:\\1){2,}[bc]", "a", 130000 },
        { "(?=(a*))\\1[bc]", "a", 130000 },
        { "(?:a{1,500}){1,500}[bc]", "a", 130000 },
        { "a*[bc]", "a", 8 << 20 },
        { ".*.*.*[bc]", "a", 8 << 20 },
        { "a{60000}[bc]", "a", 130000 },
        { "(?:a{1000}){60}[bc]", "a", 130000 },
        { "(?<=a{1000})[bc]|a{1000,}[de]", "a", 130000 },
        { "[\\p{Lu}\\p{Nd}\\p{Sc}\\p{Greek}\\p{Cyrillic}]*[bc]", "\xc3\xa9", 65000 },
        { "[\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h\\h]*[bc]", "\xe2\x80\x80",
          43000 },
        { "(*UCP)[\\w\\d\\s\\w\\d\\s\\w\\d\\s\\w\\d\\s]*[\\d]$", "\xc3\xa9", 65000 },
        { "(?:(?:(?:a?){60}){60})[bc]", "a", 130000 },
        { "((((((((a)*)*)*)*)*)*)*)*[bc]", "a", 130000 },
        { "(?R)?a[bc]|a(?R)", "a", 130000 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t len = strlen(cases[i].piece), all = len * cases[i].times;
        auto_free char *text = malloc(all + 1);
        int64_t left_us = PATTERN_CHECK_US, began_us;
        struct gb_err err = { 0 };

        assert_non_null(text);
        for (size_t k = 0; k < cases[i].times; k++)
            memcpy(text + k * len, cases[i].piece, len);
        began_us = used_us();
        if (pattern_check(cases[i].pattern, &left_us, &err) < 0)
            continue; /* that bounds it as well */
        left_us = PATTERN_US;
        assert_true(pattern_match(cases[i].pattern, text, all, &left_us) <= 0);
        assert_true(pattern_match_any_case(cases[i].pattern, text, all, &left_us) <= 0);
        if (used_us() - began_us > GENEROUS_US)
            fail_msg("%s took %lld us", cases[i].pattern, (long long)(used_us() - began_us));
    }
}

/* Reading many is bounded, too; and a budget that is used up says so. */
static void test_reading_is_bounded(void **state)
{
    int64_t left_us = PATTERN_CHECK_US, began_us = used_us();
    struct gb_err err = { 0 };
    char pattern[PATTERN_BYTES_MAX + 2];
    size_t n = 0;

    (void)state;
    memset(pattern, 0, sizeof(pattern));
    for (size_t at = 0; at + 16 < PATTERN_BYTES_MAX; at += 8)
        memcpy(pattern + at, "(?=ab)\\d", 8);
    while (n < 1000000 && pattern_check(pattern, &left_us, &err) == 0)
        n++;
    assert_true(n > 0 && n < 1000000);
    assert_non_null(strstr(err.msg, "too long"));
    assert_true(used_us() - began_us < GENEROUS_US);
    memset(pattern, 'a', PATTERN_BYTES_MAX + 1);
    left_us = PATTERN_CHECK_US;
    assert_int_equal(pattern_check(pattern, &left_us, &err), -1);
}

static void test_verdicts(void **state)
{
    static const struct {
        const char *pattern, *text;
        int want;
    } cases[] = {
        { "^git (status|diff)$", "git status", 1 },
        { "^git (status|diff)$", "git push", 0 },
        { "(\\w+) \\1", "the the", 1 },
        { "(\\w+) \\1$", "the then", 0 },
        { "\\bsudo\\b", "visudo", 0 },
        { "[\xc3\xa4\xc3\xb6]", "\xc3\xb6", 1 },
        { "(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", -1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t left_us = PATTERN_US;

        assert_int_equal(
            pattern_match(cases[i].pattern, cases[i].text, strlen(cases[i].text), &left_us),
            cases[i].want);
    }
}

static void test_clusters_are_refused(void **state)
{
    int64_t left_us = PATTERN_CHECK_US;
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(pattern_check("\\X*z", &left_us, &err), -1);
    assert_int_equal(pattern_check("a\\\\X", &left_us, &err), 0);
    assert_int_equal(pattern_check("[^\\]]\\X", &left_us, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_reading_is_bounded),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_clusters_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
