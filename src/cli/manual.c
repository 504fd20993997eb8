/* glovebox(1), from the tables of commands and options. */
#include "base/own.h"
#include "cli/cli.h"
#include "cli/pages.h"
#include "glovebox.h"

/* Text as roff: no character of it may be taken for a request or an escape. */
static void put(FILE *f, const char *text)
{
    bool is_line_start = true;

    for (; *text; text++) {
        if (is_line_start && (*text == '.' || *text == '\''))
            fputs("\\&", f);
        is_line_start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", f);
        else if (*text == '-')
            fputs("\\-", f);
        else if (*text == '\n')
            fputs("\n.IP\n", f);
        else
            fputc(*text, f);
    }
}

/* A paragraph of its own. */
static void put_line(FILE *f, const char *text)
{
    put(f, text);
    fputc('\n', f);
}

static void put_bold(FILE *f, const char *prefix, const char *text)
{
    fputs("\\fB", f);
    put(f, prefix);
    put(f, text);
    fputs("\\fR", f);
}

/* What is typed as it stands is bold, what stands for something else is italic. */
static void put_value(FILE *f, const struct option_spec *o)
{
    fputs(option_has(o, OPT_IS_CHOICE) ? " \\fB" : " \\fI", f);
    put(f, o->value);
    fputs("\\fR", f);
}

static void put_option(FILE *f, const struct option_spec *o)
{
    const char letter[] = { o->letter, '\0' };

    if (!o->help)
        return;
    fputs(".TP\n", f);
    if (o->letter) {
        put_bold(f, "-", letter);
        fputs(", ", f);
    }
    put_bold(f, "--", o->name);
    if (o->value)
        put_value(f, o);
    fputc('\n', f);
    put(f, o->help);
    if (o->fallback) {
        fputs(" (default: ", f);
        put(f, o->fallback);
        fputc(')', f);
    }
    fputs(".\n", f);
}

static bool is_listed_before(const struct option_group *group, const struct command *end)
{
    for (const struct command *const *c = commands; *c != end; c++) {
        for (const struct option_group *const *g = (*c)->groups; *g; g++) {
            if (*g == group)
                return true;
        }
    }
    return false;
}

/* Each group once, under the names of the commands that have it. */
static void put_group(FILE *f, const struct option_group *group)
{
    const char *separator = "";

    fputs(".SS ", f);
    put(f, group->title);
    fputs(" (", f);
    for (const struct command *const *c = commands; *c; c++) {
        for (const struct option_group *const *g = (*c)->groups; *g; g++) {
            if (*g != group)
                continue;
            fprintf(f, "%s%s", separator, (*c)->name);
            separator = ", ";
        }
    }
    fputs(")\n", f);
    for (size_t i = 0; i < group->count; i++)
        put_option(f, &group->options[i]);
}

static void put_commands(FILE *f)
{
    fputs(".SH COMMANDS\n", f);
    for (const struct command *const *c = commands; *c; c++) {
        fputs(".TP\n\\fBglovebox ", f);
        fprintf(f, "%s\\fR ", (*c)->name);
        put_line(f, (*c)->operands);
        put_line(f, (*c)->description);
    }
}

static void put_options(FILE *f)
{
    fputs(".SH OPTIONS\n"
          "Options and operands may be mixed; \\fB\\-\\-\\fR ends the options. A value follows "
          "as the next word, or after \\(lq=\\(rq (\\fB\\-\\-timeout=5\\fR). Sizes are bytes and "
          "take K, M or G.\n",
          f);
    for (const struct command *const *c = commands; *c; c++) {
        for (const struct option_group *const *g = (*c)->groups; *g; g++) {
            if ((*g)->title && !is_listed_before(*g, *c))
                put_group(f, *g);
        }
    }
}

static const struct {
    const char *file;
    const char *meaning;
} files[] = {
    { "./glovebox.json",
      "may lower the timeout and limits of your own configuration, unless --config is given. Since "
      "it may be anybody's, nothing else in it counts; a warning names the keys that do not. Name "
      "the file with --config if you trust it" },
    { "$XDG_CONFIG_HOME/glovebox/config.json, ~/.config/glovebox/config.json",
      "configuration, unless --config names another" },
    { "$XDG_STATE_HOME/glovebox/token, ~/.local/state/glovebox/token",
      "what clients of \"glovebox serve\" must show; made when it is first started" },
    { "$XDG_STATE_HOME/glovebox/repl_history, shell_history", "what was typed at the two prompts" },
};

static const struct {
    const char *name;
    const char *meaning;
} variables[] = {
    { "GLOVEBOX_REVIEW_KEY",
      "the key for the endpoint of --review, sent to it and to nobody else" },
    { "GLOVEBOX_SHELL", "which shell commands run in, unless --shell names another" },
    { "XDG_CONFIG_HOME, XDG_STATE_HOME, HOME",
      "where your own configuration is, and where tokens and histories are kept" },
    { "PATH", "where python3 is looked for, unless --python names another" },
    { "NO_COLOR, TERM", "whether what is found in code is colored on a terminal" },
};

static const struct {
    const char *command;
    const char *meaning;
} examples[] = {
    { "glovebox run -c 'print(6 * 7)'", "Run a line of Python." },
    { "glovebox run --timeout 5 --memory 256M job.py -- --verbose",
      "Run a file under tighter limits, with an argument." },
    { "glovebox run --json --input 'n=41' -c 'n + 1'",
      "Bind a variable and get the value of the last expression in a result object." },
    { "glovebox check --policy strict *.py", "See what a policy would refuse; run nothing." },
    { "glovebox run --approve ask job.py",
      "Be asked, with the code on the terminal, before it runs." },
    { "GLOVEBOX_REVIEW_KEY=... glovebox run --review https://host/v1 --review-model NAME job.py",
      "Have a model read it first." },
    { "glovebox run --audit audit.jsonl job.py && glovebox audit verify audit.jsonl",
      "Keep a record, and see that nobody has changed it." },
    { "glovebox batch -j 4 requests.jsonl > results.jsonl", "Answer a file of requests." },
    { "glovebox shell -m .:src:rw -c 'make -C /mnt/src'",
      "Run a command that may change the directory that you are in." },
    { "glovebox shell", "Keep a shell, with its directory, variables and jobs; :help for help." },
    { "glovebox mcp --print-config claude", "Print what to paste into an agent's configuration." },
    { "glovebox serve --listen 8400", "Serve agents and programs on this machine, over HTTP." },
    { "glovebox doctor", "See what holds a box on this host." },
    { "glovebox --version; glovebox help --man",
      "The version; and this page, as it is installed." },
};

static void put_variables(FILE *f)
{
    fputs(".SH ENVIRONMENT\n"
          "None of it is seen by the program that runs, unless \\fB\\-\\-env\\fR copies it. A "
          "program finds\n"
          "GLOVEBOX_MNT where there are mounts: the directory that they are in. The command of a\n"
          "tool finds GLOVEBOX_TOOL: the tool's name.\n",
          f);
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        fputs(".TP\n", f);
        put_bold(f, "", variables[i].name);
        fputc('\n', f);
        put(f, variables[i].meaning);
        fputs(".\n", f);
    }
}

void page_manual(FILE *f)
{
    fprintf(f, ".TH GLOVEBOX 1 \"\" \"glovebox %s\" \"User Commands\"\n", gb_version());
    fputs(".SH NAME\nglovebox \\- run model\\-written code in a box that the kernel holds shut\n"
          ".SH SYNOPSIS\n",
          f);
    for (const struct command *const *c = commands; *c; c++) {
        fprintf(f, "\\fBglovebox %s\\fR ", (*c)->name);
        put_line(f, (*c)->operands);
        fputs(".br\n", f);
    }
    fputs(".SH DESCRIPTION\n"
          "Runs code that a model wrote: checked before it starts, held by the kernel while it "
          "runs, accounted for afterwards. The code sees a private, read\\-only system, an empty "
          "workspace and no network.\n",
          f);
    put_commands(f);
    put_options(f);

    fputs(".SH EXIT STATUS\n", f);
    for (const struct exit_meaning *e = exit_meanings; e->meaning; e++)
        fprintf(f, ".TP\n\\fB%s\\fR\n%s.\n", e->status, e->meaning);
    fputs(
        ".PP\n\\fBglovebox check\\fR exits with 0 when all is accepted, with 126 when something is "
        "rejected, with 125 when a file could not be checked. \\fBglovebox audit verify\\fR exits "
        "with 0 when every file is intact, with 1 when one is not, with 125 when one cannot be "
        "read.\n",
        f);
    put_variables(f);
    fputs(".SH FILES\n"
          "A configuration is a JSON object with the names of the options, \\(lq_\\(rq in place of "
          "\\(lq\\-\\(rq. The command line wins.\n",
          f);
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        fputs(".TP\n", f);
        put_bold(f, "", files[i].file);
        fputc('\n', f);
        put(f, files[i].meaning);
        fputs(".\n", f);
    }
    fputs(".SH EXAMPLES\n", f);
    for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
        fputs(".TP\n", f);
        put_bold(f, "", examples[i].command);
        fputc('\n', f);
        put_line(f, examples[i].meaning);
    }
}
