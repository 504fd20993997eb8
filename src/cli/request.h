#pragma once
/* The request that `run` makes of its command line. In two steps, so that the engine can warm
 * its interpreter while the program is being read. */
#include "base/err.h"
#include "cli/cli.h"

struct request {
    const char *code;     /* -c, or NULL */
    const char *path;     /* the program's file as typed, "-" for standard input, or NULL */
    const char *filename; /* what messages call the program */
    int code_fd;
    int stdin_fd;
    int prelude_fd;
};

/* Decide what to run and open every file. GB_E_INVALID is a usage error. */
int request_open(const struct args *args, struct request *r, struct gb_err *err) gb_nodiscard;

/* Read the files and make the request's JSON, which the caller frees. */
int request_read(struct request *r, const struct args *args, char **ret,
                 struct gb_err *err) gb_nodiscard;

/* Closes the files. For auto_request. */
void request_done(struct request *r);

#define auto_request  __attribute__((cleanup(request_done)))
#define REQUEST_EMPTY ((struct request){ .code_fd = -1, .stdin_fd = -1, .prelude_fd = -1 })
