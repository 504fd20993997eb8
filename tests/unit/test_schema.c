/* JSON Schema: what is understood is checked, what is not is refused, and both come to an end. */
#include "unit.h"

#include "base/json.h"
#include "engine/schema.h"

/* 'text' with single quotes, since C has the double ones. */
static json_t *json_of(const char *text)
{
    auto_free char *copy = strdup(text);
    json_t *json;

    for (char *at = strchr(copy, '\''); at; at = strchr(at, '\''))
        *at = '"';
    json = json_loads(copy, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (!json)
        fail_msg("not JSON: %s", copy);
    return json;
}

static bool obeys(const char *schema_text, const char *value_text, struct gb_err *err)
{
    auto_json json_t *schema = json_of(schema_text);
    auto_json json_t *value = json_of(value_text);

    if (schema_check(schema, err) < 0)
        fail_msg("%s: %s", schema_text, err->msg);
    return schema_validate(schema, value, "args", err) == 0;
}

static void test_keywords(void **state)
{
    static const struct {
        const char *schema, *good, *bad;
    } cases[] = {
        { "{'type': 'string'}", "'x'", "1" },
        { "{'type': 'integer'}", "1", "1.5" },
        { "{'type': 'integer'}", "2.0", "true" },
        { "{'type': 'number'}", "1", "'1'" },
        { "{'type': 'boolean'}", "false", "0" },
        { "{'type': 'null'}", "null", "false" },
        { "{'type': 'array'}", "[]", "{}" },
        { "{'type': 'object'}", "{}", "[]" },
        { "{'type': ['integer', 'null']}", "null", "'x'" },
        { "{'properties': {'a': {'type': 'integer'}}}", "{'a': 1, 'b': 'x'}", "{'a': 'x'}" },
        { "{'required': ['a']}", "{'a': null}", "{'b': 1}" },
        { "{'properties': {'a': true}, 'additionalProperties': false}", "{'a': 1}", "{'b': 1}" },
        { "{'additionalProperties': {'type': 'string'}}", "{'a': 'x'}", "{'a': 1}" },
        { "{'propertyNames': {'maxLength': 2}}", "{'ab': 1}", "{'abc': 1}" },
        { "{'minProperties': 1, 'maxProperties': 2}", "{'a': 1}", "{}" },
        { "{'minProperties': 1, 'maxProperties': 2}", "{'a': 1, 'b': 1}", "{'a':1,'b':1,'c':1}" },
        { "{'items': {'type': 'integer'}}", "[1, 2]", "[1, 'x']" },
        { "{'prefixItems': [{'type': 'string'}], 'items': false}", "['x']", "['x', 1]" },
        { "{'prefixItems': [{'type': 'string'}], 'items': {'type': 'integer'}}", "['x', 1]",
          "['x', 'y']" },
        { "{'minItems': 1}", "[1]", "[]" },
        { "{'maxItems': 1}", "[1]", "[1, 2]" },
        { "{'uniqueItems': true}", "[1, '1', [1]]", "[1, 2, 1.0]" },
        { "{'uniqueItems': true}", "[{'a': 1}, {'a': 2}]", "[{'a': 1, 'b': 2}, {'b': 2, 'a': 1}]" },
        { "{'enum': ['a', 1, null]}", "1.0", "'b'" },
        { "{'const': {'a': [1]}}", "{'a': [1]}", "{'a': [1, 2]}" },
        { "{'minimum': 3}", "3", "2.999" },
        { "{'maximum': 3}", "3", "4" },
        { "{'maximum': 9007199254740992}", "9007199254740992", "9007199254740993" },
        { "{'exclusiveMinimum': 0}", "0.1", "0" },
        { "{'exclusiveMaximum': 1}", "0.9", "1" },
        { "{'multipleOf': 5}", "10", "11" },
        { "{'multipleOf': 0.1}", "0.3", "0.35" },
        { "{'minLength': 2}", "'\u00e9\u00e9'", "'\u00e9'" },
        { "{'maxLength': 2}", "'\u00e9\u00e9'", "'abc'" },
        { "{'pattern': '^a+$'}", "'aa'", "'ab'" },
        { "{'pattern': 'b'}", "'abc'", "'ac'" },
        { "{'pattern': '^x$'}", "7", "'x\\n'" },
        { "{'anyOf': [{'type': 'integer'}, {'type': 'null'}]}", "null", "'x'" },
        { "{'oneOf': [{'minimum': 0}, {'maximum': 5}]}", "9", "3" },
        { "{'allOf': [{'minimum': 0}, {'maximum': 5}]}", "3", "9" },
        { "{'not': {'type': 'string'}}", "1", "'x'" },
        { "{'if': {'required': ['a']}, 'then': {'required': ['b']}, 'else': {'maxProperties': 0}}",
          "{'a': 1, 'b': 2}", "{'a': 1}" },
        { "{'if': {'required': ['a']}, 'then': {'required': ['b']}, 'else': {'maxProperties': 0}}",
          "{}", "{'c': 1}" },
        { "{'$ref': '#/$defs/n', '$defs': {'n': {'type': 'integer'}}}", "1", "'x'" },
        { "{'$ref': '#/definitions/n', 'definitions': {'n': {'type': 'integer'}}}", "1", "'x'" },
        { "{'properties': {'next': {'$ref': '#'}, 'v': {'type': 'integer'}}}",
          "{'next': {'next': {'v': 1}}}", "{'next': {'next': {'v': 'x'}}}" },
        /* keywords do not look at values of other types */
        { "{'minLength': 5, 'minimum': 5, 'minItems': 1, 'required': ['a']}", "7", "4" },
        /* these only describe */
        { "{'title': 't', 'description': 'd', 'format': 'email', 'default': 1, 'x-own': 2,"
          " 'type': 'string'}",
          "'no mail'", "1" },
    };
    struct gb_err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (!obeys(cases[i].schema, cases[i].good, &err))
            fail_msg("%s refuses %s: %s", cases[i].schema, cases[i].good, err.msg);
        if (obeys(cases[i].schema, cases[i].bad, &err))
            fail_msg("%s accepts %s", cases[i].schema, cases[i].bad);
    }
}

static void test_messages_name_the_place(void **state)
{
    static const struct {
        const char *schema, *value, *message;
    } cases[] = {
        { "{'properties': {'a': {'items': {'type': 'string'}}}}", "{'a': ['x', 1]}",
          "args.a[1] must be string, not integer" },
        { "{'required': ['key']}", "{}", "args: 'key' is missing" },
        { "{'properties': {'a': {'required': ['key']}}}", "{'a': {}}", "args.a: 'key' is missing" },
        { "{'properties': {'m': {'enum': ['fast', 'slow']}}}", "{'m': 'x'}",
          "args.m must be one of [\"fast\",\"slow\"]" },
        { "{'anyOf': [{'properties': {'a': {'type': 'null'}}}, {'type': 'null'}]}", "{'a': 1}",
          "args is none of what it may be" },
    };
    struct gb_err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_false(obeys(cases[i].schema, cases[i].value, &err));
        assert_string_equal(err.msg, cases[i].message);
    }
}

static void test_what_cannot_be_checked_is_refused(void **state)
{
    static const char *const cases[] = {
        "{'unevaluatedProperties': false}",
        "{'dependentSchemas': {}}",
        "{'$dynamicRef': '#x'}",
        "{'minimun': 1}",
        "{'type': 'str'}",
        "{'type': []}",
        "{'type': 3}",
        "{'properties': []}",
        "{'properties': {'a': {'frobnicate': 1}}}",
        "{'items': [{'type': 'string'}]}",
        "{'required': 'a'}",
        "{'enum': 'a'}",
        "{'minLength': -1}",
        "{'minLength': 1.5}",
        "{'multipleOf': 0}",
        "{'uniqueItems': 1}",
        "{'pattern': '('}",
        "{'pattern': 'a\\u0000b'}",
        "{'anyOf': []}",
        "{'$ref': '#/$defs/none'}",
        "{'$ref': 'https://example.org/schema'}",
        "{'not': 3}",
        "3",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json json_t *schema = json_of(cases[i]);
        struct gb_err err = { 0 };

        if (schema_check(schema, &err) == 0)
            fail_msg("taken: %s", cases[i]);
        assert_int_equal(err.code, GB_E_INVALID);
        assert_true(err.msg[0] != '\0');
    }
}

/* ---- what is made to take for ever does not ---- */

static void test_circles_end(void **state)
{
    static const char *const schemas[] = {
        "{'$ref': '#'}",
        "{'$ref': '#/$defs/a', '$defs': {'a': {'$ref': '#/$defs/b'}, 'b': {'$ref': '#/$defs/a'}}}",
        "{'anyOf': [{'$ref': '#'}, {'$ref': '#'}]}",
        /* a "not" turns no into yes, but not "cannot be told" */
        "{'not': {'$ref': '#'}}",
        "{'not': {'anyOf': [{'$ref': '#'}]}}",
    };
    struct gb_err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(schemas); i++)
        assert_false(obeys(schemas[i], "1", &err));
}

static void test_large_values_end(void **state)
{
    auto_json json_t *schema = json_of("{'uniqueItems': true}");
    auto_json json_t *list = json_array();
    struct gb_err err = { 0 };

    (void)state;
    for (int i = 0; i < 100000; i++)
        json_array_append_new(list, json_integer(i));
    assert_int_equal(schema_validate(schema, list, "args", &err), -1);
    assert_non_null(strstr(err.msg, "too long"));
}

static void test_greedy_patterns_end(void **state)
{
    auto_json json_t *schema = json_of("{'pattern': '^(a+)+$'}");
    auto_json json_t *not_it = json_of("{'not': {'pattern': '^(a+)+$'}}");
    auto_json json_t *text = json_string("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(schema_validate(schema, text, "args", &err), -1);
    assert_int_equal(schema_validate(not_it, text, "args", &err), -1);
}

static void test_nesting_is_bounded(void **state)
{
    json_t *schema = json_pack("{s:s}", "type", "string");
    struct gb_err err = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++)
        schema = json_pack("{s:o}", "items", schema);
    assert_int_equal(schema_check(schema, &err), -1);
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keywords),
        cmocka_unit_test(test_messages_name_the_place),
        cmocka_unit_test(test_what_cannot_be_checked_is_refused),
        cmocka_unit_test(test_circles_end),
        cmocka_unit_test(test_large_values_end),
        cmocka_unit_test(test_greedy_patterns_end),
        cmocka_unit_test(test_nesting_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
