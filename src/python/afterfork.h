/*
 * What the standard library does around a fork (os.register_at_fork), for forks that make a box.
 *
 * Its handlers are Python code: locks made anew that nobody can hold, the one thread found again
 * under the name that it has. In a guest that touches a third of all the memory that a small
 * program ever writes to. So those of the modules whose handlers are known are put behind a
 * question (boot.py), and a guest does what there is to do in C. Forks that the program itself
 * makes run all of them, and handlers of any other module always run.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* afterfork_wrap(module, handler): the handler, passed over when a box is made. */
PyObject *afterfork_wrap(PyObject *self, PyObject *handler);

/* In the zygote, before its first box: whether the handlers may be passed over. */
void afterfork_prepare(void);

/* In a new guest, instead of PyOS_AfterFork_Child(). */
void afterfork_child(void);
