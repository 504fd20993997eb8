/*
 * How a session's guest lives.
 *
 * Each order of the engine's is one FRAME_RUN whose program says under "session" what it is:
 * "begin" comes first and once, "cell" is code to run, "inspect" asks what there is, "fork" asks
 * for a copy that lives on as a session of its own, "copy" for one where it could not be made. A
 * cell is answered with FRAME_DONE. Whenever there is something new to lose, that is after "begin"
 * and after every cell, the guest makes a dormant copy of itself and tells its number in a
 * FRAME_SESSION; the engine sends no cell before it has seen to it that the copy is spared. A copy
 * that is woken goes on here as if it had just been made itself, and makes a copy first of all.
 *
 * Between cells the interpreter is let go, so that threads of earlier cells go on.
 */
#include "python/session.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "python/copy.h"
#include "python/guest.h"
#include "python/protocol.h"
#include "python/shells.h"
#include "python/space.h"
#include "python/value.h"
#include "sandbox/box.h"
#include "sandbox/compose.h"
#include "sandbox/landlock.h"
#include "session_py.h"

enum {
    TRIES = 20, /* at making a copy: what fills the box may be on its way out */
    TRY_MS = 25,
    OPEN_MAX = 64,
};

struct session {
    struct copy_keeps keeps;
    PyObject *helpers; /* the namespace of session.py */
    char workspace[PATH_MAX];
    char base[PATH_MAX]; /* the box's scratch directory; "" where it has a root of its own */
};

/* ---- what it needs of Python ---- */

static PyObject *call_helper(const struct session *s, const char *name, PyObject *args)
{
    PyObject *fn = s->helpers ? PyDict_GetItemString(s->helpers, name) : NULL;
    PyObject *out = fn && args ? PyObject_CallObject(fn, args) : NULL;

    Py_XDECREF(args);
    return out;
}

static void load_helpers(struct session *s)
{
    PyObject *code = Py_CompileString(session_text, "<glovebox>", Py_file_input), *r = NULL;

    s->helpers = PyDict_New();
    if (code && s->helpers &&
        PyDict_SetItemString(s->helpers, "__builtins__", PyEval_GetBuiltins()) == 0)
        r = PyEval_EvalCode(code, s->helpers, s->helpers);
    Py_XDECREF(code);
    Py_XDECREF(r);
    if (!r)
        PyErr_WriteUnraisable(NULL);
}

/* ---- the copy ---- */

static void tell_copy(const struct session *s, pid_t pid)
{
    json_t *json = pid > 0 ? json_pack("{s:I}", "copy", (json_int_t)pid)
                           : json_pack("{s:i,s:s}", "copy", 0, "error", strerror(errno));
    uint64_t none = 0;

    guest_send(s->keeps.answer, FRAME_SESSION, json, &none);
    json_decref(json);
}

/* What was sent to the process that this one is the copy of, and that it did not read any more. */
static void forget_orders(int chan)
{
    char piece[4096];

    while (recv(chan, piece, sizeof(piece), MSG_DONTWAIT) > 0)
        ;
}

/* No two processes that go on from here draw the same random numbers. */
static pid_t make_copy(const struct copy_keeps *keeps)
{
    pid_t pid = copy_make(keeps);

    if (pid == 0)
        guest_reseed();
    return pid;
}

static void copy_self(const struct session *s)
{
    struct timespec pause = { .tv_nsec = TRY_MS * 1000000L };
    pid_t pid;
    int tries = 0;

    do {
        pid = make_copy(&s->keeps);
        if (pid == 0)
            forget_orders(s->keeps.chan);
        if (pid < 0)
            (void)nanosleep(&pause, NULL);
    } while (pid == 0 || (pid < 0 && ++tries < TRIES));
    tell_copy(s, pid);
}

/* ---- orders ---- */

static void answer(const struct session *s, json_t *json, const uint64_t *token)
{
    guest_send(s->keeps.answer, FRAME_DONE, json, token);
    json_decref(json);
}

static void do_begin(struct session *s, const struct guest_order *order)
{
    (void)order;
    (void)signal(BOX_WAKE_SIGNAL, SIG_IGN);
    if (space_begin() < 0)
        PyErr_WriteUnraisable(NULL);
    load_helpers(s);
    copy_self(s);
}

static void do_cell(struct session *s, const struct guest_order *order)
{
    const char *name = json_string_value(json_object_get(order->request, "filename"));
    const json_t *code = json_object_get(order->request, "code");
    pid_t self = getpid();
    json_t *json;
    PyObject *r = call_helper(s, "remember",
                              Py_BuildValue("ss#", name ? name : "main.py", json_string_value(code),
                                            (Py_ssize_t)json_string_length(code)));
    Py_XDECREF(r);
    (void)PyErr_CheckSignals(); /* one that came after the last cell is not this one's */
    PyErr_Clear();
    json = guest_run_cell(order, s->keeps.answer);
    if (getpid() != self) /* a process that the cell forked, and that has come to the cell's end */
        _exit((int)json_integer_value(json_object_get(json, "exit_code")));
    answer(s, json, &order->token);
    copy_self(s);
}

static void do_inspect(struct session *s, const struct guest_order *order)
{
    PyObject *about = call_helper(s, "inspect", PyTuple_New(0));
    json_t *value = about ? value_to_json(about) : NULL;

    Py_XDECREF(about);
    PyErr_Clear();
    answer(s,
           json_pack("{s:b,s:o,s:i}", "has_value", 1, "value", value ? value : json_null(),
                     "exit_code", 0),
           &order->token);
}

/* ---- forks ---- */

/* What speaks to the engine is the fork's own from here on. */
static void take_channels(struct session *s, const int *fds)
{
    const int places[FORK_FDS] = { [FORK_CHAN] = s->keeps.chan,
                                   [FORK_ANSWER] = s->keeps.answer,
                                   [FORK_OUT] = STDOUT_FILENO,
                                   [FORK_ERR] = STDERR_FILENO };

    for (size_t i = 0; i < FORK_FDS; i++) {
        (void)dup3(fds[i], places[i], places[i] > 2 ? O_CLOEXEC : 0);
        (void)close(fds[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(s->keeps.more); i++)
        s->keeps.more[i] = -1;
}

static bool is_within(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0 && (path[len] == '/' || !path[len]);
}

/* May a fork be let into it? The list is of what a program can have added to, as to sys.path: not
 * if it is where the sessions of this box write, or leads there. */
static bool is_neutral(const struct session *s, const char *path)
{
    char real[PATH_MAX];
    struct stat there, here, root;

    if (path[0] != '/' || !realpath(path, real) || stat(real, &there) < 0)
        return false;
    if (s->base[0])
        return strcmp(real, "/") != 0 && !is_within(real, s->base) && !is_within(s->base, real);
    /* A piece of the host: neither of the box's own file system nor of that of its root. */
    return stat(s->workspace, &here) == 0 && stat("/", &root) == 0 && there.st_dev != here.st_dev &&
           there.st_dev != root.st_dev;
}

/* Keep out of where the others are, but for `own` and what the interpreter is made of. */
static int enclose(const struct session *s, const char *own, PyObject *parts)
{
    const char *rooted[] = { BOX_WORKSPACE, BOX_TMP, "/home" }, *scratch[] = { s->base };
    char mounts[PATH_MAX + sizeof(BOX_MOUNTS)];
    const char *open[OPEN_MAX] = { own, mounts };
    struct landlock_fence fence = { .shut = s->base[0] ? scratch : rooted,
                                    .n_shut = s->base[0] ? 1 : ARRAY_LEN(rooted),
                                    .open = open,
                                    .n_open = s->base[0] ? 2 : 1 };
    json_t *list = value_to_json(parts);
    struct gb_err err;
    int r;

    (void)snprintf(mounts, sizeof(mounts), "%s" BOX_MOUNTS, s->base);
    for (size_t i = 0; i < json_array_size(list) && fence.n_open < OPEN_MAX; i++) {
        const char *path = json_string_value(json_array_get(list, i));
        if (path && is_neutral(s, path))
            open[fence.n_open++] = path;
    }
    r = landlock_enclose(&fence, &err);
    json_decref(list);
    return r;
}

/* A workspace of its own, with what was in the other's, and a fence around it. A fork that cannot
 * have them must not go on. */
static void settle_down(struct session *s)
{
    char own[2 * PATH_MAX];
    const char *slash = strrchr(s->workspace, '/');
    PyObject *parts;

    if (strcmp(s->workspace, BOX_WORKSPACE) == 0)
        (void)snprintf(own, sizeof(own), BOX_HOME "/.forks/%d", getpid());
    else
        (void)snprintf(own, sizeof(own), "%.*s/home/.forks/%d", (int)(slash - s->workspace),
                       s->workspace, getpid());
    parts = call_helper(s, "settle_down", Py_BuildValue("(s)", own));
    if (!parts || enclose(s, own, parts) < 0 ||
        snprintf(s->workspace, sizeof(s->workspace), "%s/workspace", own) >= PATH_MAX) {
        if (!parts)
            PyErr_WriteUnraisable(NULL);
        _exit(1);
    }
    Py_DECREF(parts);
}

static void do_fork(struct session *s, const struct guest_order *order)
{
    struct copy_keeps keeps = s->keeps;
    json_t *told;
    pid_t pid;

    memcpy(keeps.more, order->fork, sizeof(keeps.more));
    pid = make_copy(&keeps);
    if (pid == 0) {
        take_channels(s, keeps.more);
        settle_down(s);
        copy_self(s);
        return;
    }
    told = json_pack("{s:b,s:I,s:i}", "has_value", 1, "value", (json_int_t)(pid > 0 ? pid : 0),
                     "exit_code", pid > 0 ? 0 : 1);
    for (size_t i = 0; i < FORK_FDS; i++)
        gb_closep(&keeps.more[i]);
    answer(s, told, &order->token);
}

static void do_copy(struct session *s, const struct guest_order *order)
{
    (void)order;
    copy_self(s);
}

static const struct {
    const char *name;
    void (*act)(struct session *s, const struct guest_order *order);
} acts[] = {
    { "begin", do_begin }, { "cell", do_cell }, { "inspect", do_inspect },
    { "copy", do_copy },   { "fork", do_fork },
};

static const char *act_of(const json_t *request)
{
    return json_string_value(json_object_get(json_object_get(request, "session"), "op"));
}

static void obey(struct session *s, const struct guest_order *order)
{
    const char *name = act_of(order->request);

    for (size_t i = 0; name && i < ARRAY_LEN(acts); i++)
        if (strcmp(acts[i].name, name) == 0)
            acts[i].act(s, order);
}

/* ---- life ---- */

int session_is(const json_t *request)
{
    return act_of(request) != NULL;
}

/* Flags are of the open file, not of the process: what a cell set, all of them have. */
static void make_blocking(const struct session *s)
{
    (void)fcntl(s->keeps.chan, F_SETFL, 0);
    (void)fcntl(s->keeps.answer, F_SETFL, 0);
}

/* Standard input is a cell's own: what an earlier one had is not this one's to read on. */
static void next_order(const struct session *s, struct guest_order *order)
{
    make_blocking(s);
    Py_BEGIN_ALLOW_THREADS;
    guest_next_order(s->keeps.chan, order);
    Py_END_ALLOW_THREADS;
    if (!order->has_stdin) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (null > 0)
            (void)dup2(null, STDIN_FILENO);
        gb_closep(&null);
    }
    Py_XDECREF(call_helper(s, "open_stdin", PyTuple_New(0)));
    PyErr_Clear();
}

void session_main(const struct box_fds *fds, struct guest_order *order)
{
    struct session s = { .keeps = { fds->chan, fds->answer, { -1, -1, -1, -1 }, getppid() } };

    if (!getcwd(s.workspace, sizeof(s.workspace)) || !strrchr(s.workspace, '/'))
        _exit(1);
    if (strcmp(s.workspace, BOX_WORKSPACE) != 0)
        (void)snprintf(s.base, sizeof(s.base), "%.*s",
                       (int)(strrchr(s.workspace, '/') - s.workspace), s.workspace);
    while (order->request) {
        if (shells_is(order->request)) /* at first, or after nothing but files were put there */
            shells_main(fds, order);
        obey(&s, order);
        json_decref(order->request);
        next_order(&s, order);
    }
    _exit(1); /* the engine is gone, or there is no room for what it says */
}
