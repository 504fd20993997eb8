#pragma once
/* What was found in code, as a compiler would say it. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The code that findings are about. */
struct source {
    const char *name; /* of its file, for people */
    const char *code; /* NULL: not at hand */
    size_t len;
    bool is_colored;
    bool is_errors_only; /* leave out the warnings */
};

/* FILE:LINE:COLUMN: error: MESSAGE [RULE], the line, a caret, what to do instead; one after the
 * other. */
void findings_print(FILE *f, const json_t *findings, const struct source *source);

/* The next line of the code, as Python counts them, without its end. *at is NULL at first. Returns
 * false when there is none. */
bool source_next(const struct source *source, const char **at, const char **ret, size_t *ret_len);

/* May what goes to this descriptor be colored? */
bool wants_color(int fd);
