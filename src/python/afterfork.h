/*
 * What the standard library does around a fork (os.register_at_fork), for forks that make a box.
 *
 * Its handlers are Python code: locks made anew that nobody can hold, the one thread found again
 * under the name that it has. In a guest that touches a third of all the memory that a small
 * program ever writes to. So those of the modules whose handlers are known are kept (boot.py), and
 * a guest does what there is to do in C, and then registers them: forks that the program itself
 * makes run all of them. Handlers of any other module always run.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* keep_handlers(named): a dictionary of what os.register_at_fork() was given. */
PyObject *afterfork_keep(PyObject *self, PyObject *named);

/* In the zygote, before its first box: whether the handlers may be passed over. */
void afterfork_prepare(void);

/* Around a fork that makes a box, and in the guest: instead of PyOS_BeforeFork() and the like. */
void afterfork_before(void);
void afterfork_parent(void);
void afterfork_child(void);
