/* Kept files, handles, and what a model sees of a result. */
#include "mcp/files.h"

#include "base/json.h"
#include "mcp/content.h"
#include "mcp/handles.h"
#include "unit.h"

static char *keep(struct mcp_files *files, const char *path, const char *content,
                  const char *principal)
{
    auto_json json_t *text = json_string(content);

    return mcp_files_add(files, &(struct mcp_file){ .path = path,
                                                    .mime = mime_of_path(path, true),
                                                    .text = text,
                                                    .principal = principal });
}

static bool is_kept(struct mcp_files *files, const char *uri, const char *principal)
{
    auto_json json_t *content = mcp_files_read(files, uri, principal);

    return content != NULL;
}

static void test_files_are_their_principals(void **state)
{
    struct event_base *base = event_base_new();
    struct mcp_files *files = mcp_files_new(base, 60000, 1 << 20);
    auto_free char *uri = keep(files, "a b/ü.csv", "x,y", "me");

    (void)state;
    assert_non_null(uri);
    assert_true(strncmp(uri, "glovebox://file/", 16) == 0);
    assert_string_equal(strchr(uri + 16, '/'), "/a%20b/%C3%BC.csv");
    assert_true(is_kept(files, uri, "me"));
    assert_false(is_kept(files, uri, "you"));
    assert_false(is_kept(files, uri, NULL));
    (void)mcp_files_free(files);
    event_base_free(base);
}

static void test_the_oldest_go_when_there_are_too_many(void **state)
{
    struct event_base *base = event_base_new();
    struct mcp_files *files = mcp_files_new(base, 60000, 5000);
    static char large[6000];
    auto_free char *first = NULL, *second = NULL, *third = NULL;

    (void)state;
    memset(large, 'x', 1500);
    first = keep(files, "1", large, NULL);
    second = keep(files, "2", large, NULL);
    third = keep(files, "3", large, NULL);
    assert_false(is_kept(files, first, NULL));
    assert_true(is_kept(files, second, NULL) && is_kept(files, third, NULL));
    memset(large, 'x', sizeof(large) - 1);
    assert_null(keep(files, "4", large, NULL)); /* and nothing else goes for it */
    assert_true(is_kept(files, second, NULL));
    (void)mcp_files_free(files);
    event_base_free(base);
}

static void test_files_grow_old(void **state)
{
    struct event_base *base = event_base_new();
    struct mcp_files *files = mcp_files_new(base, 1, 5000);
    auto_free char *uri = keep(files, "1", "x", NULL);

    (void)state;
    (void)event_base_loop(base, EVLOOP_ONCE);
    assert_false(is_kept(files, uri, NULL));
    (void)mcp_files_free(files);
    event_base_free(base);
}

static void test_handles(void **state)
{
    struct handles *h = handles_new();
    auto_free char *one = strdup(handles_mint(h, "me"));
    const char *last = NULL; /* borrowed: also such a text may be asked about */

    (void)state;
    assert_int_equal(strlen(one), 29);
    assert_true(handles_has(h, one, "me"));
    assert_false(handles_has(h, one, "you"));
    assert_false(handles_has(h, one, NULL));
    assert_false(handles_has(h, "sess-guessed", "me"));
    for (int i = 0; i < HANDLES_MAX - 1; i++)
        last = handles_mint(h, NULL);
    assert_true(handles_has(h, one, "me")); /* which makes it the newest */
    (void)handles_mint(h, NULL);
    assert_true(handles_has(h, one, "me"));
    assert_true(handles_has(h, last, NULL));
    handles_drop(h, one);
    assert_false(handles_has(h, one, "me"));
    (void)handles_free(h);
}

/* ---- text ---- */

/* 349 to 357: what there is to say and no more, and always in this order. */
static void test_text(void **state)
{
    static const struct {
        const char *result, *text;
    } cases[] = {
        { "{\"status\":\"ok\"}", "(no output)" },
        { "{\"status\":\"ok\",\"stdout\":\"a\"}", "a" },
        { "{\"status\":\"ok\",\"stdout\":\"a\",\"has_value\":true,\"value\":1}", "a\nvalue: 1" },
        { "{\"status\":\"ok\",\"has_value\":true,\"value\":null}", "(no output)" },
        { "{\"status\":\"ok\",\"stdout\":\"a\\n\",\"stderr\":\"b\\n\"}", "a\nstderr:\nb\n" },
        { "{\"status\":\"limit\",\"limit\":\"memory\"}", "status: limit (memory)" },
        { "{\"status\":\"failed\",\"error\":{\"type\":\"busy\",\"message\":\"m\",\"hint\":\"h\"}}",
          "busy: m\nhint: h\nstatus: failed" },
        { "{\"status\":\"ok\",\"stdout\":\"x\",\"stdout_truncated\":true,\"stdout_bytes\":99}",
          "x\n(stdout was cut: it had 99 bytes, its head and tail are shown)" },
        { "{\"status\":\"error\",\"exit_code\":1,\"stderr\":\"boom\",\"stderr_truncated\":true,"
          "\"stderr_bytes\":99}",
          "stderr:\nboom\nstatus: error (exit code 1)\n"
          "(stderr was cut: it had 99 bytes, its head and tail are shown)" },
        { "{\"status\":\"timeout\",\"exit_code\":124,\"stdout\":\"a\",\"stderr\":\"b\","
          "\"stdout_truncated\":true,\"stdout_bytes\":9}",
          "a\nstderr:\nb\nstatus: timeout\n"
          "(stdout was cut: it had 9 bytes, its head and tail are shown)" },
        { "{\"status\":\"rejected\",\"findings\":[{\"rule\":\"deny\",\"severity\":\"error\","
          "\"message\":\"m\",\"line\":null},{\"rule\":\"r\",\"message\":\"n\",\"line\":3}]}",
          "error (deny): m\nerror (r, line 3): n\nstatus: rejected" },
        { "{\"status\":\"ok\",\"survivors\":[{\"command\":\"s\"}],\"jobs\":[{\"pid\":4,\"running\":"
          "true,\"command\":\"sleep 9 &\"},{\"pid\":5,\"running\":false,\"command\":\"x\"}]}",
          "left running, and ended: s\njob 4 runs: sleep 9 &\njob 5 has ended: x" },
        { "{\"status\":\"ok\",\"files\":[{\"path\":\"p\",\"mount\":\"m\",\"bytes\":1,\"change\":"
          "\"created\",\"omitted\":\"why\"}]}",
          "file: m/p (created, 1 bytes), not kept: why" },
        { "{\"status\":\"ok\",\"session\":{\"name\":\"n\",\"state\":\"new\"}}",
          "session: n (new)" },
        { "{}", "status: failed" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json json_t *result = json_loads(cases[i].result, 0, NULL);
        auto_free char *text = content_text(result);

        assert_non_null(result);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_their_principals),
        cmocka_unit_test(test_the_oldest_go_when_there_are_too_many),
        cmocka_unit_test(test_files_grow_old),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests_name("mcp_files", tests, NULL, NULL);
}
