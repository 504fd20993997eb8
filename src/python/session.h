#pragma once
/* The guest of a session: it lives on, and runs one request after another in the same names. */
#include <jansson.h>

struct box_fds;
struct guest_order;

/* Is this request the beginning of a session? */
int session_is(const json_t *request);

/* Serve the session that this order begins, to its end. */
_Noreturn void session_main(const struct box_fds *fds, struct guest_order *order);
