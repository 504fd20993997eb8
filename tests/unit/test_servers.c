#include "mcp/servers.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "unit.h"

static void test_idents(void **state)
{
    static const struct {
        const char *text;
        bool is_global;
        const char *want;
    } cases[] = {
        { "files", true, "files" },
        { "my-files", true, "my_files" },
        { "a.b/c", false, "a_b_c" },
        { "7zip", true, "_7zip" },
        { "class", false, "class_" },
        { "open", true, "open_" },
        { "open", false, "open" },
        { "ValueError", true, "ValueError_" },
        { "caf\xc3\xa9", true, "caf__" },
        { "call_tool", true, "call_tool_" },
        { "---", true, NULL },
        { "", true, NULL },
    };
    char ident[32];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool ok = ident_of(cases[i].text, cases[i].is_global, ident, sizeof(ident));

        assert_int_equal(ok, cases[i].want != NULL);
        if (ok)
            assert_string_equal(ident, cases[i].want);
    }
    assert_false(
        ident_of("a_name_that_is_longer_than_there_is_room_for", true, ident, sizeof(ident)));
}

static void ignore(void *data, const char *text)
{
    (void)data;
    (void)text;
}

static struct servers read_one(const char *text)
{
    auto_json json_t *config = json_loads(text, 0, NULL);
    struct servers servers;
    struct gb_err err;

    assert_non_null(config);
    assert_int_equal(servers_read(config, &servers, ignore, NULL, &err), 0);
    assert_int_equal(servers.count, 1);
    return servers;
}

static void test_tools(void **state)
{
    struct servers s =
        read_one("{\"servers\": {\"x\": {\"command\": \"c\", \"allow\": [\"get_*\", \"put\"], "
                 "\"deny\": [\"get_all\"], \"timeout\": 2, \"tool_timeouts\": {\"get_?\": 0.5}}}}");

    (void)state;
    assert_true(server_offers(&s.list[0], "get_one"));
    assert_true(server_offers(&s.list[0], "put"));
    assert_false(server_offers(&s.list[0], "get_all"));
    assert_false(server_offers(&s.list[0], "puts"));
    assert_int_equal(server_timeout_ms(&s.list[0], "put"), 2000);
    assert_int_equal(server_timeout_ms(&s.list[0], "get_1"), 500);
    servers_done(&s);
}

static void test_scrub(void **state)
{
    struct servers s =
        read_one("{\"x\": {\"url\": \"http://h\", \"headers\": {\"Authorization\": \"Bearer "
                 "abcdef123\", \"X\": \"on\", \"accept\": \"text/x-y\"}}}");
    char text[] = "abcdef123, Bearer abcdef123 on abcdef12 text/x-y";

    (void)state;
    server_scrub(&s.list[0], text);
    assert_string_equal(text, "*********, **************** on abcdef12 text/x-y");
    servers_done(&s);

    s = read_one("{\"x\": {\"command\": \"c\", \"env\": {\"MY_TOKEN\": \"t-t-t-t\", \"MODE\": "
                 "\"plain-text\", \"API_URL\": \"https://h/api\", \"DB_URL\": \"pg://u:p@h\"}}}");
    char other[] = "t-t-t-t plain-text https://h/api pg://u:p@h";
    server_scrub(&s.list[0], other);
    assert_string_equal(other, "******* plain-text https://h/api **********");
    servers_done(&s);
}

static void test_variables(void **state)
{
    struct servers s;

    (void)state;
    (void)setenv("TEST_SERVERS_A", "value", 1);
    (void)unsetenv("TEST_SERVERS_B");
    s = read_one(
        "{\"x\": {\"command\": \"${TEST_SERVERS_A}/$x\", \"args\": [\"${env:TEST_SERVERS_A}-\", "
        "\"${TEST_SERVERS_B:-or this}\", \"{}\"]}}");
    assert_string_equal(s.list[0].argv[0], "value/$x");
    assert_string_equal(s.list[0].argv[1], "value-");
    assert_string_equal(s.list[0].argv[2], "or this");
    assert_string_equal(s.list[0].argv[3], "{}");
    assert_null(s.list[0].argv[4]);
    servers_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_idents), cmocka_unit_test(test_tools),
                                        cmocka_unit_test(test_scrub),
                                        cmocka_unit_test(test_variables) };

    return cmocka_run_group_tests_name("servers", tests, NULL, NULL);
}
