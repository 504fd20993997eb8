#pragma once
/* What a program can find out about its tools, where there are too many to list. */
#include <jansson.h>
#include <stdio.h>

#include "base/err.h"
#include "engine/tools.h"

/* Answer a tool about tools, for a program that has `set`. New; NULL with err. */
json_t *discover_answer(const struct toolset *set, const struct tool *tool, const json_t *args,
                        struct gb_err *err);
