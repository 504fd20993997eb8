/* Shell completion, from the tables of commands and options. */
#include <string.h>

#include "base/own.h"
#include "cli/cli.h"
#include "cli/pages.h"

typedef void option_printer(FILE *f, const struct command *c, const struct option_spec *o);

static void each_option(FILE *f, const struct command *c, option_printer *print)
{
    for (const struct option_group *const *g = c->groups; *g; g++) {
        for (size_t i = 0; i < (*g)->count; i++) {
            if ((*g)->options[i].help)
                print(f, c, &(*g)->options[i]);
        }
    }
}

/* Is the value, or are the operands, a file? They say so in capitals. */
static bool wants_file(const char *value)
{
    return strstr(value, "FILE") || strstr(value, "PATH");
}

static bool wants_command(const char *operands)
{
    return strstr(operands, "COMMAND");
}

static void put_commands(FILE *f)
{
    for (const struct command *const *c = commands; *c; c++)
        fprintf(f, "%s%s", c == commands ? "" : " ", (*c)->name);
}

/* "a|b|c" with another separator. */
static void put_choices(FILE *f, const char *choices, char separator)
{
    for (; *choices; choices++)
        fputc(*choices == '|' ? separator : *choices, f);
}

/* Text inside single quotes of a shell, without the characters in `drop`. */
static void put_quoted(FILE *f, const char *text, const char *drop)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", f);
        else if (!strchr(drop, *text))
            fputc(*text, f);
    }
}

static void bash_names(FILE *f, const struct command *c, const struct option_spec *o)
{
    (void)c;
    if (o->letter)
        fprintf(f, " -%c", o->letter);
    fprintf(f, " --%s", o->name);
}

/* One branch for the word before the cursor: what its value can be. */
static void bash_value(FILE *f, const struct command *c, const struct option_spec *o)
{
    if (!o->value)
        return;
    fprintf(f, "        %s:--%s", c->name, o->name);
    if (o->letter)
        fprintf(f, "|%s:-%c", c->name, o->letter);
    fputs(") ", f);
    if (option_has(o, OPT_IS_CHOICE)) {
        fputs("COMPREPLY=($(compgen -W '", f);
        put_choices(f, o->value, ' ');
        fputs("' -- \"$word\")); return ;;\n", f);
    } else if (wants_file(o->value)) {
        fputs("compopt -o default; return ;;\n", f);
    } else {
        fputs("return ;;\n", f);
    }
}

/* What stands where the operands of a command go. */
static void bash_operands(FILE *f, const struct command *c)
{
    if (wants_file(c->operands)) {
        fprintf(f, "        %s:*) compopt -o default ;;\n", c->name);
    } else if (wants_command(c->operands)) {
        fprintf(f, "        %s:*) COMPREPLY=($(compgen -W '", c->name);
        put_commands(f);
        fputs("' -- \"$word\")) ;;\n", f);
    }
}

static void put_bash(FILE *f)
{
    /* Readline cuts "--name=value" into three words. */
    fputs("# bash completion for glovebox\n"
          "_glovebox() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]}\n"
          "    if [ \"$word\" = = ]; then\n"
          "        word=\n"
          "    elif [ \"$before\" = = ]; then\n"
          "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    fi\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          f);
    put_commands(f);
    fputs(" --help --version' -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case $command:$before in\n",
          f);
    for (const struct command *const *c = commands; *c; c++)
        each_option(f, *c, bash_value);
    fputs("    esac\n"
          "    case $command:$word in\n",
          f);
    for (const struct command *const *c = commands; *c; c++) {
        fprintf(f, "        %s:-*) COMPREPLY=($(compgen -W '", (*c)->name);
        each_option(f, *c, bash_names);
        fputs("' -- \"$word\")) ;;\n", f);
        bash_operands(f, *c);
    }
    fputs("    esac\n"
          "}\n"
          "complete -F _glovebox glovebox\n",
          f);
}

static void zsh_option(FILE *f, const struct command *c, const struct option_spec *o)
{
    const char *star = option_has(o, OPT_REPEATS) ? "*" : "";

    (void)c;
    if (o->letter && *star)
        fprintf(f, "                '*'{-%c+,--%s=}'", o->letter, o->name);
    else if (o->letter)
        fprintf(f, "                '(-%c --%s)'{-%c%s,--%s%s}'", o->letter, o->name, o->letter,
                o->value ? "+" : "", o->name, o->value ? "=" : "");
    else
        fprintf(f, "                '%s--%s%s", star, o->name, o->value ? "=" : "");
    fputc('[', f);
    put_quoted(f, o->help, "[]:");
    fputc(']', f);
    if (option_has(o, OPT_IS_CHOICE)) {
        fputs(":value:(", f);
        put_choices(f, o->value, ' ');
        fputc(')', f);
    } else if (o->value) {
        fputs(":value:", f);
        fputs(wants_file(o->value) ? "_files" : " ", f);
    }
    fputs("' \\\n", f);
}

static void zsh_operands(FILE *f, const struct command *c)
{
    if (wants_command(c->operands)) {
        fputc('(', f);
        put_commands(f);
        fputc(')', f);
    } else {
        fputs(wants_file(c->operands) ? "_files" : " ", f);
    }
}

static void put_zsh(FILE *f)
{
    fputs("#compdef glovebox\n"
          "_glovebox() {\n"
          "    local -a names\n"
          "    if (( CURRENT == 2 )); then\n"
          "        names=(\n",
          f);
    for (const struct command *const *c = commands; *c; c++) {
        fprintf(f, "            '%s:", (*c)->name);
        put_quoted(f, (*c)->summary, ":");
        fputs("'\n", f);
    }
    fputs("        )\n"
          "        _describe command names\n"
          "        return\n"
          "    fi\n"
          "    local name=$words[2]\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $name in\n",
          f);
    for (const struct command *const *c = commands; *c; c++) {
        fprintf(f, "        %s)\n            _arguments -S \\\n", (*c)->name);
        each_option(f, *c, zsh_option);
        fputs("                '*:argument:", f);
        zsh_operands(f, *c);
        fputs("'\n            ;;\n", f);
    }
    fputs("    esac\n"
          "}\n"
          "_glovebox \"$@\"\n",
          f);
}

static void fish_option(FILE *f, const struct command *c, const struct option_spec *o)
{
    fprintf(f, "complete -c glovebox -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
    if (o->letter)
        fprintf(f, " -s %c", o->letter);
    if (option_has(o, OPT_IS_CHOICE)) {
        fputs(" -x -a '", f);
        put_choices(f, o->value, ' ');
        fputc('\'', f);
    } else if (o->value) {
        fputs(wants_file(o->value) ? " -r -F" : " -x", f);
    }
    fputs(" -d \"", f);
    for (const char *t = o->help; *t; t++) {
        if (strchr("\"\\$", *t))
            fputc('\\', f);
        fputc(*t, f);
    }
    fputs("\"\n", f);
}

static void put_fish(FILE *f)
{
    fputs("# fish completion for glovebox\ncomplete -c glovebox -f\n", f);
    for (const struct command *const *c = commands; *c; c++) {
        fprintf(f, "complete -c glovebox -n __fish_use_subcommand -a %s -d '%s'\n", (*c)->name,
                (*c)->summary);
        if (wants_file((*c)->operands) || wants_command((*c)->operands))
            fprintf(f, "complete -c glovebox -n '__fish_seen_subcommand_from %s'", (*c)->name);
        if (wants_file((*c)->operands))
            fputs(" -F\n", f);
        if (wants_command((*c)->operands)) {
            fputs(" -a '", f);
            put_commands(f);
            fputs("'\n", f);
        }
        each_option(f, *c, fish_option);
    }
}

static const struct {
    const char *shell;
    void (*print)(FILE *f);
} shells[] = { { "bash", put_bash }, { "zsh", put_zsh }, { "fish", put_fish } };

void page_completion(FILE *f, const char *shell)
{
    for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
        if (strcmp(shells[i].shell, shell) == 0)
            shells[i].print(f);
    }
}
