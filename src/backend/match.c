/*
 * Runs and boxes find each other by their shape: what cannot be changed any more in a box that is
 * made. What nobody waits for is made ahead, as many as the pool is to have.
 */
#include "backend/match.h"

#include <errno.h>
#include <unistd.h>

#include "backend/place.h"
#include "backend/program.h"
#include "base/own.h"

enum {
    MAKING_MAX = 4,   /* boxes being set up at once */
    ATTEMPTS_MAX = 3, /* boxes that may fail to take one request */
};

/* ---- shapes ---- */

/* Most limits can be lowered in a box that stands ready; its disk cannot, and none can be
 * raised. */
static struct plan_limits made_with(const struct plan_limits *usual, const struct plan_limits *want)
{
    struct plan_limits limits = *usual;

    if (want->memory_bytes > usual->memory_bytes || want->processes > usual->processes ||
        want->open_files > usual->open_files ||
        (usual->cpu_ms != 0 && (want->cpu_ms == 0 || want->cpu_ms > usual->cpu_ms)))
        return *want;
    limits.disk_bytes = want->disk_bytes;
    return limits;
}

struct box_shape shape_of(const struct local *l, const struct run_order *order)
{
    int level = order->isolation;

    if (level == ISOLATION_AUTO)
        level = l->auto_level == ISOLATION_AUTO ? LEVEL_NAMESPACES : l->auto_level;
    if (order->place)
        return (struct box_shape){ (enum plan_level)level, order->host_network,
                                   place_limits(order->place, &order->limits), order->mounts };
    return (struct box_shape){ (enum plan_level)level, order->host_network,
                               made_with(&l->usual.limits, &order->limits), order->mounts };
}

/* ---- making boxes ---- */

/* Is this the one that an engine for one run is there for? */
static bool is_last(const struct local *l, const struct box_shape *shape)
{
    return l->oneshot && !l->boxes &&
           (!l->queue || (!l->queue->next && shape_same(&l->queue->shape, shape)));
}

static bool has_own_net(const struct box_shape *shape)
{
    return shape->level == LEVEL_NAMESPACES && !shape->host_network;
}

/* An ordinary user's zygote that lends network namespaces cannot make a box without one of its own
 * any more (sandbox/net.h). Where such boxes are wanted too, none lends, and one that does is
 * replaced. */
static void stop_lending(struct local *l)
{
    l->never_lends = true;
    if (!l->has_lent)
        return;
    zygote_retire(l->zygote);
    l->is_retiring = true;
}

static struct nets *lent_nets(struct local *l, const struct box_shape *shape)
{
    if (!l->has_namespaces || l->never_lends || l->oneshot || !has_own_net(shape))
        return NULL;
    l->has_lent = true;
    return &l->nets;
}

static int box_make(struct local *l, const struct box_shape *shape, struct gb_err *err)
{
    struct order_means means = { .zygote = l->zygote,
                                 .plans = &l->plans,
                                 .info = l->info,
                                 .cgroups = &l->cgroups,
                                 .nets = lent_nets(l, shape),
                                 .is_last = is_last(l, shape) };
    struct host_box *box;
    struct box_far far;
    int r;

    r = host_box_new(l->base, &l->callbacks, &box, &far, err);
    if (r < 0 && l->nets.n > 0) { /* too few descriptors, perhaps */
        nets_done(&l->nets);
        r = host_box_new(l->base, &l->callbacks, &box, &far, err);
    }
    if (r < 0)
        return -1;
    box->number = ++l->n_boxes;
    box->shape = *shape;
    (void)mounts_ref(shape->mounts);
    if (shape->level < LEVEL_NAMESPACES) {
        box->scratch = scratch_make(&l->scratches, &box->scratch_lock);
        /* Init, which is then another user, cannot remove it from a directory of root's. */
        l->backend.must_be_freed |= geteuid() == 0;
        r = box->scratch && scratch_link(box->scratch, shape->mounts) == 0
                ? 0
                : gb_fail(err, GB_E_SYSTEM, errno, "making a scratch directory");
    } else {
        r = 0;
    }
    if (r == 0)
        r = order_place(&means, box, &far, err);
    box_far_close(&far);
    if (r < 0) {
        if (box->scratch)
            scratch_bury(&l->scratches, box->scratch);
        host_box_free(box);
        return -1;
    }
    box->next = l->boxes;
    l->boxes = box;
    return 0;
}

/* ---- matching ---- */

/* Only among those that are born: should the zygote die before it has told us of a box, the box is
 * given up, and a program that had been sent to it might have begun. */
static struct host_box *find_box(const struct local *l, enum box_state state,
                                 const struct box_shape *shape)
{
    for (struct host_box *box = l->boxes; box; box = box->next)
        if (box->pid > 0 && box->state == state && !box->run && shape_same(&box->shape, shape))
            return box;
    return NULL;
}

unsigned count_boxes(const struct local *l, enum box_state state, const struct box_shape *shape)
{
    unsigned n = 0;

    for (const struct host_box *box = l->boxes; box; box = box->next)
        n += box->state == state && !box->run && (!shape || shape_same(&box->shape, shape));
    return n;
}

int run_in(const struct run *r, struct host_box *box, struct gb_err *err)
{
    if (r->order.n_files > 0 && box->workspace < 0)
        return gb_fail(err, GB_E_INVALID, 0, "files: the session's workspace cannot be reached");
    if (workspace_put(box->workspace, box->uid, box->gid, r->order.files, r->order.n_files, err) <
        0)
        return -1;

    uint64_t token = 0;
    json_t *program = program_for(&r->order, &r->shape, box->scratch, box->is_fork, &token);
    struct box_work work = { .program = program,
                             .in = r->stdin_fd,
                             .watch = program_watch(&r->order, &r->shape),
                             .timeout_ms = r->order.timeout_ms,
                             .hold = r->order.hold,
                             .tool_token = token,
                             .list_survivors = r->order.list_survivors,
                             .act = r->order.act,
                             .cell = r->order.cell };
    int e = work.act == PLACE_FORK ? place_fork(r->order.into, box, &work, err) : 0;

    if (e == 0)
        e = host_box_run(box, &work, err);

    json_decref(program);
    return e;
}

static void assign(struct run *r, struct host_box *box)
{
    struct gb_err err;

    if ((r->order.place && place_move_in(r->order.place, box, &err) < 0) ||
        run_in(r, box, &err) < 0) {
        place_move_out(box);
        host_box_kill(box);          /* it died while it waited; another will come */
        if (err.code != GB_E_GONE) { /* another would do no better */
            run_fail(r, &err);
        } else if (++r->attempts >= ATTEMPTS_MAX) {
            gb_err_hint(&err, "the request may be too large for the memory that it may use");
            run_fail(r, &err);
        }
        return;
    }
    run_unqueue(r);
    r->box = box;
    box->run = r;
    if (box->is_ready)
        run_started(r);
}

void assign_waiting(struct local *l)
{
    for (struct run *r = l->queue, *next; r; r = next) {
        struct host_box *box;

        next = r->next;
        r->shape = shape_of(l, &r->order);
        box = find_box(l, BOX_WAITING, &r->shape);
        if (!box) { /* what is small can wait in the socket: the box is spared its warm-up */
            box = find_box(l, BOX_MAKING, &r->shape);
            box = box && run_is_small(r) ? box : NULL;
        }
        if (box)
            assign(r, box);
    }
}

static unsigned queued_of(const struct local *l, const struct box_shape *shape)
{
    unsigned n = 0;

    for (const struct run *r = l->queue; r; r = r->next)
        n += shape_same(&r->shape, shape);
    return n;
}

void note_refused(struct local *l, const struct box_shape *shape, const struct gb_err *err)
{
    struct box_shape usual = shape_of(l, &l->usual);

    if (!shape_same(&usual, shape))
        return;
    l->usual_refused = true;
    l->refusal = *err;
}

static bool is_want_of_fds(const struct gb_err *err)
{
    return err->code == GB_E_SYSTEM && (err->sys == EMFILE || err->sys == ENFILE);
}

/* Is there a box that will be gone before long, or taken? */
static bool has_passing(const struct local *l)
{
    for (const struct host_box *box = l->boxes; box; box = box->next)
        if (box->state == BOX_OVER || box->state == BOX_MAKING ||
            (box->state == BOX_RUNNING && !box->seat))
            return true;
    return false;
}

/* Make boxes of this shape until those that wait or are being made are `want`. */
static void make_up_to(struct local *l, const struct box_shape *shape, unsigned want)
{
    unsigned have = count_boxes(l, BOX_WAITING, shape) + count_boxes(l, BOX_MAKING, shape);

    if (have < want && !has_own_net(shape) && !l->never_lends && geteuid() != 0)
        stop_lending(l);
    if (l->is_retiring)
        return;
    for (; have < want && count_boxes(l, BOX_MAKING, NULL) < MAKING_MAX; have++) {
        struct gb_err err;
        if (box_make(l, shape, &err) < 0) {
            /* The zygote died, or does not take orders; or boxes will make room. Then again. */
            if (err.code == GB_E_GONE || (is_want_of_fds(&err) && has_passing(l))) {
                (void)evtimer_add(l->on_pump, &soon);
                return;
            }
            if (err.code == GB_E_NO_ISOLATION)
                note_refused(l, shape, &err);
            if (queued_of(l, shape) == 0)
                return;
            for (struct run *r = l->queue, *next; r; r = next) {
                next = r->next;
                if (shape_same(&r->shape, shape))
                    run_fail(r, &err);
            }
            (void)evtimer_add(l->on_pump, &at_once); /* others may have better luck */
            return;
        }
    }
}

void pump(struct local *l)
{
    struct box_shape usual;

    if (l->freeing)
        return;
    /* It has left its memory to a box that could not be made, or was lost: the run waits again. */
    if (!l->zygote && l->queue)
        (void)evtimer_add(l->on_respawn, &at_once);
    if (!l->info)
        return;
    assign_waiting(l);
    usual = shape_of(l, &l->usual);
    for (struct run *r = l->queue; r; r = r->next) {
        struct box_shape shape = r->shape; /* the run may be gone when it is used last */
        if (!shape_same(&shape, &usual)) {
            make_up_to(l, &shape, queued_of(l, &shape));
            break; /* the queue may have changed; the next box that is ready comes back here */
        }
    }
    if (l->oneshot && !l->oneshot_made) {
        l->oneshot_made = true;
        make_up_to(l, &usual, l->boxes ? 0 : 1);
    } else {
        make_up_to(l, &usual,
                   queued_of(l, &usual) + (l->oneshot || l->usual_refused ? 0 : l->pool));
    }
    assign_waiting(l); /* to those that are being made now */
}
