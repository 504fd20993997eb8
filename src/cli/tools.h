#pragma once
/* Tools on the command line: --tool, --tools, and the configuration's own. */
#include <jansson.h>

#include "cli/cli.h"

extern const struct option_group tool_options;

/* Put the tools of the configuration file, of --tools and of --tool together in `config`; of one
 * name, the last counts. All of them must have a command: a command line has nobody else to
 * answer. */
int tools_gather(const struct args *args, json_t *config, struct gb_err *err) gb_nodiscard;
