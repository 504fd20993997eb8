#pragma once
/* A result as people read it. */
#include <jansson.h>
#include <stdbool.h>

struct gb_err;

struct report {
    const char *filename;    /* of the program, for findings */
    const char *request;     /* the text of the request, for lines of the code; or NULL */
    bool is_line_open;       /* the guest's last byte on standard error was not a newline */
    bool are_warnings_known; /* whoever reads this has seen them with a question */
};

/* Say on standard error what the guest itself could not: its traceback, what was found in the
 * code, which limit ended it, why it could not run. Says nothing about a guest that ended well. */
void report_result(const json_t *result, const struct report *r);

/* Say on standard error which files were not written out, and why. `dir` is where they were to
 * go. */
void report_unwritten(const json_t *result, const char *dir, const struct report *r);

/* The exit status that a result asks for. */
int report_exit_code(const json_t *result);

/* A result of status "failed" for what goes wrong before the engine can make one. `error` is
 * {"type", "message", "hint"}, or NULL when memory ran out; it is borrowed. NULL when memory
 * really ran out. */
json_t *report_failed(const json_t *error);

/* Tell that there is no engine: `error` as above, in words or as a result object. Returns the exit
 * status: a configuration that the engine does not take is a usage error. */
int report_refused(const json_t *error, bool want_json);

/* The same for what went wrong on this side. */
int report_err(const struct gb_err *err, bool want_json);

/* Parse what the engine answered; the caller drops the reference. When there is nothing to parse,
 * tells so like report_refused(), puts the exit status in *ret_status and returns NULL. */
json_t *report_parse(const char *text, bool want_json, int *ret_status);
