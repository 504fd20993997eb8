/* What a shell says of itself and of the programs that it finds, and what a model is told of
 * that. */
#include "unit.h"

#include <jansson.h>

#include "base/json.h"
#include "base/own.h"
#include "shell/probe.h"

/* 412, 413: what is not said, or said to be nothing, is null. */
static void test_reading(void **state)
{
    static const struct {
        const char *said, *want;
    } cases[] = {
        { "program=/bin/bash\nversion=5.2\ndirectory=/w\nkernel=Linux 6\nos=Debian\n",
          "{\"directory\":\"/w\",\"family\":\"bash\",\"os\":\"Debian\",\"program\":\"/bin/bash\","
          "\"version\":\"5.2\"}" },
        { "junk\nprogram=dash\nversion=\nkernel=Linux 6\nos=\n",
          "{\"directory\":null,\"family\":\"sh\",\"os\":\"Linux "
          "6\",\"program\":\"dash\",\"version\":"
          "null}" },
        { "",
          "{\"directory\":null,\"family\":null,\"os\":null,\"program\":null,\"version\":null}" },
        { "program=pwsh\nversion=7.4\x1b[2J\tx",
          "{\"directory\":null,\"family\":\"powershell\","
          "\"os\":null,\"program\":\"pwsh\",\"version\":\"7.4 [2J x\"}" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json json_t *probe = probe_read(cases[i].said);
        auto_free char *text = json_dumps(probe, JSON_COMPACT | JSON_SORT_KEYS);

        assert_string_equal(text, cases[i].want);
    }
}

/* 417 */
static void test_names(void **state)
{
    static const char *const names[] = { "git", "g++", "python3.11", "7z", "x_y-z" };
    static const char *const none[] = { "",     "-rf",  "../x", ".x",  "a b",        "a;b",
                                        "$(x)", "a\nb", "`x`",  "a/b", "caf\xc3\xa9" };
    char text[80];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_true(probe_is_name(names[i]));
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        assert_false(probe_is_name(none[i]));
    memset(text, 'x', sizeof(text));
    text[65] = '\0';
    assert_false(probe_is_name(text));
}

static char *text_of(const char *probe)
{
    auto_json json_t *json = json_loads(probe, 0, NULL);

    assert_non_null(json);
    return probe_text(json);
}

/* 421, 422, 425: each shell's own idioms, and both lists. */
static void test_texts(void **state)
{
    static const struct {
        const char *probe, *has[6], *has_not;
    } cases[] = {
        { "{\"family\":\"powershell\",\"version\":\"7.4\",\"os\":\"X\",\"directory\":\"/"
          "w\",\"tools\":"
          "{\"git\":\"2.1\",\"node\":null},\"missing\":[\"node\",\"go\"]}",
          { "Commands run in PowerShell 7.4 on X.\n", "$env:NAME", "Set-Location",
            "Working directory: /w\n", "Available CLIs: git (2.1)\n", "Not installed: node, go\n" },
          "export" },
        { "{\"family\":\"bash\",\"tools\":{},\"missing\":[]}",
          { "Commands run in bash.\n", "export NAME=value", "pipefail" },
          "$env:" },
        { "{\"family\":\"sh\",\"tools\":{\"a\":null},\"missing\":[]}",
          { "Commands run in sh.\n", "This is not bash" },
          "CLIs" },
        { "{\"family\":null}", { "Commands run in sh.\n" }, "Not installed" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_free char *text = text_of(cases[i].probe);

        for (size_t k = 0; k < ARRAY_LEN(cases[i].has) && cases[i].has[k]; k++)
            if (!strstr(text, cases[i].has[k]))
                fail_msg("'%s' is not in: %s", cases[i].has[k], text);
        assert_null(strstr(text, cases[i].has_not));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
