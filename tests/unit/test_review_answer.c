/* What a reviewer sends back: one form is believed, all others are not. */
#include "unit.h"

#include "base/json.h"
#include "engine/review_answer.h"

#define KEY "sk-0123456789abcdef"

/* A chat completion with this content. */
static char *completion(const char *content)
{
    auto_json json_t *reply =
        json_pack("{s:s,s:[{s:i,s:{s:s,s:s}}],s:{s:i,s:i,s:i}}", "model", "m-1", "choices", "index",
                  0, "message", "role", "assistant", "content", content, "usage", "prompt_tokens",
                  10, "completion_tokens", 5, "total_tokens", 15);
    return json_text(reply);
}

static json_t *read_body(const char *body, struct answer_tokens *tokens, struct gb_err *err)
{
    return answer_read(body, strlen(body), KEY, tokens, err);
}

static void test_verdicts(void **state)
{
    static const struct {
        const char *content;
        bool secure;
        const char *reason, *detail;
    } cases[] = {
        { "{\"is_secure\": true, \"reason\": \"adds numbers\"}", true, "adds numbers", "null" },
        { "{\"reason\":\"reads keys\",\"is_secure\":false}", false, "reads keys", "null" },
        { "{\"is_secure\": true, \"reason\": \"\"}", true, "", "null" },
        { "  \r\n\t{\"is_secure\": true, \"reason\": \"r\"}\n ", true, "r", "null" },
        { "```json\n{\"is_secure\": true, \"reason\": \"r\"}\n```", true, "r", "null" },
        { "\n```\n{\"is_secure\": false, \"reason\": \"has ``` in it\"}```\n", false,
          "has ``` in it", "null" },
        { "{\"is_secure\": false, \"reason\": \"r\", \"risk_level\": \"high\", \"score\": 0.5,"
          " \"rationale\": [\"a\", {\"b\": null}]}",
          false, "r",
          "{\"risk_level\":\"high\",\"score\":0.5,\"rationale\":[\"a\",{\"b\":null}]}" },
        { "{\"is_secure\": false, \"reason\": \"\\u001b[2Jx\\u202ey\\u0085z\\n\"}", false,
          "?[2Jx?y?z\n", "null" },
        { "{\"is_secure\": false, \"reason\": \"the key " KEY " leaks\", \"k" KEY
          "\": {\"a\": [\"" KEY "\"]}}",
          false, "the key [key] leaks", "{\"k[key]\":{\"a\":[\"[key]\"]}}" },
        { "{\"is_secure\": true, \"reason\": \"r\", \"deep\": [[[[[1]]]]]}", true, "r",
          "{\"deep\":[[[[\"...\"]]]]}" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer_tokens tokens = { 0 };
        struct gb_err err = { 0 };
        auto_free char *body = completion(cases[i].content);
        auto_json json_t *answer = read_body(body, &tokens, &err);
        auto_json json_t *detail = json_loads(cases[i].detail, JSON_DECODE_ANY, NULL);

        if (!answer)
            fail_msg("%s: %s", cases[i].content, err.msg);
        assert_int_equal(json_is_true(json_object_get(answer, "secure")), cases[i].secure);
        assert_string_equal(json_string_value(json_object_get(answer, "reason")), cases[i].reason);
        assert_string_equal(json_string_value(json_object_get(answer, "model")), "m-1");
        if (!json_equal(json_object_get(answer, "detail"), detail))
            fail_msg("%s: another detail", cases[i].content);
        assert_true(tokens.known);
        assert_int_equal(tokens.prompt, 10);
        assert_int_equal(tokens.completion, 5);
        assert_int_equal(tokens.total, 15);
    }
}

#define TYPE   "the verdict's is_secure is not true or false"
#define REASON "the verdict's reason is not a string"
#define OBJECT "the verdict is not a JSON object"

static void test_no_verdicts(void **state)
{
    static const struct {
        const char *content, *say;
    } cases[] = {
        { "", "the reply has no content" },
        { "I think it is fine.", OBJECT },
        { "true", OBJECT },
        { "[]", OBJECT },
        { "[{\"is_secure\": true, \"reason\": \"r\"}]", OBJECT },
        { "{\"is_secure\": true, \"reason\": \"r\"", OBJECT },
        { "{\"is_secure\": true, \"reason\": \"r\"} and so on", OBJECT },
        { "{\"is_secure\": true, \"reason\": \"r\"}{\"is_secure\": true, \"reason\": \"r\"}",
          OBJECT },
        { "Here it is: {\"is_secure\": true, \"reason\": \"r\"}", OBJECT },
        { "{\"is_secure\": false, \"is_secure\": true, \"reason\": \"r\"}", OBJECT },
        { "{'is_secure': True, 'reason': 'r'}", OBJECT },
        { "{\"is_secure\": true, \"reason\": \"a\\u0000b\"}", OBJECT },
        { "```json\n{\"is_secure\": true, \"reason\": \"r\"}", OBJECT },
        { "```python\n{\"is_secure\": true, \"reason\": \"r\"}\n```", OBJECT },
        { "``````", OBJECT },
        { "```\n```\n", OBJECT },
        { "```json\n{\"is_secure\": true, \"reason\": \"r\"}\n```\n```json\n{}\n```", OBJECT },
        { "{}", TYPE },
        { "{\"reason\": \"r\"}", TYPE },
        { "{\"is_secure\": \"true\", \"reason\": \"r\"}", TYPE },
        { "{\"is_secure\": 1, \"reason\": \"r\"}", TYPE },
        { "{\"is_secure\": null, \"reason\": \"r\"}", TYPE },
        { "{\"is_secure\": [true], \"reason\": \"r\"}", TYPE },
        { "{\"Is_Secure\": true, \"reason\": \"r\"}", TYPE },
        { "{\"review\": {\"is_secure\": true, \"reason\": \"r\"}}", TYPE },
        { "{\"is_secure\": true}", REASON },
        { "{\"is_secure\": true, \"reason\": null}", REASON },
        { "{\"is_secure\": true, \"reason\": [\"r\"]}", REASON },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer_tokens tokens = { 0 };
        struct gb_err err = { 0 };
        auto_free char *body = completion(cases[i].content);
        auto_json json_t *answer = read_body(body, &tokens, &err);

        if (answer)
            fail_msg("believed: %s", cases[i].content);
        assert_int_equal(err.code, GB_E_PROTOCOL);
        assert_string_equal(err.msg, cases[i].say);
        assert_int_equal(tokens.total, 15); /* paid for all the same */
    }
}

#define MESSAGE "\"choices\":[{\"message\":{\"content\":"
#define GOOD    MESSAGE "\"{\\\"is_secure\\\":true,\\\"reason\\\":\\\"\\\"}\"}}]"

static void test_replies(void **state)
{
    static const struct {
        const char *body, *say;
    } cases[] = {
        { "", "the reply is not a JSON object" },
        { "<html>", "the reply is not a JSON object" },
        { "[]", "the reply is not a JSON object" },
        { "null", "the reply is not a JSON object" },
        { "{" GOOD, "the reply is not a JSON object" },
        { "{" GOOD "," GOOD "}", "the reply is not a JSON object" },
        { "{" MESSAGE "\"\xff\"}}]}", "the reply is not a JSON object" },
        { "{}", "the reply has no choices" },
        { "{\"choices\":[]}", "the reply has no choices" },
        { "{\"choices\":null}", "the reply has no choices" },
        { "{\"choices\":{\"0\":{}}}", "the reply has no choices" },
        { "{\"choices\":[{}]}", "the reply has no content" },
        { "{\"choices\":[null]}", "the reply has no content" },
        { "{\"choices\":[{\"text\":\"x\"}]}", "the reply has no content" },
        { "{" MESSAGE "null}}]}", "the reply has no content" },
        { "{" MESSAGE "[{\"type\":\"text\",\"text\":\"x\"}]}}]}", "the reply has no content" },
        { "{" MESSAGE "{\"is_secure\":true,\"reason\":\"r\"}}}]}", "the reply has no content" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer_tokens tokens = { 0 };
        struct gb_err err = { 0 };
        auto_json json_t *answer = read_body(cases[i].body, &tokens, &err);

        if (answer)
            fail_msg("believed: %s", cases[i].body);
        assert_string_equal(err.msg, cases[i].say);
        assert_false(tokens.known);
    }
}

static void test_tokens(void **state)
{
    static const struct {
        const char *usage;
        bool known;
        json_int_t prompt, completion, total;
    } cases[] = {
        { "null", false, 0, 0, 0 },
        { "[]", false, 0, 0, 0 },
        { "{}", false, 0, 0, 0 },
        { "{\"prompt_tokens\":7,\"completion_tokens\":2}", true, 7, 2, 9 },
        { "{\"total_tokens\":9}", true, 0, 0, 9 },
        { "{\"prompt_tokens\":\"7\",\"total_tokens\":-4}", false, 0, 0, 0 },
        { "{\"prompt_tokens\":1.5,\"completion_tokens\":9223372036854775807}", false, 0, 0, 0 },
    };
    struct answer_tokens sum = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer_tokens tokens = { 0 };
        struct gb_err err = { 0 };
        auto_json json_t *answer = NULL, *again = NULL;
        char body[400];

        (void)snprintf(body, sizeof(body), "{\"usage\":%s," GOOD "}", cases[i].usage);
        answer = read_body(body, &tokens, &err);
        again = read_body(body, &sum, &err);
        assert_non_null(answer);
        assert_non_null(again);
        assert_true(json_is_null(json_object_get(answer, "model")));
        assert_int_equal(tokens.known, cases[i].known);
        assert_int_equal(tokens.prompt, cases[i].prompt);
        assert_int_equal(tokens.completion, cases[i].completion);
        assert_int_equal(tokens.total, cases[i].total);
    }
    assert_int_equal(sum.total, 18);
}

static void test_bounds(void **state)
{
    struct answer_tokens tokens = { 0 };
    struct gb_err err = { 0 };
    auto_free char *long_text = malloc(20001);
    auto_json json_t *verdict = NULL, *answer = NULL;
    auto_free char *content = NULL, *body = NULL, *detail = NULL;
    const json_t *reason;

    (void)state;
    memset(long_text, 'x', 20000);
    long_text[20000] = '\0';
    verdict = json_pack("{s:b,s:s}", "is_secure", 0, "reason", long_text);
    for (int i = 0; i < 10; i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "k%d", i);
        json_object_set_new(verdict, name, json_string(long_text));
    }
    json_object_set_new(verdict, "risk_level", json_string("high"));
    content = json_text(verdict);
    body = completion(content);
    answer = read_body(body, &tokens, &err);
    assert_non_null(answer);
    reason = json_object_get(answer, "reason");
    assert_int_equal(json_string_length(reason), 4096 + 3);
    assert_string_equal(json_string_value(reason) + 4096, "...");
    detail = json_text(json_object_get(answer, "detail"));
    assert_true(strlen(detail) < 9000);
    assert_non_null(strstr(detail, "\"risk_level\":\"high\"")); /* small ones find room */
}

static void test_clean(void **state)
{
    static const struct {
        const char *text, *key;
        size_t max;
        const char *want;
    } cases[] = {
        { "", NULL, 10, "" },
        { "plain", NULL, 10, "plain" },
        { "plain", NULL, 5, "plain" },
        { "plain!", NULL, 5, "plain..." },
        { "\u20ac\u20ac", NULL, 5, "\u20ac..." },
        { "a\tb\nc\rd\x7f\x01", NULL, 20, "a\tb\nc?d??" },
        { "\xff\xc3+\xe2\x82", NULL, 20, "??+??" },
        { "\xed\xa0\x80", NULL, 20, "???" },
        { "x" KEY "y" KEY, KEY, 40, "x[key]y[key]" },
        { "xxxxxxxx" KEY, KEY, 10, "xxxxxxxx..." }, /* and not its beginning */
        { "none of it", "none", 20, "none of it" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_free char *got = answer_clean(cases[i].text, cases[i].key, cases[i].max);
        assert_string_equal(got, cases[i].want);
    }
}

static void test_complaints(void **state)
{
    static const struct {
        const char *body, *want;
    } cases[] = {
        { "{\"error\":{\"message\":\"no such model\",\"type\":\"x\"}}", "no such model" },
        { "{\"error\":\"no such model\"}", "no such model" },
        { "{\"message\":\"a\"}", "a" },
        { "{\"detail\":\"b\"}", "b" },
        { "{\"error\":{\"message\":\"for " KEY "\\u001b\"}}", "for [key]?" },
        { "{\"error\":{}}", NULL },
        { "{\"detail\":[{\"msg\":\"x\"}]}", NULL },
        { "<html>", NULL },
        { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_free char *got = answer_complaint(cases[i].body, strlen(cases[i].body), KEY);
        if (cases[i].want)
            assert_string_equal(got, cases[i].want);
        else
            assert_null(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),   cmocka_unit_test(test_no_verdicts),
        cmocka_unit_test(test_replies),    cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_bounds),     cmocka_unit_test(test_clean),
        cmocka_unit_test(test_complaints),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
