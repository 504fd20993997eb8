#pragma once
/* A box in which a session lives: one run after another, and dormant copies to go back to. */
#include "backend/box.h"
#include "python/protocol.h"

/* Make the box one that stays, with so many copies kept. It must be given no run before. */
int seat_new(struct host_box *box, unsigned copies, struct gb_err *err) gb_nodiscard;
void seat_free(struct box_seat *s);

/* Take work: it begins when the session is ready for it. */
int seat_take(struct host_box *box, const struct box_work *work, struct gb_err *err) gb_nodiscard;

/* End the run that it has. */
void seat_stop(struct host_box *box);

/* The box that its last run was to fork off, if it was: whether it has come to be (its pid is set)
 * or not, it is the caller's now. */
struct host_box *seat_take_fork(struct host_box *box);

/* SIGINT to what runs. */
void seat_interrupt(struct host_box *box);

/* The run has been told of; ready for another. */
void seat_reset(struct host_box *box);

bool seat_is_running(const struct host_box *box);

/* Can what it says be a cell's? Also when that has just been ended. */
bool seat_has_cell(const struct host_box *box);

struct place_about seat_about(const struct host_box *box);
enum place_state seat_state(const struct host_box *box);

/* What happened to it since the last run, or "". */
const char *seat_note(const struct host_box *box);

/* Did the run fail before it began? Then the outcome says why. */
bool seat_failed(const struct host_box *box, struct run_outcome *o);

/* ---- for box.c: what the box says ---- */

/* Its answer, and the number of a new copy. NULL, or what is wrong with that. */
const char *seat_done(struct host_box *box, const struct frame *head, json_t *answer);
const char *seat_copied(struct host_box *box, const json_t *said);

void seat_event(struct host_box *box, const struct box_event *event);
