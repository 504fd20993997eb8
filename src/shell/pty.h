#pragma once
/* The terminal of a persistent shell that has one. */
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "shell/screen.h"

enum {
    PTY_ROWS = 24,
    PTY_COLUMNS = 80,
};

struct pty {
    int master; /* -1: there is none */
    int slave;  /* held, so that it does not end with its last program */
    char path[64];
    struct screen screen;
};

int pty_open(struct pty *p, struct gb_err *err) gb_nodiscard;
int pty_resize(struct pty *p, int rows, int columns, struct gb_err *err) gb_nodiscard;

/* Is somebody in the session `session` waiting for something to be typed? `is_quiet`: nothing has
 * been printed for so long that one who waits for several things may be taken for one who waits for
 * this. */
bool pty_is_waited_for(const struct pty *p, pid_t session, bool is_quiet);

/* Type text, then keys by their names ("enter", "up", "ctrl-c", ...). Never waits: what does not
 * fit is refused. */
int pty_type(const struct pty *p, const json_t *text, const json_t *keys,
             struct gb_err *err) gb_nodiscard;

/* The bytes of a key; "" with *ret_len 0: there is none of that name. */
const char *pty_key(const char *name, size_t *ret_len);
