/*
 * A command may run if its name is on the list. That means something only as long as a name means
 * one program, and nothing that is data becomes a command, so some of a shell's own commands cannot
 * be allowed (they run text, or change what names mean), some only in a harmless form, and some
 * that only run another command are looked through to that one. Programs that run others
 * (runners.h) are programs, and the rule does not hold them: only what is in plain sight is
 * refused.
 */
#include "shell/commands.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "shell/parse.h"
#include "shell/runners.h"

struct check {
    const json_t *allowed;
    struct commands_verdict *verdict;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct shell_problem *problem,
                                                        const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(problem->message, sizeof(problem->message), fmt, ap);
    va_end(ap);
    return -1;
}

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

/* ---- variables ---- */

/* Those by which a shell, the loader, or a program decides what runs; and those whose value bash
 * evaluates when it is set, since it is a number. */
bool commands_decides(const char *variable)
{
    static const char *const names[] = {
        "PATH",      "ENV",          "IFS",    "PS0",      "PS1",
        "PS2",       "PS4",          "SHELL",  "HISTFILE", "PROMPT_COMMAND",
        "SHELLOPTS", "EXECIGNORE",   "EDITOR", "VISUAL",   "POSIXLY_CORRECT",
        "CDPATH",    "FPATH",        "RANDOM", "SRANDOM",  "SECONDS",
        "LINENO",    "HISTCMD",      "OPTIND", "UID",      "EUID",
        "PPID",      "EPOCHSECONDS", NULL
    };

    return is_one_of(variable, names) || strncmp(variable, "LD_", 3) == 0 ||
           strncmp(variable, "BASH", 4) == 0 || runner_variable(variable);
}

static int on_variable(void *data, const char *name, bool is_passed, struct shell_problem *problem)
{
    struct check *c = data;
    bool is_harmless = !is_passed || runner_is_harmless(name);

    if (!commands_decides(name) && is_harmless)
        return 0;
    (void)snprintf(c->verdict->name, sizeof(c->verdict->name), "%s", name);
    if (is_harmless || commands_decides(name))
        return refuse(problem, "%.60s decides what runs, and cannot be set", name);
    return refuse(problem,
                  "%.60s before a command may name a program to it: only LANG, LC_*, TZ and the "
                  "like can be set there",
                  name);
}

static bool is_harmless_name(const struct shell_word *w)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    const char *text = w->text;

    return w->is_literal && text[0] && !(text[0] >= '0' && text[0] <= '9') &&
           strspn(text, letters) == strlen(text) && !commands_decides(text);
}

/* ---- commands of the shell's own that are allowed in some forms ---- */

/* Words, the first of which is the command's name. */
struct call {
    const struct shell_word *words;
    size_t n;
};

/* read -r NAME...: other forms take a name that is evaluated. */
static bool is_fine_read(const struct call *call)
{
    for (size_t i = 1; i < call->n; i++) {
        const struct shell_word *w = &call->words[i];
        if (!(w->is_literal && strcmp(w->text, "-r") == 0) && !is_harmless_name(w))
            return false;
    }
    return true;
}

/* Not -v, which sets a variable, evaluating its name. */
static bool is_fine_printf(const struct call *call)
{
    return call->n < 2 || (call->words[1].is_literal && call->words[1].text[0] != '-');
}

static bool is_fine_set(const struct call *call)
{
    static const char *const options[] = { "-e", "-u",       "-eu",     "-o",      "-euo", "+e",
                                           "+u", "pipefail", "errexit", "nounset", NULL };

    for (size_t i = 1; i < call->n; i++)
        if (!call->words[i].is_literal || !is_one_of(call->words[i].text, options))
            return false;
    return call->n > 1;
}

/* [ -v NAME ] evaluates the name, and where an operator is computed it may be that one. */
static bool is_fine_test(const struct call *call)
{
    static const char *const between[] = { "=",   "==",  "!=",  "<",   ">",   "-eq", "-ne",
                                           "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
                                           "-a",  "-o",  "]",   ")",   NULL };

    for (size_t i = 1; i < call->n; i++) {
        const struct shell_word *w = &call->words[i], *next = i + 1 < call->n ? w + 1 : NULL;

        if (!w->is_literal && !w->is_quoted)
            return false;
        if (w->is_literal && (strcmp(w->text, "-v") == 0 || strcmp(w->text, "-R") == 0))
            return false;
        if (!w->is_literal && next && !(next->is_literal && is_one_of(next->text, between)))
            return false;
    }
    return true;
}

static bool is_never(const struct call *call)
{
    (void)call;
    return false;
}

static const struct {
    const char *name;
    bool (*is_fine)(const struct call *call);
    const char *why;
} special[] = {
    { "[", is_fine_test, "with -v, or with an expansion that is not in double quotes" },
    { "test", is_fine_test, "with -v, or with an expansion that is not in double quotes" },
    { "printf", is_fine_printf, "with an option, or a format that is computed" },
    { "read", is_fine_read, "other than 'read -r NAME'" },
    { "set", is_fine_set, "with other options than -e, -u and pipefail" },
    { ".", is_never, "it runs a file" },
    { "alias", is_never, "it changes what names mean" },
    { "bind", is_never, "it runs text" },
    { "compgen", is_never, "it runs text" },
    { "complete", is_never, "it runs text" },
    { "declare", is_never, "it evaluates names; write NAME=VALUE" },
    { "enable", is_never, "it changes what names mean" },
    { "eval", is_never, "it runs text" },
    { "export", is_never, "it evaluates names; write NAME=VALUE before the command" },
    { "fc", is_never, "it runs text" },
    { "getopts", is_never, "it evaluates names" },
    { "hash", is_never, "it changes what names mean" },
    { "jobs", is_never, "it can run a command" },
    { "let", is_never, "it evaluates text" },
    { "local", is_never, "it evaluates names; write NAME=VALUE" },
    { "mapfile", is_never, "it can run text" },
    { "readarray", is_never, "it can run text" },
    { "readonly", is_never, "it evaluates names; write NAME=VALUE" },
    { "shopt", is_never, "it changes the grammar" },
    { "source", is_never, "it runs a file" },
    { "trap", is_never, "it runs text" },
    { "typeset", is_never, "it evaluates names; write NAME=VALUE" },
    { "unalias", is_never, "it changes what names mean" },
    { "unset", is_never, "it evaluates names" },
    { "wait", is_never, "it evaluates names" },
};

/* ---- the list ---- */

/* What steers the shell itself and touches nothing else. */
static bool is_always_fine(const char *name)
{
    static const char *const names[] = { ":",     "true",     "false",  "exit",
                                         "break", "continue", "return", NULL };

    return is_one_of(name, names);
}

static bool is_wrapper(const char *name)
{
    static const char *const names[] = { "command", "builtin", "exec", "nohup", NULL };

    return is_one_of(name, names);
}

static int check_call(struct check *c, const struct call *call, struct shell_problem *problem);

/* What is in plain sight. What is computed, or in a file, is not. */
static int check_runner(struct check *c, const struct runner *r, const struct call *call,
                        struct shell_problem *problem)
{
    bool is_early = true, is_late = false;

    for (size_t i = 1; i < call->n; i++) {
        const struct shell_word *w = &call->words[i];
        struct call inner = { .words = w + 1, .n = call->n - i - 1 };

        if (!w->is_literal)
            continue;
        if (strcmp(w->text, "--") == 0) {
            if (!r->leads)
                return 0;
            continue; /* find's expressions come behind it, too */
        }
        if (is_early && runner_takes_value(r, w->text)) {
            i++;
            continue;
        }
        if (is_early && !is_late && w->text[0] != '-')
            is_early = is_late = r->reads_late && strcmp(w->text, r->reads_late) == 0;
        if (runner_names_program(r, w->text, is_early))
            return refuse(problem, "'%.40s %.40s' names a program to run, which is not looked at",
                          call->words[0].text, w->text);
        if (runner_leads(r, w->text) && inner.n > 0 && check_call(c, &inner, problem) < 0)
            return -1;
    }
    return 0;
}

static int check_call(struct check *c, const struct call *call, struct shell_problem *problem)
{
    const struct shell_word *w = call->words;
    const struct runner *runner;

    (void)snprintf(c->verdict->name, sizeof(c->verdict->name), "%s", w->text);
    if (!w->is_literal)
        return refuse(problem, "the name of a command is computed: %s", w->text);
    if (is_wrapper(w->text)) { /* the one behind it counts */
        struct call inner = { .words = w + 1, .n = call->n - 1 };

        if (inner.n == 0 || !inner.words[0].is_literal || inner.words[0].text[0] == '-')
            return refuse(problem, "'%s' without a plain command behind it", w->text);
        return check_call(c, &inner, problem);
    }
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (strcmp(special[i].name, w->text) == 0 && !special[i].is_fine(call))
            return refuse(problem, "'%s' cannot be allowed: %s", w->text, special[i].why);
    runner = runner_find(w->text);
    if (is_always_fine(w->text) || json_array_has(c->allowed, w->text))
        return runner ? check_runner(c, runner, call, problem) : 0;
    return refuse(problem, "'%.60s' is not an allowed command", w->text);
}

static int on_command(void *data, const struct shell_command *command,
                      struct shell_problem *problem)
{
    return check_call(data, &(struct call){ .words = command->words, .n = command->n_words },
                      problem);
}

void commands_check(const char *text, size_t len, const json_t *allowed,
                    struct commands_verdict *ret)
{
    struct check c = { .allowed = allowed, .verdict = ret };
    struct shell_visitor visitor = { .data = &c, .command = on_command, .variable = on_variable };
    struct shell_problem problem;
    struct shell_parsed parsed;

    *ret = (struct commands_verdict){ 0 };
    ret->is_allowed = shell_parse(text, len, &visitor, &parsed, &problem) == 0;
    ret->is_bash = parsed.is_bash;
    if (ret->is_allowed) {
        ret->name[0] = '\0';
        return;
    }
    ret->line = problem.line;
    (void)snprintf(ret->message, sizeof(ret->message), "%s", problem.message);
}
