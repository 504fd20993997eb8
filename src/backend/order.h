#pragma once
/* Ordering a box from the zygote: its plan and its control group. */
#include "backend/box.h"
#include "backend/nets.h"
#include "backend/plans.h"
#include "python/zygote.h"
#include "sandbox/cgroup.h"

/* What it takes; all borrowed. */
struct order_means {
    struct zygote *zygote;
    struct plans *plans;
    const json_t *info; /* what the zygote told of itself */
    const struct cgroups *cgroups;
    struct nets *nets; /* what boxes of this zygote handed on, or NULL: none is to do so */
    bool is_last;      /* the zygote is needed for no other */
};

/* Order the box. Its far ends are sent, not taken. */
int order_place(const struct order_means *m, struct host_box *box, const struct box_far *far,
                struct gb_err *err) gb_nodiscard;
