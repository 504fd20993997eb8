#include "python/afterfork.h"

#include <stdbool.h>
#include <unistd.h>

/* The next fork makes a box. */
static bool is_boxing;

static PyObject *unless_boxing(PyObject *handler, PyObject *args)
{
    if (!is_boxing)
        return PyObject_CallObject(handler, args);
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject *afterfork_wrap(PyObject *self, PyObject *handler)
{
    static PyMethodDef def = { "unless_boxing", unless_boxing, METH_VARARGS, NULL };

    (void)self;
    return PyCFunction_New(&def, handler);
}

/* What a guest needs of them, looked up in the zygote: NULL where the module is not loaded. */
static struct {
    PyObject *random, *seed, *gauss_next; /* the shared generator, and how it is seeded in C */
    PyObject *thread, *native_id;         /* the main thread's object */
} known;

static PyObject *attr_of(const char *module, const char *name)
{
    PyObject *modules = PySys_GetObject("modules");
    PyObject *m = modules ? PyDict_GetItemString(modules, module) : NULL;
    PyObject *attr = m ? PyObject_GetAttrString(m, name) : NULL;

    PyErr_Clear();
    return attr;
}

/* Threads that do not live on in a guest must be told so: then the handlers run. */
static bool has_one_thread(void)
{
    PyObject *active = attr_of("threading", "_active");
    bool has = !active || PyObject_Size(active) == 1;

    Py_XDECREF(active);
    PyErr_Clear();
    return has;
}

void afterfork_prepare(void)
{
    PyObject *base = attr_of("_random", "Random");

    known.random = attr_of("random", "_inst");
    known.seed = base ? PyObject_GetAttrString(base, "seed") : NULL;
    known.gauss_next = PyUnicode_InternFromString("gauss_next");
    known.thread = attr_of("threading", "_main_thread");
    known.native_id = PyUnicode_InternFromString("_native_id");
    is_boxing = has_one_thread();
    Py_XDECREF(base);
    PyErr_Clear();
}

/* As random.seed() does, without its Python half. */
static void reseed_random(void)
{
    PyObject *r = known.random && known.seed
                      ? PyObject_CallFunctionObjArgs(known.seed, known.random, NULL)
                      : NULL;

    if (r)
        (void)PyObject_SetAttr(known.random, known.gauss_next, Py_None);
    Py_XDECREF(r);
    PyErr_Clear();
}

/* Its name in Python is an address that a fork keeps; its number is not. */
static void renumber_thread(void)
{
    PyObject *number = known.thread ? PyLong_FromLong(getpid()) : NULL;

    if (number)
        (void)PyObject_SetAttr(known.thread, known.native_id, number);
    Py_XDECREF(number);
    PyErr_Clear();
}

void afterfork_child(void)
{
    PyOS_AfterFork_Child();
    if (is_boxing) {
        reseed_random();
        renumber_thread();
    }
    is_boxing = false; /* what the program forks runs every handler */
}
