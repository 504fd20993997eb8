#pragma once
/* Lines that are typed, put together to commands: where does a shell command end? Decided from its
 * quotes, brackets, here-documents and the words that open and close something, without a shell. In
 * doubt it has ended: the shell will say what is wrong with it. */
#include <stdbool.h>
#include <stddef.h>

/* Do these lines, the last with its newline, want another one? */
bool command_is_unfinished(const char *text, size_t len);
