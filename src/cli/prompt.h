#pragma once
/* `glovebox shell` without a command: a shell that stays, whose commands are read from standard
 * input. */
#include "cli/cli.h"

/* Returns the exit status. */
int prompt_main(const struct args *args);
