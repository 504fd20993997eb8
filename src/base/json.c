#include "base/json.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/parse.h"

/* The real with as few digits as it needs: most do with 15, none needs more than 17. */
static int write_real(double d, char *text, size_t size)
{
    int n = 0;

    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, size, "%.*g", digits, d);
        if (digits == 17 || strtod(text, NULL) == d)
            break;
    }
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

static int print_real(double d, char *text, size_t size)
{
    int n = print_thousandths(d, text, size);

    if (n > 0)
        return n;
    n = write_real(d, text, size);
    if (!strpbrk(text, ".e"))
        n += snprintf(text + n, size - (size_t)n, ".0"); /* it stays a real */
    return n;
}

/* Rewrite the real that starts at `from` with as few digits as it needs, at `to`, which is not
 * after it. *from becomes its end; returns the end of what was written. */
static char *shorten(char *to, const char **from)
{
    size_t len = strspn(*from, "0123456789+-.eE");
    const char *at = *from;
    char text[40];
    double d;
    int n;

    *from += len;
    if (!memchr(at, '.', len) && !memchr(at, 'e', len)) {
        memmove(to, at, len); /* an integer */
        return to + len;
    }
    d = strtod(at, NULL);
    n = print_real(d, text, sizeof(text));
    if ((size_t)n >= len) { /* short already, only its exponent is spelled differently */
        memmove(to, at, len);
        return to + len;
    }
    memcpy(to, text, (size_t)n);
    return to + n;
}

/* jansson writes all reals of a document with the same number of digits. */
static void shorten_reals(char *text)
{
    const char *from = text;
    char *to = text;
    bool in_string = false;

    while (*from) {
        if (!in_string && (*from == '-' || (*from >= '0' && *from <= '9'))) {
            to = shorten(to, &from);
            continue;
        }
        if (*from == '"')
            in_string = !in_string;
        else if (*from == '\\')
            *to++ = *from++;
        *to++ = *from++;
    }
    *to = '\0';
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

char *json_text(const json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    /* The host program may write its reals with a comma; JSON does not. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before;

    if (text && plain) {
        before = uselocale(plain);
        shorten_reals(text);
        (void)uselocale(before);
    }
    if (plain)
        freelocale(plain);
    return text;
}
