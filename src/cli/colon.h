#pragma once
/* Lines that begin with a colon: words to a prompt itself, not to what runs behind it. */
#include <stdbool.h>
#include <stddef.h>

struct colon_word {
    const char *word, *operand, *summary;
    void (*say)(void *data, const char *rest); /* `rest` is what stands behind the word */
};

/* Obey a line, without its colon. False: it is none of these words. */
bool colon_obey(const struct colon_word *words, size_t n, const char *line, void *data);

/* Print what there is, and `more` below it. */
void colon_help(const struct colon_word *words, size_t n, const char *more);
