#include "base/parse.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

int parse_size(const char *text, uint64_t *ret)
{
    static const char units[] = "KMGT";
    unsigned long long n;
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return -EINVAL;
    errno = 0;
    n = strtoull(text, &end, 10);
    bool fits = errno == 0;
    const char *unit = *end & ~0x20 ? strchr(units, *end & ~0x20) : NULL;
    if (unit) {
        unsigned shift = 10u * (unsigned)(unit - units + 1);
        fits = fits && n <= UINT64_MAX >> shift;
        n <<= shift;
        end++;
        if (strcmp(end, "iB") == 0 || strcmp(end, "B") == 0)
            end = strchr(end, '\0');
    }
    if (*end || !fits)
        return *end ? -EINVAL : -ERANGE;
    *ret = n;
    return 0;
}

bool parse_seconds(const char *text, uint64_t *ret_ms)
{
    char *end;
    double seconds;

    if (text[strspn(text, "0123456789.")] != '\0') /* no hexadecimal, no exponent, no sign */
        return false;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    seconds = strtod_l(text, &end, plain);
    freelocale(plain);
    if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
        return false;
    *ret_ms = (uint64_t)(seconds * 1000.0 + 0.5);
    return true;
}

unsigned utf8_char_len(const unsigned char *text, uint64_t len)
{
    static const struct {
        unsigned char lo, hi, len, second_lo, second_hi;
    } forms[] = {
        { 0xc2, 0xdf, 2, 0x80, 0xbf }, { 0xe0, 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 0xec, 3, 0x80, 0xbf },
        { 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf }, { 0xf0, 0xf0, 4, 0x90, 0xbf },
        { 0xf1, 0xf3, 4, 0x80, 0xbf }, { 0xf4, 0xf4, 4, 0x80, 0x8f },
    };

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (text[0] < forms[i].lo || text[0] > forms[i].hi)
            continue;
        if (len < forms[i].len || text[1] < forms[i].second_lo || text[1] > forms[i].second_hi)
            return 1;
        for (unsigned k = 2; k < forms[i].len; k++)
            if ((text[k] & 0xc0) != 0x80)
                return 1;
        return forms[i].len;
    }
    return 1;
}

int64_t utf8_first_bad(const char *text, uint64_t len)
{
    const unsigned char *s = (const unsigned char *)text;

    for (uint64_t i = 0; i < len;) {
        unsigned n = utf8_char_len(s + i, len - i);
        if (n == 1 && s[i] >= 0x80)
            return (int64_t)i;
        i += n;
    }
    return -1;
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_is_valid(const char *text, uint64_t len)
{
    uint64_t n = len;

    while (n > 0 && len - n < 2 && text[n - 1] == '=')
        n--;
    for (uint64_t i = 0; i < n; i++)
        if (base64_digit(text[i]) < 0)
            return false;
    return len % 4 == 0;
}

bool base64_decode(char *text, uint64_t *len)
{
    uint64_t out = 0, n = *len;
    uint32_t bits = 0;
    unsigned have = 0;

    while (n > 0 && *len - n < 2 && text[n - 1] == '=')
        n--;
    if (n != *len && *len % 4 != 0)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        int d = base64_digit(text[i]);
        if (d < 0)
            return false;
        bits = bits << 6 | (uint32_t)d;
        have += 6;
        if (have >= 8) {
            have -= 8;
            text[out++] = (char)(bits >> have & 0xff);
        }
    }
    *len = out;
    return have < 6;
}

bool is_variable(const char *text)
{
    static const char *const keywords[] = {
        "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
        "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
        "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
        "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",
    };
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (strcmp(text, keywords[i]) == 0)
            return false;
    return n > 0 && text[n] == '\0' && (text[0] < '0' || text[0] > '9');
}
