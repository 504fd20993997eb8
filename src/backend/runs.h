#pragma once
/* What the parts of the local backend share: runs on their way to a box (runs.c), what brings both
 * together (match.c), and what boxes and the zygote tell (local.c). */
#include "backend/backend.h"
#include "backend/box.h"
#include "backend/order.h"
#include "backend/scratch.h"

struct run {
    struct run *next;
    struct local *local;
    struct run_order order; /* program and stdin_data owned here */
    struct run_events events;
    struct host_box *box; /* NULL while it waits */
    struct box_shape shape;
    bool killed;
    struct event *on_end; /* delivers an end that needs no box */
    struct gb_err failed;
    unsigned attempts; /* boxes that could not take it */
    int64_t started_us, begun_us;
    int stdin_fd;
};

struct local {
    struct backend backend;
    struct event_base *base;
    struct zygote *zygote;
    struct event *on_respawn, *on_pump;
    char *python;
    char *extension_dir;
    json_t *preload, *env;
    const json_t *info;      /* from the zygote, once it is up */
    json_t *about;           /* the same, kept */
    struct cgroups cgroups;  /* where the boxes' control groups are made */
    struct nets nets;        /* handed on by boxes, for others */
    bool has_namespaces;     /* a box had them: before that, none is to hand on its network's */
    bool never_lends;        /* nor where there are also boxes that have none */
    bool has_lent;           /* this zygote was told of one that may */
    bool is_retiring;        /* it is to make no more boxes: the next one does */
    unsigned lending_deaths; /* of zygotes that had */
    unsigned pool;
    bool oneshot, oneshot_made;
    bool freeing;
    struct run_order usual;
    int auto_level;     /* what auto came to mean: a level, or ISOLATION_AUTO while unknown */
    bool usual_refused; /* the last box of the usual shape could not be made: none is made ahead */
    struct gb_err refusal;
    unsigned deaths, mishaps; /* in a row, of zygotes and of boxes */
    struct gb_err gone;       /* why there is no zygote and will be none */
    uint64_t n_boxes;
    struct box_callbacks callbacks;
    struct host_box *boxes;
    struct place *places;
    struct run *queue;  /* runs without a box, first come first */
    struct run *ending; /* runs that ended without one, to be told from the loop */
    struct plans plans;
    struct scratch_bin scratches;
};

/* As timers: from the loop, and after a moment. */
extern const struct timeval at_once, soon;

/* A run that is in no queue yet; NULL with err. */
struct run *run_new(struct local *l, const struct run_order *order, const struct run_events *events,
                    struct gb_err *err);

/* Does it fit into a socket that nobody reads yet? */
bool run_is_small(const struct run *r);

/* Behind those that wait. */
void run_queue(struct run *r);

/* It waits no longer. */
void run_unqueue(struct run *r);

/* Its box could not be made, so nothing of it ran: back to the head of the queue. */
void run_requeue(struct run *r);

/* The clock of a run begins, and its events do. */
void run_started(struct run *r);

/* Tell the caller of its end, and free it. */
void run_done(struct run *r, struct run_outcome *outcome);

/* End a run that has no box. The caller is told from the loop and not from here: it may start other
 * runs when it hears, and here lists are being walked. */
void run_fail(struct run *r, const struct gb_err *err);

/* The same for all that wait. */
void runs_fail(struct local *l, const struct gb_err *err);

/* Tell of a failed run now. */
void run_tell(struct run *r);
