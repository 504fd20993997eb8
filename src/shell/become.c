#include "shell/become.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "shell/resolve.h"

/* The strings of a list, and a NULL behind them. */
static char **pointers(const json_t *list)
{
    size_t n = json_array_size(list);
    union {
        const char **in;
        char **out; /* as execve() has it, which changes nothing */
    } made = { .in = calloc(n + 1, sizeof(char *)) };

    for (size_t i = 0; made.in && i < n; i++)
        made.in[i] = json_string_value(json_array_get(list, i));
    return made.out;
}

static json_t *env_list(const json_t *env)
{
    json_t *list = json_array(), *value;
    const char *name;

    json_object_foreach (json_shared(env), name, value)
        json_array_append_new(list, json_sprintf("%s=%s", name, json_string_value(value)));
    return list;
}

/* Rules by parsed command mean what they say only to a shell that reads it the same way. */
static int check_dialect(const char *program, const char *dialect, struct gb_err *err)
{
    bool bash = dialect && strcmp(dialect, "bash") == 0;

    if (!dialect || shell_speaks(program, bash))
        return 0;
    (void)gb_fail(err, GB_E_INVALID, 0, "allow_command: %s does not read the command as %s would",
                  program, bash ? "bash" : "sh");
    return gb_fail_hint(err, "use bash, or write the command without what only bash has");
}

static int fill(struct shell_ready *ret, const struct shell_call *call, const json_t *env)
{
    ret->argv_json = shell_argv(call);
    ret->env_json = env_list(env);
    ret->argv = pointers(ret->argv_json);
    ret->env = pointers(ret->env_json);
    return ret->argv && ret->env ? 0 : -1;
}

int shell_words_of(const json_t *request, const char *program, struct shell_ready *ret)
{
    struct shell_call call = { .program = program, .words = json_object_get(request, "shell") };

    *ret = (struct shell_ready){ 0 };
    if (fill(ret, &call, json_object_get(request, "env")) == 0)
        return 0;
    shell_ready_done(ret);
    return -1;
}

void shell_ready_done(struct shell_ready *ready)
{
    free(ready->program);
    free(ready->argv);
    free(ready->env);
    json_decref(ready->argv_json);
    json_decref(ready->env_json);
    *ready = (struct shell_ready){ 0 };
}

int shell_prepare(const json_t *request, struct shell_ready *ret, struct gb_err *err)
{
    const json_t *env = json_object_get(request, "env");
    const char *workdir = json_string_at(request, "workdir", NULL);
    struct shell_call call = { .words = json_object_get(request, "shell"),
                               .command = json_string_at(request, "code", ""),
                               .args = json_object_get(request, "argv") };

    *ret = (struct shell_ready){ 0 };
    ret->program = shell_find(call.words, json_string_at(env, "PATH", ""), shell_look_here, err);
    if (!ret->program ||
        check_dialect(ret->program, json_string_at(request, "dialect", NULL), err) < 0)
        return -1;
    if (workdir && chdir(workdir) < 0) {
        (void)gb_fail(err, GB_E_INVALID, errno, "workdir: entering '%.120s'", workdir);
        return gb_fail_hint(err, "it must be a directory in the box: below the workspace, or below "
                                 "/mnt");
    }
    call.program = ret->program;
    if (fill(ret, &call, env) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "starting the shell");
    return 0;
}

/* What the interpreter has set would go over to the shell: it ignores SIGPIPE, for one, and then
 * 'yes | head' never ends. */
static void reset_signals(void)
{
    static const unsigned long zero[8]; /* the kernel's own structure: no handler, no flags */

    /* The raw calls: the C library keeps two signals to itself, and those may be ignored, too. */
    for (int sig = 1; sig < NSIG; sig++)
        (void)syscall(SYS_rt_sigaction, sig, zero, NULL, sizeof(uint64_t));
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, zero, NULL, sizeof(uint64_t));
}

_Noreturn void shell_go(const struct shell_ready *ready)
{
    int e;

    reset_signals();
    (void)syscall(SYS_close_range, 3u, ~0u, 0u);
    (void)execve(ready->program, ready->argv, ready->env);
    e = errno;
    (void)dprintf(STDERR_FILENO, "glovebox: executing %s: %s%s\n", ready->program, strerror(e),
                  e == E2BIG ? " (the command is too long for one)" : "");
    _exit(e == ENOENT ? 127 : 126);
}
