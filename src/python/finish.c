/*
 * How this works.
 *
 * Data must not be lost: `f = open("x", "w"); f.write("hello")` is common in programs that models
 * write, and CPython writes the five bytes when it destroys __main__. Destroying is done as CPython
 * does it, in this order:
 *
 *   1. A collection while everything can still be reached. A cycle's finalisers run in the order of
 *      the collector's list, and new objects lie there in the order of their creation: the raw file
 *      before its buffer. The collection sorts them: the buffer first. Without it, a file in a
 *      cycle with its module is closed before its text is written.
 *   2. __main__ and the program's own modules leave sys.modules. Their dictionaries keep their
 *      entries: __del__ finds its globals.
 *   3. A second collection. The zygote's objects are frozen, so that it only visits what the
 *      program made.
 *   4. Files that still live, since a module of the library holds them, are flushed.
 *
 * All of it costs 150 to 250 microseconds for a small program, so a cheap look comes first. It sees
 * every object that the collector tracks and that was made since the zygote froze its own.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "python/finish.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "python/guest.h"
#include "python/program.h"

static PyObject *get_objects;     /* gc.get_objects: all that is not frozen */
static PyObject *collect;         /* gc.collect */
static Py_ssize_t modules_before; /* how many modules there were before the program */

static PyObject *modules(void)
{
    return PySys_GetObject("modules");
}

/* An entry of a module's dictionary: to take an attribute would count references, and each count
 * copies a page for this guest. Borrowed, or NULL. */
static PyObject *member(PyObject *module, const char *name)
{
    PyObject *names = module && PyModule_Check(module) ? PyModule_GetDict(module) : NULL;

    return names ? PyDict_GetItemString(names, name) : NULL;
}

static Py_ssize_t member_size(PyObject *module, const char *name)
{
    PyObject *it = member(module, name);
    Py_ssize_t n = it ? PyObject_Size(it) : -1;

    PyErr_Clear();
    return n;
}

/* ---- threads, exit handlers, streams ---- */

/* logging's own handler of last resort is always there, and keeps nothing. */
static bool has_handlers(PyObject *logging)
{
    static PyObject *known; /* the weak reference to it, if it was looked at before */
    PyObject *list = member(logging, "_handlerList"), *first, *handler;
    Py_ssize_t n = list && PyList_Check(list) ? PyList_Size(list) : 0;
    bool is_own;

    if (n != 1)
        return n > 1 || (list && !PyList_Check(list)); /* what is odd goes the long way */
    first = PyList_GetItem(list, 0);
    if (first == known)
        return false;
    Py_INCREF(first); /* for ever, if it is the one */
    handler = PyObject_CallFunction(first, NULL);
    is_own = handler && handler == member(logging, "lastResort");
    if (is_own)
        known = first;
    else
        Py_DECREF(first);
    Py_XDECREF(handler);
    PyErr_Clear();
    return !is_own;
}

/* Is there a thread to join or an exit handler to call? Mostly not, and doing nothing the long way
 * costs as much as running a small program: the only handler is logging's, which has no streams. */
static bool has_exit_work(void)
{
    PyObject *threading = PyDict_GetItemString(modules(), "threading");
    PyObject *logging = PyDict_GetItemString(modules(), "logging");
    PyObject *count = member(PyDict_GetItemString(modules(), "atexit"), "_ncallbacks");
    PyObject *n = count ? PyObject_CallObject(count, NULL) : NULL;
    long callbacks = n ? PyLong_AsLong(n) : 0;

    Py_XDECREF(n);
    PyErr_Clear();
    if (threading && (member_size(threading, "_active") != 1 ||
                      member_size(threading, "_threading_atexits") != 0))
        return true;
    return callbacks != (logging ? 1 : 0) || (logging && has_handlers(logging));
}

static void flush(const char *stream)
{
    PyObject *file = PySys_GetObject(stream);
    PyObject *r = file && file != Py_None ? PyObject_CallMethod(file, "flush", NULL) : NULL;

    Py_XDECREF(r);
    PyErr_Clear();
}

void finish_flush(void)
{
    flush("stdout");
    flush("stderr");
}

/* Call a function of runtime.py. As in CPython, an exception of a finaliser ends nothing. */
static void call_runtime(const char *name)
{
    PyObject *fn = guest_runtime(name);
    PyObject *r = fn ? PyObject_CallFunctionObjArgs(fn, NULL) : NULL;

    Py_XDECREF(r);
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(NULL);
}

/* ---- objects that act when they are destroyed ---- */

static bool has_finaliser(PyObject *type)
{
    return PyObject_HasAttrString(type, "__del__") == 1;
}

/* Does the end of this object, or of an instance of this class, do anything? Classes count, since
 * the collector does not track instances that cannot be part of a cycle. */
static bool acts_at_its_end(PyObject *object)
{
    enum {
        KNOWN_MAX = 16
    };
    static PyTypeObject *harmless[KNOWN_MAX]; /* borrowed from objects that live to the end */
    static int n_harmless;
    PyTypeObject *type = Py_TYPE(object);

    if (PyType_Check(object) && has_finaliser(object))
        return true;
    for (int i = 0; i < n_harmless; i++)
        if (harmless[i] == type)
            return false;
    if (has_finaliser((PyObject *)type))
        return true;
    /* Classes of the program may be destroyed, and their address used again. */
    if (n_harmless < KNOWN_MAX && !(PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE))
        harmless[n_harmless++] = type;
    return false;
}

/* A program that imported something has paid much more than destroying its modules costs. */
static bool has_open_ends(void)
{
    PyObject *objects;
    bool found = false;

    if (PyDict_Size(modules()) != modules_before)
        return true;
    objects = get_objects ? PyObject_CallObject(get_objects, NULL) : NULL;
    for (Py_ssize_t i = 0, n = objects ? PyList_Size(objects) : 0; i < n && !found; i++)
        found = acts_at_its_end(PyList_GetItem(objects, i));
    found = found || !objects;
    Py_XDECREF(objects);
    PyErr_Clear();
    return found;
}

/* Does this path begin with one of the interpreter's own? */
static bool is_installed(PyObject *path)
{
    static const char *const prefixes[] = { "prefix", "base_prefix", "exec_prefix",
                                            "base_exec_prefix" };
    bool found = false;

    for (size_t i = 0; PyUnicode_Check(path) && i < ARRAY_LEN(prefixes) && !found; i++) {
        PyObject *prefix = PySys_GetObject(prefixes[i]);
        Py_ssize_t len = prefix && PyUnicode_Check(prefix) ? PyUnicode_GetLength(prefix) : 0;

        found = len > 0 && PyUnicode_GetLength(path) > len &&
                PyUnicode_Tailmatch(path, prefix, 0, len, -1) == 1 &&
                PyUnicode_ReadChar(path, len) == '/';
    }
    PyErr_Clear();
    return found;
}

/* Modules of the library stay: nothing of their end can be seen, and destroying them is dear. So do
 * those without a file, which are built in. */
static bool is_programs_own(PyObject *module)
{
    PyObject *file = member(module, "__file__");

    return file && file != Py_None && !is_installed(file);
}

/* sys.modules keeps the order of insertion. Only its tail is looked at: to go through all of it
 * would count references of modules that other guests share with this one. */
static void drop_modules(void)
{
    PyObject *names = PyList_New(0), *name, *module;
    Py_ssize_t at = 0;

    for (Py_ssize_t i = 0; names && PyDict_Next(modules(), &at, &name, &module); i++)
        if (i >= modules_before && is_programs_own(module))
            (void)PyList_Append(names, name);
    (void)PyDict_DelItemString(modules(), "__main__");
    for (Py_ssize_t i = 0, n = names ? PyList_Size(names) : 0; i < n; i++)
        (void)PyDict_DelItem(modules(), PyList_GetItem(names, i));
    Py_XDECREF(names);
    PyErr_Clear();
}

/* What sys holds of the program: its last exception, with all of its frames, and streams that it
 * put into the place of the standard ones. */
static void reset_sys(void)
{
    static const char *const last[] = { "last_type", "last_value", "last_traceback", "last_exc" };
    static const char *const streams[][2] = { { "stdin", "__stdin__" },
                                              { "stdout", "__stdout__" },
                                              { "stderr", "__stderr__" } };

    for (size_t i = 0; i < ARRAY_LEN(last); i++)
        if (PySys_GetObject(last[i]))
            (void)PySys_SetObject(last[i], Py_None);
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        PyObject *first = PySys_GetObject(streams[i][1]);
        if (first && first != PySys_GetObject(streams[i][0]))
            (void)PySys_SetObject(streams[i][0], first);
    }
}

/* A thread that is blocked in a write holds the file's lock: to flush that file would wait for
 * ever. CPython does not flush the files of daemon threads either. */
static void flush_open_files(void)
{
    PyObject *threading = PyDict_GetItemString(modules(), "threading");

    if (!threading || member_size(threading, "_active") == 1)
        call_runtime("flush_open_files");
}

static void destroy_program(void)
{
    PyObject *r;

    reset_sys();
    (void)PyGC_Collect(); /* like CPython, not where the program switched collections off */
    drop_modules();
    r = collect ? PyObject_CallObject(collect, NULL) : NULL;
    Py_XDECREF(r);
    PyErr_Clear();
    flush_open_files();
}

/* ---- the end of a cell ---- */

static bool has_open_file(void)
{
    enum {
        FDS_MAX = 1024
    };
    struct rlimit limit = { .rlim_cur = FDS_MAX };
    struct stat st;

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = STDERR_FILENO + 1; fd < FDS_MAX && (rlim_t)fd < limit.rlim_cur; fd++) {
        int flags = fcntl(fd, F_GETFL);

        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &st) == 0 &&
            S_ISREG(st.st_mode))
            return true;
    }
    return false;
}

void finish_cell(void)
{
    finish_flush();
    if (has_open_file())
        flush_open_files();
}

/* ---- the whole ---- */

void finish_prepare(void)
{
    if (!get_objects)
        get_objects = program_attr("gc", "get_objects");
    if (!collect)
        collect = program_attr("gc", "collect");
    (void)has_exit_work(); /* what it finds is known to all guests */
    PyErr_Clear();
}

void finish_begin(void)
{
    if (!get_objects) /* a cold zygote left it to its guest */
        finish_prepare();
    modules_before = PyDict_Size(modules());
}

void finish_warm_up(void)
{
    (void)has_exit_work();
    (void)has_open_ends();
    finish_flush();
}

void finish_program(void)
{
    if (has_exit_work())
        call_runtime("finish");
    finish_flush();
    if (has_open_ends())
        destroy_program();
    finish_flush();
}
