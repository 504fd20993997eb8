#include "python/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "python/guest.h"
#include "python/protocol.h"
#include "python/value.h"

enum {
    VALUE_MAX = 1 << 20,
    REPR_MAX = 64 << 10,
    MESSAGE_MAX = 16 << 10,
    TRACEBACK_MAX = 64 << 10,
};

/* As the engine will count them, to see whether it would read so much. */
static size_t count_separators(const json_t *json)
{
    char *text = json_text(json);
    size_t n = text ? json_count_items(text, strlen(text)) : 0;

    free(text);
    return n;
}

void answer_value(struct guest *g, PyObject *value)
{
    json_t *json = value_to_json(value);
    size_t len = json ? json_dumpb(json, NULL, 0, JSON_ENCODE_ANY) : 0;

    if (!json || len > VALUE_MAX || count_separators(json) > FRAME_ITEMS_MAX / 2) {
        json_decref(json);
        json = value_text(value, true, REPR_MAX);
    }
    json_object_set_new(g->answer, "has_value", json_true());
    json_object_set_new(g->answer, "value", json);
}

/* Take the current exception as an object; NULL only when memory ran out. */
static PyObject *take_exception(void)
{
    PyObject *type = NULL, *exc = NULL, *tb = NULL;

    PyErr_Fetch(&type, &exc, &tb);
    PyErr_NormalizeException(&type, &exc, &tb);
    if (exc && tb)
        (void)PyException_SetTraceback(exc, tb);
    Py_XDECREF(type);
    Py_XDECREF(tb);
    return exc;
}

/* When even describing failed, all that is left is the type. */
static json_t *bare_error(PyObject *exc)
{
    PyErr_Clear();
    return json_pack("{s:o,s:s,s:n,s:s}", "type",
                     exc ? value_text((PyObject *)Py_TYPE(exc), false, 200)
                         : json_string("MemoryError"),
                     "message", "", "line", "traceback", "");
}

static void clip(json_t *object, const char *key, size_t max)
{
    json_t *text = json_object_get(object, key);

    if (json_string_length(text) > max) {
        const char *data = json_string_value(text);
        /* The end of a traceback says what happened. */
        size_t from = json_string_length(text) - max;
        while (((unsigned char)data[from] & 0xc0) == 0x80)
            from++;
        json_object_set_new(object, key,
                            json_stringn(data + from, json_string_length(text) - from));
    }
}

void answer_exception(struct guest *g)
{
    PyObject *exc = take_exception();
    PyObject *describe = exc ? guest_runtime("describe") : NULL;
    PyObject *pair =
        describe ? PyObject_CallFunctionObjArgs(describe, exc, g->filename, NULL) : NULL;
    json_t *both = pair ? value_to_json(pair) : NULL;
    json_t *error = both ? json_incref(json_array_get(both, 0)) : bare_error(exc);

    clip(error, "message", MESSAGE_MAX);
    clip(error, "traceback", TRACEBACK_MAX);
    json_object_set_new(g->answer, "error", error);
    if (both && json_is_string(json_array_get(both, 1)))
        json_object_set(g->answer, "limit", json_array_get(both, 1));
    if (!both && exc && PyErr_GivenExceptionMatches(exc, PyExc_MemoryError))
        json_object_set_new(g->answer, "limit", json_string("memory"));
    g->exit_code = 1;
    json_decref(both);
    Py_XDECREF(pair);
    Py_XDECREF(exc);
    PyErr_Clear();
}

void answer_exit(struct guest *g)
{
    PyObject *exc = take_exception();
    PyObject *fn = guest_runtime("exit_code");
    PyObject *code = fn && exc ? PyObject_CallFunctionObjArgs(fn, exc, NULL) : NULL;

    g->exit_code = code ? (int)PyLong_AsLong(code) : 1;
    PyErr_Clear();
    Py_XDECREF(code);
    Py_XDECREF(exc);
}
