/*
 * How a guest runs a request.
 *
 * The code is parsed by CPython into a tree, the tree is checked, the last expression is split off
 * it, and both parts are compiled from it: what was checked is what runs. If the engine said so, it
 * waits there until it is let go. It runs in __main__, whose names are the program's alone. Then
 * comes what every Python program does at its end (threads joined, atexit, streams flushed), and
 * one FRAME_DONE.
 *
 * Nothing here protects anything: the code that runs can change all of it. The kernel holds the
 * box, and the engine believes none of what it is told.
 */
#include "python/guest.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "python/check.h"
#include "python/display.h"
#include "python/protocol.h"
#include "python/tools.h"
#include "python/value.h"
#include "python/verdict.h"
#include "runtime_py.h"
#include "sandbox/box.h"
#include "shell/become.h"

enum {
    ONLY_AST = 0x400,
    TOP_LEVEL_AWAIT = 0x2000,
    FUTURE_MASK = 0x1ff0000, /* the __future__ features, which the split must not lose */
    CO_IS_COROUTINE = 0x80,
    VALUE_MAX = 1 << 20,
    REPR_MAX = 64 << 10,
    MESSAGE_MAX = 16 << 10,
    TRACEBACK_MAX = 64 << 10,
};

/* The first tree of an interpreter is dear: it makes a type for each kind of node. */
static bool has_made_tree;

/* The compiled runtime's namespace; made once in the zygote, inherited by every guest. */
static PyObject *runtime;

struct guest {
    int chan;    /* where it hears from the engine, until the program runs */
    int tell_fd; /* where it answers */
    json_t *request;
    PyObject *filename; /* str */
    PyObject *names;    /* borrowed: the dictionary of __main__ */
    PyObject *prelude;  /* its tree, then its code; or NULL */
    PyObject *body;     /* code of all but the last expression, or NULL */
    PyObject *last;     /* code of the last expression, or NULL */
    struct verdict verdict;
    json_t *answer;
    int exit_code;
    uint64_t token; /* zero once the program runs */
};

/* ---- small things ---- */

/* NULL when the extension's own set-up is broken; then there is a Python exception. */
PyObject *guest_runtime(const char *name)
{
    PyObject *code, *result;

    if (!runtime) {
        runtime = PyDict_New();
        if (!runtime || PyDict_SetItemString(runtime, "__builtins__", PyEval_GetBuiltins()) < 0)
            return NULL;
        code = Py_CompileString(runtime_text, "<glovebox>", Py_file_input);
        if (!code)
            return NULL;
        result = PyEval_EvalCode(code, runtime, runtime);
        Py_DECREF(code);
        if (!result)
            return NULL;
        Py_DECREF(result);
    }
    return PyDict_GetItemString(runtime, name);
}

int guest_compile_runtime(void)
{
    return guest_runtime("finish") && display_compile() == 0 && tools_compile() == 0 &&
                   check_prepare() == 0
               ? 0
               : -1;
}

static PyObject *module_attr(const char *module, const char *name)
{
    PyObject *m = PyImport_ImportModule(module);
    PyObject *attr = m ? PyObject_GetAttrString(m, name) : NULL;

    Py_XDECREF(m);
    return attr;
}

/* compile(source, filename, mode, flags, True); source is text or a tree. */
static PyObject *compile_any(PyObject *source, PyObject *filename, const char *mode, long flags)
{
    PyObject *fn = module_attr("builtins", "compile");
    PyObject *out =
        fn ? PyObject_CallFunction(fn, "OOslO", source, filename, mode, flags, Py_True) : NULL;
    Py_XDECREF(fn);
    return out;
}

static long code_flags(PyObject *code)
{
    PyObject *flags = PyObject_GetAttrString(code, "co_flags");
    long n = flags ? PyLong_AsLong(flags) : 0;

    Py_XDECREF(flags);
    return n;
}

static const char *request_text(const struct guest *g, const char *key)
{
    return json_string_value(json_object_get(g->request, key));
}

/* ---- parse, check and compile ---- */

/* The code without the byte-order mark that some editors put in front. */
static PyObject *source_text(const char *text, size_t len)
{
    size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    return PyUnicode_FromStringAndSize(text + mark, (Py_ssize_t)(len - mark));
}

/* If the tree's last statement is an expression, take it off and return it as a tree of its own;
 * else NULL (without an exception, unless something broke). */
static PyObject *split_last(PyObject *tree)
{
    PyObject *body = PyObject_GetAttrString(tree, "body");
    PyObject *expr_type = module_attr("_ast", "Expr"), *make = module_attr("_ast", "Expression");
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
    Py_XDECREF(make);
    Py_XDECREF(expr_type);
    Py_XDECREF(body);
    return split;
}

PyObject *guest_parse(PyObject *source, PyObject *filename)
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
    PyObject *tree = guest_parse(source, g->filename), *last = NULL;

    has_made_tree = true;
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

/* What was found wrong, if anything, is in the verdict. */
static void check_program(struct guest *g, PyObject *source)
{
    const json_t *prelude = json_object_get(g->request, "prelude");
    PyObject *text =
        prelude ? source_text(json_string_value(prelude), json_string_length(prelude)) : NULL;
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

/* ---- two small things that every program has ---- */

static void flush(const char *stream)
{
    PyObject *file = PySys_GetObject(stream);
    PyObject *r = file && file != Py_None ? PyObject_CallMethod(file, "flush", NULL) : NULL;

    Py_XDECREF(r);
    PyErr_Clear();
}

/* The time is up: what was printed without a newline is written now. */
static PyObject *last_words(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    flush("stdout");
    flush("stderr");
    Py_INCREF(Py_None);
    return Py_None;
}

/* A loader whose get_source() gives the program's text: tracebacks, inspect and linecache find it
 * that way, though it is in no file. */
static PyObject *get_source(PyObject *self, PyObject *args)
{
    (void)args;
    Py_INCREF(self);
    return self;
}

static PyMethodDef last_words_def = { "last_words", last_words, METH_VARARGS, NULL };
static PyMethodDef get_source_def = { "get_source", get_source, METH_VARARGS, NULL };

static void listen_for_the_end(void)
{
    PyObject *set = module_attr("_signal", "signal");
    PyObject *handler = PyCFunction_New(&last_words_def, NULL);
    PyObject *r =
        set && handler ? PyObject_CallFunction(set, "iO", BOX_LAST_WORDS_SIGNAL, handler) : NULL;

    Py_XDECREF(r);
    Py_XDECREF(handler);
    Py_XDECREF(set);
    PyErr_Clear();
}

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

/* ---- the namespace ---- */

static int set_text(PyObject *dict, const char *key, const char *text)
{
    PyObject *value = PyUnicode_FromString(text);
    int r = value ? PyDict_SetItemString(dict, key, value) : -1;

    Py_XDECREF(value);
    return r;
}

/* __main__ as a new program finds it: none of the names that started the zygote. */
static PyObject *fresh_main(PyObject *source)
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

/* A program that came from a file finds itself in the workspace. */
static int set_file(const struct guest *g, const char *filename)
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

/* Modules in the workspace can be imported. */
static void add_workspace(void)
{
    PyObject *path = PySys_GetObject("path"), *here = PyUnicode_FromString("");

    if (path && here)
        (void)PyList_Insert(path, 0, here);
    Py_XDECREF(here);
    PyErr_Clear();
}

/* Under strict nothing comes from the workspace: what lies there was not checked, and the program
 * could write it itself and then import it under an allowed name. */
static void drop_workspace(const struct guest *g)
{
    const char *policy =
        json_string_value(json_object_get(json_object_get(g->request, "check"), "policy"));
    PyObject *path = PySys_GetObject("path");

    if (policy && strcmp(policy, "strict") == 0 && path)
        (void)PyList_SetSlice(path, 0, 1, NULL); /* add_workspace() put it there */
    PyErr_Clear();
}

static int set_environment(const struct guest *g)
{
    json_t *env = json_object_get(g->request, "env");
    PyObject *environ;
    int r = 0;

    if (json_object_size(env) == 0)
        return 0;
    environ = module_attr("os", "environ");
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

/* A request may ask for less than the box was made with. */
static void lower_rlimits(const struct guest *g)
{
    json_t *limits = json_object_get(g->request, "rlimits");

    for (size_t i = 0; i < json_array_size(limits); i++) {
        json_t *pair = json_array_get(limits, i);
        __rlimit_resource_t what = (__rlimit_resource_t)json_integer_value(json_array_get(pair, 0));
        rlim_t value = (rlim_t)json_integer_value(json_array_get(pair, 1));
        struct rlimit limit = { .rlim_cur = value, .rlim_max = value };

        if (what == RLIMIT_CPU)
            limit.rlim_max++; /* SIGXCPU first, so that the result can name the limit */
        (void)setrlimit(what, &limit);
    }
}

/* Libraries that a fork does not reseed by itself, where the zygote had loaded them. */
static void reseed(void)
{
    PyObject *modules = PySys_GetObject("modules");
    PyObject *numpy = modules ? PyDict_GetItemString(modules, "numpy.random") : NULL;
    PyObject *r = numpy ? PyObject_CallMethod(numpy, "seed", NULL) : NULL;

    Py_XDECREF(r);
    PyErr_Clear();
}

/* ---- running ---- */

/* New reference to the value of the last expression, None when there is none; NULL with an
 * exception. */
static PyObject *run_pieces(const struct guest *g)
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

static int run_prelude(const struct guest *g)
{
    PyObject *value = g->prelude ? PyEval_EvalCode(g->prelude, g->names, g->names) : NULL;

    Py_XDECREF(value);
    return !g->prelude || value ? 0 : -1;
}

/* As the engine will count them, to see whether it would read so much. */
static size_t count_separators(const json_t *json)
{
    char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
    size_t n = text ? json_count_items(text, strlen(text)) : 0;

    free(text);
    return n;
}

static void answer_value(struct guest *g, PyObject *value)
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

static void answer_exception(struct guest *g)
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

static void answer_exit(struct guest *g)
{
    PyObject *exc = take_exception();
    PyObject *fn = guest_runtime("exit_code");
    PyObject *code = fn && exc ? PyObject_CallFunctionObjArgs(fn, exc, NULL) : NULL;

    g->exit_code = code ? (int)PyLong_AsLong(code) : 1;
    PyErr_Clear();
    Py_XDECREF(code);
    Py_XDECREF(exc);
}

static Py_ssize_t attr_size(PyObject *module, const char *name)
{
    PyObject *attr = PyObject_GetAttrString(module, name);
    Py_ssize_t n = attr ? PyObject_Size(attr) : -1;

    Py_XDECREF(attr);
    PyErr_Clear();
    return n;
}

/* Is there anything to do at the program's end? Mostly not, and doing nothing the long way costs
 * as much as running a small program: the only callback is logging's, which has no handlers. */
static bool has_end_work(void)
{
    PyObject *modules = PySys_GetObject("modules");
    PyObject *threading = PyDict_GetItemString(modules, "threading");
    PyObject *logging = PyDict_GetItemString(modules, "logging");
    PyObject *atexit = PyDict_GetItemString(modules, "atexit");
    PyObject *n = atexit ? PyObject_CallMethod(atexit, "_ncallbacks", NULL) : NULL;
    long callbacks = n ? PyLong_AsLong(n) : 0;

    Py_XDECREF(n);
    PyErr_Clear();
    if (threading &&
        (attr_size(threading, "_active") != 1 || attr_size(threading, "_threading_atexits") != 0))
        return true;
    return callbacks != (logging ? 1 : 0) || (logging && attr_size(logging, "_handlerList") != 0);
}

static void finish(void)
{
    PyObject *fn, *r;

    if (has_end_work()) {
        fn = guest_runtime("finish");
        r = fn ? PyObject_CallFunctionObjArgs(fn, NULL) : NULL;
        Py_XDECREF(r);
        if (PyErr_Occurred())
            PyErr_WriteUnraisable(NULL);
    }
    flush("stdout");
    flush("stderr");
}

static void run_program(struct guest *g)
{
    PyObject *value = NULL;

    if (run_prelude(g) == 0)
        value = run_pieces(g);
    if (value && g->last) {
        answer_value(g, value);
        display_value(value);
    }
    if (!value && PyErr_ExceptionMatches(PyExc_SystemExit))
        answer_exit(g);
    else if (!value)
        answer_exception(g);
    display_figures();
    Py_XDECREF(value);
}

/* ---- the channel ---- */

static json_t *frame_read(int chan, uint64_t *ret_token)
{
    struct frame head;
    char *text = NULL;
    json_t *json = NULL;
    int in = -1;
    size_t n = 1;

    if (fd_recv(chan, &head, sizeof(head), &in, &n) != (ssize_t)sizeof(head) ||
        head.kind != FRAME_RUN)
        return NULL;
    if (n == 1 && in >= 0) { /* what the program reads as standard input */
        (void)dup2(in, 0);
        (void)close(in);
    }
    *ret_token = head.token;
    explicit_bzero(&head.token, sizeof(head.token));
    text = malloc(head.len);
    if (text && fd_read_all(chan, text, head.len) == 0)
        json = json_loadb(text, head.len, JSON_ALLOW_NUL, NULL);
    free(text);
    return json;
}

void guest_send(int fd, enum frame_kind kind, const json_t *json, const uint64_t *token)
{
    size_t len = json_dumpb(json, NULL, 0, JSON_COMPACT);
    struct frame *frame = malloc(sizeof(*frame) + len);

    if (!frame)
        return; /* the engine will see an exit without an answer */
    frame->kind = kind;
    frame->len = (uint32_t)len;
    frame->token = *token;
    (void)json_dumpb(json, (char *)(frame + 1), len, JSON_COMPACT);
    (void)fd_write_all(fd, frame, sizeof(*frame) + len);
    explicit_bzero(frame, sizeof(*frame));
    free(frame);
}

/* ---- a request ---- */

/* The check's last word before the program runs, if it has one: what it found. The engine then says
 * when to go on, at once or when it has thought about it: until it has read the word, the program
 * could find it in the pipe, with the token. Nobody can say anything in the check's name after
 * this. */
static void take_leave(struct guest *g)
{
    bool has_word = json_is_true(json_object_get(g->request, "hold")) || g->verdict.findings ||
                    g->verdict.risk != 0;
    struct frame head = { 0 };

    if (has_word) {
        json_t *found = json_object();
        verdict_answer(&g->verdict, found);
        json_object_set(found, "check_us", json_object_get(g->answer, "check_us"));
        guest_send(g->tell_fd, FRAME_CHECKED, found, &g->token);
        json_decref(found);
    }
    explicit_bzero(&g->token, sizeof(g->token)); /* order: before any of the program runs */
    if (has_word && (fd_read_all(g->chan, &head, sizeof(head)) < 0 || head.kind != FRAME_GO))
        _exit(1); /* the engine is gone */
    if (g->chan >= 0 && !json_object_get(g->request, "tools"))
        (void)close(g->chan); /* there is but one request */
    verdict_done(&g->verdict);
}

static void run_request(struct guest *g)
{
    json_t *code = json_object_get(g->request, "code");
    const char *filename = request_text(g, "filename");
    PyObject *source = source_text(json_string_value(code), json_string_length(code));
    int64_t began = clock_us();

    g->filename = PyUnicode_FromString(filename ? filename : "main.py");
    g->names = source && g->filename ? fresh_main(source) : NULL;
    display_begin(g->tell_fd);
    if (!g->names || (filename && set_file(g, filename) < 0) ||
        tools_install(g->names, g->request, g->chan, g->tell_fd) < 0 || bind_inputs(g) < 0 ||
        set_argv(g) < 0 || set_environment(g) < 0) {
        explicit_bzero(&g->token, sizeof(g->token)); /* a failure of ours is no verdict */
        answer_exception(g);
        return;
    }
    verdict_encoding(&g->verdict, json_string_value(code), json_string_length(code));
    if (!g->verdict.is_rejected)
        check_program(g, source);
    json_object_set_new(g->answer, "check_us", json_integer(clock_us() - began));
    if (g->verdict.is_rejected || json_is_true(json_object_get(g->request, "check_only"))) {
        verdict_answer(&g->verdict, g->answer);
        g->exit_code = g->verdict.is_rejected ? 126 : 0;
        return; /* with the token: it is the check's word */
    }
    drop_workspace(g);
    take_leave(g);
    run_program(g);
}

/* ---- a shell ---- */

/* It never came to be one, and that is our own word: the token is still ours. */
static _Noreturn void fail_shell(struct guest *g, const struct gb_err *err)
{
    json_object_set_new(g->answer, "failed",
                        json_pack("{s:i,s:o,s:o}", "code", (int)err->code, "message",
                                  json_lossy(err->msg), "hint", json_lossy(err->hint)));
    guest_send(g->tell_fd, FRAME_DONE, g->answer, &g->token);
    _exit(125);
}

/* The request of this kind is no program for the interpreter, which is left behind. */
static _Noreturn void become_shell(struct guest *g)
{
    struct shell_ready ready;
    struct gb_err err = { 0 };

    if (shell_prepare(g->request, &ready, &err) < 0)
        fail_shell(g, &err);
    take_leave(g);
    shell_go(&ready);
}

static bool is_shell(const struct guest *g)
{
    return strcmp(json_string_at(g->request, "kind", ""), "shell") == 0;
}

/* Run something like a request, so that the pages that every run writes to are copied now, while
 * nobody waits. */
static void warm_up(void)
{
    struct guest g = { .chan = -1, .tell_fd = -1, .answer = json_object() };
    char *text = NULL;

    g.request = json_pack("{s:s,s:s,s:{s:i},s:[s],s:{s:s,s:s}}", "code",
                          "def f(x):\n    return str(x) + 'x'\nw = [f(i) for i in range(20)]\n"
                          "len(w)",
                          "filename", "warm.py", "inputs", "a", 1, "argv", "warm.py", "check",
                          "policy", "standard", "patterns", "warn");
    run_request(&g);
    (void)has_end_work();
    flush("stdout");
    flush("stderr");
    text = json_dumps(g.answer, JSON_COMPACT);
    free(text);
    json_decref(g.answer);
    json_decref(g.request);
    Py_CLEAR(g.body);
    Py_CLEAR(g.last);
    Py_CLEAR(g.filename);
    PyErr_Clear();
}

/* Taking a whole interpreter's memory apart costs as much as running a small program in it. A
 * process that shares the memory and does nothing lets this one exit without doing so; init kills
 * it with the rest of the box, and by then the answer is out. */
static int undertake(void *data)
{
    (void)data;
    while (pause() < 0)
        ;
    return 0;
}

static _Noreturn void leave(int status)
{
    static _Alignas(16) char stack[8192];

    (void)clone(undertake, stack + sizeof(stack), CLONE_VM | CLONE_PARENT | SIGCHLD, NULL);
    _exit(status); /* without it, if it could not be made: only slower */
}

static bool is_readable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, 0) > 0;
}

void guest_prepare(const struct box_fds *fds)
{
    (void)fds;
    PyOS_AfterFork_Child();
    reseed();
    listen_for_the_end();
    /* What a cold zygote left to us: there is time while the box is built. */
    if (!has_made_tree && (guest_run_bare(FIRST_TREE) < 0 || check_prepare() < 0))
        PyErr_Clear();
}

void guest_main(const struct box_fds *fds)
{
    struct guest g = { .chan = fds->chan, .tell_fd = fds->answer };

    add_workspace();
    bool is_awaited = is_readable(fds->chan);

    if (!is_awaited)
        warm_up();
    box_ready(fds->ctl);
    g.request = frame_read(fds->chan, &g.token);
    g.answer = json_object();
    if (g.request) {
        lower_rlimits(&g);
        if (is_shell(&g))
            become_shell(&g);
        run_request(&g);
        finish();
        tools_end();
    } else if (g.token != 0) { /* there is a request, and no room for it */
        PyErr_NoMemory();
        g.filename = PyUnicode_FromString("main.py");
        g.token = 0;
        answer_exception(&g);
    } else {
        _exit(1); /* the engine changed its mind, or is gone */
    }
    json_object_set_new(g.answer, "exit_code", json_integer(g.exit_code));
    guest_send(fds->answer, FRAME_DONE, g.answer, &g.token);
    if (is_awaited) /* the engine is busy, or starts for this run alone: the least work counts */
        _exit(g.exit_code);
    leave(g.exit_code);
}

int guest_run_bare(const char *code)
{
    struct guest g = { .filename = PyUnicode_FromString("main.py") };
    PyObject *source = PyUnicode_FromString(code), *value = NULL;

    g.names = PyDict_New();
    if (source && g.names &&
        PyDict_SetItemString(g.names, "__builtins__", PyEval_GetBuiltins()) == 0 &&
        compile_program(&g, source) == 0)
        value = run_pieces(&g);
    Py_XDECREF(g.body);
    Py_XDECREF(g.last);
    Py_XDECREF(g.names);
    Py_XDECREF(g.filename);
    Py_XDECREF(source);
    Py_XDECREF(value);
    return value ? 0 : -1;
}
