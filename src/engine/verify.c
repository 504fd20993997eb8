/*
 * Is an audit file what its writers wrote? One pass, line by line, in constant memory.
 *
 * Each line is read by itself (chain.h), then held against the one before. After a bad line the
 * next sound one is believed about where it stands, so that one mishap is told once.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/chain.h"
#include "engine/trail.h"
#include "glovebox.h"

enum {
    PIECE = 256 << 10,
    PROBLEMS_MAX = 100, /* that are described; all are counted */
    ENGINES_MAX = 1024, /* that have a file open at once and are kept account of */
};

/* One that has opened the file and not closed it, as far as we have read. */
struct writer {
    char id[TRAIL_ID + 1];
    uint64_t line; /* its last */
};

struct check {
    const char *expect; /* a hash that must occur, or NULL */
    uint64_t expect_line;
    uint64_t lines, runs, bad; /* bad: since the last sound line */
    struct chain_link last;    /* the last sound line */
    char first_time[40], last_time[40];
    struct writer writers[ENGINES_MAX];
    size_t n_writers;
    json_t *before; /* the line that the first one names as the last of another file, or null */
    json_t *ended;  /* engines that ended without closing, later ones found them gone */
    json_t *problems;
    uint64_t n_problems;
    bool is_long; /* in the middle of a line that is longer than lines are */
};

static void problem(struct check *c, uint64_t line, const char *kind, const char *fmt, ...)
    gb_printf(4, 5);

static void problem(struct check *c, uint64_t line, const char *kind, const char *fmt, ...)
{
    char text[240];
    va_list ap;

    if (c->n_problems++ >= PROBLEMS_MAX)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    json_array_append_new(c->problems, json_pack("{s:I,s:s,s:s}", "line", (json_int_t)line, "kind",
                                                 kind, "message", text));
}

/* ---- who has it open ---- */

/* Lines of a run carry its name, which begins with its engine's. */
static bool engine_of(const struct chain_line *line, char ret[TRAIL_ID + 1])
{
    const char *id = json_string_value(json_object_get(line->json, "engine"));

    if (!id)
        id = json_string_value(json_object_get(line->json, "run"));
    if (!id || strlen(id) < TRAIL_ID)
        return false;
    memcpy(ret, id, TRAIL_ID);
    ret[TRAIL_ID] = '\0';
    return true;
}

static struct writer *find_writer(struct check *c, const char *id)
{
    for (size_t i = c->n_writers; i > 0; i--)
        if (strcmp(c->writers[i - 1].id, id) == 0)
            return &c->writers[i - 1];
    return NULL;
}

/* Nobody but this one had the file open, so whoever had not closed it will not. That one itself may
 * have said before that it recovers from something. */
static void end_others(struct check *c, const char *id)
{
    const struct writer *own = find_writer(c, id);
    struct writer kept = own ? *own : (struct writer){ 0 };

    for (size_t i = 0; i < c->n_writers && json_array_size(c->ended) < PROBLEMS_MAX; i++)
        if (&c->writers[i] != own)
            json_array_append_new(c->ended, json_pack("{s:s,s:I}", "engine", c->writers[i].id,
                                                      "line", (json_int_t)c->writers[i].line));
    c->n_writers = own ? 1 : 0;
    c->writers[0] = kept;
}

static void note_opened(struct check *c, const struct chain_line *line)
{
    char id[TRAIL_ID + 1] = "";
    const char *because = json_string_value(json_object_get(line->json, "because"));
    json_int_t after = json_integer_value(json_object_get(line->json, "after_seq"));

    (void)engine_of(line, id);
    if (json_is_true(json_object_get(line->json, "alone")))
        end_others(c, id);
    if (c->lines == 1 && after > 0)
        c->before = json_pack("{s:s?,s:I,s:O?}", "because", because, "seq", after, "hash",
                              json_object_get(line->json, "after_hash"));
    else if (because && strcmp(because, "shortened") == 0)
        problem(c, c->lines, "cut",
                "lines were cut off before this one: its engine had written up to number %lld",
                (long long)after);
}

static void note_lost(struct check *c, json_int_t n)
{
    problem(c, c->lines, "lost", "%lld event%s could not be written here", (long long)n,
            n == 1 ? "" : "s");
}

static void note_event(struct check *c, const struct chain_line *line)
{
    char id[TRAIL_ID + 1];
    struct writer *w;

    c->runs += strcmp(line->event, "finished") == 0;
    if (strcmp(line->event, "lost") == 0)
        note_lost(c, json_integer_value(json_object_get(line->json, "events")));
    if (strcmp(line->event, "opened") == 0)
        note_opened(c, line);
    if (!engine_of(line, id))
        return;
    w = find_writer(c, id);
    if (strcmp(line->event, "closed") == 0) {
        if (w)
            *w = c->writers[--c->n_writers];
        return;
    }
    if (!w && c->n_writers < ENGINES_MAX) {
        w = &c->writers[c->n_writers++];
        memcpy(w->id, id, sizeof(id));
    }
    if (w)
        w->line = c->lines;
}

/* ---- one line after the other ---- */

/* Does it hang on the one before? */
static void check_link(struct check *c, const struct chain_line *line)
{
    uint64_t want = c->last.seq + 1, seq = line->link.seq;
    bool fits = strcmp(line->prev, c->last.hash) == 0;

    if (seq == want && fits)
        return; /* also after a bad line, when its writer has recovered from it */
    if (c->bad > 0 && seq == want + c->bad)
        return; /* it hangs on the bad one, which is known to be bad */
    if (seq > want && c->lines == 1)
        problem(c, c->lines, "missing",
                "the file begins with number %" PRIu64 ": the lines before are missing", seq);
    else if (seq > want + c->bad)
        problem(c, c->lines, "missing", "%" PRIu64 " line%s missing before this one",
                seq - want - c->bad, seq - want - c->bad == 1 ? " is" : "s are");
    else if (seq < want)
        problem(c, c->lines, "order",
                "number %" PRIu64 " comes after %" PRIu64 ": a line was moved or repeated", seq,
                c->last.seq);
    else
        problem(c, c->lines, "changed",
                "it was not written after the line before: that one was put in or replaced");
}

/* The bad lines before this one are what its writer found unfinished, and said so. */
static void name_torn(struct check *c, const struct chain_line *line)
{
    long long bytes = json_integer_value(json_object_get(line->json, "damaged_bytes"));
    auto_json json_t *torn = json_pack("{s:s,s:o}", "kind", "torn", "message",
                                       json_sprintf("a line that was not finished; line %" PRIu64
                                                    " tells of %lld such bytes",
                                                    c->lines, bytes));
    size_t n = json_array_size(c->problems);

    for (size_t i = 1; i <= c->bad && i <= n && c->n_problems <= PROBLEMS_MAX; i++)
        json_object_update(json_array_get(c->problems, n - i), torn);
}

static void check_sound(struct check *c, struct chain_line *line)
{
    const char *time = json_string_value(json_object_get(line->json, "time"));

    if (strcmp(line->event, "recovered") == 0)
        name_torn(c, line);
    check_link(c, line);
    c->bad = 0;
    c->last = line->link;
    (void)snprintf(c->last_time, sizeof(c->last_time), "%s", time ? time : "");
    if (!c->first_time[0])
        memcpy(c->first_time, c->last_time, sizeof(c->first_time));
    if (c->expect && strcasecmp(c->expect, line->link.hash) == 0)
        c->expect_line = c->lines;
    note_event(c, line);
    chain_line_done(line);
}

static void check_line(struct check *c, const char *text, size_t len)
{
    static const struct {
        const char *kind, *message;
    } ills[] = {
        [CHAIN_CHANGED] = { "changed", "the line was changed: its hash is another" },
        [CHAIN_FOREIGN] = { "foreign", "not a line that glovebox wrote, or not as it was written" },
        [CHAIN_VERSIONED] = { "version", "of a version that this glovebox does not know" },
    };
    struct chain_line line;
    enum chain_form form;

    c->lines++;
    form = chain_read(text, len, &line);
    if (form == CHAIN_SOUND) {
        check_sound(c, &line);
        return;
    }
    c->bad++;
    problem(c, c->lines, ills[form].kind, "%s", ills[form].message);
}

/* What is left at the end has no newline. One that was too long was counted when that was seen. */
static void check_rest(struct check *c, size_t len)
{
    if (len == 0)
        return;
    c->lines++;
    problem(c, c->lines, "torn", "the file ends in the middle of a line");
}

/* ---- the file ---- */

/* Take the whole lines from the buffer; returns how much is left in it. */
static size_t take_lines(struct check *c, char *data, size_t len)
{
    char *at = data, *end = data + len, *newline;

    while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
        if (c->is_long)
            c->is_long = false; /* its end: counted already */
        else
            check_line(c, at, (size_t)(newline - at));
        at = newline + 1;
    }
    len = (size_t)(end - at);
    if (len > CHAIN_LINE_MAX) { /* no such line; its rest is not kept */
        if (!c->is_long)
            check_line(c, at, len);
        c->is_long = true;
        len = 0;
    }
    if (c->is_long)
        len = 0;
    memmove(data, at, len);
    return len;
}

/* How much of it there is, and whether somebody has it open, at a moment when nobody is writing:
 * whatever happens from then on is not looked at. */
static int64_t look_at(int fd, bool *ret_is_held)
{
    struct stat st;
    bool frozen = trail_freeze(fd);
    int64_t size = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : INT64_MAX;

    *ret_is_held = trail_is_held(fd);
    if (frozen)
        trail_thaw(fd);
    return size;
}

static int read_file(struct check *c, int fd, int64_t left, const char *path, struct gb_err *err)
{
    auto_free char *data = malloc(PIECE + CHAIN_LINE_MAX + 1);
    size_t have = 0;

    if (!data)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the audit file");
    while (left > 0) {
        ssize_t n = read(fd, data + have, left < PIECE ? (size_t)left : PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gb_fail(err, GB_E_SYSTEM, errno, "cannot read '%.150s'", path);
        if (n == 0)
            break;
        left -= n;
        have = take_lines(c, data, have + (size_t)n);
    }
    check_rest(c, have);
    return 0;
}

/* What only the whole tells. */
static void conclude(struct check *c, bool is_held)
{
    for (size_t i = 0; i < c->n_writers && !is_held; i++)
        problem(c, c->writers[i].line, "unclosed",
                "the last line of engine %s, which did not close the file and does not have it "
                "open: it was killed, or what follows was cut off",
                c->writers[i].id);
    if (c->expect && c->expect_line == 0)
        problem(c, c->lines, "expected",
                "no line has the hash that was expected: it was changed or cut off");
}

static json_t *report(const struct check *c, bool is_held)
{
    bool has_line = c->last.seq > 0;

    return json_pack(
        "{s:b,s:I,s:I,s:I,s:o,s:o,s:o,s:b,s:o,s:O?,s:O,s:I,s:O}", "ok", c->n_problems == 0, "lines",
        (json_int_t)c->lines, "runs", (json_int_t)c->runs, "seq", (json_int_t)c->last.seq, "head",
        has_line ? json_string(c->last.hash) : json_null(), "first",
        has_line ? json_lossy(c->first_time) : json_null(), "last",
        has_line ? json_lossy(c->last_time) : json_null(), "open", is_held, "expected_line",
        c->expect_line > 0 ? json_integer((json_int_t)c->expect_line) : json_null(), "before",
        c->before, "ended", c->ended, "problem_count", (json_int_t)c->n_problems, "problems",
        c->problems);
}

static json_t *verify(struct check *c, const char *path)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct gb_err err;
    bool is_held = false;

    if (fd < 0)
        gb_err_set(&err, GB_E_SYSTEM, errno, "cannot read '%.150s'", path);
    else if (read_file(c, fd, look_at(fd, &is_held), path, &err) == 0) {
        conclude(c, is_held);
        return report(c, is_held);
    }
    return json_pack("{s:b,s:{s:s,s:o,s:s}}", "ok", 0, "error", "type", gb_code_name(err.code),
                     "message", json_lossy(err.msg), "hint", err.hint);
}

char *gb_audit_verify(const char *path, const char *expect)
{
    auto_free struct check *c = calloc(1, sizeof(*c));
    auto_json json_t *json = NULL, *ended = json_array(), *problems = json_array();

    if (!c || !ended || !problems)
        return NULL;
    c->expect = expect;
    c->last = chain_start();
    c->ended = ended;
    c->problems = problems;
    json = verify(c, path);
    json_decref(c->before);
    return json ? json_text(json) : NULL;
}
