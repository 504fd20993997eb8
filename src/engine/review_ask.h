#pragma once
/* What is sent to a reviewer. */
#include <jansson.h>

#include "base/err.h"

/* Parts of a request that some servers do not know and that it works without. */
enum {
    ASK_TEMPERATURE = 1u << 0,
    ASK_FORMAT = 1u << 1,
    ASK_ALL = ASK_TEMPERATURE | ASK_FORMAT
};

/* A text that no program can contain, because it is made when the program is there already. */
struct ask_marker {
    char text[33];
};

int ask_marker(struct ask_marker *ret, struct gb_err *err) gb_nodiscard;

/* The two messages: how to judge, and the parts (manifest.h) between two lines with the marker.
 * `tools` is an array of names, or NULL. The caller owns the array; NULL with err. */
json_t *ask_messages(const json_t *parts, const json_t *tools, const struct ask_marker *marker,
                     struct gb_err *err);

/* The body of a request, which the caller frees. `model` may be NULL. NULL: no memory. */
char *ask_body(const char *model, const json_t *messages, unsigned parts);
