#pragma once
/*
 * What a stream says once a terminal's doings are taken out of it: colours, titles and cursor
 * movements are left out; a line that was written over is what it was last; a character that was
 * taken back is gone. It works as the bytes come, in a few kilobytes, whatever comes: a sequence
 * ends at the end of its line at the latest, so nothing can hide more than the line it is in.
 */
#include <stdbool.h>
#include <stddef.h>

enum plain_state {
    PLAIN_TEXT,
    PLAIN_ESCAPE,  /* after ESC */
    PLAIN_CHARSET, /* after ESC and an intermediate byte */
    PLAIN_CSI,     /* after ESC [ */
    PLAIN_STRING,  /* a title, a link, a device's own: up to BEL or ESC \ */
    PLAIN_STRING_ESCAPE
};

enum {
    PLAIN_LINE = 4096
};

struct plain {
    void (*emit)(void *data, const char *bytes, size_t len);
    void *data;
    enum plain_state state;
    bool is_returned; /* after \r: what comes next writes over the line */
    bool is_long;     /* the line's beginning has gone out already */
    size_t len;
    char line[PLAIN_LINE];
};

void plain_init(struct plain *p, void (*emit)(void *data, const char *bytes, size_t len),
                void *data);
void plain_add(struct plain *p, const char *bytes, size_t len);

/* There is no more: what is held of the last line goes out. */
void plain_end(struct plain *p);
