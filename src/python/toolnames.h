#pragma once
/* The names that programs find their tools under: functions, and namespaces of them. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>

/* Bind the tools in `list`, in the place of those that there were, in the namespace `names`.
 * Returns 0, or -1 with a Python exception. */
int toolnames_bind(PyObject *names, const json_t *list);
