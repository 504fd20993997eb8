#pragma once
/* Boxes on this machine, forked from a warm interpreter. */
#include "backend/backend.h"

struct local_spec {
    struct event_base *base;   /* borrowed */
    const char *python;        /* NULL: python3 on PATH */
    const char *extension_dir; /* where the interpreter extension is */
    const json_t *preload;     /* array of module names; borrowed */
    const json_t *env;         /* the guest's environment; borrowed */
    unsigned pool;             /* boxes kept waiting */
    const char *cgroup;        /* where to make control groups, or NULL (sandbox/cgroup.h) */
    bool oneshot;              /* one box, made at once; nothing is refilled */
    struct run_order usual;    /* what the waiting boxes are made for */
};

/* Starts the interpreter; does not wait for it. */
int local_new(const struct local_spec *spec, struct backend **ret, struct gb_err *err) gb_nodiscard;
