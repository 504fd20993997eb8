#pragma once
/* Sessions that ended while nobody asked anything of them: whoever names one next is told so,
 * once. */
#include "base/err.h"

struct gb_engine;

void grave_dig(struct gb_engine *engine, const char *name, const char *why);

/* Was there one of that name? Then err tells of it, it is forgotten, and -1 returned. */
int grave_visit(struct gb_engine *engine, const char *name, struct gb_err *err) gb_nodiscard;

void graves_free(struct gb_engine *engine);
