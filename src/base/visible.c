#include "base/visible.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/own.h"
#include "base/parse.h"

/* What shows nothing, moves what follows, or turns its order round. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x00ad, 0x00ad }, { 0x034f, 0x034f }, { 0x061c, 0x061c },   { 0x115f, 0x1160 },
    { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f },   { 0x2028, 0x202e },
    { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
    { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

static bool is_hidden(uint32_t c)
{
    if ((c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
        if (c >= hidden[i].first && c <= hidden[i].last)
            return true;
    return false;
}

static uint32_t decode(const unsigned char *s, unsigned n)
{
    static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    uint32_t c = s[0] & masks[n];

    for (unsigned i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3fu);
    return c;
}

void put_visible(FILE *f, const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;

    for (size_t i = 0; i < len;) {
        unsigned n = utf8_char_len(s + i, len - i);
        uint32_t c = decode(s + i, n);

        if (n == 1 && s[i] >= 0x80)
            fprintf(f, "\\x%02x", s[i]);
        else if (!is_hidden(c))
            fwrite(s + i, 1, n, f);
        else
            fprintf(f, c < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)c);
        i += n;
    }
}

void put_visible_text(FILE *f, const char *text)
{
    put_visible(f, text, strlen(text));
}

void put_visible_lines(FILE *f, const char *text, size_t max)
{
    size_t len = strnlen(text, max);

    for (const char *at = text, *end = text + len, *line; at < end; at = line + 1) {
        line = memchr(at, '\n', (size_t)(end - at));
        if (!line)
            line = end;
        fputc('\n', f);
        put_visible(f, at, (size_t)(line - at) - (line < end && line > at && line[-1] == '\r'));
    }
    if (text[len])
        (void)fprintf(f, "\n... (%zu bytes more are not shown)", strlen(text + len));
}
