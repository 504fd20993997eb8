#pragma once
/*
 * Where boxes live. A backend runs one order in one box and tells what became of it; how long it
 * may take, what the answer means and what the caller sees is the engine's business.
 */
#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>

#include "backend/workspace.h"
#include "base/err.h"
#include "sandbox/box.h"
#include "sandbox/compose.h"
#include "sandbox/mounts.h"
#include "sandbox/watch.h"

struct backend;
struct run;
struct place; /* a box that stays: where a session lives */

/* AUTO is no level: the strongest of namespaces and landlock that this host lets us make. */
enum {
    ISOLATION_AUTO = -1
};

/* What a run does in a place. */
enum place_act {
    PLACE_CELL,    /* the program, in the names that are there */
    PLACE_INSPECT, /* likewise, but nothing will have changed */
    PLACE_REWIND,  /* no program: take it back to the end of cell `cell` */
    PLACE_FORK,    /* no program: a copy of it goes on in the place `into`, which is empty */
};

/* What became of the place that a run was in. */
enum place_state {
    PLACE_INTACT,
    PLACE_ROLLED, /* what the run did there is undone */
    PLACE_NEW,    /* a shell: what it held is lost, and another goes on in its place */
    PLACE_LOST,   /* there is nothing left of it */
};

struct run_order {
    int isolation; /* enum plan_level or ISOLATION_AUTO */
    bool host_network;
    struct plan_limits limits;
    uint64_t timeout_ms;
    const json_t *program;  /* what the guest gets: code, inputs, argv, ...; borrowed */
    const void *stdin_data; /* borrowed */
    size_t stdin_bytes;
    bool hold;                    /* when the code has passed the check, wait for go() */
    struct mounts *mounts;        /* what it sees of the host, or NULL; borrowed */
    struct workspace_file *files; /* to be in its workspace; borrowed until it is done */
    size_t n_files;
    struct place *place; /* where it runs; NULL: in a box of its own. One run at a time */
    enum place_act act;
    uint64_t cell;       /* with PLACE_REWIND; 0: before the first */
    struct place *into;  /* with PLACE_FORK */
    bool list_survivors; /* tell at the end what still ran */
};

/* What the check found in code that it let pass. All borrowed. */
struct run_check {
    const json_t *findings; /* an array; well formed, no more is known of it */
    json_int_t risk;
    int64_t us;            /* how long it took */
    enum plan_level level; /* where the program is about to run */
    uint32_t layers;       /* and by what it is held there */
};

/* How a run ended. */
enum run_end {
    RUN_ANSWERED, /* the guest ran to its end and says so in `answer` */
    RUN_EXITED,   /* its main process ended without a word: `status` */
    RUN_LIMIT,    /* the watcher ended it: `sample` */
    RUN_KILLED,   /* kill() ended it */
    RUN_LATE,     /* its time was up, and nobody said so */
    RUN_FAILED    /* it never began: `err` */
};

struct run_outcome {
    enum run_end end;
    json_t *answer;     /* borrowed, an object; hostile. NULL: it was no answer */
    const json_t *said; /* the same where the run was ended and has still answered; or NULL */
    const char *forged; /* what was wrong then, or NULL */
    bool is_verdict;    /* the answer is the check's own, and none of the program ran */
    bool is_checked;    /* `checked` was called */
    bool has_begun;     /* some of the program may have run */
    int status;         /* wait status of the main process, with RUN_ANSWERED and RUN_EXITED */
    struct watch_sample sample;
    struct gb_err err;
    enum plan_level level;
    uint32_t layers; /* that held it */
    struct box_usage usage;
    const struct box_survivor *survivors; /* borrowed: the first of those that were asked for */
    size_t n_survivors;                   /* all of them */
    int64_t setup_cpu_us;                 /* of it, what the box had used before it saw the code */
    int64_t started_us;                   /* when the code went into the box; 0 if it never did */
    int64_t begun_us; /* when it could begin: later than that for one that was held */
    int64_t ended_us; /* when its last process was gone */
    /* Whoever is told of the end closes both. */
    int workspace; /* the directory that the program wrote to, or -1 */
    /* As long as it is open, what is in there stays; -1 where nothing can take it away. */
    int keeper;
    enum place_state place;
    const char *note; /* borrowed: what happened to the place since the last run; or NULL */
};

/* What a program with tools may say while it runs. */
enum run_word_kind {
    WORD_TOOL_CALL,
    WORD_TOOL_CANCEL
};

/* All borrowed. */
struct run_word {
    enum run_word_kind kind;
    const json_t *json; /* an object: bounded, without duplicate keys, else hostile */
    const char *text;   /* the same as it came */
    size_t len;
};

struct place_spec {
    unsigned copies; /* how many cells can be taken back, at least 1 */
    void *data;
    /* The place is gone, and no run was there to be told. Not called from inside a call. */
    void (*lost)(void *data, const struct gb_err *why);
};

/* Where a place keeps its files, and whose they are there, by the host's numbers. */
struct place_ground {
    int dir;
    uid_t uid;
    gid_t gid;
};

/* What is known of a place. */
struct place_about {
    uint64_t cell;                  /* the last whose doing is in it */
    uint64_t cells[BOX_COPIES_MAX]; /* that it can be taken back to, in order */
    size_t n_cells;
};

struct run_events {
    void *data;
    /* The code is in its box and begins: what came before was waiting for a box. */
    void (*started)(void *data);
    /* The code has passed the check. Called at most once, and only where something was found or
     * the order was to hold. */
    void (*checked)(void *data, const struct run_check *check);
    void (*output)(void *data, int stream, const char *bytes, size_t len);
    /* Something to show: what the guest says of it, an object; hostile. NULL, once, when it has
     * shown more than a run may. What was printed before it has gone to `output` before. */
    void (*display)(void *data, const json_t *shown);
    /* A word of the program's. Returns NULL, or what is wrong with it (a constant): the run then
     * ends, and nothing more is heard of it. */
    const char *(*word)(void *data, const struct run_word *word);
    /* Last call. The run is gone when it returns. */
    void (*done)(void *data, const struct run_outcome *outcome);
};

struct backend_ops {
    const char *name;
    /* Begin. `events` is copied. NULL with err when it cannot even be queued; done is then not
     * called. done is never called from inside. */
    struct run *(*run)(struct backend *b, const struct run_order *order,
                       const struct run_events *events, struct gb_err *err);
    /* Let a program begin that was checked and is held. */
    void (*go)(struct run *run);
    /* Tell the program what became of a tool call: JSON text, TOOL_RESULT_MAX bytes and a little
     * more at most. Never blocks. Returns false if it is not to be delivered: nobody reads it. */
    bool (*tell)(struct run *run, const char *json, size_t len);
    /* How many bytes of what it was told wait to be read. */
    size_t (*untold)(const struct run *run);
    /* End it now. done follows. */
    void (*kill)(struct run *run);
    /* Ask the program to stop: KeyboardInterrupt, if it lets that happen. Only in a place. */
    void (*interrupt)(struct run *run);
    /* A place; its box is made when the first run comes. NULL when memory ran out. */
    struct place *(*place_new)(struct backend *b, const struct place_spec *spec);
    struct place_about (*place_about)(const struct place *place);
    /* Its workspace; .dir is borrowed, and -1 where it cannot be looked into. */
    struct place_ground (*place_ground)(const struct place *place);
    /* End it and all that lives there. There must be no run in it. Accepts NULL. */
    void (*place_free)(struct place *place);
    /* The plan for an order, as JSON, NULL with err: GB_E_BUSY while it is not known
     * yet what auto means here. */
    json_t *(*explain)(struct backend *b, const struct run_order *order, struct gb_err *err);
    /* How many boxes stand ready. */
    int (*waiting)(const struct backend *b);
    /* About the interpreter, as JSON (borrowed), NULL while it is not known. */
    const json_t *(*about)(const struct backend *b);
    void (*free)(struct backend *b);
};

struct backend {
    const struct backend_ops *ops;
    bool must_be_freed; /* else something of a box stays on the host when the process ends */
};
