#pragma once
/* How calls of tools travel, and who waits for which answer. For tools.c; the GIL guards all of
 * it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

enum {
    WIRE_BUCKETS = 1024
};

/* A call that waits for its answer. */
struct waiter {
    struct waiter *next;
    uint64_t id;
    PyObject *future, *loop; /* NULL: a thread waits, for `reply` */
    json_t *reply;
};

struct wire {
    int chan, tell;
    pid_t pid; /* of the program; 0: there are no tools */
    uint64_t token, last_id;
    bool is_over; /* the program is at its end */
    bool is_gone; /* nobody answers any more */
    bool is_reading, is_writing;
    unsigned sleepers, changes;
    struct gb_buf in;
    struct waiter *table[WIRE_BUCKETS];
    PyObject *names;     /* dict: those that there are */
    PyObject *call_tool; /* the function */
    PyObject *made;      /* dict: the functions that were made, by name and description */
    PyObject *heard;     /* the event loop that reads the socket, the last one */
    PyObject *running;   /* asyncio's function that tells which loop runs here, once it is loaded */
};

extern struct wire wire;

/* Compile tools.py, once. Returns 0, or -1 with a Python exception. */
int wire_compile(void);

/* Something of tools.py, borrowed. */
PyObject *wire_helper(const char *name);

/* Raise ToolError, or UnknownToolError. */
void wire_raise(const char *type, const char *message);

/* As if nothing had been before it: what threads of an earlier cell were at is over, and in a copy
 * of the process they never were. */
void wire_begin_anew(void);

/* Send a call, and have `w` wait for its answer. Returns 0, or -1 with a Python exception. */
int wire_begin_call(struct waiter *w, PyObject *name, PyObject *arguments);

/* Nobody waits for it any more. */
void wire_cancel_call(uint64_t id);

/* Read what the socket has, having waited for it if `block`. `here` is the loop that calls.
 * Returns -1 with a Python exception when there is nothing more to come. */
int wire_read(bool block, PyObject *here);

/* What an answer is: a new reference, or NULL with the exception. */
PyObject *wire_value(const json_t *reply);

/* Settle the future of a call; from its own loop at once, from anywhere else through it. */
void wire_settle(struct waiter *w, const json_t *reply, PyObject *here);

/* Take one out of those that wait; NULL if it does not. */
struct waiter *waiter_take(uint64_t id);
void waiter_free(struct waiter *w);

/* Sleep, without the GIL, until something has changed, or for a while; and say that it has. */
void wire_await_change(void);
void wire_tell_change(void);

/* Write a whole frame, however long it takes, reading answers meanwhile: half a one would be the
 * end of the run. Returns -1 when nobody reads. */
int wire_write(const char *data, size_t len);

/* Between these the pipe is the caller's. */
void wire_begin_writing(void);
void wire_end_writing(void);
