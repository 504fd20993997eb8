#pragma once
/* The directory that captured files are written to. Whatever the files are called and whatever lies
 * in it already, nothing is written anywhere else. */
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* Open it, making it if it is not there. Returns a descriptor. */
int outdir_open(const char *path, struct gb_err *err) gb_nodiscard;

/* A file on its way: written beside its place, and moved there when it is whole. */
struct outfile {
    int dir, fd;
    char temp[40];
    const char *name; /* borrowed from the path */
};

#define OUTFILE_NONE ((struct outfile){ .dir = -1, .fd = -1 })

/* Returns 0 or -errno. */
int outfile_begin(int out, const char *path, bool is_executable, struct outfile *ret);
int outfile_commit(struct outfile *f); /* ends it in any case */
void outfile_abort(struct outfile *f);
