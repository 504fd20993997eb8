#include "base/suggest.h"

#include <string.h>

#define NAME_LEN_MAX 32

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits that make `a` into `b`: insert, delete, replace, swap two neighbours. */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][NAME_LEN_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b_len; j++)
        last[j] = before[j] = j;

    for (size_t i = 1; i <= a_len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = min(replaced, min(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_len];
}

void suggestion_offer(struct suggestion *s, const char *name)
{
    size_t len = strlen(name);

    if (s->typed_len == 0 || s->typed_len > NAME_LEN_MAX || len > NAME_LEN_MAX)
        return;

    size_t distance = edit_distance(s->typed, s->typed_len, name, len);
    if (s->typed_len >= 3 && strncmp(s->typed, name, s->typed_len) == 0)
        distance = 1; /* the beginning of a name, as other programs allow it */
    /* Two slips in a long name, one in a short one; "-x" against "-y" is no slip. */
    size_t near = len >= 6 ? 2 : 1;
    if (distance > near || distance >= len)
        return;
    if (!s->best || distance < s->distance) {
        s->best = name;
        s->distance = distance;
    }
}
