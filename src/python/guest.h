#pragma once
/* The guest: the process in which the model's code runs. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "python/protocol.h"

struct box_fds;

/* Bring a freshly forked interpreter back into order. Our own code only: it is not sealed yet. */
void guest_prepare(const struct box_fds *fds);

/* Seed anew the libraries that a fork does not reseed by itself, where they are loaded. */
void guest_reseed(void);

/* Wait for one request, run it, answer, and exit. Runs sealed. */
void guest_main(const struct box_fds *fds);

/* Compile what guests need of Python (runtime.py) once, before they are forked. Returns 0, or -1
 * with a Python exception. */
int guest_compile_runtime(void);

/* Run something like a request: in a guest, so that the pages that every run writes to are copied
 * while nobody waits; in the zygote, so that guests inherit the page tables of what a run uses. */
void guest_warm_up(void);

/* A function of runtime.py (borrowed); NULL with a Python exception. */
PyObject *guest_runtime(const char *name);

/* A frame in one piece, which the caller frees; NULL when memory ran out. */
struct frame *guest_frame(enum frame_kind kind, const json_t *json, const uint64_t *token);

/* Send a frame to the engine. Threads of the program call it with the interpreter's lock held, so
 * that frames do not mix. */
void guest_send(int fd, enum frame_kind kind, const json_t *json, const uint64_t *token);

/* A request of the engine's, and what came with it. */
struct guest_order {
    uint64_t token;
    json_t *request;    /* NULL: the end, or, with a token, no room for it */
    bool has_stdin;     /* one came, and is in place */
    int words;          /* where a session's cell hears of its tools, or -1 */
    int fork[FORK_FDS]; /* with FRAME_FORK, whoever follows the order closes them; else -1 */
};

/* Wait for the next. There is no copy of the token but the one in *ret. */
void guest_next_order(int chan, struct guest_order *ret);

/* Run a request in __main__ as it is, and flush. What it says meanwhile goes to `tell`. New
 * reference: the answer. */
json_t *guest_run_cell(const struct guest_order *order, int tell);
