#include "engine/lanes.h"

#include <stdlib.h>

struct lane {
    struct lanes *lanes;
    struct lane *prev, *next; /* among those in which somebody waits */
    struct lane_item *first, *last;
    unsigned n_taken;
    bool is_over; /* its run has ended */
};

struct lane *lane_new(struct lanes *lanes)
{
    struct lane *lane = calloc(1, sizeof(*lane));

    if (lane)
        lane->lanes = lanes;
    return lane;
}

/* ---- the line of lanes ---- */

static void line_add(struct lane *lane)
{
    struct lanes *lanes = lane->lanes;

    lane->next = NULL;
    lane->prev = lanes->last;
    if (lane->prev)
        lane->prev->next = lane;
    else
        lanes->first = lane;
    lanes->last = lane;
}

static void line_remove(struct lane *lane)
{
    struct lanes *lanes = lane->lanes;

    if (lane->prev)
        lane->prev->next = lane->next;
    else
        lanes->first = lane->next;
    if (lane->next)
        lane->next->prev = lane->prev;
    else
        lanes->last = lane->prev;
}

/* ---- who waits in one ---- */

void lane_wait(struct lane *lane, struct lane_item *item)
{
    item->lane = lane;
    item->next = NULL;
    item->prev = lane->last;
    if (item->prev)
        item->prev->next = item;
    else
        lane->first = item;
    lane->last = item;
    if (lane->first == item)
        line_add(lane);
}

void lane_leave(struct lane_item *item)
{
    struct lane *lane = item->lane;

    if (!lane)
        return;
    if (item->prev)
        item->prev->next = item->next;
    else
        lane->first = item->next;
    if (item->next)
        item->next->prev = item->prev;
    else
        lane->last = item->prev;
    item->lane = NULL;
    if (!lane->first)
        line_remove(lane);
}

/* ---- places ---- */

static bool may_take(const struct lane *lane)
{
    const struct lanes *lanes = lane->lanes;

    if (lane->n_taken == 0)
        return lanes->n_orphans < LANES_SHARED;
    return lane->n_taken < LANES_PER_LANE && lanes->n_taken < LANES_SHARED;
}

struct lane_item *lanes_next(struct lanes *lanes)
{
    for (struct lane *lane = lanes->first; lane; lane = lane->next) {
        struct lane_item *item = lane->first;

        if (!may_take(lane))
            continue;
        lane->n_taken++;
        lanes->n_taken++;
        lane_leave(item);
        if (lane->first) { /* the others have their turns before its next */
            line_remove(lane);
            line_add(lane);
        }
        return item;
    }
    return NULL;
}

void lane_release(struct lane *lane)
{
    lane->n_taken--;
    lane->lanes->n_taken--;
    lane->lanes->n_orphans -= lane->is_over;
    if (lane->is_over && lane->n_taken == 0)
        free(lane);
}

void lane_close(struct lane *lane)
{
    if (!lane)
        return;
    while (lane->first)
        lane_leave(lane->first);
    lane->is_over = true;
    lane->lanes->n_orphans += lane->n_taken;
    if (lane->n_taken == 0)
        free(lane);
}
