#include "python/check.h"

#include <string.h>

static const char walker[] =
    "def walk(prelude, tree, blocked, patterns):\n"
    "    import ast\n"
    "    out, risk = [], 0\n"
    "    for t, where in ((prelude, 'prelude'), (tree, None)):\n"
    "        for n in ast.walk(t) if t is not None else ():\n"
    "            names = [a.name for a in n.names] if isinstance(n, ast.Import) else \\\n"
    "                [n.module or ''] if isinstance(n, ast.ImportFrom) else []\n"
    "            for m in names:\n"
    "                if m.split('.')[0] in blocked:\n"
    "                    out.append((m, n.lineno, n.col_offset + 1, 'error', where))\n"
    "            if where is None and isinstance(n, ast.Call) and isinstance(n.func, ast.Name) \\\n"
    "                    and n.func.id == 'eval' and patterns != 'off':\n"
    "                risk += 30\n"
    "                out.append(('eval', n.lineno, n.col_offset + 1, 'warning', where))\n"
    "    return out, risk\n";

int check_tree(PyObject *prelude, PyObject *tree, const json_t *rules, struct check_result *ret)
{
    PyObject *names = PyDict_New(), *fn, *blocked = PyList_New(0), *pair = NULL, *code, *r;
    const json_t *list = json_object_get(rules, "block_imports");

    PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
    code = Py_CompileString(walker, "<check>", Py_file_input);
    r = PyEval_EvalCode(code, names, names);
    Py_XDECREF(r);
    fn = PyDict_GetItemString(names, "walk");
    for (size_t i = 0; i < json_array_size(list); i++) {
        PyObject *s = PyUnicode_FromString(json_string_value(json_array_get(list, i)));
        (void)PyList_Append(blocked, s);
        Py_DECREF(s);
    }
    pair = PyObject_CallFunction(fn, "OOOs", prelude ? prelude : Py_None, tree, blocked,
                                 json_string_value(json_object_get(rules, "patterns")));
    Py_DECREF(blocked);
    if (!pair)
        return -1;
    ret->findings = json_array();
    ret->risk = (int)PyLong_AsLong(PyTuple_GetItem(pair, 1));
    for (Py_ssize_t i = 0; i < PyList_Size(PyTuple_GetItem(pair, 0)); i++) {
        const char *name, *severity, *where;
        int line, column;
        if (!PyArg_ParseTuple(PyList_GetItem(PyTuple_GetItem(pair, 0), i), "siisz", &name, &line,
                              &column, &severity, &where))
            return -1;
        json_t *f = json_pack("{s:s,s:s,s:s,s:i,s:i,s:s,s:s}", "rule",
                              strcmp(severity, "error") == 0 ? "import" : "eval", "severity",
                              severity, "message", "not allowed here", "line", line, "column",
                              column, "name", name, "remedy", "do without");
        if (where)
            json_object_set_new(f, "file", json_string(where));
        json_array_append_new(ret->findings, f);
        ret->rejected |= strcmp(severity, "error") == 0;
    }
    Py_DECREF(pair);
    Py_DECREF(names);
    return 0;
}
