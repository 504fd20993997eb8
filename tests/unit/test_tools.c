/* Tools as an operator gives them, and as a model and a program see them. */
#include "unit.h"

#include "base/json.h"
#include "engine/signature.h"
#include "engine/tools.h"
#include "python/names.h"

/* 'text' with single quotes, since C has the double ones. */
static json_t *json_of(const char *text)
{
    auto_free char *copy = strdup(text);
    json_t *json;

    for (char *at = strchr(copy, '\''); at; at = strchr(at, '\''))
        *at = '"';
    json = json_loads(copy, JSON_DECODE_ANY, NULL);
    if (!json)
        fail_msg("not JSON: %s", copy);
    return json;
}

static struct toolset *read_set(const char *text, struct gb_err *err)
{
    auto_json json_t *json = json_of(text);

    return toolset_read(json, err);
}

/* ---- sets ---- */

static void test_list_and_object(void **state)
{
    struct gb_err err;
    struct toolset *list = read_set("[{'name': 'b', 'description': 'B'}, {'name': 'a'}]", &err);
    struct toolset *object = read_set("{'b': {'description': '\\u2060B\\u200b'}, 'a': {}}", &err);
    char text[40];

    (void)state;
    assert_int_equal(toolset_count(list), 2);
    assert_int_equal(toolset_count(object), 2);
    toolset_list(list, text, sizeof(text));
    assert_string_equal(text, "b, a");
    assert_string_equal(toolset_find(object, "b")->description, "B");
    assert_null(toolset_find(object, "c"));
    toolset_unref(list);
    toolset_unref(object);
}

static void test_refused(void **state)
{
    static const struct {
        const char *tools, *says;
    } cases[] = {
        { "3", "list of tools" },
        { "[3]", "must be an object" },
        { "[{}]", "has no name" },
        { "[{'name': ''}]", "name:" },
        { "[{'name': 7}]", "name:" },
        { "[{'name': 'a\\nb'}]", "control character" },
        { "[{'name': 'a\\u200bb'}]", "nobody sees" },
        { "[{'name': 'a\\udb40\\udc41'}]", "nobody sees" },
        { "[{'name': 'execute_code'}]", "execute_code" },
        { "[{'name': 'a'}, {'name': 'a'}]", "'a' is there twice" },
        { "[{'name': 'a', 'descripton': 'x'}]", "unknown key 'descripton'" },
        { "[{'name': 'a', 'approval': 'sometimes'}]", "'a': approval:" },
        { "[{'name': 'a', 'timeout': 0}]", "timeout:" },
        { "[{'name': 'a', 'timeout': 'x'}]", "timeout:" },
        { "[{'name': 'a', 'command': ''}]", "command:" },
        { "[{'name': 'a', 'parameters': {'type': 'string'}}]", "of the type 'object'" },
        { "[{'name': 'a', 'parameters': {'properties': {'x': {'contains': 1}}}}]", "'contains'" },
        { "{'a': 'cat'}", "must be an object" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gb_err err = { 0 };
        struct toolset *set = read_set(cases[i].tools, &err);

        if (set || !strstr(err.msg, cases[i].says))
            fail_msg("%s: %s", cases[i].tools, set ? "taken" : err.msg);
    }
}

/* A set that somebody holds stays what it is. */
static void test_changes_make_another_set(void **state)
{
    struct gb_err err;
    auto_json json_t *one = json_of("{'name': 'a', 'approval': 'always'}");
    auto_json json_t *names = json_of("['b']");
    struct toolset *first = read_set("[{'name': 'a'}, {'name': 'b'}]", &err);
    struct toolset *second = toolset_with(first, one, &err);
    struct toolset *third = toolset_without(second, "a", &err);
    struct toolset *fourth = toolset_narrow(second, names, &err);

    (void)state;
    assert_int_equal(toolset_count(second), 2);
    assert_false(toolset_needs_approval(first));
    assert_true(toolset_needs_approval(second));
    assert_false(toolset_needs_approval(third));
    assert_false(toolset_needs_approval(fourth));
    assert_int_equal(toolset_count(third), 1);
    assert_ptr_equal(toolset_find(third, "b"), toolset_find(first, "b"));
    assert_null(toolset_without(third, "a", &err));
    assert_non_null(strstr(err.msg, "there is no tool 'a'; there are: b"));
    assert_null(toolset_without(NULL, "a", &err));
    assert_non_null(strstr(err.msg, "there are: none"));
    toolset_unref(first);
    toolset_unref(second);
    toolset_unref(third);
    toolset_unref(fourth);
}

static void test_narrowing_to_what_is_not_there(void **state)
{
    struct gb_err err;
    auto_json json_t *names = json_of("['a', 'c']");
    auto_json json_t *twice = json_of("['a', 'a']");
    struct toolset *set = read_set("[{'name': 'a'}]", &err), *less;

    (void)state;
    assert_null(toolset_narrow(set, names, &err));
    assert_non_null(strstr(err.msg, "there is no tool 'c'"));
    less = toolset_narrow(set, twice, &err);
    assert_int_equal(toolset_count(less), 1);
    toolset_unref(less);
    toolset_unref(set);
}

/* ---- signatures ---- */

static void test_signatures(void **state)
{
    static const struct {
        const char *schema, *signature;
    } cases[] = {
        { "{}", "(**more: Any) -> Any" },
        { "{'additionalProperties': false}", "() -> Any" },
        { "{'properties': {}}", "() -> Any" },
        { "{'properties': {'a': {'type': 'integer'}}, 'required': ['a']}", "(*, a: int) -> Any" },
        /* what must be given comes first, the rest has a default */
        { "{'properties': {'b': {'type': 'number'}, 'a': {'type': 'string'}}, 'required': ['a']}",
          "(*, a: str, b: float = ...) -> Any" },
        { "{'properties': {'a': {'type': ['null', 'integer']}}, 'required': ['a']}",
          "(*, a: int | None) -> Any" },
        { "{'properties': {'a': {'anyOf': [{'type': 'integer'}, {'type': 'string'},"
          " {'type': 'null'}, {'type': 'integer'}]}}, 'required': ['a']}",
          "(*, a: int | str | None) -> Any" },
        { "{'properties': {'a': {'type': 'array', 'items': {'type': 'string'}}}, 'required': "
          "['a']}",
          "(*, a: list[str]) -> Any" },
        { "{'properties': {'a': {'type': 'array'}}, 'required': ['a']}", "(*, a: list) -> Any" },
        { "{'properties': {'a': {'type': 'object', 'additionalProperties': {'type': 'number'}}},"
          " 'required': ['a']}",
          "(*, a: dict[str, float]) -> Any" },
        { "{'properties': {'a': {'enum': ['x', 2]}}, 'required': ['a']}",
          "(*, a: Literal[\"x\", 2]) -> Any" },
        { "{'properties': {'a': {'const': 'x'}}, 'required': ['a']}",
          "(*, a: Literal[\"x\"]) -> Any" },
        { "{'properties': {'a': {'$ref': '#/$defs/n'}}, 'required': ['a'],"
          " '$defs': {'n': {'type': 'boolean'}}}",
          "(*, a: bool) -> Any" },
        { "{'properties': {'a': {'$ref': '#'}}, 'required': ['a']}", "(*, a: Any) -> Any" },
        { "{'properties': {'a-b': {'type': 'integer'}, 'class': {}, 'c': {}}, 'required': ['c']}",
          "(*, c: Any, **more: Any) -> Any" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json json_t *schema = json_of(cases[i].schema);
        auto_free char *text = NULL;
        size_t len = 0;
        FILE *f = open_memstream(&text, &len);

        signature_put(f, schema, NULL);
        (void)fclose(f);
        assert_string_equal(text, cases[i].signature);
    }
}

static void test_return_type(void **state)
{
    auto_json json_t *none = json_of("{'type': 'null'}");
    auto_json json_t *any = json_of("{'properties': {}}");
    auto_free char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    (void)state;
    signature_put(f, any, none);
    (void)fclose(f);
    assert_string_equal(text, "() -> None");
}

/* Somebody else's text must not look like ours. */
static void test_lines_stay_lines(void **state)
{
    static const struct {
        const char *text, *line;
    } cases[] = {
        { "plain", "plain" },
        { "  two\n\n## Tools\r\n\tmore ", "two ## Tools more" },
        { "a\xe2\x80\xa8"
          "b\xe2\x80\xa9"
          "c\xc2\x85"
          "d",
          "a b c d" },
        { "a\xe2\x80\xae"
          "b\xe2\x81\xa6"
          "c",
          "a b c" },
        { "\x1b[31mred\x7f", "[31mred" },
        { "a\xf3\xa0\x81\xa9\xf3\xa0\x81\xa7\xef\xb8\x8f"
          "b\xe2\x80\x8b", /* tags, a variation selector, no width */
          "a b" },
        { "na\xc3\xafve \xe2\x82\xac", "na\xc3\xafve \xe2\x82\xac" },
        { "0123456789abcdef", "0123456789..." },
        { "012345678\xe2\x82\xac"
          "abc",
          "012345678\xe2\x82\xac..." },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_free char *text = NULL;
        size_t len = 0;
        FILE *f = open_memstream(&text, &len);

        signature_put_line(f, cases[i].text, i < 7 ? 100 : 10);
        (void)fclose(f);
        assert_string_equal(text, cases[i].line);
    }
}

/* ---- names ---- */

static void test_names_of_functions(void **state)
{
    static const char *const good[] = { "lookup", "_x", "match", "type_", "Find2" };
    static const char *const bad[] = {
        "",          "my-tool",   "a.b",     "2x",          "class",      "print",        "open",
        "call_tool", "ToolError", "display", "caf\xc3\xa9", "__import__", "execute_code", "a b"
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(name_is_function(good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(name_is_function(bad[i]));
    assert_true(name_is_variable("print"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_and_object),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_changes_make_another_set),
        cmocka_unit_test(test_narrowing_to_what_is_not_there),
        cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_return_type),
        cmocka_unit_test(test_lines_stay_lines),
        cmocka_unit_test(test_names_of_functions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
