/* What a persistent shell says at the end of a command, and what others write there. */
#include "unit.h"

#include "shell/report.h"

#define N "0123456789abcdef"

static bool take(const char *text, size_t len, struct report *r, size_t *used)
{
    return report_read(text, len, N, r, used);
}

#define TAKE(text, r, used) take(text, sizeof(text) - 1, r, used)

static void test_a_report(void **state)
{
    static const char text[] = "[1]+   611 Running                 sleep 600 &\n"
                               "[2]-   612 Exit 1                  false\n\0" N " 7\0/a b\0rest";
    struct report r;
    size_t used;

    (void)state;
    assert_true(TAKE(text, &r, &used));
    assert_int_equal(r.status, 7);
    assert_string_equal(r.cwd, "/a b");
    assert_int_equal(used, sizeof(text) - 1 - 4);
    assert_int_equal(r.n_jobs, 2);
    assert_int_equal(r.jobs[0].pid, 611);
    assert_true(r.jobs[0].is_running);
    assert_string_equal(r.jobs[0].command, "sleep 600 &");
    assert_false(r.jobs[1].is_running);
    assert_string_equal(r.jobs[1].state, "Exit 1");
}

/* 302 to 312, as far as there is a number to be read: what is none is no report. */
static void test_statuses(void **state)
{
    static const struct {
        const char *text;
        int status; /* -1: none */
    } cases[] = {
        { " 0", 0 },    { " 127", 127 },  { " 255", 255 }, { " 256", -1 },
        { " -1", -1 },  { "42", -1 },     { "", -1 },      { " ", -1 },
        { " abc", -1 }, { " 7 junk", 7 }, { " 12x", 12 },  { " 99999999999999999999", -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        struct report r = { .status = -1 };
        size_t used, len = 0;

        len += (size_t)snprintf(text, sizeof(text), N "%s", cases[i].text) + 1;
        len += (size_t)snprintf(text + len, sizeof(text) - len, "/") + 1;
        assert_int_equal(report_read(text, len, N, &r, &used) ? r.status : -1, cases[i].status);
        assert_int_equal(used, len);
    }
}

/* Whatever comes in pieces is waited for; what is nobody's report is not kept for ever. */
static void test_pieces_and_junk(void **state)
{
    static const char text[] = "\0" N " 3\0/tmp\0";
    static char junk[2 * REPORT_MAX + 64];
    struct report r;
    size_t used;

    (void)state;
    for (size_t len = 0; len < sizeof(text) - 1; len++) {
        assert_false(take(text, len, &r, &used));
        assert_int_equal(used, 0);
    }
    assert_true(TAKE(text, &r, &used));
    memset(junk, 'x', sizeof(junk));
    assert_false(take(junk, REPORT_MAX, &r, &used));
    assert_int_equal(used, 0);
    memcpy(junk, N, sizeof(N) - 1);
    assert_false(take(junk, sizeof(junk), &r, &used));
    assert_int_equal(used, sizeof(junk));
    assert_false(TAKE("\0fedcba9876543210 0\0/\0", &r, &used)); /* another command's */
}

/* As much as has come, a piece at a time, as live.c does it. */
static bool take_pieces(const char *text, size_t len, size_t piece, struct report *r)
{
    static char said[3 * REPORT_MAX];
    size_t have = 0, used;

    for (size_t at = 0; at < len; at += piece) {
        size_t n = len - at < piece ? len - at : piece;

        memcpy(said + have, text + at, n);
        have += n;
        if (report_read(said, have, N, r, &used))
            return true;
        have -= used;
        memmove(said, said + used, have);
        if (have >= REPORT_MAX)
            have = report_shorten(said, have, N);
    }
    return false;
}

/* A job's line has all of its command, and what follows is found wherever the room ends. */
static void test_long_jobs(void **state)
{
    static const char begin[] = "[1]+ 77 Running  (: y", end[] = "\n\0" N " 3\0/tmp\0";
    static char text[2 * REPORT_MAX];
    struct report r;

    (void)state;
    for (size_t len = REPORT_MAX - 48; len < REPORT_MAX + 48; len++) {
        memset(text, 'x', len);
        memcpy(text, begin, sizeof(begin) - 1);
        memcpy(text + len, end, sizeof(end));
        assert_true(take_pieces(text, len + sizeof(end) - 1, len % 2 ? 4096 : 7, &r));
        assert_int_equal(r.status, 3);
        assert_int_equal(r.n_jobs, 1);
        assert_int_equal(r.jobs[0].pid, 77);
        assert_int_equal(strncmp(r.jobs[0].command, "(: yxxx", 7), 0);
    }
}

static void test_shortening(void **state)
{
    static char text[2 * REPORT_MAX];
    size_t len = 0;

    (void)state;
    (void)snprintf(text, sizeof(text), "[1] 7 Running  a\n  more of it\n0123456");
    len = report_shorten(text, strlen(text), N);
    assert_memory_equal(text, "[1] 7 Running  a\n0123456", len);
    assert_int_equal(len, 24);
    (void)snprintf(text, sizeof(text), "no job\n%s 0", N);
    assert_int_equal(report_shorten(text, strlen(text), N),
                     strlen(text)); /* its report is coming */
    for (len = 0; len + 17 < sizeof(text); len += 16)
        (void)snprintf(text + len, 17, "[1] 7 Running a\n");
    assert_int_equal(report_shorten(text, len, N), REPORT_NUMBER - 1);
    assert_int_equal(report_shorten(text, 0, N), 0);
}

static void test_jobs_that_are_none(void **state)
{
    static const char *const lines[] = {
        "",
        "[",
        "[1]",
        "[1]+",
        "[1]+ x Running",
        "[x]+ 12 Running  y",
        "[1]+ 1 Running  init",
        "[1]+ 0 Running  all",
        "[1]+ -5 Running  x",
        "[1]+ 99999999999 Running  x",
        "611 Running  x",
    };
    struct report_job jobs[4];

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_int_equal(report_jobs(lines[i], strlen(lines[i]), jobs, 4), 0);
    assert_int_equal(
        report_jobs("[3]  77 Stopped                 vi\n  | more\n[4] 78 Done", 55, jobs, 4), 2);
    assert_true(jobs[0].is_running);
    assert_string_equal(jobs[1].state, "Done");
    assert_string_equal(jobs[1].command, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_report),        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_pieces_and_junk), cmocka_unit_test(test_long_jobs),
        cmocka_unit_test(test_shortening),      cmocka_unit_test(test_jobs_that_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
