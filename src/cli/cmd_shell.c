/* `glovebox shell`: one command in a shell and a box of its own, a shell that stays (prompt.c), or
 * a probe. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/prompt.h"
#include "cli/report.h"
#include "cli/settings.h"
#include "glovebox.h"

/* NAME[,NAME] as a list. */
static json_t *names_in(const char *text)
{
    json_t *list = json_array();

    for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") > 0)
            json_array_append_new(list, json_stringn(at, strcspn(at, ",")));
    return list;
}

static int print_probe(const struct args *args, const char *text)
{
    int status = CLI_FAILED;
    json_auto_t *answer = report_parse(text, args->want_json, &status);
    struct text t;

    if (!answer)
        return status;
    status = report_exit_code(answer);
    if (status != CLI_OK && !args->want_json) {
        report_result(answer, &(struct report){ .filename = "probe" });
        return status;
    }
    if (text_open(&t) < 0)
        return CLI_FAILED;
    if (args->want_json)
        fprintf(t.stream, "%s\n", text);
    else
        fputs(json_string_at(answer, "text", ""), t.stream);
    return text_finish(&t, status);
}

static int probe(const struct args *args)
{
    json_auto_t *config = NULL;
    json_auto_t *error = NULL;
    json_auto_t *options = json_object();
    auto_engine struct gb_engine *engine = NULL;
    auto_free char *asked = NULL, *text = NULL;
    struct gb_err err;

    if (settings_load(args, &config, &err) < 0)
        return cli_refuse(args->command, &err);
    if (args->probe_names)
        (void)json_object_set_new(options, "tools", names_in(args->probe_names));
    asked = json_dumps(options, JSON_COMPACT);
    if (!asked || json_object_set_new(config, "oneshot", json_true()) < 0 ||
        engine_open_plain(args, config, &engine, &error) < 0)
        return report_refused(error, args->want_json);
    text = gb_probe(engine, asked);
    return print_probe(args, text);
}

/* ---- a command line that is not ours ---- */

/* Add a word behind the others; false: there is no room, or it cannot stand in single quotes. */
static bool add_word(char *text, size_t size, const char *word)
{
    size_t len = strlen(text);

    if (strchr(word, '\'') || len + strlen(word) + 2 > size)
        return false;
    (void)snprintf(text + len, size - len, "%s%s", len > 0 ? " " : "", word);
    return true;
}

/* 'glovebox shell ls -la', as one would type it at other programs: what was meant, as one word. */
static void shell_advise(const struct args *args, struct gb_err *err)
{
    const struct operands *given = &args->operands;
    char text[120] = "";
    bool fits = !args->code || add_word(text, sizeof(text), args->code);

    if (strstr(err->msg, "did you mean") || (given->count == 0 && !args->code))
        return;
    if (args->code && strpbrk(args->code, " \n")) /* it is whole already */
        fits = false;
    for (size_t i = 0; fits && i < given->count; i++)
        fits = add_word(text, sizeof(text), given->words[i]);
    for (char **word = given->rest; fits && *word; word++)
        fits = add_word(text, sizeof(text), *word);
    if (fits)
        gb_err_hint(err, "did you mean -c '%s'? The command is one word", text);
    else
        gb_err_hint(err, "the command is one word: -c 'ls -l'; what is $1 to it goes after '--'");
}

static int shell_main(const struct args *args)
{
    struct gb_err err;

    if (args->operands.count > 0) {
        gb_err_set(&err, GB_E_INVALID, 0, "unexpected argument '%.80s'", args->operands.words[0]);
        shell_advise(args, &err);
        return cli_refuse(args->command, &err);
    }
    if (args->code && json_is_true(json_object_get(args->config, "pty"))) {
        gb_err_set(&err, GB_E_INVALID, 0, "--pty is for a shell that stays");
        gb_err_hint(&err, "leave out --command, and type it at the prompt");
        return cli_refuse(args->command, &err);
    }
    if (args->want_probe || (args->probe_names && !args->code))
        return probe(args);
    if (args->code || args->want_explain)
        return run_once(args);
    if (args->stdin_path || json_array_size(args->files) > 0) {
        gb_err_set(&err, GB_E_INVALID, 0, "--stdin and --file go with --command");
        gb_err_hint(&err, "a shell that stays reads its commands from standard input; "
                          "'-m DIR:NAME' shows it files");
        return cli_refuse(args->command, &err);
    }
    return prompt_main(args);
}

#define CONFIG offsetof(struct args, config)

static const struct option_spec command[] = {
    { 'c', "command", OPT_TEXT_ONCE, offsetof(struct args, code), "COMMAND",
      "what the shell is to run; words after '--' are its arguments, $1 and so on", NULL },
    { 0, "stdin", OPT_TEXT, offsetof(struct args, stdin_path), "FILE|-",
      "what the command reads as standard input", "nothing" },
    { 0, "file", OPT_STRINGS, offsetof(struct args, files), "PATH[:NAME]",
      "copy the file PATH into the workspace, as NAME; repeatable", NULL },
    { 'o', "out", OPT_KEY_TEXT, CONFIG, "DIR",
      "write the files that the command made or changed in its workspace to DIR", "not written" },
    { 0, "probe", OPT_FLAG, offsetof(struct args, want_probe), NULL,
      "instead of a command: say which shell there is in the box, where it starts, and which "
      "programs it finds, as text for a model, or with --json",
      NULL },
    { 0, "probe-tools", OPT_TEXT, offsetof(struct args, probe_names), "NAME[,NAME]",
      "which programs --probe asks for their version", "git,node,python,python3,docker" },
    { 'j', "json", OPT_FLAG, offsetof(struct args, want_json), NULL,
      "print one result object and nothing else", NULL },
    { 0, "explain", OPT_FLAG, offsetof(struct args, want_explain), NULL,
      "print the resolved plan, run nothing", NULL },
};
static const struct option_group command_options = { "Command", command, ARRAY_LEN(command) };

static const struct option_spec shell[] = {
    { 0, "shell", OPT_KEY_TEXT, CONFIG, "SHELL",
      "which shell, with its own arguments if it needs any", "GLOVEBOX_SHELL, else bash, else sh" },
    { 0, "workdir", OPT_KEY_TEXT, CONFIG, "DIR",
      "the directory of the box that a command starts in", "the workspace" },
    { 0, "confine-workdir", OPT_KEY_CHOICE, CONFIG, "yes|no",
      "in a session: each command begins in the directory of --workdir, and not where the one "
      "before "
      "it went",
      "yes" },
    { 0, "pty", OPT_KEY_FLAG, CONFIG, NULL,
      "in a session: commands have a terminal; one that waits for input is told of", NULL },
    { 0, "clean-env", OPT_KEY_FLAG, CONFIG, NULL,
      "no variables but PATH, HOME, TMPDIR and those of --env", NULL },
    { 0, "unset-env", OPT_KEY_LIST, CONFIG, "NAME[,NAME]", "leave this variable out; repeatable",
      NULL },
    { 0, "raw", OPT_KEY_FLAG, CONFIG, NULL,
      "leave colours and progress bars in the result as they were printed, and pass all that "
      "commands print to a terminal",
      NULL },
};
const struct option_group shell_options = { "Shell", shell, ARRAY_LEN(shell) };

static const struct option_spec rules[] = {
    { 0, "deny", OPT_KEY_STRINGS, CONFIG, "PATTERN",
      "refuse a command that this regular expression matches somewhere; repeatable. These rules "
      "are for convenience: what holds a command is its box",
      NULL },
    { 0, "deny-preset", OPT_KEY_LIST, CONFIG, "NAME[,NAME]",
      "the same with patterns that are there: destructive, network, privileges; repeatable", NULL },
    { 0, "allow", OPT_KEY_STRINGS, CONFIG, "PATTERN",
      "refuse a command that none of these matches; repeatable", NULL },
    { 0, "allow-command", OPT_KEY_LIST, CONFIG, "NAME[,NAME]",
      "refuse what runs any other command, in any part of it, and what cannot be read; repeatable",
      NULL },
};
const struct option_group command_rule_options = { "Rules for commands", rules, ARRAY_LEN(rules) };

static const struct option_spec spill[] = {
    { 0, "spill", OPT_KEY_TEXT, CONFIG, "DIR", "keep the whole of both streams in files in DIR",
      "not kept" },
    { 0, "spill-limit", OPT_KEY_SIZE, CONFIG, "SIZE", "bytes that such a file may have", "64M" },
};
const struct option_group spill_options = { "Whole output", spill, ARRAY_LEN(spill) };

static const struct option_group *const groups[] = { &command_options,
                                                     &shell_options,
                                                     &command_rule_options,
                                                     &mount_options,
                                                     &capture_options,
                                                     &spill_options,
                                                     &limit_options,
                                                     &consent_options,
                                                     &box_options,
                                                     &audit_options,
                                                     &config_options,
                                                     &general_options,
                                                     NULL };

const struct command cmd_shell = {
    .name = "shell",
    .operands = "[OPTIONS] [-c COMMAND] [-- ARG...]",
    .summary = "run a shell command in a fresh box, or many in one that stays",
    .description =
        "Runs COMMAND in a shell of its own, in a box of its own that is gone afterwards. What it "
        "prints appears as it comes, and its exit status becomes that of glovebox. It is over when "
        "the shell is: what it left in the background is named and ended.\n"
        "Without a command, a shell that stays reads commands from standard input: its directory, "
        "variables, functions, options and jobs live on from one to the next. On a terminal with "
        "editing and history; from a pipe the exit status is that of the last command. Ctrl-C ends "
        "a "
        "command and not the shell. Lines that begin with a colon are about its jobs and itself: "
        ":jobs, :read, :kill, :reset, :help.",
    .groups = groups,
    .run = shell_main,
    .advise = shell_advise,
};
