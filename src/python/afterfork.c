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
    bool has_gauss;                       /* the generator keeps half of a pair */
    PyObject *thread, *native_id;         /* the main thread's object */
} known;

enum {
    USUAL_PID = 2 /* of a guest in its box, after init */
};

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

/* Its name in Python is an address that a fork keeps; its number is not. */
static void number_thread(long number)
{
    PyObject *value = known.thread ? PyLong_FromLong(number) : NULL;

    if (value)
        (void)PyObject_SetAttr(known.thread, known.native_id, value);
    Py_XDECREF(value);
    PyErr_Clear();
}

/* A lazily bound interpreter looks up what a forked child calls first when it calls it: in every
 * guest. The keys that it replaces are such a thing; once used here, they are found. */
static void bind_keys(void)
{
    Py_tss_t *key = PyThread_tss_alloc();

    if (key && PyThread_tss_create(key) == 0)
        PyThread_tss_delete(key);
    PyThread_tss_free(key);
}

void afterfork_prepare(void)
{
    PyObject *base = attr_of("_random", "Random"), *gauss = NULL;

    known.random = attr_of("random", "_inst");
    known.seed = base ? PyObject_GetAttrString(base, "seed") : NULL;
    known.gauss_next = PyUnicode_InternFromString("gauss_next");
    known.thread = attr_of("threading", "_main_thread");
    known.native_id = PyUnicode_InternFromString("_native_id");
    gauss = known.random ? PyObject_GetAttr(known.random, known.gauss_next) : NULL;
    known.has_gauss = gauss != Py_None;
    is_boxing = has_one_thread();
    number_thread(USUAL_PID);
    bind_keys();
    Py_XDECREF(gauss);
    Py_XDECREF(base);
    PyErr_Clear();
}

/* As random.seed() does, without its Python half. */
static void reseed_random(void)
{
    PyObject *r = known.random && known.seed
                      ? PyObject_CallFunctionObjArgs(known.seed, known.random, NULL)
                      : NULL;

    if (r && known.has_gauss)
        (void)PyObject_SetAttr(known.random, known.gauss_next, Py_None);
    Py_XDECREF(r);
    PyErr_Clear();
}

void afterfork_child(void)
{
    PyOS_AfterFork_Child();
    if (is_boxing)
        reseed_random();
    if (getpid() != USUAL_PID)
        number_thread(getpid());
    is_boxing = false; /* what the program forks runs every handler */
}
