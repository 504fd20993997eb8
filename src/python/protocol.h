#pragma once
/*
 * What the engine, the zygote and the guest say to each other.
 *
 * engine <-> zygote: one SOCK_SEQPACKET socket. The zygote greets with ZYGOTE_HELLO and JSON about
 * the interpreter; each order to make a box is answered by one ZYGOTE_BOX.
 *
 * engine <-> guest: frames of a header and JSON. The engine sends on a SOCK_STREAM socket that it
 * never reads from; the guest answers on a pipe, which cannot carry descriptors: closing one that a
 * guest has prepared could keep the engine waiting. The engine sends one FRAME_RUN, whose header
 * may bring a descriptor to be standard input; the guest checks the code, and answers with one
 * FRAME_DONE. Before that, and before any of the program runs, it sends one FRAME_CHECKED if the
 * check found something, or if it was told to hold, and waits for FRAME_GO. While the program runs,
 * each thing that it displays is one FRAME_DISPLAY. Whatever a guest sends is hostile: the engine
 * believes lengths only up to a maximum, content only after it parsed, and what the check found
 * only from one who knows the token.
 *
 * A program that was given tools (the key "tools" of FRAME_RUN) keeps the socket, and may send any
 * number of FRAME_TOOL_CALL {"id", "name", "args"} before FRAME_DONE. Each has a larger id than the
 * one before it, and is answered, in any order, by one FRAME_TOOL_RESULT {"id", "ok": true,
 * "result"} or {"id", "ok": false, "type", "message"}, unless FRAME_TOOL_CANCEL {"id"} came first.
 * These frames carry a token of their own ("tool_token"), which the program knows: it tells a frame
 * from whatever else is written to the pipe, and no more.
 *
 * A session's guest lives on, and gets a FRAME_RUN for each thing that it is to do (session.c); its
 * FRAME_DONE must carry that frame's token, so that it cannot be taken for another's. It is checked
 * elsewhere, so there is no FRAME_CHECKED. A cell with tools hears of them on a socket of its own,
 * which comes with its FRAME_RUN: no answer can outlive the cell, or be taken for the next request.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/box.h"

enum {
    ZYGOTE_FD = 3
}; /* where the zygote finds its socket */

/* Descriptors that come with an order, in this order; the last only where the box is to have a
 * network namespace that was handed on, and for each of its control groups. */
enum {
    ORDER_PLAN,
    ORDER_CTL,
    ORDER_CHAN,
    ORDER_OUT,
    ORDER_ERR,
    ORDER_ANSWER,
    ORDER_NET,
    ORDER_CGROUPS,
    ORDER_FDS = ORDER_CGROUPS + BOX_CGROUPS_MAX
};

/* Or, instead of them, with an order for a twin: the end of a socket that it is to hear on. */
enum {
    TWIN_SOCK,
    TWIN_FDS
};

struct zygote_order {
    uint32_t is_twin; /* no box is wanted, but another of the zygote itself */
    uint64_t number;
    size_t plan_bytes;
    uint32_t has_net, n_cgroups;
    uint32_t is_last; /* no other will be ordered: the zygote may leave its memory to the guest, and
                         ends then */
};

enum zygote_reply_kind {
    ZYGOTE_HELLO, /* followed by JSON */
    ZYGOTE_BOX,   /* with a pidfd unless err says otherwise */
    ZYGOTE_TWIN   /* from the twin itself, with its number */
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

/* Descriptors that come with FRAME_FORK, in this order. */
enum {
    FORK_CHAN,
    FORK_ANSWER,
    FORK_OUT,
    FORK_ERR,
    FORK_FDS
};

enum frame_kind {
    FRAME_RUN = 1,
    FRAME_DONE = 2,
    FRAME_CHECKED = 3, /* the code passed, and this was found in it */
    FRAME_GO = 4,      /* no content: let the program begin */
    FRAME_TOOL_CALL = 16,
    FRAME_TOOL_CANCEL = 17,
    FRAME_TOOL_RESULT = 18,
    FRAME_DISPLAY = 32,  /* from the running program: something to show */
    FRAME_SESSION = 48,  /* from a session: the number of the copy that it has made of itself */
    FRAME_RUN_FILE = 49, /* FRAME_RUN, but `len` bytes of a file that comes with it follow */
    FRAME_FORK = 50      /* FRAME_RUN, with the descriptors of a session that is to be forked off */
};

struct frame {
    uint32_t kind;
    uint32_t len; /* of the JSON that follows */
    /* A secret that comes with FRAME_RUN and that the guest forgets before it runs any of the
     * program. Only who knows it can say what the check found, and that none of it ran. */
    uint64_t token;
};

/* The longest and the deepest that is read; and how much a guest tells of what the check found. */
enum {
    FRAME_MAX = 3 << 19,
    FRAME_ITEMS_MAX = 200000,
    FRAME_DEPTH_MAX = 128,
    FINDINGS_MAX = 1000,
    FINDINGS_BYTES_MAX = 1 << 20,
    TOOL_CALL_MAX = 1 << 20,   /* a call, as JSON */
    TOOL_RESULT_MAX = 8 << 20, /* a result, as JSON */
    TOOL_DEPTH_MAX = 100,      /* of either */
    TOOL_NAME_MAX = 128
};

/* What a run may show: bytes of a frame, and in all; how many things, each in how many forms. The
 * guest keeps to it, and writes what is more to files; the engine drops what is more. */
enum {
    DISPLAY_MAX = 4 << 20,
    DISPLAY_RUN_MAX = 16 << 20,
    DISPLAY_THINGS_MAX = 100,
    DISPLAY_FORMS_MAX = 16
};
