/*
 * What a program calls: call_tool(), and a function for each tool. In an event loop a call is a
 * coroutine, anywhere else it blocks. How it travels is wire.c's.
 */
#include "python/tools.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "python/toolnames.h"
#include "python/wire.h"

int tools_compile(void)
{
    return wire_compile();
}

/* ---- a call that blocks ---- */

static int await_reply(const struct waiter *w)
{
    while (!w->reply) {
        if (wire.is_gone) {
            wire_raise("Gone", "the host does not answer any more");
            return -1;
        }
        if (wire.is_reading)
            wire_await_change();
        else if (wire_read(true, NULL) < 0)
            return -1;
        if (!w->reply && PyErr_CheckSignals() < 0)
            return -1;
    }
    return 0;
}

static PyObject *call_now(PyObject *name, PyObject *arguments)
{
    struct waiter w = { 0 };
    PyObject *value;

    if (wire_begin_call(&w, name, arguments) < 0)
        return NULL;
    if (await_reply(&w) < 0) {
        if (!w.reply && waiter_take(w.id))
            wire_cancel_call(w.id);
        json_decref(w.reply);
        return NULL;
    }
    value = wire_value(w.reply);
    json_decref(w.reply);
    return value;
}

/* ---- calls from an event loop ---- */

/* The socket of the loop `self` can be read. */
static PyObject *on_readable(PyObject *self, PyObject *args)
{
    (void)args;
    if (getpid() != wire.pid || wire.is_gone) {
        PyObject *r = PyObject_CallMethod(self, "remove_reader", "i", wire.chan);
        Py_XDECREF(r);
        PyErr_Clear();
    } else if (!wire.is_reading && wire_read(false, self) < 0) {
        PyErr_Clear(); /* the futures are told when the loop ends, or time does */
    }
    Py_INCREF(Py_None);
    return Py_None;
}

static PyMethodDef on_readable_def = { "on_readable", on_readable, METH_NOARGS, NULL };

/* Have the loop read the socket; it does so until it is closed. */
static int listen_in(PyObject *loop)
{
    PyObject *fn, *r;

    if (loop == wire.heard)
        return 0;
    fn = PyCFunction_New(&on_readable_def, loop);
    /* It may have heard an earlier cell's socket under that number, and not know that it is
     * closed. */
    r = fn ? PyObject_CallMethod(loop, "remove_reader", "i", wire.chan) : NULL;
    Py_XDECREF(r);
    r = r ? PyObject_CallMethod(loop, "add_reader", "iO", wire.chan, fn) : NULL;
    Py_XDECREF(fn);
    if (!r)
        return -1;
    Py_DECREF(r);
    Py_XDECREF(wire.heard);
    Py_INCREF(loop);
    wire.heard = loop;
    return 0;
}

/* begin(future, loop, name, arguments): send it; its number. */
static PyObject *async_begin(PyObject *self, PyObject *args)
{
    PyObject *future, *loop, *name, *arguments;
    struct waiter *w = NULL;

    (void)self;
    if (!PyArg_ParseTuple(args, "OOUO!", &future, &loop, &name, &PyDict_Type, &arguments) ||
        listen_in(loop) < 0)
        return NULL;
    w = calloc(1, sizeof(*w));
    if (!w)
        return PyErr_NoMemory();
    Py_INCREF(future);
    Py_INCREF(loop);
    w->future = future;
    w->loop = loop;
    if (wire_begin_call(w, name, arguments) == 0)
        return PyLong_FromUnsignedLongLong(w->id);
    waiter_free(w);
    return NULL;
}

/* cancel(number): if it still waits. */
static PyObject *async_cancel(PyObject *self, PyObject *args)
{
    unsigned long long id;
    struct waiter *w;

    (void)self;
    if (!PyArg_ParseTuple(args, "K", &id))
        return NULL;
    w = waiter_take(id);
    if (w) {
        waiter_free(w);
        wire_cancel_call(id);
    }
    Py_INCREF(Py_None);
    return Py_None;
}

static PyMethodDef async_begin_def = { "begin", async_begin, METH_VARARGS, NULL };
static PyMethodDef async_cancel_def = { "cancel", async_cancel, METH_VARARGS, NULL };

/* Does an event loop run in this thread? Only where asyncio is loaded, and that is not asked for
 * its sake. */
static bool in_loop(void)
{
    PyObject *events, *loop;
    bool is_running;

    if (!wire.running) {
        events = PyDict_GetItemString(PySys_GetObject("modules"), "asyncio.events");
        wire.running = events ? PyObject_GetAttrString(events, "_get_running_loop") : NULL;
        PyErr_Clear();
    }
    loop = wire.running ? PyObject_CallFunctionObjArgs(wire.running, NULL) : NULL;
    is_running = loop && loop != Py_None;
    Py_XDECREF(loop);
    PyErr_Clear();
    return is_running;
}

static PyObject *call_later(PyObject *name, PyObject *arguments)
{
    PyObject *begin = PyCFunction_New(&async_begin_def, NULL);
    PyObject *cancel = PyCFunction_New(&async_cancel_def, NULL);
    PyObject *coroutine = begin && cancel
                              ? PyObject_CallFunctionObjArgs(wire_helper("call"), begin, cancel,
                                                             name, arguments, NULL)
                              : NULL;

    Py_XDECREF(begin);
    Py_XDECREF(cancel);
    return coroutine;
}

/* ---- what the program calls ---- */

PyObject *tools_call(PyObject *name, PyObject *kwargs)
{
    PyObject *arguments = kwargs ? kwargs : PyDict_New(), *out;

    if (!kwargs && !arguments)
        return NULL;
    out = in_loop() ? call_later(name, arguments) : call_now(name, arguments);
    if (!kwargs)
        Py_DECREF(arguments);
    return out;
}

static PyObject *call_tool(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *name = PyTuple_Size(args) == 1 ? PyTuple_GetItem(args, 0) : NULL;

    (void)self;
    if (name && PyUnicode_Check(name))
        return tools_call(name, kwargs);
    PyErr_SetString(PyExc_TypeError,
                    "call_tool() takes the tool's name, a string, and then keyword "
                    "arguments only: call_tool(\"name\", key=value)");
    return NULL;
}

/* Through a type that takes any function, as the C standard wants it. */
#define WITH_KEYWORDS(fn) ((PyCFunction)(void (*)(void))(fn))

static PyMethodDef call_tool_def = {
    "call_tool", WITH_KEYWORDS(call_tool), METH_VARARGS | METH_KEYWORDS,
    "call_tool(name, /, **arguments)\n--\n\nCall a tool of the host's by its name."
};

/* ---- the program's names ---- */

static int add_rest(PyObject *names)
{
    static const char *const errors[] = { "ToolError", "UnknownToolError" };
    PyObject *fn = PyCFunction_New(&call_tool_def, NULL);
    int r = fn ? PyDict_SetItemString(names, "call_tool", fn) : -1;

    Py_XDECREF(wire.call_tool);
    wire.call_tool = fn;
    for (size_t i = 0; i < ARRAY_LEN(errors) && r == 0; i++)
        r = PyDict_SetItemString(names, errors[i], wire_helper(errors[i]));
    return r;
}

int tools_install(PyObject *names, const json_t *request, int chan, int tell)
{
    const json_t *list = json_object_get(request, "tools");

    if (!list)
        return 0;
    if (wire_compile() < 0)
        return -1;
    wire_begin_anew();
    wire.chan = chan;
    wire.tell = tell;
    wire.pid = getpid();
    wire.token = (uint64_t)json_integer_value(json_object_get(request, "tool_token"));
    return toolnames_bind(names, list) < 0 ? -1 : add_rest(names);
}

/* Nobody will answer the calls that wait. */
static void dismiss(void)
{
    for (size_t i = 0; i < WIRE_BUCKETS; i++) {
        while (wire.table[i]) {
            struct waiter *w = waiter_take(wire.table[i]->id);
            json_t *reply = json_pack("{s:b,s:s,s:s}", "ok", 0, "type", "Gone", "message",
                                      "the program or the cell that called it is over");

            if (!w->future) {
                w->reply = reply; /* NULL: it finds that nobody answers */
                continue;
            }
            wire_settle(w, reply, NULL);
            waiter_free(w);
            json_decref(reply);
        }
    }
    wire_tell_change();
}

void tools_end(void)
{
    if (wire.pid == 0 || wire.is_over || wire.pid != getpid())
        return;
    wire_begin_writing(); /* a thread may be in the middle of a frame */
    wire.is_over = wire.is_gone = true;
    (void)shutdown(wire.chan, SHUT_RDWR); /* who reads it now reads its end */
    dismiss();
    while (wire.is_reading)
        wire_await_change();
    (void)close(take_fd(&wire.chan));
    Py_CLEAR(wire.heard);
    wire_end_writing();
}

void tools_write(int fd, const void *frame, size_t len)
{
    if (wire.pid == 0 || wire.pid != getpid() || wire.is_over) {
        (void)fd_write_all(fd, frame, len);
        return;
    }
    wire_begin_writing();
    (void)wire_write(frame, len); /* a host that is gone takes the box along */
    wire_end_writing();
}
