#include "backend/order.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "python/protocol.h"

enum {
    PLAN_MAX = 1 << 20
};

/* The plan as the zygote reads it: a memory file, or -1. */
static int pack(const struct plan *plan, size_t *ret_len, struct gb_err *err)
{
    struct gb_buf packed;
    int fd = -1;

    gb_buf_init(&packed, PLAN_MAX);
    if (plan_pack(plan, &packed, err) == 0) {
        fd = fd_sealed("glovebox-plan", packed.data, packed.len);
        if (fd < 0)
            fd = gb_fail(err, GB_E_SYSTEM, -fd, "packing the plan");
    }
    *ret_len = packed.len;
    gb_buf_done(&packed);
    return fd;
}

/* With those that not every box has: a network namespace, or -1, and control groups. */
static int send_order(const struct order_means *m, struct zygote_order *order, int *fds, int net,
                      const int *procs, struct gb_err *err)
{
    size_t n = ORDER_NET;

    order->has_net = net >= 0;
    if (net >= 0)
        fds[n++] = net;
    for (size_t i = 0; i < order->n_cgroups; i++)
        fds[n++] = procs[i];
    return zygote_order(m->zygote, order, fds, n, err);
}

/* Order the box, in a control group if it is to have one. */
static int place_in_group(const struct order_means *m, const struct host_box *box,
                          struct zygote_order *order, int *fds, int net, struct gb_err *err)
{
    int procs[BOX_CGROUPS_MAX];
    int n = cgroup_make(m->cgroups, box->number, &box->shape.limits, procs, err);
    int r;

    if (n < 0)
        return -1;
    order->n_cgroups = (uint32_t)n;
    r = send_order(m, order, fds, net, procs, err);
    while (n > 0)
        (void)close(procs[--n]);
    if (r < 0)
        cgroup_remove(m->cgroups, box->number);
    return r;
}

int order_place(const struct order_means *m, struct host_box *box, const struct box_far *far,
                struct gb_err *err)
{
    struct composed *c = plans_get(m->plans, &box->shape, box->scratch, m->info, err);
    struct zygote_order order = { .number = box->number, .is_last = m->is_last };
    auto_close int plan = -1, net = -1;

    if (!c)
        return -1;
    if (c->plan.change_ids)
        c->plan.outside_uid = c->plan.outside_gid = plan_outside_id(box->number);
    c->plan.lends_net = m->nets && (c->plan.namespaces & CLONE_NEWNET) != 0;
    box->uid = c->plan.outside_uid;
    box->gid = c->plan.outside_gid;
    plan = pack(&c->plan, &order.plan_bytes, err);
    if (plan < 0)
        return -1;
    if (c->plan.lends_net)
        net = nets_take(m->nets);
    int fds[ORDER_FDS] = {
        [ORDER_PLAN] = plan,    [ORDER_CTL] = far->ctl, [ORDER_CHAN] = far->chan,
        [ORDER_OUT] = far->out, [ORDER_ERR] = far->err, [ORDER_ANSWER] = far->answer
    };
    return place_in_group(m, box, &order, fds, net, err);
}
