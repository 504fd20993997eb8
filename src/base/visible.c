#include "base/visible.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"

/* What shows nothing, moves what follows, or turns its order round: Unicode's format characters and
 * "default ignorable" ones, fillers and blanks that are no spaces, variation selectors, tags, and
 * what has no meaning that people agree on (private use, noncharacters). */
static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x00ad, 0x00ad },   { 0x034f, 0x034f },   { 0x061c, 0x061c },   { 0x070f, 0x070f },
    { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },   { 0x200b, 0x200f },
    { 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0x2800, 0x2800 },   { 0x3164, 0x3164 },
    { 0xe000, 0xf8ff },   { 0xfdd0, 0xfdef },   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
    { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffc },   { 0xfffe, 0xffff },   { 0x13430, 0x1343f },
    { 0x1bca0, 0x1bca3 }, { 0x1d159, 0x1d159 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0x10ffff },
};

bool visible_hides(uint32_t c)
{
    size_t low = 0, high = ARRAY_LEN(hidden);

    if ((c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0))
        return true;
    if (c < hidden[0].first)
        return false;
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (c > hidden[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ARRAY_LEN(hidden) && c >= hidden[low].first;
}

uint32_t visible_character(const char *text, size_t len, unsigned *ret_len)
{
    static const unsigned char masks[] = { 0, 0xff, 0x1f, 0x0f, 0x07 };
    const unsigned char *s = (const unsigned char *)text;
    unsigned n = utf8_char_len(s, len);
    uint32_t c = s[0] & masks[n];

    for (unsigned i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3fu);
    *ret_len = n;
    return c;
}

void put_visible(FILE *f, const char *text, size_t len)
{
    unsigned n;

    for (size_t i = 0; i < len; i += n) {
        uint32_t c = visible_character(text + i, len - i, &n);

        if (n > 1 ? !visible_hides(c) : c < 0x80 && !visible_hides(c))
            fwrite(text + i, 1, n, f);
        else
            fprintf(f, c < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)c);
    }
}

void put_visible_text(FILE *f, const char *text)
{
    put_visible(f, text, strlen(text));
}

/* ---- lines ---- */

static const char *const lines_names[] = {
    [LINES_SHELL] = "shell", [LINES_PYTHON] = "python", [LINES_EITHER] = "either"
};

enum visible_lines visible_lines_of(const char *name)
{
    size_t i = 0;

    while (i < LINES_EITHER && strcmp(lines_names[i], name) != 0)
        i++;
    return (enum visible_lines)i;
}

const char *visible_lines_name(enum visible_lines how)
{
    return lines_names[how];
}

bool visible_line(const char *text, size_t len, enum visible_lines how, const char **at,
                  const char **ret, size_t *ret_len)
{
    const char *end = text + len, *stop;

    if (!*at)
        *at = text;
    if (!*at || *at >= end)
        return false;
    for (stop = *at; stop < end && *stop != '\n' && (*stop != '\r' || how == LINES_SHELL);)
        stop++;
    bool is_pair = end - stop > 1 && stop[0] == '\r' && stop[1] == '\n';
    bool is_return = stop < end && stop[0] == '\r' && !is_pair;

    *ret = *at;
    *ret_len = (size_t)(stop - *at) + (how == LINES_EITHER && is_return);
    *at = stop + (is_pair ? 2 : 1);
    return true;
}

/* How much of the line Python forgets: up to the last form feed of what indents it. */
static size_t forgotten(const char *line, size_t len)
{
    size_t until = 0;

    for (size_t i = 0; i < len && (line[i] == ' ' || line[i] == '\t' || line[i] == '\f'); i++)
        if (line[i] == '\f')
            until = i;
    return until;
}

void put_visible_line(FILE *f, const char *line, size_t len, enum visible_lines how)
{
    size_t skip = how != LINES_SHELL ? forgotten(line, len) : 0;

    for (size_t i = 0; i < skip; i++)
        fprintf(f, "\\x%02x", (unsigned char)line[i]);
    put_visible(f, line + skip, len - skip);
}

void put_visible_lines(FILE *f, const char *text, size_t len, enum visible_lines how,
                       const char *before)
{
    const char *at = NULL, *line = NULL;
    size_t n = 0;

    while (visible_line(text, len, how, &at, &line, &n)) {
        fputc('\n', f);
        fputs(before, f);
        put_visible_line(f, line, n, how);
    }
}

/* ---- for models ---- */

/* Newlines stay: a description has paragraphs. */
static bool is_kept(uint32_t c)
{
    return !visible_hides(c) || c == '\n' || c == '\r';
}

static bool is_clean(const char *text, size_t len)
{
    unsigned n;

    for (size_t i = 0; i < len; i += n)
        if (!is_kept(visible_character(text + i, len - i, &n)))
            return false;
    return true;
}

static json_t *clean_string(const json_t *value)
{
    const char *from = json_string_value(value);
    size_t len = json_string_length(value), to = 0;
    auto_free char *text = NULL;
    unsigned n;

    if (is_clean(from, len))
        return json_incref(json_shared(value));
    text = malloc(len);
    for (size_t i = 0; text && i < len; i += n) {
        if (!is_kept(visible_character(from + i, len - i, &n)))
            continue;
        memcpy(text + to, from + i, n);
        to += n;
    }
    return text ? json_stringn(text, to) : NULL;
}

static json_t *clean_object(const json_t *value)
{
    json_t *object = json_object(), *item;
    const char *name;

    json_object_foreach (json_shared(value), name, item) {
        json_t *clean = is_clean(name, strlen(name)) ? visible_only(item) : NULL;

        if (!clean || json_object_set_new(object, name, clean) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *clean_array(const json_t *value)
{
    json_t *array = json_array();

    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *clean = visible_only(json_array_get(value, i));

        if (!clean || json_array_append_new(array, clean) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

json_t *visible_only(const json_t *value)
{
    if (json_is_string(value))
        return clean_string(value);
    if (json_is_object(value))
        return clean_object(value);
    if (json_is_array(value))
        return clean_array(value);
    return json_incref(json_shared(value));
}
