/* What the parser stands on: its place in the text, its memory, its depth. */
#include "shell/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CHUNK = 16 << 10,
    BYTES_MAX = 24 << 20
};

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(16) char data[];
};

int parser_fail(struct parser *p, const char *fmt, ...)
{
    va_list ap;

    p->problem->line = p->line;
    va_start(ap, fmt);
    (void)vsnprintf(p->problem->message, sizeof(p->problem->message), fmt, ap);
    va_end(ap);
    return -1;
}

void *parser_alloc(struct parser *p, size_t bytes)
{
    struct chunk *c = p->chunks;

    bytes = (bytes + 15) & ~(size_t)15;
    if (!c || c->size - c->used < bytes) {
        size_t size = bytes > CHUNK ? bytes : CHUNK;

        c = p->bytes + size > BYTES_MAX ? NULL : malloc(sizeof(*c) + size);
        if (!c) {
            (void)parser_fail(p, "it takes too much memory to read");
            return NULL;
        }
        *c = (struct chunk){ .next = p->chunks, .size = size };
        p->chunks = c;
        p->bytes += size;
    }
    c->used += bytes;
    return c->data + c->used - bytes;
}

int parser_peek(struct parser *p)
{
    while (at(p, p->at) == '\\' && at(p, p->at + 1) == '\n') {
        p->at += 2;
        p->line++;
    }
    return at(p, p->at);
}

int parser_peek2(struct parser *p)
{
    size_t i;

    if (parser_peek(p) == END)
        return END;
    for (i = p->at + 1; at(p, i) == '\\' && at(p, i + 1) == '\n';)
        i += 2;
    return at(p, i);
}

int parser_raw(struct parser *p)
{
    int c = at(p, p->at);

    if (c != END)
        p->at++;
    p->line += c == '\n';
    return c;
}

int parser_take(struct parser *p)
{
    (void)parser_peek(p);
    return parser_raw(p);
}

int parser_enter(struct parser *p)
{
    return ++p->depth > SHELL_DEPTH_MAX
               ? parser_fail(p, "it is nested more than %d deep", SHELL_DEPTH_MAX)
               : 0;
}

void parser_leave(struct parser *p)
{
    p->depth--;
}

void parser_dive(struct parser *p, const char *text, size_t len, struct parser *ret_outer)
{
    *ret_outer = *p;
    p->text = text;
    p->len = len;
    p->at = 0;
    p->n_heredocs = 0;
}

void parser_surface(struct parser *p, const struct parser *outer)
{
    p->text = outer->text;
    p->len = outer->len;
    p->at = outer->at;
    p->line = outer->line;
    p->n_heredocs = outer->n_heredocs;
}

void parser_done(struct parser *p)
{
    while (p->chunks) {
        struct chunk *next = p->chunks->next;
        free(p->chunks);
        p->chunks = next;
    }
}
