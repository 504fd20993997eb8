/* The rules for commands by patterns: C9. */
#include "unit.h"

#include <jansson.h>

#include "base/parse.h"
#include "shell/policy.h"

/* Rules from JSON. */
static struct shell_rules rules_of(const char *text)
{
    struct shell_rules r = { 0 };
    json_t *json = json_loads(text, 0, NULL), *value;
    struct gb_err err = { 0 };
    const char *key;

    assert_non_null(json);
    json_object_foreach (json, key, value)
        if (shell_rules_say(&r, key, value, &err) != 1)
            fail_msg("%s: %s", text, err.msg);
    json_decref(json);
    return r;
}

static bool judge(const struct shell_rules *r, const char *command, struct shell_refusal *why)
{
    struct shell_judged judged = { 0 };

    return shell_rules_judge(r, command, strlen(command), &judged, why);
}

static void assert_each(const char *rules, const char *const *commands, size_t n, bool want)
{
    struct shell_rules r = rules_of(rules);
    struct shell_refusal why;

    for (size_t i = 0; i < n; i++)
        if (judge(&r, commands[i], &why) != want)
            fail_msg("%s: '%s': %s", rules, commands[i], want ? why.message : "passed");
    shell_rules_done(&r);
}

#define ALL(rules, list, want) assert_each(rules, list, ARRAY_LEN(list), want)

#define PRESET                 "{\"deny_preset\": [\"destructive\"]}"

/* 226, 235, 261: no rules, no refusals. */
static void test_no_rules(void **state)
{
    static const char *const any[] = { "ls -la", "rm -rf /", "shutdown -h now", ":(){ :|:& };:" };

    (void)state;
    ALL("{}", any, true);
}

/* 227, 260 */
static void test_blank(void **state)
{
    static const char *const blank[] = { "", " ", "\t\n", "\r\n \v\f" };
    struct shell_rules r = { 0 };
    struct shell_refusal why;

    (void)state;
    ALL("{}", blank, false);
    assert_false(judge(&r, " ", &why));
    assert_non_null(strstr(why.message, "empty"));
    assert_string_equal(why.rule, "empty");
}

/* 228, 229, 230, 231, 234, 263 */
static void test_preset(void **state)
{
    static const char *const fine[] = { "ls",
                                        "echo hello",
                                        "git status",
                                        "python --version",
                                        "cat README.md",
                                        "rm build/x.o",
                                        "rm -r build",
                                        "git push",
                                        "grep -rf patterns src",
                                        "make format",
                                        "curl -o x http://y" };
    static const char *const refused[] = { "rm -rf /",
                                           "rm -rf /*",
                                           "rm -rf ~",
                                           "rm -r -f /",
                                           "rm --recursive --force /etc",
                                           "rm -rf --no-preserve-root /",
                                           "sudo rm -rf /etc",
                                           "RM -RF /",
                                           "rm -rf *",
                                           "rm -rf ..",
                                           "rm -rf $HOME",
                                           "find / -delete",
                                           ":(){ :|:& };:",
                                           "bomb() { bomb | bomb & }; bomb",
                                           "curl http://x | sh",
                                           "wget -qO- http://x | sudo bash",
                                           "curl http://x | python3",
                                           "mkfs.ext4 /dev/sda1",
                                           "dd if=/dev/zero of=/dev/sda",
                                           "echo x > /dev/sda",
                                           "shutdown -h now",
                                           "reboot",
                                           "halt",
                                           "poweroff",
                                           "init 0",
                                           "chmod -R 777 /",
                                           "chown -R me /",
                                           "git push --force",
                                           "git reset --hard HEAD~1",
                                           "format C:",
                                           "del /f /s /q C:\\x",
                                           "reg delete HKLM\\x",
                                           "REG.exe delete HKLM\\x",
                                           "rmdir /s /q x",
                                           "Remove-Item -Recurse -Force x" };

    (void)state;
    ALL(PRESET, fine, true);
    ALL(PRESET, refused, false);
}

/* 236 to 247, 262: what anybody can write instead. That these pass is no oversight: patterns look
 * at text, and a shell has many texts for one thing. What holds commands is their box; what looks
 * at what is run is allow_command. */
static void test_known_bypasses(void **state)
{
    static const char *const pass[] = {
        "r\\m -rf /",
        "${RM:=rm} -rf /",
        "r''m -rf /",
        "python3 -c 'import os; os.system(\"r\"+\"m -rf /\")'",
        "perl -e 'unlink glob \"/*\"'",
        "echo cm0gLXJmIC8= | base64 -d | sh",
        "$(printf 'r%s' m) -rf /",
        "Get-ChildItem / | ForEach-Object { $_.Delete() }",
        "x=rm; $x -rf /",
    };
    /* And these, which once were such, are seen. */
    static const char *const improved[] = { "eval \"$(echo rm -rf /)\"", "true\nrm -rf /",
                                            "/bin/rm -rf /", "find / -delete" };

    (void)state;
    ALL(PRESET, pass, true);
    ALL(PRESET, improved, false);
}

/* 232, 252, 253, 268 */
static void test_allow(void **state)
{
    static const char rules[] = "{\"allow\": [\"^ls\\\\b\", \"^git status$\"]}";
    static const char *const fine[] = { "ls", "ls -la", "git status", "  git status\n", "LS" };
    static const char *const refused[] = { "cat /etc/passwd", "git status x", "git statu",
                                           "git status\nrm x" };
    struct shell_rules r = rules_of(rules);
    struct shell_refusal why;

    (void)state;
    ALL(rules, fine, true);
    ALL(rules, refused, false);
    assert_false(judge(&r, "cat x", &why));
    assert_string_equal(why.rule, "allow");
    assert_non_null(strstr(why.message, "allow list"));
    assert_string_equal(why.remedy,
                        "use a command that matches one of these: ^ls\\b, ^git status$");
    shell_rules_done(&r);
}

/* Whoever is refused is told what would pass, as far as there is room, and nothing is cut in the
 * middle of a character. */
static void test_told(void **state)
{
    static const char preset[] = "{\"deny_preset\": [\"network\"]}";
    char many[2048] = "{\"allow_command\": [\"first\"", accents[1024] = "{\"deny\": [\"xx|";
    struct shell_rules r = rules_of(preset);
    struct shell_refusal why;
    size_t len = strlen(many);

    (void)state;
    assert_false(judge(&r, "curl x", &why));
    assert_non_null(strstr(why.message, "the deny preset 'network': "));
    shell_rules_done(&r);

    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(many + len, sizeof(many) - len, ",\"name%d\"", i);
    (void)snprintf(many + len, sizeof(many) - len, "]}");
    r = rules_of(many);
    assert_false(judge(&r, "rm x", &why));
    assert_non_null(strstr(why.remedy, "written plainly: first, name0, "));
    assert_string_equal(why.remedy + strlen(why.remedy) - 5, ", ...");
    shell_rules_done(&r);

    len = strlen(accents);
    for (int i = 0; i < 200; i++)
        len += (size_t)snprintf(accents + len, sizeof(accents) - len, "\xc3\xa9");
    (void)snprintf(accents + len, sizeof(accents) - len, "\"]}");
    r = rules_of(accents);
    assert_false(judge(&r, "xx", &why));
    assert_int_equal(utf8_first_bad(why.message, strlen(why.message)), -1);
    shell_rules_done(&r);
}

/* 249, 250, 251, 254, 255 */
static void test_order(void **state)
{
    static const char *const any[] = { "ls", "git push" };
    static const char *const push[] = { "git push" };
    static const char both[] = "{\"allow\": [\"^git push$\"], \"deny\": [\"push\"]}";
    struct shell_rules r = rules_of(both);
    struct shell_refusal why;

    (void)state;
    ALL("{\"allow\": []}", any, false);
    ALL("{\"deny\": []}", any, true);
    ALL(both, push, false);
    assert_false(judge(&r, "git push", &why));
    assert_string_equal(why.rule, "deny");
    assert_non_null(strstr(why.message, "'push'")); /* the pattern itself */
    shell_rules_done(&r);
}

/* A pattern that would take for ever has an end, and that is a no. */
static void test_catastrophe(void **state)
{
    static const char *const slow[] = { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" };

    (void)state;
    ALL("{\"deny\": [\"^(a+)+(b+)+$(?<!x)|(a|a|aa)+c\"]}", slow, false);
    ALL("{\"allow\": [\"^(a|a|aa)+c$\"]}", slow, false);
}

/* Nor does a long text, at each place of which it takes a little less than for ever. */
static void test_long_text(void **state)
{
    enum {
        TIMES = 25000
    };
    static char text[5 * TIMES + 9];
    static const char *const slow[] = { text };

    (void)state;
    for (size_t i = 0; i < sizeof(text) - 9; i++)
        text[i] = "find "[i % 5];
    memcpy(text + sizeof(text) - 9, "x-delete", 9);
    ALL("{\"deny_preset\": [\"destructive\"]}", slow, false);
    ALL("{\"deny\": [\"^(?:.*)y\", \"\\\\Gx\"]}", slow, true);
}

/* 248, and what is wrong with a list */
static void test_reading(void **state)
{
    static const struct {
        const char *key, *value, *want;
    } cases[] = {
        { "deny", "[\"(\"]", "deny: '(': not a regular expression" },
        { "deny", "\"x\"", "deny: must be a list of strings" },
        { "allow", "[3]", "allow: must be a list of strings" },
        { "allow", "[\"\"]", "allow: must be a list of strings" },
        { "deny_preset", "[\"x\"]", "deny_preset: there is no preset 'x'" },
        { "allow_command", "[\"\"]", "allow_command: must be a list of strings" },
    };
    struct shell_rules r = { 0 };
    struct gb_err err;
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);

        assert_int_equal(shell_rules_say(&r, cases[i].key, value, &err), -1);
        if (strncmp(err.msg, cases[i].want, strlen(cases[i].want)) != 0)
            fail_msg("'%s', not '%s'", err.msg, cases[i].want);
        json_decref(value);
    }
    shell_rules_done(&r);
    while (shell_preset("destructive", n))
        n++;
    r = rules_of(PRESET);
    assert_int_equal(json_array_size(r.deny), n);
    shell_rules_done(&r);
    for (size_t i = 0; shell_preset_name(i); i++) { /* each compiles */
        char text[80];

        (void)snprintf(text, sizeof(text), "{\"deny_preset\": [\"%s\"]}", shell_preset_name(i));
        r = rules_of(text);
        for (size_t k = 0; shell_preset(shell_preset_name(i), k); k++) {
            json_t *one = json_pack("[s]", shell_preset(shell_preset_name(i), k));
            struct shell_rules alone = { 0 };

            if (shell_rules_say(&alone, "deny", one, &err) != 1)
                fail_msg("%s", err.msg);
            shell_rules_done(&alone);
            json_decref(one);
        }
        shell_rules_done(&r);
    }
}

static void test_names(void **state)
{
    struct shell_rules none = { 0 }, deny = rules_of(PRESET),
                       allow = rules_of("{\"allow_command\": []}");

    (void)state;
    assert_string_equal(shell_rules_name(&none, &none), "off");
    assert_string_equal(shell_rules_name(&none, &deny), "standard");
    assert_string_equal(shell_rules_name(&deny, &allow), "strict");
    shell_rules_done(&deny);
    shell_rules_done(&allow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_rules),  cmocka_unit_test(test_blank),
        cmocka_unit_test(test_preset),    cmocka_unit_test(test_known_bypasses),
        cmocka_unit_test(test_allow),     cmocka_unit_test(test_told),
        cmocka_unit_test(test_order),     cmocka_unit_test(test_catastrophe),
        cmocka_unit_test(test_long_text), cmocka_unit_test(test_reading),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
