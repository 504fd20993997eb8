#pragma once
/* What the two halves of the parser share: words.c reads words and what is expanded in them,
 * parse.c the commands that they are in. */
#include "shell/parse.h"

enum {
    END = -1,
    HEREDOCS_MAX = 16
};

struct heredoc {
    const char *delimiter;
    bool is_quoted;   /* nothing is expanded in it */
    bool strips_tabs; /* <<- */
};

struct chunk;

struct parser {
    const char *text;
    size_t len, at, line;
    int depth, n_substitutions;
    const struct shell_visitor *visitor;
    struct shell_problem *problem;
    struct shell_parsed parsed;
    struct heredoc heredocs[HEREDOCS_MAX]; /* whose bodies come after this line */
    size_t n_heredocs;
    struct chunk *chunks; /* memory that is freed as a whole */
    size_t bytes;
};

enum word_mode {
    WORD_USUAL,
    WORD_REGEX /* behind =~, where parentheses and bars are part of the word */
};

/* Note a problem. Returns -1. */
__attribute__((format(printf, 2, 3))) int parser_fail(struct parser *p, const char *fmt, ...);

/* From the parser's own memory; NULL with a problem. */
void *parser_alloc(struct parser *p, size_t bytes);

/* Give its memory back. */
void parser_done(struct parser *p);

/* The byte at a place, or END. */
static inline int at(const struct parser *p, size_t i)
{
    return i < p->len ? (unsigned char)p->text[i] : END;
}

/* The next byte, or END; a backslash before a newline joins the lines. */
int parser_peek(struct parser *p);
/* The one behind it. */
int parser_peek2(struct parser *p);
/* Take the next byte. */
int parser_take(struct parser *p);
/* The next byte and no more than that: in quotes. */
int parser_raw(struct parser *p);

/* One deeper. Returns -1 with a problem when that is too deep. */
int parser_enter(struct parser *p);
void parser_leave(struct parser *p);

/* Read another text for a while: what was read of this one is kept in *ret_outer. */
void parser_dive(struct parser *p, const char *text, size_t len, struct parser *ret_outer);
void parser_surface(struct parser *p, const struct parser *outer);

/* Commands up to a closing parenthesis, which is taken. */
int parse_substitution(struct parser *p);

/* Commands that are the whole of another text. */
int parse_inner(struct parser *p, const char *text, size_t len);

/* A word, which must be there. */
int parse_word(struct parser *p, enum word_mode mode, struct shell_word *ret);

/* Arithmetic after its opening, up to and with the two closing parentheses: numbers and operators
 * only. */
int parse_arithmetic(struct parser *p);

/* What is expanded in a here-document. */
int parse_heredoc_body(struct parser *p, const char *text, size_t len);

/* Is this an assignment? Then its name, else NULL. -1 in *ret with a problem. */
const char *word_assigns(struct parser *p, size_t from, size_t to, int *ret);
