#pragma once
/*
 * What lies in a directory, however hostile: never through a link, never onto another file system,
 * never blocked by what is there; in steps, so that a loop can do something else in between. One
 * directory is open at a time, and directories wait in a queue by their paths, so that neither
 * depth nor width costs descriptors or stack.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/stamp.h"

enum {
    WALK_DIGEST = 16 /* bytes that tell one content from another */
};

struct walk_entry {
    char *path;       /* relative, as bytes */
    mode_t mode;      /* of a regular file, or of anything else but a link; 0: a directory, and: */
    const char *why;  /* it was not looked into; else NULL */
    uint64_t n_links; /* names that the file has anywhere */
    struct stamp stamp;
    /* What is in it, for whoever looks at that too. */
    const void *content; /* borrowed, or NULL: not known */
    bool has_digest;
    uint8_t digest[WALK_DIGEST];
};

enum walk_cut {
    WALK_WHOLE,
    WALK_MANY, /* there was more than is looked at */
    WALK_LONG  /* it took too long */
};

struct walk;

/* Begin. `dir` is a descriptor of the directory, borrowed. `unlock`: directories that their owner
 * has shut are opened first. NULL when memory ran out. */
struct walk *walk_new(int dir, size_t entries_max, bool unlock);

/* Who may see it: for a walker that may see more than the one on whose behalf it looks. */
struct walk_eyes {
    bool is_limited;
    uid_t uid;
    gid_t gid;
};

/* By owner, group and mode. What one owns one can make readable. */
static inline bool walk_may_read(const struct walk_eyes *eyes, const struct stat *st)
{
    return !eyes->is_limited || st->st_uid == eyes->uid ||
           (st->st_gid == eyes->gid ? (st->st_mode & S_IRGRP) != 0 : (st->st_mode & S_IROTH) != 0);
}

/* Look only into directories that these may look into. Before the first step. */
void walk_as(struct walk *w, const struct walk_eyes *eyes);

/* Look at up to about `n` more. True when there is nothing more to look at. */
bool walk_step(struct walk *w, size_t n);

/* Stop here. */
void walk_stop(struct walk *w, enum walk_cut why);

enum walk_cut walk_was_cut(const struct walk *w);

/* Note one that was seen elsewhere, in place of what is known of it. When the walk is over. Returns
 * the entry, for as long as nothing else is noted, or NULL when there is no room. */
struct walk_entry *walk_note(struct walk *w, const char *path, const struct stamp *stamp);

/* All that was found, in the order of its paths' bytes, borrowed. */
struct walk_entry *walk_sorted(struct walk *w, size_t *ret_n);

/* Does a regular file have names that the walk has not met? Those of other entries count. */
bool walk_is_foreign(const struct walk *w, const struct walk_entry *e);

/* Why it is no file that one could read; NULL for one that is. */
const char *walk_odd(const struct walk_entry *e);

struct walk *walk_free(struct walk *w); /* accepts NULL */

/* Is there nothing in it? `dir` can be read from its start again afterwards. */
bool dir_is_empty(int dir);
