#include "cli/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "base/visible.h"
#include "cli/findings.h"
#include "cli/io.h"
#include "cli/signals.h"
#include "glovebox.h"

#define LOOK_MS 50 /* quick enough for somebody who types */

struct question {
    struct question *next;
    struct gb_job *job;
    json_t *json;
    uint64_t number; /* of its line, or 0 */
};

static const char prompt[] = "Run it? yes, no, or a reason why not: ";

/* What every box has in its environment. */
static const char *const usual_env[] = { "PATH", "HOME", "LANG", "TMPDIR" };

static bool is_usual(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(usual_env); i++)
        if (strcmp(usual_env[i], name) == 0)
            return true;
    return false;
}

static const char *get(const json_t *object, const char *key)
{
    return json_string_at(object, key, "");
}

/* ---- what is shown ---- */

/* Which of many. */
static void show_request(FILE *f, const struct question *q)
{
    const json_t *id = json_object_get(q->json, "id");
    auto_free char *text = id ? json_dumps(id, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

    if (q->number > 0)
        fprintf(f, "  line    %" PRIu64 "\n", q->number);
    if (text) {
        fputs("  id      ", f);
        put_visible_text(f, text);
        fputc('\n', f);
    }
    fputs("  file    ", f);
    put_visible_text(f, get(q->json, "filename"));
    fputc('\n', f);
}

static void show_place(FILE *f, const json_t *question)
{
    const json_t *isolation = json_object_get(question, "isolation");

    fputs("  where   ", f);
    fprintf(f, "isolation %s, backend %s: %s\n", get(isolation, "level"), get(question, "backend"),
            json_is_true(json_object_get(question, "is_held"))
                ? "the kernel holds it"
                : "NOTHING HOLDS IT, it could do whatever you can");
    fprintf(f, "  network %s\n",
            strcmp(get(question, "network"), "none") == 0
                ? "none"
                : "host: IT CAN REACH what this host can, and send there what it has");
    fprintf(f, "  policy  %s, risk %lld\n", get(question, "policy"),
            (long long)json_integer_value(json_object_get(question, "risk")));
}

/* But for those that every environment has: where they are not as usual, a part says so. */
static void show_env(FILE *f, const json_t *names)
{
    static const char title[] = "  env     ";
    const char *separator = title;

    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));

        if (is_usual(name))
            continue;
        fputs(separator, f);
        put_visible_text(f, name);
        separator = ", ";
    }
    if (separator != title)
        fputc('\n', f);
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
    fprintf(f, "  review  %s: ", get(review, "verdict"));
    put_visible_text(f, get(review, "reason"));
    fputc('\n', f);
}

/* What of the host it would see. */
static void show_mounts(FILE *f, const json_t *mounts)
{
    for (size_t i = 0; i < json_array_size(mounts); i++) {
        const json_t *m = json_array_get(mounts, i);

        fputs("  mount   ", f);
        put_visible_text(f, get(m, "host"));
        fprintf(f, ", %s\n", get(m, "mode"));
    }
}

/* Numbered, so that no line can pass for one of ours. */
static void show_lines(FILE *f, const json_t *part)
{
    const json_t *text = json_object_get(part, "text");
    enum visible_lines how = visible_lines_of(get(part, "lines"));
    const char *at = NULL, *line = NULL;
    size_t len = 0;

    for (unsigned i = 1;
         visible_line(json_string_value(text), json_string_length(text), how, &at, &line, &len);
         i++) {
        fprintf(f, "%6u  ", i);
        put_visible_line(f, line, len, how);
        fputc('\n', f);
    }
}

/* What it is given in a few words. */
static void show_brief(FILE *f, const json_t *parts)
{
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i), *text = json_object_get(part, "text");

        if (!json_is_true(json_object_get(part, "is_brief")))
            continue;
        fputs("  ", f);
        put_visible_text(f, get(part, "title"));
        fprintf(f, "%*s ",
                (int)(strlen(get(part, "title")) < 7 ? 7 - strlen(get(part, "title")) : 0), "");
        put_visible(f, json_string_value(text), json_string_length(text));
        fputc('\n', f);
    }
}

/* The rest of what decides what runs, the program last. */
static void show_parts(FILE *f, const json_t *parts)
{
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);

        if (json_is_true(json_object_get(part, "is_brief")))
            continue;
        fputc('\n', f);
        if (json_array_size(parts) > 1 || !json_is_true(json_object_get(part, "is_program"))) {
            fputs("-- ", f);
            put_visible_text(f, get(part, "title"));
            fprintf(f, " (%zu bytes):\n", json_string_length(json_object_get(part, "text")));
        }
        show_lines(f, part);
    }
    fputc('\n', f);
}

static void show_question(FILE *f, const struct question *q, int tty)
{
    const json_t *question = q->json, *parts = json_object_get(question, "parts");
    const json_t *code = json_object_get(question, "code");
    struct source source = { .name = get(question, "filename"),
                             .code = json_string_value(code),
                             .len = json_string_length(code),
                             .is_colored = wants_color(tty) };

    fputs("glovebox: may this program run?\n", f);
    show_request(f, q);
    show_place(f, question);
    show_env(f, json_object_get(question, "env"));
    show_brief(f, parts);
    show_tools(f, question);
    show_mounts(f, json_object_get(question, "mounts"));
    show_review(f, json_object_get(question, "review"));
    show_parts(f, parts);
    findings_print(f, json_object_get(question, "findings"), &source);
    fputs(prompt, f);
}

static int show_first(struct asker *a)
{
    struct text t;

    if (a->before)
        a->before(a->data);
    if (text_open(&t) < 0)
        return -1;
    show_question(t.stream, a->first, a->tty);
    a->len = 0;
    a->has_asked = true;
    /* What was typed before the question was seen is no answer to it. */
    (void)tcflush(a->tty, TCIFLUSH);
    return text_send(&t, a->tty);
}

/* ---- the line of questions ---- */

static void question_free(struct question *q)
{
    json_decref(q->json);
    free(q);
}

static void answer_first(struct asker *a, int yes, const char *reason)
{
    struct question *q = a->first;

    a->first = q->next;
    (void)gb_approve(q->job, yes, reason);
    question_free(q);
}

/* One that cannot be shown would wait for ever. */
static void show(struct asker *a)
{
    while (a->first && show_first(a) < 0 && signals_caught() == 0)
        answer_first(a, -1, "the question could not be shown");
}

static void answer(struct asker *a, int yes, const char *reason)
{
    answer_first(a, yes, reason);
    show(a);
}

static const char *open_terminal(struct asker *a)
{
    if (a->tty < 0)
        a->tty = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return a->tty < 0 ? "there is no terminal to ask on" : NULL;
}

void ask_add(struct asker *a, struct gb_job *job, const char *question, uint64_t number)
{
    struct question *q = calloc(1, sizeof(*q)), **end = &a->first;
    const char *problem = open_terminal(a);

    if (q)
        *q = (struct question){ .job = job,
                                .json = json_loads(question, JSON_ALLOW_NUL, NULL),
                                .number = number };
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
        if (was_shown)
            show(a);
        return;
    }
}

int ask_step_ms(const struct asker *a)
{
    return a->first ? LOOK_MS : -1;
}

static void drop_all(struct asker *a)
{
    while (a->first) {
        struct question *q = a->first;
        a->first = q->next;
        question_free(q);
    }
}

void ask_done(struct asker *a)
{
    drop_all(a);
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
        answer(a, 1, NULL);
    else if (strcasecmp(said, "n") == 0 || strcasecmp(said, "no") == 0)
        answer(a, 0, "a person said no");
    else
        answer(a, 0, said);
}

/* What is said next begins a line of its own: nobody ended the one with the question. */
static void end_line(const struct asker *a)
{
    (void)!write_all(a->tty, "\n", 1);
}

static void hang_up(struct asker *a, const char *why)
{
    end_line(a);
    while (a->first)
        answer_first(a, -1, why);
}

void ask_look(struct asker *a)
{
    ssize_t n;

    if (!a->first)
        return;
    if (signals_caught() != 0) {
        end_line(a);
        drop_all(a);
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
