/*
 * The orders are those of a session (session.c): "begin" comes first and once, "cell" is a command.
 * "jobs", "job_read" and "job_kill" are about what commands left in the background. There are no
 * copies: a shell cannot be one of itself and keep its jobs, and a command that is stopped leaves
 * the shell as it is.
 *
 * This process does nothing but pass on. Any command can kill it, look into it and speak in its
 * name, like everything in the box: that costs it its own session, or makes it lie about itself.
 */
#include "python/shells.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "python/guest.h"
#include "python/protocol.h"
#include "sandbox/box.h"
#include "shell/live.h"

enum {
    READ_USUAL = 64 << 10,
    FRESH_MS = 1,
    LOOK_MS = 100,      /* between looks at whether a terminal is waited for */
    STILL_US = 200000,  /* without output, before it can be */
    QUIET_US = 700000,  /* and for programs that wait for several things */
    TYPED_US = 1000000, /* after what was typed, somebody is told at the latest */
};

struct shells {
    struct live live;
    int chan, answer;
    uint64_t token;   /* of the order that is followed */
    const char *op;   /* one of the table's names, or NULL: none is */
    json_t *value;    /* what it is answered with, beside the usual */
    int64_t began_us; /* when that was */
};

/* Not a mask of poll()'s: a job that prints without end would keep the signal out for good. */
static int child_pipe[2] = { -1, -1 };

static void on_child(int sig)
{
    int saved = errno;

    (void)sig;
    (void)!write(child_pipe[1], "", 1);
    errno = saved;
}

/* ---- answers ---- */

static json_t *failure(const struct gb_err *err)
{
    return json_pack("{s:i,s:o,s:o}", "code", (int)err->code, "message", json_lossy(err->msg),
                     "hint", json_lossy(err->hint));
}

static void send(const struct shells *s, enum frame_kind kind, json_t *json)
{
    guest_send(s->answer, kind, json, &s->token);
    json_decref(json);
}

static void refuse(struct shells *s, const struct gb_err *err)
{
    s->op = NULL;
    send(s, FRAME_DONE, json_pack("{s:o,s:i}", "failed", failure(err), "exit_code", 125));
}

static json_t *terminal(const struct shells *s, bool is_waiting)
{
    const struct screen *screen = &s->live.pty.screen;
    char *text = screen_text(screen);
    json_t *json =
        json_pack("{s:b,s:b,s:i,s:i,s:i,s:i,s:s}", "running", s->live.is_running, "waiting",
                  is_waiting, "rows", screen->rows, "columns", screen->columns, "row", screen->row,
                  "column", screen->column, "screen", text ? text : "");

    if (!s->live.is_running)
        json_object_set_new(json, "exit_code", json_integer(s->live.last_status));
    free(text);
    return json;
}

static void answer_as(struct shells *s, bool is_waiting)
{
    bool is_cell = s->op && strcmp(s->op, "cell") == 0;
    bool is_over = is_cell && !s->live.is_running;
    json_t *json = json_pack("{s:i,s:o}", "exit_code", is_over ? s->live.last_status : 0, "shell",
                             live_about(&s->live, !is_cell));

    if (s->live.pty.master >= 0)
        json_object_set_new(json_object_get(json, "shell"), "pty", terminal(s, is_waiting));
    live_attend(&s->live, false);
    if (s->value) {
        json_object_set_new(json, "has_value", json_true());
        json_object_set_new(json, "value", take_ptr(s->value));
    }
    s->op = NULL;
    send(s, FRAME_DONE, json);
    live_prepare(&s->live);
}

static void answer(struct shells *s)
{
    answer_as(s, false);
}

/* ---- orders ---- */

/* What runs in a terminal may still do so when its command has been answered. */
static bool refuse_while_running(struct shells *s)
{
    struct gb_err err;

    if (!s->live.is_running)
        return false;
    gb_err_set(&err, GB_E_BUSY, 0, "command: the one before it still runs in the terminal");
    gb_err_hint(&err, "use op 'type', or end it with the key ctrl-c");
    refuse(s, &err);
    return true;
}

/* The session cannot be: the engine is told why, and ends the box. */
static void refuse_session(struct shells *s, const struct gb_err *err)
{
    s->op = NULL;
    send(s, FRAME_SESSION, json_pack("{s:i,s:o}", "copy", 0, "failed", failure(err)));
}

static void do_begin(struct shells *s, const struct guest_order *order)
{
    struct gb_err err = { 0 };

    if (live_begin(&s->live, order->request, &err) < 0)
        refuse_session(s, &err);
}

static void begun(struct shells *s)
{
    struct gb_err err;

    if (s->live.is_heard) {
        s->op = NULL;
        send(s, FRAME_SESSION,
             json_pack("{s:i,s:o}", "copy", 0, "shell", live_about(&s->live, false)));
        return;
    }
    gb_err_set(&err, GB_E_INVALID, 0, "shell: %s cannot be kept for a session: it loads no builtin",
               s->live.program);
    gb_err_hint(&err,
                "use a bash that is not restricted and can load builtins ('enable -f'), and a "
                "TMPDIR on no 'noexec' mount; or give each command a shell of its own: "
                "without 'session', or with -c");
    refuse_session(s, &err);
}

static void do_cell(struct shells *s, const struct guest_order *order)
{
    struct gb_err err = { 0 };

    if (refuse_while_running(s))
        return;
    live_attend(&s->live, true);
    if (live_run(&s->live, order->request, order->has_stdin ? STDIN_FILENO : -1, &err) < 0)
        refuse(s, &err);
}

static void do_jobs(struct shells *s, const struct guest_order *order)
{
    struct gb_err err = { 0 };

    (void)order;
    if (s->live.is_running)
        answer(s);
    else if (live_ask(&s->live, &err) < 0)
        refuse(s, &err);
}

/* ---- the terminal ---- */

static bool refuse_without_terminal(struct shells *s)
{
    struct gb_err err;

    if (s->live.pty.master >= 0)
        return false;
    gb_err_set(&err, GB_E_INVALID, 0, "op: the session has no terminal");
    gb_err_hint(&err, "begin one with 'pty'");
    refuse(s, &err);
    return true;
}

/* Answered when what runs has ended, or waits again, or takes its time. */
static void do_type(struct shells *s, const struct guest_order *order)
{
    const json_t *about = json_object_get(order->request, "session");
    struct gb_err err;

    if (refuse_without_terminal(s))
        return;
    live_attend(&s->live, true);
    if (pty_type(&s->live.pty, json_object_get(about, "text"), json_object_get(about, "keys"),
                 &err) < 0)
        refuse(s, &err);
    else if (!s->live.is_running)
        answer(s);
}

static void do_screen(struct shells *s, const struct guest_order *order)
{
    (void)order;
    if (refuse_without_terminal(s))
        return;
    live_attend(&s->live, true);
    answer_as(s, s->live.is_running && pty_is_waited_for(&s->live.pty, s->live.pid, true));
}

static void do_resize(struct shells *s, const struct guest_order *order)
{
    const json_t *about = json_object_get(order->request, "session");
    struct gb_err err;

    if (refuse_without_terminal(s))
        return;
    live_attend(&s->live, true);
    if (pty_resize(&s->live.pty, (int)json_integer_value(json_object_get(about, "rows")),
                   (int)json_integer_value(json_object_get(about, "columns")), &err) < 0)
        refuse(s, &err);
    else
        answer(s);
}

static void look_at_terminal(struct shells *s)
{
    int64_t now = clock_us();
    int64_t still = now - (s->live.printed_us > s->began_us ? s->live.printed_us : s->began_us);

    if (!s->op || !s->live.is_running || s->live.pty.master < 0 || strcmp(s->op, "begin") == 0)
        return;
    if (still >= STILL_US && pty_is_waited_for(&s->live.pty, s->live.pid, still >= QUIET_US))
        answer_as(s, true);
    else if (strcmp(s->op, "type") == 0 && now - s->began_us >= TYPED_US)
        answer(s);
}

static int no_job(struct gb_err *err, pid_t pid)
{
    (void)gb_fail(err, GB_E_GONE, 0, "job: the shell has no job %d", (int)pid);
    return gb_fail_hint(err, "':jobs' lists them at the prompt, the op 'jobs' elsewhere");
}

static pid_t job_of(const json_t *about)
{
    return (pid_t)json_integer_value(json_object_get(about, "job"));
}

static void do_read(struct shells *s, const struct guest_order *order)
{
    const json_t *about = json_object_get(order->request, "session");
    json_int_t length = json_integer_value(json_object_get(about, "length"));
    struct gb_err err;

    s->value =
        live_read_job(&s->live, job_of(about), json_integer_value(json_object_get(about, "offset")),
                      length > 0 ? length : READ_USUAL);
    if (!s->value) {
        (void)no_job(&err, job_of(about));
        refuse(s, &err);
        return;
    }
    answer(s);
}

static void do_kill(struct shells *s, const struct guest_order *order)
{
    const json_t *about = json_object_get(order->request, "session");
    struct gb_err err = { 0 };

    if (!live_end_job(&s->live, job_of(about)))
        (void)no_job(&err, job_of(about));
    else if (live_ask(&s->live, &err) == 0)
        return;
    refuse(s, &err);
}

static const struct {
    const char *name;
    void (*act)(struct shells *s, const struct guest_order *order);
} acts[] = {
    { "begin", do_begin }, { "cell", do_cell },     { "inspect", do_jobs },
    { "jobs", do_jobs },   { "job_read", do_read }, { "job_kill", do_kill },
    { "type", do_type },   { "screen", do_screen }, { "resize", do_resize },
};

static void obey(struct shells *s, const struct guest_order *order)
{
    const char *name = json_string_at(json_object_get(order->request, "session"), "op", "");

    s->token = order->token;
    s->began_us = clock_us();
    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        if (strcmp(acts[i].name, name) == 0) {
            s->op = acts[i].name;
            acts[i].act(s, order);
            return;
        }
    }
}

/* ---- life ---- */

bool shells_is(const json_t *request)
{
    return strcmp(json_string_at(request, "kind", ""), "shell") == 0;
}

static void empty_stdin(void)
{
    auto_close int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (null > 0)
        (void)dup2(null, STDIN_FILENO);
}

static void next_order(struct shells *s)
{
    struct guest_order order;

    guest_next_order(s->chan, &order);
    if (!order.request)
        _exit(1); /* the engine is gone, or there is no room for what it says */
    obey(s, &order);
    json_decref(order.request);
    if (order.has_stdin)
        empty_stdin();
}

/* The shell has reported: that was what the order waited for. */
static void reported(struct shells *s)
{
    if (strcmp(s->op, "begin") == 0)
        begun(s);
    else
        answer(s);
}

/* order: what was reported before what ended. */
static void turn(struct shells *s)
{
    struct pollfd fds[2 + LIVE_POLL_MAX] = { { .fd = s->op ? -1 : s->chan, .events = POLLIN },
                                             { .fd = child_pipe[0], .events = POLLIN } };
    size_t n = live_poll(&s->live, fds + 2);
    char bytes[64];

    bool is_looked_at = s->op && s->live.is_running && s->live.pty.master >= 0;
    int ready = poll(fds, n + 2, s->live.is_fresh ? FRESH_MS : is_looked_at ? LOOK_MS : -1);

    if (ready != 0 || !s->live.is_fresh)
        look_at_terminal(s);
    s->live.is_fresh = false; /* whatever it was: a job that prints without end must not hide it */
    if (ready <= 0)
        return;
    live_turn(&s->live, fds + 2, n);
    if (fds[1].revents != 0) {
        (void)!read(child_pipe[0], bytes, sizeof(bytes));
        live_reap(&s->live);
    }
    if (s->op && !s->live.is_running)
        reported(s);
    else if (fds[0].revents != 0)
        next_order(s);
}

static void take_signals(void)
{
    struct sigaction act = { .sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP };
    sigset_t none;

    if (pipe2(child_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        _exit(1);
    for (int sig = 1; sig < NSIG; sig++)
        if (sig != SIGCHLD)
            (void)signal(sig, SIG_IGN); /* whoever sends it, it is not for this process */
    (void)sigaction(SIGCHLD, &act, NULL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

void shells_main(const struct box_fds *fds, struct guest_order *order)
{
    static struct shells s;

    s.chan = fds->chan;
    s.answer = fds->answer;
    (void)prctl(PR_SET_NAME, "glovebox-shell", 0, 0, 0);
    take_signals();
    obey(&s, order);
    json_decref(order->request);
    for (;;)
        turn(&s);
}
