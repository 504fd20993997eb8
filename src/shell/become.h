#pragma once
/*
 * How a guest becomes a shell. What it is to run is made ready while the process is still ours, so
 * that whatever is wrong with it can be told; then nothing is left but to execute it.
 */
#include <jansson.h>

#include "base/err.h"

struct shell_ready {
    char *program;
    json_t *argv_json, *env_json; /* what the pointers below point into */
    char **argv, **env;
};

/* From the request: "code" (the command), "shell" (words), "argv", "env", "workdir", "dialect".
 * Enters the working directory. */
int shell_prepare(const json_t *request, struct shell_ready *ret, struct gb_err *err) gb_nodiscard;

/* Keep nothing of ours but the three standard streams, and go. Does not return: one that cannot be
 * executed says so on standard error and ends with 126, as a shell would. */
_Noreturn void shell_go(const struct shell_ready *ready);
