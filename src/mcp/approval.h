#pragma once
/* Asking a person for a yes: a form with one box to tick, whoever it is for. */
#include <jansson.h>
#include <stdbool.h>

enum {
    APPROVAL_TEXT_MAX = 64 << 10 /* bytes: a question that is longer is not asked */
};

/* What mcp_call_ask() takes. `text` is what the person reads, `title` is beside the box, and so is
 * `description` unless it is NULL. NULL when memory ran out, or for no text. */
json_t *approval_question(const char *text, const char *title, const char *description);

/* Of the answers to it. Only a plain yes is one; who closed it has not said no. */
bool approval_is_given(const json_t *answers);
bool approval_is_dismissed(const json_t *answers);
