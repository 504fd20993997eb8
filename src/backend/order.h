#pragma once
/* Ordering a box from the zygote: its plan, its control group, its scratch directory. */
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

/* A host directory for a box without a private root, which the caller frees; NULL with errno. */
char *scratch_make(void);

/* Links in it, below mnt, to what is mounted where there is a private root. Returns 0, -1 with
 * errno. */
int scratch_link(const char *scratch, const struct mounts *mounts);

/* Remove it. Init does so too; should it have been killed itself, something may be left. */
void scratch_remove(const char *path);
