/*
 * How a program is read: CPython parses it into a tree, the tree is checked, the last expression is
 * split off it, and both parts are compiled from it. What was checked is what runs.
 */
#include "python/program.h"

#include <string.h>

#include "python/check.h"
#include "python/guest.h"

enum {
    ONLY_AST = 0x400,
    TOP_LEVEL_AWAIT = 0x2000,
    FUTURE_MASK = 0x1ff0000, /* the __future__ features, which the split must not lose */
    CO_IS_COROUTINE = 0x80,
};

PyObject *program_attr(const char *module, const char *name)
{
    PyObject *m = PyImport_ImportModule(module);
    PyObject *attr = m ? PyObject_GetAttrString(m, name) : NULL;

    Py_XDECREF(m);
    return attr;
}

/* The same, looked up once for all guests. Borrowed. */
static PyObject *known(PyObject **slot, const char *module, const char *name)
{
    if (!*slot)
        *slot = program_attr(module, name);
    return *slot;
}

/* compile(source, filename, mode, flags, True); source is text or a tree. */
static PyObject *compile_any(PyObject *source, PyObject *filename, const char *mode, long flags)
{
    static PyObject *slot;
    PyObject *fn = known(&slot, "builtins", "compile");

    return fn ? PyObject_CallFunction(fn, "OOslO", source, filename, mode, flags, Py_True) : NULL;
}

static long code_flags(PyObject *code)
{
    PyObject *flags = PyObject_GetAttrString(code, "co_flags");
    long n = flags ? PyLong_AsLong(flags) : 0;

    Py_XDECREF(flags);
    return n;
}

PyObject *program_source(const char *text, size_t len)
{
    size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    return PyUnicode_FromStringAndSize(text + mark, (Py_ssize_t)(len - mark));
}

/* If the tree's last statement is an expression, take it off and return it as a tree of its own;
 * else NULL (without an exception, unless something broke). */
static PyObject *split_last(PyObject *tree)
{
    PyObject *body = PyObject_GetAttrString(tree, "body");
    static PyObject *slots[2];
    PyObject *expr_type = known(&slots[0], "_ast", "Expr");
    PyObject *make = known(&slots[1], "_ast", "Expression");
    PyObject *value = NULL, *split = NULL;
    Py_ssize_t n = body ? PyList_Size(body) : 0;

    if (expr_type && make && n > 0 &&
        PyObject_IsInstance(PyList_GetItem(body, n - 1), expr_type) == 1) {
        value = PyObject_GetAttrString(PyList_GetItem(body, n - 1), "value");
        split = value ? PyObject_CallFunctionObjArgs(make, value, NULL) : NULL;
        if (split && PyList_SetSlice(body, n - 1, n, NULL) < 0)
            Py_CLEAR(split);
    }
    Py_XDECREF(value);
    Py_XDECREF(body);
    return split;
}

PyObject *program_parse(PyObject *source, PyObject *filename)
{
    return compile_any(source, filename, "exec", ONLY_AST | TOP_LEVEL_AWAIT);
}

static void check_tree_of(struct guest *g, PyObject *source, PyObject *tree)
{
    json_t *rules = json_object_get(g->request, "check");
    json_t *inputs = json_object_get(g->request, "inputs");

    if (!rules)
        return;
    if (inputs) /* variables that the program finds */
        json_object_set(rules, "names", inputs);
    verdict_check(&g->verdict, g->prelude, tree, rules, source);
}

/* Parse, check, and, unless it was rejected, compile. */
static int compile_program(struct guest *g, PyObject *source)
{
    PyObject *tree = program_parse(source, g->filename), *last = NULL;

    if (tree)
        check_tree_of(g, source, tree);
    if (tree && !g->verdict.is_rejected)
        last = split_last(tree);
    if (tree && !g->verdict.is_rejected && !PyErr_Occurred())
        g->body = compile_any(tree, g->filename, "exec", TOP_LEVEL_AWAIT);
    if (g->body && last)
        g->last = compile_any(last, g->filename, "eval",
                              TOP_LEVEL_AWAIT | (code_flags(g->body) & FUTURE_MASK));
    Py_XDECREF(last);
    Py_XDECREF(tree);
    return PyErr_Occurred() ? -1 : 0;
}

/* The operator's own code: parsed before the program is, compiled after it has passed. */
static int compile_prelude(struct guest *g, PyObject *source, long flags)
{
    PyObject *name = PyUnicode_FromString("prelude.py");
    PyObject *made = name && source ? compile_any(source, name, "exec", flags) : NULL;

    Py_XDECREF(name);
    Py_XDECREF(g->prelude);
    g->prelude = made;
    return made ? 0 : -1;
}

void program_check(struct guest *g, PyObject *source)
{
    const json_t *prelude = json_object_get(g->request, "prelude");
    PyObject *text =
        prelude ? program_source(json_string_value(prelude), json_string_length(prelude)) : NULL;
    PyObject *tree;

    if (prelude && compile_prelude(g, text, ONLY_AST) < 0) {
        verdict_syntax(&g->verdict, text, "prelude");
    } else if (compile_program(g, source) < 0) {
        verdict_syntax(&g->verdict, source, NULL);
    } else if (prelude && !g->verdict.is_rejected) {
        tree = g->prelude;
        Py_INCREF(tree);
        if (compile_prelude(g, tree, 0) < 0)
            verdict_syntax(&g->verdict, text, "prelude");
        Py_DECREF(tree);
    }
    Py_XDECREF(text);
}

/* ---- running ---- */

PyObject *program_run(const struct guest *g)
{
    PyObject *value = NULL, *codes, *run;

    if ((code_flags(g->body) | (g->last ? code_flags(g->last) : 0)) & CO_IS_COROUTINE) {
        run = guest_runtime("run_async");
        codes = g->last ? PyTuple_Pack(2, g->body, g->last) : PyTuple_Pack(1, g->body);
        value = run && codes ? PyObject_CallFunctionObjArgs(run, codes, g->names, NULL) : NULL;
        Py_XDECREF(codes);
        return value;
    }
    value = PyEval_EvalCode(g->body, g->names, g->names);
    if (value && g->last) {
        Py_DECREF(value);
        value = PyEval_EvalCode(g->last, g->names, g->names);
    }
    return value;
}

int program_run_prelude(const struct guest *g)
{
    PyObject *value = g->prelude ? PyEval_EvalCode(g->prelude, g->names, g->names) : NULL;

    Py_XDECREF(value);
    return !g->prelude || value ? 0 : -1;
}

int program_run_bare(const char *code)
{
    struct guest g = { .filename = PyUnicode_FromString("main.py") };
    PyObject *source = PyUnicode_FromString(code), *value = NULL;

    g.names = PyDict_New();
    if (source && g.names &&
        PyDict_SetItemString(g.names, "__builtins__", PyEval_GetBuiltins()) == 0 &&
        compile_program(&g, source) == 0)
        value = program_run(&g);
    Py_XDECREF(g.body);
    Py_XDECREF(g.last);
    Py_XDECREF(g.names);
    Py_XDECREF(g.filename);
    Py_XDECREF(source);
    Py_XDECREF(value);
    return value ? 0 : -1;
}
