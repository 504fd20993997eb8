/* `glovebox help`, --help and --version. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/pages.h"
#include "glovebox.h"

#define WIDTH       80
#define HELP_COLUMN 28

const struct exit_meaning exit_meanings[] = {
    { "N", "the program's own exit status" },
    { "2", "the command line or the configuration is wrong" },
    { "124", "the program was stopped after --timeout" },
    { "125", "glovebox itself failed; the message on standard error says why" },
    { "126", "the code was rejected before it ran" },
    { "128+N", "signal N ended the program (137 for a limit), or glovebox itself" },
    { NULL, NULL },
};

/* Print words from column `at` on, broken before WIDTH, further lines indented to `indent`. */
static void print_wrapped(FILE *f, const char *words, int at, int indent)
{
    bool is_first = true;

    while (*words) {
        int len = (int)strcspn(words, " \n");

        if (!is_first && at + 1 + len > WIDTH) {
            fprintf(f, "\n%*s", indent, "");
            at = indent;
        } else if (!is_first) {
            fputc(' ', f);
            at++;
        }
        fprintf(f, "%.*s", len, words);
        at += len;
        is_first = false;

        words += len;
        if (*words == '\n') {
            fprintf(f, "\n\n%*s", indent, "");
            at = indent;
            is_first = true;
        }
        words += strspn(words, " \n");
    }
    fputc('\n', f);
}

static void print_option(FILE *f, const struct option_spec *o)
{
    auto_free char *help = NULL;
    int at = 0;

    if (!o->help)
        return;
    if (o->letter)
        at = fprintf(f, "  -%c, --%s", o->letter, o->name);
    else
        at = fprintf(f, "      --%s", o->name);
    if (o->value)
        at += fprintf(f, " %s", o->value);

    if (at > HELP_COLUMN - 2) {
        fputc('\n', f);
        at = 0;
    }
    fprintf(f, "%*s", HELP_COLUMN - at, "");
    if (o->fallback && asprintf(&help, "%s (default: %s)", o->help, o->fallback) < 0)
        help = NULL;
    print_wrapped(f, help ? help : o->help, HELP_COLUMN, HELP_COLUMN);
}

static void print_command(FILE *f, const struct command *c)
{
    fprintf(f, "Usage: glovebox %s %s\n\n", c->name, c->operands);
    print_wrapped(f, c->description, 0, 0);
    for (const struct option_group *const *g = c->groups; *g; g++) {
        if (!(*g)->title)
            continue;
        fprintf(f, "\n%s:\n", (*g)->title);
        for (size_t i = 0; i < (*g)->count; i++)
            print_option(f, &(*g)->options[i]);
    }
}

static void print_program(FILE *f)
{
    fputs("Usage: glovebox COMMAND [OPTIONS]\n\n", f);
    print_wrapped(f,
                  "Runs code that a model wrote: checked before it starts, held by the kernel "
                  "while it runs, accounted for afterwards.",
                  0, 0);
    fputs("\nCommands:\n", f);
    for (const struct command *const *c = commands; *c; c++)
        fprintf(f, "  %-12s  %s\n", (*c)->name, (*c)->summary);

    fputs("\nExit status:\n", f);
    for (const struct exit_meaning *e = exit_meanings; e->meaning; e++)
        fprintf(f, "  %-12s  %s\n", e->status, e->meaning);
    fputc('\n', f);
    print_wrapped(
        f,
        "'glovebox COMMAND --help' lists the options of a command, 'glovebox --version' "
        "prints the version, 'glovebox help --man' the manual page. A ./glovebox.json may "
        "lower the timeout and limits, and nothing else; --config FILE is trusted with "
        "everything.",
        0, 0);
}

int help_print(const struct command *command)
{
    struct text t;

    if (text_open(&t) < 0)
        return CLI_FAILED;
    if (command)
        print_command(t.stream, command);
    else
        print_program(t.stream);
    return text_finish(&t, CLI_OK);
}

int cli_refuse(const struct command *command, const struct gb_err *err)
{
    bool has_own_help = command && command != &cmd_help;

    message_err(err);
    if (err->code == GB_E_INVALID)
        message("try 'glovebox %s%s--help'", has_own_help ? command->name : "",
                has_own_help ? " " : "");
    return CLI_USAGE;
}

/* What is asked for by option: one text on standard output. */
static int print_page(const struct args *args)
{
    struct text t;

    if (text_open(&t) < 0)
        return CLI_FAILED;
    if (args->want_version)
        fprintf(t.stream, "glovebox %s\n", gb_version());
    else if (args->want_man)
        page_manual(t.stream);
    else
        page_completion(t.stream, args->completion);
    return text_finish(&t, CLI_OK);
}

static int help_main(const struct args *args)
{
    const struct operands *given = &args->operands;
    const struct command *command = NULL;
    struct gb_err err;

    if (args->want_version || args->want_man || args->completion)
        return print_page(args);
    if (given->count > 1 || given->rest[0]) {
        gb_err_set(&err, GB_E_INVALID, 0, "unexpected argument '%.80s'",
                   given->count > 1 ? given->words[1] : given->rest[0]);
        return cli_refuse(args->command, &err);
    }
    if (given->count == 1) {
        command = command_find(given->words[0], &err);
        if (!command)
            return cli_refuse(args->command, &err);
    }
    return help_print(command);
}

static const struct option_spec general[] = {
    { 'h', "help", OPT_FLAG, offsetof(struct args, want_help), NULL, "print this help", NULL },
};
const struct option_group general_options = { "General", general, ARRAY_LEN(general) };

static const struct option_spec help[] = {
    { 0, "version", OPT_FLAG, offsetof(struct args, want_version), NULL, "print the version",
      NULL },
    { 0, "man", OPT_FLAG, offsetof(struct args, want_man), NULL,
      "print the manual page, for man -l", NULL },
    { 0, "completion", OPT_CHOICE, offsetof(struct args, completion), "bash|zsh|fish",
      "print the completion for this shell", NULL },
};
static const struct option_group help_options = { "Options", help, ARRAY_LEN(help) };

static const struct option_group *const groups[] = { &help_options, &general_options, NULL };

const struct command cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "how to use a command",
    .description = "Prints the options of COMMAND, or the list of commands.",
    .groups = groups,
    .run = help_main,
};
