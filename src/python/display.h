#pragma once
/* Rich output: what a program displays, in the guest. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

/* Bind `display` in a program's names. Returns 0, or -1 with a Python exception. */
int display_bind(PyObject *names);

/* Begin a run that answers on `tell_fd`, in the directory that is its workspace: nothing has been
 * displayed yet. */
void display_begin(int tell_fd);

/* It is over: nothing more is displayed. */
void display_end(void);

/* Has it a form that is more than text? */
bool display_is_rich(PyObject *value);

/* Display the value of the last expression, if it has a form that is more than text. Leaves no
 * exception. */
void display_value(PyObject *value);

/* Display and close the figures that are still open. Leaves no exception. */
void display_figures(void);

/* See to it that figures are drawn without a screen, and displayed when the program shows them:
 * takes effect when the program imports matplotlib. Returns 0, or -1 with a Python exception. */
int display_watch_imports(void);

/* Compile display.py now and not when it is first needed. Returns 0, or -1 with a Python
 * exception. */
int display_compile(void);
