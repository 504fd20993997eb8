#pragma once
/*
 * What the engine, the zygote and the guest say to each other.
 *
 * engine <-> zygote: one SOCK_SEQPACKET socket. The zygote greets with ZYGOTE_HELLO and JSON about
 * the interpreter; each order to make a box is answered by one ZYGOTE_BOX.
 *
 * engine <-> guest: frames of a header and JSON. The engine sends on a SOCK_STREAM socket that it
 * never reads from; the guest answers on a pipe, which cannot carry descriptors: closing one that a
 * guest has prepared could keep the engine waiting. The engine sends one FRAME_RUN, whose header may bring a descriptor to be standard input; the guest answers with one FRAME_DONE. Whatever a guest sends is hostile: the engine
 * believes lengths only up to FRAME_MAX and content only after it parsed.
 */
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum {
    ZYGOTE_FD = 3
}; /* where the zygote finds its socket */

/* Descriptors that come with an order, in this order; the last only where the box has a control
 * group. */
enum {
    ORDER_PLAN,
    ORDER_CTL,
    ORDER_CHAN,
    ORDER_OUT,
    ORDER_ERR,
    ORDER_ANSWER,
    ORDER_CGROUP,
    ORDER_FDS
};

struct zygote_order {
    uint64_t number;
    uint64_t plan_bytes;
};

enum zygote_reply_kind {
    ZYGOTE_HELLO, /* followed by JSON */
    ZYGOTE_BOX    /* with a pidfd unless err says otherwise */
};

struct zygote_reply {
    enum zygote_reply_kind kind;
    pid_t pid;
    uint64_t number;
    struct gb_err err;
};

enum {
    HELLO_MAX = 64 << 10
};

enum frame_kind {
    FRAME_RUN = 1,
    FRAME_DONE = 2
};

struct frame {
    uint32_t kind;
    uint32_t len; /* of the JSON that follows */
    /* A secret that comes with FRAME_RUN and that the guest forgets before it runs any of the
     * program. Only who knows it can say that the program was rejected and did not run. */
    uint64_t token;
};

/* The longest and the deepest that is read. */
enum {
    FRAME_MAX = 3 << 19,
    FRAME_ITEMS_MAX = 200000,
    FRAME_DEPTH_MAX = 128
};
