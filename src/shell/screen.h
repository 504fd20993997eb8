#pragma once
/*
 * What a terminal would show: a grid of characters and a cursor, after the control sequences that
 * programs use to move about, erase and scroll. Colours, titles, mice and questions are read over:
 * it never answers anything. Double-width characters take one place.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SCREEN_ROWS_MAX = 200,
    SCREEN_COLUMNS_MAX = 400,
    SCREEN_NUMBERS = 8,
};

struct screen {
    int rows, columns;
    int row, column;             /* of the cursor, from 0; the column may be one too far */
    int saved_row, saved_column; /* ESC 7 */
    int top, bottom;             /* what scrolls */
    uint32_t *cells;             /* rows * columns, 0: nothing */
    uint32_t *other;             /* what was there before a program took the screen, or NULL */
    int state;                   /* within a sequence */
    int numbers[SCREEN_NUMBERS];
    size_t n_numbers;
    char prefix; /* of a sequence: '?' and the like, or 0 */
    uint32_t code;
    int more;       /* bytes that a character still has */
    uint32_t least; /* that one of its length can be */
};

/* Returns 0, or -1: there is no memory. */
int screen_init(struct screen *s, int rows, int columns);
void screen_done(struct screen *s);
int screen_resize(struct screen *s, int rows, int columns);

void screen_add(struct screen *s, const char *bytes, size_t len);

/* The lines, without blanks at their ends and empty ones at the end, as UTF-8; the caller frees
 * it. */
char *screen_text(const struct screen *s);
