#pragma once
/* Boxes that stay: what a place is to the local backend. */
#include "backend/box.h"

/* It has no box before the first run, and none when that is lost. */
struct place {
    struct place *next, **list;
    struct place_spec spec;
    struct host_box *box;
};

/* A place in that list. NULL when memory ran out. */
struct place *place_new(struct place **list, const struct place_spec *spec);
void place_free(struct place *place); /* accepts NULL; ends the box as well */
struct place_about place_about(const struct place *place);

struct place_ground place_ground(const struct place *place);

/* What a box for it is made with: the limits of its programs, and room for what keeps them. */
struct plan_limits place_limits(const struct place *place, const struct plan_limits *limits);

/* Make a box the place's, and nobody's again. */
int place_move_in(struct place *place, struct host_box *box, struct gb_err *err) gb_nodiscard;
void place_move_out(struct host_box *box);

/* The box has ended while nothing ran in it: say so, unless everything ends. */
void place_lost(struct host_box *box, bool is_freeing);

/* Prepare work that forks `box` into another place: the engine's side of what is to come. */
int place_fork(struct place *into, const struct host_box *box, struct box_work *work,
               struct gb_err *err) gb_nodiscard;

/* That work is over. The fork, for the list of boxes; NULL if it did not come to be. */
struct host_box *place_forked(struct host_box *box);
