/*
 * A run ends when everything in its box is killed, and only then. Init says so, or, should it have
 * been killed itself, its own death does: the kernel has then killed the rest. The last look into
 * sockets and pipes comes after, so nothing written is lost and nobody who still holds a pipe open
 * can keep us waiting. Init's own exit takes its namespaces down, which is slow; nobody waits for
 * that but us.
 */
#include "backend/box.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/frames.h"
#include "backend/seat.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "python/protocol.h"

enum {
    PIECE = 64 << 10,
    PIPE_PIECES = 16, /* of the largest pipe that a guest can make */
    /* A shorter run cannot do harm that rlimits do not stop, and need not wake the watcher. */
    WATCH_AFTER_US = 3000,
    /* How long a box that was told to end may take before init is killed. It does so at once,
     * unless the host is very busy. */
    LATE_US = 300000,
    /* Of what a program was told: how much may wait to be read, and from how much on no more is
     * heard from it. */
    UNREAD_MAX = 96 << 20,
    PAUSE_BYTES = 1 << 20,
    LONG_PARSE_US = 2000,
};

/* ---- output ---- */

/* Returns false at the end of the stream, or when there is no more for now. */
static bool read_piece(struct host_box *box, int fd, int stream)
{
    char piece[PIECE];
    ssize_t n = read(fd, piece, sizeof(piece));

    if (n <= 0)
        return n < 0 && errno == EINTR;
    if (box->callbacks->output)
        box->callbacks->output(box->callbacks->data, box, stream, piece, (size_t)n);
    return true;
}

static void read_stream(struct host_box *box, int fd, struct event *event, int stream)
{
    errno = 0;
    if (!read_piece(box, fd, stream) && errno != EAGAIN)
        (void)event_del(event); /* every writer has closed it */
}

static void on_out(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;

    (void)what;
    read_stream(box, fd, box->on_out, STDOUT_FILENO);
}

static void on_err(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;

    (void)what;
    read_stream(box, fd, box->on_err, STDERR_FILENO);
}

/* ---- the guest's answer: hostile ---- */

void host_box_forged(struct host_box *box, const char *what)
{
    box->forged = what;
    (void)event_del(box->on_answer);
    host_box_stop(box);
}

bool host_box_has_answered(const struct host_box *box)
{
    return box->answer && !box->seat;
}

void host_box_send_go(const struct host_box *box)
{
    struct frame head = { .kind = FRAME_GO };

    (void)fd_send(box->chan, &head, sizeof(head), NULL, 0); /* a box that is gone says so itself */
}

/* What was printed before something was displayed is to be told before it: the guest flushes first,
 * and then waits a little until its frame was read. No more than a pipe holds. */
static void read_printed(struct host_box *box)
{
    for (int i = 0; i < PIPE_PIECES && read_piece(box, box->out, STDOUT_FILENO); i++)
        ;
    for (int i = 0; i < PIPE_PIECES && read_piece(box, box->err, STDERR_FILENO); i++)
        ;
}

/* Returns whether anything came. */
static bool read_answer(struct host_box *box)
{
    struct gb_err err;
    ssize_t n;

    if (host_box_has_answered(box) || box->forged)
        return false;
    if (gb_buf_reserve(&box->in, PIECE, &err) < 0) {
        host_box_forged(box, "more than can be read");
        return false;
    }
    n = read(box->answer_fd, box->in.data + box->in.len, PIECE);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        (void)event_del(box->on_answer); /* closed: its exit will tell */
        return false;
    }
    box->in.len += (size_t)n;
    frames_take(box);
    return true;
}

/* Listen, unless there is a reason not to. */
static void listen_on(struct host_box *box)
{
    if (host_box_has_answered(box) || box->forged)
        return;
    if (box->is_paused || box->is_resting)
        (void)event_del(box->on_answer);
    else
        (void)event_add(box->on_answer, NULL);
}

/* Reading a large frame costs us more than sending it costs a program. One that has us read so much
 * is left alone for as long as that took, so that it cannot have more than half of our time: there
 * are others. */
static void rest(struct host_box *box)
{
    struct timeval in = { .tv_usec = (suseconds_t)box->parse_us };

    if (box->parse_us < LONG_PARSE_US || box->parse_us >= 1000000 || host_box_has_answered(box) ||
        box->forged)
        return;
    box->is_resting = true;
    (void)evtimer_add(box->on_rest, &in);
    listen_on(box);
}

static void on_rest(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;

    (void)fd;
    (void)what;
    box->is_resting = false;
    listen_on(box);
}

static void on_answer(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;

    (void)fd;
    (void)what;
    box->parse_us = 0;
    if (!box->seat || seat_is_running(box)) /* between cells it waits for the next */
        read_printed(box);
    (void)read_answer(box);
    rest(box);
}

/* ---- what the program is told ---- */

/* A program that does not read what it asked for is not listened to until it has. */
static void attend(struct host_box *box)
{
    bool is_behind = outbox_len(&box->outbox) > PAUSE_BYTES;

    if (outbox_len(&box->outbox) > 0)
        (void)event_add(box->on_chan, NULL);
    if (is_behind == box->is_paused)
        return;
    box->is_paused = is_behind;
    listen_on(box);
}

static void on_chan(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;

    (void)what;
    outbox_flush(&box->outbox, fd);
    attend(box);
}

int host_box_open_words(struct host_box *box, uint64_t token, int *ret_far, struct gb_err *err)
{
    struct event_base *base = event_get_base(box->on_ctl);
    int pair[2];

    host_box_close_words(box);
    if (token == 0)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a socket for a cell's tools");
    *ret_far = pair[1];
    box->words = pair[0];
    box->has_tools = true;
    box->tool_token = token;
    (void)shutdown(pair[0], SHUT_RD);
    return event_assign(box->on_chan, base, pair[0], EV_WRITE, on_chan, box) < 0
               ? gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a socket for a cell's tools")
               : 0;
}

void host_box_close_words(struct host_box *box)
{
    if (box->words < 0)
        return;
    (void)event_del(box->on_chan);
    (void)close(take_fd(&box->words));
    outbox_done(&box->outbox);
    box->outbox.is_deaf = false;
    box->is_paused = false; /* whoever ends a cell listens again */
    box->has_tools = false;
    box->tool_token = 0;
}

bool host_box_tell(struct host_box *box, const char *json, size_t len)
{
    struct frame head = { .kind = FRAME_TOOL_RESULT,
                          .len = (uint32_t)len,
                          .token = box->tool_token };
    bool ok;

    if (!box->has_tools || box->state != BOX_RUNNING || box->killed ||
        (box->seat && !seat_is_running(box)))
        return false;
    ok = outbox_send(&box->outbox, box->seat ? box->words : box->chan, &head, sizeof(head), json,
                     len);
    attend(box);
    return ok;
}

/* ---- init's socket: ours ---- */

static void end(struct host_box *box);

/* What is kept only to save time must not be what others lack. */
static bool is_low(int fd)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd < limit.rlim_cur / 2;
}

/* One message from init or, the first, from the guest while it is ours. False when there is
 * none. */
static bool next_event(struct host_box *box, struct box_event *event, ssize_t *ret_len)
{
    int fd = -1;
    size_t n = 1;

    *ret_len = fd_recv(box->ctl, event, sizeof(*event), &fd, &n);
    if (*ret_len > 0 && n == 1 && box->workspace < 0 &&
        (event->kind == BOX_READY || event->kind == BOX_OPENED))
        box->workspace = take_fd(&fd);
    if (*ret_len > 0 && n == 1 && box->net < 0 && event->kind == BOX_ENDED && is_low(fd))
        box->net = take_fd(&fd);
    if (*ret_len > 0 && n == 1)
        gb_closep(&fd);
    return *ret_len == (ssize_t)sizeof(*event);
}

static void note_event(struct host_box *box, const struct box_event *event)
{
    switch (event->kind) {
    case BOX_READY:
        box->is_ready = true;
        box->layers = event->layers;
        box->setup_cpu_us = event->cpu_us;
        if (box->state == BOX_MAKING)
            box->state = BOX_WAITING;
        else if (box->state == BOX_RUNNING && !box->seat && !box->is_held)
            host_box_watch(box); /* init's clock is the program's, and begins with it */
        box->callbacks->ready(box->callbacks->data, box);
        break;
    case BOX_FAILED:
        if (!box->setup_failed) /* guest and init may both say so, and the first knows why */
            box->setup_err = event->err;
        box->setup_failed = true;
        break;
    case BOX_ENDED:
        box->reported = true;
        box->end = event->end;
        box->status = event->status;
        box->sample = event->sample;
        box->usage = event->usage;
        box->n_survivors = event->n_survivors;
        memcpy(box->survivors, event->survivors, sizeof(box->survivors));
        end(box);
        break;
    case BOX_RESTED:
    case BOX_ROLLED:
    case BOX_DROPPED:
    case BOX_OPENED:
        if (box->seat)
            seat_event(box, event);
        break;
    }
}

static void gone(struct host_box *box)
{
    if (box->state == BOX_RUNNING)
        end(box);
    box->callbacks->gone(box->callbacks->data, box);
    host_box_free(box);
}

static void on_ctl(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;
    struct box_event event;
    ssize_t n;

    (void)fd;
    (void)what;
    if (next_event(box, &event, &n))
        note_event(box, &event);
    else if (n != -EAGAIN && !host_box_is_last(box))
        gone(box); /* the others live on, and the process with them */
    else if (n != -EAGAIN)
        (void)event_del(box->on_ctl);
}

static void on_watch(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;
    struct box_order order = { .kind = BOX_WATCH,
                               .limits = box->watch,
                               .timeout_ms = box->timeout_ms };

    (void)fd;
    (void)what;
    if (box->state == BOX_RUNNING && (!box->seat || seat_is_running(box)))
        (void)fd_send(box->ctl, &order, sizeof(order), NULL, 0);
}

/* Without a pid namespace nothing but the guest goes with init. But as long as init lives, all of
 * the box is below it, and while it hangs, nobody waits for the dead and no number is used
 * again. */
static void kill_below(pid_t init)
{
    enum {
        ROUNDS = 16,
        PIDS = 4096
    };
    auto_free pid_t *pids = calloc(PIDS, sizeof(*pids));
    auto_close int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (int round = 0; pids && proc >= 0 && round < ROUNDS; round++) {
        size_t n = watch_descendants(proc, init, pids, PIDS);

        for (size_t i = 0; i < n; i++)
            (void)kill(pids[i], SIGKILL);
    }
}

/* It was told, or said that it would, and did not. */
static void on_late(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;

    (void)fd;
    (void)what;
    if (!box->killed) {
        host_box_kill(box);
    } else if (box->pid > 0) {
        if (box->shape.level < LEVEL_NAMESPACES)
            kill_below(box->pid);
        (void)syscall(SYS_pidfd_send_signal, box->pidfd, SIGKILL, NULL, 0);
    }
}

/* ---- the end ---- */

/* Init waits for this before it removes the workspace, where that is a directory of the host. */
static int give_up_ctl(struct host_box *box)
{
    if (box->ctl >= 0)
        (void)event_del(box->on_ctl);
    return take_fd(&box->ctl);
}

/* A pipe's content and no more: in a box where a session lives, somebody may go on writing. */
static void drain_some(struct host_box *box, int fd, int stream)
{
    int left = 0;

    if (ioctl(fd, FIONREAD, &left) < 0)
        return;
    for (; left > 0 && read_piece(box, fd, stream); left -= PIECE)
        ;
}

void host_box_drain(struct host_box *box)
{
    drain_some(box, box->out, STDOUT_FILENO);
    drain_some(box, box->err, STDERR_FILENO);
}

/* As much as a pipe holds, too. */
void host_box_drain_answer(struct host_box *box)
{
    for (int i = 0; i < PIPE_PIECES && read_answer(box); i++)
        ;
    box->in.len = 0;
}

static void drain(struct host_box *box)
{
    host_box_drain(box);
    host_box_drain_answer(box);
}

static void end(struct host_box *box)
{
    bool ran = box->state == BOX_RUNNING;

    box->is_ending = true;
    if (ran && !box->setup_failed)
        drain(box);
    box->state = BOX_OVER;
    if (ran)
        box->callbacks->ended(box->callbacks->data, box);
    if (box->reported && !host_box_is_last(box)) {
        (void)shutdown(box->ctl,
                       SHUT_WR); /* its end there is closed when the others do not need it */
    } else if (box->reported) {  /* nothing more comes */
        auto_close int ctl = give_up_ctl(box);
        (void)ctl;
    }
}

static void on_pid(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;
    struct box_event event;
    ssize_t n;

    (void)fd;
    (void)what;
    (void)waitpid(box->pid, NULL, __WALL | WNOHANG);
    (void)event_del(box->on_pid);
    box->pid = 0;
    while (next_event(box, &event, &n))
        if (event.kind != BOX_READY || box->state == BOX_RUNNING)
            note_event(box, &event); /* a short run may have been ready and over since we looked */
    gone(box);
}

/* ---- what became of it ---- */

/* It wrote what is not its to write, or said that it had ended, and had not. */
static bool is_forger(const struct host_box *box)
{
    return box->forged || (box->answer && (box->reported || box->killed));
}

struct run_outcome host_box_outcome(struct host_box *box, bool was_killed)
{
    struct run_outcome o = { .level = box->shape.level,
                             .usage = box->usage,
                             .survivors = box->survivors,
                             .n_survivors = box->n_survivors,
                             .setup_cpu_us = box->setup_cpu_us,
                             .is_checked = box->is_checked,
                             .has_begun = !box->is_held,
                             .keeper = -1,
                             .layers = box->layers };

    /* A box that lives on keeps both. */
    o.workspace = box->state == BOX_OVER || box->workspace < 0
                      ? take_fd(&box->workspace)
                      : fcntl(box->workspace, F_DUPFD_CLOEXEC, 3);
    if (box->state == BOX_OVER && box->reported && box->shape.level < LEVEL_NAMESPACES &&
        host_box_is_last(box))
        o.keeper = give_up_ctl(box);
    if (box->seat && seat_failed(box, &o))
        return o;

    if (box->setup_failed) {
        o.end = RUN_FAILED;
        o.err = box->setup_err;
    } else if (box->answer && !box->forged && box->reported && box->end == END_EXITED) {
        o.end = RUN_ANSWERED;
        o.answer = box->answer;
        o.is_verdict = box->is_verdict;
        o.status = box->status;
    } else if (was_killed) { /* whatever it said, it had not ended */
        o.end = RUN_KILLED;
        o.said = box->seat ? box->answer : NULL;
    } else if (box->reported && box->end == END_LIMIT) {
        o.end = RUN_LIMIT;
        o.sample = box->sample;
    } else if (box->reported && box->end == END_LATE) {
        o.end = RUN_LATE;
    } else if (box->reported && box->end == END_BLIND) {
        o.end = RUN_FAILED;
        (void)gb_fail(&o.err, GB_E_SYSTEM, box->sample.blind,
                      "the box was ended: its watcher could not read /proc");
    } else if (is_forger(box)) {
        o.end = RUN_ANSWERED;
        o.answer = NULL;
        o.forged = box->forged;
    } else {
        o.end = RUN_EXITED;
        /* Without a report, somebody on the host killed the box. */
        o.status = box->reported && box->end == END_EXITED ? box->status : SIGKILL;
    }
    return o;
}

/* ---- life ---- */

static int watch_fd(struct event_base *base, int fd, event_callback_fn fn, struct host_box *box,
                    struct event **ret)
{
    *ret = event_new(base, fd, EV_READ | EV_PERSIST, fn, box);
    return *ret && event_add(*ret, NULL) == 0 ? 0 : -1;
}

int host_box_new(struct event_base *base, const struct box_callbacks *callbacks,
                 struct host_box **ret, struct box_far *ret_far, struct gb_err *err)
{
    struct host_box *box = calloc(1, sizeof(*box));
    int ctl[2] = { -1, -1 }, chan[2] = { -1, -1 }, reply[2] = { -1, -1 };
    int out[2] = { -1, -1 }, errs[2] = { -1, -1 };

    if (!box)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a box");
    bool ok = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl) == 0 &&
              socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, chan) == 0 &&
              pipe2(reply, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
              pipe2(errs, O_CLOEXEC) == 0;
    /* Whatever a guest sends back on it is refused by the kernel. */
    ok = ok && shutdown(chan[0], SHUT_RD) == 0;
    *box = (struct host_box){ .pidfd = -1,
                              .request = -1,
                              .workspace = -1,
                              .net = -1,
                              .scratch_lock = -1,
                              .words = -1,
                              .ctl = ctl[0],
                              .chan = chan[0],
                              .answer_fd = reply[0],
                              .out = out[0],
                              .err = errs[0],
                              .callbacks = callbacks };
    *ret_far = (struct box_far){ ctl[1], chan[1], reply[1], out[1], errs[1] };
    gb_buf_init(&box->in, sizeof(struct frame) + DISPLAY_MAX + PIECE);
    outbox_init(&box->outbox, UNREAD_MAX);
    ok = ok && fcntl(ctl[0], F_SETFL, O_NONBLOCK) == 0 &&
         fcntl(reply[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(out[0], F_SETFL, O_NONBLOCK) == 0 &&
         fcntl(errs[0], F_SETFL, O_NONBLOCK) == 0 &&
         watch_fd(base, ctl[0], on_ctl, box, &box->on_ctl) == 0 &&
         watch_fd(base, reply[0], on_answer, box, &box->on_answer) == 0 &&
         watch_fd(base, out[0], on_out, box, &box->on_out) == 0 &&
         watch_fd(base, errs[0], on_err, box, &box->on_err) == 0;
    box->on_watch = ok ? evtimer_new(base, on_watch, box) : NULL;
    box->on_late = ok ? evtimer_new(base, on_late, box) : NULL;
    box->on_chan = ok ? event_new(base, chan[0], EV_WRITE, on_chan, box) : NULL;
    box->on_rest = ok ? evtimer_new(base, on_rest, box) : NULL;
    if (box->on_watch && box->on_late && box->on_chan && box->on_rest) {
        *ret = box;
        return 0;
    }
    (void)gb_fail(err, GB_E_SYSTEM, errno, "making a box's pipes");
    gb_closep(&ctl[1]);
    gb_closep(&chan[1]);
    gb_closep(&reply[1]);
    gb_closep(&out[1]);
    gb_closep(&errs[1]);
    host_box_free(box);
    return -1;
}

int host_box_born(struct host_box *box, pid_t pid, int pidfd, struct gb_err *err)
{
    box->pid = pid;
    box->pidfd = pidfd;
    if (watch_fd(event_get_base(box->on_ctl), pidfd, on_pid, box, &box->on_pid) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "watching a box");
    if (box->killed)
        host_box_kill(box);
    return 0;
}

static int send_program(struct host_box *box, const json_t *program, int in, struct gb_err *err)
{
    auto_free char *text = json_text(program);
    struct frame head = { .kind = FRAME_RUN };
    int e;

    if (getrandom(&box->token, sizeof(box->token), 0) != (ssize_t)sizeof(box->token))
        return gb_fail(err, GB_E_SYSTEM, errno, "drawing a random number");
    head.token = box->token;

    if (!text)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "writing the request");
    head.len = (uint32_t)strlen(text);
    /* The guest of a waiting box reads at once and all; blocking is short. */
    e = fd_send_both(box->chan, &head, sizeof(head), text, head.len, &in, in >= 0 ? 1 : 0);
    return e < 0 ? gb_fail(err, GB_E_GONE, -e, "sending the request to its box") : 0;
}

void host_box_watch(struct host_box *box)
{
    struct timeval soon = { .tv_usec = WATCH_AFTER_US };

    (void)evtimer_add(box->on_watch, &soon);
}

int host_box_run(struct host_box *box, const struct box_work *work, struct gb_err *err)
{
    struct box_order list = { .kind = BOX_LIST };

    /* order: first, so that init knows of it when the program ends, however soon that is. */
    if (work->list_survivors)
        (void)fd_send(box->ctl, &list, sizeof(list), NULL, 0);
    if (box->seat)
        return seat_take(box, work, err);
    if (send_program(box, work->program, work->in, err) < 0)
        return -1;
    box->state = BOX_RUNNING;
    box->watch = work->watch;
    box->timeout_ms = work->timeout_ms;
    box->is_held = work->hold;
    box->has_tools = work->tool_token != 0;
    box->tool_token = work->tool_token;
    if (!work->hold && box->is_ready) /* until then only our own code runs in it */
        host_box_watch(box);
    return 0;
}

void host_box_go(struct host_box *box)
{
    if (!box->is_held || !box->is_checked || box->state != BOX_RUNNING)
        return;
    box->is_held = false;
    host_box_send_go(box);
    host_box_watch(box);
}

void host_box_kill(struct host_box *box)
{
    struct box_order order = { .kind = BOX_DIE };
    struct timeval late = { .tv_usec = LATE_US };

    if (!host_box_is_last(box)) /* who is late then costs all of them the box */
        late = (struct timeval){ .tv_sec = BOX_LINGER_S };
    box->killed = true;
    if (box->state != BOX_RUNNING)
        box->state = BOX_OVER;
    if (box->pid <= 0)
        return; /* not born yet: it will be killed then */
    (void)fd_send(box->ctl, &order, sizeof(order), NULL, 0);
    (void)evtimer_add(box->on_late, &late);
}

void host_box_stop(struct host_box *box)
{
    if (box->seat && box->state == BOX_RUNNING && !box->killed)
        seat_stop(box);
    else
        host_box_kill(box);
}

bool host_box_is_last(const struct host_box *box)
{
    return !box->kin || box->kin->n <= 1;
}

int host_box_join(struct host_box *fork, struct host_box *box, struct gb_err *err)
{
    int pidfd = fcntl(box->pidfd, F_DUPFD_CLOEXEC, 3);

    if (!box->kin) {
        box->kin = calloc(1, sizeof(*box->kin));
        if (box->kin)
            box->kin->n = 1;
    }
    if (pidfd < 0 || !box->kin || host_box_born(fork, box->pid, pidfd, err) < 0) {
        gb_closep(&pidfd);
        fork->pidfd = -1;
        fork->pid = 0; /* it never came to be */
        return gb_fail(err, GB_E_SYSTEM, errno, "sharing a box");
    }
    fork->kin = box->kin;
    fork->kin->n++;
    fork->number = box->number;
    fork->is_fork = true;
    fork->uid = box->uid;
    fork->gid = box->gid;
    fork->shape = box->shape;
    (void)mounts_ref(fork->shape.mounts);
    fork->layers = box->layers;
    fork->scratch = box->scratch ? strdup(box->scratch) : NULL;
    fork->state = BOX_RUNNING;
    fork->is_ready = true;
    return 0;
}

void box_far_close(const struct box_far *far)
{
    gb_closep(&far->ctl);
    gb_closep(&far->chan);
    gb_closep(&far->answer);
    gb_closep(&far->out);
    gb_closep(&far->err);
}

void host_box_free(struct host_box *box)
{
    struct event *events[] = { box->on_pid,  box->on_ctl,  box->on_answer,
                               box->on_out,  box->on_err,  box->on_watch,
                               box->on_late, box->on_chan, box->on_rest };
    int fds[] = { box->pidfd, box->ctl,       box->chan,  box->answer_fd, box->out,
                  box->err,   box->workspace, box->words, box->net };

    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        if (events[i])
            event_free(events[i]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        gb_closep(&fds[i]);
    fd_take_back(&box->request);
    if (box->kin && --box->kin->n == 0)
        free(box->kin);
    seat_free(box->seat);
    gb_buf_done(&box->in);
    outbox_done(&box->outbox);
    json_decref(box->answer);
    (void)mounts_unref(box->shape.mounts);
    gb_closep(&box->scratch_lock);
    free(box->scratch);
    free(box);
}
