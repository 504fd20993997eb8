#include "python/afterfork.h"

#include <stdbool.h>
#include <unistd.h>

/* The next fork makes a box, and the handlers may be passed over. */
static bool is_boxing;

/* ---- the handlers ---- */

#define WHEN_MAP(X)               \
    X(BEFORE, before)             \
    X(IN_PARENT, after_in_parent) \
    X(IN_CHILD, after_in_child)

enum when {
#define X(sym, name) sym,
    WHEN_MAP(X)
#undef X
    WHENS
};

static const char *const when_names[] = {
#define X(sym, name) #name,
    WHEN_MAP(X)
#undef X
};

static PyObject *kept[WHENS]; /* lists, in the order in which they came; or NULL */

static int keep(enum when when, PyObject *handler)
{
    if (!handler)
        return 0;
    if (!kept[when])
        kept[when] = PyList_New(0);
    return kept[when] ? PyList_Append(kept[when], handler) : -1;
}

PyObject *afterfork_keep(PyObject *self, PyObject *named)
{
    (void)self;
    for (enum when when = 0; when < WHENS; when++)
        if (keep(when, PyDict_GetItemString(named, when_names[when])) < 0)
            return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}

/* As the interpreter runs them: the last first before a fork, and whatever fails is told and passed
 * over. */
static void run_kept(enum when when)
{
    Py_ssize_t n = kept[when] ? PyList_Size(kept[when]) : 0;

    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *handler = PyList_GetItem(kept[when], when == BEFORE ? n - 1 - i : i);
        PyObject *r = PyObject_CallObject(handler, NULL);

        if (!r)
            PyErr_WriteUnraisable(handler);
        Py_XDECREF(r);
    }
}

/* One for each kind is registered by a guest, for all of that kind. */
#define X(sym, name)                                            \
    static PyObject *run_##name(PyObject *self, PyObject *args) \
    {                                                           \
        (void)self;                                             \
        (void)args;                                             \
        run_kept(sym);                                          \
        Py_INCREF(Py_None);                                     \
        return Py_None;                                         \
    }
WHEN_MAP(X)
#undef X

static PyMethodDef runners[] = {
#define X(sym, name) { #name, run_##name, METH_VARARGS, NULL },
    WHEN_MAP(X)
#undef X
};

static struct {
    PyObject *fn, *nothing, *named; /* os.register_at_fork, and what it is given */
} registering;

static PyObject *named_runners(void)
{
    PyObject *named = PyDict_New();

    for (enum when when = 0; named && when < WHENS; when++) {
        PyObject *fn = kept[when] ? PyCFunction_New(&runners[when], NULL) : NULL;
        int r = fn ? PyDict_SetItemString(named, when_names[when], fn) : 0;

        Py_XDECREF(fn);
        if (r < 0)
            Py_CLEAR(named);
    }
    return named;
}

static void register_kept(void)
{
    PyObject *r = NULL;

    if (registering.fn && registering.nothing && registering.named &&
        PyDict_Size(registering.named) > 0)
        r = PyObject_Call(registering.fn, registering.nothing, registering.named);
    Py_XDECREF(r);
    PyErr_Clear();
}

/* ---- a box ---- */

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
    registering.fn = attr_of("posix", "register_at_fork");
    registering.nothing = PyTuple_New(0);
    registering.named = named_runners();
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

void afterfork_before(void)
{
    if (!is_boxing)
        run_kept(BEFORE);
    PyOS_BeforeFork();
}

void afterfork_parent(void)
{
    PyOS_AfterFork_Parent();
    if (!is_boxing)
        run_kept(IN_PARENT);
}

void afterfork_child(void)
{
    PyOS_AfterFork_Child();
    if (is_boxing)
        reseed_random();
    else
        run_kept(IN_CHILD);
    register_kept();
    if (getpid() != USUAL_PID)
        number_thread(getpid());
    is_boxing = false; /* what the program forks runs every handler */
}
