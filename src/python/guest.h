#pragma once
/* The guest: the process in which the model's code runs. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "python/protocol.h"

struct box_fds;

/* Bring a freshly forked interpreter back into order. Our own code only: it is not sealed yet. */
void guest_prepare(const struct box_fds *fds);

/* Wait for one request, run it, answer, and exit. Runs sealed. */
void guest_main(const struct box_fds *fds);

/* Compile what guests need of Python (runtime.py) once, before they are forked. Returns 0, or -1
 * with a Python exception. */
int guest_compile_runtime(void);

/* A function of runtime.py (borrowed); NULL with a Python exception. */
PyObject *guest_runtime(const char *name);

/* Parse as a program is parsed: a new reference to the tree, or NULL with a Python exception. */
PyObject *guest_parse(PyObject *source, PyObject *filename);

/* What comes with a request. */
struct frame_extra {
    uint64_t token;
    bool has_stdin;    /* a standard input came with it, and is in place */
    int fds[FORK_FDS]; /* with FRAME_FORK, the reader's to close; else -1 */
};

/* The next request of the engine's; NULL at the end. */
json_t *guest_frame_read(int chan, struct frame_extra *ret);

void guest_frame_write(int fd, enum frame_kind kind, const json_t *json, const uint64_t *token);

/* __main__ as a session finds it. Returns 0, or -1 with a Python exception. */
int guest_begin_names(void);

/* Run a request in __main__ as it is, and flush. New reference: the answer. */
json_t *guest_run_cell(json_t *request);

/* Makes the interpreter's first tree, when run. */
#define FIRST_TREE "x = 1\nx"

/* Parse, compile and run `code` in a fresh namespace as a guest would, and give it up. Returns 0,
 * or -1 with a Python exception. */
int guest_run_bare(const char *code);
