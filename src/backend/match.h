#pragma once
/* Which run gets which box, and which boxes are made. */
#include "backend/runs.h"

/* What an order asks for, with auto as what it means now. */
struct box_shape shape_of(const struct local *l, const struct run_order *order);

/* That are in this state and nobody's; of one shape, or of any (NULL). */
unsigned count_boxes(const struct local *l, enum box_state state, const struct box_shape *shape);

/* Give the box what the run is to do there. */
int run_in(const struct run *r, struct host_box *box, struct gb_err *err) gb_nodiscard;

/* Give boxes that are there, or nearly, to runs that wait. */
void assign_waiting(struct local *l);

/* Bring runs and boxes together, and order what is missing. */
void pump(struct local *l);

/* The host will not have a box of this shape: if it is the usual one, none is made ahead any
 * more. */
void note_refused(struct local *l, const struct box_shape *shape, const struct gb_err *err);
