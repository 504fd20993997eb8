/*
 * An MCP server that is a child of ours, or rather of its keeper, which ends it should we be gone.
 *
 * It is ended in steps: its standard input is closed, then it is asked (SIGTERM), then it is killed
 * with all that it started, each step a grace after the one before. Only what the loop has time for
 * is read at once, so a server that floods us costs its share and no more.
 */
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
#include "base/own.h"
#include "mcp/link.h"
#include "mcp/servers.h"

enum {
    PIECE = 64 << 10,
    MESSAGES_AT_ONCE = 64,
    UNSENT_MAX = 64 << 20,
    LAST_BYTES = 1 << 20,  /* that are read when it has ended */
    LINE_MAX_BYTES = 1000, /* of what it says on standard error */
    ARGV_EXTRA = 3,
    EXIT_NOT_FOUND = 127 /* as shells and the keeper have it */
};

enum step {
    STEP_RUNS,
    STEP_CLOSED, /* its standard input is */
    STEP_ASKED,
    STEP_KILLED
};

struct stdio_link {
    struct link link;
    unsigned grace_ms;
    pid_t pid; /* the keeper's */
    int pidfd, lifeline, in, out, err;
    struct event *on_pid, *on_in, *on_out, *on_more, *on_err, *on_step;
    struct rpc_lines lines;
    struct gb_buf unsent;
    size_t sent;
    char said[LINE_MAX_BYTES + 1];
    size_t n_said;
    enum step step;
};

static struct stdio_link *of(struct link *l)
{
    return (struct stdio_link *)l; /* its first member */
}

/* ---- what it says about itself ---- */

static void say(struct stdio_link *s)
{
    while (s->n_said > 0 && (s->said[s->n_said - 1] == ' ' || s->said[s->n_said - 1] == '\r'))
        s->n_said--;
    s->said[s->n_said] = '\0';
    if (s->n_said > 0)
        s->link.events.said(s->link.events.data, s->said);
    s->n_said = 0;
}

static void take_said(struct stdio_link *s, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if (c == '\n')
            say(s);
        else if (s->n_said < LINE_MAX_BYTES) /* what is longer is cut */
            s->said[s->n_said++] = (char)(c < ' ' || c == 0x7f ? ' ' : c);
    }
}

static void on_err(evutil_socket_t fd, short what, void *data)
{
    struct stdio_link *s = data;
    char piece[4096];
    ssize_t n = read(fd, piece, sizeof(piece));

    (void)what;
    if (n > 0)
        take_said(s, piece, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        (void)event_del(s->on_err);
}

/* ---- what it sends ---- */

static void take_line(struct stdio_link *s, const char *text, size_t len)
{
    struct rpc_message message;
    struct rpc_problem problem;
    int r = rpc_read(text, len, &message, &problem);

    s->link.events.message(s->link.events.data, r == 0 ? &message : NULL, problem.message);
    rpc_message_done(&message);
    rpc_problem_done(&problem);
}

static void take_lines(struct stdio_link *s, int most)
{
    const char *text;
    size_t len;

    for (int i = 0; i < most && s->step == STEP_RUNS; i++) {
        enum rpc_line_state state = rpc_lines_next(&s->lines, &text, &len);

        if (state == RPC_LINE_NONE)
            return;
        if (state == RPC_LINE_ONE)
            take_line(s, text, len);
        else
            s->link.events.failed(s->link.events.data, 0, LINK_TOO_BIG,
                                  "it sent a message of more than 8 MiB");
    }
    if (s->step == STEP_RUNS)
        event_active(s->on_more, EV_TIMEOUT, 1);
}

static void on_more(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    take_lines(data, MESSAGES_AT_ONCE);
}

/* Returns how much came; 0: nothing, for now or for ever. */
static size_t read_out(struct stdio_link *s)
{
    char *room = rpc_lines_room(&s->lines, PIECE);
    ssize_t n = room ? read(s->out, room, PIECE) : 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0) {
        (void)event_del(s->on_out);
        return 0;
    }
    rpc_lines_add(&s->lines, (size_t)n);
    return (size_t)n;
}

static void on_out(evutil_socket_t fd, short what, void *data)
{
    struct stdio_link *s = data;

    (void)fd;
    (void)what;
    if (s->step != STEP_RUNS) {
        char piece[4096]; /* nobody listens, and it need not wait */

        if (read(s->out, piece, sizeof(piece)) == 0)
            (void)event_del(s->on_out);
        return;
    }
    if (event_pending(s->on_more, EV_TIMEOUT, NULL))
        return; /* there is enough to do */
    if (read_out(s) > 0)
        take_lines(s, MESSAGES_AT_ONCE);
}

/* ---- what it is sent ---- */

static void flush(struct stdio_link *s)
{
    while (s->sent < s->unsent.len && s->in >= 0) {
        ssize_t n = write(s->in, s->unsent.data + s->sent, s->unsent.len - s->sent);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            (void)event_add(s->on_in, NULL);
            return;
        }
        if (n < 0)
            break; /* it does not read any more: its end will follow, or its time be up */
        s->sent += (size_t)n;
    }
    s->unsent.len = s->sent = 0;
    if (s->unsent.cap > 16 * PIECE)
        gb_buf_done(&s->unsent);
}

static void on_in(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    flush(data);
}

static void stdio_send(struct link *l, const struct link_message *m)
{
    struct stdio_link *s = of(l);
    struct gb_err err;

    if (s->step != STEP_RUNS)
        return;
    if (s->sent > 0) {
        memmove(s->unsent.data, s->unsent.data + s->sent, s->unsent.len - s->sent);
        s->unsent.len -= s->sent;
        s->sent = 0;
    }
    /* One that does not read gets no more; whoever waits finds that time is up. */
    if (gb_buf_reserve(&s->unsent, m->len + 1, &err) < 0)
        return;
    memcpy(s->unsent.data + s->unsent.len, m->text, m->len);
    s->unsent.data[s->unsent.len + m->len] = '\n';
    s->unsent.len += m->len + 1;
    flush(s);
}

static void stdio_forget(struct link *l, json_int_t id)
{
    (void)l;
    (void)id;
}

static void stdio_agree(struct link *l, const char *version, bool is_modern)
{
    (void)l;
    (void)version;
    (void)is_modern;
}

static void stdio_listen(struct link *l)
{
    (void)l;
}

/* ---- its end ---- */

static void step_on(struct stdio_link *s)
{
    struct timeval in = { .tv_sec = s->grace_ms / 1000,
                          .tv_usec = (suseconds_t)(s->grace_ms % 1000 * 1000) };

    if (s->step == STEP_RUNS) {
        s->step = STEP_CLOSED;
        (void)event_del(s->on_in);
        (void)close(take_fd(&s->in));
    } else if (s->step == STEP_CLOSED) {
        s->step = STEP_ASKED;
        (void)!write(s->lifeline, "", 1);
    } else if (s->step == STEP_ASKED) {
        s->step = STEP_KILLED;
        (void)close(take_fd(&s->lifeline));
        return;
    }
    (void)evtimer_add(s->on_step, &in);
}

static void on_step(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    step_on(data);
}

static void stdio_close(struct link *l)
{
    struct stdio_link *s = of(l);

    if (s->step == STEP_RUNS && s->pid > 0)
        step_on(s);
}

static bool stdio_is_gone(const struct link *l)
{
    return ((const struct stdio_link *)l)->pid == 0;
}

static void on_pid(evutil_socket_t fd, short what, void *data)
{
    struct stdio_link *s = data;
    char why[100], piece[4096];
    int status = 0;
    size_t total = 0, n;
    ssize_t got;

    (void)fd;
    (void)what;
    if (waitpid(s->pid, &status, WNOHANG) == 0)
        return;
    s->pid = 0;
    (void)event_del(s->on_pid);
    while (s->step == STEP_RUNS && total < LAST_BYTES && (n = read_out(s)) > 0) {
        total += n;
        take_lines(s, MESSAGES_AT_ONCE);
    }
    for (int i = 0; i < 16 && (got = read(s->err, piece, sizeof(piece))) > 0; i++)
        take_said(s, piece, (size_t)got);
    say(s);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (status > 128)
        (void)snprintf(why, sizeof(why), "it was ended by signal %d", status - 128);
    else
        (void)snprintf(
            why, sizeof(why), "it ended with exit status %d%s", status,
            status == EXIT_NOT_FOUND ? ": its command may not be installed, or not on PATH" : "");
    s->link.events.ended(s->link.events.data, why); /* the link may be gone now */
}

static void stdio_free(struct link *l)
{
    struct stdio_link *s = of(l);
    struct event *events[] = { s->on_pid, s->on_in, s->on_out, s->on_more, s->on_err, s->on_step };
    int fds[] = { s->pidfd, s->lifeline, s->in, s->out, s->err };

    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        if (events[i])
            event_free(events[i]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        gb_closep(&fds[i]);
    if (s->pid > 0)
        (void)waitpid(s->pid, NULL, 0); /* the keeper ends everything, and then itself */
    rpc_lines_done(&s->lines);
    gb_buf_done(&s->unsent);
    free(s);
}

/* ---- its beginning ---- */

/* Descriptors beyond those that the child will have. */
static int move_up(int *fd)
{
    int up;

    if (*fd < 0 || *fd > 3)
        return *fd < 0 ? -1 : 0;
    up = fcntl(*fd, F_DUPFD_CLOEXEC, 4);
    if (up < 0)
        return -1;
    (void)close(*fd);
    *fd = up;
    return 0;
}

/* The child begins without the signals that we keep away from ourselves. */
static int set_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    if (posix_spawnattr_setsigmask(attr, &none) != 0 ||
        posix_spawnattr_setsigdefault(attr, &all) != 0)
        return -1;
    return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSID);
}

static int spawn(struct stdio_link *s, const struct link_spec *spec, const int fds[4])
{
    const struct server_spec *server = spec->server;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    auto_free char *keeper = NULL;
    auto_free char **argv = NULL;
    static char dashes[] = "--";
    size_t n = 0;
    int e = ENOMEM;

    while (server->argv[n])
        n++;
    argv = calloc(n + ARGV_EXTRA, sizeof(*argv));
    if (!argv || asprintf(&keeper, "%s/glovebox-keeper", spec->directory) < 0)
        return ENOMEM;
    argv[0] = keeper;
    argv[1] = dashes;
    memcpy(argv + 2, server->argv, n * sizeof(*argv));
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attr) == 0) {
        e = set_attributes(&attr) == 0 ? 0 : EINVAL;
        for (int i = 0; i < 4 && e == 0; i++)
            e = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
        if (e == 0 && server->cwd)
            e = posix_spawn_file_actions_addchdir_np(&actions, server->cwd);
        if (e == 0)
            e = posix_spawn(&s->pid, keeper, &actions, &attr, argv, server->env);
        (void)posix_spawnattr_destroy(&attr);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return e;
}

static int start(struct stdio_link *s, const struct link_spec *spec, struct gb_err *err)
{
    auto_close int in = -1, out = -1, errs = -1, line = -1;
    int pipes[4][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } }, e;
    bool ok = true;

    for (size_t i = 0; i < ARRAY_LEN(pipes); i++)
        ok = ok && pipe2(pipes[i], O_CLOEXEC) == 0;
    in = pipes[0][0];
    s->in = pipes[0][1];
    s->out = pipes[1][0];
    out = pipes[1][1];
    s->err = pipes[2][0];
    errs = pipes[2][1];
    line = pipes[3][0];
    s->lifeline = pipes[3][1];
    ok = ok && move_up(&in) == 0 && move_up(&out) == 0 && move_up(&errs) == 0 &&
         move_up(&line) == 0 && fcntl(s->in, F_SETFL, O_NONBLOCK) == 0 &&
         fcntl(s->out, F_SETFL, O_NONBLOCK) == 0 && fcntl(s->err, F_SETFL, O_NONBLOCK) == 0;
    if (!ok)
        return gb_fail(err, GB_E_SYSTEM, errno, "making its pipes");
    e = spawn(s, spec, (int[]){ in, out, errs, line });
    if (e != 0) {
        s->pid = 0;
        return gb_fail(err, GB_E_SYSTEM, e, "starting it");
    }
    s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
    return s->pidfd >= 0 ? 0 : gb_fail(err, GB_E_SYSTEM, errno, "watching it");
}

static int watch(struct stdio_link *s, struct event_base *base, struct gb_err *err)
{
    s->on_pid = event_new(base, s->pidfd, EV_READ | EV_PERSIST, on_pid, s);
    s->on_in = event_new(base, s->in, EV_WRITE, on_in, s);
    s->on_out = event_new(base, s->out, EV_READ | EV_PERSIST, on_out, s);
    s->on_err = event_new(base, s->err, EV_READ | EV_PERSIST, on_err, s);
    s->on_more = evtimer_new(base, on_more, s);
    s->on_step = evtimer_new(base, on_step, s);
    if (!s->on_pid || !s->on_in || !s->on_out || !s->on_err || !s->on_more || !s->on_step ||
        event_add(s->on_pid, NULL) < 0 || event_add(s->on_out, NULL) < 0 ||
        event_add(s->on_err, NULL) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "watching it");
    return 0;
}

static const struct link_ops ops = { .send = stdio_send,
                                     .forget = stdio_forget,
                                     .agree = stdio_agree,
                                     .listen = stdio_listen,
                                     .close = stdio_close,
                                     .is_gone = stdio_is_gone,
                                     .free = stdio_free };

struct link *link_stdio_new(const struct link_spec *spec, struct gb_err *err)
{
    struct stdio_link *s = calloc(1, sizeof(*s));

    if (!s) {
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "starting it");
        return NULL;
    }
    *s = (struct stdio_link){ .link = { .ops = &ops, .events = spec->events },
                              .grace_ms = spec->grace_ms,
                              .pidfd = -1,
                              .lifeline = -1,
                              .in = -1,
                              .out = -1,
                              .err = -1 };
    gb_buf_init(&s->unsent, UNSENT_MAX);
    if (start(s, spec, err) == 0 && watch(s, spec->base, err) == 0)
        return &s->link;
    stdio_free(&s->link);
    return NULL;
}
