/*
 * How a program displays things. Which forms a thing has is Python's to find out (display.py,
 * compiled when it is first needed); here is what every run has of it, which must cost nothing, and
 * the way to the engine: one FRAME_DISPLAY a thing, at once, so that a run that is killed keeps
 * what it had shown.
 *
 * The interpreter's lock is held while a frame is written, so that frames of different threads do
 * not mix. A forked process must not write at all: it would mix with its parent.
 */
#include "python/display.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "display_py.h"
#include "python/guest.h"
#include "python/protocol.h"
#include "python/tools.h"
#include "python/value.h"

enum {
    NOTES_MAX = 64 << 10, /* of a run's bytes, kept for notes on what is missing */
    FRAME_SLACK = 4 << 10 /* of a frame, for all that is not content */
};

/* The namespace of display.py; made once in a warm zygote, inherited by every guest. */
static PyObject *space;

static struct {
    int fd;
    pid_t owner;
    size_t bytes; /* sent so far */
    int things;
    char workspace[PATH_MAX];
} run = { .fd = -1 };

/* ---- what display.py is given ---- */

/* As long as the engine has not read it, what is printed next could overtake it. */
static void wait_until_read(int fd)
{
    struct timespec pause = { .tv_nsec = 100000 };
    int left = 0;

    for (int i = 0; i < 100 && ioctl(fd, FIONREAD, &left) == 0 && left > 0; i++)
        (void)nanosleep(&pause, NULL);
}

/* send([{"mime", "data"}, ...]): one thing. Whether it could be sent. */
static PyObject *send_forms(PyObject *self, PyObject *forms)
{
    auto_json json_t *frame = NULL;
    auto_free struct frame *sent = NULL;
    json_t *list = value_to_json(forms);
    size_t len;

    (void)self;
    if (!list)
        return PyBool_FromLong(0);
    frame = json_pack("{s:o}", "forms", list);
    len = json_dumpb(frame, NULL, 0, JSON_COMPACT);
    if (len == 0 || len > DISPLAY_MAX || len > DISPLAY_RUN_MAX - run.bytes ||
        run.things >= DISPLAY_THINGS_MAX || getpid() != run.owner || run.fd < 0)
        return PyBool_FromLong(0);
    run.bytes += len;
    run.things++;
    sent = guest_frame(FRAME_DISPLAY, frame, &(uint64_t){ 0 });
    if (!sent)
        return PyErr_NoMemory();
    tools_write(run.fd, sent, sizeof(*sent) + sent->len);
    Py_BEGIN_ALLOW_THREADS;
    wait_until_read(run.fd);
    Py_END_ALLOW_THREADS;
    return PyBool_FromLong(1);
}

/* room(): (things, bytes) that may still be displayed; None in a process that may not. */
static PyObject *room(PyObject *self, PyObject *args)
{
    size_t taken = run.bytes + NOTES_MAX, left = 0;

    (void)self;
    (void)args;
    if (getpid() != run.owner || run.fd < 0) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    if (taken < DISPLAY_RUN_MAX)
        left = DISPLAY_RUN_MAX - taken;
    if (left > DISPLAY_MAX - FRAME_SLACK)
        left = DISPLAY_MAX - FRAME_SLACK;
    return Py_BuildValue("in", DISPLAY_THINGS_MAX - run.things, (Py_ssize_t)left);
}

/* workspace(): the directory that the program started in. */
static PyObject *workspace(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    return PyUnicode_DecodeFSDefault(run.workspace);
}

static PyMethodDef given[] = {
    { "send", send_forms, METH_O, NULL },
    { "room", room, METH_NOARGS, NULL },
    { "workspace", workspace, METH_NOARGS, NULL },
};

/* ---- display.py ---- */

static int fill(PyObject *names)
{
    PyObject *builtins = PyEval_GetBuiltins(), *max, *code, *result = NULL;
    int r;

    if (PyDict_SetItemString(names, "__builtins__", builtins) < 0)
        return -1;
    code = Py_CompileString(display_text, "<glovebox display>", Py_file_input);
    result = code ? PyEval_EvalCode(code, names, names) : NULL;
    max = result ? PyLong_FromLong(DISPLAY_FORMS_MAX) : NULL;
    r = max ? PyDict_SetItemString(names, "FORMS_MAX", max) : -1;
    Py_XDECREF(max);
    Py_XDECREF(code);
    Py_XDECREF(result);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(given); i++) {
        PyObject *fn = PyCFunction_New(&given[i], NULL);
        r = fn ? PyDict_SetItemString(names, given[i].ml_name, fn) : -1;
        Py_XDECREF(fn);
    }
    return r;
}

int display_compile(void)
{
    PyObject *names = space ? NULL : PyDict_New();

    if (space)
        return 0;
    if (names && fill(names) == 0)
        space = names;
    else
        Py_XDECREF(names);
    return space ? 0 : -1;
}

/* Call a function of display.py. New reference; NULL with an exception. */
static PyObject *call(const char *name, PyObject *args)
{
    PyObject *fn = display_compile() == 0 ? PyDict_GetItemString(space, name) : NULL;

    return fn ? PyObject_CallObject(fn, args) : NULL;
}

static void call_quietly(const char *name, PyObject *args)
{
    PyObject *r = call(name, args);

    Py_XDECREF(r);
    PyErr_Clear();
}

/* ---- what programs find ---- */

static PyObject *display(PyObject *self, PyObject *args)
{
    (void)self;
    return call("display", args);
}

static PyMethodDef display_def = { "display", display, METH_VARARGS,
                                   "display(*objects)\n--\n\nShow objects as richly as they can be "
                                   "shown: pictures, HTML, text." };

int display_bind(PyObject *names)
{
    PyObject *fn = PyCFunction_New(&display_def, NULL);
    int r = fn ? PyDict_SetItemString(names, "display", fn) : -1;

    Py_XDECREF(fn);
    return r;
}

void display_begin(int tell_fd)
{
    run.fd = tell_fd;
    run.owner = getpid();
    run.bytes = 0;
    run.things = 0;
    if (!getcwd(run.workspace, sizeof(run.workspace)))
        run.workspace[0] = '\0';
}

void display_end(void)
{
    run.fd = -1;
}

static PyObject *loaded(const char *module)
{
    PyObject *modules = PySys_GetObject("modules"); /* both borrowed */

    return modules ? PyDict_GetItemString(modules, module) : NULL;
}

static bool is_figure(PyObject *value)
{
    PyObject *module = loaded("matplotlib.figure");
    PyObject *type = module ? PyObject_GetAttrString(module, "Figure") : NULL;
    bool is = type && PyObject_IsInstance(value, type) == 1;

    Py_XDECREF(type);
    PyErr_Clear();
    return is;
}

bool display_is_rich(PyObject *value)
{
    static const char *const names[] = { "_repr_mimebundle_", "_repr_html_", "_repr_png_",
                                         "_repr_jpeg_",       "_repr_svg_",  "_repr_markdown_",
                                         "_repr_latex_",      "_repr_json_", "_repr_pdf_",
                                         "_repr_javascript_" };

    if (value == Py_None || PyLong_CheckExact(value) || PyUnicode_CheckExact(value) ||
        PyFloat_CheckExact(value) || PyList_CheckExact(value) || PyDict_CheckExact(value) ||
        PyTuple_CheckExact(value) || PyBool_Check(value))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (PyObject_HasAttrString((PyObject *)Py_TYPE(value), names[i]))
            return true;
    return is_figure(value);
}

void display_value(PyObject *value)
{
    PyObject *args = display_is_rich(value) ? PyTuple_Pack(1, value) : NULL;

    if (args)
        call_quietly("display_value", args);
    Py_XDECREF(args);
    PyErr_Clear();
}

void display_figures(void)
{
    if (loaded("matplotlib.pyplot"))
        call_quietly("show_figures", NULL);
}

/* ---- matplotlib ---- */

/* The environment and not a call, so that programs that the program starts have it too. */
static void draw_without_screen(void)
{
    PyObject *os = PyImport_ImportModule("os");
    PyObject *environ = os ? PyObject_GetAttrString(os, "environ") : NULL;
    PyObject *r =
        environ ? PyObject_CallMethod(environ, "setdefault", "ss", "MPLBACKEND", "Agg") : NULL;

    Py_XDECREF(r);
    Py_XDECREF(environ);
    Py_XDECREF(os);
    PyErr_Clear();
}

/* find_spec() of a finder that finds nothing of its own. */
static PyObject *find_spec(PyObject *self, PyObject *args)
{
    static bool is_asking; /* the other finders, of which this is one */
    PyObject *name = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL, *spec = NULL;

    (void)self;
    if (name && PyUnicode_Check(name) && !is_asking) {
        if (PyUnicode_CompareWithASCIIString(name, "matplotlib") == 0)
            draw_without_screen();
        is_asking = PyUnicode_CompareWithASCIIString(name, "matplotlib.pyplot") == 0;
        if (is_asking)
            spec = call("find_pyplot", args);
        is_asking = false;
    }
    if (spec)
        return spec;
    PyErr_Clear(); /* others will look for it */
    Py_INCREF(Py_None);
    return Py_None;
}

static PyMethodDef finder_methods[] = { { "find_spec", find_spec, METH_VARARGS, NULL },
                                        { NULL, NULL, 0, NULL } };

int display_watch_imports(void)
{
    PyType_Slot slots[] = { { Py_tp_methods, finder_methods }, { 0, NULL } };
    PyType_Spec spec = { .name = "glovebox.PyplotFinder",
                         .basicsize = sizeof(PyObject),
                         .flags = Py_TPFLAGS_DEFAULT,
                         .slots = slots };
    PyObject *type = PyType_FromSpec(&spec);
    PyObject *finder = type ? PyObject_CallObject(type, NULL) : NULL;
    PyObject *finders = PySys_GetObject("meta_path");
    int r = finder && finders ? PyList_Insert(finders, 0, finder) : -1;

    Py_XDECREF(finder);
    Py_XDECREF(type);
    return r;
}
