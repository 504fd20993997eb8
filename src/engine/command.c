#include "engine/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/own.h"

enum {
    PIECE = 64 << 10,
    PIPE_PIECES = 16, /* that an ordinary pipe holds at most */
    ERR_MAX = 2000    /* bytes of standard error that are kept */
};

struct command {
    struct command *next;
    struct command_spec spec;
    pid_t pid;
    int pidfd, lifeline, out_fd, err_fd;
    struct event *on_pid, *on_out, *on_err;
    struct gb_buf out;
    char err[2 * ERR_MAX];
    size_t err_len;
    bool is_too_much, is_killed;
};

static void unlist(const struct command *c)
{
    for (struct command **at = c->spec.all; *at; at = &(*at)->next) {
        if (*at == c) {
            *at = c->next;
            return;
        }
    }
}

static void command_free(struct command *c)
{
    struct event *events[] = { c->on_pid, c->on_out, c->on_err };
    int fds[] = { c->pidfd, c->lifeline, c->out_fd, c->err_fd };

    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        if (events[i])
            event_free(events[i]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        gb_closep(&fds[i]);
    unlist(c);
    gb_buf_done(&c->out);
    free(c);
}

/* ---- what it writes ---- */

/* Only its end is kept. */
static void keep_err(struct command *c, const char *bytes, size_t len)
{
    if (len > ERR_MAX) {
        bytes += len - ERR_MAX;
        len = ERR_MAX;
    }
    if (c->err_len + len > sizeof(c->err)) {
        size_t drop = c->err_len + len - ERR_MAX;
        drop = drop > c->err_len ? c->err_len : drop;
        memmove(c->err, c->err + drop, c->err_len - drop);
        c->err_len -= drop;
    }
    memcpy(c->err + c->err_len, bytes, len);
    c->err_len += len;
}

static void keep_out(struct command *c, const char *bytes, size_t len)
{
    struct gb_err err;

    if (c->is_too_much || gb_buf_add(&c->out, bytes, len, &err) == 0)
        return;
    c->is_too_much = true;
    gb_buf_done(&c->out);
    (void)close(take_fd(&c->lifeline)); /* the keeper ends it, and says so by its own end */
}

/* Returns false when there is no more, for now or for ever. */
static bool read_piece(struct command *c, int fd, struct event *event)
{
    char piece[PIECE];
    ssize_t n = read(fd, piece, sizeof(piece));

    if (n < 0 && errno == EINTR)
        return true;
    if (n <= 0) {
        if (n == 0)
            (void)event_del(event);
        return false;
    }
    if (fd == c->out_fd)
        keep_out(c, piece, (size_t)n);
    else
        keep_err(c, piece, (size_t)n);
    return true;
}

static void on_output(evutil_socket_t fd, short what, void *data)
{
    struct command *c = data;

    (void)what;
    (void)read_piece(c, fd, fd == c->out_fd ? c->on_out : c->on_err);
}

/* ---- its end ---- */

/* Its pipes are emptied and not awaited: something else may hold them open. */
static void on_pid(evutil_socket_t fd, short what, void *data)
{
    struct command *c = data;
    int status = 0;

    (void)fd;
    (void)what;
    if (waitpid(c->pid, &status, WNOHANG) < 0)
        status = 127 << 8; /* somebody else in this process waited for it */
    if (!c->is_killed) {
        while (!c->is_too_much && read_piece(c, c->out_fd, c->on_out))
            ;
        for (int i = 0; i < PIPE_PIECES && read_piece(c, c->err_fd, c->on_err); i++)
            ;
        size_t skip = c->err_len > ERR_MAX ? c->err_len - ERR_MAX : 0;
        struct command_end end = { .status = WIFEXITED(status) ? WEXITSTATUS(status)
                                                               : 128 + WTERMSIG(status),
                                   .out = c->out.data ? c->out.data : "",
                                   .out_len = c->out.len,
                                   .is_too_much = c->is_too_much,
                                   .err = c->err + skip,
                                   .err_len = c->err_len - skip };
        c->spec.done(c->spec.data, &end);
    }
    c->spec.gone(c->spec.host, c->spec.place);
    command_free(c);
}

void command_kill(struct command *c)
{
    c->is_killed = true;
    if (c->lifeline >= 0)
        (void)close(take_fd(&c->lifeline));
    (void)event_del(c->on_out);
    (void)event_del(c->on_err);
}

void commands_end(struct command **all)
{
    for (struct command *c = *all; c; c = c->next)
        command_kill(c);
    while (*all) {
        struct command *c = *all;

        (void)waitpid(c->pid, NULL, 0); /* the keeper takes a second at most */
        c->spec.gone(c->spec.host, c->spec.place);
        command_free(c);
    }
}

/* ---- its beginning ---- */

static char **environment(const char *name)
{
    size_t n = 0;
    char **list, *tool = NULL;

    while (environ[n])
        n++;
    if (asprintf(&tool, "GLOVEBOX_TOOL=%s", name) < 0)
        return NULL;
    list = calloc(n + 2, sizeof(*list));
    if (!list) {
        free(tool);
        return NULL;
    }
    list[0] = tool;
    memcpy(list + 1, environ, n * sizeof(*list));
    return list;
}

static int set_attributes(posix_spawnattr_t *attr)
{
    sigset_t all, none;

    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK) ||
           posix_spawnattr_setsigdefault(attr, &all) || posix_spawnattr_setsigmask(attr, &none);
}

/* `fds` become 0 to 3. Those that lie there already must not be overwritten first: they are
 * moved out of the way by the caller. Returns 0 or an errno. */
static int spawn(const struct command_spec *spec, const int fds[4], pid_t *ret_pid)
{
    const char *const words[] = { "glovebox-keeper", spec->command, NULL };
    union {
        const char *const *in;
        char *const *out;
    } argv = { .in = words };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    char **env = environment(spec->name);
    int e = env ? 0 : ENOMEM;

    if (e != 0)
        return e;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attr);
    for (int i = 0; i < 4 && e == 0; i++)
        e = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
    if (e == 0)
        e = set_attributes(&attr);
    if (e == 0)
        e = posix_spawn(ret_pid, spec->keeper, &actions, &attr, argv.out, env);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&actions);
    free(env[0]);
    free(env);
    return e;
}

/* Descriptors beyond those that a child will have. */
static int move_up(int *fd)
{
    int up;

    if (*fd > 3)
        return 0;
    up = fcntl(*fd, F_DUPFD_CLOEXEC, 4);
    if (up < 0)
        return -1;
    (void)close(*fd);
    *fd = up;
    return 0;
}

static int start_process(struct command *c, struct gb_err *err)
{
    auto_close int in = fd_sealed("glovebox-tool", c->spec.input, c->spec.input_len);
    auto_close int line = -1, out = -1, errs = -1;
    int life[2] = { -1, -1 }, outs[2] = { -1, -1 }, ends[2] = { -1, -1 }, e;
    bool ok = in >= 0 && pipe2(life, O_CLOEXEC) == 0 && pipe2(outs, O_CLOEXEC) == 0 &&
              pipe2(ends, O_CLOEXEC) == 0;

    line = life[0];
    out = outs[1];
    errs = ends[1];
    c->lifeline = life[1];
    c->out_fd = outs[0];
    c->err_fd = ends[0];
    ok = ok && lseek(in, 0, SEEK_SET) == 0 && move_up(&in) == 0 && move_up(&out) == 0 &&
         move_up(&errs) == 0 && move_up(&line) == 0 && fcntl(c->out_fd, F_SETFL, O_NONBLOCK) == 0 &&
         fcntl(c->err_fd, F_SETFL, O_NONBLOCK) == 0;
    if (!ok)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a tool's pipes");
    int fds[] = { in, out, errs, line };
    e = spawn(&c->spec, fds, &c->pid);
    if (e != 0) {
        c->pid = 0;
        return gb_fail(err, GB_E_SYSTEM, e, "starting the keeper of a tool's command");
    }
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    return c->pidfd >= 0 ? 0 : gb_fail(err, GB_E_SYSTEM, errno, "watching a tool's command");
}

static struct event *watch(struct command *c, int fd, event_callback_fn fn)
{
    struct event *event = event_new(c->spec.base, fd, EV_READ | EV_PERSIST, fn, c);

    if (event && event_add(event, NULL) == 0)
        return event;
    if (event)
        event_free(event);
    return NULL;
}

struct command *command_start(const struct command_spec *spec, struct gb_err *err)
{
    struct command *c = calloc(1, sizeof(*c));

    if (!c) {
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "starting a tool");
        return NULL;
    }
    *c = (struct command){ .spec = *spec, .pidfd = -1, .lifeline = -1, .out_fd = -1, .err_fd = -1 };
    gb_buf_init(&c->out, spec->out_max);
    if (start_process(c, err) == 0) {
        c->on_out = watch(c, c->out_fd, on_output);
        c->on_err = watch(c, c->err_fd, on_output);
        c->on_pid = watch(c, c->pidfd, on_pid);
        if (c->on_out && c->on_err && c->on_pid) {
            c->next = *spec->all;
            *spec->all = c;
            return c;
        }
        gb_err_set(err, GB_E_SYSTEM, ENOMEM, "watching a tool's command");
    }
    gb_closep(&c->lifeline);
    c->lifeline = -1;
    if (c->pid > 0)
        (void)waitpid(c->pid, NULL, 0);
    command_free(c);
    return NULL;
}
