#pragma once
/* Text of others on a terminal of ours. */
#include <stddef.h>
#include <stdio.h>

/* Print it so that it cannot pretend to be anything else: control characters, and characters that
 * hide or reorder others, appear by their code. Tabs stay. */
void put_visible(FILE *f, const char *text, size_t len);

/* The same for a string. */
void put_visible_text(FILE *f, const char *text);
