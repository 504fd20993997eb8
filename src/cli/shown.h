#pragma once
/* What a program displays, for somebody who reads its output: text, and pictures as files. */
#include <stdbool.h>
#include <stddef.h>

struct shown {
    const char *dir; /* where files go; NULL: to a new directory among the temporary ones */
    char *made;      /* that directory, once there is one */
};

/* What became of a thing; text and file are the caller's to free, and either may be NULL. */
struct shown_as {
    char *text; /* to be printed, with a newline at its end */
    size_t len;
    char *file;       /* where it was written */
    const char *what; /* it is: "figure" or "output" */
};

/* Show a thing: `forms` is what the display callback was given. No file is ever overwritten. What
 * goes wrong with a file is said on standard error. */
struct shown_as shown_take(struct shown *s, const char *forms);

void shown_done(struct shown *s);
