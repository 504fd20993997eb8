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
#include "python/wire.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "python/guest.h"
#include "python/protocol.h"
#include "python/value.h"
#include "tools_py.h"

enum {
    PIECE = 64 << 10,
    LOOK_US = 50,
    NAP_MS = 50, /* the longest that a thread sleeps before it looks for signals */
    NAMES_SHOWN = 50
};

struct wire wire;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* The namespace of tools.py; made once. */
static PyObject *module;

int wire_compile(void)
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

PyObject *wire_helper(const char *name)
{
    return PyDict_GetItemString(module, name);
}

void wire_raise(const char *type, const char *message)
{
    bool is_unknown = strcmp(type, "UnknownTool") == 0;
    PyObject *class = wire_helper(is_unknown ? "UnknownToolError" : "ToolError");
    PyObject *exc = PyObject_CallFunction(class, "ss", type, message);

    if (exc)
        PyErr_SetObject(class, exc);
    Py_XDECREF(exc);
}

/* ---- threads that wait for each other ---- */

void wire_await_change(void)
{
    unsigned seen = wire.changes;
    struct timespec until;

    wire.sleepers++;
    Py_BEGIN_ALLOW_THREADS;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    (void)pthread_mutex_lock(&lock);
    while (wire.changes == seen && pthread_cond_timedwait(&changed, &lock, &until) == 0)
        ;
    (void)pthread_mutex_unlock(&lock);
    Py_END_ALLOW_THREADS;
    wire.sleepers--;
}

void wire_tell_change(void)
{
    if (wire.sleepers == 0)
        return;
    (void)pthread_mutex_lock(&lock);
    wire.changes++;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

/* ---- calls that wait ---- */

static void waiter_add(struct waiter *w)
{
    struct waiter **bucket = &wire.table[w->id % WIRE_BUCKETS];

    w->next = *bucket;
    *bucket = w;
}

struct waiter *waiter_take(uint64_t id)
{
    for (struct waiter **at = &wire.table[id % WIRE_BUCKETS]; *at; at = &(*at)->next) {
        struct waiter *w = *at;

        if (w->id == id) {
            *at = w->next;
            return w;
        }
    }
    return NULL;
}

void waiter_free(struct waiter *w)
{
    Py_XDECREF(w->future);
    Py_XDECREF(w->loop);
    free(w);
}

/* ---- answers ---- */

/* A result with things in it that are read when they are wanted. */
static PyObject *blocks_value(const json_t *result)
{
    PyObject *value = value_from_json(result), *out = NULL;

    if (value)
        out = PyObject_CallFunctionObjArgs(wire_helper("blocks"), value, wire.call_tool, NULL);
    Py_XDECREF(value);
    return out;
}

PyObject *wire_value(const json_t *reply)
{
    const char *type = json_string_value(json_object_get(reply, "type"));
    const char *message = json_string_value(json_object_get(reply, "message"));
    const json_t *result = json_object_get(reply, "result");

    if (json_is_true(json_object_get(reply, "blocks")) && result)
        return blocks_value(result);
    if (json_is_true(json_object_get(reply, "ok")) && result)
        return value_from_json(result);
    wire_raise(type ? type : "ToolError", message ? message : "");
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

void wire_settle(struct waiter *w, const json_t *reply, PyObject *here)
{
    PyObject *fn = wire_helper("settle"), *value = wire_value(reply), *error = NULL, *done;

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
        wire_settle(w, reply, here);
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

    while (wire.in.len - at >= sizeof(head)) {
        memcpy(&head, wire.in.data + at, sizeof(head));
        if (wire.in.len - at < sizeof(head) + head.len)
            break;
        if (head.kind == FRAME_TOOL_RESULT && head.token == wire.token)
            take_reply(wire.in.data + at + sizeof(head), head.len, here);
        at += sizeof(head) + head.len;
    }
    wire.in.len -= at;
    memmove(wire.in.data, wire.in.data + at, wire.in.len);
    if (wire.in.len == 0 && wire.in.cap > 4 * PIECE)
        gb_buf_done(&wire.in); /* what one large result took */
}

/* Most tools answer sooner than a processor falls asleep and is woken again, so look a while before
 * sleeping; whoever else wants the processor gets it meanwhile. */
static ssize_t recv_soon(void *data, size_t max)
{
    int64_t until = clock_us() + LOOK_US;
    ssize_t n;

    do {
        n = recv(wire.chan, data, max, MSG_DONTWAIT);
        if (n >= 0 || errno != EAGAIN)
            return n;
        (void)sched_yield();
    } while (clock_us() < until);
    return recv(wire.chan, data, max, 0);
}

int wire_read(bool block, PyObject *here)
{
    struct gb_err err;
    ssize_t n;
    int e;

    if (gb_buf_reserve(&wire.in, PIECE, &err) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    wire.is_reading = true;
    if (block) {
        Py_BEGIN_ALLOW_THREADS;
        n = recv_soon(wire.in.data + wire.in.len, wire.in.cap - wire.in.len);
        e = errno;
        Py_END_ALLOW_THREADS;
    } else {
        n = recv(wire.chan, wire.in.data + wire.in.len, wire.in.cap - wire.in.len, MSG_DONTWAIT);
        e = errno;
    }
    if (n > 0) { /* order: taking them runs Python, and so other threads, which must not read yet */
        wire.in.len += (size_t)n;
        take_replies(here);
    }
    wire.is_gone = wire.is_gone || n == 0 || (n < 0 && e != EINTR && e != EAGAIN);
    wire.is_reading = false;
    wire_tell_change();
    if (!wire.is_gone)
        return 0;
    wire_raise("Gone", "the host does not answer any more");
    return -1;
}

/* ---- frames ---- */

/* Only from the program's own process, and while somebody listens. */
static bool can_speak(void)
{
    if (wire.is_over || wire.is_gone)
        wire_raise("Gone", "the host does not answer any more");
    else if (getpid() != wire.pid)
        wire_raise("ForkedProcess", "tools can be called from the program's own process "
                                    "only, not from one that it started");
    else
        return true;
    return false;
}

/* Wait until the pipe has room, reading answers meanwhile. */
static void await_room(void)
{
    struct pollfd p[] = { { .fd = wire.tell, .events = POLLOUT },
                          { .fd = wire.is_reading ? -1 : wire.chan, .events = POLLIN } };

    Py_BEGIN_ALLOW_THREADS;
    (void)poll(p, 2, NAP_MS);
    Py_END_ALLOW_THREADS;
    if (p[1].revents != 0 && p[0].revents == 0 && !wire.is_reading && wire_read(false, NULL) < 0)
        PyErr_Clear(); /* whoever waits for an answer will find out */
}

/* A pipe that can be written to takes a page without blocking. */
static bool has_room(void)
{
    struct pollfd p = { .fd = wire.tell, .events = POLLOUT };

    return poll(&p, 1, 0) > 0;
}

int wire_write(const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n;

        if (!has_room()) {
            await_room();
            continue;
        }
        n = write(wire.tell, data, len < PIPE_BUF ? len : PIPE_BUF);
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
void wire_begin_writing(void)
{
    while (wire.is_writing)
        wire_await_change();
    wire.is_writing = true;
}

void wire_end_writing(void)
{
    wire.is_writing = false;
    wire_tell_change();
}

/* `text` is an object without its opening brace, to which the number of the call is added. */
static int frame_send(enum frame_kind kind, uint64_t id, const char *text, size_t len)
{
    struct frame head = { .kind = kind, .token = wire.token };
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
        r = wire_write(data, sizeof(head) + head.len);
    }
    if (!data)
        PyErr_NoMemory();
    else if (r < 0)
        wire_raise("Gone", "the host does not answer any more");
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
    char *text = json_text(call);
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

static void raise_unknown(PyObject *name)
{
    PyObject *list = PyDict_Keys(wire.names), *some, *comma, *known = NULL, *message = NULL;
    Py_ssize_t n = list ? PyList_Size(list) : 0;

    some = list ? PyList_GetSlice(list, 0, NAMES_SHOWN) : NULL;
    comma = PyUnicode_FromString(", ");
    if (some && comma)
        known = PyUnicode_Join(comma, some);
    if (known)
        message = PyUnicode_FromFormat("there is no tool %R; there are: %U%s", name, known,
                                       n > NAMES_SHOWN ? ", ..." : "");
    PyObject *class = wire_helper("UnknownToolError");
    PyObject *exc = message ? PyObject_CallFunction(class, "sO", "UnknownTool", message) : NULL;

    if (exc)
        PyErr_SetObject(class, exc);
    Py_XDECREF(exc);
    Py_XDECREF(message);
    Py_XDECREF(known);
    Py_XDECREF(comma);
    Py_XDECREF(some);
    Py_XDECREF(list);
}

/* Send a call and let `w` wait for its answer. Nothing is sent that could not be meant. */
int wire_begin_call(struct waiter *w, PyObject *name, PyObject *arguments)
{
    auto_free char *text = NULL;
    int r;

    if (!can_speak())
        return -1;
    if (!PyDict_GetItem(wire.names, name)) {
        raise_unknown(name);
        return -1;
    }
    text = call_text(name, arguments);
    if (!text)
        return -1;
    wire_begin_writing(); /* order: before the number, since the engine wants them to grow */
    if (!can_speak() || !PyDict_GetItem(wire.names, name)) { /* it was a cell's, which is over */
        wire_end_writing();
        if (!PyErr_Occurred())
            raise_unknown(name);
        return -1;
    }
    w->id = ++wire.last_id;
    waiter_add(w);
    r = frame_send(FRAME_TOOL_CALL, w->id, text + 1, strlen(text + 1));
    wire_end_writing();
    if (r < 0)
        (void)waiter_take(w->id);
    return r;
}

/* Nobody waits for the answer any more: the host need not go on. */
void wire_cancel_call(uint64_t id)
{
    PyObject *type, *exc, *tb;
    uint64_t token = wire.token;

    PyErr_Fetch(&type, &exc, &tb); /* what made us give up */
    if (getpid() == wire.pid && !wire.is_over && !wire.is_gone) {
        wire_begin_writing();
        if (!wire.is_over &&
            wire.token == token && /* a session's next cell has never heard of it */
            frame_send(FRAME_TOOL_CANCEL, id, "}", 1) < 0)
            PyErr_Clear();
        wire_end_writing();
    }
    PyErr_Restore(type, exc, tb);
}

void wire_begin_anew(void)
{
    if (wire.pid != 0 && wire.pid != getpid()) {
        lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        wire.sleepers = 0;
        wire.is_reading = wire.is_writing = false;
    }
    wire.is_over = wire.is_gone = false;
    gb_buf_done(&wire.in);
    gb_buf_init(&wire.in, sizeof(struct frame) + 2 * (size_t)TOOL_RESULT_MAX + PIECE);
}
