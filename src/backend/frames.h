#pragma once
/* The frames that a box sends. */
#include "backend/box.h"

/* Take those that are all there from what has come. */
void frames_take(struct host_box *box);
