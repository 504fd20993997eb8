#include "backend/place.h"

#include <stdlib.h>

#include "backend/seat.h"

struct place *place_new(struct place **list, const struct place_spec *spec)
{
    struct place *place = calloc(1, sizeof(*place));

    if (!place)
        return NULL;
    *place = (struct place){ .next = *list, .list = list, .spec = *spec };
    *list = place;
    return place;
}

void place_free(struct place *place)
{
    struct place **at = place ? place->list : NULL;

    if (!place)
        return;
    while (*at != place)
        at = &(*at)->next;
    *at = place->next;
    if (place->box) {
        struct host_box *box = place->box;
        place_move_out(box);
        host_box_kill(box);
    }
    free(place);
}

struct place_about place_about(const struct place *place)
{
    return place->box ? seat_about(place->box) : (struct place_about){ 0 };
}

struct place_ground place_ground(const struct place *place)
{
    const struct host_box *box = place->box;

    return box ? (struct place_ground){ box->workspace, box->uid, box->gid }
               : (struct place_ground){ .dir = -1 };
}

/* Beside what its programs start there are the copies, and one that makes them; and processor time
 * is counted by the cell. */
struct plan_limits place_limits(const struct place *place, const struct plan_limits *limits)
{
    struct plan_limits more = *limits;

    more.processes += place->spec.copies + 2;
    more.cpu_ms = 0;
    return more;
}

int place_move_in(struct place *place, struct host_box *box, struct gb_err *err)
{
    if (seat_new(box, place->spec.copies, err) < 0)
        return -1;
    place->box = box;
    box->place = place;
    return 0;
}

void place_move_out(struct host_box *box)
{
    struct place *place = box->place;

    if (place)
        place->box = NULL;
    box->place = NULL;
}

void place_lost(struct host_box *box, bool is_freeing)
{
    struct place *place = box->place;
    struct gb_err err;

    place_move_out(box);
    if (!place || is_freeing)
        return;
    gb_err_set(&err, GB_E_GONE, 0, "the session's box has ended%s%s", *seat_note(box) ? ": " : "",
               seat_note(box));
    place->spec.lost(place->spec.data, &err);
}

int place_fork(struct place *into, const struct host_box *box, struct box_work *work,
               struct gb_err *err)
{
    if (box->kin && box->kin->n >= BOX_SEATS_MAX) {
        (void)gb_fail(err, GB_E_LIMIT, 0, "a session and its forks can be %d at most",
                      BOX_SEATS_MAX);
        return gb_fail_hint(err, "close one of them");
    }
    if (host_box_new(event_get_base(box->on_ctl), box->callbacks, &work->fork, &work->far, err) < 0)
        return -1;
    if (place_move_in(into, work->fork, err) < 0) {
        box_far_close(&work->far);
        host_box_free(work->fork);
        return -1;
    }
    return 0;
}

struct host_box *place_forked(struct host_box *box)
{
    struct host_box *fork = seat_take_fork(box);

    if (!fork || fork->pid > 0)
        return fork;
    place_move_out(fork);
    host_box_free(fork);
    return NULL;
}
