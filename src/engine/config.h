#pragma once
/* What the operator configured: the keys of gb_engine_new()'s JSON. */
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "engine/settings.h"

struct config {
    struct settings settings;
    json_t *env;           /* object of strings: PATH, HOME, LANG, TMPDIR and what was added */
    json_t *preload;       /* array of module names */
    json_t *allow_request; /* array of keys that requests may loosen, or NULL */
    char *python;          /* or NULL */
    char *cgroup;          /* a delegated control group, or NULL */
    char *extension_dir;   /* where the interpreter extension is */
    char *audit;           /* a file to append to, or NULL */
    unsigned pool;
    bool oneshot;
    bool acknowledge_unsafe;
    bool audit_required; /* nothing runs that cannot be recorded */
};

/* Read a configuration (NULL: all defaults). */
int config_init(struct config *c, const char *json, struct gb_err *err) gb_nodiscard;
void config_done(struct config *c);
