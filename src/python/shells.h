#pragma once
/* The guest of a session in which a shell lives: it reads orders as session.c does, and hands
 * commands to the shell. */
#include <jansson.h>
#include <stdbool.h>

struct box_fds;
struct guest_order;

/* Is the order that begins the session one for a shell? */
bool shells_is(const json_t *request);

_Noreturn void shells_main(const struct box_fds *fds, struct guest_order *order);
