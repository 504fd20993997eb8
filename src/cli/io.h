#pragma once
/* Reading and writing for the commands: whole pieces, interrupted calls and non-blocking
 * descriptors seen to, no stdio on the program's streams. */
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

/* Make sure that 0, 1 and 2 are open, so that no descriptor of the engine lands there. */
void io_ensure_standard(void);

/* Write all of it. Returns 0 or -errno; -EINTR when a signal asked us to stop. */
int write_all(int fd, const void *data, size_t len) gb_nodiscard;

/* Open a file to be read, "-" for standard input. Returns a descriptor that the caller closes,
 * or -1 with GB_E_SYSTEM; a directory is refused. */
int open_input(const char *path, struct gb_err *err) gb_nodiscard;

/* Read up to the end of file. `name` is for messages. Fails with GB_E_LIMIT when there is more
 * than the buffer takes, with errno EINTR when a signal asked us to stop. */
int read_all(int fd, const char *name, struct gb_buf *buf, struct gb_err *err) gb_nodiscard;

/* The same as JSON, up to `max` bytes. The caller drops it. */
int read_json(int fd, const char *name, size_t max, json_t **ret, struct gb_err *err) gb_nodiscard;

/* "glovebox: ...\n" on standard error, in one write. */
void message(const char *fmt, ...) gb_printf(1, 2);

/* The text of an error: its message, and its hint if it has one. */
void message_err(const struct gb_err *err);

/* Text that is collected with stdio and then written in one go. */
struct text {
    FILE *stream;
    char *data;
    size_t len;
};

/* Returns 0, or -1 when memory ran out. */
int text_open(struct text *t) gb_nodiscard;

/* Write what was collected to `fd` and free it. Returns 0 or -errno. */
int text_send(struct text *t, int fd) gb_nodiscard;

/* The same to standard output, as the last thing a command does: returns its exit status, which
 * is `status` unless the text could not be written. */
int text_finish(struct text *t, int status);

/* The exit status for a write to standard output that failed with `error` (-errno), after a
 * message; quiet when the reader is gone. */
int write_failed(int error);
