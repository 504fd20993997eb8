/* The option parser: every kind, every way to write an option, and the exact words of refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/own.h"
#include "base/suggest.h"
#include "cli/options.h"

#define MAX_WORDS 12

struct target {
    bool flag;
    const char *text;
    const char *choice;
    int count;
    json_t *bindings;
    json_t *config;
};

#define AT(member) offsetof(struct target, member)

static const struct option_spec first[] = {
    { 'f', "flag", OPT_FLAG, AT(flag), NULL, "a flag", NULL },
    { 'c', "code", OPT_TEXT, AT(text), "CODE", "text", NULL },
    { 0, "shell", OPT_CHOICE, AT(choice), "bash|zsh|fish", "a choice", NULL },
    { 'j', "jobs", OPT_COUNT, AT(count), "N", "a count", NULL },
    { 0, "input", OPT_BINDING, AT(bindings), "NAME=JSON", "a binding", NULL },
    { 0, "secret", OPT_FLAG, AT(flag), NULL, NULL, NULL },
};
static const struct option_spec second[] = {
    { 0, "acknowledge-unsafe", OPT_KEY_FLAG, AT(config), NULL, "a flag", NULL },
    { 0, "python", OPT_KEY_TEXT, AT(config), "PATH", "text", NULL },
    { 0, "policy", OPT_KEY_CHOICE, AT(config), "strict|standard|off", "a choice", NULL },
    { 0, "processes", OPT_KEY_COUNT, AT(config), "N", "a count", NULL },
    { 't', "timeout", OPT_KEY_SECONDS, AT(config), "SECONDS", "seconds", NULL },
    { 0, "stdout-limit", OPT_KEY_SIZE, AT(config), "SIZE", "a size", NULL },
    { 'e', "env", OPT_KEY_ENV, AT(config), "NAME[=VALUE]", "a variable", NULL },
    { 0, "preload", OPT_KEY_LIST, AT(config), "M[,M]", "a list", NULL },
};
static const struct option_group first_group = { "First", first, ARRAY_LEN(first) };
static const struct option_group second_group = { "Second", second, ARRAY_LEN(second) };
static const struct option_group *const groups[] = { &first_group, &second_group, NULL };

struct fixture {
    char line[512]; /* the words that argv and the target point into */
    char *argv[MAX_WORDS + 1];
    struct target target;
    struct operands operands;
    struct gb_err err;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->target.bindings = json_object();
    f->target.config = json_object();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    json_decref(f->target.bindings);
    json_decref(f->target.config);
    free(f);
    return 0;
}

/* Parse a line whose words are separated by single blanks. */
static int parse(struct fixture *f, const char *line)
{
    size_t n = 0;

    assert_true(strlen(line) < sizeof(f->line));
    memcpy(f->line, line, strlen(line) + 1);
    for (char *word = f->line; *word && n < MAX_WORDS;) {
        f->argv[n++] = word;
        word += strcspn(word, " ");
        if (*word)
            *word++ = '\0';
    }
    f->argv[n] = NULL;
    return options_parse(groups, f->argv, &f->target, &f->operands, &f->err);
}

static void expect_config(const struct fixture *f, const char *json)
{
    auto_free char *text = json_dumps(f->target.config, JSON_COMPACT);

    assert_string_equal(text, json);
}

static void test_nothing(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, ""), 0);
    assert_int_equal(f->operands.count, 0);
    assert_null(f->operands.words[0]);
    assert_null(f->operands.rest[0]);
    expect_config(f, "{}");
}

static void test_ways_to_write_an_option(void **state)
{
    static const char *const lines[] = { "--code x", "--code=x", "-c x", "-cx", "--code y -c x" };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        f->target.text = NULL;
        assert_int_equal(parse(f, lines[i]), 0);
        assert_string_equal(f->target.text, "x");
        assert_int_equal(f->operands.count, 0);
    }
}

static void test_values_that_look_like_something_else(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--code --flag"), 0);
    assert_string_equal(f->target.text, "--flag");
    assert_int_equal(parse(f, "-c --"), 0);
    assert_string_equal(f->target.text, "--");
    assert_int_equal(parse(f, "--code=a=b"), 0);
    assert_string_equal(f->target.text, "a=b");
    assert_int_equal(parse(f, "--code="), 0);
    assert_string_equal(f->target.text, "");
    assert_false(f->target.flag);
}

static void test_operands(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "a.py -f - -j 3 b -- -f -- c"), 0);
    assert_true(f->target.flag);
    assert_int_equal(f->target.count, 3);
    assert_int_equal(f->operands.count, 3);
    assert_string_equal(f->operands.words[0], "a.py");
    assert_string_equal(f->operands.words[1], "-");
    assert_string_equal(f->operands.words[2], "b");
    assert_null(f->operands.words[3]);
    assert_string_equal(f->operands.rest[0], "-f");
    assert_string_equal(f->operands.rest[1], "--");
    assert_string_equal(f->operands.rest[2], "c");
    assert_null(f->operands.rest[3]);
}

static void test_rest_without_operands(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "-- x"), 0);
    assert_int_equal(f->operands.count, 0);
    assert_null(f->operands.words[0]);
    assert_string_equal(f->operands.rest[0], "x");
}

static void test_keys(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--acknowledge-unsafe --python /p --policy off --processes 8"), 0);
    expect_config(f, "{\"acknowledge_unsafe\":true,\"python\":\"/p\",\"policy\":\"off\","
                     "\"processes\":8}");
}

static void test_seconds(void **state)
{
    static const struct {
        const char *line;
        double seconds;
    } cases[] = { { "-t 5", 5 }, { "-t 2.5", 2.5 }, { "--timeout=.25", 0.25 }, { "-t1.", 1 } };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(parse(f, cases[i].line), 0);
        double got = json_real_value(json_object_get(f->target.config, "timeout"));
        assert_true(got >= cases[i].seconds && got <= cases[i].seconds);
    }
}

static void test_sizes(void **state)
{
    static const struct {
        const char *line;
        json_int_t bytes;
    } cases[] = {
        { "--stdout-limit 0", 0 },
        { "--stdout-limit 100", 100 },
        { "--stdout-limit 64K", 65536 },
        { "--stdout-limit 64k", 65536 },
        { "--stdout-limit 512M", 536870912 },
        { "--stdout-limit=2G", 2147483648 },
        { "--stdout-limit 8589934591G", 9223372035781033984 },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(parse(f, cases[i].line), 0);
        assert_int_equal(json_integer_value(json_object_get(f->target.config, "stdout_limit")),
                         cases[i].bytes);
    }
}

static void test_environment(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(setenv("GB_TEST_COPIED", "from here", 1), 0);
    assert_int_equal(parse(f, "-e A=1 -e B= --env GB_TEST_COPIED -e A=2=3"), 0);
    expect_config(f, "{\"env\":{\"A\":\"2=3\",\"B\":\"\",\"GB_TEST_COPIED\":\"from here\"}}");
}

static void test_lists(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--preload numpy,json --preload re"), 0);
    expect_config(f, "{\"preload\":[\"numpy\",\"json\",\"re\"]}");
}

static void test_bindings(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--input n=41 --input s=\"x=y\" --input o={\"a\":[1,null]}"), 0);
    auto_free char *text = json_dumps(f->target.bindings, JSON_COMPACT);
    assert_string_equal(text, "{\"n\":41,\"s\":\"x=y\",\"o\":{\"a\":[1,null]}}");
}

static void test_choice(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--shell zsh"), 0);
    assert_string_equal(f->target.choice, "zsh");
}

static void test_refusals(void **state)
{
    static const struct {
        const char *line;
        const char *message;
    } cases[] = {
        { "--tmeout 5", "unknown option '--tmeout' (did you mean '--timeout'?)" },
        { "--tmeout=5", "unknown option '--tmeout' (did you mean '--timeout'?)" },
        { "--time 5", "unknown option '--time' (did you mean '--timeout'?)" },
        { "--xyzzy", "unknown option '--xyzzy'" },
        { "--secre", "unknown option '--secre'" },
        { "-x", "unknown option '-x'" },
        { "-fx", "unknown option '-fx'" },
        { "--flag=1", "--flag takes no value" },
        { "--code", "--code needs a value: CODE" },
        { "-c", "--code needs a value: CODE" },
        { "-t abc", "--timeout: 'abc' is not a number of seconds (for example 2.5)" },
        { "-t -1", "--timeout: '-1' is not a number of seconds (for example 2.5)" },
        { "-t inf", "--timeout: 'inf' is not a number of seconds (for example 2.5)" },
        { "-t 0x10", "--timeout: '0x10' is not a number of seconds (for example 2.5)" },
        { "-t 1e3", "--timeout: '1e3' is not a number of seconds (for example 2.5)" },
        { "-t .", "--timeout: '.' is not a number of seconds (for example 2.5)" },
        { "--timeout=", "--timeout: '' is not a number of seconds (for example 2.5)" },
        { "-t 0", "--timeout: '0' is out of range (0.001 to 604800)" },
        { "-j 0", "--jobs: '0' is not a whole number above 0 (for example 8)" },
        { "-j -1", "--jobs: '-1' is not a whole number above 0 (for example 8)" },
        { "-j 1.5", "--jobs: '1.5' is not a whole number above 0 (for example 8)" },
        { "-j 99999999999", "--jobs: '99999999999' is out of range (at most 2147483647)" },
        { "--processes x", "--processes: 'x' is not a whole number above 0 (for example 8)" },
        { "--stdout-limit 5X",
          "--stdout-limit: '5X' is not a size (for example 512M; K, M, G or plain bytes)" },
        { "--stdout-limit 5Mb",
          "--stdout-limit: '5Mb' is not a size (for example 512M; K, M, G or plain bytes)" },
        { "--stdout-limit -5",
          "--stdout-limit: '-5' is not a size (for example 512M; K, M, G or plain bytes)" },
        { "--stdout-limit 9999999999G", "--stdout-limit: '9999999999G' is out of range" },
        { "--policy none", "--policy: 'none' is not one of strict, standard, off" },
        { "--policy stric", "--policy: 'stric' is not one of strict, standard, off" },
        { "--shell tcsh", "--shell: 'tcsh' is not one of bash, zsh, fish" },
        { "-e GB_TEST_UNSET", "--env: 'GB_TEST_UNSET' is not set in the environment" },
        { "-e =1", "--env: '=1' has no name before the '='" },
        { "-e A=\xff", "--env: 'A' is not valid UTF-8" },
        { "--preload a,,b", "--preload: an empty name in 'a,,b'" },
        { "--preload=", "--preload: an empty name in ''" },
        { "--python \xff", "--python: the value is not valid UTF-8" },
        { "--input n", "--input: 'n' is not NAME=JSON (for example n=3)" },
        { "--input =1", "--input: '=1' is not NAME=JSON (for example n=3)" },
        { "--input n=abc", "--input: the value of 'n' is not JSON: invalid token near 'abc' "
                           "(a string needs its quotes: 'n=\"text\"')" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(parse(f, cases[i].line), -1);
        assert_int_equal(f->err.code, GB_E_INVALID);
        assert_string_equal(f->err.msg, cases[i].message);
    }
}

static void test_suggestions(void **state)
{
    static const struct {
        const char *typed;
        const char *expected;
    } cases[] = { { "rnu", "run" },       { "bacth", "batch" },
                  { "docter", "doctor" }, { "doc", "doctor" },
                  { "xyz", NULL },        { "r", NULL },
                  { "", NULL },           { "a-very-long-word-that-no-command-has", NULL } };
    static const char *const names[] = { "run", "batch", "doctor", "help" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suggestion s = { .typed = cases[i].typed, .typed_len = strlen(cases[i].typed) };
        for (size_t n = 0; n < ARRAY_LEN(names); n++)
            suggestion_offer(&s, names[n]);
        if (cases[i].expected)
            assert_string_equal(s.best, cases[i].expected);
        else
            assert_null(s.best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ways_to_write_an_option, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_values_that_look_like_something_else, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_operands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rest_without_operands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_seconds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_environment, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bindings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_choice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test(test_suggestions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
