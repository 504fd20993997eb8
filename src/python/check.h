#pragma once
/* The check of a program's tree against rules. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>
#include <stdbool.h>

struct check_result {
    json_t *findings; /* array, owned by the caller */
    int risk;
    bool rejected;
};

/* Returns 0, or -1 with a Python exception when it broke: then the run is refused. */
int check_tree(PyObject *prelude, PyObject *tree, const json_t *rules, struct check_result *ret);
