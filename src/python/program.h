#pragma once
/* A program, from its text to its value. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "python/verdict.h"

struct guest {
    int chan;    /* where it hears from the engine, until the program runs */
    int tell_fd; /* where it answers */
    json_t *request;
    PyObject *filename; /* str */
    PyObject *names;    /* borrowed: the dictionary of __main__ */
    PyObject *prelude;  /* its tree, then its code; or NULL */
    PyObject *body;     /* code of all but the last expression, or NULL */
    PyObject *last;     /* code of the last expression, or NULL */
    struct verdict verdict;
    json_t *answer;
    int exit_code;
    uint64_t token; /* zero once the program runs */
};

/* Makes the interpreter's first tree, when run. */
#define FIRST_TREE "x = 1\nx"

/* The code without the byte-order mark that some editors put in front: str. */
PyObject *program_source(const char *text, size_t len);

/* Parse as a program is parsed: a new reference to the tree, or NULL with a Python exception. */
PyObject *program_parse(PyObject *source, PyObject *filename);

/* Parse, check, and, unless it was rejected, compile. What was found wrong, if anything, is in the
 * verdict. */
void program_check(struct guest *g, PyObject *source);

/* Run the prelude, if there is one. Returns 0, or -1 with a Python exception. */
int program_run_prelude(const struct guest *g);

/* Run it: a new reference to the value of the last expression, None when there is none; NULL with a
 * Python exception. */
PyObject *program_run(const struct guest *g);

/* Parse, compile and run `code` in a fresh namespace as a guest would, and give it up. Returns 0,
 * or -1 with a Python exception. */
int program_run_bare(const char *code);

/* module.name, or NULL with a Python exception. */
PyObject *program_attr(const char *module, const char *name);
