#pragma once
/* What a session's guest is told. What is said in one frame fits into the socket, which holds
 * nothing else: so it never waits. */
#include <jansson.h>

#include "backend/box.h"

/* An order, with the descriptors that go with it, each -1 or the caller's. */
int seat_send(struct host_box *box, const json_t *program, int words, int in,
              struct gb_err *err) gb_nodiscard;

/* One that has but a name. */
int seat_send_op(struct host_box *box, const char *op, struct gb_err *err) gb_nodiscard;

int seat_send_fork(const struct host_box *box, const struct box_far *far,
                   struct gb_err *err) gb_nodiscard;
