/*
 * Any bytes as what a persistent shell reports, in one piece and in two: nothing is read beyond
 * them, a report is found wherever it is, and what is used up is never more than there is. And any
 * text as lines that are typed, and as what a terminal is sent.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/unfinished.h"
#include "shell/report.h"
#include "shell/screen.h"

#define NUMBER "0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct report *r)
{
    assert(r->status >= 0 && r->status <= 255);
    assert(r->n_jobs <= REPORT_JOBS_MAX);
    assert(memchr(r->cwd, '\0', sizeof(r->cwd)));
    for (size_t i = 0; i < r->n_jobs; i++)
        assert(r->jobs[i].pid > 1 && memchr(r->jobs[i].command, '\0', sizeof(r->jobs[i].command)));
}

static void show(const char *bytes, size_t len)
{
    struct screen s;
    char *shown;

    assert(screen_init(&s, 5, 12) == 0);
    screen_add(&s, bytes, len / 2);
    assert(screen_resize(&s, 3, 20) == 0);
    screen_add(&s, bytes + len / 2, len - len / 2);
    assert(s.row >= 0 && s.row < s.rows && s.column >= 0 && s.column <= s.columns);
    shown = screen_text(&s);
    assert(shown && strlen(shown) <= 3 * (20 * 4 + 1) && !strchr(shown, '\033'));
    free(shown);
    screen_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *behind = malloc(size + 64);
    struct report *r = malloc(sizeof(*r));
    static const char whole[] = "\0" NUMBER " 5\0/\0";
    size_t used = 0;

    memcpy(text, data, size);
    if (report_read(text, size, NUMBER, r, &used))
        check(r);
    assert(used <= size);
    /* Junk before a report does not hide it, unless it has the number itself. */
    memcpy(behind, data, size);
    memcpy(behind + size, whole, sizeof(whole) - 1);
    if (!memmem(data, size, NUMBER, REPORT_NUMBER)) {
        assert(report_read(behind, size + sizeof(whole) - 1, NUMBER, r, &used) && r->status == 5);
        check(r);
    }
    text[size] = '\n';
    (void)command_is_unfinished(text, size + 1);
    show(text, size);
    free(r);
    free(behind);
    free(text);
    return 0;
}
