/* `glovebox instructions`: the text that tells a model how to use what is configured. */
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/report.h"
#include "cli/servers.h"
#include "cli/settings.h"
#include "cli/tools.h"
#include "glovebox.h"

static int instructions_main(const struct args *args)
{
    json_auto_t *config = NULL;
    json_auto_t *error = NULL;
    auto_engine struct gb_engine *engine = NULL;
    auto_downstream struct downstream *servers = NULL;
    auto_free char *instructions = NULL, *shell = NULL;
    struct gb_err err;
    struct text t;

    if (args->operands.count > 0 || args->operands.rest[0]) {
        gb_err_set(&err, GB_E_INVALID, 0, "instructions takes no arguments");
        return cli_refuse(args->command, &err);
    }
    if (settings_load(args, &config, &err) < 0)
        return cli_refuse(args->command, &err);
    if (json_object_set_new(config, "oneshot", json_true()) < 0 ||
        engine_open_plain(args, config, &engine, &error) < 0)
        return report_refused(error, false);
    if (downstream_open(config, engine, &servers, &err) < 0)
        return report_err(&err, false);
    instructions = gb_instructions(engine, NULL);
    shell = gb_instructions(engine, "{\"kind\":\"shell\"}");
    if (!instructions || !shell || text_open(&t) < 0)
        return report_refused(NULL, false);
    fprintf(t.stream, "%s\n%s", instructions, shell);
    return text_finish(&t, CLI_OK);
}

static const struct option_group *const groups[] = {
    &mount_options, &capture_options,      &tool_options,    &limit_options,
    &shell_options, &command_rule_options, &policy_options,  &consent_options,
    &box_options,   &config_options,       &general_options, NULL
};

const struct command cmd_instructions = {
    .name = "instructions",
    .operands = "[OPTIONS]",
    .summary = "what to tell a model of writing programs and commands",
    .description =
        "Prints what a model should know to use 'run' and 'shell' as the options and the "
        "configuration have it: the tools with their signatures, the files, the limits, "
        "and what is not possible. Runs nothing.",
    .groups = groups,
    .run = instructions_main,
};
