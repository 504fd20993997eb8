/*
 * The orders are those of a session (session.c): "begin" comes first and once, "cell" is a command.
 * "jobs", "job_read" and "job_kill" are about what commands left in the background. There are no
 * copies: a shell cannot be one of itself and keep its jobs, and a command that is stopped leaves the
 * shell as it is.
 *
 * This process does nothing but pass on. It can be killed by any command, like everything in the box;
 * then the session is lost, and init says so. It cannot be looked into: what it writes to the engine
 * is its own.
 */
#include "python/shells.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "python/guest.h"
#include "python/protocol.h"
#include "sandbox/box.h"
#include "shell/live.h"

enum {
    READ_USUAL = 64 << 10,
    FRESH_MS = 1,
};

struct shells {
    struct live live;
    int chan, answer;
    uint64_t token;      /* of the order that is followed */
    const char *op;      /* one of the table's names, or NULL: none is */
    json_t *value;       /* what it is answered with, beside the usual */
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

static void answer(struct shells *s)
{
    bool is_cell = s->op && strcmp(s->op, "cell") == 0;
    json_t *json = json_pack("{s:i,s:o}", "exit_code", is_cell ? s->live.last_status : 0, "shell",
                             live_about(&s->live, !is_cell));

    if (s->value) {
        json_object_set_new(json, "has_value", json_true());
        json_object_set_new(json, "value", take_ptr(s->value));
    }
    s->op = NULL;
    send(s, FRAME_DONE, json);
}

/* ---- orders ---- */

/* The session cannot be: the engine is told why, and ends the box. */
static void do_begin(struct shells *s, const struct guest_order *order)
{
    struct gb_err err = { 0 };

    if (live_begin(&s->live, order->request, &err) == 0)
        return;
    s->op = NULL;
    send(s, FRAME_SESSION, json_pack("{s:i,s:o}", "copy", 0, "failed", failure(&err)));
}

static void do_cell(struct shells *s, const struct guest_order *order)
{
    struct gb_err err = { 0 };

    if (live_run(&s->live, order->request, order->has_stdin ? STDIN_FILENO : -1, &err) < 0)
        refuse(s, &err);
}

static void do_jobs(struct shells *s, const struct guest_order *order)
{
    struct gb_err err = { 0 };

    (void)order;
    if (live_ask(&s->live, &err) < 0)
        refuse(s, &err);
}

static int no_job(struct gb_err *err, pid_t pid)
{
    (void)gb_fail(err, GB_E_GONE, 0, "job: the shell has no job %d", (int)pid);
    return gb_fail_hint(err, "op 'jobs' lists them");
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

    s->value = live_read_job(&s->live, job_of(about),
                             json_integer_value(json_object_get(about, "offset")),
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
    { "begin", do_begin },   { "cell", do_cell },     { "inspect", do_jobs },
    { "jobs", do_jobs },     { "job_read", do_read }, { "job_kill", do_kill },
};

static void obey(struct shells *s, const struct guest_order *order)
{
    const char *name = json_string_at(json_object_get(order->request, "session"), "op", "");

    s->token = order->token;
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
    if (strcmp(s->op, "begin") == 0) {
        s->op = NULL;
        send(s, FRAME_SESSION,
             json_pack("{s:i,s:o}", "copy", 0, "shell", live_about(&s->live, false)));
        return;
    }
    answer(s);
}

/* order: what was reported before what ended. */
static void turn(struct shells *s)
{
    struct pollfd fds[2 + LIVE_POLL_MAX] = { { .fd = s->op ? -1 : s->chan, .events = POLLIN },
                                             { .fd = child_pipe[0], .events = POLLIN } };
    size_t n = live_poll(&s->live, fds + 2);
    char bytes[64];

    int ready = poll(fds, n + 2, s->live.is_fresh ? FRESH_MS : -1);

    if (ready == 0)
        s->live.is_fresh = false;
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
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    take_signals();
    obey(&s, order);
    json_decref(order->request);
    for (;;)
        turn(&s);
}
