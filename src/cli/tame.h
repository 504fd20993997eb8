#pragma once
/*
 * What a program may say to a person's terminal.
 *
 * A terminal answers queries by typing: what a program asks, the shell that started glovebox would
 * get to execute. Sequences also set titles, clipboards, keys and modes that stay. So text passes,
 * with colours, line erasure and movements relative to where it stands; everything else is dropped.
 * It works as the bytes come. A sequence ends at the end of its line at the latest, so nothing can
 * hide more than the line that it is in.
 */
#include <stdbool.h>
#include <stddef.h>

enum {
    TAME_SEQUENCE = 64 /* bytes of one that can pass */
};

enum tame_state {
    TAME_TEXT,
    TAME_ESCAPE,  /* after ESC */
    TAME_CHARSET, /* after ESC and an intermediate byte */
    TAME_CSI,     /* after ESC [ */
    TAME_STRING,  /* a title, a clipboard, a device's own: up to BEL or ESC \ */
    TAME_STRING_ESCAPE
};

struct tame {
    enum tame_state state;
    size_t n_sequence;
    char sequence[TAME_SEQUENCE];
    unsigned continuation; /* bytes of a UTF-8 character that are to come */
    bool is_c1_lead;       /* after 0xc2: a control, or a letter */
};

/* What may pass of these bytes, in `ret`, which has room for len + TAME_SEQUENCE. Returns how many.
 * A struct of zeros is at the beginning. */
size_t tame_add(struct tame *t, const char *bytes, size_t len, char *ret);
