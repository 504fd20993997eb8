#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/io.h"

const struct command *const commands[] = { &cmd_run,    &cmd_shell,        &cmd_check, &cmd_batch,
                                           &cmd_repl,   &cmd_mcp,          &cmd_serve, &cmd_audit,
                                           &cmd_doctor, &cmd_instructions, &cmd_help,  NULL };

const struct command *command_find(const char *name, struct gb_err *err)
{
    struct suggestion near = { .typed = name, .typed_len = strlen(name) };

    for (const struct command *const *c = commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0)
            return *c;
        suggestion_offer(&near, (*c)->name);
    }

    gb_err_set(err, GB_E_INVALID, 0, "unknown command '%.80s'%s%s%s", name,
               near.best ? " (did you mean '" : "", near.best ? near.best : "",
               near.best ? "'?)" : "");
    if (access(name, R_OK) == 0)
        gb_err_hint(err, "'glovebox run %.80s' runs it", name);
    return NULL;
}

static int dispatch(const struct command *command, char **argv)
{
    json_auto_t *config = json_object();
    json_auto_t *inputs = json_object();
    json_auto_t *tools = json_array();
    json_auto_t *files = json_array();
    json_auto_t *serve = json_object();
    struct args args = { .command = command,
                         .config = config,
                         .inputs = inputs,
                         .tools = tools,
                         .files = files,
                         .serve = serve };
    struct gb_err err;

    if (options_parse(command->groups, argv, &args, &args.operands, &err) < 0) {
        if (command->advise)
            command->advise(&args, &err);
        return cli_refuse(command, &err);
    }
    if (args.want_help && command != &cmd_help)
        return help_print(command);
    return command->run(&args);
}

/* "glovebox --version" is "glovebox help --version". "glovebox -c CODE" is meant for 'run'. */
static int dispatch_options(char **argv)
{
    struct gb_err err;

    if (strcmp(argv[0], "-c") != 0)
        return dispatch(&cmd_help, argv);
    gb_err_set(&err, GB_E_INVALID, 0, "no command given");
    gb_err_hint(&err, "'glovebox run -c CODE' runs Python, 'glovebox shell -c COMMAND' a command");
    return cli_refuse(NULL, &err);
}

int main(int argc, char **argv)
{
    const struct command *command = NULL;
    struct gb_err err;

    io_ensure_standard();
    if (argc < 2) {
        gb_err_set(&err, GB_E_INVALID, 0, "no command given");
        return cli_refuse(NULL, &err);
    }
    if (argv[1][0] == '-')
        return dispatch_options(argv + 1);

    command = command_find(argv[1], &err);
    if (!command)
        return cli_refuse(NULL, &err);
    return dispatch(command, argv + 2);
}
