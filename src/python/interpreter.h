#pragma once
/* The user's interpreter: finding it and starting it as a zygote. */
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* Find the interpreter that `wanted` names: a path, or a name looked for on PATH (NULL: python3).
 * A script (a version manager's shim) is asked once which interpreter it would start. The caller
 * frees *ret. */
int interpreter_find(const char *wanted, char **ret, struct gb_err *err) gb_nodiscard;

struct interpreter_spec {
    const char *path;
    const char *extension_dir; /* where _glovebox.abi3.so is */
    const json_t *preload;     /* array of module names, or NULL */
    const json_t *env;         /* object of strings: the guest's environment */
    bool warm;                 /* prepare for many boxes */
};

/* Start it. On success the caller owns the process, the pidfd, the zygote's socket and a pipe
 * with what it writes to standard error. */
int interpreter_start(const struct interpreter_spec *spec, pid_t *ret_pid, int *ret_pidfd,
                      int *ret_sock, int *ret_stderr, struct gb_err *err) gb_nodiscard;
