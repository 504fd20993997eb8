#pragma once
/* For faces that live in the engine's loop. */
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gb_engine;

/* A loop as engines have it; NULL when it cannot be made. */
struct event_base *engine_loop_new(void);

/* gb_engine_new() on a loop that is there already; it outlives the engine. */
int engine_new_on(struct event_base *base, const char *config, struct gb_engine **ret,
                  char **ret_error);

/* The loop that gb_step() turns; borrowed until the engine is freed. */
struct event_base *engine_loop(const struct gb_engine *engine);

/* Could this request be admitted? Runs nothing: for what depends on what the engine can do. */
bool engine_admits(const struct gb_engine *engine, const char *request);

/* How many sessions there are. */
size_t engine_sessions(const struct gb_engine *engine);

/* The configured time limit; may requests go beyond it? */
uint64_t engine_timeout_ms(const struct gb_engine *engine, bool *ret_is_loose);

/* How long sessions are kept. */
struct engine_session_times {
    uint64_t idle_ms, life_ms;
};
struct engine_session_times engine_session_times(const struct gb_engine *engine);
