#include "cli/converse.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/json.h"
#include "base/own.h"
#include "cli/io.h"

/* A handler has no other way to reach the program. */
volatile int converse_interrupts;
static struct gb_engine *volatile woken;

static void on_interrupt(int sig)
{
    int saved = errno;
    struct gb_engine *engine = woken;

    (void)sig;
    converse_interrupts = converse_interrupts + 1;
    if (engine)
        gb_wake(engine);
    errno = saved;
}

void converse_begin(struct converse *c, struct gb_engine *engine, bool is_raw)
{
    struct sigaction heed = { .sa_handler = on_interrupt };

    c->engine = engine;
    streams_open(&c->streams, is_raw);
    woken = engine;
    (void)sigaction(SIGINT, &heed, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

void converse_end(struct converse *c)
{
    woken = NULL;
    free(take_ptr(c->result));
    ask_done(&c->asker);
    shown_done(&c->shown);
    streams_close(&c->streams);
}

/* ---- one request ---- */

/* How much of this is the echo of what was typed, which is on the screen already. Whatever does not
 * read so at first is no echo: a program may have turned it off. */
static size_t echo_in(struct converse *c, const char *bytes, size_t len)
{
    size_t n = strlen(c->echo);

    if (len < n || memcmp(bytes, c->echo, n) != 0 ||
        (len > n && bytes[n] != '\r' && bytes[n] != '\n')) {
        c->echo = NULL;
        return 0;
    }
    while (n < len && (bytes[n] == '\r' || bytes[n] == '\n'))
        if (bytes[n++] == '\n')
            break;
    c->echo = n == len && bytes[n - 1] != '\n' ? "" : NULL; /* the rest of the line is to come */
    return n;
}

static void on_output(void *data, struct gb_job *job, enum gb_stream stream, const char *bytes,
                      size_t len)
{
    struct converse *c = data;
    size_t skip = c->echo && len > 0 ? echo_in(c, bytes, len) : 0;
    int e = streams_write(&c->streams, stream == GB_STDERR ? STDERR_FILENO : STDOUT_FILENO,
                          bytes + skip, len - skip);

    (void)job;
    if (e < 0 && stream != GB_STDERR && c->lost == 0)
        c->lost = write_failed(e);
    if (stream == GB_STDERR && len > 0)
        c->report.is_line_open = bytes[len - 1] != '\n';
}

/* Text goes where the cell's output goes; of a picture only where it went is said. */
static void on_display(void *data, struct gb_job *job, const char *forms)
{
    struct converse *c = data;
    struct shown_as as = shown_take(&c->shown, forms);

    if (as.text)
        on_output(data, job, GB_STDOUT, as.text, as.len);
    if (as.file) {
        if (c->report.is_line_open)
            (void)!write_all(STDERR_FILENO, "\n", 1);
        c->report.is_line_open = false;
        message("%s written to %s", as.what, as.file);
    }
    free(as.text);
    free(as.file);
}

static void on_done(void *data, struct gb_job *job, const char *result)
{
    struct converse *c = data;

    ask_forget(&c->asker, job);
    c->result = strdup(result);
    c->is_done = true;
}

static void on_approve(void *data, struct gb_job *job, const char *question)
{
    struct converse *c = data;

    ask_add(&c->asker, job, question, 0);
}

json_t *converse_serve(struct converse *c, const json_t *request)
{
    struct gb_callbacks callbacks = { .size = sizeof(callbacks),
                                      .data = c,
                                      .output = c->is_silent ? NULL : on_output,
                                      .done = on_done,
                                      .approve = on_approve,
                                      .display = c->is_silent ? NULL : on_display };
    auto_free char *text = json_dumps(request, JSON_COMPACT);
    int heeded = 0;
    json_t *result;

    converse_interrupts = 0;
    free(take_ptr(c->result));
    c->is_done = false;
    c->report.is_line_open = false;
    c->job = text ? gb_start(c->engine, text, &callbacks) : NULL;
    while (c->job && !c->is_done) {
        ask_look(&c->asker);
        for (; heeded < converse_interrupts && heeded < 2; heeded++) {
            if (heeded == 0)
                gb_interrupt(c->job);
            else
                gb_cancel(c->job);
        }
        (void)gb_step(c->engine, ask_step_ms(&c->asker));
    }
    converse_interrupts = 0;
    result = c->result ? json_loads(c->result, JSON_ALLOW_NUL, NULL) : NULL;
    if (!result)
        message("out of memory");
    return result;
}

void converse_tell_state(const json_t *result)
{
    const json_t *session = json_object_get(result, "session");
    const json_t *findings = json_object_get(result, "findings");

    for (size_t i = 0; i < json_array_size(findings); i++)
        if (strcmp(json_string_at(json_array_get(findings, i), "rule", ""), "session") == 0)
            message("%s", json_string_at(json_array_get(findings, i), "message", ""));
    if (strcmp(json_string_at(session, "state", ""), "rolled_back") == 0)
        message("the cell was killed; the session is as it was before it (cell %d)",
                (int)json_integer_value(json_object_get(session, "cell")));
}

/* ---- history ---- */

char *converse_history(const char *name)
{
    char file[64], *path;

    (void)snprintf(file, sizeof(file), "%s_history", name);
    path = folder_file("XDG_STATE_HOME", ".local/state", file);
    for (char *at = path ? strchr(path + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
    return path;
}
