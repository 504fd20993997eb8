#pragma once
/* The checker: what a program may say, before any of it runs. It looks at the tree that CPython's
 * own parser made, and that tree is what is compiled. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>
#include <stdbool.h>

struct check_result {
    json_t *findings; /* an array, owned by the caller */
    int risk;
    bool rejected;
};

/* Find what the checker needs of the interpreter, once a process. Returns 0, or -1 with a Python
 * exception. */
int check_prepare(void);

/* Check the tree of a program, after that of the prelude that runs before it (or NULL), by the
 * rules that came with it. Returns 0, or -1 with a Python exception: then nothing is known of the
 * program, and it must not run. */
int check_tree(PyObject *prelude, PyObject *tree, const json_t *rules, struct check_result *ret);

/* Columns count bytes of UTF-8 until then: make them count characters of the program's text. */
void check_columns(json_t *findings, PyObject *source);
