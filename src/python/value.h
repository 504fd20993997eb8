#pragma once
/* Python objects to JSON and back, inside the interpreter. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>
#include <stdbool.h>

/* New reference, or NULL with a Python exception. */
PyObject *value_from_json(const json_t *json);

/* The object as JSON where it is JSON (None, bool, int up to 64 bits, finite float, str, list and
 * tuple, dict with str keys, to a depth of 100), else NULL without an exception. */
json_t *value_to_json(PyObject *object);

/* str() or repr() of an object as a JSON string of at most `max` bytes. Never fails for the
 * object's sake: whatever it raises is swallowed. */
json_t *value_text(PyObject *object, bool want_repr, size_t max);
