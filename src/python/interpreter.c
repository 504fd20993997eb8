#include "python/interpreter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "boot_py.h"
#include "python/protocol.h"

enum {
    ARGS_MAX = 256,
    SHIM_WAIT_MS = 10000
};

/* ---- starting a child with exactly these descriptors ---- */

struct child {
    const char *path;
    const char *const *argv;
    char *const *env;
    int out, err, sock; /* become 1, 2 and ZYGOTE_FD; -1 is /dev/null, for sock nothing */
};

static int add_actions(posix_spawn_file_actions_t *a, const struct child *c)
{
    int e = posix_spawn_file_actions_addopen(a, 0, "/dev/null", O_RDONLY, 0);

    if (e == 0)
        e = c->out < 0 ? posix_spawn_file_actions_addopen(a, 1, "/dev/null", O_WRONLY, 0)
                       : posix_spawn_file_actions_adddup2(a, c->out, 1);
    if (e == 0)
        e = c->err < 0 ? posix_spawn_file_actions_addopen(a, 2, "/dev/null", O_WRONLY, 0)
                       : posix_spawn_file_actions_adddup2(a, c->err, 2);
    if (e == 0 && c->sock >= 0)
        e = posix_spawn_file_actions_adddup2(a, c->sock, ZYGOTE_FD);
    if (e == 0) /* whatever the host program has open and did not mark is not ours to pass on */
        e = posix_spawn_file_actions_addclosefrom_np(a, c->sock >= 0 ? ZYGOTE_FD + 1 : 3);
    return e;
}

/* Returns 0 or -errno. The child gets a session of its own, so that a Ctrl-C is the host
 * program's to handle, and clean signals. */
static int child_start(const struct child *c, pid_t *ret_pid, int *ret_pidfd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    union {
        const char *const *in;
        char *const *out; /* posix_spawn does not write to its arguments */
    } argv = { .in = c->argv };
    sigset_t all, none;
    int e;

    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawnattr_setsigdefault(&attr, &all);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    (void)posix_spawn_file_actions_init(&actions);
    e = add_actions(&actions, c);
    if (e == 0)
        e = posix_spawn(ret_pid, c->path, &actions, &attr, argv.out, c->env);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attr);
    if (e != 0)
        return -e;
    *ret_pidfd = (int)syscall(SYS_pidfd_open, *ret_pid, 0);
    return *ret_pidfd < 0 ? -errno : 0;
}

/* ---- finding ---- */

static int search_path(const char *name, char **ret)
{
    const char *path = getenv("PATH");
    struct stat st;

    if (!path || !*path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*path) {
        size_t n = strcspn(path, ":");
        char file[PATH_MAX];

        if (n > 0 && snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, name) < PATH_MAX &&
            access(file, X_OK) == 0 && stat(file, &st) == 0 && S_ISREG(st.st_mode)) {
            *ret = strdup(file);
            return *ret ? 0 : -ENOMEM;
        }
        path += n + (path[n] == ':');
    }
    return -ENOENT;
}

static bool is_script(const char *path)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    char magic[2] = { 0 };

    return fd >= 0 && read(fd, magic, 2) == 2 && memcmp(magic, "#!", 2) == 0;
}

/* Read one line that the child writes, for at most SHIM_WAIT_MS. */
static int read_line(int fd, char *line, size_t size)
{
    size_t len = 0;

    while (len < size - 1) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        ssize_t n = poll(&p, 1, SHIM_WAIT_MS) <= 0 ? -1 : read(fd, line + len, size - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    line[len] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return line[0] == '/' ? 0 : -1;
}

/* Ask a shim which interpreter it starts. It gets the host's environment: that is what it
 * decides by. */
static int ask_shim(const char *path, char **ret, struct gb_err *err)
{
    static const char *const argv[] = { "python3", "-I", "-c", "import sys; print(sys.executable)",
                                        NULL };
    auto_close int ours = -1, theirs = -1, pidfd = -1;
    struct child child = { .path = path, .argv = argv, .env = environ, .err = -1, .sock = -1 };
    char line[PATH_MAX];
    pid_t pid = 0;
    int fds[2], e;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a pipe");
    ours = fds[0];
    theirs = child.out = fds[1];
    e = child_start(&child, &pid, &pidfd);
    if (e < 0)
        return gb_fail(err, GB_E_NO_INTERPRETER, -e, "starting %s", path);
    (void)close(take_fd(&theirs));
    e = read_line(ours, line, sizeof(line));
    (void)kill(-pid, SIGKILL); /* it leads a session: what it started goes too */
    (void)waitpid(pid, NULL, 0);
    if (e < 0) {
        (void)gb_fail(err, GB_E_NO_INTERPRETER, 0,
                      "%s is a script and did not say which interpreter it starts", path);
        return gb_fail_hint(err, "give the interpreter itself with --python PATH");
    }
    *ret = strdup(line);
    return *ret ? 0 : gb_fail(err, GB_E_SYSTEM, ENOMEM, "naming the interpreter");
}

int interpreter_find(const char *wanted, char **ret, struct gb_err *err)
{
    auto_free char *path = NULL;
    struct stat st;

    if (!wanted)
        wanted = "python3";
    if (strchr(wanted, '/')) {
        path = strdup(wanted);
        if (stat(wanted, &st) < 0 || !S_ISREG(st.st_mode) || access(wanted, X_OK) < 0) {
            (void)gb_fail(err, GB_E_NO_INTERPRETER, 0, "no such interpreter: %s", wanted);
            return gb_fail_hint(err, "--python takes the path of a CPython 3.9 or newer");
        }
    } else if (search_path(wanted, &path) < 0) {
        (void)gb_fail(err, GB_E_NO_INTERPRETER, 0, "no such interpreter: %s is not on PATH",
                      wanted);
        return gb_fail_hint(err, "install python3, or name one with --python PATH");
    }
    if (!path)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "naming the interpreter");
    if (is_script(path))
        return ask_shim(path, ret, err);
    *ret = take_ptr(path);
    return 0;
}

/* ---- starting ---- */

/* NAME=VALUE strings, NULL at the end, in one block that the caller frees. */
static char **environment(const json_t *env)
{
    size_t n = json_object_size(env), bytes = (n + 1) * sizeof(char *);
    const char *key;
    json_t *value;
    char **list;
    char *text;

    json_object_foreach (json_shared(env), key, value)
        bytes += strlen(key) + json_string_length(value) + 2;
    list = malloc(bytes);
    if (!list)
        return NULL;
    text = (char *)(list + n + 1);
    n = 0;
    json_object_foreach (json_shared(env), key, value) {
        list[n++] = text;
        text = stpcpy(stpcpy(stpcpy(text, key), "="), json_string_value(value)) + 1;
    }
    list[n] = NULL;
    return list;
}

int interpreter_start(const struct interpreter_spec *spec, pid_t *ret_pid, int *ret_pidfd,
                      int *ret_sock, int *ret_stderr, struct gb_err *err)
{
    const char *argv[ARGS_MAX] = { spec->path,
                                   "-I",
                                   "-X",
                                   "utf8",
                                   "-c",
                                   boot_text,
                                   spec->extension_dir,
                                   spec->warm ? "warm" : "once" };
    auto_close int ours = -1, theirs = -1, err_read = -1, err_write = -1;
    auto_free char **env = environment(spec->env);
    size_t n = 8;
    int sv[2], pv[2], e;

    for (size_t i = 0; i < json_array_size(spec->preload) && n < ARGS_MAX - 1; i++)
        argv[n++] = json_string_value(json_array_get(spec->preload, i));
    if (!env)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the environment");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a socket");
    ours = sv[0];
    theirs = sv[1];
    if (pipe2(pv, O_CLOEXEC) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a pipe");
    err_read = pv[0];
    err_write = pv[1];

    struct child child = {
        .path = spec->path, .argv = argv, .env = env, .out = -1, .err = err_write, .sock = theirs
    };
    e = child_start(&child, ret_pid, ret_pidfd);
    if (e < 0)
        return gb_fail(err, GB_E_NO_INTERPRETER, -e, "starting %s", spec->path);
    *ret_sock = take_fd(&ours);
    *ret_stderr = take_fd(&err_read);
    return 0;
}
