#pragma once
/*
 * Text of others, shown to people and to models. One table says which characters nobody sees.
 * People see such a character by its code; a model that is told of tools does not get it at all.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Is it a control character, or one that shows nothing, moves what follows, or turns its order
 * round? Tabs are none. */
bool visible_hides(uint32_t character);

/* The character at `text`, and how many of its `len` bytes it takes; a byte that belongs to none
 * is one of U+0080 to U+00FF. */
uint32_t visible_character(const char *text, size_t len, unsigned *ret_len);

/* Print it so that it cannot pretend to be anything else: control characters, and characters that
 * hide or reorder others, appear by their code. Tabs stay. */
void put_visible(FILE *f, const char *text, size_t len);

/* The same for a string. */
void put_visible_text(FILE *f, const char *text);

/* How a text is split into lines. */
enum visible_lines {
    LINES_SHELL,  /* \n: to a shell a carriage return is a character */
    LINES_PYTHON, /* \n, \r\n and \r, as Python's own reader does it */
    LINES_EITHER  /* as Python, and a \r is shown: nobody knows who will read it */
};

/* By name, "shell", "python" and "either": the last for any other. */
enum visible_lines visible_lines_of(const char *name);
const char *visible_lines_name(enum visible_lines how);

/* The next line, without its end, but with a \r that may be no end. *at is NULL at first. Returns
 * false when there is none. */
bool visible_line(const char *text, size_t len, enum visible_lines how, const char **at,
                  const char **ret, size_t *ret_len);

/* Print one line. Blanks before a form feed appear by their code if Python may read it: it forgets
 * them, so they indent nothing. */
void put_visible_line(FILE *f, const char *line, size_t len, enum visible_lines how);

/* All lines, each after a newline and `before`. */
void put_visible_lines(FILE *f, const char *text, size_t len, enum visible_lines how,
                       const char *before);

/* A copy without what nobody sees. New reference; NULL when the name of a member has such a
 * character, since it cannot be called differently, or when memory ran out. */
json_t *visible_only(const json_t *value);
