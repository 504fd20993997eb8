#include "engine/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/parse.h"

void output_init(struct output *o, size_t limit)
{
    *o = (struct output){ .limit = limit };
}

void output_done(struct output *o)
{
    free(o->head);
    free(o->tail);
    *o = (struct output){ .limit = o->limit };
}

static size_t tail_max(const struct output *o)
{
    return o->limit / 2;
}

static size_t add_head(struct output *o, const char *bytes, size_t len)
{
    size_t room = o->limit - tail_max(o) - o->head_len, n = len < room ? len : room;

    if (n == 0)
        return 0;
    if (o->head_len + n > o->head_cap) {
        size_t cap = o->head_cap ? o->head_cap : 512;
        while (cap < o->head_len + n)
            cap *= 2;
        char *grown = realloc(o->head, cap);
        if (!grown)
            return 0;
        o->head = grown;
        o->head_cap = cap;
    }
    memcpy(o->head + o->head_len, bytes, n);
    o->head_len += n;
    return n;
}

static void add_tail(struct output *o, const char *bytes, size_t len)
{
    size_t max = tail_max(o);

    if (max == 0)
        return;
    if (!o->tail)
        o->tail = malloc(max);
    if (!o->tail)
        return;
    if (len > max) {
        bytes += len - max;
        len = max;
    }
    size_t first = len < max - o->tail_at ? len : max - o->tail_at;
    memcpy(o->tail + o->tail_at, bytes, first);
    memcpy(o->tail, bytes + first, len - first);
    o->tail_at = (o->tail_at + len) % max;
    o->tail_len = o->tail_len + len > max ? max : o->tail_len + len;
}

void output_add(struct output *o, const char *bytes, size_t len)
{
    size_t n = o->tail_len == 0 ? add_head(o, bytes, len) : 0;

    o->total += len;
    if (n < len)
        add_tail(o, bytes + n, len - n);
}

/* ---- text ---- */

/* Copy as UTF-8; a byte that is none becomes U+FFFD. Returns the end of what was written. */
static char *copy_utf8(char *to, const char *from, size_t len)
{
    static const char replacement[] = { '\xef', '\xbf', '\xbd' };
    const unsigned char *s = (const unsigned char *)from;

    for (size_t i = 0; i < len;) {
        unsigned n = utf8_char_len(s + i, len - i);
        if (n == 1 && s[i] >= 0x80) {
            memcpy(to, replacement, sizeof(replacement));
            to += sizeof(replacement);
        } else {
            memcpy(to, from + i, n);
            to += n;
        }
        i += n;
    }
    return to;
}

/* How many bytes at the end of head begin a character that the cut has split. */
static size_t split_at_end(const char *head, size_t len)
{
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        unsigned char c = (unsigned char)head[len - back];
        if ((c & 0xc0) == 0x80)
            continue;
        unsigned need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        return need > back ? back : 0;
    }
    return 0;
}

/* How many bytes at the start of tail continue such a character. */
static size_t split_at_start(const char *tail, size_t len)
{
    size_t n = 0;

    while (n < len && n < 3 && ((unsigned char)tail[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* The ring in order. */
static void unroll(const struct output *o, char *to)
{
    size_t max = tail_max(o), start = o->tail_len < max ? 0 : o->tail_at;
    size_t first = o->tail_len < max ? o->tail_len : max - start;

    if (o->tail_len == 0)
        return;
    memcpy(to, o->tail + start, first);
    memcpy(to + first, o->tail, o->tail_len - first);
}

json_t *output_text(const struct output *o, bool *ret_truncated)
{
    size_t head = o->head_len, tail = o->tail_len, skip = 0;
    bool cut = o->total > o->head_len + o->tail_len;
    auto_free char *raw = malloc(head + tail + 1);
    auto_free char *text = malloc((head + tail) * 3 + 128);
    char *at = text;

    *ret_truncated = cut;
    if (!raw || !text)
        return json_string("");
    if (head > 0)
        memcpy(raw, o->head, head);
    unroll(o, raw + head);
    if (!cut) {
        at = copy_utf8(at, raw, head + tail);
        return json_stringn(text, (size_t)(at - text));
    }
    size_t lost = split_at_end(raw, head);
    skip = split_at_start(raw + head, tail);
    at = copy_utf8(at, raw, head - lost);
    at += snprintf(at, 96, "\n... [%llu bytes not shown] ...\n",
                   (unsigned long long)(o->total - (head - lost) - (tail - skip)));
    at = copy_utf8(at, raw + head + skip, tail - skip);
    return json_stringn(text, (size_t)(at - text));
}
