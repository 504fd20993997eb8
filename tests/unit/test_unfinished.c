/* Where a shell command ends, line by line. */
#include "unit.h"

#include "cli/unfinished.h"

static void test_what_is_whole(void **state)
{
    static const char *const whole[] = {
        "ls\n",
        "\n",
        "# it's (\n",
        "echo a # \"\n",
        "echo 'a' \"b $(c) ${d} `e`\" \\' \n",
        "if a; then b; fi\n",
        "for i in 1 2\ndo x\ndone\n",
        "while :; do case $x in a) b;; *) c;; esac; done\n",
        "f() { g; }\n",
        "f()\n{\n  g\n}\n",
        "(a; b) | { c; }\n",
        "cat <<X\nif (\nX\n",
        "cat <<-'Q R' | sort\n\tx\n\tQ R\n",
        "cat <<A <<B\na\nA\nb\nB\n",
        "cat <<<word\n",
        "a && \\\nb\n",
        "echo ${x:-(} ${#y} $((1 << 2)) a#b\n",
        "echo done fi } esac if\n",
        "[[ a == b ]] && x || y\n",
        "a=(1 2\n3)\n",
        "x &\n",
        "}\n",
        ")\n",
        "echo `echo \"a\"`\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (command_is_unfinished(whole[i], strlen(whole[i])))
            fail_msg("unfinished: %s", whole[i]);
}

static void test_what_goes_on(void **state)
{
    static const char *const parts[] = {
        "echo 'a\n",
        "echo \"a\n",
        "echo `a\n",
        "echo $(a\n",
        "echo ${a\n",
        "(a\n",
        "{ a\n",
        "if a; then\n",
        "for i in 1 2\n",
        "while a\ndo b\n",
        "case x in\n",
        "a &&\n",
        "a ||\n",
        "a |\n",
        "a \\\n",
        "cat <<X\nb\n",
        "cat <<X\n",
        "f() {\n",
        "a=(1\n",
        "until x; do\n",
        "a && # why\n",
        "echo \"$(b 'c\n",
        "cat <<A <<B\na\nA\nb\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!command_is_unfinished(parts[i], strlen(parts[i])))
            fail_msg("finished: %s", parts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_whole),
        cmocka_unit_test(test_what_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
