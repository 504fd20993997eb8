/*
 * The library's side of `make bench`: does what the driver asks for, a line each, and answers
 * with a line of JSON. The driver decides what is compared with what, and when.
 *   warm N       calls that find the pool full, after a pause, as from a program that does other
 *                things in between: microseconds of each
 *   burst N      calls one after another: microseconds of each
 *   flow MS JOBS runs a second, in MS milliseconds, with JOBS of them in flight
 *   tools N      tool calls one after another, from inside one run: microseconds of each
 *   shell N      commands of one persistent shell, one after another: microseconds of each
 *   settle       boxes that wait, once the pool is full and what was over is gone
 */
#include <glovebox.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"

#define REQUEST "{\"code\": \"pass\"}"

enum {
    POOL = 2, /* the engine's default */
    PAUSE_US = 5000,
    SETTLE_MS = 100,
    PATIENCE_US = 20000000
};

/* A run that failed is quick, and would make fine numbers. */
static void need_ok(const char *result)
{
    if (!result || !strstr(result, "\"status\":\"ok\""))
        die("a run failed", result);
}

static void fill_pool(struct gb_engine *engine)
{
    int64_t until = now_us() + PATIENCE_US;

    while (gb_waiting(engine) < POOL) {
        if (now_us() > until)
            die("no boxes stand ready", NULL);
        (void)gb_step(engine, 10);
    }
}

static void pause_us(long us)
{
    struct timespec t = { .tv_nsec = us * 1000 };

    (void)nanosleep(&t, NULL);
}

static int64_t request_us(struct gb_engine *engine, const char *request)
{
    int64_t began = now_us(), took;
    char *result = gb_run(engine, request);

    took = now_us() - began;
    need_ok(result);
    free(result);
    return took;
}

static int64_t call_us(struct gb_engine *engine)
{
    return request_us(engine, REQUEST);
}

/* ---- orders ---- */

static void warm(struct gb_engine *engine, long count, long jobs)
{
    (void)jobs;
    printf("[");
    for (long i = 0; i < count; i++) {
        fill_pool(engine);
        pause_us(PAUSE_US);
        printf("%s%lld", i ? ", " : "", (long long)call_us(engine));
    }
    printf("]\n");
}

static void burst(struct gb_engine *engine, long count, long jobs)
{
    (void)jobs;
    printf("[");
    for (long i = 0; i < count; i++)
        printf("%s%lld", i ? ", " : "", (long long)call_us(engine));
    printf("]\n");
}

/* The shell is there before the first of them, and gone after the last. */
static void shell(struct gb_engine *engine, long count, long jobs)
{
    static const char command[] = "{\"kind\": \"shell\", \"session\": \"s\", \"command\": \":\"}";
    static const char close[] = "{\"kind\": \"session\", \"session\": \"s\", \"op\": \"close\"}";

    (void)jobs;
    (void)request_us(engine, command);
    printf("[");
    for (long i = 0; i < count; i++)
        printf("%s%lld", i ? ", " : "", (long long)request_us(engine, command));
    printf("]\n");
    (void)request_us(engine, close);
}

struct flow {
    struct gb_engine *engine;
    int64_t until;
    long runs;
};

static void begin_run(struct flow *f);

static void run_done(void *data, struct gb_job *job, const char *result)
{
    struct flow *f = data;

    (void)job;
    need_ok(result);
    if (now_us() >= f->until)
        return;
    f->runs++;
    begin_run(f);
}

static void begin_run(struct flow *f)
{
    struct gb_callbacks callbacks = { .size = sizeof(callbacks), .data = f, .done = run_done };

    if (!gb_start(f->engine, REQUEST, &callbacks))
        die("memory ran out", NULL);
}

static void flow(struct gb_engine *engine, long ms, long jobs)
{
    struct flow f = { .engine = engine, .until = now_us() + ms * 1000 };

    for (long i = 0; i < jobs; i++)
        begin_run(&f);
    while (gb_step(engine, -1) > 0)
        ;
    printf("%.3f\n", (double)f.runs / (double)ms * 1000);
}

/* ---- tool calls, timed by the program that makes them ---- */

#define CALLER                                                                                    \
    "{\"inputs\": {\"n\": %ld}, \"code\": \"from time import perf_counter_ns as now\\nus = []\\n" \
    "for i in range(n):\\n    began = now()\\n    ping(i=i)\\n    us.append((now() - began) / "   \
    "1000)"                                                                                       \
    "\\nus\"}"

static void answer(void *data, struct gb_job *job, struct gb_call *call, const char *name,
                   const char *args)
{
    (void)data;
    (void)job;
    (void)name;
    if (gb_tool_result(call, args) < 0)
        die("an answer was not delivered", args);
}

/* Prints what the program measured: the value of its result. */
static void tools_done(void *data, struct gb_job *job, const char *result)
{
    const char *value = strstr(result, "\"value\":["), *end = value ? strchr(value, ']') : NULL;

    (void)data;
    (void)job;
    need_ok(result);
    if (!end)
        die("a run without a value", result);
    printf("%.*s\n", (int)(end - value - 7), value + 8);
}

static void tools(struct gb_engine *engine, long count, long jobs)
{
    struct gb_callbacks callbacks = { .size = sizeof(callbacks),
                                      .done = tools_done,
                                      .tool = answer };
    char request[sizeof(CALLER) + 32];

    (void)jobs;
    (void)snprintf(request, sizeof(request), CALLER, count);
    if (gb_tools_set(engine,
                     "[{\"name\": \"ping\", \"parameters\": {\"properties\": {\"i\": "
                     "{\"type\": \"integer\"}}}}]",
                     NULL) < 0 ||
        !gb_start(engine, request, &callbacks))
        die("no tools", NULL);
    while (gb_step(engine, -1) > 0)
        ;
    (void)gb_tools_set(engine, NULL, NULL);
}

static void settle(struct gb_engine *engine, long count, long jobs)
{
    int64_t until = now_us() + SETTLE_MS * 1000;

    (void)count;
    (void)jobs;
    do {
        fill_pool(engine);
        (void)gb_step(engine, 10);
    } while (now_us() < until);
    printf("%d\n", gb_waiting(engine));
}

static const struct {
    const char *name;
    void (*obey)(struct gb_engine *engine, long count, long jobs);
} orders[] = {
    { "warm", warm },   { "burst", burst },   { "flow", flow },
    { "tools", tools }, { "settle", settle }, { "shell", shell },
};

static void obey(struct gb_engine *engine, char *line)
{
    char *numbers = line + strcspn(line, " \n");
    long count, jobs;

    if (*numbers)
        *numbers++ = '\0';
    count = strtol(numbers, &numbers, 10);
    jobs = strtol(numbers, &numbers, 10);
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (strcmp(orders[i].name, line) == 0) {
            orders[i].obey(engine, count, jobs);
            (void)fflush(stdout);
            return;
        }
    }
    die("no such order", line);
}

/* warm PYTHON: the version and a first result, then what standard input asks for. */
int main(int argc, char **argv)
{
    struct gb_engine *engine;
    char config[4096 + 32], line[64], *error = NULL, *result;

    if (argc != 2)
        die("usage: warm PYTHON", NULL);
    (void)snprintf(config, sizeof(config), "{\"python\": \"%s\"}", argv[1]);
    if (gb_engine_new(config, &engine, &error) < 0)
        die("no engine", error);
    result = gb_run(engine, REQUEST);
    need_ok(result);
    printf("{\"version\": \"%s\", \"result\": %s}\n", gb_version(), result);
    (void)fflush(stdout);
    free(result);
    while (fgets(line, sizeof(line), stdin))
        obey(engine, line);
    (void)gb_engine_free(engine);
    return 0;
}
