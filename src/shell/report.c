#include "shell/report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

/* ---- jobs ---- */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* A decimal number; NULL if there is none, or it is beyond an int. */
static const char *take_number(const char *at, const char *end, int *ret)
{
    long n = 0;
    const char *from = at;

    for (; at < end && isdigit((unsigned char)*at) && n < 100000000; at++)
        n = n * 10 + (*at - '0');
    *ret = (int)n;
    return at > from && (at == end || !isdigit((unsigned char)*at)) ? at : NULL;
}

static void copy_text(char *to, size_t room, const char *from, const char *end)
{
    while (end > from && end[-1] == ' ')
        end--;
    (void)snprintf(to, room, "%.*s", (int)(end - from), from);
}

/* "[1]+   611 Running                 sleep 600 &"; what it says stands in a column of its own. */
static bool read_job(const char *at, const char *end, struct report_job *ret)
{
    const char *gap;
    int pid = 0;

    *ret = (struct report_job){ 0 };
    if (at == end || *at != '[')
        return false;
    at = take_number(at + 1, end, &ret->number);
    if (!at || at == end || *at != ']')
        return false;
    at++;
    if (at < end && (*at == '+' || *at == '-'))
        at++;
    at = take_number(skip_blanks(at, end), end, &pid);
    if (!at || pid <= 1) /* whose numbers mean more than one process */
        return false;
    ret->pid = pid;
    at = skip_blanks(at, end);
    gap = at;
    while (gap < end && !(gap[0] == ' ' && (gap + 1 == end || gap[1] == ' ')))
        gap++;
    copy_text(ret->state, sizeof(ret->state), at, gap);
    copy_text(ret->command, sizeof(ret->command), skip_blanks(gap, end), end);
    ret->is_running =
        strncmp(ret->state, "Running", 7) == 0 || strncmp(ret->state, "Stopped", 7) == 0;
    return true;
}

size_t report_jobs(const char *text, size_t len, struct report_job *ret, size_t max)
{
    const char *end = text + len;
    size_t n = 0;

    for (const char *at = text; at < end && n < max;) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        if (!line)
            line = end;
        if (read_job(at, line, &ret[n]))
            n++;
        at = line < end ? line + 1 : end;
    }
    return n;
}

/* Moves what is to stay of the line. One without an end may have the number's beginning at its
 * own. */
static size_t shorten_line(char *to, const char *from, size_t len, bool has_end)
{
    size_t tail = has_end ? 1 : REPORT_NUMBER - 1;

    if (has_end && from[0] != '[')
        return 0;
    if (len <= REPORT_LINE + tail) {
        memmove(to, from, len);
        return len;
    }
    memmove(to, from, REPORT_LINE);
    memmove(to + REPORT_LINE, from + len - tail, tail);
    return REPORT_LINE + tail;
}

size_t report_shorten(char *text, size_t len, const char *number)
{
    size_t kept = 0;

    if (memmem(text, len, number, REPORT_NUMBER))
        return len;
    for (size_t at = 0; at < len;) {
        const char *line = memchr(text + at, '\n', len - at);
        size_t n = line ? (size_t)(line + 1 - text) - at : len - at;

        kept += shorten_line(text + kept, text + at, n, line != NULL);
        at += n;
    }
    if (kept < REPORT_MAX / 2)
        return kept;
    /* So many jobs are nobody's. */
    memmove(text, text + kept - (REPORT_NUMBER - 1), REPORT_NUMBER - 1);
    return REPORT_NUMBER - 1;
}

/* ---- the whole ---- */

bool report_read(const char *text, size_t len, const char *number, struct report *ret,
                 size_t *ret_used)
{
    const char *end = text + len, *at = memmem(text, len, number, REPORT_NUMBER), *cwd, *after;

    *ret_used = 0;
    if (!at)
        return false;
    cwd = memchr(at, '\0', (size_t)(end - at));
    after = cwd ? memchr(cwd + 1, '\0', (size_t)(end - cwd - 1)) : NULL;
    if (!after) {
        *ret_used = len >= 2 * REPORT_MAX ? len : 0; /* no report is as long */
        return false;
    }
    *ret_used = (size_t)(after + 1 - text);
    if (at[REPORT_NUMBER] != ' ' || !take_number(at + REPORT_NUMBER + 1, cwd, &ret->status) ||
        ret->status > 255)
        return false;
    (void)snprintf(ret->cwd, sizeof(ret->cwd), "%s", cwd + 1);
    ret->n_jobs = report_jobs(text, (size_t)(at - text), ret->jobs, ARRAY_LEN(ret->jobs));
    return true;
}
