#pragma once
/* The fence (```) that chat puts around code. */
#include <stdbool.h>
#include <stddef.h>

/* If the whole text is one fenced block, overwrite both fences with spaces, so that the lines of
 * the code keep their numbers. Returns whether it was. Text with a third fence is left as it is. */
bool fence_blank(char *text, size_t len);
