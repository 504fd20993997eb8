#pragma once
/* The requests that `run` and `check` make of their command lines. That of `run` in two steps, so
 * that the engine can warm its interpreter while the program is being read. */
#include "base/buf.h"
#include "base/err.h"
#include "cli/cli.h"

struct request {
    const char *code;     /* -c, or NULL */
    const char *path;     /* the program's file as typed, "-" for standard input, or NULL */
    const char *filename; /* what messages call the program */
    int code_fd;
    int stdin_fd;
    int prelude_fd;
    int *file_fds; /* one for each of --file */
    size_t n_files;
};

/* Decide what to run and open every file. GB_E_INVALID is a usage error. */
int request_open(const struct args *args, struct request *r, struct gb_err *err) gb_nodiscard;

/* Read the files and make the request's JSON, which the caller frees. */
int cli_request_read(struct request *r, const struct args *args, char **ret,
                     struct gb_err *err) gb_nodiscard;

/* The request that checks a file ("-" for standard input), which the caller frees. Its text is
 * left in `text`, whatever happens. `prelude` is set with it, or NULL. */
int request_check(const char *path, const json_t *prelude, struct gb_buf *text, char **ret,
                  struct gb_err *err) gb_nodiscard;

/* The same for code as it was typed. */
int request_check_code(const char *code, const json_t *prelude, char **ret,
                       struct gb_err *err) gb_nodiscard;

/* The text of a file as a JSON string; NULL with err, also when it is not UTF-8. */
json_t *request_text_of(const char *path, struct gb_err *err);

/* How much is read of a file. */
#define REQUEST_BYTES_MAX ((size_t)64 << 20)

/* Closes the files. For auto_request. */
void cli_request_done(struct request *r);

#define auto_request  __attribute__((cleanup(cli_request_done)))
#define REQUEST_EMPTY ((struct request){ .code_fd = -1, .stdin_fd = -1, .prelude_fd = -1 })
