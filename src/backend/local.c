/*
 * How local runs find their boxes.
 *
 * A run waits in a queue until a box of its shape is ready. Boxes of the usual shape are made ahead
 * and stand waiting, sealed; any other is made when a run asks for it. A box is given to one run
 * and is gone afterwards. When it is gone, and the caller has the result, a new one is ordered.
 *
 * "auto" is decided by doing: the first box is made with namespaces; if this host refuses them,
 * the same is tried with Landlock alone, and if that is refused too, the run fails. There is no
 * third try.
 *
 * If the zygote dies, what it was making is ordered again from a new one; when it has died a few
 * times in a row, the runs that wait are failed with the reason.
 */
#include "backend/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/match.h"
#include "backend/place.h"
#include "backend/runs.h"
#include "backend/seat.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "sandbox/cgroup.h"
#include "sandbox/explain.h"

enum {
    MISHAPS_MAX = 8,  /* boxes in a row that may be lost before they were ready */
    ZYGOTE_LIVES = 3, /* how often in a row it may die before it is given up */
};

static void box_remove(struct local *l, const struct host_box *box)
{
    for (struct host_box **at = &l->boxes; *at; at = &(*at)->next) {
        if (*at == box) {
            *at = box->next;
            return;
        }
    }
}

/* ---- what boxes tell ---- */

static void on_ready(void *data, struct host_box *box)
{
    struct local *l = data;

    /* Only this decides; a weaker box that a request asked for by name says nothing about auto. */
    if (box->shape.level == LEVEL_NAMESPACES && l->auto_level == ISOLATION_AUTO)
        l->auto_level = LEVEL_NAMESPACES;
    l->has_namespaces |= box->shape.level == LEVEL_NAMESPACES;
    l->deaths = 0;
    l->mishaps = 0;
    l->usual_refused = false;
    if (box->run)
        run_started(box->run);
    pump(l);
}

static void on_checked(void *data, struct host_box *box, const json_t *found)
{
    struct run *r = box->run;
    struct run_check check = { .findings = json_object_get(found, "findings"),
                               .risk = json_integer_value(json_object_get(found, "risk")),
                               .us = json_integer_value(json_object_get(found, "check_us")),
                               .level = box->shape.level,
                               .layers = box->layers };

    (void)data;
    if (r && r->events.checked)
        r->events.checked(r->events.data, &check);
}

static void on_output(void *data, struct host_box *box, int stream, const char *bytes, size_t len)
{
    struct run *r = box->run;

    (void)data;
    if (r && r->events.output)
        r->events.output(r->events.data, stream, bytes, len);
}

static void on_display(void *data, struct host_box *box, const json_t *shown)
{
    struct run *r = box->run;

    (void)data;
    if (r && r->events.display)
        r->events.display(r->events.data, shown);
}

static const char *on_word(void *data, struct host_box *box, const struct run_word *word)
{
    struct run *r = box->run;

    (void)data;
    return r && r->events.word ? r->events.word(r->events.data, word) : NULL;
}

/* Is it the host that says no, or only bad luck? */
static bool is_refusal(const struct gb_err *err)
{
    static const int answers[] = {
        EPERM, EACCES, EINVAL, ENOSYS, ENOSPC, EUSERS, ENODEV, EOPNOTSUPP
    };

    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (err->code == GB_E_NO_ISOLATION && err->sys == answers[i])
            return true;
    return false;
}

/* With a remedy, whoever in the box's making was refused and gave none. */
static struct gb_err with_hint(struct gb_err err, const struct box_shape *shape)
{
    if (!err.hint[0] && err.code == GB_E_NO_ISOLATION && shape->level == LEVEL_NAMESPACES)
        gb_err_hint(&err, "'glovebox doctor' says why and what to do; --isolation landlock needs "
                          "no namespaces");
    return err;
}

/* A box could not be made. For auto, that decides what is tried next. */
static void on_refused(struct local *l, const struct box_shape *shape, const struct gb_err *why)
{
    struct gb_err err = with_hint(*why, shape);

    if (l->auto_level == ISOLATION_AUTO && shape->level == LEVEL_NAMESPACES && is_refusal(&err))
        l->auto_level = LEVEL_LANDLOCK;
    for (struct run *r = l->queue, *next; r; r = next) {
        next = r->next;
        if (shape_same(&r->shape, shape) && shape_of(l, &r->order).level == shape->level)
            run_fail(r, &err);
    }
    note_refused(l, shape, &err);
    pump(l);
}

/* A run in a place has ended; unless the place has too, it can have another at once. */
static void stay_done(struct run *r, struct host_box *box, struct run_outcome *o)
{
    auto_json json_t *answer = json_incref(o->answer), *said = json_incref(json_shared(o->said));
    auto_free char *note = strdup(seat_note(box));
    struct host_box *fork = NULL;

    (void)answer; /* what the outcome points to must outlive the box's next run */
    (void)said;
    if (r->order.act == PLACE_FORK)
        fork = place_forked(box);
    if (fork) {
        fork->oom_kills = box->oom_kills;
        fork->next = r->local->boxes;
        r->local->boxes = fork;
    }
    o->place = seat_state(box);
    o->note = note && *note ? note : NULL;
    if (o->place == PLACE_LOST)
        place_move_out(box);
    else
        seat_reset(box);
    run_done(r, o);
}

/* The kernel may kill any process of the group for the memory of all. A session whose main process
 * has answered lives on with what it says; any other run has met its limit, as when the watcher
 * sees it. */
static void look_for_oom(const struct local *l, struct host_box *box, struct run_outcome *o)
{
    uint64_t kills = cgroup_oom_kills(&l->cgroups, box->number);
    bool is_new = kills > box->oom_kills;
    bool is_over = o->end == RUN_EXITED || (o->end == RUN_ANSWERED && !box->seat && !o->is_verdict);

    box->oom_kills = kills;
    if (is_new && is_over) {
        o->end = RUN_LIMIT;
        o->sample.hit = LIMIT_MEMORY;
    }
}

static void on_ended(void *data, struct host_box *box)
{
    struct local *l = data;
    struct run *r = box->run;

    if (!r) {
        place_lost(box, l->freeing);
        return;
    }
    box->run = NULL;
    if (!box->is_ready && !r->killed) {
        place_move_out(box);
        run_requeue(r);
        return; /* what happens next is decided when the box is gone */
    }
    struct run_outcome o = host_box_outcome(box, r->killed);

    if (l->cgroups.n > 0) {
        o.layers |= LAYER_CGROUP;
        look_for_oom(l, box, &o);
    }
    if (box->seat)
        stay_done(r, box, &o);
    else
        run_done(r, &o);
    (void)evtimer_add(l->on_pump, &at_once);
}

/* Forget a box that is no process any more, or never was one, and what the host kept for it. */
static void box_forget(struct local *l, struct host_box *box)
{
    box_remove(l, box);
    if (!host_box_is_last(box))
        return; /* what the host kept is for all of them */
    cgroup_remove(&l->cgroups, box->number);
    if (box->scratch)
        scratch_bury(&l->scratches, box->scratch);
    nets_put(&l->nets, take_fd(&box->net));
}

/* Free a box that never became a process. */
static void unborn_free(struct local *l, struct host_box *box)
{
    struct run *r = box->run;

    box_forget(l, box);
    place_move_out(box);
    host_box_free(box);
    if (r)
        run_requeue(r);
}

static void on_gone(void *data, struct host_box *box)
{
    struct local *l = data;

    box_forget(l, box);
    place_move_out(box);
    /* Without a word why: its zygote may have been killed, or the host be short of memory. What it
     * was made for waits in the queue and has not begun, so another is made, a few times. */
    if (!box->is_ready && !box->setup_failed && !box->killed && ++l->mishaps >= MISHAPS_MAX) {
        gb_err_set(&box->setup_err, GB_E_SYSTEM, 0, "a box ended before it was ready");
        box->setup_failed = true;
    }
    if (box->setup_failed && !l->freeing)
        on_refused(l, &box->shape, &box->setup_err);
    else
        pump(l);
}

/* ---- what the zygote tells ---- */

static void on_hello(void *data, const json_t *info)
{
    struct local *l = data;

    l->info = info;
    json_decref(l->about);
    l->about = json_deep_copy(info);
    pump(l);
}

static struct host_box *box_by_number(const struct local *l, uint64_t number)
{
    for (struct host_box *box = l->boxes; box; box = box->next)
        if (box->number == number)
            return box;
    return NULL;
}

static void on_box(void *data, uint64_t number, pid_t pid, int pidfd, const struct gb_err *err)
{
    struct local *l = data;
    struct host_box *box = box_by_number(l, number);
    struct gb_err ignored, lost;

    if (!box) {
        gb_closep(&pidfd);
        return;
    }
    if (err->code != GB_OK) {
        box->setup_failed = true;
        box->setup_err = *err;
    }
    if (pid > 0 && pidfd < 0) /* lost on the way, for want of descriptors */
        pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pid > 0 && pidfd >= 0 && host_box_born(box, pid, pidfd, &ignored) == 0) {
        assign_waiting(l);
        return; /* its end will be seen like any other */
    }
    struct box_shape shape = box->shape;
    (void)mounts_ref(shape.mounts);
    unborn_free(l, box);
    if (err->code == GB_OK)
        gb_err_set(&lost, GB_E_SYSTEM, 0, "a box was made and lost");
    on_refused(l, &shape, err->code == GB_OK ? &lost : err);
    (void)mounts_unref(shape.mounts);
}

static int zygote_begin(struct local *l, struct gb_err *err);

static void on_respawn(evutil_socket_t fd, short what, void *data)
{
    struct local *l = data;
    struct gb_err err;

    (void)fd;
    (void)what;
    l->zygote = zygote_free(l->zygote);
    if (l->freeing || (l->oneshot && !l->queue))
        return; /* nobody waits for another box */
    if (l->deaths < ZYGOTE_LIVES && l->gone.code != GB_E_NO_INTERPRETER &&
        zygote_begin(l, &err) == 0)
        return;
    runs_fail(l, &l->gone);
}

static unsigned count_unborn(const struct local *l)
{
    unsigned n = 0;

    for (const struct host_box *box = l->boxes; box; box = box->next)
        n += box->pid == 0;
    return n;
}

/* Boxes that it had not made yet will never come; those it made live on. */
static void on_died(void *data, const struct gb_err *err)
{
    struct local *l = data;
    bool is_untimely = !zygote_is_spent(l->zygote) || count_unborn(l) > 0;

    for (struct host_box *box = l->boxes, *next; box; box = next) {
        next = box->next;
        if (box->pid == 0)
            unborn_free(l, box);
    }
    l->info = NULL;
    l->gone = *err;
    if (is_untimely) /* else it has left because its work was done */
        l->deaths++;
    if (is_untimely && l->has_lent && ++l->lending_deaths >= ZYGOTE_LIVES)
        l->never_lends = true; /* perhaps it dies of that */
    (void)evtimer_add(l->on_respawn, &at_once);
}

static int zygote_begin(struct local *l, struct gb_err *err)
{
    struct interpreter_spec spec = { .path = l->python,
                                     .extension_dir = l->extension_dir,
                                     .preload = l->preload,
                                     .env = l->env,
                                     .warm = !l->oneshot };
    struct zygote_callbacks callbacks = {
        .data = l, .hello = on_hello, .box = on_box, .died = on_died
    };

    l->has_lent = l->is_retiring = false;
    nets_done(&l->nets); /* an ordinary user's zygote cannot enter those of another */
    return zygote_new(l->base, &spec, &callbacks, &l->zygote, err);
}

/* ---- the vtable ---- */

/* In a place that has its box already. */
static void stay_run(struct run *r, struct host_box *box)
{
    r->box = box;
    box->run = r;
    if (run_in(r, box, &r->failed) < 0) {
        r->box = NULL;
        box->run = NULL;
        run_fail(r, &r->failed);
    } else {
        run_started(r);
    }
}

static struct run *local_run(struct backend *b, const struct run_order *order,
                             const struct run_events *events, struct gb_err *err)
{
    struct local *l = (struct local *)b;
    struct run *r = run_new(l, order, events, err);

    if (!r)
        return NULL;
    r->shape = shape_of(l, order);
    if (order->place && order->place->box) {
        stay_run(r, order->place->box);
        return r;
    }
    run_queue(r);
    if (!l->zygote && (l->gone.code == GB_E_NO_INTERPRETER || zygote_begin(l, &r->failed) < 0)) {
        run_fail(r, r->failed.code == GB_OK ? &l->gone : &r->failed);
    } else if (l->info) {
        assign_waiting(l); /* the fast road: nothing is ordered until the answer is out */
        if (!r->box)
            (void)evtimer_add(l->on_pump, &at_once);
    }
    return r;
}

static void local_go(struct run *r)
{
    if (!r->box || r->killed)
        return; /* its end is on the way */
    r->begun_us = clock_us();
    host_box_go(r->box);
}

static bool local_tell(struct run *r, const char *json, size_t len)
{
    return r->box && host_box_tell(r->box, json, len);
}

static size_t local_untold(const struct run *r)
{
    return r->box ? outbox_len(&r->box->outbox) : 0;
}

static void local_kill(struct run *r)
{
    struct gb_err cancelled = { .code = GB_E_GONE };

    if (r->killed)
        return;
    r->killed = true;
    if (r->box)
        host_box_stop(r->box);
    else if (!event_pending(r->on_end, EV_TIMEOUT, NULL))
        run_fail(r, &cancelled);
}

static void local_interrupt(struct run *r)
{
    if (r->box && r->box->seat && !r->killed)
        seat_interrupt(r->box);
}

static struct place *local_place_new(struct backend *b, const struct place_spec *spec)
{
    return place_new(&((struct local *)b)->places, spec);
}

static json_t *local_explain(struct backend *b, const struct run_order *order, struct gb_err *err)
{
    struct local *l = (struct local *)b;
    struct box_shape shape = shape_of(l, order);
    const char *scratch = shape.level < LEVEL_NAMESPACES ? "/tmp/" SCRATCH_NAME : NULL;
    struct composed *c;
    json_t *plan;

    if (!l->zygote && !l->about && l->gone.code != GB_OK) {
        *err = l->gone;
        return NULL;
    }
    if (order->isolation == ISOLATION_AUTO && l->usual_refused) {
        *err = l->refusal;
        return NULL;
    }
    if (!l->about || (order->isolation == ISOLATION_AUTO && l->auto_level == ISOLATION_AUTO)) {
        (void)gb_fail(err, GB_E_BUSY, 0, "the first box is not ready yet");
        return NULL;
    }
    c = plans_get(&l->plans, &shape, scratch, l->about, err);
    plan = c ? plan_to_json(&c->plan) : NULL;
    if (plan)
        json_object_set_new(plan, "cgroup", json_boolean(l->cgroups.n > 0));
    return plan;
}

static int local_waiting(const struct backend *b)
{
    return (int)count_boxes((const struct local *)b, BOX_WAITING, NULL);
}

static const json_t *local_about(const struct backend *b)
{
    return ((const struct local *)b)->about;
}

/* Everything in a box dies with it, so it is enough to end the boxes and to wait for them. */
static void local_free(struct backend *b)
{
    struct local *l = (struct local *)b;
    struct gb_err cancelled = { .code = GB_E_GONE };

    l->freeing = true;
    for (struct run *r = l->queue; r; r = r->next)
        r->killed = true;
    runs_fail(l, &cancelled);
    for (struct host_box *box = l->boxes; box; box = box->next) {
        struct run *r = box->run;
        if (r)
            r->killed = true;
        host_box_kill(box);
    }
    /* What was ordered is a child of ours: hear its number first, or it could not be reaped. */
    while (l->info && count_unborn(l) > 0)
        (void)event_base_loop(l->base, EVLOOP_ONCE);
    l->zygote = zygote_free(l->zygote);
    while (l->boxes || l->ending) {
        bool born = false;
        while (l->ending)
            run_tell(l->ending);
        for (struct host_box *box = l->boxes, *next; box; box = next) {
            next = box->next;
            born |= box->pid > 0;
            if (box->pid == 0)
                unborn_free(l, box);
        }
        if (born)
            (void)event_base_loop(l->base, EVLOOP_ONCE);
    }
    while (l->places)
        place_free(l->places);
    scratch_bin_done(&l->scratches);
    nets_done(&l->nets);
    plans_done(&l->plans);
    (void)mounts_unref(l->usual.mounts);
    cgroups_close(&l->cgroups);
    if (l->on_respawn)
        event_free(l->on_respawn);
    if (l->on_pump)
        event_free(l->on_pump);
    json_decref(l->about);
    json_decref(l->preload);
    json_decref(l->env);
    free(l->python);
    free(l->extension_dir);
    free(l);
}

static void on_pump(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    pump(data);
}

static const struct backend_ops local_ops = {
    .name = "local",
    .run = local_run,
    .go = local_go,
    .tell = local_tell,
    .untold = local_untold,
    .kill = local_kill,
    .interrupt = local_interrupt,
    .place_new = local_place_new,
    .place_about = place_about,
    .place_ground = place_ground,
    .place_free = place_free,
    .explain = local_explain,
    .waiting = local_waiting,
    .about = local_about,
    .free = local_free,
};

static int find_cgroups(struct local *l, const char *configured, struct gb_err *err)
{
    if (cgroups_open(configured, &l->cgroups, err) < 0)
        return -1;
    cgroups_sweep(&l->cgroups);
    l->backend.must_be_freed = l->cgroups.n > 0;
    return 0;
}

int local_new(const struct local_spec *spec, struct backend **ret, struct gb_err *err)
{
    struct local *l = calloc(1, sizeof(*l));

    if (!l)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a backend");
    *l = (struct local){ .backend = { .ops = &local_ops },
                         .base = spec->base,
                         .preload = json_deep_copy(spec->preload),
                         .env = json_deep_copy(spec->env),
                         .pool = spec->pool,
                         .oneshot = spec->oneshot,
                         .usual = spec->usual,
                         .auto_level = ISOLATION_AUTO };
    /* Somewhere else in each engine: control groups are named by it. */
    (void)!getrandom(&l->n_boxes, sizeof(uint32_t), GRND_NONBLOCK);
    l->n_boxes <<= 24;
    l->scratches.base = spec->base;
    l->callbacks = (struct box_callbacks){ .data = l,
                                           .ready = on_ready,
                                           .checked = on_checked,
                                           .output = on_output,
                                           .display = on_display,
                                           .word = on_word,
                                           .ended = on_ended,
                                           .gone = on_gone };
    (void)mounts_ref(l->usual.mounts);
    l->extension_dir = strdup(spec->extension_dir);
    l->on_respawn = evtimer_new(spec->base, on_respawn, l);
    l->on_pump = evtimer_new(spec->base, on_pump, l);
    if (!l->extension_dir || !l->on_respawn || !l->on_pump) {
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a backend");
    } else if (find_cgroups(l, spec->cgroup, err) == 0 &&
               interpreter_find(spec->python, &l->python, err) == 0 && zygote_begin(l, err) == 0) {
        *ret = &l->backend;
        return 0;
    }
    local_free(&l->backend);
    return -1;
}
