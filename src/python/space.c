#include "python/space.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "python/display.h"
#include "python/value.h"

/* __main__'s dictionary (borrowed), and the text of the program that it is for. A guest finds the
 * dictionary as the zygote prepared it, and writes to nothing of it but what is its program's. */
static struct {
    PyObject *names, *source;
    bool is_fresh; /* nobody's program has been there */
} space;

/* A loader whose get_source() gives the program's text: tracebacks, inspect and linecache find it
 * that way, though it is in no file. */
static PyObject *get_source(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    Py_INCREF(space.source);
    return space.source;
}

static PyMethodDef loader_methods[] = { { "get_source", get_source, METH_VARARGS, NULL },
                                        { NULL, NULL, 0, NULL } };

static PyObject *source_loader(void)
{
    PyType_Slot slots[] = { { Py_tp_methods, loader_methods }, { 0, NULL } };
    PyType_Spec spec = { .name = "glovebox.ProgramLoader",
                         .basicsize = sizeof(PyObject),
                         .flags = Py_TPFLAGS_DEFAULT,
                         .slots = slots };
    static PyObject *type; /* made once in the zygote */

    if (!type)
        type = PyType_FromSpec(&spec);
    return type ? PyObject_CallObject(type, NULL) : NULL;
}

static int set_text(PyObject *dict, const char *key, const char *text)
{
    PyObject *value = PyUnicode_FromString(text);
    int r = value ? PyDict_SetItemString(dict, key, value) : -1;

    Py_XDECREF(value);
    return r;
}

static void set_source(PyObject *source)
{
    PyObject *old = space.source;

    Py_INCREF(source);
    space.source = source;
    Py_XDECREF(old);
}

static int add_builtins(PyObject *names)
{
    return PyDict_SetItemString(names, "__builtins__", PyImport_AddModule("builtins"));
}

/* A new module takes __main__'s place. The names of the old one are let go, so that what warming up
 * left there is destroyed now. Its builtins stay: the frame that started the zygote is below all
 * others, and has them for its imports. Borrowed: the new dictionary, or NULL with a Python
 * exception. */
static PyObject *replace_main(void)
{
    PyObject *modules = PySys_GetObject("modules");
    PyObject *old = PyDict_GetItemString(modules, "__main__"), *main = PyModule_New("__main__");

    if (old && PyModule_Check(old)) {
        PyDict_Clear(PyModule_GetDict(old));
        (void)add_builtins(PyModule_GetDict(old));
    }
    if (!main || PyDict_SetItemString(modules, "__main__", main) < 0) {
        Py_XDECREF(main);
        return NULL;
    }
    Py_DECREF(main);
    return PyModule_GetDict(main);
}

int space_begin(void)
{
    PyObject *names = replace_main();
    PyObject *nothing = PyUnicode_FromString(""), *loader = source_loader(), *argv = PyList_New(0);
    int r = -1;

    if (names && nothing && loader && argv && PySys_SetObject("argv", argv) == 0) {
        set_source(nothing);
        if (add_builtins(names) == 0 && PyDict_SetItemString(names, "__loader__", loader) == 0)
            r = display_bind(names);
    }
    space.names = r == 0 ? names : NULL;
    space.is_fresh = r == 0;
    Py_XDECREF(argv);
    Py_XDECREF(loader);
    Py_XDECREF(nothing);
    return r;
}

PyObject *space_fresh(PyObject *source)
{
    if (!space.is_fresh && space_begin() < 0)
        return NULL;
    space.is_fresh = false;
    set_source(source);
    return space.names;
}

int space_set_file(const struct guest *g, const char *filename)
{
    const char *base = strrchr(filename, '/');
    char here[PATH_MAX], path[2 * PATH_MAX];

    if (!getcwd(here, sizeof(here)))
        return 0;
    (void)snprintf(path, sizeof(path), "%s/%s", here, base ? base + 1 : filename);
    return set_text(g->names, "__file__", path);
}

static int bind_inputs(struct guest *g)
{
    json_t *inputs = json_object_get(g->request, "inputs");

    for (void *at = json_object_iter(inputs); at; at = json_object_iter_next(inputs, at)) {
        PyObject *value = value_from_json(json_object_iter_value(at));
        int r = value ? PyDict_SetItemString(g->names, json_object_iter_key(at), value) : -1;
        Py_XDECREF(value);
        if (r < 0)
            return -1;
    }
    return 0;
}

static int set_argv(const struct guest *g)
{
    json_t *argv = json_object_get(g->request, "argv");
    PyObject *list = json_is_array(argv) ? value_from_json(argv) : PyList_New(0);
    int r = list ? 0 : -1;

    if (r == 0 && PyList_Size(list) == 0)
        r = PyList_Append(list, g->filename);
    if (r == 0)
        r = PySys_SetObject("argv", list);
    Py_XDECREF(list);
    return r;
}

static int set_environment(const struct guest *g)
{
    json_t *env = json_object_get(g->request, "env");
    PyObject *environ;
    int r = 0;

    if (json_object_size(env) == 0)
        return 0;
    environ = program_attr("os", "environ");
    if (!environ)
        return -1;
    for (void *at = json_object_iter(env); at && r == 0; at = json_object_iter_next(env, at)) {
        PyObject *key = PyUnicode_FromString(json_object_iter_key(at));
        PyObject *value = value_from_json(json_object_iter_value(at));
        r = key && value ? PyObject_SetItem(environ, key, value) : -1;
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    Py_DECREF(environ);
    return r;
}

int space_fill(struct guest *g)
{
    return bind_inputs(g) < 0 || set_argv(g) < 0 || set_environment(g) < 0 ? -1 : 0;
}

/* ---- the workspace ---- */

static bool has_workspace; /* a place in sys.path */

static void drop_workspace(void)
{
    PyObject *path = PySys_GetObject("path");

    if (has_workspace && path)
        has_workspace = PyList_SetSlice(path, 0, 1, NULL) < 0; /* which was put there first */
    PyErr_Clear();
}

void space_add_workspace(void)
{
    PyObject *path, *here;

    if (has_workspace)
        return;
    path = PySys_GetObject("path");
    here = PyUnicode_FromString("");
    if (path && here)
        has_workspace = PyList_Insert(path, 0, here) == 0;
    Py_XDECREF(here);
    PyErr_Clear();
}

/* Under strict nothing comes from the workspace: what lies there was not checked, and the program
 * could write it itself and then import it under an allowed name. */
void space_drop_workspace(const struct guest *g)
{
    const char *policy =
        json_string_value(json_object_get(json_object_get(g->request, "check"), "policy"));

    if (policy && strcmp(policy, "strict") == 0)
        drop_workspace();
}

void space_choose_workspace(const json_t *request)
{
    if (json_is_true(json_object_get(json_object_get(request, "session"), "is_strict")))
        drop_workspace();
    else
        space_add_workspace();
}
