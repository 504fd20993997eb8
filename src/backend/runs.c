/* How a run waits, and how it ends where it never had a box. */
#include "backend/runs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"

enum {
    SMALL_PROGRAM = 64 << 10
};

const struct timeval at_once = { 0 }, soon = { .tv_usec = 20000 };

static void run_free(struct run *r)
{
    if (r->on_end)
        event_free(r->on_end);
    json_decref(json_shared(r->order.program));
    (void)mounts_unref(r->order.mounts);
    fd_take_back(&r->stdin_fd); /* a session may have kept it */
    free(r);
}

static void list_remove(struct run **list, const struct run *r)
{
    for (struct run **at = list; *at; at = &(*at)->next) {
        if (*at == r) {
            *at = r->next;
            return;
        }
    }
}

void run_done(struct run *r, struct run_outcome *outcome)
{
    outcome->started_us = r->started_us;
    outcome->begun_us = r->begun_us;
    outcome->ended_us = clock_us();
    r->events.done(r->events.data, outcome);
    run_free(r);
}

void run_fail(struct run *r, const struct gb_err *err)
{
    struct local *l = r->local;

    list_remove(&l->queue, r);
    r->failed = *err;
    r->next = l->ending;
    l->ending = r;
    (void)evtimer_add(r->on_end, &at_once);
}

void run_tell(struct run *r)
{
    struct run_outcome outcome = {
        .end = r->killed ? RUN_KILLED : RUN_FAILED, .err = r->failed, .workspace = -1, .keeper = -1
    };

    list_remove(&r->local->ending, r);
    run_done(r, &outcome);
}

static void on_end(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    run_tell(data);
}

void runs_fail(struct local *l, const struct gb_err *err)
{
    while (l->queue)
        run_fail(l->queue, err);
}

/* Files can only be put where there is a workspace already. */
bool run_is_small(const struct run *r)
{
    return r->order.n_files == 0 &&
           json_dumpb(r->order.program, NULL, 0, JSON_COMPACT) < SMALL_PROGRAM;
}

struct run *run_new(struct local *l, const struct run_order *order, const struct run_events *events,
                    struct gb_err *err)
{
    struct run *r = calloc(1, sizeof(*r));

    if (!r) {
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a run");
        return NULL;
    }
    *r = (struct run){ .local = l, .order = *order, .events = *events, .stdin_fd = -1 };
    r->order.program = json_incref(json_shared(order->program));
    (void)mounts_ref(order->mounts);
    r->on_end = evtimer_new(l->base, on_end, r);
    if (order->stdin_bytes > 0)
        r->stdin_fd = fd_lent("stdin", order->stdin_data, order->stdin_bytes);
    if (r->on_end && (order->stdin_bytes == 0 || r->stdin_fd >= 0))
        return r;
    run_free(r);
    (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a run");
    return NULL;
}

void run_queue(struct run *r)
{
    struct run **end = &r->local->queue;

    while (*end)
        end = &(*end)->next;
    *end = r;
}

void run_unqueue(struct run *r)
{
    list_remove(&r->local->queue, r);
    r->next = NULL;
}

void run_requeue(struct run *r)
{
    struct local *l = r->local;
    struct gb_err cancelled = { .code = GB_E_GONE };

    r->box = NULL;
    if (r->killed) {
        run_fail(r, &cancelled);
        return;
    }
    r->next = l->queue;
    l->queue = r;
}

void run_started(struct run *r)
{
    r->started_us = r->begun_us = clock_us();
    r->events.started(r->events.data);
}
