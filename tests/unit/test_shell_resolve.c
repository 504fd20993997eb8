/* Which shell, and how it is called: C13, and the quoting of C15. */
#include "unit.h"

#include <errno.h>
#include <jansson.h>

#include "shell/resolve.h"

/* What there is, for a test: paths with blanks between. */
static const char *there;

static int look(const char *path)
{
    size_t n = strlen(path);

    if (strcmp(path, "/dir") == 0)
        return EISDIR;
    for (const char *at = strstr(there, path); at; at = strstr(at + 1, path))
        if ((at == there || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return 0;
    return ENOENT;
}

/* The whole way: a wish (JSON, or NULL) to "a b c", or to "! message". */
static const char *resolve(const char *wish, const char *on_host, const char *command)
{
    static char text[4096];
    struct gb_err err = { 0 };
    json_t *json = wish ? json_loads(wish, JSON_DECODE_ANY, NULL) : NULL;
    json_t *words = json ? shell_words(json, &err) : NULL;
    char *program = NULL;
    json_t *argv = NULL;

    there = on_host;
    if (!json || words)
        program = shell_find(words, "/usr/local/bin:/usr/bin", look, &err);
    if (program)
        argv = shell_argv(
            &(struct shell_call){ .program = program, .words = words, .command = command });
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(argv); i++) {
        size_t n = strlen(text);

        (void)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "|" : "",
                       json_string_value(json_array_get(argv, i)));
    }
    if (!program)
        (void)snprintf(text, sizeof(text), "! %s", err.msg);
    free(program);
    json_decref(argv);
    json_decref(words);
    json_decref(json);
    return text;
}

#define ALL "/bin/bash /bin/sh /usr/bin/bash /usr/bin/sh /usr/bin/pwsh /usr/bin/zsh /usr/bin/dash"
#define PWSH_BEFORE                                                              \
    "[Console]::OutputEncoding = [Console]::InputEncoding = $OutputEncoding = "  \
    "[System.Text.UTF8Encoding]::new($false); $ErrorActionPreference = 'Stop'; " \
    "$ProgressPreference = 'SilentlyContinue'\n"
#define PWSH_AFTER "\nif ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }"

static void test_argv(void **state)
{
    static const struct {
        const char *number, *wish, *there, *command, *want;
    } cases[] = {
        { "313", "\"\"", ALL, NULL, "! shell: must not be empty" },
        { "314", "\" \\t \"", ALL, "x", "! shell: must not be empty" },
        { "315", "[]", ALL, NULL, "! shell: must not be empty" },
        { "315", "[\"\"]", ALL, NULL, "! shell: must not be empty" },
        { "316, 273", "\"/custom/pwsh -NoProfile\"", "/custom/pwsh", "x",
          "/custom/pwsh|-NoProfile|-Command|" PWSH_BEFORE "x" PWSH_AFTER },
        { "317", "\"pwsh\"", ALL, NULL,
          "/usr/bin/pwsh|-NoLogo|-NoProfile|-NonInteractive|-Command|-" },
        { "318", NULL, "/bin/sh", "x", "/bin/sh|-c|x" },
        { "318", NULL, "/usr/local/bin/sh", "x", "/usr/local/bin/sh|-c|x" },
        { "318", NULL, "", "x", "! there is neither bash nor sh in the box" },
        { "320", "\"/bin/bash\"", ALL, "x", "/bin/bash|--noprofile|--norc|-c|x" },
        { "321", "[\"/usr/bin/pwsh\", \"-NoProfile\"]", ALL, "x",
          "/usr/bin/pwsh|-NoProfile|-Command|" PWSH_BEFORE "x" PWSH_AFTER },
        { "322", "\"/bin/bash -c\"", ALL, "x", "/bin/bash|-c|x" },
        { "323", "\"/usr/bin/pwsh -command\"", ALL, "x",
          "/usr/bin/pwsh|-command|" PWSH_BEFORE "x" PWSH_AFTER },
        { "324", "\"/bin/bash --login\"", ALL, NULL, "/bin/bash|--login" },
        { "325", "\"dash\"", ALL, "x", "/usr/bin/dash|-c|x" },
        { "325", "\"zsh\"", ALL, "x", "/usr/bin/zsh|-c|x" },
        { "325", "\"/opt/busybox sh\"", "/opt/busybox", "x", "/opt/busybox|sh|-c|x" },
        { "326", "\"dash\"", ALL, NULL, "/usr/bin/dash" },
        { "327", NULL, ALL, "x", "/bin/bash|--noprofile|--norc|-c|x" },
        { "328", NULL, ALL, NULL, "/bin/bash|--noprofile|--norc" },
        { "order", NULL, "/usr/bin/bash /bin/sh", "x", "/usr/bin/bash|--noprofile|--norc|-c|x" },
        { "words", "\"/bin/sh  -e 'a b' \\\"c\\\\\\\"d\\\" e\\\\ f\"", ALL, "x",
          "/bin/sh|-e|a b|c\"d|e f|-c|x" },
        { "quote", "\"/bin/sh 'a\"", ALL, "x", "! shell: a quote does not end" },
        { "type", "3", ALL, "x", "! shell: must be a string or a list of strings" },
        { "type", "[\"/bin/sh\", 3]", ALL, "x", "! shell: must be strings without NUL" },
        { "missing", "\"fish\"", ALL, "x", "! shell: there is no 'fish' in the box" },
        { "missing", "\"/bin/fish\"", ALL, "x", "! shell: there is no '/bin/fish' in the box" },
        { "directory", "\"/dir\"", ALL, "x", "! shell: '/dir' is a directory" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = resolve(cases[i].wish, cases[i].there, cases[i].command);

        if (strcmp(got, cases[i].want) != 0)
            fail_msg("%s: '%s', not '%s'", cases[i].number, got, cases[i].want);
    }
}

static void test_too_much(void **state)
{
    json_t *many = json_array();
    struct gb_err err = { 0 };

    (void)state;
    for (int i = 0; i < SHELL_WORDS_MAX + 1; i++)
        json_array_append_new(many, json_string("a"));
    assert_null(shell_words(many, &err));
    assert_int_equal(err.code, GB_E_LIMIT);
    json_decref(many);
}

static void test_arguments(void **state)
{
    json_t *args = json_pack("[s,s]", "a b", "c");
    json_t *argv = shell_argv(
        &(struct shell_call){ .program = "/bin/dash", .command = "echo $1", .args = args });
    char *text = json_dumps(argv, JSON_COMPACT);

    (void)state;
    assert_string_equal(text, "[\"/bin/dash\",\"-c\",\"echo $1\",\"dash\",\"a b\",\"c\"]");
    free(text);
    json_decref(argv);
    json_decref(args);
}

static void test_families(void **state)
{
    (void)state;
    assert_int_equal(shell_family_of("/usr/bin/PWSH.exe"), SHELL_PWSH); /* 319: by name */
    assert_int_equal(shell_family_of("powershell"), SHELL_PWSH);
    assert_int_equal(shell_family_of("/bin/bash"), SHELL_BASH);
    assert_int_equal(shell_family_of("/bin/rbash"), SHELL_SH);
    assert_int_equal(shell_family_of(""), SHELL_SH);
    assert_true(shell_speaks("/bin/bash", true));
    assert_true(shell_speaks("/bin/sh", false));
    assert_false(shell_speaks("/bin/sh", true));
    assert_false(shell_speaks("/bin/zsh", false));
    assert_false(shell_speaks("/usr/bin/pwsh", false));
}

/* 342 to 346 */
static void test_quotes(void **state)
{
    static const struct {
        enum shell_family family;
        const char *text, *want;
    } cases[] = {
        { SHELL_BASH, "/a b", "'/a b'" },
        { SHELL_SH, "$(rm -rf /)", "'$(rm -rf /)'" },
        { SHELL_SH, "$x `a`", "'$x `a`'" },
        { SHELL_SH, "it's", "'it'\\''s'" },
        { SHELL_SH, "", "''" },
        { SHELL_PWSH, "$malicious", "'$malicious'" },
        { SHELL_PWSH, "$($env:X)", "'$($env:X)'" },
        { SHELL_PWSH, "it's", "'it''s'" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *got = shell_quote(cases[i].family, cases[i].text);
        assert_string_equal(got, cases[i].want);
        free(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_argv),     cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_families), cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_quotes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
