#include "cli/tame.h"

#include <string.h>

enum {
    BEL = 0x07,
    BACKSPACE = 0x08,
    ESC = 0x1b,
    DEL = 0x7f
};

/* Where the bytes that pass go. */
struct sink {
    char *bytes;
    size_t n;
};

static void pass(struct sink *out, const char *bytes, size_t len)
{
    memcpy(out->bytes + out->n, bytes, len);
    out->n += len;
}

/* ---- text ---- */

/* Bytes from 0x80 on. Those of a character pass; the controls from U+0080 to U+009F, which some
 * terminals take for sequences, do not, nor do they as single bytes. */
static void on_high_byte(struct tame *t, unsigned char c, struct sink *out)
{
    const char pair[2] = { (char)0xc2, (char)c };

    if (t->is_c1_lead) {
        t->is_c1_lead = false;
        if (c >= 0xa0 && c <= 0xbf)
            pass(out, pair, sizeof(pair));
    } else if (c == 0xc2) {
        t->is_c1_lead = true;
        t->continuation = 0;
    } else if (c >= 0xc3) {
        t->continuation = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        pass(out, &pair[1], 1);
    } else if (t->continuation > 0) {
        t->continuation--;
        pass(out, &pair[1], 1);
    }
}

static void on_text(struct tame *t, unsigned char c, struct sink *out)
{
    char byte = (char)c;

    if (c >= 0x80) {
        on_high_byte(t, c, out);
        return;
    }
    t->is_c1_lead = false;
    t->continuation = 0;
    if (c == ESC)
        t->state = TAME_ESCAPE;
    else if ((c >= 0x20 && c != DEL) || c == '\n' || c == '\r' || c == '\t' || c == BACKSPACE)
        pass(out, &byte, 1);
}

/* ---- sequences ---- */

static void on_escape(struct tame *t, unsigned char c, struct sink *out)
{
    (void)out;
    if (c == '[') {
        t->state = TAME_CSI;
        t->n_sequence = 0;
    } else if (c && strchr("]P^_X", c)) {
        t->state = TAME_STRING;
    } else if (c != ESC) {
        t->state = c >= 0x20 && c <= 0x2f ? TAME_CHARSET : TAME_TEXT;
    }
}

static void on_charset(struct tame *t, unsigned char c, struct sink *out)
{
    (void)out;
    if (c < 0x20 || c > 0x2f)
        t->state = c == ESC ? TAME_ESCAPE : TAME_TEXT;
}

/* Colours, line erasure, movements from where it stands. Parameters are numbers: a "?" or ">" makes
 * a mode or a query of many of these. */
static bool may_pass(const struct tame *t, unsigned char final)
{
    static const char finals[] = "mKABCDEFG";

    if (!strchr(finals, final))
        return false;
    for (size_t i = 0; i < t->n_sequence; i++)
        if (!strchr(final == 'm' ? "0123456789;:" : "0123456789", t->sequence[i]))
            return false;
    return t->n_sequence + 3 <= TAME_SEQUENCE;
}

static void on_csi(struct tame *t, unsigned char c, struct sink *out)
{
    char final = (char)c;

    if (c >= 0x20 && c <= 0x3f) {
        if (t->n_sequence < sizeof(t->sequence))
            t->sequence[t->n_sequence++] = (char)c;
        return;
    }
    if (c >= 0x40 && c <= 0x7e && may_pass(t, c)) {
        pass(out, "\x1b[", 2);
        pass(out, t->sequence, t->n_sequence);
        pass(out, &final, 1);
    }
    t->state = c == ESC ? TAME_ESCAPE : TAME_TEXT;
}

static void on_string(struct tame *t, unsigned char c, struct sink *out)
{
    (void)out;
    if (c == BEL)
        t->state = TAME_TEXT;
    else if (c == ESC)
        t->state = TAME_STRING_ESCAPE;
}

static void on_string_escape(struct tame *t, unsigned char c, struct sink *out)
{
    (void)out;
    t->state = c == '\\' ? TAME_TEXT : c == ESC ? TAME_STRING_ESCAPE : TAME_STRING;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): pass() writes there */
size_t tame_add(struct tame *t, const char *bytes, size_t len, char *ret)
{
    static void (*const by_state[])(struct tame *, unsigned char, struct sink *) = {
        [TAME_TEXT] = on_text, [TAME_ESCAPE] = on_escape, [TAME_CHARSET] = on_charset,
        [TAME_CSI] = on_csi,   [TAME_STRING] = on_string, [TAME_STRING_ESCAPE] = on_string_escape,
    };
    struct sink out = { ret, 0 };

    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\n')
            t->state = TAME_TEXT;
        by_state[t->state](t, (unsigned char)bytes[i], &out);
    }
    return out.n;
}
