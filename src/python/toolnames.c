#include "python/toolnames.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "python/names.h"
#include "python/tools.h"
#include "python/wire.h"

/* dict: the parameter of a tool that may be given by its place */
static PyObject *places;

/* ---- functions ---- */

/* The arguments with the one that came by its place; a new reference. */
static PyObject *with_placed(PyObject *name, PyObject *placed, PyObject *value, PyObject *kwargs)
{
    PyObject *all = kwargs ? PyDict_Copy(kwargs) : PyDict_New();

    if (all && PyDict_GetItem(all, placed)) {
        PyErr_Format(PyExc_TypeError, "%U() got '%U' twice", name, placed);
        Py_CLEAR(all);
    }
    if (all && PyDict_SetItem(all, placed, value) < 0)
        Py_CLEAR(all);
    return all;
}

/* The function of a tool: `self` is its name. */
static PyObject *call_function(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *placed = PyTuple_Size(args) == 1 && places ? PyDict_GetItem(places, self) : NULL;
    PyObject *all, *out;

    if (PyTuple_Size(args) == 0)
        return tools_call(self, kwargs);
    if (placed) {
        all = with_placed(self, placed, PyTuple_GetItem(args, 0), kwargs);
        out = all ? tools_call(self, all) : NULL;
        Py_XDECREF(all);
        return out;
    }
    PyErr_Format(PyExc_TypeError, "%U() takes keyword arguments only: %U(key=value)", self, self);
    return NULL;
}

/* Through a type that takes any function, as the C standard wants it. */
#define WITH_KEYWORDS(fn) ((PyCFunction)(void (*)(void))(fn))

/* The definition lives as long as the function does, which is to the end. */
static PyObject *make_function(PyObject *name, const char *text, const char *doc)
{
    PyMethodDef *def = calloc(1, sizeof(*def));
    PyObject *fn = NULL;

    if (def) {
        *def = (PyMethodDef){ strdup(text), WITH_KEYWORDS(call_function),
                              METH_VARARGS | METH_KEYWORDS, doc ? strdup(doc) : NULL };
        fn = def->ml_name ? PyCFunction_New(def, name) : NULL;
    }
    return fn ? fn : PyErr_NoMemory();
}

/* One for all cells of a session that have the tool. New reference. */
static PyObject *function_of(PyObject *name, const char *text, const char *doc)
{
    PyObject *key = PyUnicode_FromFormat("%s %s", text, doc ? doc : "");
    PyObject *fn = key ? PyDict_GetItem(wire.made, key) : NULL;

    Py_XINCREF(fn);
    if (key && !fn) {
        fn = make_function(name, text, doc);
        if (fn && PyDict_SetItem(wire.made, key, fn) < 0)
            Py_CLEAR(fn);
    }
    Py_XDECREF(key);
    return fn;
}

static int bind_function(PyObject *names, PyObject *name, const char *text, const char *doc)
{
    PyObject *fn = function_of(name, text, doc);
    int r = fn ? PyDict_SetItem(names, name, fn) : -1;

    Py_XDECREF(fn);
    return r;
}

/* make(name, doc): for namespaces, which make a function when it is first wanted. */
static PyObject *make_by_name(PyObject *self, PyObject *args)
{
    PyObject *name;
    const char *doc;

    (void)self;
    if (!PyArg_ParseTuple(args, "Uz", &name, &doc))
        return NULL;
    PyObject *bytes = PyUnicode_AsUTF8String(name);
    PyObject *fn = bytes ? function_of(name, PyBytes_AsString(bytes), doc) : NULL;

    Py_XDECREF(bytes);
    return fn;
}

static PyMethodDef make_by_name_def = { "make", make_by_name, METH_VARARGS, NULL };

/* "server.tool": an entry of the namespace `server`, {tool: (name, doc)}, in `spaces`. */
static int add_spaced(PyObject *spaces, const char *text, const char *doc)
{
    const char *dot = strchr(text, '.');
    auto_free char *space = dot ? strndup(text, (size_t)(dot - text)) : NULL;
    PyObject *tools, *entry;
    int r = -1;

    if (!name_is_spaced(text))
        return 0;
    if (!space) {
        PyErr_NoMemory();
        return -1;
    }
    tools = PyDict_GetItemString(spaces, space);
    if (!tools) {
        tools = PyDict_New();
        if (!tools || PyDict_SetItemString(spaces, space, tools) < 0) {
            Py_XDECREF(tools);
            return -1;
        }
        Py_DECREF(tools); /* the dictionary keeps it */
    }
    entry = Py_BuildValue("(sz)", text, doc);
    if (entry)
        r = PyDict_SetItemString(tools, dot + 1, entry);
    Py_XDECREF(entry);
    return r;
}

static int add_tool(PyObject *names, PyObject *spaces, const json_t *tool)
{
    const char *text = json_string_value(json_object_get(tool, "name"));
    const char *doc = json_string_value(json_object_get(tool, "doc"));
    const char *placed = json_string_value(json_object_get(tool, "positional"));
    PyObject *name = text ? PyUnicode_FromString(text) : NULL;
    PyObject *place = placed ? PyUnicode_FromString(placed) : NULL;
    int r = name ? PyDict_SetItem(wire.names, name, Py_None) : -1;

    if (r == 0 && place)
        r = PyDict_SetItem(places, name, place);
    if (r == 0 && name_is_function(text))
        r = bind_function(names, name, text, doc);
    else if (r == 0)
        r = add_spaced(spaces, text, doc);
    Py_XDECREF(place);
    Py_XDECREF(name);
    return r;
}

static int add_spaces(PyObject *names, PyObject *spaces)
{
    PyObject *make = PyCFunction_New(&make_by_name_def, NULL), *name, *tools, *space;
    Py_ssize_t at = 0;
    int r = make ? 0 : -1;

    while (r == 0 && PyDict_Next(spaces, &at, &name, &tools)) {
        space = PyObject_CallFunctionObjArgs(wire_helper("Tools"), name, tools, make, NULL);
        r = space ? PyDict_SetItem(names, name, space) : -1;
        Py_XDECREF(space);
    }
    Py_XDECREF(make);
    return r;
}

int toolnames_bind(PyObject *names, const json_t *list)
{
    PyObject *spaces = PyDict_New();
    int r = 0;

    Py_XDECREF(wire.names);
    Py_XDECREF(places);
    wire.names = PyDict_New();
    places = PyDict_New();
    if (!wire.made)
        wire.made = PyDict_New();
    if (!wire.names || !places || !wire.made || !spaces)
        r = -1;
    for (size_t i = 0; i < json_array_size(list) && r == 0; i++)
        r = add_tool(names, spaces, json_array_get(list, i));
    if (r == 0)
        r = add_spaces(names, spaces);
    Py_XDECREF(spaces);
    return r;
}
