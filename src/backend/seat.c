/*
 * The life of a session's box, as the engine sees it:
 *
 *   BEGINNING -> RESTING -> RUNNING -> ENDING -> COPYING -> RESTING ...
 *                   |          |         |          |
 *                   +----------+---------+----------+--> ROLLING -> WAKING -> RESTING
 *
 * After the beginning and after each cell the guest makes a dormant copy of itself, and nothing is
 * sent to it before init knows that copy: so there is always one to go back to. When the main
 * process dies, passes a limit or is stopped, init kills everything but the copies and says so
 * (ROLLED); what is left in the pipes is read; then the newest copy is woken. It announces itself
 * with a copy of its own. A run is told of when its session is in order again, so that the result
 * can say which state it is in.
 *
 * All frames are hostile. A session may announce whatever number it likes as its copy; init takes
 * only children of its own. Sending never waits: a guest that reads nothing must not hold up
 * the engine.
 */
#include "backend/seat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/seatsend.h"
#include "backend/shellseat.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"

enum {
    BEGIN_S = 20,     /* for the first copy */
    COPY_S = 10,      /* for any other */
    ROLL_S = 5,       /* for killing everything */
    WAKE_US = 200000, /* until a copy that does not answer is called again */
    WAKES_MAX = 25,
};

enum phase {
    BEGINNING,
    OPENING, /* of a fork: init is asked for its workspace */
    RESTING,
    RUNNING, /* a cell, or something like it */
    ENDING,  /* it has answered, and init is asked what it used */
    COPYING,
    ROLLING,
    WAKING,
    FORKING /* until the fork has a workspace of its own; meanwhile nothing changes in this one */
};

struct copy {
    pid_t pid;
    uint64_t cell; /* whose end it is the copy of */
};

struct box_seat {
    enum phase phase;
    struct copy copies[BOX_COPIES_MAX]; /* oldest first */
    size_t n_copies;
    size_t keep;
    uint64_t cell; /* the last whose doing is in the main process */
    bool has_work;
    struct box_work work; /* program and in are owned */
    enum place_act act;   /* of the run that goes on */
    bool has_copied;      /* the copy after it has come already */
    const char *forged;   /* what the run wrote that is no answer, or NULL */
    bool is_rewinding;
    enum phase from; /* which it was in when it was told to roll */
    enum place_state state;
    pid_t target; /* who is woken */
    unsigned wakes;
    bool is_failed; /* the work could not begin: */
    struct gb_err err;
    char note[160];
    struct host_box *fork;   /* the one that is to be made, or was */
    int fork_ctl;            /* which init is to have */
    struct host_box *origin; /* whom it is forked from, while that waits for it */
    struct seat_shell shell;
    struct event *on_patience, *on_finish;
};

/* ---- small things ---- */

static void patience(struct host_box *box, long s, long us)
{
    struct timeval in = { .tv_sec = s, .tv_usec = us };

    (void)evtimer_add(box->seat->on_patience, &in);
}

static int tell_init(const struct host_box *box, enum box_order_kind kind, pid_t pid)
{
    struct box_order order = { .kind = kind, .pid = pid, .limits = box->watch };

    return fd_send(box->ctl, &order, sizeof(order), NULL, 0);
}

static void work_done(struct box_seat *s)
{
    if (!s->has_work)
        return;
    json_decref(json_shared(s->work.program));
    gb_closep(&s->work.in);
    if (s->work.act == PLACE_FORK)
        box_far_close(&s->work.far);
    s->has_work = false;
}

static const struct copy *newest(const struct box_seat *s)
{
    return s->n_copies > 0 ? &s->copies[s->n_copies - 1] : NULL;
}

/* Is there a copy of what the main process is now? */
static bool is_safe(const struct box_seat *s)
{
    const struct copy *c = newest(s);

    return c && c->cell == s->cell;
}

static bool copy_remove(struct box_seat *s, pid_t pid)
{
    for (size_t i = 0; i < s->n_copies; i++) {
        if (s->copies[i].pid == pid) {
            s->n_copies--;
            memmove(&s->copies[i], &s->copies[i + 1], (s->n_copies - i) * sizeof(s->copies[0]));
            return true;
        }
    }
    return false;
}

/* Tell whoever gave it the run, from the loop. */
static void finish_soon(struct host_box *box)
{
    struct timeval now = { 0 };

    (void)evtimer_add(box->seat->on_finish, &now);
}

static void on_finish(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;

    (void)fd;
    (void)what;
    if (!box->forged)
        box->forged = box->seat->forged;
    if (box->run && box->state == BOX_RUNNING)
        box->callbacks->ended(box->callbacks->data, box);
}

static void lose(struct host_box *box, const char *why)
{
    (void)snprintf(box->seat->note, sizeof(box->seat->note), "%s", why);
    host_box_kill(box);
}

static void wake(struct host_box *box)
{
    (void)tell_init(box, BOX_WAKE, box->seat->target);
    patience(box, 0, WAKE_US);
}

static void roll(struct host_box *box);

/* A command of a shell: the shell is spared for as long as that goes. */
static void stop_shell(struct host_box *box)
{
    long us = seat_shell_stop(&box->seat->shell, box->ctl);

    if (us > 0)
        patience(box, 0, us);
    else
        roll(box);
}

static void on_patience(evutil_socket_t fd, short what, void *data)
{
    struct host_box *box = data;
    struct box_seat *s = box->seat;

    (void)fd;
    (void)what;
    if (s->shell.is_one && s->phase == RUNNING)
        stop_shell(box);
    else if (s->phase == WAKING && ++s->wakes < WAKES_MAX)
        wake(box);
    else
        lose(box, "its process did not come back in time");
}

/* ---- forks ---- */

/* Init hears of the new main process, and lets it go on. */
static bool fork_born(struct host_box *box, pid_t pid)
{
    struct box_seat *s = box->seat;
    struct host_box *fork = s->fork;
    struct box_order order = { .kind = BOX_SEAT, .pid = pid };
    struct gb_err err;

    if (pid <= 0 || host_box_join(fork, box, &err) < 0) {
        s->is_failed = true;
        gb_err_set(&s->err, GB_E_LIMIT, 0, "the session has no room for a fork of itself");
        gb_err_hint(&s->err, "forks share the limits of one box: allow more processes or memory");
        return false;
    }
    (void)fcntl(fork->chan, F_SETFL, O_NONBLOCK);
    fork->seat->cell = s->cell;
    fork->seat->origin = box;
    fork->watch = box->watch;
    patience(fork, BEGIN_S, 0);
    (void)fd_send(box->ctl, &order, sizeof(order), &s->fork_ctl, 1);
    gb_closep(&s->fork_ctl);
    s->fork_ctl = -1;
    return true;
}

static void rested(struct host_box *box);

/* The fork is there, or it is not: who waited for it goes on. */
static void settled(struct box_seat *fork, bool is_there)
{
    struct host_box *from = take_ptr(fork->origin);

    if (!from)
        return;
    if (!is_there) {
        from->seat->is_failed = true;
        gb_err_set(&from->seat->err, GB_E_LIMIT, 0, "the fork has ended before it was ready");
        gb_err_hint(&from->seat->err, "there may be no room for a second workspace: see 'disk'");
    }
    if (from->seat->phase == FORKING)
        rested(from);
}

struct host_box *seat_take_fork(struct host_box *box)
{
    struct host_box *fork = take_ptr(box->seat->fork);

    gb_closep(&box->seat->fork_ctl);
    box->seat->fork_ctl = -1;
    if (fork)
        fork->seat->origin = NULL;
    return fork;
}

/* ---- work ---- */

/* What a cell says is heard, and what it was told and has not read goes with it. */
static void listen_only(struct host_box *box)
{
    bool was_paused = box->is_paused;

    host_box_close_words(box);
    if (was_paused && !box->forged)
        (void)event_add(box->on_answer, NULL);
}

static void fail_work(struct host_box *box, const struct gb_err *err)
{
    struct box_seat *s = box->seat;

    s->is_failed = true;
    s->err = *err;
    work_done(s);
    finish_soon(box);
}

static void roll(struct host_box *box)
{
    box->seat->from = box->seat->phase;
    box->seat->phase = ROLLING;
    (void)tell_init(box, BOX_ROLL, 0);
    patience(box, ROLL_S, 0);
}

/* Those after it are of what will not have been. */
static void rewind_to(struct host_box *box, uint64_t cell)
{
    struct box_seat *s = box->seat;
    struct gb_err err;
    size_t at = 0;

    while (at < s->n_copies && s->copies[at].cell != cell)
        at++;
    if (at == s->n_copies) {
        gb_err_set(&err, GB_E_INVALID, 0, "cell: there is no copy of the session after cell %llu",
                   (unsigned long long)cell);
        fail_work(box, &err);
        return;
    }
    while (s->n_copies > at + 1)
        (void)tell_init(box, BOX_DROP, s->copies[--s->n_copies].pid);
    s->cell = cell;
    s->is_rewinding = true;
    work_done(s);
    roll(box);
}

static int send_work(struct host_box *box, struct gb_err *err)
{
    const struct box_work *work = &box->seat->work;
    auto_close int words = -1;

    if (getrandom(&box->token, sizeof(box->token), 0) != (ssize_t)sizeof(box->token))
        return gb_fail(err, GB_E_SYSTEM, errno, "drawing a random number");
    if (work->act == PLACE_FORK)
        return seat_send_fork(box, &work->far, err);
    if (host_box_open_words(box, work->tool_token, &words, err) < 0)
        return -1;
    return seat_send(box, work->program, words, work->in, err);
}

/* The interpreter that was begun has run nothing yet, and goes on as a shell: nobody goes back to
 * it. */
static void become_shell(struct host_box *box)
{
    struct box_seat *s = box->seat;
    auto_json json_t *begin = seat_shell_begin(s->work.program);
    struct gb_err err;

    while (s->n_copies > 0)
        (void)tell_init(box, BOX_DROP, s->copies[--s->n_copies].pid);
    s->shell.is_begun = true;
    s->phase = BEGINNING;
    patience(box, BEGIN_S, 0);
    if (seat_send(box, begin, -1, -1, &err) < 0)
        lose(box, "its shell could not be told to begin");
}

static void begin_work(struct host_box *box)
{
    struct box_seat *s = box->seat;
    struct gb_err err;

    if (s->shell.is_one && !s->shell.is_begun) {
        become_shell(box);
        return;
    }
    if (s->work.act == PLACE_REWIND) {
        rewind_to(box, s->work.cell);
        return;
    }
    box->watch = s->work.watch;
    box->timeout_ms = s->work.timeout_ms;
    if (!s->shell.is_one &&
        !is_safe(s)) { /* it has none, or somebody has killed it: another first */
        s->phase = COPYING;
        patience(box, COPY_S, 0);
        if (seat_send_op(box, "copy", &err) < 0)
            fail_work(box, &err);
        return;
    }
    if (send_work(box, &err) < 0) {
        listen_only(box);
        fail_work(box, &err);
        roll(box);
        return;
    }
    box->display_things = 0;
    box->display_bytes = 0;
    box->is_display_full = false;
    seat_shell_starts(&s->shell);
    s->phase = RUNNING;
    s->act = s->work.act;
    s->has_copied = false;
    work_done(s);
    (void)event_add(box->on_out, NULL);
    (void)event_add(box->on_err, NULL);
    host_box_watch(box);
}

/* In order again: tell of the run that is over, or begin the one that waits. */
static void rested(struct host_box *box)
{
    struct box_seat *s = box->seat;

    s->phase = RESTING;
    (void)evtimer_del(s->on_patience);
    if (s->has_work)
        begin_work(box);
    else if (box->run)
        finish_soon(box);
}

int seat_take(struct host_box *box, const struct box_work *work, struct gb_err *err)
{
    struct box_seat *s = box->seat;

    s->shell.is_one = s->shell.is_one || seat_shell_is(work->program);
    s->shell.is_new = false;
    if (box->state != BOX_RUNNING) { /* the first: it has yet to begin */
        auto_json json_t *begin = s->shell.is_one
                                      ? seat_shell_begin(work->program)
                                      : json_pack("{s:{s:s}}", "session", "op", "begin");
        if (fcntl(box->chan, F_SETFL, O_NONBLOCK) < 0 || seat_send(box, begin, -1, -1, err) < 0)
            return -1;
        box->state = BOX_RUNNING;
        s->shell.is_begun = s->shell.is_one;
        patience(box, BEGIN_S, 0);
    }
    s->work = *work;
    s->work.program = json_incref(json_shared(work->program));
    s->work.in = work->in >= 0 ? fcntl(work->in, F_DUPFD_CLOEXEC, 3) : -1;
    s->has_work = true;
    if (work->act == PLACE_FORK) {
        s->fork = work->fork;
        s->fork_ctl = work->far.ctl;
        s->work.far.ctl = -1;
    }
    s->state = PLACE_INTACT;
    if (s->phase == RESTING)
        begin_work(box);
    return 0;
}

void seat_stop(struct host_box *box)
{
    struct box_seat *s = box->seat;

    if (s->shell.is_one && s->phase == RUNNING && !box->forged) {
        s->shell.is_killed = true;
        stop_shell(box);
    } else if (s->phase == RUNNING || (s->phase == ENDING && !s->shell.is_one) ||
               (box->forged && s->phase != ROLLING)) {
        roll(box);
    } else if (s->has_work) { /* it has not begun, and never will */
        work_done(s);
        finish_soon(box);
    }
}

void seat_interrupt(struct host_box *box)
{
    if (box->seat->phase == RUNNING && box->seat->shell.is_one)
        stop_shell(box);
    else if (box->seat->phase == RUNNING)
        (void)tell_init(box, BOX_INTERRUPT, 0);
}

void seat_reset(struct host_box *box)
{
    struct box_seat *s = box->seat;

    json_decref(take_ptr(box->answer));
    box->forged = s->forged = NULL;
    box->reported = false;
    s->is_failed = false;
    s->note[0] = '\0';
    (void)event_add(box->on_answer, NULL);
}

/* ---- what it says ---- */

static void on_rested(struct host_box *box, const struct box_event *event);

const char *seat_done(struct host_box *box, const struct frame *head, json_t *answer)
{
    struct box_seat *s = box->seat;

    if ((s->phase != RUNNING && s->phase != ROLLING) || box->answer || head->token != box->token)
        return "an answer to what it was not asked";
    box->answer = json_incref(answer);
    seat_shell_note(&s->shell, answer);
    /* Of a command that is the guest's word like any other: it may have run. */
    s->is_failed = s->shell.is_one && s->act != PLACE_CELL && seat_shell_failed(answer, &s->err);
    if (s->phase == ROLLING)
        return NULL; /* it had ended when it was ended */
    s->phase = ENDING;
    listen_only(box);
    s->cell += s->act == PLACE_CELL;
    if (seat_shell_is_short(&s->shell, evtimer_pending(box->on_watch, NULL))) {
        struct box_event none = { .kind = BOX_RESTED, .usage.max_rss_kb = box->usage.max_rss_kb };
        (void)evtimer_del(box->on_watch);
        on_rested(box, &none);
        return NULL;
    }
    (void)evtimer_del(box->on_watch);
    s->shell.has_rested = true;
    (void)tell_init(box, BOX_REST, s->shell.pid);
    patience(box, ROLL_S, 0);
    return NULL;
}

static void copy_add(struct host_box *box, pid_t pid)
{
    struct box_seat *s = box->seat;

    if (s->n_copies == s->keep) {
        (void)tell_init(box, BOX_DROP, s->copies[0].pid);
        (void)copy_remove(s, s->copies[0].pid);
    }
    s->copies[s->n_copies++] = (struct copy){ pid, s->cell };
    (void)tell_init(box, BOX_KEEP, pid);
}

const char *seat_copied(struct host_box *box, const json_t *said)
{
    struct box_seat *s = box->seat;
    json_int_t pid = json_integer_value(json_object_get(said, "copy"));
    bool is_due = s->phase == BEGINNING || s->phase == COPYING || s->phase == WAKING ||
                  (s->phase == ENDING && s->act == PLACE_CELL && !s->has_copied);
    struct gb_err err;

    if (!is_due || pid < 0 || pid > INT32_MAX)
        return "the number of a copy that it was not to make";
    if (pid > 0)
        copy_add(box, (pid_t)pid);
    if (s->phase == ENDING) {
        s->has_copied = true;
        return NULL;
    }
    if (pid == 0 && s->has_work && s->phase == COPYING) {
        gb_err_set(&err, GB_E_LIMIT, 0, "the session has no room for a copy of itself");
        gb_err_hint(&err, "end processes that it started, rewind or reset it, or allow more");
        s->phase = RESTING;
        (void)evtimer_del(s->on_patience);
        fail_work(box, &err);
        return NULL;
    }
    seat_shell_note(&s->shell, said);
    if (s->shell.is_one && seat_shell_failed(said, &err)) {
        s->phase = RESTING;
        fail_work(box, &err);
        host_box_kill(box);
        return NULL;
    }
    if (s->phase == BEGINNING && box->is_fork && pid > 0) {
        s->phase = OPENING;
        (void)tell_init(box, BOX_OPEN, 0);
        return NULL;
    }
    if (s->phase == BEGINNING)
        settled(s, pid > 0);
    rested(box);
    return NULL;
}

/* Of a cell that has ended. No copy comes after what changes nothing. */
static void on_rested(struct host_box *box, const struct box_event *event)
{
    struct box_seat *s = box->seat;
    const json_t *code = json_object_get(box->answer, "exit_code");

    if (s->phase != ENDING)
        return;
    host_box_drain(box);
    (void)event_del(box->on_out);
    (void)event_del(box->on_err);
    box->reported = true;
    box->end = s->shell.is_killed ? END_TOLD : END_EXITED;
    box->status = (int)(json_integer_value(code) & 0xff) << 8;
    box->usage = event->usage;
    if (s->act == PLACE_FORK &&
        fork_born(box, (pid_t)json_integer_value(json_object_get(box->answer, "value")))) {
        s->phase = FORKING;
        patience(box, BEGIN_S, 0);
    } else if (s->act == PLACE_CELL && !s->has_copied && !s->shell.is_one) {
        s->phase = COPYING;
        patience(box, COPY_S, 0);
        finish_soon(box);
    } else {
        rested(box);
    }
}

/* Which state the session is in when its newest copy goes on, and what is to be said about it. */
static bool choose(struct host_box *box, enum phase was)
{
    struct box_seat *s = box->seat;
    uint64_t had = s->cell;

    if (!newest(s))
        return false;
    if (was == RUNNING || s->is_rewinding) {
        s->state = s->is_rewinding ? PLACE_INTACT : PLACE_ROLLED;
        return is_safe(s);
    }
    s->cell = newest(s)->cell;
    if (was == ENDING)
        s->state = s->cell == had ? PLACE_INTACT : PLACE_ROLLED;
    else if (s->cell == had)
        (void)snprintf(s->note, sizeof(s->note),
                       "the session's process ended between cells; threads and processes that "
                       "it had are gone");
    else
        (void)snprintf(s->note, sizeof(s->note),
                       "the session's process ended between cells and was taken back to the end "
                       "of cell %llu",
                       (unsigned long long)s->cell);
    return true;
}

static void on_rolled(struct host_box *box, const struct box_event *event)
{
    struct box_seat *s = box->seat;
    enum phase was = s->phase == ROLLING ? s->from : s->phase;

    if (was == WAKING) {
        lose(box, "the copy that it was to go on from has been killed");
        return;
    }
    s->from = was;
    s->phase = ROLLING;
    host_box_drain(box);
    host_box_drain_answer(box);
    listen_only(box);
    (void)event_del(box->on_out);
    (void)event_del(box->on_err);
    (void)evtimer_del(box->on_watch);
    box->reported = true;
    box->end = event->end;
    box->status = event->status;
    box->sample = event->sample;
    box->usage = event->usage;
    if (s->is_rewinding) { /* that was what it was to do */
        box->end = END_EXITED;
        box->status = 0;
        json_decref(box->answer);
        box->answer = json_object();
    }
    if (!choose(box, was)) {
        lose(box, "the copy that it was to go back to has been killed");
        return;
    }
    s->forged = was == RUNNING || was == ENDING ? box->forged : NULL;
    s->is_rewinding = false;
    box->forged = NULL;
    (void)event_add(box->on_answer, NULL);
    s->phase = WAKING;
    s->wakes = 0;
    s->target = newest(s)->pid;
    s->n_copies--;
    wake(box);
}

static void on_dropped(struct host_box *box, pid_t pid)
{
    struct box_seat *s = box->seat;

    if (s->phase == WAKING && pid == s->target)
        lose(box, "the copy that it was to go on from has been killed");
    else
        (void)copy_remove(s, pid);
}

static void on_opened(struct host_box *box)
{
    if (box->seat->phase != OPENING)
        return;
    settled(box->seat, true);
    rested(box);
}

void seat_event(struct host_box *box, const struct box_event *event)
{
    if (box->killed)
        return; /* its end is on the way */
    if (event->kind == BOX_RESTED)
        on_rested(box, event);
    else if (event->kind == BOX_ROLLED)
        on_rolled(box, event);
    else if (event->kind == BOX_DROPPED)
        on_dropped(box, event->pid);
    else if (event->kind == BOX_OPENED)
        on_opened(box);
}

/* ---- what is known of it ---- */

bool seat_is_running(const struct host_box *box)
{
    return box->seat->phase == RUNNING;
}

bool seat_has_cell(const struct host_box *box)
{
    const struct box_seat *s = box->seat;

    return s->phase == RUNNING || (s->phase == ROLLING && s->from == RUNNING);
}

struct place_about seat_about(const struct host_box *box)
{
    const struct box_seat *s = box->seat;
    struct place_about about = { .cell = s->cell, .n_cells = s->n_copies };

    for (size_t i = 0; i < s->n_copies; i++)
        about.cells[i] = s->copies[i].cell;
    return about;
}

enum place_state seat_state(const struct host_box *box)
{
    if (box->state != BOX_RUNNING || box->killed) /* or its end is on the way */
        return PLACE_LOST;
    return box->seat->shell.is_new ? PLACE_NEW : box->seat->state;
}

const char *seat_note(const struct host_box *box)
{
    return box->seat->note;
}

bool seat_failed(const struct host_box *box, struct run_outcome *o)
{
    const struct box_seat *s = box->seat;

    if (!s->is_failed && !(s->has_work && box->state == BOX_OVER && box->is_ready))
        return false;
    o->end = RUN_FAILED;
    o->err = s->err;
    if (!s->is_failed)
        gb_err_set(&o->err, GB_E_GONE, 0, "the session ended before the cell began%s%.120s",
                   *s->note ? ": " : "", s->note);
    return true;
}

/* ---- life ---- */

int seat_new(struct host_box *box, unsigned copies, struct gb_err *err)
{
    struct event_base *base = event_get_base(box->on_ctl);
    struct box_seat *s = calloc(1, sizeof(*s));

    if (!s)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a session");
    s->fork_ctl = -1;
    s->keep = copies < 1 ? 1 : copies > BOX_COPIES_MAX ? BOX_COPIES_MAX : copies;
    s->on_patience = evtimer_new(base, on_patience, box);
    s->on_finish = evtimer_new(base, on_finish, box);
    if (!s->on_patience || !s->on_finish) {
        seat_free(s);
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a session");
    }
    box->seat = s;
    return 0;
}

void seat_free(struct box_seat *s)
{
    if (!s)
        return;
    work_done(s);
    gb_closep(&s->fork_ctl);
    if (s->origin) { /* which waits for it in vain */
        s->origin->seat->fork = NULL;
        settled(s, false);
    }
    if (s->fork) {
        s->fork->seat->origin = NULL;
        host_box_free(s->fork);
    }
    if (s->on_patience)
        event_free(s->on_patience);
    if (s->on_finish)
        event_free(s->on_finish);
    free(s);
}
