#pragma once
/* What a program finds: its names, arguments, environment, and where it imports from. */
#include "python/program.h"

/* __main__ as a new program finds it: none of the names that started the zygote. Borrowed: its
 * dictionary, or NULL with a Python exception. */
PyObject *space_fresh(PyObject *source);

/* The same before there is a program: in the zygote, and for a session. Returns 0, or -1 with a
 * Python exception. */
int space_begin(void);

/* A program that came from a file finds itself in the workspace. */
int space_set_file(const struct guest *g, const char *filename);

/* Inputs, arguments, environment. Returns 0, or -1 with a Python exception. */
int space_fill(struct guest *g);

/* Modules in the workspace can be imported. */
void space_add_workspace(void);

/* Unless the program is checked strictly. */
void space_drop_workspace(const struct guest *g);

/* The same for a cell: a session may have begun strictly and go on otherwise. */
void space_choose_workspace(const json_t *request);
