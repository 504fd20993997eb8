#pragma once
/* Directories of the host that a box is given to see: as they were asked for, resolved. */
#include <stdbool.h>
#include <stddef.h>

enum {
    MOUNTS_MAX = 16
};

struct mount {
    char *name; /* one path component: /mnt/NAME in the box */
    char *host; /* absolute, without links */
    bool is_rw;
};

/* Shared by what was configured, requests, boxes and plans; never changed once it is shared. */
struct mounts {
    unsigned refs;
    size_t n;
    struct mount list[MOUNTS_MAX];
};

/* An empty list with one reference; NULL when memory ran out. */
struct mounts *mounts_new(void);

struct mounts *mounts_ref(struct mounts *m);   /* accepts NULL */
struct mounts *mounts_unref(struct mounts *m); /* accepts NULL, returns it */

/* Add one, in the place of an earlier one of that name. Returns 0, -ENOSPC or -ENOMEM. */
int mounts_add(struct mounts *m, const char *name, const char *host, bool is_rw);

/* The one of that name, or NULL. */
const struct mount *mounts_find(const struct mounts *m, const char *name);

/* The same directories under the same names with the same modes? NULL is an empty list. */
bool mounts_same(const struct mounts *a, const struct mounts *b);

bool mounts_any_rw(const struct mounts *m);

/* Is it this directory, or anywhere below it? Both absolute and without links. */
bool path_is_below(const char *path, const char *dir);
