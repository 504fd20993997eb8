#include "python/space.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "python/display.h"
#include "python/value.h"

/* A loader whose get_source() gives the program's text: tracebacks, inspect and linecache find it
 * that way, though it is in no file. */
static PyObject *get_source(PyObject *self, PyObject *args)
{
    (void)args;
    Py_INCREF(self);
    return self;
}

static PyMethodDef get_source_def = { "get_source", get_source, METH_VARARGS, NULL };

/* An object of the type of sys.implementation: a bare namespace, without importing one. */
static PyObject *source_loader(PyObject *source)
{
    PyObject *type = (PyObject *)Py_TYPE(PySys_GetObject("implementation"));
    PyObject *loader = PyObject_CallFunctionObjArgs(type, NULL);
    PyObject *method = PyCFunction_New(&get_source_def, source);

    if (!loader || !method || PyObject_SetAttrString(loader, "get_source", method) < 0)
        Py_CLEAR(loader);
    Py_XDECREF(method);
    return loader;
}

static int set_text(PyObject *dict, const char *key, const char *text)
{
    PyObject *value = PyUnicode_FromString(text);
    int r = value ? PyDict_SetItemString(dict, key, value) : -1;

    Py_XDECREF(value);
    return r;
}

PyObject *space_fresh(PyObject *source)
{
    PyObject *main = PyImport_AddModule("__main__"); /* borrowed */
    PyObject *names = main ? PyModule_GetDict(main) : NULL;
    PyObject *loader = NULL;

    if (!names)
        return NULL;
    PyDict_Clear(names);
    if (set_text(names, "__name__", "__main__") < 0 ||
        PyDict_SetItemString(names, "__builtins__", PyImport_AddModule("builtins")) < 0 ||
        PyDict_SetItemString(names, "__doc__", Py_None) < 0 ||
        PyDict_SetItemString(names, "__package__", Py_None) < 0 ||
        PyDict_SetItemString(names, "__spec__", Py_None) < 0 || display_bind(names) < 0)
        return NULL;
    loader = source_loader(source);
    if (!loader || PyDict_SetItemString(names, "__loader__", loader) < 0)
        names = NULL;
    Py_XDECREF(loader);
    return names;
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

int space_begin(void)
{
    PyObject *nothing = PyUnicode_FromString("");
    int r = nothing && space_fresh(nothing) ? 0 : -1;

    Py_XDECREF(nothing);
    return r;
}

int space_fill(struct guest *g)
{
    return bind_inputs(g) < 0 || set_argv(g) < 0 || set_environment(g) < 0 ? -1 : 0;
}

/* ---- the workspace ---- */

void space_add_workspace(void)
{
    PyObject *path = PySys_GetObject("path"), *here = PyUnicode_FromString("");

    if (path && here)
        (void)PyList_Insert(path, 0, here);
    Py_XDECREF(here);
    PyErr_Clear();
}

/* Under strict nothing comes from the workspace: what lies there was not checked, and the program
 * could write it itself and then import it under an allowed name. */
void space_drop_workspace(const struct guest *g)
{
    const char *policy =
        json_string_value(json_object_get(json_object_get(g->request, "check"), "policy"));
    PyObject *path = PySys_GetObject("path");

    if (policy && strcmp(policy, "strict") == 0 && path)
        (void)PyList_SetSlice(path, 0, 1, NULL); /* space_add_workspace() put it there */
    PyErr_Clear();
}

void space_choose_workspace(const json_t *request)
{
    static bool is_dropped;
    bool is_strict =
        json_is_true(json_object_get(json_object_get(request, "session"), "is_strict"));
    PyObject *path = PySys_GetObject("path");

    if (is_strict == is_dropped || !path)
        return;
    is_dropped = is_strict;
    if (is_strict)
        (void)PyList_SetSlice(path, 0, 1, NULL);
    else
        space_add_workspace();
    PyErr_Clear();
}
