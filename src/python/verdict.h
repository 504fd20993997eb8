#pragma once
/* What the check says about a program: what was found, how much of it, whether it may run. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>
#include <stdbool.h>

struct verdict {
    json_t *findings; /* an array, or NULL: none */
    json_int_t risk;
    bool is_rejected;
};

/* Add what `rules` find in the tree, which was made of `source`, and in that of the prelude (or
 * NULL). */
void verdict_check(struct verdict *v, PyObject *prelude, PyObject *tree, const json_t *rules,
                   PyObject *source);

/* The text cannot be read, parsed or compiled: take the current exception as the finding. `file`
 * is NULL for the program itself. */
void verdict_syntax(struct verdict *v, PyObject *source, const char *file);

/* The text names an encoding of its own, by which the interpreter would read it differently. */
void verdict_encoding(struct verdict *v, const char *text, size_t len);

/* Put it into an answer: no more than the engine reads. */
void verdict_answer(const struct verdict *v, json_t *answer);

void verdict_done(struct verdict *v);
