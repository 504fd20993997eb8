#pragma once
/*
 * Turns at something scarce (the host's processes for tools' commands) among runs that do not know
 * of each other. Each run has a lane, in which its calls wait in order.
 *
 * - A run always has one place of its own: whatever the others do, its calls go on one by one.
 * - More places are shared. Lanes take them in turn, and one lane has a bounded number of them.
 * - What runs on after its run has ended (it is being killed) is an orphan. While there are too
 *   many orphans nobody gets a place of its own, so that a client that starts and ends runs as fast
 *   as it can does not collect processes.
 *
 * So at most LANES_SHARED places, LANES_SHARED orphans and one place for each run are in use.
 */
#include <stdbool.h>
#include <stddef.h>

enum {
    LANES_SHARED = 64,  /* places that lanes take in turn */
    LANES_PER_LANE = 16 /* that one lane has at most */
};

struct lane;

/* One that waits. Zeroed but for `data` before its first use; the caller's memory. */
struct lane_item {
    struct lane_item *prev, *next;
    struct lane *lane; /* NULL: it does not wait */
    void *data;
};

struct lanes {
    struct lane *first, *last; /* those in which somebody waits; the next to have a turn first */
    unsigned n_taken;          /* places in use, with those of orphans */
    unsigned n_orphans;
};

/* NULL when memory ran out. */
struct lane *lane_new(struct lanes *lanes);

/* The run is over. Nobody waits in it any more; places that it still has are orphans'. Accepts
 * NULL. */
void lane_close(struct lane *lane);

/* Wait at the end of the lane; give that up, if it waits. */
void lane_wait(struct lane *lane, struct lane_item *item);
void lane_leave(struct lane_item *item);

/* The next that may begin; its lane has one place more. NULL: nobody who waits may. */
struct lane_item *lanes_next(struct lanes *lanes);

/* A place of the lane is free again. After lane_close() the last one frees the lane. */
void lane_release(struct lane *lane);
