#pragma once
/* Text of others on a terminal of ours. */
#include <stddef.h>
#include <stdio.h>

/* Print it so that it cannot pretend to be anything else: control characters, and characters that
 * hide or reorder others, appear by their code. Tabs stay. */
void put_visible(FILE *f, const char *text, size_t len);

/* The same for a string. */
void put_visible_text(FILE *f, const char *text);

/* The same for its lines, each after a newline, up to so many bytes; and how many are left. */
void put_visible_lines(FILE *f, const char *text, size_t max);
