#pragma once
/* What the operator configured: the keys of gb_engine_new()'s JSON. */
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "engine/policy.h"
#include "engine/settings.h"
#include "engine/shell.h"
#include "engine/tools.h"
#include "sandbox/mounts.h"

struct config {
    struct settings settings;
    struct policy_lists lists;
    struct shell_settings shell;
    struct toolset *tools;    /* what requests find; replaced as a whole, or NULL */
    json_t *env;              /* object of strings: PATH, HOME, LANG, TMPDIR and what was added */
    json_t *preload;          /* array of module names */
    json_t *allow_request;    /* array of keys that requests may loosen, or NULL */
    char *prelude;            /* the operator's own code, which runs before each program, or NULL */
    char *python;             /* or NULL */
    char *cgroup;             /* where to make control groups, or NULL (sandbox/cgroup.h) */
    char *extension_dir;      /* where the interpreter extension is */
    char *review;             /* where the reviewer is, or NULL: nobody reviews */
    char *review_model;       /* or NULL */
    char *review_key;         /* or NULL */
    char *review_ca;          /* a file of certificates to trust instead of the system's, or NULL */
    char *audit;              /* a file to append to, or NULL */
    char *out;                /* a directory for captured files, or NULL */
    char *spill;              /* a directory for the whole of what programs print, or NULL */
    json_t *control_files;    /* array of paths that no rw mount may have inside, or NULL */
    json_t *control_programs; /* the same of programs that are run outside any box */
    struct mounts *mounts;    /* what every program sees of the host, or NULL */
    unsigned pool;
    uint64_t session_idle_ms, session_life_ms;
    uint64_t session_queue;       /* requests that may wait for one */
    uint64_t session_checkpoints; /* cells that one can be taken back */
    uint64_t sessions_max;
    bool oneshot;
    bool acknowledge_unsafe;
    bool audit_required; /* nothing runs that cannot be recorded */
};

/* Read a configuration (NULL: all defaults). */
int config_init(struct config *c, const char *json, struct gb_err *err) gb_nodiscard;
void config_done(struct config *c);

/* What every environment holds unless something else is said: PATH, HOME, LANG, TMPDIR. New
 * reference. */
json_t *config_usual_env(void);
