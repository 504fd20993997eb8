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
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/seat.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "python/protocol.h"

enum {
    PIECE = 64 << 10,
    /* A shorter run cannot do harm that rlimits do not stop, and need not wake the watcher. */
    WATCH_AFTER_US = 3000,
    /* How long a box that was told to end may take before init is killed, and how long a guest
     * that has answered may take to exit. Both do it at once, unless the host is very busy. */
    LATE_US = 300000,
    LINGER_S = 3,
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

/* Anything that is not one well-formed answer ends the run. */
static void forged(struct host_box *box)
{
    box->forged = true;
    (void)event_del(box->on_answer);
    host_box_stop(box);
}

/* At least as many as the text can hold: an item costs two bytes to send and hundreds to read. */
static size_t count_items(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += text[i] == ',' || text[i] == '[' || text[i] == '{';
    return n;
}

/* The JSON of a frame that is all there, or NULL if it is not what we would read. */
static json_t *frame_json(const struct host_box *box, const struct frame *head)
{
    const char *text = box->in.data + sizeof(*head);
    json_t *json;

    if (count_items(text, head->len) > FRAME_ITEMS_MAX)
        return NULL;
    json = json_loadb(text, head->len, JSON_ALLOW_NUL, NULL);
    if (json_is_object(json) && json_depth(json) <= FRAME_DEPTH_MAX)
        return json;
    json_decref(json);
    return NULL;
}

/* Once, and only from the check: the program that it let pass has never seen the token. */
static bool take_checked(struct host_box *box, const struct frame *head, const json_t *found)
{
    if (box->is_checked || head->token != box->token)
        return false;
    box->is_checked = true;
    box->callbacks->checked(box->callbacks->data, box, found);
    return true;
}

/* The program is at its end and has flushed. Its exit ends the box and whatever else lives
 * there; killing it instead would lose the kernel's account of what it used. */
static bool take_done(struct host_box *box, const struct frame *head, json_t *answer)
{
    struct timeval late = { .tv_sec = LINGER_S };

    if (box->seat)
        return seat_done(box, head, answer);
    box->answer = json_incref(answer);
    box->is_verdict = head->token == box->token;
    (void)event_del(box->on_answer);
    (void)evtimer_add(box->on_late, &late);
    return true;
}

static bool is_expected(const struct host_box *box, uint32_t kind)
{
    if (box->seat)
        return kind == FRAME_DONE || kind == FRAME_SESSION;
    return box->state >= BOX_RUNNING && (kind == FRAME_DONE || kind == FRAME_CHECKED);
}

static bool take(struct host_box *box, const struct frame *head, json_t *json)
{
    if (head->kind == FRAME_SESSION)
        return seat_copied(box, json);
    return head->kind == FRAME_DONE ? take_done(box, head, json) : take_checked(box, head, json);
}

/* Take the frame that is at the front, if it is all there. */
static void take_frame(struct host_box *box)
{
    auto_json json_t *json = NULL;
    struct frame head;

    if (box->in.len < sizeof(head))
        return;
    memcpy(&head, box->in.data, sizeof(head));
    if (!is_expected(box, head.kind) || head.len > FRAME_MAX) {
        forged(box);
        return;
    }
    if (box->in.len < sizeof(head) + head.len)
        return;
    json = frame_json(box, &head);
    box->in.len -= sizeof(head) + head.len;
    memmove(box->in.data, box->in.data + sizeof(head) + head.len, box->in.len);
    if (!json || !take(box, &head, json))
        forged(box);
    else if (!box->answer || box->seat)
        take_frame(box); /* there may be one more: two are all that are taken */
}

/* Returns whether anything came. */
static bool read_answer(struct host_box *box)
{
    struct gb_err err;
    ssize_t n;

    if ((box->answer && !box->seat) || box->forged)
        return false;
    if (gb_buf_reserve(&box->in, PIECE, &err) < 0) {
        forged(box);
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
    take_frame(box);
    return true;
}

static void on_answer(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)read_answer(data);
}

/* ---- init's socket: ours ---- */

static void end(struct host_box *box);

static void note_event(struct host_box *box, const struct box_event *event)
{
    switch (event->kind) {
    case BOX_READY:
        box->is_ready = true;
        box->setup_cpu_us = event->cpu_us;
        if (box->state == BOX_MAKING)
            box->state = BOX_WAITING;
        box->callbacks->ready(box->callbacks->data, box);
        break;
    case BOX_FAILED:
        box->setup_failed = true;
        box->setup_err = event->err;
        break;
    case BOX_ENDED:
        box->reported = true;
        box->end = event->end;
        box->status = event->status;
        box->sample = event->sample;
        box->usage = event->usage;
        end(box);
        break;
    case BOX_RESTED:
    case BOX_ROLLED:
    case BOX_DROPPED:
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
    ssize_t n = fd_recv(fd, &event, sizeof(event), NULL, NULL);

    (void)what;
    if (n == (ssize_t)sizeof(event))
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

/* It was told, or said that it would, and did not. */
static void on_late(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;

    (void)fd;
    (void)what;
    if (!box->killed)
        host_box_kill(box);
    else if (box->shape.level == LEVEL_NAMESPACES && box->pid > 0)
        (void)syscall(SYS_pidfd_send_signal, box->pidfd, SIGKILL, NULL, 0);
}

/* ---- the end ---- */

/* The pipes hold a bounded amount, and nobody is left to write more. */
static void drain(struct host_box *box)
{
    while (read_piece(box, box->out, STDOUT_FILENO))
        ;
    while (read_piece(box, box->err, STDERR_FILENO))
        ;
    while (read_answer(box))
        ;
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

void host_box_drain_answer(struct host_box *box)
{
    while (read_answer(box))
        ;
    box->in.len = 0;
}

static void end(struct host_box *box)
{
    bool ran = box->state == BOX_RUNNING;

    if (ran && !box->setup_failed)
        drain(box);
    box->state = BOX_OVER;
    if (ran)
        box->callbacks->ended(box->callbacks->data, box);
}

static void on_pid(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;
    struct box_event event;

    (void)fd;
    (void)what;
    (void)waitpid(box->pid, NULL, __WALL | WNOHANG);
    (void)event_del(box->on_pid);
    box->pid = 0;
    while (fd_recv(box->ctl, &event, sizeof(event), NULL, NULL) == (ssize_t)sizeof(event))
        if (event.kind != BOX_READY || box->state == BOX_RUNNING)
            note_event(box, &event); /* a short run may have been ready and over since we looked */
    gone(box);
}

/* ---- what became of it ---- */

struct run_outcome host_box_outcome(const struct host_box *box, bool was_killed)
{
    struct run_outcome o = { .level = box->shape.level,
                             .usage = box->usage,
                             .setup_cpu_us = box->setup_cpu_us,
                             .is_checked = box->is_checked,
                             .has_begun = !box->is_held,
                             .n_layers = box->n_layers };

    memcpy(o.layers, box->layers, sizeof(o.layers));
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
    } else if (box->reported && box->end == END_LIMIT) {
        o.end = RUN_LIMIT;
        o.sample = box->sample;
    } else if (box->reported && box->end == END_LATE) {
        o.end = RUN_LATE;
    } else if (box->forged || box->answer) { /* or it said that it had ended, and had not */
        o.end = RUN_ANSWERED;
        o.answer = NULL;
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
                              .ctl = ctl[0],
                              .chan = chan[0],
                              .answer_fd = reply[0],
                              .out = out[0],
                              .err = errs[0],
                              .callbacks = callbacks };
    *ret_far = (struct box_far){ ctl[1], chan[1], reply[1], out[1], errs[1] };
    gb_buf_init(&box->in, sizeof(struct frame) + FRAME_MAX + PIECE);
    ok = ok && fcntl(ctl[0], F_SETFL, O_NONBLOCK) == 0 &&
         fcntl(reply[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(out[0], F_SETFL, O_NONBLOCK) == 0 &&
         fcntl(errs[0], F_SETFL, O_NONBLOCK) == 0 &&
         watch_fd(base, ctl[0], on_ctl, box, &box->on_ctl) == 0 &&
         watch_fd(base, reply[0], on_answer, box, &box->on_answer) == 0 &&
         watch_fd(base, out[0], on_out, box, &box->on_out) == 0 &&
         watch_fd(base, errs[0], on_err, box, &box->on_err) == 0;
    box->on_watch = ok ? evtimer_new(base, on_watch, box) : NULL;
    box->on_late = ok ? evtimer_new(base, on_late, box) : NULL;
    if (box->on_watch && box->on_late) {
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
    auto_free char *text = json_dumps(program, JSON_COMPACT);
    struct frame head = { .kind = FRAME_RUN };
    int e;

    if (getrandom(&box->token, sizeof(box->token), 0) != (ssize_t)sizeof(box->token))
        return gb_fail(err, GB_E_SYSTEM, errno, "drawing a random number");
    head.token = box->token;

    if (!text)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "writing the request");
    head.len = (uint32_t)strlen(text);
    /* The guest of a waiting box reads at once and all; blocking is short. */
    e = fd_send(box->chan, &head, sizeof(head), &in, in >= 0 ? 1 : 0);
    if (e == 0)
        e = fd_send_all(box->chan, text, head.len);
    return e < 0 ? gb_fail(err, GB_E_GONE, -e, "sending the request to its box") : 0;
}

void host_box_watch(struct host_box *box)
{
    struct timeval soon = { .tv_usec = WATCH_AFTER_US };

    (void)evtimer_add(box->on_watch, &soon);
}

int host_box_run(struct host_box *box, const struct box_work *work, struct gb_err *err)
{
    if (box->seat)
        return seat_take(box, work, err);
    if (send_program(box, work->program, work->in, err) < 0)
        return -1;
    box->state = BOX_RUNNING;
    box->watch = work->watch;
    box->timeout_ms = work->timeout_ms;
    box->is_held = work->hold;
    if (!work->hold) /* until then only our own code runs in it */
        host_box_watch(box);
    return 0;
}

void host_box_go(struct host_box *box)
{
    struct frame head = { .kind = FRAME_GO };

    if (!box->is_held || !box->is_checked || box->state != BOX_RUNNING)
        return;
    box->is_held = false;
    (void)fd_send(box->chan, &head, sizeof(head), NULL, 0);
    host_box_watch(box);
}

void host_box_kill(struct host_box *box)
{
    struct box_order order = { .kind = BOX_DIE };
    struct timeval late = { .tv_usec = LATE_US };

    if (!host_box_is_last(box)) /* who is late then costs all of them the box */
        late = (struct timeval){ .tv_sec = LINGER_S };
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
        return gb_fail(err, GB_E_SYSTEM, errno, "sharing a box");
    }
    fork->kin = box->kin;
    fork->kin->n++;
    fork->number = box->number;
    fork->shape = box->shape;
    fork->n_layers = box->n_layers;
    memcpy(fork->layers, box->layers, sizeof(fork->layers));
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
    struct event *events[] = { box->on_pid, box->on_ctl,   box->on_answer, box->on_out,
                               box->on_err, box->on_watch, box->on_late };
    int fds[] = { box->pidfd, box->ctl, box->chan, box->answer_fd, box->out, box->err };

    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        if (events[i])
            event_free(events[i]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        gb_closep(&fds[i]);
    if (box->kin && --box->kin->n == 0)
        free(box->kin);
    seat_free(box->seat);
    gb_buf_done(&box->in);
    json_decref(box->answer);
    free(box->scratch);
    free(box);
}
