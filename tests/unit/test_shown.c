/* What somebody who reads the output sees of what was displayed. */
#include "unit.h"

#include "base/fd.h"
#include "cli/shown.h"

#define PNG(data)   "{\"mime\":\"image/png\",\"data\":\"" data "\"}"
#define PLAIN(data) "{\"mime\":\"text/plain\",\"data\":\"" data "\"}"

static void expect_text(const char *forms, const char *want)
{
    struct shown s = { .dir = "/nonexistent" };
    struct shown_as as = shown_take(&s, forms);

    assert_null(as.file);
    assert_non_null(as.text);
    assert_int_equal(as.len, strlen(want));
    assert_memory_equal(as.text, want, as.len);
    free(as.text);
    shown_done(&s);
}

static void test_text(void **state)
{
    (void)state;
    expect_text("[" PLAIN("a") "]", "a\n");
    expect_text("[" PLAIN("a\\n") "]", "a\n");
    expect_text("[" PLAIN("") "]", "\n");
    expect_text("[{\"mime\":\"text/html\",\"data\":\"<b>\"}," PLAIN("b") "]", "b\n");
    expect_text("[{\"mime\":\"text/html\",\"data\":\"<b>\"}]", "<b>\n");
    expect_text("[{\"mime\":\"application/x-odd\",\"data\":\"AAAA\"}," PLAIN("odd") "]", "odd\n");
}

static char *file_of(const char *dir, const char *forms)
{
    struct shown s = { .dir = dir };
    struct shown_as as = shown_take(&s, forms);

    assert_null(as.text);
    shown_done(&s);
    return as.file;
}

static void expect_file(int dirfd, const char *name, const char *want)
{
    char got[64];

    assert_int_equal(fd_slurp_at(dirfd, name, got, sizeof(got) - 1), strlen(want));
    assert_string_equal(got, want);
}

static void test_files(void **state)
{
    char dir[64], want[128];
    auto_close int fd = unit_dir(dir);
    auto_free char *first = NULL, *second = NULL, *other = NULL;

    (void)state;
    /* One that is there stays, and nothing is written through a link. */
    assert_return_code(symlinkat("elsewhere", fd, "figure-2.png"), 0);
    first = file_of(dir, "[" PNG("Zmlyc3Q=") "," PLAIN("text") "]");
    second = file_of(dir, "[" PNG("c2Vjb25k") "]");
    other = file_of(dir, "[{\"mime\":\"application/x-odd\",\"data\":\"b2Rk\"}]");
    (void)snprintf(want, sizeof(want), "%s/figure-3.png", dir);
    assert_string_equal(second, want);
    assert_non_null(first);
    assert_non_null(other);
    expect_file(fd, "figure-1.png", "first");
    expect_file(fd, "figure-3.png", "second");
    expect_file(fd, "output-1.bin", "odd");
    assert_int_equal(faccessat(fd, "elsewhere", F_OK, 0), -1);
    fd_empty_dir(fd);
    assert_return_code(rmdir(dir), 0);
}

static void test_a_directory_of_its_own(void **state)
{
    char dir[64];
    auto_close int fd = unit_dir(dir);
    struct shown s = { 0 };
    struct shown_as one, two;

    (void)state;
    assert_return_code(setenv("TMPDIR", dir, 1), 0);
    one = shown_take(&s, "[" PNG("AAAA") "]");
    two = shown_take(&s, "[" PNG("AAAA") "]");
    assert_non_null(s.made);
    assert_memory_equal(s.made, dir, strlen(dir));
    assert_memory_equal(one.file, s.made, strlen(s.made));
    assert_memory_equal(two.file, s.made, strlen(s.made));
    free(one.file);
    free(two.file);
    shown_done(&s);
    fd_empty_dir(fd);
    assert_return_code(rmdir(dir), 0);
}

static void test_what_cannot_be_written(void **state)
{
    (void)state;
    assert_null(file_of("/nonexistent", "[" PNG("AAAA") "]"));
    assert_null(file_of("/nonexistent", "[" PNG("not base64") "]"));
    assert_null(file_of("/nonexistent", "[]"));
    assert_null(file_of("/nonexistent", "not JSON"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_a_directory_of_its_own),
        cmocka_unit_test(test_what_cannot_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
