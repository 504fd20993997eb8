#include "cli/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/findings.h"
#include "cli/io.h"
#include "cli/signals.h"
#include "cli/visible.h"
#include "glovebox.h"

#define LOOK_MS 50 /* quick enough for somebody who types */

struct question {
    struct question *next;
    struct gb_job *job;
    json_t *json;
};

static const char prompt[] = "Run it? yes, no, or a reason why not: ";

static const char *get_string(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* ---- what is shown ---- */

static void show_place(FILE *f, const json_t *question)
{
    const json_t *isolation = json_object_get(question, "isolation");

    fputs("  where   ", f);
    fprintf(f, "isolation %s, backend %s: %s\n", get_string(isolation, "level"),
            get_string(question, "backend"),
            json_is_true(json_object_get(question, "is_held"))
                ? "the kernel holds it"
                : "NOTHING HOLDS IT, it could do whatever you can");
    fprintf(f, "  policy  %s, risk %lld\n", get_string(question, "policy"),
            (long long)json_integer_value(json_object_get(question, "risk")));
    if (json_is_true(json_object_get(question, "has_prelude")))
        fputs("  before  the prelude runs first\n", f);
}

static void show_tools(FILE *f, const json_t *question)
{
    const json_t *names = json_object_get(question, "tools_to_approve");
    size_t n = json_array_size(names), all = json_array_size(json_object_get(question, "tools"));

    if (all == 0)
        return;
    fprintf(f, "  tools   it may call %zu%s", all, n > 0 ? "; these ask for a yes:" : "");
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", " : " ", f);
        put_visible_text(f, json_string_value(json_array_get(names, i)));
    }
    fputc('\n', f);
}

static void show_review(FILE *f, const json_t *review)
{
    if (!review)
        return;
    fprintf(f, "  review  %s: ", get_string(review, "verdict"));
    put_visible_text(f, get_string(review, "reason"));
    fputc('\n', f);
}

/* What of the host it would see. */
static void show_mounts(FILE *f, const json_t *mounts)
{
    for (size_t i = 0; i < json_array_size(mounts); i++) {
        const json_t *m = json_array_get(mounts, i);

        fputs("  mount   ", f);
        put_visible_text(f, get_string(m, "host"));
        fprintf(f, ", %s\n", get_string(m, "mode"));
    }
}

static void show_code(FILE *f, const struct source *source)
{
    const char *at = NULL, *line = NULL;
    size_t len = 0;

    fputc('\n', f);
    for (unsigned i = 1; source_next(source, &at, &line, &len); i++) {
        fprintf(f, "%6u  ", i);
        put_visible(f, line, len);
        fputc('\n', f);
    }
    fputc('\n', f);
}

static void show(struct asker *a)
{
    const json_t *question = a->first->json, *code = json_object_get(question, "code");
    struct source source = { .name = get_string(question, "filename"),
                             .code = json_string_value(code),
                             .len = json_string_length(code),
                             .is_colored = wants_color(a->tty) };
    struct text t;

    if (a->before)
        a->before(a->data);
    if (text_open(&t) < 0)
        return;
    fputs("glovebox: may this program run?\n  file    ", t.stream);
    put_visible_text(t.stream, source.name);
    fputc('\n', t.stream);
    show_place(t.stream, question);
    show_tools(t.stream, question);
    show_mounts(t.stream, json_object_get(question, "mounts"));
    show_review(t.stream, json_object_get(question, "review"));
    show_code(t.stream, &source);
    findings_print(t.stream, json_object_get(question, "findings"), &source);
    fputs(prompt, t.stream);
    a->len = 0;
    /* What was typed before the question was seen is no answer to it. */
    (void)tcflush(a->tty, TCIFLUSH);
    (void)!text_send(&t, a->tty);
}

/* ---- the line of questions ---- */

static void question_free(struct question *q)
{
    json_decref(q->json);
    free(q);
}

static void answer(struct asker *a, bool yes, const char *reason)
{
    struct question *q = a->first;

    a->first = q->next;
    (void)gb_approve(q->job, yes, reason);
    question_free(q);
    if (a->first)
        show(a);
}

static const char *open_terminal(struct asker *a)
{
    if (a->tty < 0)
        a->tty = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return a->tty < 0 ? "there is no terminal to ask on" : NULL;
}

void ask_add(struct asker *a, struct gb_job *job, const char *question)
{
    struct question *q = calloc(1, sizeof(*q)), **end = &a->first;
    const char *problem = open_terminal(a);

    if (q)
        *q = (struct question){ .job = job, .json = json_loads(question, JSON_ALLOW_NUL, NULL) };
    if (problem || !q || !q->json) {
        (void)gb_approve(job, -1, problem ? problem : "memory ran out");
        if (q)
            question_free(q);
        return;
    }
    while (*end)
        end = &(*end)->next;
    *end = q;
    if (a->first == q)
        show(a);
}

void ask_forget(struct asker *a, const struct gb_job *job)
{
    for (struct question **at = &a->first; *at; at = &(*at)->next) {
        struct question *q = *at;
        bool was_shown = q == a->first;

        if (q->job != job)
            continue;
        *at = q->next;
        question_free(q);
        if (was_shown && a->first)
            show(a);
        return;
    }
}

int ask_step_ms(const struct asker *a)
{
    return a->first ? LOOK_MS : -1;
}

void ask_done(struct asker *a)
{
    while (a->first) {
        struct question *q = a->first;
        a->first = q->next;
        question_free(q);
    }
    gb_closep(&a->tty);
}

/* ---- the answer ---- */

static char *trimmed(char *line)
{
    size_t len;

    line += strspn(line, " \t");
    len = strlen(line);
    while (len > 0 && strchr(" \t\r\n", line[len - 1]))
        line[--len] = '\0';
    return line;
}

/* A line that was typed. An empty one says nothing, so it is asked again. */
static void take_line(struct asker *a)
{
    char *said;

    a->line[a->len] = '\0';
    a->len = 0;
    said = trimmed(a->line);
    if (!*said)
        (void)!write_all(a->tty, prompt, strlen(prompt));
    else if (strcasecmp(said, "y") == 0 || strcasecmp(said, "yes") == 0)
        answer(a, true, NULL);
    else if (strcasecmp(said, "n") == 0 || strcasecmp(said, "no") == 0)
        answer(a, false, "a person said no");
    else
        answer(a, false, said);
}

static void hang_up(struct asker *a, const char *why)
{
    while (a->first) {
        struct question *q = a->first;

        a->first = q->next;
        (void)gb_approve(q->job, 0, why);
        question_free(q);
    }
}

void ask_look(struct asker *a)
{
    ssize_t n;

    if (!a->first)
        return;
    if (signals_caught() != 0) {
        hang_up(a, "interrupted");
        return;
    }
    n = read(a->tty, a->line + a->len, sizeof(a->line) - 1 - a->len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hang_up(a, "the terminal gave no answer");
        return;
    }
    a->len += (unsigned)n;
    if (memchr(a->line, '\n', a->len) || a->len == sizeof(a->line) - 1)
        take_line(a);
}
