/* JSON as text: compact, and every number comes back as it was. */
#include "unit.h"

#include <float.h>
#include <math.h>

#include "base/json.h"

/* Takes the reference. */
static void assert_text(json_t *json, const char *want)
{
    char *text = json_text(json);

    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
    json_decref(json);
}

static void test_shortest_reals(void **state)
{
    static const struct {
        double value;
        const char *want;
    } cases[] = {
        { 0.0, "0.0" },
        { -0.0, "-0.0" },
        { 1.0, "1.0" },
        { 0.1, "0.1" },
        { 4.123, "4.123" },
        { -273.15, "-273.15" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1.0 / 3, "0.3333333333333333" },
        { 2.0 / 3, "0.6666666666666666" },
        { 1e22, "1e22" },
        { 9007199254740993.0, "9007199254740992.0" },
        { DBL_MAX, "1.7976931348623157e308" },
        { DBL_MIN, "2.2250738585072014e-308" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_text(json_real(cases[i].value), cases[i].want);
}

static void test_each_real_for_itself(void **state)
{
    (void)state;
    assert_text(json_pack("[f,f,f]", 0.1, 0.1 + 0.2, 1.0), "[0.1,0.30000000000000004,1.0]");
    assert_text(json_pack("{s:f,s:[{s:f}]}", "a", 2.5, "b", "c", 1e-7 / 3),
                "{\"a\":2.5,\"b\":[{\"c\":3.3333333333333334e-8}]}");
}

static double random_real(void)
{
    union {
        uint64_t bits;
        double value;
    } real;

    do
        real.bits = unit_random();
    while (!isfinite(real.value));
    return real.value;
}

static void test_reals_come_back(void **state)
{
    char fifteen[40];

    (void)state;
    for (int i = 0; i < 50000; i++) {
        double value = i % 2 ? random_real() : (double)(unit_random() % 100000000) / 1000;
        json_t *json = json_real(value);
        char *text = json_text(json);
        json_t *back = json_loads(text, JSON_DECODE_ANY, NULL);

        assert_true(json_is_real(back));
        if (json_real_value(back) != value)
            fail_msg("%a became %s", value, text);
        (void)snprintf(fifteen, sizeof(fifteen), "%.15g", value);
        if (strtod(fifteen, NULL) == value) /* then no digit more than that */
            assert_true(strlen(text) <= strlen(fifteen) + 2);
        free(text);
        json_decref(json);
        json_decref(back);
    }
}

static void test_anything(void **state)
{
    (void)state;
    assert_text(json_null(), "null");
    assert_text(json_true(), "true");
    assert_text(json_integer(INT64_MIN), "-9223372036854775808");
    assert_text(json_stringn("a\0\"\n\xc3\xbc", 6), "\"a\\u0000\\\"\\n\xc3\xbc\"");
    assert_text(json_array(), "[]");
    assert_text(json_pack("{s:[i,n],s:{}}", "a", 1, "b"), "{\"a\":[1,null],\"b\":{}}");
    assert_null(json_text(NULL));
}

/* Whatever is in a string, jansson reads it back, and writes the same where it has but one way. */
static void test_every_character(void **state)
{
    char all[256];

    (void)state;
    for (int c = 0; c < 128; c++) {
        all[2 * c] = (char)c;
        all[2 * c + 1] = 'x';
    }
    json_t *json =
        json_pack("{s:o,s:[s,s]}", "\"\\/\x7f\xe2\x80\xa8", json_stringn(all, sizeof(all)), "b",
                  "\xf0\x9f\x98\x80\xed\x9f\xbf", "");
    char *text = json_text(json), *theirs = json_dumps(json, JSON_COMPACT);
    json_t *back = json_loads(text, JSON_ALLOW_NUL, NULL);

    assert_true(json_equal(json, back));
    assert_int_equal(strlen(text), strlen(theirs));
    assert_int_equal(strcasecmp(text, theirs), 0); /* they write \u001F, we \u001f */
    free(text);
    free(theirs);
    json_decref(json);
    json_decref(back);
}

static void test_deep(void **state)
{
    json_t *json = json_pack("[f]", 0.1 + 0.2);

    (void)state;
    for (int i = 1; i < 1000; i++)
        json = json_pack("[o]", json);
    char *text = json_text(json);
    assert_non_null(text);
    assert_int_equal(strlen(text), 2000 + strlen("0.30000000000000004"));
    free(text);
    json_decref(json);
}

/* The name of a file may be any bytes, and a message may end in the middle of a character. */
static void test_text_that_is_not_utf8(void **state)
{
    static const char *const cases[][2] = {
        { "", "" },
        { "plain", "plain" },
        { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
        { "a\xff"
          "b\xc3",
          "a?b?" },
        { "\xe2\x82", "??" },
        { "\xc3\xbc\xc3", "\xc3\xbc?" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *json = json_lossy(cases[i][0]);
        assert_non_null(json);
        assert_string_equal(json_string_value(json), cases[i][1]);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shortest_reals),        cmocka_unit_test(test_each_real_for_itself),
        cmocka_unit_test(test_reals_come_back),       cmocka_unit_test(test_anything),
        cmocka_unit_test(test_every_character),       cmocka_unit_test(test_deep),
        cmocka_unit_test(test_text_that_is_not_utf8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
