/*
 * How a guest runs a request.
 *
 * The code is parsed by CPython into a tree, the tree is checked, the last expression is split off
 * it, and both parts are compiled from it: what was checked is what runs. If the engine said so, it
 * waits there until it is let go. It runs in __main__, whose names are the program's alone. Then
 * comes the end of every Python program (finish.c), and one FRAME_DONE.
 *
 * Nothing here protects anything: the code that runs can change all of it. The kernel holds the
 * box, and the engine believes none of what it is told.
 */
#include "python/guest.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "python/afterfork.h"
#include "python/answer.h"
#include "python/check.h"
#include "python/display.h"
#include "python/finish.h"
#include "python/protocol.h"
#include "python/session.h"
#include "python/space.h"
#include "python/tools.h"
#include "runtime_py.h"
#include "sandbox/box.h"
#include "shell/become.h"

/* The compiled runtime's namespace; made once in the zygote, inherited by every guest. */
static PyObject *runtime;

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

static void listen_for_the_end(void);

int guest_compile_runtime(void)
{
    listen_for_the_end();
    finish_prepare();
    return guest_runtime("finish") && display_compile() == 0 && tools_compile() == 0 &&
                   check_prepare() == 0
               ? 0
               : -1;
}

static const char *request_text(const struct guest *g, const char *key)
{
    return json_string_value(json_object_get(g->request, key));
}

/* ---- the end of its time ---- */

/* The time is up: what was printed without a newline is written now. */
static PyObject *last_words(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    finish_flush();
    Py_INCREF(Py_None);
    return Py_None;
}

static PyMethodDef last_words_def = { "last_words", last_words, METH_VARARGS, NULL };

static void listen_for_the_end(void)
{
    static bool is_listening; /* a guest inherits it of a warm zygote */

    if (is_listening)
        return;
    is_listening = true;
    PyObject *set = program_attr("_signal", "signal");
    PyObject *handler = PyCFunction_New(&last_words_def, NULL);
    PyObject *r =
        set && handler ? PyObject_CallFunction(set, "iO", BOX_LAST_WORDS_SIGNAL, handler) : NULL;

    Py_XDECREF(r);
    Py_XDECREF(handler);
    Py_XDECREF(set);
    PyErr_Clear();
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

void guest_reseed(void)
{
    PyObject *modules = PySys_GetObject("modules");
    PyObject *numpy = modules ? PyDict_GetItemString(modules, "numpy.random") : NULL;
    PyObject *r = numpy ? PyObject_CallMethod(numpy, "seed", NULL) : NULL;

    Py_XDECREF(r);
    PyErr_Clear();
}

/* ---- running ---- */

/* As the interactive interpreter shows it. */
static void echo(PyObject *value)
{
    PyObject *show = PySys_GetObject("displayhook");
    PyObject *r = show ? PyObject_CallFunctionObjArgs(show, value, NULL) : NULL;

    Py_XDECREF(r);
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(show);
}

static void run_program(struct guest *g)
{
    PyObject *value = NULL;

    if (program_run_prelude(g) == 0)
        value = program_run(g);
    if (value && g->last && json_is_true(json_object_get(g->request, "echo")) &&
        !display_is_rich(value)) /* which is displayed anyway, with its text */
        echo(value);
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

static int text_read(int chan, int file, char *text, size_t len)
{
    if (file < 0)
        return fd_read_all(chan, text, len);
    return pread(file, text, len, 0) == (ssize_t)len ? 0 : -1;
}

static json_t *request_read(const struct frame *head, int chan, int file)
{
    char *text = malloc(head->len);
    json_t *json = NULL;

    if (text && text_read(chan, file, text, head->len) == 0)
        json = json_loadb(text, head->len, JSON_ALLOW_NUL, NULL);
    free(text);
    return json;
}

/* With the request come, in this order: itself, where it is large; what a session's cell with tools
 * hears on; what the program reads as standard input. Or what a fork is to have. */
void guest_next_order(int chan, struct guest_order *ret)
{
    struct frame head;
    int fds[FORK_FDS] = { -1, -1, -1, -1 }, at = 0;
    size_t n = ARRAY_LEN(fds);
    auto_close int in = -1, file = -1;

    *ret = (struct guest_order){ .words = -1, .fork = { -1, -1, -1, -1 } };
    if (fd_recv(chan, &head, sizeof(head), fds, &n) != (ssize_t)sizeof(head) ||
        (head.kind != FRAME_RUN && head.kind != FRAME_RUN_FILE && head.kind != FRAME_FORK))
        return;
    ret->token = head.token;
    explicit_bzero(&head.token, sizeof(head.token));
    if (head.kind == FRAME_RUN_FILE)
        file = fds[at++];
    ret->request = request_read(&head, chan, file);
    if (head.kind == FRAME_FORK) {
        memcpy(ret->fork, fds, sizeof(fds));
        return;
    }
    if (json_object_get(ret->request, "session") && json_object_get(ret->request, "tools"))
        ret->words = fds[at++];
    in = fds[at];
    ret->has_stdin = in >= 0;
    if (in >= 0)
        (void)dup2(in, STDIN_FILENO);
}

struct frame *guest_frame(enum frame_kind kind, const json_t *json, const uint64_t *token)
{
    auto_free char *text = json_text(json);
    size_t len = text ? strlen(text) : 0;
    struct frame *frame = malloc(sizeof(*frame) + len);

    if (!frame || !text) {
        free(frame);
        return NULL;
    }
    *frame = (struct frame){ .kind = kind, .len = (uint32_t)len, .token = *token };
    memcpy(frame + 1, text, frame->len);
    return frame;
}

void guest_send(int fd, enum frame_kind kind, const json_t *json, const uint64_t *token)
{
    struct frame *frame = guest_frame(kind, json, token);

    if (!frame)
        return; /* the engine will see an exit without an answer */
    (void)fd_write_all(fd, frame, sizeof(*frame) + frame->len);
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
    PyObject *source = program_source(json_string_value(code), json_string_length(code));
    int64_t began = clock_us();

    g->filename = PyUnicode_FromString(filename ? filename : "main.py");
    g->names = source && g->filename ? space_fresh(source) : NULL;
    display_begin(g->tell_fd);
    if (!g->names || (filename && space_set_file(g, filename) < 0) ||
        tools_install(g->names, g->request, g->chan, g->tell_fd) < 0 || space_fill(g) < 0) {
        explicit_bzero(&g->token, sizeof(g->token)); /* a failure of ours is no verdict */
        answer_exception(g);
        return;
    }
    verdict_encoding(&g->verdict, json_string_value(code), json_string_length(code));
    if (!g->verdict.is_rejected)
        program_check(g, source);
    json_object_set_new(g->answer, "check_us", json_integer(clock_us() - began));
    if (g->verdict.is_rejected || json_is_true(json_object_get(g->request, "check_only"))) {
        verdict_answer(&g->verdict, g->answer);
        g->exit_code = g->verdict.is_rejected ? 126 : 0;
        return; /* with the token: it is the check's word */
    }
    space_drop_workspace(g);
    finish_begin();
    take_leave(g);
    run_program(g);
}

/* ---- cells of a session (session.c) ---- */

static int prepare_cell(struct guest *g, int words)
{
    space_choose_workspace(g->request);
    display_begin(g->tell_fd);
    return tools_install(g->names, g->request, words, g->tell_fd) < 0 ? -1 : space_fill(g);
}

/* What the check found is known, from a box of its own: what ran here before could say anything. */
json_t *guest_run_cell(const struct guest_order *order, int tell)
{
    struct guest g = {
        .chan = -1, .tell_fd = tell, .request = order->request, .answer = json_object()
    };
    json_t *code = json_object_get(g.request, "code");
    const char *filename = request_text(&g, "filename");
    PyObject *source = program_source(json_string_value(code), json_string_length(code));

    g.filename = PyUnicode_FromString(filename ? filename : "main.py");
    g.names = PyModule_GetDict(PyImport_AddModule("__main__"));
    if (source && g.filename && prepare_cell(&g, order->words) == 0)
        program_check(&g, source);
    if (g.body && !g.verdict.is_rejected)
        run_program(&g);
    else if (PyErr_Occurred())
        answer_exception(&g);
    else /* it was parsed before, by somebody else: then there is no memory for it here */
        json_object_set_new(g.answer, "error",
                            json_pack("{s:s,s:s,s:n,s:s}", "type", "SyntaxError", "message",
                                      "the session cannot compile the cell", "line", "traceback",
                                      ""));
    finish_cell();
    display_end();
    tools_end();
    json_object_set_new(g.answer, "exit_code", json_integer(g.exit_code));
    verdict_done(&g.verdict);
    Py_XDECREF(source);
    Py_XDECREF(g.filename);
    Py_XDECREF(g.prelude);
    Py_XDECREF(g.body);
    Py_XDECREF(g.last);
    PyErr_Clear();
    return g.answer;
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

void guest_warm_up(void)
{
    struct guest g = { .chan = -1, .tell_fd = -1, .answer = json_object() };
    char *text = NULL;

    g.request = json_pack("{s:s,s:s,s:{s:i},s:[s],s:{s:s,s:s}}", "code",
                          "def f(x):\n    return str(x) + 'x'\nw = [f(i) for i in range(20)]\n"
                          "len(w)",
                          "filename", "warm.py", "inputs", "a", 1, "argv", "warm.py", "check",
                          "policy", "standard", "patterns", "warn");
    run_request(&g);
    finish_warm_up();
    text = json_text(g.answer);
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
    afterfork_child();
    guest_reseed();
    listen_for_the_end();
    /* What a cold zygote left to us: there is time while the box is built. */
    if (check_prepare() < 0)
        PyErr_Clear();
}

void guest_main(const struct box_fds *fds)
{
    struct guest g = { .chan = fds->chan, .tell_fd = fds->answer };
    struct guest_order order;

    space_add_workspace();
    bool is_awaited = is_readable(fds->chan);

    if (!is_awaited)
        guest_warm_up();
    box_ready(fds->ctl);
    guest_next_order(fds->chan, &order);
    if (order.request && session_is(order.request))
        session_main(fds, &order);
    g.request = order.request;
    g.token = order.token;
    explicit_bzero(&order.token, sizeof(order.token));
    g.answer = json_object();
    if (g.request) {
        lower_rlimits(&g);
        if (is_shell(&g))
            become_shell(&g);
        run_request(&g);
        finish_program();
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
