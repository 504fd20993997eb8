#include "shell/plain.h"

#include <string.h>

#include "base/own.h"

enum {
    BEL = 0x07,
    BACKSPACE = 0x08,
    ESC = 0x1b,
    DEL = 0x7f
};

void plain_init(struct plain *p, void (*emit)(void *data, const char *bytes, size_t len),
                void *data)
{
    *p = (struct plain){ .emit = emit, .data = data };
}

static void flush(struct plain *p)
{
    if (p->len > 0)
        p->emit(p->data, p->line, p->len);
    p->len = 0;
}

static void end_line(struct plain *p)
{
    flush(p);
    p->emit(p->data, "\n", 1);
    p->is_long = p->is_returned = false;
    p->state = PLAIN_TEXT;
}

/* What was there is written over. Of a line whose beginning is out already, a new one begins. */
static void write_over(struct plain *p)
{
    if (p->is_long)
        end_line(p);
    p->len = 0;
    p->is_returned = false;
}

/* The last character, which may be of several bytes. */
static void take_back(struct plain *p)
{
    while (p->len > 0 && ((unsigned char)p->line[--p->len] & 0xc0) == 0x80)
        ;
}

static void put(struct plain *p, char c)
{
    if (p->is_returned)
        write_over(p);
    if (p->len == sizeof(p->line)) {
        flush(p);
        p->is_long = true;
    }
    p->line[p->len++] = c;
}

static void on_text(struct plain *p, unsigned char c)
{
    switch (c) {
    case ESC:
        p->state = PLAIN_ESCAPE;
        break;
    case '\r':
        p->is_returned = true;
        break;
    case BACKSPACE:
        take_back(p);
        break;
    case BEL:
    case 0x0e: /* other character sets */
    case 0x0f:
    case DEL:
        break;
    default:
        put(p, (char)c);
        break;
    }
}

static void on_escape(struct plain *p, unsigned char c)
{
    if (c == '[')
        p->state = PLAIN_CSI;
    else if (strchr("]P^_X", c) && c)
        p->state = PLAIN_STRING;
    else
        p->state = c >= 0x20 && c <= 0x2f ? PLAIN_CHARSET : PLAIN_TEXT;
}

static void on_charset(struct plain *p, unsigned char c)
{
    if (c < 0x20 || c > 0x2f)
        p->state = PLAIN_TEXT;
}

static void on_csi(struct plain *p, unsigned char c)
{
    if (c >= 0x20 && c <= 0x3f)
        return; /* its parameters */
    if ((c == 'K' || c == 'J') && p->is_returned)
        write_over(p);
    p->state = c == ESC ? PLAIN_ESCAPE : PLAIN_TEXT;
}

static void on_string(struct plain *p, unsigned char c)
{
    if (c == BEL)
        p->state = PLAIN_TEXT;
    else if (c == ESC)
        p->state = PLAIN_STRING_ESCAPE;
}

static void on_string_escape(struct plain *p, unsigned char c)
{
    p->state = c == '\\' ? PLAIN_TEXT : PLAIN_STRING;
}

void plain_add(struct plain *p, const char *bytes, size_t len)
{
    static void (*const by_state[])(struct plain *, unsigned char) = {
        [PLAIN_TEXT] = on_text,       [PLAIN_ESCAPE] = on_escape,
        [PLAIN_CHARSET] = on_charset, [PLAIN_CSI] = on_csi,
        [PLAIN_STRING] = on_string,   [PLAIN_STRING_ESCAPE] = on_string_escape,
    };

    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\n')
            end_line(p);
        else
            by_state[p->state](p, (unsigned char)bytes[i]);
    }
}

void plain_end(struct plain *p)
{
    flush(p);
}
