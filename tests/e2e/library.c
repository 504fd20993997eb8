/*
 * A program that uses the library in every way that glovebox.h offers. test_library.py builds and
 * runs it and reads what it prints: lines of a name, a blank and a text.
 *   library tour       each call once
 *   library approve    a person who is asked, and answers in every way
 *   library display    what is displayed, as it comes
 *   library growth N   N runs; what the process holds after a tenth of them and at the end
 */
#include <dirent.h>
#include <errno.h>
#include <glovebox.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLEEPER "{\"code\": \"import time\\nprint('up', flush=True)\\ntime.sleep(60)\"}"

static void say(const char *name, char *text)
{
    printf("%s %s\n", name, text ? text : "null");
    (void)fflush(stdout);
    free(text);
}

static struct gb_engine *engine_for(const char *name, const char *config)
{
    struct gb_engine *engine = NULL;
    char *error = NULL;

    if (gb_engine_new(config, &engine, &error) < 0)
        say(name, error);
    return engine;
}

/* ---- jobs that tell about themselves ---- */

struct watcher {
    const char *name;
    size_t bytes;
    int done;
};

static void on_output(void *data, struct gb_job *job, enum gb_stream stream, const char *bytes,
                      size_t len)
{
    struct watcher *w = data;

    (void)job;
    (void)bytes;
    w->bytes += stream == GB_STDOUT ? len : 0;
}

static void on_done(void *data, struct gb_job *job, const char *result)
{
    struct watcher *w = data;

    (void)job;
    w->done++;
    say(w->name, strdup(result));
}

static struct gb_job *start(struct gb_engine *engine, const char *request, struct watcher *w)
{
    struct gb_callbacks callbacks = {
        .size = sizeof(callbacks), .data = w, .output = on_output, .done = on_done
    };

    return gb_start(engine, request, &callbacks);
}

static void step_until_output(struct gb_engine *engine, const struct watcher *w)
{
    while (w->bytes == 0 && w->done == 0)
        (void)gb_step(engine, -1);
}

struct waker {
    struct gb_engine *engine;
    atomic_bool has_come;
};

static void *wake_later(void *data)
{
    struct waker *w = data;

    (void)usleep(100 * 1000);
    atomic_store(&w->has_come, true);
    gb_wake(w->engine);
    return NULL;
}

/* Hangs, and so fails, when gb_wake() does not end a gb_step() that has nothing else to see. */
static void wait_to_be_woken(struct gb_engine *engine)
{
    struct waker waker = { .engine = engine };
    pthread_t thread;
    int jobs = -1;

    if (pthread_create(&thread, NULL, wake_later, &waker) != 0)
        return;
    while (!atomic_load(&waker.has_come))
        jobs = gb_step(engine, -1);
    (void)pthread_join(thread, NULL);
    printf("woken %d\n", jobs);
}

/* ---- the tour ---- */

static void tour_blocking(struct gb_engine *engine)
{
    struct gb_engine *other = engine_for("other", NULL);

    say("run", gb_run(engine, "{\"id\": \"x\", \"code\": \"print('hi')\\n40 + 2\"}"));
    say("other", gb_run(other, "{\"code\": \"'other'\"}"));
    say("not-json", gb_run(engine, "{"));
    say("unknown-key", gb_run(engine, "{\"code\": \"1\", \"nope\": 1}"));
    say("explain", gb_explain(engine, "{\"code\": \"1\"}"));
    say("doctor", gb_doctor(engine));
    gb_engine_free(other);
}

static void tour_callbacks(struct gb_engine *engine)
{
    struct watcher slow = { .name = "slow" }, fast = { .name = "fast" }, bad = { .name = "bad" };
    struct watcher quiet = { .name = "cancelled" };

    (void)start(engine, "{\"code\": \"import time\\ntime.sleep(1)\\nprint('x' * 1000)\"}", &slow);
    (void)start(engine, "{\"code\": \"'fast'\"}", &fast);
    (void)start(engine, "{\"code\": 5}", &bad);
    printf("before-step %d\n", slow.done + fast.done + bad.done);
    while (gb_step(engine, -1) > 0)
        ;
    printf("bytes %zu\n", slow.bytes);

    struct gb_job *job = start(engine, SLEEPER, &quiet);
    step_until_output(engine, &quiet);
    wait_to_be_woken(engine);
    printf("polled %d\n", gb_step(engine, 0));
    gb_cancel(job);
    while (gb_step(engine, -1) > 0)
        ;
}

static int tour(void)
{
    struct watcher left = { .name = "left" };
    struct gb_engine *engine = NULL;

    say("version", strdup(gb_version()));
    (void)engine_for("bad-config", "{");
    (void)engine_for("bad-key", "{\"nope\": 1}");
    gb_engine_free(NULL);

    engine = engine_for("engine", "{\"timeout\": 20}");
    if (!engine)
        return 1;
    tour_blocking(engine);
    tour_callbacks(engine);
    (void)start(engine, SLEEPER, &left);
    step_until_output(engine, &left);
    gb_engine_free(engine);
    printf("left-done %d\n", left.done);
    printf("no-children %d\n", waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    return 0;
}

/* ---- approval ---- */

#define QUESTIONABLE "{\"code\": \"print('ran')\", \"approve\": \"ask\"}"

enum answer {
    ANSWER_LATER,
    ANSWER_YES,
    ANSWER_NO
};

struct person {
    const char *name;
    enum answer answer;
    const char *reason;
    int asked;
    int done;
    int first, second; /* what gb_approve() said to a first and to a second answer */
};

static void on_approve(void *data, struct gb_job *job, const char *question)
{
    struct person *p = data;

    if (p->asked++ == 0 && strcmp(p->name, "yes-inside") == 0)
        say("question", strdup(question));
    if (p->answer == ANSWER_LATER)
        return;
    p->first = gb_approve(job, p->answer == ANSWER_YES, p->reason);
    p->second = gb_approve(job, 1, NULL);
}

static void on_answered(void *data, struct gb_job *job, const char *result)
{
    struct person *p = data;

    (void)job;
    p->done++;
    say(p->name, strdup(result));
}

static struct gb_job *submit(struct gb_engine *engine, const char *request, struct person *p)
{
    struct gb_callbacks callbacks = {
        .size = sizeof(callbacks), .data = p, .done = on_answered, .approve = on_approve
    };
    struct gb_job *job = gb_start(engine, request, &callbacks);

    while (p->asked == 0 && p->done == 0)
        (void)gb_step(engine, -1);
    return job;
}

static void step_to_the_end(struct gb_engine *engine)
{
    while (gb_step(engine, -1) > 0)
        ;
}

static int approve(void)
{
    struct gb_engine *engine = engine_for("engine", NULL);
    struct person people[] = {
        { .name = "yes-inside", .answer = ANSWER_YES },
        { .name = "no-inside", .answer = ANSWER_NO, .reason = "not today" },
        { .name = "yes-later" },
        { .name = "no-later" },
        { .name = "odd-reason", .answer = ANSWER_NO, .reason = "\xff\xfe" },
        { .name = "cancelled" },
        { .name = "rejected-first", .answer = ANSWER_YES },
        { .name = "left" },
    };
    struct gb_job *job;
    int later, too_early, after_cancel;

    if (!engine)
        return 1;
    say("nobody", gb_run(engine, QUESTIONABLE));
    for (size_t i = 0; i < 2; i++) {
        (void)submit(engine, QUESTIONABLE, &people[i]);
        step_to_the_end(engine);
    }
    job = submit(engine, QUESTIONABLE, &people[2]);
    (void)gb_step(engine, 50);
    later = gb_approve(job, 1, NULL);
    step_to_the_end(engine);
    job = submit(engine, QUESTIONABLE, &people[3]);
    (void)gb_approve(job, 0, "not today");
    step_to_the_end(engine);
    (void)submit(engine, QUESTIONABLE, &people[4]);
    step_to_the_end(engine);
    job = submit(engine, QUESTIONABLE, &people[5]);
    gb_cancel(job);
    after_cancel = gb_approve(job, 1, NULL);
    step_to_the_end(engine);
    (void)submit(engine, "{\"code\": \"def f(:\", \"approve\": \"always\"}", &people[6]);
    step_to_the_end(engine);
    printf("asked-for-it %d\n", people[6].asked);

    job = start(engine, "{\"code\": \"1\"}", &(struct watcher){ .name = "unasked" });
    too_early = gb_approve(job, 1, NULL);
    step_to_the_end(engine);
    (void)submit(engine, QUESTIONABLE, &people[7]);
    gb_engine_free(engine);
    printf("answers [%d, %d, %d, %d, %d]\n", people[0].first, people[0].second, after_cancel, later,
           too_early);
    printf("no-children %d\n", waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    return 0;
}

/* ---- display ---- */

static void on_display(void *data, struct gb_job *job, const char *forms)
{
    struct watcher *w = data;

    printf("after-%zu %s\n", w->bytes, forms);
    if (strstr(forms, "enough"))
        gb_cancel(job);
}

static int display(void)
{
    struct gb_engine *engine = engine_for("engine", NULL);
    struct watcher w = { .name = "result" };
    struct gb_callbacks callbacks = { .size = sizeof(callbacks),
                                      .data = &w,
                                      .output = on_output,
                                      .done = on_done,
                                      .display = on_display };

    if (!engine)
        return 1;
    (void)gb_start(engine,
                   "{\"code\": \"print('ab')\\ndisplay(1)\\nprint('cd')\\nclass H:\\n"
                   " def _repr_html_(self): return '<b>'\\n def __repr__(self): return 'b'\\n"
                   "display(H(), 'enough')\\nwhile True: pass\"}",
                   &callbacks);
    step_to_the_end(engine);
    gb_engine_free(engine);
    return 0;
}

/* ---- growth ---- */

/* All but network namespaces, of which some are kept. */
static int count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        char target[64] = "";

        (void)!readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
        n += strncmp(target, "net:", 4) != 0;
    }
    if (dir)
        (void)closedir(dir);
    return n;
}

static long resident_kb(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    char line[128] = "";
    char *end = NULL;

    if (f && fgets(line, sizeof(line), f))
        (void)strtol(line, &end, 10);
    if (f)
        (void)fclose(f);
    return end ? strtol(end, NULL, 10) * sysconf(_SC_PAGESIZE) / 1024 : -1;
}

/* Boxes of the last runs may still be going, and those for the next coming. */
static void settle(struct gb_engine *engine)
{
    while (gb_waiting(engine) < 2)
        gb_step(engine, 10);
    for (int i = 0; i < 20; i++)
        gb_step(engine, 20);
}

static int growth(long runs)
{
    struct gb_engine *engine = engine_for("engine", NULL);
    long failures = 0;

    if (!engine)
        return 1;
    for (long i = 0; i < runs; i++) {
        char *result = gb_run(engine, "{\"code\": \"print('x' * 100)\\n1\"}");
        failures += !result || !strstr(result, "\"ok\"");
        free(result);
        /* The pool refills beside the runs: let it come to rest before looking. */
        if (i == runs / 10 || i == runs - 1) {
            (void)gb_step(engine, 500);
            settle(engine);
            printf("at {\"runs\": %ld, \"descriptors\": %d, \"kb\": %ld, \"waiting\": %d}\n", i + 1,
                   count_descriptors(), resident_kb(), gb_waiting(engine));
        }
    }
    gb_engine_free(engine);
    printf("failures %ld\n", failures);
    printf("no-children %d\n", waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    return 0;
}

/* Engines that end in the middle of their work: at some time each has a box, or a second zygote, on
 * its way. */
static int early(long engines)
{
    for (long i = 0; i < engines; i++) {
        struct gb_engine *engine = engine_for("engine", NULL);

        for (long k = 0; engine && k < 3 + i % 8; k++)
            free(gb_run(engine, "{\"code\": \"1\"}"));
        gb_engine_free(engine);
    }
    printf("no-children %d\n", waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "tour") == 0)
        return tour();
    if (argc == 2 && strcmp(argv[1], "approve") == 0)
        return approve();
    if (argc == 2 && strcmp(argv[1], "display") == 0)
        return display();
    if (argc == 3 && strcmp(argv[1], "growth") == 0)
        return growth(strtol(argv[2], NULL, 10));
    if (argc == 3 && strcmp(argv[1], "early") == 0)
        return early(strtol(argv[2], NULL, 10));
    (void)fprintf(stderr, "usage: library tour | approve | display | growth N | early N\n");
    return 2;
}
