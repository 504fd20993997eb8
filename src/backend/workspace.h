#pragma once
/* Putting files into a box's workspace before its program begins. */
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/stamp.h"

struct workspace_file {
    const char *path; /* relative, checked: no empty part, no "." and no ".." */
    const void *data;
    size_t bytes;
    struct stamp stamp; /* as it was put there */
};

/* Open a file in the directory to read it, as the user (uid, gid) would: through no link, and only
 * one that has no other name. Returns the descriptor, or -1 with err. */
int workspace_open(int dir, uid_t uid, gid_t gid, const char *path,
                   struct gb_err *err) gb_nodiscard;

/* Write the files into the directory, as the user (uid, gid) that will find them there. */
int workspace_put(int dir, uid_t uid, gid_t gid, struct workspace_file *files, size_t n,
                  struct gb_err *err) gb_nodiscard;
