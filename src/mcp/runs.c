#include "mcp/runs.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/loop.h"

enum {
    ASKING_MAX =
        256, /* boxes that wait for a person beside those that run: more keep their places */
    LARGE = 256 << 10 /* bytes of a request: one at a time is read, in a turn of the loop's own */
};

struct run_turn {
    struct run_turn *prev, *next;
    struct runs *runs; /* NULL: nobody waits for it */
    struct gb_job *job;
    char *request; /* NULL once it has had its turn */
    size_t len;
    struct runs_events events;
    void *data;
    bool is_asking; /* a person is asked meanwhile: its place is another's */
};

struct list {
    struct run_turn *first, *last;
    size_t count;
};

struct runs {
    struct gb_engine *engine;
    size_t at_once;
    size_t n_asking;
    struct list waiting, running;
    bool is_starting;
    struct event *on_large; /* pending: the first that waits is large, and has a turn coming */
    void (*seen)(void *data, const json_t *result);
    void *seen_data;
    void (*censor)(json_t *result);
};

static void append(struct list *list, struct run_turn *t)
{
    t->next = NULL;
    t->prev = list->last;
    if (t->prev)
        t->prev->next = t;
    else
        list->first = t;
    list->last = t;
    list->count++;
}

static void take_out(struct list *list, struct run_turn *t)
{
    if (t->prev)
        t->prev->next = t->next;
    else
        list->first = t->next;
    if (t->next)
        t->next->prev = t->prev;
    else
        list->last = t->prev;
    list->count--;
}

static void turn_free(struct run_turn *t)
{
    free(t->request);
    free(t);
}

/* ---- what the engine tells ---- */

static void start_more(struct runs *runs);

static void on_done(void *data, json_t *result)
{
    struct run_turn *t = data;
    struct runs *runs = t->runs;
    struct runs_events events = t->events;
    void *whose = t->data;

    if (runs) {
        take_out(&runs->running, t);
        runs->n_asking -= t->is_asking;
    }
    turn_free(t);
    if (!runs) {
        json_decref(result);
        return;
    }
    start_more(runs);
    if (runs->seen)
        runs->seen(runs->seen_data, result);
    if (runs->censor && result)
        runs->censor(result);
    events.done(whose, result);
}

static void on_output(void *data, struct gb_job *job, enum gb_stream stream, const char *bytes,
                      size_t len)
{
    const struct run_turn *t = data;

    (void)job;
    if (t->runs && t->events.output)
        t->events.output(t->data, stream, bytes, len);
}

static void on_approve(void *data, struct gb_job *job, const char *text)
{
    struct run_turn *t = data;
    auto_json json_t *question = json_loads(text, JSON_ALLOW_NUL, NULL);

    if (!t->runs || !t->events.approve || !question) {
        (void)gb_approve(job, -1, "there is nobody to ask");
        return;
    }
    if (t->runs->n_asking < ASKING_MAX) {
        t->is_asking = true;
        t->runs->n_asking++;
        start_more(t->runs);
    }
    t->events.approve(t->data, question);
}

/* ---- turns ---- */

/* The engine has no memory for another job. */
static void on_failed(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    on_done(data, NULL);
}

static void start(struct runs *runs, struct run_turn *t)
{
    struct gb_callbacks callbacks = { .size = sizeof(callbacks),
                                      .data = t,
                                      .output = t->events.output ? on_output : NULL,
                                      .approve = on_approve };

    take_out(&runs->waiting, t);
    t->job = engine_start(runs->engine, t->request, &callbacks, on_done);
    free(take_ptr(t->request));
    append(&runs->running, t);
    if (!t->job)
        (void)event_base_once(engine_loop(runs->engine), -1, EV_TIMEOUT, on_failed, t, NULL);
}

static bool has_place(const struct runs *runs)
{
    return runs->waiting.first && runs->running.count - runs->n_asking < runs->at_once;
}

static void start_more(struct runs *runs)
{
    static const struct timeval soon = { .tv_usec = 1000 }; /* others come in between */

    if (runs->is_starting) /* what comes from inside is seen by the loop below */
        return;
    runs->is_starting = true;
    while (has_place(runs) && runs->waiting.first->len <= LARGE)
        start(runs, runs->waiting.first);
    if (has_place(runs)) {
        /* libevent's time is that at which this turn began, which may be long ago */
        (void)event_base_update_cache_time(engine_loop(runs->engine));
        (void)evtimer_add(runs->on_large, &soon);
    }
    runs->is_starting = false;
}

/* Others are served between a large request's arrival, its start, and the next one's. */
static void on_large(evutil_socket_t fd, short what, void *data)
{
    struct runs *runs = data;

    (void)fd;
    (void)what;
    if (!runs->is_starting && has_place(runs)) {
        runs->is_starting = true;
        start(runs, runs->waiting.first);
        runs->is_starting = false;
    }
    start_more(runs);
}

struct run_turn *runs_add(struct runs *runs, json_t *request, const struct runs_events *events,
                          void *data)
{
    struct run_turn *t = calloc(1, sizeof(*t));
    char *text = t ? json_text(request) : NULL;

    json_decref(request);
    if (!text) {
        free(t);
        return NULL;
    }
    *t = (struct run_turn){
        .runs = runs, .request = text, .len = strlen(text), .events = *events, .data = data
    };
    append(&runs->waiting, t);
    start_more(runs);
    return t;
}

void run_drop(struct run_turn *t)
{
    struct runs *runs = t->runs;

    if (!runs) /* it was dropped */
        return;
    if (t->request) {
        take_out(&runs->waiting, t);
        turn_free(t);
        return;
    }
    take_out(&runs->running, t);
    runs->n_asking -= t->is_asking;
    t->runs = NULL;
    if (t->job)
        gb_cancel(t->job);
    start_more(runs);
}

void run_approve(struct run_turn *t, int yes, const char *reason)
{
    if (t->is_asking) {
        t->is_asking = false;
        t->runs->n_asking--;
    }
    (void)gb_approve(t->job, yes, reason);
}

void runs_observe(struct runs *runs, void (*seen)(void *data, const json_t *result), void *data)
{
    runs->seen = seen;
    runs->seen_data = data;
}

void runs_censor(struct runs *runs, void (*censor)(json_t *result))
{
    runs->censor = censor;
}

size_t runs_running(const struct runs *runs)
{
    return runs->running.count;
}

size_t runs_waiting(const struct runs *runs)
{
    return runs->waiting.count;
}

struct runs *runs_new(struct gb_engine *engine, unsigned at_once)
{
    struct runs *runs = calloc(1, sizeof(*runs));

    if (!runs)
        return NULL;
    *runs = (struct runs){ .engine = engine, .at_once = at_once };
    runs->on_large = evtimer_new(engine_loop(engine), on_large, runs);
    return runs->on_large ? runs : runs_free(runs);
}

struct runs *runs_free(struct runs *runs)
{
    if (!runs)
        return NULL;
    runs->is_starting = true; /* no more */
    while (runs->waiting.first)
        run_drop(runs->waiting.first);
    while (runs->running.first)
        run_drop(runs->running.first);
    if (runs->on_large)
        event_free(runs->on_large);
    free(runs);
    return NULL;
}
