#pragma once
/* For faces that live in the engine's loop. */
#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gb_call;
struct gb_callbacks;
struct gb_engine;
struct gb_err;
struct gb_job;

/* A loop as engines have it; NULL when it cannot be made. */
struct event_base *engine_loop_new(void);

/* gb_engine_new() on a loop that is there already; it outlives the engine. */
int engine_new_on(struct event_base *base, const char *config, struct gb_engine **ret,
                  char **ret_error);

/* The loop that gb_step() turns; borrowed until the engine is freed. */
struct event_base *engine_loop(const struct gb_engine *engine);

/* gb_start(), for a face that works on the result itself: `done` of the callbacks is not called,
 * but this, with the result, which is the callee's (NULL: memory ran out). */
struct gb_job *engine_start(struct gb_engine *engine, const char *request,
                            const struct gb_callbacks *callbacks,
                            void (*done)(void *data, json_t *result));

/* Could this request be admitted? Runs nothing: for what depends on what the engine can do. */
bool engine_admits(const struct gb_engine *engine, const char *request);

/* Can this host hold a box as it is configured? 1: yes; 0: that is not known yet, the loop must
 * turn; -1 with err: no, and every program will be refused. */
int engine_can_hold(struct gb_engine *engine, struct gb_err *err);

/* Must the engine be freed before the process ends? Else the kernel takes its boxes apart. */
bool engine_must_be_freed(const struct gb_engine *engine);

/* How many sessions there are. */
size_t engine_sessions(const struct gb_engine *engine);

/* The configured time limit; may requests go beyond it? */
uint64_t engine_timeout_ms(const struct gb_engine *engine, bool *ret_is_loose);

/*
 * Somebody in this process who answers, for all jobs, the tools whose key "hosted" is true. `call`
 * is as the callback `tool` of a job, and answered by the same functions; `cancelled` as
 * `tool_cancelled`.
 */
struct tool_host {
    void (*call)(void *data, struct gb_call *call, const char *name, const char *args);
    void (*cancelled)(void *data, struct gb_call *call);
    void *data;
};

/* Put this set, which is taken, in the place of the one that requests find: as gb_tools_set() does
 * with a text, which would be read again as a whole for each tool that changed. */
struct toolset;
int engine_use_tools(struct gb_engine *engine, struct toolset *set, char **ret_error);

/* NULL: nobody any more. Calls that were not answered must have been. */
void engine_host_tools(struct gb_engine *engine, const struct tool_host *host);

/* Answer a call as gb_tool_result() does, with blocks: a value, or a list of them, of which objects
 * with a "handle" are things that the program can read with the tool "read_handle". */
int engine_tool_blocks(struct gb_call *call, const char *result);

/* Where the modules and programs that belong to the engine are. Borrowed. */
const char *engine_directory(const struct gb_engine *engine);

/* Tell the engine of a program that is to be run outside any box: no mount that is rw may have it
 * inside. `dir` is where it is run, or NULL. */
int engine_guard_program(struct gb_engine *engine, char *const *argv, const char *dir,
                         struct gb_err *err);

/* Can programs change, or reach, what is not in their box: by the network, a directory, a tool? */
bool engine_reaches_out(const struct gb_engine *engine);

/* How long sessions are kept. */
struct engine_session_times {
    uint64_t idle_ms, life_ms;
};
struct engine_session_times engine_session_times(const struct gb_engine *engine);
