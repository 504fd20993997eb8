#pragma once
/* The engine's side of a zygote. */
#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>

#include "python/interpreter.h"
#include "python/protocol.h"

struct zygote;

struct zygote_callbacks {
    void *data;
    /* It is up. `info` tells about the interpreter (borrowed from the zygote). */
    void (*hello)(void *data, const json_t *info);
    /* The answer to zygote_order(). `pidfd` is -1 when err says why there is no box; pid may be
     * set all the same, and then that process is ending and must be waited for. */
    void (*box)(void *data, uint64_t number, pid_t pid, int pidfd, const struct gb_err *err);
    /* It is gone, and why. No callback follows; the zygote must be freed, but not from here. */
    void (*died)(void *data, const struct gb_err *err);
};

/* Start an interpreter as a zygote; does not wait for it. `callbacks` is copied. */
int zygote_new(struct event_base *base, const struct interpreter_spec *spec,
               const struct zygote_callbacks *callbacks, struct zygote **ret,
               struct gb_err *err) gb_nodiscard;

/* Order a box: `n` descriptors as in protocol.h, not taken. */
int zygote_order(struct zygote *z, const struct zygote_order *order, const int *fds, size_t n,
                 struct gb_err *err) gb_nodiscard;

/* Let it make what it was ordered to, and end. */
void zygote_retire(struct zygote *z);

/* Has it been told that an order is the last, or to end? Then its end is no accident. */
bool zygote_is_spent(const struct zygote *z);

/* Kill it and wait for it. Accepts NULL. Boxes live on. */
struct zygote *zygote_free(struct zygote *z);
