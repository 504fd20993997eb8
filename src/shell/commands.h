#pragma once
/* Rules by parsed command: which commands a text may run (parse.h). */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct commands_verdict {
    bool is_allowed;
    bool is_bash;      /* it means this only to bash */
    size_t line;       /* of what is refused, from 1 */
    char name[64];     /* the command that is refused, or "" */
    char message[320]; /* why */
};

/* Is it a variable by which a shell decides what runs? */
bool commands_decides(const char *variable);

/* Is every command in the text in this list of names? */
void commands_check(const char *text, size_t len, const json_t *allowed,
                    struct commands_verdict *ret);
