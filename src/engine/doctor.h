#pragma once
#include "glovebox.h"

/* What this host allows, why not, what would fix it, and a self-test from inside a box, as JSON
 * text that the caller frees. */
char *doctor_report(struct gb_engine *engine);
