#include "http/chunks.h"

#include <string.h>

#include "http/head.h"

enum {
    LINE_MAX_BYTES = 1024, /* of a size with its extensions, and of a field behind the body */
    DIGITS_MAX = 15,
    FRAMED_FREE = 64 << 10, /* bytes around the body that are taken in any case */
    FRAMED_PER_BYTE = 8     /* and for each of its bytes: one byte in a chunk costs five */
};

enum state {
    SIZE,
    DATA,
    DATA_END,
    FIELDS,
    OVER
};

/* ---- lines ---- */

enum line {
    LINE_WHOLE,
    LINE_PART,
    LINE_BAD
};

/* The next line, without its end, which is CR LF. */
static enum line take_line(struct chunks *c, struct evbuffer *from, char line[LINE_MAX_BYTES + 1],
                           size_t *ret_len)
{
    size_t have = evbuffer_get_length(from);
    size_t n = have < LINE_MAX_BYTES ? have : LINE_MAX_BYTES;
    const char *end;

    if (n == 0)
        return LINE_PART;
    (void)evbuffer_copyout(from, line, n);
    end = memchr(line, '\n', n);
    if (!end)
        return n == LINE_MAX_BYTES ? LINE_BAD : LINE_PART;
    if (end == line || end[-1] != '\r')
        return LINE_BAD;
    *ret_len = (size_t)(end - line) - 1;
    line[*ret_len] = '\0';
    if (strlen(line) != *ret_len || strchr(line, '\r'))
        return LINE_BAD;
    c->framed += *ret_len + 2;
    (void)evbuffer_drain(from, *ret_len + 2);
    return c->framed > FRAMED_FREE + FRAMED_PER_BYTE * c->total ? LINE_BAD : LINE_WHOLE;
}

/* ---- sizes ---- */

static size_t token_len(const char *text)
{
    size_t n = 0;

    while (text[n] && head_is_token(text + n, 1))
        n++;
    return n;
}

/* How long the quoted string is that the text begins with; 0: it is none. */
static size_t quoted_len(const char *text)
{
    size_t n = 1;

    if (*text != '"')
        return 0;
    for (; text[n] && text[n] != '"'; n++) {
        n += text[n] == '\\';
        if (((unsigned char)text[n] < 0x20 && text[n] != '\t') || text[n] == 0x7f)
            return 0;
    }
    return text[n] == '"' ? n + 1 : 0;
}

/* *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] ) */
static bool is_extensions(const char *at)
{
    while (*at) {
        size_t n;

        at += strspn(at, " \t");
        if (*at++ != ';')
            return false;
        at += strspn(at, " \t");
        n = token_len(at);
        if (n == 0)
            return false;
        at += n;
        n = strspn(at, " \t");
        if (at[n] != '=')
            continue;
        at += n + 1;
        at += strspn(at, " \t");
        n = *at == '"' ? quoted_len(at) : token_len(at);
        if (n == 0)
            return false;
        at += n;
    }
    return true;
}

static bool take_size(struct chunks *c, const char *line)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    size_t n = strspn(line, hex);
    uint64_t size = 0;

    if (n == 0 || n > DIGITS_MAX || !is_extensions(line + n))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t digit = (size_t)(strchr(hex, line[i]) - hex);

        size = size << 4 | (digit < 16 ? digit : digit - 6);
    }
    c->left = size;
    c->state = size > 0 ? DATA : FIELDS;
    return true;
}

/* ---- all of it ---- */

static bool use_line(struct chunks *c, const char *line, size_t len)
{
    if (c->state == SIZE)
        return take_size(c, line);
    if (c->state == DATA_END) {
        c->state = SIZE;
        return len == 0;
    }
    if (len > 0)
        return head_is_field(line, len);
    c->state = OVER;
    return true;
}

bool chunks_move(struct evbuffer *from, struct gb_buf *to, size_t n)
{
    struct gb_err err;
    int got;

    if (n == 0)
        return true;
    if (gb_buf_reserve(to, n, &err) < 0)
        return false;
    got = evbuffer_remove(from, to->data + to->len, n);
    to->len += got > 0 ? (size_t)got : 0;
    return got >= 0 && (size_t)got == n;
}

static bool move_data(struct chunks *c, struct evbuffer *from, struct gb_buf *to)
{
    size_t have = evbuffer_get_length(from);
    size_t n = have < c->left ? have : (size_t)c->left;

    if (!chunks_move(from, to, n))
        return false;
    c->left -= n;
    c->total += n;
    if (c->left == 0)
        c->state = DATA_END;
    return true;
}

enum chunks_said chunks_take(struct chunks *c, struct evbuffer *from, struct gb_buf *to,
                             uint64_t max)
{
    char line[LINE_MAX_BYTES + 1];
    size_t len = 0;

    while (c->state != OVER) {
        enum line got;

        if (c->state == DATA) {
            if (c->left > max || c->total > max - c->left)
                return CHUNKS_TOO_BIG;
            if (evbuffer_get_length(from) == 0)
                return CHUNKS_MORE;
            if (!move_data(c, from, to))
                return CHUNKS_TOO_BIG;
            continue;
        }
        got = take_line(c, from, line, &len);
        if (got == LINE_PART)
            return CHUNKS_MORE;
        if (got == LINE_BAD || !use_line(c, line, len))
            return CHUNKS_MALFORMED;
    }
    return CHUNKS_OVER;
}
