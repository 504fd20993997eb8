/*
 * Programs of any kind go through CPython's parser and then through the checker, under strict and
 * under standard. Bytes before the first NUL, if there is one, are a prelude.
 *
 * A crash, a hang, a leak, a sanitizer's report, an answer that contradicts itself: each is a bug.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "python/check.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

static PyObject *compile_fn;
static json_t *strict, *standard;

/* The interpreter keeps memory for as long as it lives. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libpython\nleak:Py_\nleak:PyObject_\n";
}

static json_t *words(const char *text)
{
    json_t *list = json_array();

    for (; *text; text += strspn(text, " ")) {
        size_t len = strcspn(text, " ");
        json_array_append_new(list, json_stringn(text, len));
        text += len;
    }
    return list;
}

static void make_rules(void)
{
    strict = json_pack(
        "{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "policy", "strict", "patterns", "block",
        "allow_imports",
        words(
            "asyncio pathlib json math datetime time itertools functools collections typing "
            "dataclasses decimal fractions re base64 hashlib uuid random os operator urllib.parse"),
        "block_imports", words("sys subprocess socket urllib http importlib builtins"),
        "allow_builtins",
        words("print len str int float bool list dict tuple set range enumerate zip map filter "
              "sorted sum min max isinstance type iter next getattr"),
        "block_builtins", words("eval exec compile __import__ globals open setattr call_tool"),
        "allow_os_attrs", words("environ path"), "tools", words("search"));
    standard =
        json_pack("{s:s,s:s,s:n,s:o,s:n,s:o,s:n,s:[]}", "policy", "standard", "patterns", "warn",
                  "allow_imports", "block_imports", words("socket ctypes"), "allow_builtins",
                  "block_builtins", words("breakpoint"), "allow_os_attrs", "tools");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    Py_InitializeEx(0);
    /* Loaded, as a warm zygote has them; and what is not loaded is judged by name. */
    if (PyRun_SimpleString("import warnings, asyncio, json, random, re, dataclasses\n"
                           "warnings.simplefilter('ignore')\n") != 0 ||
        check_prepare() < 0)
        abort();
    PyObject *builtins = PyImport_ImportModule("builtins");
    compile_fn = PyObject_GetAttrString(builtins, "compile");
    Py_DECREF(builtins);
    make_rules();
    return compile_fn ? 0 : 1;
}

static PyObject *parse(const char *text, size_t len)
{
    PyObject *source = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");
    PyObject *tree = source ? PyObject_CallFunction(compile_fn, "OssiO", source, "fuzz.py", "exec",
                                                    0x2400, Py_True)
                            : NULL;
    Py_XDECREF(source);
    PyErr_Clear();
    return tree;
}

static void judge(PyObject *prelude, PyObject *tree, const json_t *rules, PyObject *source)
{
    struct check_result result;
    bool has_error = false;
    json_int_t line = 0;

    if (check_tree(prelude, tree, rules, &result) < 0)
        abort(); /* it must be able to judge whatever parses */
    check_columns(result.findings, source);
    for (size_t i = 0; i < json_array_size(result.findings); i++) {
        json_t *finding = json_array_get(result.findings, i);
        json_int_t here = json_integer_value(json_object_get(finding, "line"));

        has_error |= strcmp(json_string_value(json_object_get(finding, "severity")), "error") == 0;
        if (json_is_integer(json_object_get(finding, "line")) && here < line)
            abort();
        line = here;
        if (json_string_length(json_object_get(finding, "message")) == 0)
            abort();
    }
    if (has_error != result.rejected || json_array_size(result.findings) > 201 || result.risk < 0)
        abort();
    free(json_text(result.findings));
    json_decref(result.findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *cut = size ? memchr(text, '\0', size) : NULL;
    size_t before = cut ? (size_t)(cut - text) : 0;
    size_t from = cut ? before + 1 : 0;
    PyObject *tree = parse(text + from, size - from);
    PyObject *prelude = tree && cut ? parse(text, before) : NULL;
    PyObject *source =
        tree ? PyUnicode_DecodeUTF8(text + from, (Py_ssize_t)(size - from), "replace") : NULL;

    if (source) {
        judge(prelude, tree, strict, source);
        judge(prelude, tree, standard, source);
    }
    Py_XDECREF(source);
    Py_XDECREF(prelude);
    Py_XDECREF(tree);
    PyErr_Clear();
    return 0;
}
