#pragma once
/*
 * What a program did to files: those of its workspace and of its rw mounts that are there and were
 * not, that are not as they were, or are gone. Looked for when everything in the box is dead, in
 * slices of the engine's loop, within limits; what is left out is said.
 */
#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>

#include "backend/workspace.h"
#include "base/walk.h"
#include "engine/settings.h"
#include "sandbox/mounts.h"

struct capture;

struct capture_spec {
    struct event_base *base;
    const struct settings *settings;
    const struct mounts *mounts; /* borrowed, as all of it */
    int out;                     /* directory to write the workspace's files to, or -1 */
};

/* Called from the loop when a look is over. */
typedef void capture_done_fn(void *data);

/* NULL when memory ran out. */
struct capture *capture_new(const struct capture_spec *spec);

/* Look at the rw mounts before the program runs. True when that is done; else `done` will be
 * called. */
bool capture_before(struct capture *c, capture_done_fn *done, void *data);

/* The workspace of a program that has run. */
struct capture_ground {
    int dir;                            /* taken; or -1 */
    bool is_live;                       /* somebody still uses it: it is left as it is */
    struct walk *before;                /* taken: what was there; NULL: nothing */
    const struct workspace_file *files; /* that were put there since */
    size_t n_files;
};

/* Look at what there is afterwards, and take what is wanted of it. True when that is done; else
 * `done` will be called. */
bool capture_after(struct capture *c, const struct capture_ground *ground, capture_done_fn *done,
                   void *data);

/* What was in the workspace then, for whoever compares it with what comes later; or NULL. */
struct walk *capture_take_after(struct capture *c);

/* Put what was found into a result. */
void capture_tell(struct capture *c, json_t *result);

/* End it, whatever it is at. Accepts NULL. */
struct capture *capture_free(struct capture *c);
