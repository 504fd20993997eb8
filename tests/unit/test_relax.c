#include "engine/relax.h"

#include "base/json.h"
#include "engine/schema.h"
#include "unit.h"

static void expect(const char *schema, const char *want)
{
    auto_json json_t *in = json_loads(schema, JSON_DECODE_ANY, NULL);
    auto_json json_t *out = schema_relax(in);
    auto_json json_t *right = want ? json_loads(want, JSON_DECODE_ANY, NULL) : NULL;
    struct gb_err err;

    assert_non_null(in);
    if (!want) {
        assert_null(out);
        return;
    }
    assert_non_null(out);
    assert_int_equal(schema_check(out, &err), 0);
    if (!json_equal(out, right))
        fail_msg("%s became %s", schema, json_dumps(out, JSON_COMPACT | JSON_ENCODE_ANY));
}

static void test_relax(void **state)
{
    (void)state;
    /* what can be checked stays */
    expect("{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"integer\"}}}",
           "{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"integer\"}}}");
    expect("true", "true");
    /* what cannot goes, wherever it is */
    expect("{\"type\": \"object\", \"dependentRequired\": {}}", "{\"type\": \"object\"}");
    expect("{\"properties\": {\"a\": {\"type\": \"array\", \"contains\": {}}}}",
           "{\"properties\": {\"a\": {\"type\": \"array\"}}}");
    expect("{\"items\": {\"type\": \"int\"}}", "{\"items\": {}}");
    expect("{\"anyOf\": [{\"type\": \"string\"}, {\"contains\": {}}]}",
           "{\"anyOf\": [{\"type\": \"string\"}, {}]}");
    /* references to elsewhere are not followed; those within are kept */
    expect("{\"$defs\": {\"x\": {\"type\": \"string\"}}, \"properties\": {\"a\": {\"$ref\": "
           "\"#/$defs/x\"}, "
           "\"b\": {\"$ref\": \"http://127.0.0.1/x\"}}}",
           "{\"$defs\": {\"x\": {\"type\": \"string\"}}, \"properties\": {\"a\": {\"$ref\": "
           "\"#/$defs/x\"}, "
           "\"b\": {}}}");
    /* where leaving out would tighten, the whole goes */
    expect("{\"not\": {\"contains\": {}}}", "{}");
    expect("{\"not\": {\"type\": \"string\"}, \"x\": 1, \"unevaluatedItems\": false}",
           "{\"not\": {\"type\": \"string\"}}");
    expect("{\"oneOf\": [{\"type\": \"string\"}, {\"contains\": {}}]}", "{}");
    expect("{\"if\": {\"contains\": {}}, \"then\": {\"type\": \"string\"}, \"else\": false}", "{}");
    expect("{\"patternProperties\": {\"^x\": {}}, \"additionalProperties\": false}", "{}");
    /* other types of values */
    expect("{\"items\": [{\"type\": \"string\"}], \"additionalItems\": false}", "{}");
    expect("{\"exclusiveMinimum\": true, \"minimum\": 1}", "{\"minimum\": 1}");
    expect("{\"anyOf\": []}", "{}");
    expect("5", NULL);
}

/* One that never ends does not make us go on for ever. */
static void test_depth(void **state)
{
    json_t *deep = json_object();
    auto_json json_t *out = NULL;

    (void)state;
    for (int i = 0; i < 2000; i++)
        deep = json_pack("{s:o}", "items", deep);
    (void)json_object_set_new(deep, "contains", json_object());
    out = schema_relax(deep);
    assert_true(!out || json_depth(out) < 100);
    json_decref(deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_relax),
                                        cmocka_unit_test(test_depth) };

    return cmocka_run_group_tests_name("relax", tests, NULL, NULL);
}
