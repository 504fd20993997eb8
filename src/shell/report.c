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
    ret->is_running = strncmp(ret->state, "Running", 7) == 0 || strncmp(ret->state, "Stopped", 7) == 0;
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

/* ---- the whole ---- */

/* Three strings, each ended by a NUL. */
static bool split(const char *at, const char *end, const char *part[4])
{
    for (size_t i = 0; i < 3; i++) {
        part[i] = at;
        at = memchr(at, '\0', (size_t)(end - at));
        if (!at)
            return false;
        at++;
    }
    part[3] = at;
    return true;
}

bool report_read(const char *text, size_t len, const char *number, struct report *ret,
                 size_t *ret_used)
{
    const char *end = text + len, *part[4], *at = memmem(text, len, number, REPORT_NUMBER);

    *ret_used = 0;
    if (!at) { /* the number may be on its way */
        *ret_used = len < REPORT_NUMBER ? 0 : len - (REPORT_NUMBER - 1);
        return false;
    }
    *ret_used = (size_t)(at - text);
    if (!split(at, end, part)) {
        if (len - *ret_used >= REPORT_MAX)
            *ret_used = len; /* no report is as long */
        return false;
    }
    *ret_used = (size_t)(part[3] - text);
    if (part[0][REPORT_NUMBER] != ' ' ||
        !take_number(part[0] + REPORT_NUMBER + 1, part[1] - 1, &ret->status) || ret->status > 255)
        return false;
    (void)snprintf(ret->cwd, sizeof(ret->cwd), "%s", part[1]);
    ret->n_jobs = report_jobs(part[2], (size_t)(part[3] - part[2] - 1), ret->jobs,
                              ARRAY_LEN(ret->jobs));
    return true;
}
