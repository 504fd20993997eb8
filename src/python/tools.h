#pragma once
/*
 * The program's side of the host's tools: call_tool() and one function a tool, as names of the
 * program's. A call made while an event loop runs in its thread is a coroutine; any other blocks
 * and gives the value.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>

/* Compile what it needs of Python, once. Returns 0, or -1 with a Python exception. */
int tools_compile(void);

/* Give the program that `names` is the namespace of the tools of its request ("tools",
 * "tool_token"), if it has any. Calls go to `tell`, which is borrowed; answers come from `chan`,
 * which is taken. Once for each cell of a session. Returns 0, or -1 with a Python exception. */
int tools_install(PyObject *names, const json_t *request, int chan, int tell);

/* Call a tool by its name: its value, or in an event loop a coroutine. New reference. */
PyObject *tools_call(PyObject *name, PyObject *kwargs);

/* The program, or the cell, is over: no call is under way on the wire, none will follow, no answer
 * is read. Whoever still waits for one is told so. */
void tools_end(void);

/* Write another frame to the pipe, not into the middle of a call's. While tools can answer, their
 * answers are read meanwhile: an engine that waits for that would never read the frame. */
void tools_write(int fd, const void *frame, size_t len);
