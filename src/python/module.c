/*
 * The interpreter extension: one file for every CPython from 3.9 on (stable ABI). It turns an
 * interpreter into a zygote: loaded by the boot line in interpreter.c, it greets the engine and
 * then makes boxes until the engine closes the socket. It never runs code of anybody's.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "python/afterfork.h"
#include "python/away.h"
#include "python/check.h"
#include "python/display.h"
#include "python/guest.h"
#include "python/pages.h"
#include "python/program.h"
#include "python/protocol.h"
#include "python/space.h"
#include "python/value.h"
#include "sandbox/box.h"

/* ---- before the first fork ---- */

static int n_threads; /* of this process, when it has settled down */

static int count_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    int n = 0;

    if (!dir)
        return 1;
    while (readdir(dir))
        n++;
    (void)closedir(dir);
    return n - 2; /* "." and ".." */
}

/* Libraries that keep threads (BLAS, say) end them in their fork handlers and start them anew
 * when they are next used. A fork whose child does nothing makes them do so now: a guest's own fork
 * is made by a process that borrows this memory and has none of these threads, and to end them
 * there would take for ever. */
static int settle_threads(void)
{
    pid_t pid;

    if (count_threads() == 1)
        return 1;
    pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
    return count_threads();
}

/* Objects that are there now are never looked at again by a collection: looking writes to them, and
 * so copies their memory in every guest. */
static int freeze(bool collect)
{
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *a = gc && collect ? PyObject_CallMethod(gc, "collect", NULL) : NULL;
    PyObject *b = gc && (a || !collect) ? PyObject_CallMethod(gc, "freeze", NULL) : NULL;
    int ok = b ? 0 : -1;

    Py_XDECREF(b);
    Py_XDECREF(a);
    Py_XDECREF(gc);
    return ok;
}

/* The first tree of an interpreter is dear: it makes a type for each kind of node, among which a
 * collection finds nothing to collect. They are to be frozen too, or the first collection of every
 * guest goes through them. */
static int make_first_tree(void)
{
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *off = gc ? PyObject_CallMethod(gc, "disable", NULL) : NULL;
    int r = off ? program_run_bare(FIRST_TREE) : -1;
    PyObject *on = gc ? PyObject_CallMethod(gc, "enable", NULL) : NULL;

    Py_XDECREF(on);
    Py_XDECREF(off);
    Py_XDECREF(gc);
    return r;
}

/* ---- serving ---- */

static int greet(int sock, PyObject *info, int threads)
{
    char text[sizeof(struct zygote_reply) + HELLO_MAX];
    struct zygote_reply head = { .kind = ZYGOTE_HELLO, .pid = getpid() };
    json_t *json = value_to_json(info);
    size_t len;

    json_object_set_new(json, "threads", json_integer(threads));
    memcpy(text, &head, sizeof(head));
    len = json_dumpb(json, text + sizeof(head), HELLO_MAX, JSON_COMPACT);
    json_decref(json);
    if (len == 0 || len > HELLO_MAX)
        return -EMSGSIZE;
    return fd_send(sock, text, sizeof(head) + len, NULL, 0);
}

/* A descriptor may not be to be sent where the user has many on their way; the engine then finds
 * the process by its number. */
static void answer(int sock, const struct zygote_reply *reply, int pidfd)
{
    if (pidfd < 0 || fd_send(sock, reply, sizeof(*reply), &pidfd, 1) < 0)
        (void)fd_send(sock, reply, sizeof(*reply), NULL, 0);
}

/* The box was the last, and its guest waits for the memory that this process is in. */
static _Noreturn void bequeath(int sock, const struct zygote_reply *reply, int pidfd)
{
    answer(sock, reply, pidfd);
    _exit(0);
}

static int make_box(int sock, const struct zygote_order *order, int init, const int *fds,
                    struct zygote_reply *reply)
{
    static struct heir heir; /* a guest that inherits finds it here */

    struct plan *plan = malloc(sizeof(*plan));
    void *data = mmap(NULL, order->plan_bytes, PROT_READ, MAP_SHARED, fds[ORDER_PLAN], 0);
    struct box_spec spec = { .plan = plan,
                             .fds = { .ctl = fds[ORDER_CTL],
                                      .chan = fds[ORDER_CHAN],
                                      .answer = fds[ORDER_ANSWER],
                                      .out = fds[ORDER_OUT],
                                      .net = fds[ORDER_NET],
                                      .cgroups = { fds[ORDER_CGROUPS], fds[ORDER_CGROUPS + 1] },
                                      .err = fds[ORDER_ERR],
                                      .plan = fds[ORDER_PLAN],
                                      .init = init },
                             .prepare = guest_prepare,
                             .guest = guest_main };
    bool is_heir = order->is_last && n_threads == 1 && heir_prepare(&heir);
    int pidfd = -1, r = -1;

    if (!plan || data == MAP_FAILED) {
        (void)gb_fail(&reply->err, GB_E_SYSTEM, errno, "reading the plan");
    } else if (plan_unpack(data, order->plan_bytes, plan, &reply->err) == 0) {
        spec.heir = is_heir ? &heir : NULL;
        afterfork_before();
        r = box_spawn(&spec, &reply->pid, &pidfd, &reply->err);
        if (r == 0)
            reply->err.code = GB_OK;
        if (r == 0 && is_heir)
            bequeath(sock, reply, pidfd); /* order: nothing may be touched any more */
        afterfork_parent();
    }
    if (is_heir) {
        (void)close(heir.alone[0]);
        (void)close(heir.alone[1]);
    }
    if (data != MAP_FAILED)
        (void)munmap(data, order->plan_bytes);
    free(plan);
    return pidfd;
}

/* Each in its place, and -1 for those that the order does not have. False if some are missing. */
static bool sort_fds(const struct zygote_order *order, int *fds, size_t n)
{
    size_t first = ORDER_NET + (order->has_net ? 1u : 0u);

    if (order->is_twin)
        return n == TWIN_FDS;
    if (order->n_cgroups > BOX_CGROUPS_MAX || n != first + order->n_cgroups)
        return false;
    memmove(fds + ORDER_CGROUPS, fds + first, order->n_cgroups * sizeof(*fds));
    for (size_t i = order->n_cgroups; i < BOX_CGROUPS_MAX; i++)
        fds[ORDER_CGROUPS + i] = -1;
    if (!order->has_net)
        fds[ORDER_NET] = -1;
    return true;
}

/* Another of this process, the engine's child as this one is: so no fork() will do. Nor is Python
 * told, or anybody's handlers: they would run in a guest once more, and here outside of any box.
 * The twin speaks for itself; where there is none, its socket is closed. */
static void serve_twin(int *sock, int given)
{
    struct zygote_reply reply = { .kind = ZYGOTE_TWIN };

    if (n_threads != 1 || syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, 0, 0) != 0) {
        (void)close(given);
        return;
    }
    (void)close(*sock);
    *sock = given;
    reply.pid = getpid();
    (void)fd_send(*sock, &reply, sizeof(reply), NULL, 0);
}

/* One order. Returns false when the engine is gone and has left none: a box that was ordered is
 * made all the same, since it is the box that removes what was laid out for it. */
static bool serve_one(int *sock, int init)
{
    struct zygote_order order;
    struct zygote_reply reply = { .kind = ZYGOTE_BOX };
    int fds[ORDER_FDS];
    size_t n = ORDER_FDS;
    ssize_t len = fd_recv(*sock, &order, sizeof(order), fds, &n);
    bool is_whole = len == (ssize_t)sizeof(order) && sort_fds(&order, fds, n);
    int pidfd = -1;

    if (is_whole && order.is_twin) {
        serve_twin(sock, fds[TWIN_SOCK]);
        return true;
    }
    if (is_whole) {
        reply.number = order.number;
        pidfd = make_box(*sock, &order, init, fds, &reply);
        n = ORDER_FDS;
    }
    for (size_t i = 0; len > 0 && i < n; i++)
        gb_closep(&fds[i]);
    if (!is_whole)
        return false;
    answer(*sock, &reply, pidfd);
    gb_closep(&pidfd);
    return true;
}

/* The last before the first box. */
static void settle(void)
{
    if (n_threads == 1)
        away_put();
    guest_warm_up();
    if (freeze(false) < 0 || space_begin() < 0) /* order: what is frozen is never collected */
        PyErr_Clear();
    pages_fill();
}

/* Nothing of a box's memory is to be in a core. A limit of one byte keeps the kernel from
 * starting a handler of the host, but not, since Linux 6.16, from calling one that is a socket.
 * What is set here, boxes inherit, and what they execute; none may write to /proc. */
static int empty_cores(void)
{
    int e = fd_write_file_at(AT_FDCWD, "/proc/self/coredump_filter", "0");

    /* A kernel that writes no cores has none. */
    return e == 0 || e == -ENOENT ? 0 : (errno = -e, -1);
}

/* serve(sock, info, warm, init): greet, then make boxes. Never returns. */
static PyObject *zygote_serve(PyObject *self, PyObject *args)
{
    int sock, warm, init;
    const char *init_path;
    PyObject *info;

    (void)self;
    if (!PyArg_ParseTuple(args, "iOps", &sock, &info, &warm, &init_path))
        return NULL;
    init = open(init_path, O_PATH | O_CLOEXEC);
    if (init < 0)
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError, init_path);
    (void)prctl(PR_SET_NAME, "glovebox-zygote", 0, 0, 0);
    if (empty_cores() < 0)
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError, "/proc/self/coredump_filter");
    if ((warm && guest_compile_runtime() < 0) || freeze(warm) < 0)
        return NULL;
    afterfork_prepare();
    if (warm)
        pages_prepare();
    n_threads = settle_threads();
    bool greeted = greet(sock, info, n_threads) == 0;

    /* While the engine makes its plan: a guest would pay three times the price, copying the pages
     * that it writes to. Here, after the holes are filled, it lies in one piece. */
    if (greeted && (make_first_tree() < 0 || freeze(false) < 0 || space_begin() < 0))
        PyErr_Clear();
    if (warm && greeted)
        settle();
    away_unwatch();
    if (greeted)
        while (serve_one(&sock, init))
            ;
    _exit(0);
}

/* bench(count, code): microseconds of `count` bare forks that each run the code, a list. */
static PyObject *zygote_bench(PyObject *self, PyObject *args)
{
    int count;
    const char *code;
    PyObject *list = PyList_New(0);

    (void)self;
    if (!list || !PyArg_ParseTuple(args, "is", &count, &code) || guest_compile_runtime() < 0)
        return NULL;
    for (int i = 0; i < count; i++) {
        int64_t began = clock_us();
        PyOS_BeforeFork();
        pid_t pid = fork();
        if (pid == 0) {
            PyOS_AfterFork_Child();
            _exit(program_run_bare(code) == 0 ? 0 : 1);
        }
        PyOS_AfterFork_Parent();
        if (pid < 0 || waitpid(pid, NULL, 0) < 0)
            return PyErr_SetFromErrno(PyExc_OSError);
        PyObject *us = PyLong_FromLongLong(clock_us() - began);
        if (!us || PyList_Append(list, us) < 0)
            return NULL;
        Py_DECREF(us);
    }
    return list;
}

/* ---- checking without a box: for tests and measurements ---- */

static PyObject *text_from_json(const json_t *json)
{
    auto_free char *text = json_text(json);

    return text ? PyUnicode_FromString(text) : PyErr_NoMemory();
}

static json_t *rules_from_text(const char *text)
{
    json_error_t error;
    json_t *rules = json_loads(text, 0, &error);

    if (!rules)
        PyErr_SetString(PyExc_ValueError, error.text);
    return rules;
}

static PyObject *check_answer(PyObject *prelude, PyObject *tree, const json_t *rules,
                              PyObject *source)
{
    struct check_result result;
    PyObject *text;
    json_t *json;

    if (check_tree(prelude, tree, rules, &result) < 0)
        return NULL;
    check_columns(result.findings, source);
    json = json_pack("{s:o,s:i,s:b}", "findings", result.findings, "risk", result.risk, "rejected",
                     result.rejected);
    text = json ? text_from_json(json) : PyErr_NoMemory();
    json_decref(json);
    return text;
}

/* check(source, rules[, prelude]): the findings, the risk and whether the program is rejected, as
 * JSON text. Raises what parsing raises. */
static PyObject *module_check(PyObject *self, PyObject *args)
{
    PyObject *source, *before = NULL, *filename = NULL, *tree = NULL, *prelude = NULL, *out = NULL;
    const char *text;

    (void)self;
    if (!PyArg_ParseTuple(args, "Us|U", &source, &text, &before))
        return NULL;
    auto_json json_t *rules = rules_from_text(text);
    filename = rules ? PyUnicode_FromString("main.py") : NULL;
    tree = filename ? program_parse(source, filename) : NULL;
    if (tree && before)
        prelude = program_parse(before, filename);
    if (tree && (prelude || !before))
        out = check_answer(prelude, tree, rules, source);
    Py_XDECREF(prelude);
    Py_XDECREF(tree);
    Py_XDECREF(filename);
    return out;
}

/* check_parsed(tree, rules, count): check a tree this many times; nanoseconds a check. */
static PyObject *module_check_parsed(PyObject *self, PyObject *args)
{
    PyObject *tree;
    const char *text;
    int count;

    (void)self;
    if (!PyArg_ParseTuple(args, "Osi", &tree, &text, &count) || count < 1)
        return NULL;
    auto_json json_t *rules = rules_from_text(text);
    int64_t began = clock_us();
    for (int i = 0; rules && i < count; i++) {
        struct check_result result;
        if (check_tree(NULL, tree, rules, &result) < 0)
            return NULL;
        json_decref(result.findings);
    }
    return rules ? PyFloat_FromDouble((double)(clock_us() - began) * 1000.0 / count) : NULL;
}

static PyMethodDef methods[] = {
    { "serve", zygote_serve, METH_VARARGS, "serve(sock, info, warm, init): be a zygote" },
    { "keep_handlers", afterfork_keep, METH_O, "keep_handlers(named): for forks of others" },
    { "bench", zygote_bench, METH_VARARGS, "bench(count, code): time bare forks" },
    { "check", module_check, METH_VARARGS, "check(source, rules[, prelude]): findings as JSON" },
    { "check_parsed", module_check_parsed, METH_VARARGS,
      "check_parsed(tree, rules, count): nanoseconds a check" },
    { NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_glovebox", .m_doc = "Makes boxes for glovebox.",
    .m_size = -1,          .m_methods = methods,
};

PyMODINIT_FUNC PyInit__glovebox(void); /* the interpreter finds it by name */

PyMODINIT_FUNC PyInit__glovebox(void)
{
    /* Before anything is preloaded. */
    away_watch();
    return display_watch_imports() == 0 ? PyModule_Create(&definition) : NULL;
}
