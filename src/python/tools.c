/*
 * How a program calls the host's tools.
 *
 * A call is one frame on the pipe to the engine, its answer one frame on the socket from it; they
 * are matched by the number of the call, so any number may be under way. There is no thread of our
 * own: whoever waits for an answer reads the socket, and hands out what is not for itself. In an
 * event loop that is the loop, to which the socket is one more reader; else it is one of the
 * threads that wait, while the others sleep.
 *
 * The GIL guards everything here. `is_reading` and `is_writing` say who is at the socket and at the
 * pipe with the GIL given up. The pipe is written in pieces that it has room for, and while it has
 * none the socket is read: an engine that waits until we have read cannot make us wait for it.
 *
 * A child that the program forks shares pipe and socket, and must not use them: its calls are
 * refused here, and what it writes past us lacks the engine's trust like everything else.
 */
#include "python/tools.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "python/guest.h"
#include "python/protocol.h"
#include "python/toolnames.h"
#include "python/value.h"
#include "tools_py.h"

enum {
    PIECE = 64 << 10,
    LOOK_US = 50,
    NAP_MS = 50, /* the longest that a thread sleeps before it looks for signals */
    BUCKETS = 1024
};

/* A call that waits for its answer. */
struct waiter {
    struct waiter *next;
    uint64_t id;
    PyObject *future, *loop; /* NULL: a thread waits, for `reply` */
    json_t *reply;
};

static struct {
    int chan, tell;
    pid_t pid; /* of the program; 0: there are no tools */
    uint64_t token, last_id;
    bool is_over; /* the program is at its end */
    bool is_gone; /* nobody answers any more */
    bool is_reading, is_writing;
    unsigned sleepers, changes;
    struct gb_buf in;
    struct waiter *table[BUCKETS];
    PyObject *heard;   /* the event loop that reads the socket, the last one */
    PyObject *running; /* asyncio's function that tells which loop runs here, once it is loaded */
} t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* The namespace of tools.py; made once. */
static PyObject *module;

int tools_compile(void)
{
    PyObject *code, *result = NULL;

    if (module)
        return 0;
    module = PyDict_New();
    if (module && PyDict_SetItemString(module, "__builtins__", PyEval_GetBuiltins()) == 0) {
        code = Py_CompileString(tools_text, "<glovebox>", Py_file_input);
        result = code ? PyEval_EvalCode(code, module, module) : NULL;
        Py_XDECREF(code);
    }
    if (!result)
        Py_CLEAR(module);
    Py_XDECREF(result);
    return module ? 0 : -1;
}

/* Borrowed. */
static PyObject *from_module(const char *name)
{
    return PyDict_GetItemString(module, name);
}

static void raise_tool_error(const char *type, const char *message)
{
    bool is_unknown = strcmp(type, "UnknownTool") == 0;
    PyObject *class = from_module(is_unknown ? "UnknownToolError" : "ToolError");
    PyObject *exc = PyObject_CallFunction(class, "ss", type, message);

    if (exc)
        PyErr_SetObject(class, exc);
    Py_XDECREF(exc);
}

/* ---- threads that wait for each other ---- */

/* Sleep, without the GIL, until something has changed, or for a while. */
static void await_change(void)
{
    unsigned seen = t.changes;
    struct timespec until;

    t.sleepers++;
    Py_BEGIN_ALLOW_THREADS;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    (void)pthread_mutex_lock(&lock);
    while (t.changes == seen && pthread_cond_timedwait(&changed, &lock, &until) == 0)
        ;
    (void)pthread_mutex_unlock(&lock);
    Py_END_ALLOW_THREADS;
    t.sleepers--;
}

static void tell_change(void)
{
    if (t.sleepers == 0)
        return;
    (void)pthread_mutex_lock(&lock);
    t.changes++;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

/* ---- calls that wait ---- */

static void waiter_add(struct waiter *w)
{
    struct waiter **bucket = &t.table[w->id % BUCKETS];

    w->next = *bucket;
    *bucket = w;
}

static struct waiter *waiter_take(uint64_t id)
{
    for (struct waiter **at = &t.table[id % BUCKETS]; *at; at = &(*at)->next) {
        struct waiter *w = *at;

        if (w->id == id) {
            *at = w->next;
            return w;
        }
    }
    return NULL;
}

static void waiter_free(struct waiter *w)
{
    Py_XDECREF(w->future);
    Py_XDECREF(w->loop);
    free(w);
}

/* ---- answers ---- */

static PyMethodDef call_tool_def;

/* A result with things in it that are read when they are wanted. */
static PyObject *blocks_value(const json_t *result)
{
    PyObject *value = value_from_json(result);
    PyObject *call = value ? PyCFunction_New(&call_tool_def, NULL) : NULL, *out = NULL;

    if (call)
        out = PyObject_CallFunctionObjArgs(from_module("blocks"), value, call, NULL);
    Py_XDECREF(call);
    Py_XDECREF(value);
    return out;
}

/* New reference; NULL with the exception that the answer is. */
static PyObject *reply_value(const json_t *reply)
{
    const char *type = json_string_value(json_object_get(reply, "type"));
    const char *message = json_string_value(json_object_get(reply, "message"));
    const json_t *result = json_object_get(reply, "result");

    if (json_is_true(json_object_get(reply, "blocks")) && result)
        return blocks_value(result);
    if (json_is_true(json_object_get(reply, "ok")) && result)
        return value_from_json(result);
    raise_tool_error(type ? type : "ToolError", message ? message : "");
    return NULL;
}

/* The current exception as an object. */
static PyObject *take_error(void)
{
    PyObject *type = NULL, *exc = NULL, *tb = NULL;

    PyErr_Fetch(&type, &exc, &tb);
    PyErr_NormalizeException(&type, &exc, &tb);
    Py_XDECREF(type);
    Py_XDECREF(tb);
    return exc;
}

/* Settle the future of a call; from its own loop at once, from anywhere else through it. */
static void settle(struct waiter *w, const json_t *reply, PyObject *here)
{
    PyObject *fn = from_module("settle"), *value = reply_value(reply), *error = NULL, *done;

    if (!value)
        error = take_error();
    if (w->loop == here)
        done = PyObject_CallFunctionObjArgs(fn, w->future, value ? value : Py_None,
                                            error ? error : Py_None, NULL);
    else
        done = PyObject_CallMethod(w->loop, "call_soon_threadsafe", "OOOO", fn, w->future,
                                   value ? value : Py_None, error ? error : Py_None);
    if (!done)
        PyErr_Clear(); /* the loop is closed: nobody waits */
    Py_XDECREF(done);
    Py_XDECREF(error);
    Py_XDECREF(value);
}

static void take_reply(const char *text, size_t len, PyObject *here)
{
    json_t *reply = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    uint64_t id = (uint64_t)json_integer_value(json_object_get(reply, "id"));
    struct waiter *w = reply ? waiter_take(id) : NULL;

    if (!w) { /* given up */
        json_decref(reply);
    } else if (w->future) {
        settle(w, reply, here);
        waiter_free(w);
        json_decref(reply);
    } else {
        w->reply = reply;
    }
}

static void take_replies(PyObject *here)
{
    struct frame head;
    size_t at = 0;

    while (t.in.len - at >= sizeof(head)) {
        memcpy(&head, t.in.data + at, sizeof(head));
        if (t.in.len - at < sizeof(head) + head.len)
            break;
        if (head.kind == FRAME_TOOL_RESULT && head.token == t.token)
            take_reply(t.in.data + at + sizeof(head), head.len, here);
        at += sizeof(head) + head.len;
    }
    t.in.len -= at;
    memmove(t.in.data, t.in.data + at, t.in.len);
    if (t.in.len == 0 && t.in.cap > 4 * PIECE)
        gb_buf_done(&t.in); /* what one large result took */
}

/* Most tools answer sooner than a processor falls asleep and is woken again, so look a while before
 * sleeping; whoever else wants the processor gets it meanwhile. */
static ssize_t recv_soon(void *data, size_t max)
{
    int64_t until = clock_us() + LOOK_US;
    ssize_t n;

    do {
        n = recv(t.chan, data, max, MSG_DONTWAIT);
        if (n >= 0 || errno != EAGAIN)
            return n;
        (void)sched_yield();
    } while (clock_us() < until);
    return recv(t.chan, data, max, 0);
}

/* Read what the socket has, having waited for it if `block`. `here` is the loop that calls.
 * Returns -1 with a Python exception when there is nothing more to come. */
static int read_replies(bool block, PyObject *here)
{
    struct gb_err err;
    ssize_t n;
    int e;

    if (gb_buf_reserve(&t.in, PIECE, &err) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    t.is_reading = true;
    if (block) {
        Py_BEGIN_ALLOW_THREADS;
        n = recv_soon(t.in.data + t.in.len, t.in.cap - t.in.len);
        e = errno;
        Py_END_ALLOW_THREADS;
    } else {
        n = recv(t.chan, t.in.data + t.in.len, t.in.cap - t.in.len, MSG_DONTWAIT);
        e = errno;
    }
    t.is_reading = false;
    if (n < 0 && (e == EINTR || e == EAGAIN)) {
        tell_change();
        return 0;
    }
    if (n > 0) {
        t.in.len += (size_t)n;
        take_replies(here);
        tell_change();
        return 0;
    }
    t.is_gone = true;
    tell_change();
    raise_tool_error("Gone", "the host does not answer any more");
    return -1;
}

/* ---- frames ---- */

/* Only from the program's own process, and while somebody listens. */
static bool can_speak(void)
{
    if (t.is_over || t.is_gone)
        raise_tool_error("Gone", "the host does not answer any more");
    else if (getpid() != t.pid)
        raise_tool_error("ForkedProcess", "tools can be called from the program's own process "
                                          "only, not from one that it started");
    else
        return true;
    return false;
}

/* Wait until the pipe has room, reading answers meanwhile. */
static void await_room(void)
{
    struct pollfd p[] = { { .fd = t.tell, .events = POLLOUT },
                          { .fd = t.is_reading ? -1 : t.chan, .events = POLLIN } };

    Py_BEGIN_ALLOW_THREADS;
    (void)poll(p, 2, NAP_MS);
    Py_END_ALLOW_THREADS;
    if (p[1].revents != 0 && p[0].revents == 0 && !t.is_reading && read_replies(false, NULL) < 0)
        PyErr_Clear(); /* whoever waits for an answer will find out */
}

/* A pipe that can be written to takes a page without blocking. */
static bool has_room(void)
{
    struct pollfd p = { .fd = t.tell, .events = POLLOUT };

    return poll(&p, 1, 0) > 0;
}

/* Write a whole frame, however long it takes: half a one would be the end of the run. */
static int write_all(const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n;

        if (!has_room()) {
            await_room();
            continue;
        }
        n = write(t.tell, data, len < PIPE_BUF ? len : PIPE_BUF);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return -1;
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

/* Be the one who writes. */
static void begin_writing(void)
{
    while (t.is_writing)
        await_change();
    t.is_writing = true;
}

static void end_writing(void)
{
    t.is_writing = false;
    tell_change();
}

/* `text` is an object without its opening brace, to which the number of the call is added. */
static int frame_send(enum frame_kind kind, uint64_t id, const char *text, size_t len)
{
    struct frame head = { .kind = kind, .token = t.token };
    char number[40];
    int n = snprintf(number, sizeof(number), "{\"id\":%llu%s", (unsigned long long)id,
                     text[0] == '}' ? "" : ",");
    char *data = malloc(sizeof(head) + (size_t)n + len);
    int r = -1;

    if (data) {
        head.len = (uint32_t)((size_t)n + len);
        memcpy(data, &head, sizeof(head));
        memcpy(data + sizeof(head), number, (size_t)n);
        memcpy(data + sizeof(head) + n, text, len);
        r = write_all(data, sizeof(head) + head.len);
    }
    if (!data)
        PyErr_NoMemory();
    else if (r < 0)
        raise_tool_error("Gone", "the host does not answer any more");
    free(data);
    return r;
}

/* ---- arguments ---- */

static void raise_not_json(PyObject *name, PyObject *arguments)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    while (PyDict_Next(arguments, &at, &key, &value)) {
        json_t *json = value_to_json(value);

        if (!json) {
            PyErr_Format(PyExc_TypeError,
                         "%U(): the argument '%U' is not JSON, or holds something that is not: %R",
                         name, key, (PyObject *)Py_TYPE(value));
            return;
        }
        json_decref(json);
    }
    PyErr_Format(PyExc_TypeError, "%U(): an argument's name is not JSON", name);
}

/* {"name", "args"} as text, which the caller frees; NULL with a Python exception. */
static char *call_text(PyObject *name, PyObject *arguments)
{
    json_t *args = value_to_json(arguments);
    json_t *title = args ? value_to_json(name) : NULL;
    json_t *call = title ? json_pack("{s:o,s:o}", "name", title, "args", args) : NULL;
    char *text = call ? json_dumps(call, JSON_COMPACT) : NULL;
    size_t items = 0;

    if (!call) {
        json_decref(args);
        raise_not_json(name, arguments);
        return NULL;
    }
    json_decref(call);
    if (!text)
        return (char *)PyErr_NoMemory();
    for (const char *at = text; *at; at++)
        items += *at == ',' || *at == '[' || *at == '{';
    if (strlen(text) + 32 <= TOOL_CALL_MAX && items < FRAME_ITEMS_MAX)
        return text;
    PyErr_Format(PyExc_ValueError,
                 "%U(): the arguments are more than the %d KiB, or the %d items, "
                 "that a call may have",
                 name, TOOL_CALL_MAX >> 10, FRAME_ITEMS_MAX);
    free(text);
    return NULL;
}

/* Send a call and let `w` wait for its answer. Nothing is sent that could not be meant. */
static int call_begin(struct waiter *w, PyObject *name, PyObject *arguments)
{
    auto_free char *text = NULL;
    int r;

    if (!can_speak())
        return -1;
    if (!toolnames_has(name)) {
        toolnames_raise(name);
        return -1;
    }
    text = call_text(name, arguments);
    if (!text)
        return -1;
    begin_writing(); /* order: before the number, since the engine wants them to grow */
    if (!can_speak() || !toolnames_has(name)) { /* it was a cell's, which is over */
        end_writing();
        if (!PyErr_Occurred())
            toolnames_raise(name);
        return -1;
    }
    w->id = ++t.last_id;
    waiter_add(w);
    r = frame_send(FRAME_TOOL_CALL, w->id, text + 1, strlen(text + 1));
    end_writing();
    if (r < 0)
        (void)waiter_take(w->id);
    return r;
}

/* Nobody waits for the answer any more: the host need not go on. */
static void call_cancel(uint64_t id)
{
    PyObject *type, *exc, *tb;
    uint64_t token = t.token;

    PyErr_Fetch(&type, &exc, &tb); /* what made us give up */
    if (getpid() == t.pid && !t.is_over && !t.is_gone) {
        begin_writing();
        if (!t.is_over && t.token == token && /* a session's next cell has never heard of it */
            frame_send(FRAME_TOOL_CANCEL, id, "}", 1) < 0)
            PyErr_Clear();
        end_writing();
    }
    PyErr_Restore(type, exc, tb);
}

/* ---- a call that blocks ---- */

static int await_reply(const struct waiter *w)
{
    while (!w->reply) {
        if (t.is_gone) {
            raise_tool_error("Gone", "the host does not answer any more");
            return -1;
        }
        if (t.is_reading)
            await_change();
        else if (read_replies(true, NULL) < 0)
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

    if (call_begin(&w, name, arguments) < 0)
        return NULL;
    if (await_reply(&w) < 0) {
        if (!w.reply && waiter_take(w.id))
            call_cancel(w.id);
        json_decref(w.reply);
        return NULL;
    }
    value = reply_value(w.reply);
    json_decref(w.reply);
    return value;
}

/* ---- calls from an event loop ---- */

/* The socket of the loop `self` can be read. */
static PyObject *on_readable(PyObject *self, PyObject *args)
{
    (void)args;
    if (getpid() != t.pid || t.is_gone) {
        PyObject *r = PyObject_CallMethod(self, "remove_reader", "i", t.chan);
        Py_XDECREF(r);
        PyErr_Clear();
    } else if (!t.is_reading && read_replies(false, self) < 0) {
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

    if (loop == t.heard)
        return 0;
    fn = PyCFunction_New(&on_readable_def, loop);
    /* It may have heard an earlier cell's socket under that number, and not know that it is closed. */
    r = fn ? PyObject_CallMethod(loop, "remove_reader", "i", t.chan) : NULL;
    Py_XDECREF(r);
    r = r ? PyObject_CallMethod(loop, "add_reader", "iO", t.chan, fn) : NULL;
    Py_XDECREF(fn);
    if (!r)
        return -1;
    Py_DECREF(r);
    Py_XDECREF(t.heard);
    Py_INCREF(loop);
    t.heard = loop;
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
    if (call_begin(w, name, arguments) == 0)
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
        call_cancel(id);
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

    if (!t.running) {
        events = PyDict_GetItemString(PySys_GetObject("modules"), "asyncio.events");
        t.running = events ? PyObject_GetAttrString(events, "_get_running_loop") : NULL;
        PyErr_Clear();
    }
    loop = t.running ? PyObject_CallFunctionObjArgs(t.running, NULL) : NULL;
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
                              ? PyObject_CallFunctionObjArgs(from_module("call"), begin, cancel,
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

    Py_XDECREF(fn);
    for (size_t i = 0; i < ARRAY_LEN(errors) && r == 0; i++)
        r = PyDict_SetItemString(names, errors[i], from_module(errors[i]));
    return r;
}

/* As if nothing had been before it: what threads of an earlier cell were at is over, and in a copy of
 * the process they never were. */
static void begin_anew(void)
{
    if (t.pid != 0 && t.pid != getpid()) {
        lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        t.sleepers = 0;
        t.is_reading = t.is_writing = false;
    }
    t.is_over = t.is_gone = false;
    gb_buf_done(&t.in);
    gb_buf_init(&t.in, sizeof(struct frame) + 2 * (size_t)TOOL_RESULT_MAX + PIECE);
}

int tools_install(PyObject *names, const json_t *request, int chan, int tell)
{
    const json_t *list = json_object_get(request, "tools");

    if (!list)
        return 0;
    if (tools_compile() < 0)
        return -1;
    begin_anew();
    t.chan = chan;
    t.tell = tell;
    t.pid = getpid();
    t.token = (uint64_t)json_integer_value(json_object_get(request, "tool_token"));
    return toolnames_bind(names, list, module) < 0 ? -1 : add_rest(names);
}

/* Nobody will answer the calls that wait. */
static void dismiss(void)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        while (t.table[i]) {
            struct waiter *w = waiter_take(t.table[i]->id);
            json_t *reply = json_pack("{s:b,s:s,s:s}", "ok", 0, "type", "Gone", "message",
                                      "the program or the cell that called it is over");

            if (!w->future) {
                w->reply = reply; /* NULL: it finds that nobody answers */
                continue;
            }
            settle(w, reply, NULL);
            waiter_free(w);
            json_decref(reply);
        }
    }
    tell_change();
}

void tools_end(void)
{
    if (t.pid == 0 || t.is_over || t.pid != getpid())
        return;
    begin_writing(); /* a thread may be in the middle of a frame */
    t.is_over = t.is_gone = true;
    (void)shutdown(t.chan, SHUT_RDWR); /* who reads it now reads its end */
    dismiss();
    while (t.is_reading)
        await_change();
    (void)close(take_fd(&t.chan));
    Py_CLEAR(t.heard);
    end_writing();
}

void tools_hold_pipe(void)
{
    if (t.pid != 0 && t.pid == getpid())
        begin_writing();
}

void tools_release_pipe(void)
{
    if (t.pid != 0 && t.pid == getpid())
        end_writing();
}
