#include "base/json.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/own.h"
#include "base/parse.h"

/* The real with as few digits as it needs: most do with 15, none needs more than 17. The host
 * program may write its reals with a comma; JSON does not. */
static int write_real(double d, char *text, size_t size)
{
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    int n = 0;

    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, size, "%.*g", digits, d);
        if (digits == 17 || strtod(text, NULL) == d)
            break;
    }
    (void)uselocale(before);
    if (plain)
        freelocale(plain);
    return n;
}

/* Times and sizes are whole thousandths, and there are many of them in a result: no need to try. */
static int print_thousandths(double d, char *text, size_t size)
{
    enum {
        WHOLE_MAX = 1000000000 /* thousandths of less are exact */
    };
    double magnitude = d < 0 ? -d : d;
    long long n = magnitude < WHOLE_MAX ? (long long)(magnitude * 1000.0 + 0.5) : 0;
    int len;

    if (n == 0 || (double)n / 1000.0 != magnitude)
        return 0;
    len = snprintf(text, size, "%s%lld.%03lld", d < 0 ? "-" : "", n / 1000, n % 1000);
    while (text[len - 1] == '0' && text[len - 2] != '.')
        text[--len] = '\0';
    return len;
}

/* "1e+22" becomes "1e22", "3e-08" becomes "3e-8". */
static void tidy_exponent(char *text)
{
    char *to = strchr(text, 'e'), *from;

    if (!to)
        return;
    to++;
    from = to;
    if (*from == '-')
        to++;
    if (*from == '+' || *from == '-')
        from++;
    from += strspn(from, "0");
    memmove(to, from, strlen(from) + 1);
}

static void print_real(double d, char *text, size_t size)
{
    size_t n;

    if (print_thousandths(d, text, size) > 0)
        return;
    n = (size_t)write_real(d, text, size);
    if (!strpbrk(text, ".e"))
        (void)snprintf(text + n, size - n, ".0"); /* it stays a real */
    tidy_exponent(text);
}

/* ---- as text ---- */

/* jansson can do this, too: in five times the time, and with all reals of a document in the same
 * number of digits. */

static int put(struct gb_buf *to, const char *bytes, size_t len)
{
    struct gb_err err;

    return gb_buf_add(to, bytes, len, &err);
}

static int put_text(struct gb_buf *to, const char *text)
{
    return put(to, text, strlen(text));
}

static int put_escaped(struct gb_buf *to, unsigned char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    static const char digits[] = "0123456789abcdef";
    const char *known = c ? strchr(plain, c) : NULL;
    char text[] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };

    if (known)
        text[1] = letters[known - plain];
    return put(to, text, known ? 2 : sizeof(text));
}

static int put_string(struct gb_buf *to, const char *text, size_t len)
{
    size_t from = 0;

    if (put(to, "\"", 1) < 0)
        return -1;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        if (put(to, text + from, i - from) < 0 || put_escaped(to, c) < 0)
            return -1;
        from = i + 1;
    }
    return put(to, text + from, len - from) < 0 ? -1 : put(to, "\"", 1);
}

static int put_number(struct gb_buf *to, const json_t *json)
{
    char text[40];

    if (json_is_real(json))
        print_real(json_real_value(json), text, sizeof(text));
    else
        (void)snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(json));
    return put_text(to, text);
}

static int put_json(struct gb_buf *to, const json_t *json);

static int put_array(struct gb_buf *to, const json_t *json)
{
    if (put(to, "[", 1) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(json); i++)
        if ((i > 0 && put(to, ",", 1) < 0) || put_json(to, json_array_get(json, i)) < 0)
            return -1;
    return put(to, "]", 1);
}

static int put_object(struct gb_buf *to, const json_t *json)
{
    json_t *object = json_shared(json);
    const char *comma = "{";

    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        if (put(to, comma, 1) < 0 || put_string(to, key, strlen(key)) < 0 || put(to, ":", 1) < 0 ||
            put_json(to, json_object_iter_value(at)) < 0)
            return -1;
        comma = ",";
    }
    return put_text(to, comma[0] == '{' ? "{}" : "}");
}

static int put_json(struct gb_buf *to, const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return put_object(to, json);
    case JSON_ARRAY:
        return put_array(to, json);
    case JSON_STRING:
        return put_string(to, json_string_value(json), json_string_length(json));
    case JSON_INTEGER:
    case JSON_REAL:
        return put_number(to, json);
    case JSON_TRUE:
        return put_text(to, "true");
    case JSON_FALSE:
        return put_text(to, "false");
    case JSON_NULL:
        break;
    }
    return put_text(to, "null");
}

char *json_text(const json_t *json)
{
    struct gb_buf text;

    gb_buf_init(&text, SIZE_MAX);
    if (json && put_json(&text, json) == 0 && put(&text, "", 1) == 0)
        return text.data;
    gb_buf_done(&text);
    return NULL;
}

json_t *json_lossy(const char *text)
{
    json_t *string = json_string(text);
    char *copy = string ? NULL : strdup(text);

    if (!copy)
        return string;
    for (int64_t at; (at = utf8_first_bad(copy, strlen(copy))) >= 0;)
        copy[at] = '?';
    string = json_string(copy);
    free(copy);
    return string;
}

json_t *json_replaced(const char *bytes, size_t len)
{
    static const char replacement[] = { '\xef', '\xbf', '\xbd' };
    auto_free char *text = malloc(len * 3 + 1);
    size_t at = 0;

    if (!text)
        return NULL;
    while (len > 0) {
        int64_t bad = utf8_first_bad(bytes, len);
        size_t good = bad < 0 ? len : (size_t)bad;

        memcpy(text + at, bytes, good);
        at += good;
        bytes += good;
        len -= good;
        if (bad >= 0) {
            memcpy(text + at, replacement, sizeof(replacement));
            at += sizeof(replacement);
            bytes++;
            len--;
        }
    }
    return json_stringn(text, at);
}

json_t *json_base64(const void *bytes, size_t len)
{
    const unsigned char *in = bytes;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t out_len = (len + 2) / 3 * 4;
    auto_free char *out = malloc(out_len + 1);

    if (!out)
        return NULL;
    memset(out, '=', out_len);
    for (size_t i = 0, o = 0; i < len; i += 3, o += 4) {
        size_t left = len - i;
        uint32_t v = (uint32_t)in[i] << 16;
        v |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
        v |= left > 2 ? (uint32_t)in[i + 2] : 0;
        out[o] = digits[v >> 18];
        out[o + 1] = digits[v >> 12 & 63];
        if (left > 1)
            out[o + 2] = digits[v >> 6 & 63];
        if (left > 2)
            out[o + 3] = digits[v & 63];
    }
    return json_stringn(out, out_len);
}

json_t *json_names(const json_t *list)
{
    json_t *names = json_object();

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name)
            (void)json_object_set_new(names, name, json_true());
    }
    return names;
}

bool json_array_has(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *item = json_string_value(json_array_get(list, i));
        if (item && strcmp(item, text) == 0)
            return true;
    }
    return false;
}

size_t json_depth(const json_t *json)
{
    json_t *object = json_shared(json);
    size_t deepest = 0, n;

    for (size_t i = 0; i < json_array_size(json); i++) {
        n = json_depth(json_array_get(json, i));
        deepest = n > deepest ? n : deepest;
    }
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        n = json_depth(json_object_iter_value(at));
        deepest = n > deepest ? n : deepest;
    }
    return deepest + 1;
}
