/* Which commands a text would run: found wherever they hide, and refused where that is not sure. */
#include "unit.h"

#include <jansson.h>

#include "shell/commands.h"
#include "shell/parse.h"

struct seen {
    char text[4096];
};

static void note(struct seen *s, const char *what)
{
    size_t n = strlen(s->text);

    (void)snprintf(s->text + n, sizeof(s->text) - n, "%s%s", n > 0 ? " " : "", what);
}

static int on_command(void *data, const struct shell_command *command,
                      struct shell_problem *problem)
{
    (void)problem;
    note(data, command->words[0].is_literal ? command->words[0].text : "?");
    return 0;
}

static int on_variable(void *data, const char *name, bool is_passed, struct shell_problem *problem)
{
    char text[80];

    (void)problem;
    (void)is_passed;
    (void)snprintf(text, sizeof(text), "%s=", name);
    note(data, text);
    return 0;
}

/* The commands and variables of a text in the order in which they are read, or "-". */
static void parse(const char *text, struct seen *s, struct shell_parsed *parsed,
                  struct shell_problem *problem)
{
    struct shell_visitor visitor = { .data = s, .command = on_command, .variable = on_variable };

    s->text[0] = '\0';
    if (shell_parse(text, strlen(text), &visitor, parsed, problem) < 0)
        (void)snprintf(s->text, sizeof(s->text), "-");
}

static const struct {
    const char *text, *want;
} texts[] = {
    { "", "" },
    { "   \n\t\n", "" },
    { "# rm", "" },
    { "ls", "ls" },
    { "ls -l /tmp", "ls" },
    { "ls # rm", "ls" },
    { "ls#rm", "ls#rm" },
    { "a; b", "a b" },
    { "a;b&c\nd", "a b c d" },
    { "a && b || c", "a b c" },
    { "a &&\n\n b", "a b" },
    { "a | b |& c", "a b c" },
    { "! a | b", "a b" },
    { "time a", "a" },
    { "a &", "a" },
    { "(a; b)", "a b" },
    { "(a) > f", "a" },
    { "{ a; b; } 2>&1", "a b" },
    { "( (a) )", "a" },
    { "X=1 a", "X= a" },
    { "X=1 Y=2", "X= Y=" },
    { "X+=1", "X=" },
    { "X[3]=1 a", "X= a" },
    { "X=(a b $(c))", "c X=" },
    { ">f a", "a" },
    { ">f", "" },
    { "a >f <g 2>>h 3<&1 4>&- <>i >|j", "a" },
    { "a &>f", "a" },
    { "a &>>f", "a" },
    { "a > $(b)", "b a" },
    { "a <<< $(b)", "b a" },
    { "\"a\" 'b'", "a" },
    { "a'b'\"c\"\\d", "abcd" },
    { "a\\\nb", "ab" },
    { "$x", "?" },
    { "${x}", "?" },
    { "\"$x\"", "?" },
    { "a$x", "?" },
    { "$'a'", "?" },
    { "a*", "?" },
    { "/bin/r?", "?" },
    { "{a,b}", "?" },
    { "~/a", "?" },
    { "[ x ]", "[" },
    { "echo $(a)", "a echo" },
    { "echo $(a; b | c)", "a b c echo" },
    { "echo \"x $(a \"$(b)\") y\"", "b a echo" },
    { "echo `a`", "a echo" },
    { "echo `a \\`b\\``", "b a echo" },
    { "echo \"`a`\"", "a echo" },
    { "echo '$(a)' '`a`'", "echo" },
    { "echo \\$\\(a\\)", "echo" },
    { "echo \"\\$(a)\"", "echo" },
    { "echo \"\\`a\\`\"", "echo" },
    { "cat <(a) >(b)", "a b cat" },
    { "echo ${x:-$(a)}", "a echo" },
    { "echo \"${x:-$(a)}\"", "a echo" },
    { "echo ${x:-\"$(a)\"}", "a echo" },
    { "echo ${x:-`a`}", "a echo" },
    { "echo ${x:-'$(a)'}", "echo" },
    { "echo ${x:-<(a)}", "a echo" },
    { "echo ${x#$(a)} ${x%%b} ${x/c/$(d)}", "a d echo" },
    { "echo ${#x} ${x[1]} ${x[@]} ${x:1:2} ${x^^} ${x@Q} $# $? $1 ${10} ${#}", "echo" },
    { "echo ${x:=1} ${y=2}", "x= y= echo" },
    { "echo $((1 + (2 * 3)))", "echo" },
    { "((1 < 2)) && a", "a" },
    { "$(a)", "a ?" },
    { "if a; then b; elif c; then d; else e; fi", "a b c d e" },
    { "if a\nthen\nb\nfi > f", "a b" },
    { "while a; do b; done < $(c)", "a b c" },
    { "until a; do b; done", "a b" },
    { "for i in 1 $(a); do b; done", "i= a b" },
    { "for i; do a; done", "i= a" },
    { "for i\n"
      "in 1 2\ndo a\ndone",
      "i= a" },
    { "select i in 1; do a; done", "i= a" },
    { "case $(a) in b) c;; (d|e) f;; *) g; esac", "a c f g" },
    { "case x in\na)\nb\n;;\nesac", "b" },
    { "case x in a) ;; esac", "" },
    { "case x in a) b ;& c) d ;;& esac", "b d" },
    { "echo $(case x in a) b;; esac)", "b echo" },
    { "f() { a; }", "a" },
    { "f () (a)", "a" },
    { "function f { a; }", "a" },
    { "function f() { a; }", "a" },
    { "f() { g() { a; }; }", "a" },
    { "[[ -f x && $(a) == b ]] || c", "a c" },
    { "[[ $x =~ ^(a|b)$ ]] && c", "c" },
    { "[[ $x =~ (a|b)+ ]] && c", "c" },
    { "[[ a ]\\\n] && c", "c" },
    { "i\\\nf a; then b; f\\\ni", "a b" },
    { "a <<-E\n\t$(b)\n\t"
      "E\nc",
      "a b c" },
    { "a > {b} {c} > d", "a" },
    { "[[ x =~ >(a|x) ]]", "a x" },
    { "[[ 1 -eq 2 ]]", "" },
    { "[[ ( a < b ) || ! -e c ]]", "" },
    { "cat <<E\nx $(a) `b`\nE\nc", "cat a b c" },
    { "cat <<'E'\n$(a)\nE\nc", "cat c" },
    { "cat <<\\E\n$(a)\nE", "cat" },
    { "cat <<\"E\"\n$(a)\nE", "cat" },
    { "cat <<E\n\\$(a)\nE", "cat" },
    { "cat <<-E\n\tx\n\t"
      "E\nb",
      "cat b" },
    { "cat <<A <<B\n$(a)\nA\n$(b)\nB\nc", "cat a b c" },
    { "cat <<E | a\nx\nE", "cat a" },
    { "x=$(cat <<E\n$(a)\nE\n)", "cat a x=" },
    { "(cat <<E\nx\nE\n); a", "cat a" },
    { "if cat <<E; then a; fi\nx\nE", "cat a" },
    { "a\\ b", "a b" },
    { "done=1", "done=" },
    { "echo if then fi", "echo" },
    { "echo a=b c[1]=d", "echo" },
    { "2>f a", "a" },
    { "a 2", "a" },
    { "echo $", "echo" },
    { "echo \"$\"", "echo" },
    { "echo a#b \"#\" '#'", "echo" },
    { "a;# b\nc", "a c" },
};

static void test_commands(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct shell_problem problem;
        struct shell_parsed parsed;
        struct seen s;

        parse(texts[i].text, &s, &parsed, &problem);
        if (strcmp(s.text, texts[i].want) != 0)
            fail_msg("'%s': '%s', not '%s' (%s)", texts[i].text, s.text, texts[i].want,
                     problem.message);
    }
}

static const char *const refused[] = {
    "'",
    "\"",
    "`",
    "$(",
    "${",
    "${x",
    "a 'b",
    "a \"b",
    "a \"$(b\"",
    "a \\",
    "(",
    ")",
    "(a",
    "a)",
    "{",
    "{ a;",
    "a; }",
    "a |",
    "a &&",
    "a ||",
    "&& a",
    "| a",
    "; a",
    "a ;; b",
    "if",
    "if a",
    "if a; then b",
    "if a; then b; else c",
    "fi",
    "then",
    "do",
    "done",
    "esac",
    "while a",
    "while a; do b",
    "for",
    "for i",
    "for i in",
    "for $x in a; do b; done",
    "for ((i=0; i<3; i++)); do a; done",
    "case",
    "case x",
    "case x in",
    "case x in a",
    "case x in a b",
    "case x in a) b",
    "in",
    "a > ",
    "a <",
    "a <<",
    "a <<E",
    "a <<E\nx",
    "a <<$x\n$x\n",
    "a <<E\nx\\\nE\nE\n",
    "a <<E $(b)\nE\n",
    "a <<E 'x\ny'\nE\n",
    "a $(b <<E)\nE\n",
    "a <<E `b`\nE\n",
    "a <<\"E\nF\"\n",
    "coproc a",
    "function",
    "function $x { a; }",
    "f() ",
    "f(a)",
    "a b(c)",
    "echo @(a|b)",
    "[[",
    "[[ a",
    "[[ a ] ]",
    "[[ $x -eq 1 ]]",
    "[[ 1 -lt y ]]",
    "[[ -v x ]]",
    "[[ a | b ]]",
    "[[ a; b ]]",
    "[[ $x == @(a|b) ]]",
    "[[ a # b\n]]",
    "[[ a == @(b ]]",
    "[[ a == b) ]]",
    "[[ a =~ (b c) ]]",
    "[[ a =~ (b;c) ]]",
    "echo $\"a\"",
    "a {b}> c",
    "a {b[c]}<&-",
    "a {b\\\n}> c",
    "a $(b <<E\nE)\nE\n)",
    "a <<E ${x:-<(b)}\nE\n",
    "((i++))",
    "((x))",
    "echo $((x))",
    "echo $(($x))",
    "echo $((`a`))",
    "echo $((a[0]))",
    "echo $[1]",
    "echo $((1) | a)",
    "((a); (b))",
    "echo ${!x}",
    "echo ${x@P}",
    "echo ${x@A}",
    "echo ${x[i]}",
    "echo ${x[$i]}",
    "echo ${x:i}",
    "echo ${x:$i}",
    "x[i]=1",
    "x[$(a)]=1",
    "x=([i]=1)",
    "echo \"${x:-'}\"",
    "echo \"`a \\\"b`\"",
    "a >&f",
    "a >& '$(b)'",
    "a 2>&$x",
    "a <&x",
    "echo ${}",
    "echo ${x!}",
    "a & ;",
    "!",
    "time",
    "a <(b",
    "] ]] a ]]; ]]",
};

/* What is no command line, what shells read differently, and what would be evaluated. */
static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct shell_problem problem;
        struct shell_parsed parsed;
        struct seen s;

        parse(refused[i], &s, &parsed, &problem);
        if (strcmp(s.text, "-") != 0)
            fail_msg("'%s' was read, as '%s'", refused[i], s.text);
        assert_true(problem.message[0] != '\0');
        assert_true(problem.line >= 1);
    }
}

static void test_dialect(void **state)
{
    static const char *const sh[] = { "a | b",      "echo ${x:-y} $((1))",
                                      "f() { a; }", "case x in a) b;; esac",
                                      "a <<E\nE\n", "[ -f x ]",
                                      "a 2>&1" };
    static const char *const bash[] = { "[[ a ]]",
                                        "a |& b",
                                        "a &> f",
                                        "cat <(a)",
                                        "((1))",
                                        "$'a'",
                                        "a <<< b",
                                        "x=(1)",
                                        "x+=1",
                                        "time a",
                                        "function f { a; }",
                                        "${x/a/b}",
                                        "${x:1}",
                                        "${x^}",
                                        "${x[1]}",
                                        "select i in 1; do a; done",
                                        "case x in a) b;& esac" };
    struct shell_problem problem;
    struct shell_parsed parsed;
    struct seen s;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sh); i++) {
        parse(sh[i], &s, &parsed, &problem);
        if (strcmp(s.text, "-") == 0 || parsed.is_bash)
            fail_msg("'%s' is not for every shell: %s", sh[i], problem.message);
    }
    for (size_t i = 0; i < ARRAY_LEN(bash); i++) {
        parse(bash[i], &s, &parsed, &problem);
        if (strcmp(s.text, "-") == 0 || !parsed.is_bash)
            fail_msg("'%s' is for every shell: %s", bash[i], problem.message);
    }
}

static char *repeated(const char *open, const char *middle, const char *close, size_t n)
{
    size_t len = n * (strlen(open) + strlen(close)) + strlen(middle) + 1;
    char *text = malloc(len), *at = text;

    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, open);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, close);
    return text;
}

/* What is deep or long is refused or read, and in no case takes the stack or the day. */
static void test_bounds(void **state)
{
    static const struct {
        const char *open, *middle, *close;
        size_t n;
        bool is_read;
    } cases[] = {
        { "$(", "a", ")", 9, true },
        { "$(", "a", ")", 60000, false },
        { "(", "a", ")", 60000, false },
        { "{ ", "a", ";}", 40000, false },
        { "\"$(", "a", ")\"", 30000, false },
        { "${x:-", "", "}", 20000, false },
        { "if ", "a", "; then b; fi", 8000, false },
        { "a;", "a", "", 19000, true },
        { "a;", "a", "", 60000, false }, /* too many */
        { "`a` ", "a", "", 15000, true },
        { "a ", "a", "", 60000, true },
        { "a|", "a", "", 15000, true },
        { "<<E ", "a", "", 30000, false },
        { "x=", "", "", 60000, true },
        { "\\\n", "a", "", 60000, true },
        { "'", "", "", 60001, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_free char *text = repeated(cases[i].open, cases[i].middle, cases[i].close, cases[i].n);
        struct shell_problem problem;
        struct shell_parsed parsed;
        struct seen s;

        parse(text, &s, &parsed, &problem);
        if ((strcmp(s.text, "-") != 0) != cases[i].is_read)
            fail_msg("%zu of '%s': %s", cases[i].n, cases[i].open, problem.message);
    }
}

static void test_lines(void **state)
{
    struct commands_verdict v;
    json_t *allowed = json_pack("[s,s]", "ls", "cat");
    static const char text[] = "ls\ncat <<E\nx\n\nE\nls &&\n  rm x";

    (void)state;
    commands_check(text, strlen(text), allowed, &v);
    assert_false(v.is_allowed);
    assert_int_equal(v.line, 7);
    assert_string_equal(v.name, "rm");
    json_decref(allowed);
}

static const struct {
    const char *text;
    bool is_allowed;
} judged[] = {
    { "git status", true },
    { "cd src && git log | grep -v x > out; cat out", true },
    { "for f in *.c; do grep -q x \"$f\" || echo \"$f\"; done", true },
    { "while read -r line; do echo \"$line\"; done < f", true },
    { "if [ -f x ]; then cat x; fi", true },
    { "[ \"$x\" = y ] && ls", true },
    { "set -euo pipefail; ls", true },
    { "printf '%s\\n' \"$x\"", true },
    { "command git status", true },
    { "exec git status", true },
    { "true && exit 3", true },
    { "TZ=UTC LC_ALL=C GIT_AUTHOR_NAME=x git log", true },
    { "x=1; git log", true },
    { "git -C x log", true },
    { "git -C -c log", true },
    { "git switch -c x", true },
    { "git --no-pager diff --exit-code", true },
    { "git log -- -c", true },
    { "git log \"$x\"", true },
    { "find . -name x -exec grep y {} +", true },
    { "sort -u x", true },
    { "GIT_DIR=x git log", false },
    { "GIT_EXTERNAL_DIFF=x git diff", false },
    { "GIT_EXTERNAL_DIFF=x; git diff", false },
    { ": ${GIT_PAGER:=x}", false },
    { "for PAGER in x; do git log; done", false },
    { "x=1 git log", false },
    { "HOME=. git log", false },
    { "PERL5OPT=-Mx git log", false },
    { "git -c core.pager=x log", false },
    { "git '-c' core.pager=x log", false },
    { "git -C x -c core.pager=x log", false },
    { "command git -c core.pager=x log", false },
    { "git --config-env=core.pager=X log", false },
    { "git --exec-path=. x", false },
    { "git clone . x -c core.hooksPath=y", false },
    { "git --no-pager -c core.pager=x log", false },
    { "git clone --upload-pack=x y", false },
    { "git clone --upload-pa x y", false },
    { "find . -exec rm {} +", false },
    { "find -- . -exec rm {} +", false },
    { "find . -okdir rm {} ';'", false },
    { "find . -exec grep x {} ';' -exec rm {} ';'", false },
    { "find . -exec \"$x\" ';'", false },
    { "sort --compress-program=./x y", false },
    { "'git' log", true },
    { "rm x", false },
    { "git log; rm x", false },
    { "git log & rm x", false },
    { "git log | rm x", false },
    { "git log\nrm x", false },
    { "echo $(rm x)", false },
    { "echo \"$(rm x)\"", false },
    { "echo `rm x`", false },
    { "cat <(rm x)", false },
    { "echo ${x:-$(rm x)}", false },
    { "cat <<E\n$(rm x)\nE", false },
    { "git() { rm x; }; git", false },
    { "f() { git log; }; f", false },
    { "if rm x; then ls; fi", false },
    { "case $(rm x) in *) ls;; esac", false },
    { "[[ $(rm x) ]]", false },
    { "x=$(rm x)", false },
    { "x=(`rm x`)", false },
    { "ls > $(rm x)", false },
    { "r\\m x", false },
    { "r''m x", false },
    { "/bin/rm x", false },
    { "./git", false },
    { "/tmp/git", false },
    { "$RM x", false },
    { "${RM:-rm} x", false },
    { "{rm,x}", false },
    { "eval git", false },
    { ". ./f", false },
    { "source f", false },
    { "trap 'rm x' EXIT", false },
    { "command -v git", false },
    { "command rm", false },
    { "exec rm", false },
    { "exec", false },
    { "builtin eval rm", false },
    { "command command rm", false },
    { "nohup rm x", false },
    { "xargs rm", false },
    { "env rm", false },
    { "sudo git", false },
    { "time rm x", false },
    { "! rm x", false },
    { "PATH=. git", false },
    { "PATH=. ; git", false },
    { "for PATH in .; do git; done", false },
    { "echo ${PATH:=x}", false },
    { "read PATH", false },
    { "read 'x[$(rm)]'", false },
    { "read \"$x\"", false },
    { "read -a x", false },
    { "printf -v PATH x", false },
    { "printf \"$x\" y", false },
    { "printf -- x", false },
    { "[ -v 'x[$(rm)]' ]", false },
    { "[ $x ]", false },
    { "[ \"$x\" \"$y\" ]", false },
    { "set -x", false },
    { "set -- a", false },
    { "LD_PRELOAD=x git", false },
    { "BASH_ENV=x git", false },
    { "PS4='$(rm)' git", false },
    { "alias git=rm", false },
    { "hash -p /bin/rm git", false },
    { "enable -n echo", false },
    { "export PATH=.", false },
    { "declare x=1", false },
    { "unset 'x[$(rm)]'", false },
    { "let x=1", false },
    { "mapfile -C rm x", false },
    { "shopt -s expand_aliases", false },
    { "echo $((x))", false },
    { "git log; }", false },
    { "git log '", false },
};

/* With find, sort, git, ls, cat, echo, grep, cd, read, printf, [ and set allowed. */
static void test_allowed(void **state)
{
    json_t *allowed = json_pack("[s,s,s,s,s,s,s,s,s,s,s,s]", "find", "sort", "git", "ls", "cat",
                                "echo", "grep", "cd", "read", "printf", "[", "set");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(judged); i++) {
        struct commands_verdict v;

        commands_check(judged[i].text, strlen(judged[i].text), allowed, &v);
        if (v.is_allowed != judged[i].is_allowed)
            fail_msg("'%s': %s", judged[i].text, v.is_allowed ? "allowed" : v.message);
        assert_int_equal(v.message[0] == '\0', v.is_allowed);
    }
    json_decref(allowed);
}

/* Nothing that consists of anything makes it read past the end: the sanitizers look on. */
static void test_any_bytes(void **state)
{
    static const char alphabet[] = "ab$(){}`'\"\\\n \t;&|<>#=[]!*?~-+0:/^,@Efi";
    json_t *allowed = json_pack("[s]", "a");

    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t len = unit_random() % 40;
        char *text = malloc(len + 1); /* no more than it has, so that one byte too many shows */
        struct commands_verdict v;

        for (size_t i = 0; i < len; i++)
            text[i] = alphabet[unit_random() % (sizeof(alphabet) - 1)];
        commands_check(text, len, allowed, &v);
        assert_true(v.is_allowed || v.message[0]);
        free(text);
    }
    json_decref(allowed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_dialect),   cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_lines),     cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_any_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
