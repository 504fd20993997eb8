#include "python/value.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

enum {
    DEPTH_MAX = 100
};

/* ---- JSON to Python ---- */

static PyObject *list_from_json(const json_t *json)
{
    PyObject *list = PyList_New((Py_ssize_t)json_array_size(json));

    for (size_t i = 0; list && i < json_array_size(json); i++) {
        PyObject *item = value_from_json(json_array_get(json, i));
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) /* steals item */
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *dict_from_json(const json_t *json)
{
    PyObject *dict = PyDict_New();
    json_t *object = json_shared(json);

    for (void *at = json_object_iter(object); dict && at; at = json_object_iter_next(object, at)) {
        PyObject *key = PyUnicode_FromString(json_object_iter_key(at));
        PyObject *item = value_from_json(json_object_iter_value(at));
        if (!key || !item || PyDict_SetItem(dict, key, item) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(item);
    }
    return dict;
}

PyObject *value_from_json(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return dict_from_json(json);
    case JSON_ARRAY:
        return list_from_json(json);
    case JSON_STRING:
        return PyUnicode_FromStringAndSize(json_string_value(json),
                                           (Py_ssize_t)json_string_length(json));
    case JSON_INTEGER:
        return PyLong_FromLongLong(json_integer_value(json));
    case JSON_REAL:
        return PyFloat_FromDouble(json_real_value(json));
    case JSON_TRUE:
    case JSON_FALSE:
        return PyBool_FromLong(json_is_true(json));
    case JSON_NULL:
        break;
    }
    Py_INCREF(Py_None);
    return Py_None;
}

/* ---- Python to JSON ---- */

static json_t *to_json(PyObject *object, int depth);

/* NULL for text with lone surrogates, which is no JSON. */
static json_t *text_to_json(PyObject *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "strict");
    json_t *json = NULL;

    if (bytes)
        json = json_stringn(PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
    Py_XDECREF(bytes);
    PyErr_Clear();
    return json;
}

static json_t *int_to_json(PyObject *number)
{
    int overflow = 0;
    long long n = PyLong_AsLongLongAndOverflow(number, &overflow);

    PyErr_Clear();
    return overflow ? NULL : json_integer(n);
}

static json_t *sequence_to_json(PyObject *sequence, bool is_list, int depth)
{
    Py_ssize_t n = is_list ? PyList_Size(sequence) : PyTuple_Size(sequence);
    json_t *json = json_array();

    for (Py_ssize_t i = 0; json && i < n; i++) {
        PyObject *item = is_list ? PyList_GetItem(sequence, i) : PyTuple_GetItem(sequence, i);
        json_t *sub = item ? to_json(item, depth + 1) : NULL;
        if (!sub || json_array_append_new(json, sub) < 0) {
            json_decref(json);
            json = NULL;
        }
    }
    PyErr_Clear();
    return json;
}

static json_t *dict_to_json(PyObject *dict, int depth)
{
    json_t *json = json_object();
    PyObject *key, *item;
    Py_ssize_t at = 0;

    while (json && PyDict_Next(dict, &at, &key, &item)) {
        json_t *name = PyUnicode_Check(key) ? text_to_json(key) : NULL;
        json_t *sub = name ? to_json(item, depth + 1) : NULL;
        /* A key with a NUL in it cannot be told from its beginning. */
        bool ok = sub && strlen(json_string_value(name)) == json_string_length(name) &&
                  json_object_set_new(json, json_string_value(name), json_incref(sub)) == 0;
        json_decref(name);
        json_decref(sub);
        if (!ok) {
            json_decref(json);
            json = NULL;
        }
    }
    return json;
}

static json_t *to_json(PyObject *object, int depth)
{
    if (depth > DEPTH_MAX)
        return NULL;
    if (object == Py_None)
        return json_null();
    if (PyBool_Check(object))
        return json_boolean(object == Py_True);
    if (PyLong_Check(object))
        return int_to_json(object);
    if (PyFloat_Check(object)) {
        double d = PyFloat_AsDouble(object);
        return isfinite(d) ? json_real(d) : NULL;
    }
    if (PyUnicode_Check(object))
        return text_to_json(object);
    if (PyList_Check(object) || PyTuple_Check(object))
        return sequence_to_json(object, PyList_Check(object), depth);
    if (PyDict_Check(object))
        return dict_to_json(object, depth);
    return NULL;
}

json_t *value_to_json(PyObject *object)
{
    return to_json(object, 0);
}

/* The longest beginning of at most `max` bytes that does not cut a character. */
static size_t cut_at(const char *text, size_t len, size_t max)
{
    size_t end = max;

    if (len <= max)
        return len;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    return end;
}

json_t *value_text(PyObject *object, bool want_repr, size_t max)
{
    PyObject *text = want_repr ? PyObject_Repr(object) : PyObject_Str(object);
    PyObject *bytes = NULL;
    json_t *json;

    if (text)
        bytes = PyUnicode_AsEncodedString(text, "utf-8", "replace");
    PyErr_Clear();
    if (bytes) {
        const char *data = PyBytes_AsString(bytes);
        size_t len = (size_t)PyBytes_Size(bytes), cut = cut_at(data, len, max);
        json = cut == len ? json_stringn(data, len)
                          : json_sprintf("%.*s... (%zu more bytes)", (int)cut, data, len - cut);
    } else {
        json = json_string("<an object that cannot be shown>");
    }
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    return json;
}
