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
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "python/protocol.h"

_Static_assert((int)DISPLAY_MAX >= (int)FRAME_MAX, "a buffer for the larger takes all");

enum {
    PIECE = 64 << 10,
    PIPE_PIECES = 16, /* of the largest pipe that a guest can make */
    /* A shorter run cannot do harm that rlimits do not stop, and need not wake the watcher. */
    WATCH_AFTER_US = 3000,
    /* How long a box that was told to end may take before init is killed, and how long a guest
     * that has answered may take to exit. Both do it at once, unless the host is very busy. */
    LATE_US = 300000,
    LINGER_S = 3,
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

/* Anything that is not a well-formed frame, at a time when it can be meant, ends the run. */
static void forged(struct host_box *box, const char *what)
{
    box->forged = what;
    (void)event_del(box->on_answer);
    host_box_kill(box);
}

/* The JSON of a frame that is all there, or NULL if it is not what we would read. */
static json_t *frame_json(const char *text, size_t len)
{
    json_t *json;

    if (json_count_items(text, len) > FRAME_ITEMS_MAX)
        return NULL;
    json = json_loadb(text, len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(json) && json_depth(json) <= FRAME_DEPTH_MAX)
        return json;
    json_decref(json);
    return NULL;
}

static void send_go(const struct host_box *box)
{
    struct frame head = { .kind = FRAME_GO };

    (void)fd_send(box->chan, &head, sizeof(head), NULL, 0); /* a box that is gone says so itself */
}

/* Once, and only from the check: the program that it let pass has never seen the token. It waits
 * for this to have been read: once it runs it could read the pipe itself, token
 * and all, and speak for the check. */
static const char *take_checked(struct host_box *box, const struct frame *head, json_t *found,
                                const char *text)
{
    (void)text;
    if (box->is_checked || head->token != box->token)
        return "a second word on the check, or not the check's own";
    box->is_checked = true;
    if (box->is_ending)
        return NULL; /* it died waiting: nobody need be asked about it */
    box->callbacks->checked(box->callbacks->data, box, found);
    if (!box->is_held)
        send_go(box);
    return NULL;
}

/* The program is at its end and has flushed. Its exit ends the box and whatever else lives
 * there; killing it instead would lose the kernel's account of what it used. */
static const char *take_done(struct host_box *box, const struct frame *head, json_t *answer,
                             const char *text)
{
    struct timeval late = { .tv_sec = LINGER_S };

    (void)text;
    box->answer = json_incref(answer);
    box->is_verdict = head->token == box->token && !box->is_checked;
    (void)event_del(box->on_answer);
    (void)evtimer_add(box->on_late, &late);
    return NULL;
}

static const char *take_display(struct host_box *box, const struct frame *head, json_t *shown,
                                const char *text)
{
    (void)head;
    (void)text;
    box->callbacks->display(box->callbacks->data, box, shown);
    return NULL;
}

/* May it show this much more? A guest that keeps on is not read any further: that costs no more
 * than what it prints. */
static bool has_room(struct host_box *box, const struct frame *head)
{
    if (box->is_display_full)
        return false;
    box->is_display_full = box->display_things >= DISPLAY_THINGS_MAX ||
                           head->len > DISPLAY_RUN_MAX - box->display_bytes;
    if (box->is_display_full) {
        box->callbacks->display(box->callbacks->data, box, NULL);
        return false;
    }
    box->display_things++;
    box->display_bytes += head->len;
    return true;
}

static const char *take_word(struct host_box *box, const struct frame *head, json_t *json,
                             const char *text)
{
    struct run_word word = { .kind =
                                 head->kind == FRAME_TOOL_CALL ? WORD_TOOL_CALL : WORD_TOOL_CANCEL,
                             .json = json,
                             .text = text,
                             .len = head->len };

    if (!box->has_tools || head->token != box->tool_token)
        return "a tool call that did not come from the program's own runtime";
    if (box->is_ending || box->killed)
        return NULL; /* nobody is left to hear the answer */
    return box->callbacks->word(box->callbacks->data, box, &word);
}

/* What a guest may send, and how much of it. */
static const struct frame_taker {
    enum frame_kind kind;
    uint32_t max;   /* bytes */
    bool has_begun; /* only a program that runs sends it */
    bool (*has_room)(struct host_box *box, const struct frame *head); /* NULL: always */
    const char *(*take)(struct host_box *box, const struct frame *head, json_t *json,
                        const char *text);
} takers[] = {
    { FRAME_DONE, FRAME_MAX, false, NULL, take_done },
    { FRAME_CHECKED, FRAME_MAX, false, NULL, take_checked },
    { FRAME_TOOL_CALL, TOOL_CALL_MAX, true, NULL, take_word },
    { FRAME_TOOL_CANCEL, TOOL_CALL_MAX, true, NULL, take_word },
    { FRAME_DISPLAY, DISPLAY_MAX, true, has_room, take_display },
};

static const struct frame_taker *taker_of(const struct host_box *box, const struct frame *head)
{
    for (size_t i = 0; i < ARRAY_LEN(takers) && box->state >= BOX_RUNNING; i++)
        if (takers[i].kind == head->kind && !(takers[i].has_begun && box->is_held))
            return &takers[i];
    return NULL;
}

/* Returns NULL, or what is wrong with it. */
static const char *take_content(struct host_box *box, const struct frame_taker *taker,
                                const struct frame *head, const char *text)
{
    int64_t began = clock_us();
    auto_json json_t *json = NULL;

    if (taker->has_room && !taker->has_room(box, head))
        return NULL;
    json = frame_json(text, head->len);
    box->parse_us += clock_us() - began;
    return json ? taker->take(box, head, json, text)
                : "a frame that is no JSON object, or too deep, or of too many items";
}

/* Take the frame at `text`, if it is all there. Returns its length, 0 if it is not. */
static size_t take_frame(struct host_box *box, const char *text, size_t len)
{
    const struct frame_taker *taker;
    const char *problem;
    struct frame head;

    if (len < sizeof(head))
        return 0;
    memcpy(&head, text, sizeof(head));
    taker = taker_of(box, &head);
    if (!taker)
        problem = "something that is no frame, or not of a kind that programs send";
    else if (head.len > taker->max)
        problem = "a frame that is larger than frames may be";
    else if (len < sizeof(head) + head.len)
        return 0;
    else
        problem = take_content(box, taker, &head, text + sizeof(head));
    if (problem)
        forged(box, problem);
    return problem ? 0 : sizeof(head) + head.len;
}

static void take_frames(struct host_box *box)
{
    size_t at = 0, n;

    do {
        n = take_frame(box, box->in.data + at, box->in.len - at);
        at += n;
    } while (n > 0 && !box->answer);
    box->in.len -= at;
    memmove(box->in.data, box->in.data + at, box->in.len);
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

    if (box->answer || box->forged)
        return false;
    if (gb_buf_reserve(&box->in, PIECE, &err) < 0) {
        forged(box, "more than can be read");
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
    take_frames(box);
    return true;
}

/* Listen, unless there is a reason not to. */
static void listen_on(struct host_box *box)
{
    if (box->answer || box->forged)
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

    if (box->parse_us < LONG_PARSE_US || box->parse_us >= 1000000 || box->answer || box->forged)
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

bool host_box_tell(struct host_box *box, const char *json, size_t len)
{
    struct frame head = { .kind = FRAME_TOOL_RESULT,
                          .len = (uint32_t)len,
                          .token = box->tool_token };
    bool ok;

    if (!box->has_tools || box->state != BOX_RUNNING || box->killed)
        return false;
    ok = outbox_send(&box->outbox, box->chan, &head, sizeof(head), json, len);
    attend(box);
    return ok;
}

/* ---- init's socket: ours ---- */

static void end(struct host_box *box);

/* One message from init or, the first, from the guest while it is ours. False when there is none. */
static bool next_event(struct host_box *box, struct box_event *event, ssize_t *ret_len)
{
    int fd = -1;
    size_t n = 1;

    *ret_len = fd_recv(box->ctl, event, sizeof(*event), &fd, &n);
    if (*ret_len > 0 && n == 1 && event->kind == BOX_READY && box->workspace < 0)
        box->workspace = take_fd(&fd);
    if (*ret_len > 0 && n == 1)
        gb_closep(&fd);
    return *ret_len == (ssize_t)sizeof(*event);
}

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
        box->n_survivors = event->n_survivors;
        memcpy(box->survivors, event->survivors, sizeof(box->survivors));
        end(box);
        break;
    }
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
    if (box->state == BOX_RUNNING)
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

/* Init waits for this before it removes the workspace, where that is a directory of the host. */
static int give_up_ctl(struct host_box *box)
{
    if (box->ctl >= 0)
        (void)event_del(box->on_ctl);
    return take_fd(&box->ctl);
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
    if (box->reported) { /* nothing more comes */
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
    if (box->state == BOX_RUNNING)
        end(box);
    box->callbacks->gone(box->callbacks->data, box);
    host_box_free(box);
}

/* ---- what became of it ---- */

struct run_outcome host_box_outcome(struct host_box *box, bool was_killed)
{
    struct run_outcome o = { .level = box->shape.level,
                             .usage = box->usage,
                             .survivors = box->survivors,
                             .n_survivors = box->n_survivors,
                             .setup_cpu_us = box->setup_cpu_us,
                             .is_checked = box->is_checked,
                             .has_begun = !box->is_held,
                             .workspace = take_fd(&box->workspace),
                             .keeper = -1,
                             .n_layers = box->n_layers };

    if (box->reported && box->shape.level < LEVEL_NAMESPACES)
        o.keeper = give_up_ctl(box);
    memcpy(o.layers, box->layers, sizeof(o.layers));
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
                              .workspace = -1,
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

/* From now on init watches what it uses, and its time. */
static void watch_soon(struct host_box *box)
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
    if (send_program(box, work->program, work->in, err) < 0)
        return -1;
    box->state = BOX_RUNNING;
    box->watch = work->watch;
    box->timeout_ms = work->timeout_ms;
    box->is_held = work->hold;
    box->has_tools = work->tool_token != 0;
    box->tool_token = work->tool_token;
    if (!work->hold) /* until then only our own code runs in it */
        watch_soon(box);
    return 0;
}

void host_box_go(struct host_box *box)
{
    if (!box->is_held || !box->is_checked || box->state != BOX_RUNNING)
        return;
    box->is_held = false;
    send_go(box);
    watch_soon(box);
}

void host_box_kill(struct host_box *box)
{
    struct box_order order = { .kind = BOX_DIE };
    struct timeval late = { .tv_usec = LATE_US };

    box->killed = true;
    if (box->state != BOX_RUNNING)
        box->state = BOX_OVER;
    if (box->pid <= 0)
        return; /* not born yet: it will be killed then */
    (void)fd_send(box->ctl, &order, sizeof(order), NULL, 0);
    (void)evtimer_add(box->on_late, &late);
}

void host_box_free(struct host_box *box)
{
    struct event *events[] = { box->on_pid,  box->on_ctl,  box->on_answer,
                               box->on_out,  box->on_err,  box->on_watch,
                               box->on_late, box->on_chan, box->on_rest };
    int fds[] = { box->pidfd, box->ctl, box->chan,     box->answer_fd,
                  box->out,   box->err, box->workspace };

    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        if (events[i])
            event_free(events[i]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        gb_closep(&fds[i]);
    gb_buf_done(&box->in);
    outbox_done(&box->outbox);
    json_decref(box->answer);
    (void)mounts_unref(box->shape.mounts);
    free(box->scratch);
    free(box);
}
