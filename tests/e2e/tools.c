/*
 * An embedding program with tools. test_tools_library.py builds and runs it:
 *   tools CONFIG REQUEST...
 * starts all requests at once and prints a line for everything that happens: call, cancelled,
 * late-answer, result, then what is left. What a tool does is in its name. A REQUEST after a '?' is
 * not run, but asked for its instructions, NULL if nothing follows.
 */
#include <errno.h>
#include <glovebox.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum {
    PENDING_MAX = 20000
};

/* Calls that are answered later. */
struct pending {
    struct gb_call *call;
    char args[64];
    long long due_ms; /* -1: when the program is over */
    bool is_cancelled;
};

static struct pending pending[PENDING_MAX];
static size_t n_pending;
static struct gb_engine *engine;
static bool is_quiet;

static long long now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void say(const char *what, const char *name, const char *text)
{
    if (!is_quiet)
        printf("%s %s %s\n", what, name, text);
    (void)fflush(stdout);
}

static void keep(struct gb_call *call, const char *args, long long due_ms)
{
    struct pending *p = &pending[n_pending++];

    if (n_pending >= PENDING_MAX)
        abort();
    *p = (struct pending){ .call = call, .due_ms = due_ms };
    (void)snprintf(p->args, sizeof(p->args), "%s", args);
}

/* ---- tools ---- */

static void repeat(struct gb_call *call, const char *open, const char *close, size_t n)
{
    char *text = malloc(2 * n + 2), *at = text;

    for (size_t i = 0; i < n; i++)
        *at++ = open[0];
    for (size_t i = 0; i < n && close[0]; i++)
        *at++ = close[0];
    *at = '\0';
    printf("answered %d\n", gb_tool_result(call, text));
    free(text);
}

static void do_echo(struct gb_call *call, const char *args)
{
    (void)gb_tool_result(call, args);
}

static void do_none(struct gb_call *call, const char *args)
{
    (void)args;
    (void)gb_tool_result(call, NULL);
}

static void do_later(struct gb_call *call, const char *args)
{
    keep(call, args, now_ms() + 100);
}

static void do_hang(struct gb_call *call, const char *args)
{
    keep(call, args, -1);
}

static void do_fail(struct gb_call *call, const char *args)
{
    (void)args;
    (void)gb_tool_error(call, "KeyError", "no such customer");
}

static void do_odd_error(struct gb_call *call, const char *args)
{
    (void)args;
    (void)gb_tool_error(call, "\xff\xfe", NULL);
}

static void do_deep(struct gb_call *call, const char *args)
{
    (void)args;
    repeat(call, "[", "]", 100000);
}

static void do_deepest(struct gb_call *call, const char *args)
{
    (void)args;
    repeat(call, "[", "]", 99);
}

static void do_digits(struct gb_call *call, const char *args)
{
    (void)args;
    repeat(call, "9", "", 1000);
}

static void do_surrogate(struct gb_call *call, const char *args)
{
    (void)args;
    printf("answered %d\n", gb_tool_result(call, "\"\\ud800\""));
}

static void do_nul(struct gb_call *call, const char *args)
{
    (void)args;
    printf("answered %d\n", gb_tool_result(call, "\"a\\u0000b\""));
}

static void do_nul_key(struct gb_call *call, const char *args)
{
    (void)args;
    printf("answered %d\n", gb_tool_result(call, "{\"a\\u0000b\": 1}"));
}

static void do_nonsense(struct gb_call *call, const char *args)
{
    (void)args;
    printf("answered %d\n", gb_tool_result(call, "{\"a\": 1"));
}

static void do_not_utf8(struct gb_call *call, const char *args)
{
    (void)args;
    printf("answered %d\n", gb_tool_result(call, "\"\xff\""));
}

/* 100 MB, and as much as is allowed. */
static void do_huge(struct gb_call *call, const char *args)
{
    (void)args;
    repeat(call, " ", "", 100000000);
}

static void do_large(struct gb_call *call, const char *args)
{
    size_t n = 8000000;
    char *text = malloc(n + 3);

    (void)args;
    memset(text, 'x', n + 2);
    text[0] = text[n + 1] = '"';
    text[n + 2] = '\0';
    (void)gb_tool_result(call, text);
    free(text);
}

static void do_items(struct gb_call *call, const char *args)
{
    (void)args;
    repeat(call, ",", "", 3000000);
}

/* The registry changes while a program runs. */
static void do_change(struct gb_call *call, const char *args)
{
    (void)args;
    printf("removed %d\n", gb_tool_remove(engine, "echo", NULL));
    printf("added %d\n", gb_tool_add(engine, "{\"name\": \"fresh\"}", NULL));
    printf("replaced %d\n",
           gb_tool_add(engine, "{\"name\": \"none\", \"approval\": \"always\"}", NULL));
    (void)gb_tool_result(call, "true");
}

static const struct {
    const char *name;
    void (*run)(struct gb_call *call, const char *args);
} tools[] = {
    { "echo", do_echo },           { "none", do_none },         { "later", do_later },
    { "hang", do_hang },           { "fail", do_fail },         { "odd_error", do_odd_error },
    { "deep", do_deep },           { "deepest", do_deepest },   { "digits", do_digits },
    { "surrogate", do_surrogate }, { "nul", do_nul },           { "nul_key", do_nul_key },
    { "nonsense", do_nonsense },   { "not_utf8", do_not_utf8 }, { "huge", do_huge },
    { "large", do_large },         { "items", do_items },       { "change", do_change },
};

static void on_tool(void *data, struct gb_job *job, struct gb_call *call, const char *name,
                    const char *args)
{
    (void)data;
    (void)job;
    say("call", name, args);
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        if (strcmp(tools[i].name, name) == 0) {
            tools[i].run(call, args);
            return;
        }
    }
    (void)gb_tool_error(call, "NotImplementedError", name);
}

static void on_cancelled(void *data, struct gb_job *job, struct gb_call *call)
{
    (void)data;
    (void)job;
    for (size_t i = 0; i < n_pending; i++) {
        if (pending[i].call == call) {
            pending[i].is_cancelled = true;
            say("cancelled", "", pending[i].args);
        }
    }
}

/* Answers what is due; what was cancelled too, as it must be. */
static void answer_pending(bool all)
{
    for (size_t i = 0; i < n_pending;) {
        struct pending p = pending[i];

        if (!all && !(p.due_ms >= 0 && p.due_ms <= now_ms())) {
            i++;
            continue;
        }
        pending[i] = pending[--n_pending];
        if (gb_tool_result(p.call, p.args) < 0)
            say("late-answer", "", p.is_cancelled ? "cancelled" : "refused");
    }
}

/* ---- the program ---- */

static void on_done(void *data, struct gb_job *job, const char *result)
{
    (void)data;
    (void)job;
    printf("result %s\n", result);
    (void)fflush(stdout);
}

static void on_approve(void *data, struct gb_job *job, const char *question)
{
    (void)data;
    printf("question %s\n", question);
    (void)gb_approve(job, 1, NULL);
}

static void instruct(const char *request)
{
    char *text = gb_instructions(engine, *request ? request : NULL);

    printf("%s\n", text ? text : "none");
    free(text);
}

int main(int argc, char **argv)
{
    struct gb_callbacks callbacks = { .size = sizeof(callbacks),
                                      .done = on_done,
                                      .approve = on_approve,
                                      .tool = on_tool,
                                      .tool_cancelled = on_cancelled };
    char *error = NULL, *list;

    if (argc < 3)
        return 2;
    is_quiet = getenv("QUIET") != NULL;
    if (gb_engine_new(argv[1], &engine, &error) < 0) {
        printf("error %s\n", error);
        free(error);
        return 1;
    }
    for (int i = 2; i < argc; i++)
        if (argv[i][0] == '?')
            instruct(argv[i] + 1);
        else if (strcmp(argv[i], "--leave") == 0)
            while (n_pending == 0)
                (void)gb_step(engine, 100);
        else if (!gb_start(engine, argv[i], &callbacks))
            return 1;
    while (strcmp(argv[argc - 1], "--leave") != 0 && gb_step(engine, 10) > 0)
        answer_pending(false);
    list = gb_tools(engine);
    printf("tools %s\n", list);
    free(list);
    if (strcmp(argv[argc - 1], "--leave") != 0)
        answer_pending(true);
    gb_engine_free(engine); /* with calls that nobody will answer, if it is left */
    printf("no-children %d\n", waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    return 0;
}
