#pragma once
/* The names that programs find their tools under: functions, and namespaces of them. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>
#include <stdbool.h>

/* Bind the tools in `list`, in the place of those that there were, in the namespace `names`. `module` is that
 * of tools.py, and stays. Returns 0, or -1 with a Python exception. */
int toolnames_bind(PyObject *names, const json_t *list, PyObject *module);

/* Is there a tool of that name? */
bool toolnames_has(PyObject *name);

/* Raise that there is none, and name those that there are. */
void toolnames_raise(PyObject *name);
