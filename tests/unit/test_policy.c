/* Policies: which names are allowed and refused when operator and request have had their say. */
#include "unit.h"

#include "base/json.h"
#include "engine/policy.h"

/* 'text' with single quotes, since C has the double ones. */
static json_t *json_of(const char *text)
{
    char copy[400];

    (void)snprintf(copy, sizeof(copy), "%s", text);
    for (char *at = strchr(copy, '\''); at; at = strchr(at, '\''))
        *at = '"';
    json_t *json = json_loads(copy, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (!json)
        fail_msg("not JSON: %s", copy);
    return json;
}

/* {'allow_import': [...], ...} */
static int say_all(struct policy_lists *p, const char *text, struct gb_err *err)
{
    auto_json json_t *json = json_of(text);
    const char *key;
    json_t *value;

    json_object_foreach (json, key, value) {
        int r = policy_say(p, key, value, err);
        if (r <= 0)
            return r;
    }
    return 1;
}

static bool has(const json_t *rules, const char *list, const char *name)
{
    const json_t *names = json_object_get(rules, list);

    for (size_t i = 0; i < json_array_size(names); i++)
        if (strcmp(json_string_value(json_array_get(names, i)), name) == 0)
            return true;
    return false;
}

static size_t size(const json_t *rules, const char *list)
{
    return json_array_size(json_object_get(rules, list));
}

static json_t *rules_of(enum policy_choice policy, const char *said)
{
    struct settings s = settings_default();
    struct policy_lists p = { 0 };
    struct gb_err err = { 0 };
    json_t *rules;

    s.policy = policy;
    if (say_all(&p, said, &err) < 0)
        fail_msg("%s: %s", said, err.msg);
    rules = policy_rules(&s, &p);
    policy_done(&p);
    return rules;
}

static void test_what_the_policies_come_with(void **state)
{
    static const char *const all[] = { "allow_imports", "allow_builtins", "allow_os_attrs" };
    static const char *const none[] = { "block_imports", "block_builtins" };
    auto_json json_t *strict = rules_of(POLICY_STRICT, "{}");
    auto_json json_t *standard = rules_of(POLICY_STANDARD, "{}");
    auto_json json_t *off = rules_of(POLICY_OFF, "{}");

    (void)state;
    assert_int_equal(size(strict, "allow_imports"), 28);
    assert_int_equal(size(strict, "block_imports"), 17);
    assert_int_equal(size(strict, "block_builtins"), 21);
    assert_int_equal(size(strict, "allow_os_attrs"), 2);
    assert_true(has(strict, "allow_builtins", "print") && has(strict, "allow_builtins", "super"));
    assert_true(has(strict, "allow_builtins", "ValueError"));
    assert_false(has(strict, "allow_builtins", "open"));
    assert_string_equal(json_string_value(json_object_get(strict, "patterns")), "block");
    assert_string_equal(json_string_value(json_object_get(standard, "patterns")), "warn");
    assert_string_equal(json_string_value(json_object_get(off, "patterns")), "off");
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        assert_true(json_is_null(json_object_get(standard, all[i])) &&
                    json_is_null(json_object_get(off, all[i])));
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        assert_true(json_is_array(json_object_get(standard, none[i])) &&
                    size(standard, none[i]) + size(off, none[i]) == 0);
}

/* No list of strict's names something twice, or allows what another blocks. */
static void test_the_lists_agree(void **state)
{
    static const char *const keys[] = { "allow_imports", "block_imports", "allow_builtins",
                                        "block_builtins" };
    auto_json json_t *rules = rules_of(POLICY_STRICT, "{}");

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
        const json_t *names = json_object_get(rules, keys[k]);
        for (size_t i = 0; i < json_array_size(names); i++) {
            const char *name = json_string_value(json_array_get(names, i));
            for (size_t j = i + 1; j < json_array_size(names); j++)
                assert_string_not_equal(name, json_string_value(json_array_get(names, j)));
            assert_false(k % 2 == 0 && has(rules, keys[k + 1], name));
        }
    }
}

static void test_saying(void **state)
{
    static const struct {
        enum policy_choice policy;
        const char *said, *list, *name;
        bool want;
    } cases[] = {
        /* adding, emptying, replacing */
        { POLICY_STRICT, "{'allow_import': ['csv']}", "allow_imports", "csv", true },
        { POLICY_STRICT, "{'allow_import': ['csv']}", "allow_imports", "json", true },
        { POLICY_STRICT, "{'allow_import': ['=', 'csv']}", "allow_imports", "csv", true },
        { POLICY_STRICT, "{'allow_import': ['=', 'csv']}", "allow_imports", "json", false },
        { POLICY_STRICT, "{'allow_import': ['csv', '=']}", "allow_imports", "csv", false },
        { POLICY_STRICT, "{'block_import': ['=']}", "block_imports", "sys", false },
        { POLICY_STRICT, "{'block_import': ['=', 'json']}", "block_imports", "json", true },
        { POLICY_STRICT, "{'allow_os_attr': ['getcwd']}", "allow_os_attrs", "getcwd", true },
        { POLICY_STRICT, "{'allow_os_attr': ['=']}", "allow_os_attrs", "path", false },
        /* what is allowed by name is no longer blocked by default */
        { POLICY_STRICT, "{'allow_builtin': ['open']}", "allow_builtins", "open", true },
        { POLICY_STRICT, "{'allow_builtin': ['open']}", "block_builtins", "open", false },
        { POLICY_STRICT, "{'allow_builtin': ['open']}", "block_builtins", "eval", true },
        { POLICY_STRICT, "{'allow_builtin': ['open', '=']}", "block_builtins", "open", true },
        { POLICY_STRICT, "{'allow_import': ['sys']}", "block_imports", "sys", false },
        { POLICY_STRICT, "{'allow_import': ['urllib.parse']}", "block_imports", "urllib", false },
        { POLICY_STRICT, "{'allow_import': ['urllib.parse']}", "allow_imports", "urllib", false },
        { POLICY_STRICT, "{'allow_import': ['urllib2']}", "block_imports", "urllib", true },
        { POLICY_STRICT, "{'allow_import': ['urllib.parse'], 'block_import': ['urllib']}",
          "block_imports", "urllib", true },
        /* what is blocked by name is blocked, in whatever order it was said */
        { POLICY_STRICT, "{'allow_import': ['sys'], 'block_import': ['sys']}", "block_imports",
          "sys", true },
        { POLICY_STRICT, "{'block_import': ['sys'], 'allow_import': ['sys']}", "block_imports",
          "sys", true },
        { POLICY_STRICT, "{'block_import': ['json']}", "block_imports", "json", true },
        /* standard allows everything until that is emptied */
        { POLICY_STANDARD, "{'block_import': ['sys']}", "block_imports", "sys", true },
        { POLICY_STANDARD, "{'allow_import': ['=', 'csv']}", "allow_imports", "csv", true },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json json_t *rules = rules_of(cases[i].policy, cases[i].said);
        if (has(rules, cases[i].list, cases[i].name) != cases[i].want)
            fail_msg("%s: %s %s", cases[i].said, cases[i].list, cases[i].name);
    }
}

static void test_standard_stays_open(void **state)
{
    auto_json json_t *added = rules_of(POLICY_STANDARD, "{'allow_import': ['csv']}");
    auto_json json_t *emptied = rules_of(POLICY_STANDARD, "{'allow_import': ['=']}");

    (void)state;
    assert_true(json_is_null(json_object_get(added, "allow_imports")));
    assert_true(json_is_array(json_object_get(emptied, "allow_imports")));
    assert_int_equal(size(emptied, "allow_imports"), 0);
}

static void test_twice_is_added_once(void **state)
{
    auto_json json_t *rules = rules_of(POLICY_STRICT, "{'allow_import': ['json', 'csv', 'csv']}");

    (void)state;
    assert_int_equal(size(rules, "allow_imports"), 29);
}

static void test_what_is_no_name(void **state)
{
    static const struct {
        const char *said, *want;
    } cases[] = {
        { "{'allow_import': 'csv'}", "allow_import: must be a list of names" },
        { "{'allow_import': [1]}", "allow_import: '(not a string)' is no name" },
        { "{'allow_import': ['']}", "allow_import: '' is no name" },
        { "{'allow_import': ['a b']}", "allow_import: 'a b' is no name" },
        { "{'allow_import': ['a..b']}", "allow_import: 'a..b' is no name" },
        { "{'allow_import': ['.a']}", "allow_import: '.a' is no name" },
        { "{'allow_import': ['a.']}", "allow_import: 'a.' is no name" },
        { "{'allow_import': ['1a']}", "allow_import: '1a' is no name" },
        { "{'allow_import': ['=csv']}", "allow_import: '=csv' is no name" },
        { "{'allow_import': ['a\\u0000b']}", "allow_import: 'a' is no name" },
        { "{'block_builtin': ['os.path']}", "block_builtin: 'os.path' is no name" },
        { "{'allow_os_attr': ['path.join']}", "allow_os_attr: 'path.join' is no name" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct policy_lists p = { 0 };
        struct gb_err err = { 0 };

        assert_int_equal(say_all(&p, cases[i].said, &err), -1);
        assert_string_equal(err.msg, cases[i].want);
        policy_done(&p);
    }
}

static void test_names_that_do(void **state)
{
    struct policy_lists p = { 0 };
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(
        say_all(&p, "{'allow_import': ['a.b_1.c', '\xc3\xa9t\xc3\xa9', '_x', '=']}", &err), 1);
    assert_int_equal(say_all(&p, "{'allow_imports': []}", &err), 0); /* no such key */
    policy_done(&p);
}

/* ---- requests ---- */

struct asking {
    enum policy_choice configured;
    const char *said;
    enum policy_choice wanted;
    const char *asked;
    const char *allowed;
    const char *want; /* the message; NULL: it may */
};

static int ask(const struct asking *a, json_t **ret, struct gb_err *err)
{
    struct settings configured = settings_default(), wanted;
    struct policy_lists said = { 0 }, asked = { 0 };
    auto_json json_t *allowed = a->allowed ? json_of(a->allowed) : NULL;
    int r;

    configured.policy = a->configured;
    wanted = configured;
    wanted.policy = a->wanted;
    assert_int_equal(say_all(&said, a->said, err), 1);
    assert_int_equal(say_all(&asked, a->asked, err), 1);
    r = policy_request(&configured, &said, &wanted, &asked, allowed, ret, err);
    policy_done(&said);
    policy_done(&asked);
    return r;
}

#define STRICT   POLICY_STRICT
#define STANDARD POLICY_STANDARD

static void test_requests_only_tighten(void **state)
{
    static const struct asking cases[] = {
        { STANDARD, "{}", STANDARD, "{}", NULL, NULL },
        { STANDARD, "{}", STANDARD, "{'block_import': ['sys']}", NULL, NULL },
        { STANDARD, "{}", STANDARD, "{'allow_import': ['=', 'csv']}", NULL, NULL },
        { STANDARD, "{}", STRICT, "{'allow_import': ['csv'], 'allow_builtin': ['open']}", NULL,
          NULL },
        { STANDARD, "{}", STRICT, "{'block_import': ['=']}", NULL, NULL },
        { STRICT, "{}", STRICT, "{'allow_import': ['=', 'json', 'os.path']}", NULL, NULL },
        { STRICT, "{}", STRICT, "{'allow_import': ['json']}", NULL, NULL },
        { STRICT, "{'allow_import': ['csv']}", STRICT, "{'allow_import': ['=', 'csv']}", NULL,
          NULL },
        { STRICT, "{}", STRICT, "{'allow_import': ['csv']}", NULL,
          "allow_import: allowing 'csv' is looser than what is configured" },
        { STRICT, "{}", STRICT, "{'allow_import': ['=', 'csv']}", NULL,
          "allow_import: allowing 'csv' is looser than what is configured" },
        { STRICT, "{}", STRICT, "{'allow_builtin': ['open']}", NULL,
          "allow_builtin: allowing 'open' is looser than what is configured" },
        { STRICT, "{}", STRICT, "{'allow_os_attr': ['system']}", NULL,
          "allow_os_attr: allowing 'system' is looser than what is configured" },
        { STANDARD, "{'block_import': ['sys']}", STANDARD, "{'allow_import': ['sys']}", NULL,
          "allow_import: allowing 'sys' is looser than what is configured" },
        { STANDARD, "{'block_import': ['xml']}", STRICT, "{'allow_import': ['xml.dom']}", NULL,
          "allow_import: allowing 'xml.dom' is looser than what is configured" },
        { STANDARD, "{'block_import': ['sys']}", STANDARD, "{'block_import': ['=', 'os']}", NULL,
          "block_import: not blocking 'sys' is looser than what is configured" },
        { STANDARD, "{'block_import': ['sys']}", STANDARD, "{'block_import': ['=', 'sys']}", NULL,
          NULL },
        /* what the operator lets requests loosen */
        { STRICT, "{}", STRICT, "{'allow_import': ['csv']}", "['allow_import']", NULL },
        { STRICT, "{}", STRICT, "{'allow_import': ['csv']}", "['allow_builtin']",
          "allow_import: allowing 'csv' is looser than what is configured" },
        { STRICT, "{}", STRICT, "{'block_import': ['=']}", "['block_import']", NULL },
        { STRICT, "{}", STRICT, "{'allow_import': ['sys'], 'block_import': ['json']}",
          "['allow_import']", NULL },
        /* lists that nobody would look at */
        { POLICY_OFF, "{}", POLICY_OFF, "{'block_import': ['sys']}", NULL,
          "block_import: has no meaning under policy 'off'" },
        { POLICY_OFF, "{'block_import': ['sys']}", STANDARD, "{}", NULL, NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json json_t *rules = NULL;
        struct gb_err err = { 0 };
        int r = ask(&cases[i], &rules, &err);

        if (r != (cases[i].want ? -1 : 0))
            fail_msg("%s, asked %s: %d %s", cases[i].said, cases[i].asked, r, err.msg);
        if (cases[i].want) {
            assert_string_equal(err.msg, cases[i].want);
            assert_true(err.hint[0] != '\0');
        }
    }
}

/* What the operator said stays said. */
static void test_requests_add_to_what_is_configured(void **state)
{
    static const struct asking a = { STANDARD, "{'block_import': ['sys']}",
                                     STRICT,   "{'block_import': ['json']}",
                                     NULL,     NULL };
    auto_json json_t *rules = NULL;
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(ask(&a, &rules, &err), 0);
    assert_true(has(rules, "block_imports", "sys") && has(rules, "block_imports", "json"));
    assert_true(has(rules, "block_imports", "ctypes")); /* strict's own */
    assert_string_equal(json_string_value(json_object_get(rules, "policy")), "strict");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_policies_come_with),
        cmocka_unit_test(test_the_lists_agree),
        cmocka_unit_test(test_saying),
        cmocka_unit_test(test_standard_stays_open),
        cmocka_unit_test(test_twice_is_added_once),
        cmocka_unit_test(test_what_is_no_name),
        cmocka_unit_test(test_names_that_do),
        cmocka_unit_test(test_requests_only_tighten),
        cmocka_unit_test(test_requests_add_to_what_is_configured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
