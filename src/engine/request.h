#pragma once
/* A request: JSON outside, this inside. */
#include <jansson.h>

#include "engine/config.h"
#include "engine/files.h"

enum {
    CODE_MAX = 1 << 20,
    COMMAND_MAX = (128 << 10) - 1, /* what the kernel takes as one argument */
    STDIN_MAX = 64 << 20,
    ENV_MAX = 5000,           /* variables: setenv() goes through all of them for each */
    TYPED_MAX = 4096,         /* what a terminal takes before somebody reads it */
    TYPED_KEPT_MAX = 64 << 10 /* what rules look at, of what was typed since a command began */
};

/* What a request of the kind "session" asks for. */
enum session_op {
    SESSION_CELL, /* none of them: code to run */
    SESSION_INSPECT,
    SESSION_REWIND,
    SESSION_FORK,
    SESSION_RESET,
    SESSION_CLOSE,
    SESSION_LIST,
    SESSION_LIST_FILES,
    SESSION_READ_FILE,
    SESSION_WRITE_FILE, /* those of a shell: */
    SESSION_JOBS,
    SESSION_JOB_READ,
    SESSION_JOB_KILL,
    SESSION_TYPE,
    SESSION_SCREEN,
    SESSION_RESIZE
};

struct request {
    json_t *json;    /* the whole; the pointers below look into it */
    json_t *id;      /* borrowed, or NULL */
    json_t *program; /* what the guest gets, the rules of its check among it */
    bool is_check;   /* kind "check": nothing is to run */
    bool is_shell;   /* kind "shell": the code is a command for a shell */
    bool is_op;      /* kind "session": */
    enum session_op op;
    const char *session; /* borrowed, or NULL: a box of its own */
    const json_t *cell;  /* borrowed, or NULL: the one before the last */
    const char *into;    /* borrowed, or NULL: the name of a fork */
    const char *path;    /* borrowed, or NULL: of a file in its workspace, and which part of it: */
    const json_t *typed[4];    /* borrowed, or NULL: text, keys, rows, columns */
    pid_t job;                 /* or 0: one that a shell left in the background */
    json_int_t offset, length; /* 0: from its beginning, as much as is usual */
    const json_t *allowed; /* borrowed from the configuration: keys that it may loosen, or NULL */
    struct settings settings;
    struct policy_lists lists; /* what it says about them */
    struct shell_settings shell;
    struct toolset *tools; /* those that its program may call, as they are now; or NULL */
    char *stdin_data;
    size_t stdin_bytes;
    int64_t bad_byte; /* of the code: the first that is no UTF-8, or is NUL; -1: there is none */
    size_t bad_line;  /* which it is in, from 1 */
    bool is_nul;      /* it is UTF-8 otherwise */
    bool is_binary;   /* whatever the code is, it is no text */
    struct mounts *mounts;      /* what it sees of the host, or NULL */
    struct request_files files; /* to be in its workspace */
};

/* Read one request. On failure *ret still holds what was understood (its id, say). */
int request_read(const struct config *config, const char *text, struct request *ret,
                 struct gb_err *err) gb_nodiscard;
void request_done(struct request *r);

/* The keys that a request may have, of every kind of request; NULL after the last. Those below
 * "limits" are not listed. Each is classified in manifest.c. */
const char *request_key(size_t i);
