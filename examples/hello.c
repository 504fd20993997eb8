/*
 * hello.c - run code in a box from a C program, and see how long it takes.
 *
 *   cc hello.c $(pkg-config --cflags --libs glovebox) -o hello && ./hello
 */
#include <glovebox.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

/* One call with a box waiting, as it is for a program that does other things in between. */
static double call_ms(struct gb_engine *engine, const char *request)
{
    double began;
    char *result;

    while (gb_waiting(engine) == 0)
        gb_step(engine, 10);
    began = now_ms();
    result = gb_run(engine, request);
    began = now_ms() - began;
    free(result);
    return began;
}

int main(void)
{
    enum {
        CALLS = 20
    };
    struct gb_engine *engine;
    char *error = NULL, *result;
    double best = 1e9;

    if (gb_engine_new(NULL, &engine, &error) < 0) {
        fprintf(stderr, "hello: %s\n", error ? error : "no engine");
        free(error);
        return 1;
    }
    result = gb_run(engine, "{\"code\": \"print('hello from', __name__)\\nsum(range(10))\"}");
    puts(result ? result : "no memory");
    free(result);

    for (int i = 0; i < CALLS; i++) {
        double ms = call_ms(engine, "{\"code\": \"1 + 1\"}");
        best = ms < best ? ms : best;
    }
    printf("%d more calls, each in a box of its own; the fastest took %.2f ms\n", CALLS, best);
    gb_engine_free(engine);
    return 0;
}
