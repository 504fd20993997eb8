#pragma once
/* What a program came to, as the engine is told. */
#include "python/program.h"

/* The value of its last expression: JSON where it is JSON, else its repr. */
void answer_value(struct guest *g, PyObject *value);

/* The current exception, which is taken. */
void answer_exception(struct guest *g);

/* The same where it is SystemExit. */
void answer_exit(struct guest *g);
