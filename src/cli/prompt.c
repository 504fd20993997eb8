/*
 * Lines become commands (unfinished.h), commands become requests of one session. Words that begin
 * with a colon and a letter are about the session and its jobs. Ctrl-C ends the command, and the
 * shell keeps what it holds; at the prompt it forgets what was typed. Ctrl-D ends, and so does
 * 'exit'.
 */
#include "cli/prompt.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/own.h"
#include "base/suggest.h"
#include "base/visible.h"
#include "cli/colon.h"
#include "cli/converse.h"
#include "cli/edit.h"
#include "cli/io.h"
#include "cli/settings.h"
#include "cli/unfinished.h"

enum {
    COMMAND_MAX = 128 << 10,
    CWD_SHOWN = 60,
};

#define SESSION "shell"

struct prompt {
    struct converse talk;
    const struct edit_ops *ops;
    struct edit *edit;
    struct gb_buf text; /* the lines so far */
    char **argv;
    char cwd[CWD_SHOWN];
    json_int_t cell; /* of the last command */
    bool is_begun;   /* there is a shell to ask about */
    bool want_json, is_terminal, is_over;
    bool is_asked; /* by what runs in its terminal: the next line is for that */
    int status;
};

/* ---- one request ---- */

static void print_json(const struct prompt *p)
{
    struct text t;

    if (text_open(&t) < 0)
        return;
    fprintf(t.stream, "%s\n", p->talk.result);
    (void)!text_send(&t, STDOUT_FILENO);
}

/* What began in the background with this command, and what has ended since the last. */
static void tell_jobs(const struct prompt *p, const json_t *result)
{
    const json_t *jobs = json_object_get(result, "jobs");

    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const json_t *job = json_array_get(jobs, i);
        bool is_running = json_is_true(json_object_get(job, "running"));
        struct text t;
        if ((is_running && json_integer_value(json_object_get(job, "cell")) != p->cell) ||
            text_open(&t) < 0)
            continue;
        fprintf(t.stream,
                "glovebox: job %d %s: ", (int)json_integer_value(json_object_get(job, "pid")),
                is_running ? "runs" : "has ended");
        put_visible(t.stream, json_string_at(job, "command", ""),
                    strlen(json_string_at(job, "command", "")));
        fputc('\n', t.stream);
        (void)!text_send(&t, STDERR_FILENO);
    }
}

/* A directory's name is the command's choice. */
static void show_directory(struct prompt *p, const char *name)
{
    auto_free char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        return;
    put_visible_text(f, name);
    if (fclose(f) == 0)
        (void)snprintf(p->cwd, sizeof(p->cwd), "%s", len < CWD_SHOWN ? text : "...");
}

static void note(struct prompt *p, const json_t *result)
{
    const json_t *session = json_object_get(result, "session");
    const char *cwd = json_string_at(session, "cwd", NULL);

    p->is_asked = json_is_true(json_object_get(json_object_get(result, "pty"), "running"));
    p->cell = json_integer_value(json_object_get(session, "cell"));
    p->is_begun = p->is_begun || json_is_object(session);
    if (cwd)
        show_directory(p, cwd);
}

static json_t *serve(struct prompt *p, const json_t *request)
{
    json_t *result = request ? converse_serve(&p->talk, request) : NULL;

    p->status = result ? report_exit_code(result) : CLI_FAILED;
    if (!result)
        return NULL;
    note(p, result);
    if (p->want_json)
        print_json(p);
    return result;
}

static json_t *argv_of(const struct prompt *p)
{
    json_t *list = json_array();

    for (char **a = p->argv; *a; a++)
        json_array_append_new(list, json_lossy(*a));
    return list;
}

static bool is_exit(const char *text, size_t len)
{
    return len >= 5 && memcmp(text, "exit", 4) == 0 &&
           strspn(text + 4, " \t0123456789\n") >= len - 4 && isspace((unsigned char)text[4]);
}

static void run_command(struct prompt *p)
{
    size_t len = p->text.len > 0 ? p->text.len - 1 : 0; /* the last newline is the terminal's */
    json_auto_t *request = json_pack("{s:s, s:s, s:s%, s:o}", "kind", "shell", "session", SESSION,
                                     "command", p->text.data, len, "argv", argv_of(p));
    auto_free char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
    json_auto_t *result = NULL;

    if (!request)
        message("the command is not UTF-8");
    result = serve(p, request);
    p->is_over = p->is_over || is_exit(p->text.data, p->text.len);
    if (!result || p->want_json)
        return;
    p->talk.report.request = text;
    /* How a command ended its status says; that it could not begin is for us to say. */
    if (strcmp(json_string_at(json_object_get(result, "error"), "type", ""), "exit") != 0)
        report_result(result, &p->talk.report);
    p->talk.report.request = NULL;
    converse_tell_state(result);
    tell_jobs(p, result);
}

/* ---- words for the session ---- */

static json_t *ask_session(struct prompt *p, const char *op, long job, long long offset)
{
    json_auto_t *request =
        json_pack("{s:s, s:s, s:s}", "kind", "session", "session", SESSION, "op", op);
    json_t *result;

    if (!p->is_begun) {
        message("there are no jobs: the shell begins with the first command");
        return NULL;
    }
    if (job > 0)
        (void)json_object_set_new(request, "job", json_integer(job));
    if (offset > 0)
        (void)json_object_set_new(request, "offset", json_integer(offset));
    result = serve(p, request);
    if (result && !p->want_json && strcmp(json_string_at(result, "status", ""), "ok") != 0) {
        report_result(result, &p->talk.report);
        json_decref(result);
        return NULL;
    }
    return result;
}

static void say_jobs(void *data, const char *rest)
{
    struct prompt *p = data;
    json_auto_t *result = ask_session(p, "jobs", 0, 0);
    const json_t *jobs = json_object_get(json_object_get(result, "value"), "jobs");
    struct text t;

    (void)rest;
    if (!result || p->want_json || text_open(&t) < 0)
        return;
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const json_t *job = json_array_get(jobs, i);
        const char *command = json_string_at(job, "command", "");
        fprintf(t.stream, "%-8d %-9s %8lld bytes  ",
                (int)json_integer_value(json_object_get(job, "pid")),
                json_is_true(json_object_get(job, "running")) ? "running" : "ended",
                (long long)json_integer_value(json_object_get(job, "late_bytes")));
        put_visible(t.stream, command, strlen(command));
        fputc('\n', t.stream);
    }
    (void)!text_send(&t, STDOUT_FILENO);
}

static long number_in(const char **at)
{
    char *end = NULL;
    long n = strtol(*at, &end, 10);

    *at = end;
    return n;
}

static void say_read(void *data, const char *rest)
{
    struct prompt *p = data;
    long job = number_in(&rest), offset = number_in(&rest);
    json_auto_t *result = NULL;
    const char *text;

    if (job < 2 || offset < 0) {
        message(
            ":read takes the number of a job, and perhaps from which byte on; :jobs lists them");
        return;
    }
    result = ask_session(p, "job_read", job, offset);
    text = json_string_at(json_object_get(json_object_get(result, "value"), "output"), "text", "");
    if (result && !p->want_json)
        (void)!write_all(STDOUT_FILENO, text, strlen(text));
}

static void say_kill(void *data, const char *rest)
{
    struct prompt *p = data;
    long job = number_in(&rest);

    if (job < 2) {
        message(":kill takes the number of a job; :jobs lists them");
        return;
    }
    json_decref(ask_session(p, "job_kill", job, 0));
}

static void say_reset(void *data, const char *rest)
{
    struct prompt *p = data;
    json_auto_t *result = ask_session(p, "reset", 0, 0);

    (void)rest;
    if (result)
        p->is_begun = false;
    if (result && !p->want_json)
        message("the shell begins anew");
}

static void say_quit(void *data, const char *rest)
{
    struct prompt *p = data;
    (void)rest;
    p->is_over = true;
}

static void say_help(void *data, const char *rest);

static const struct colon_word words[] = {
    { "jobs", "", "what runs in the background", say_jobs },
    { "read", "JOB [BYTE]", "what a job has printed since its command was over", say_read },
    { "kill", "JOB", "end a job", say_kill },
    { "reset", "", "a new shell in a new box", say_reset },
    { "help", "", "this", say_help },
    { "quit", "", "end, as Ctrl-D does", say_quit },
};

static void say_help(void *data, const char *rest)
{
    (void)data;
    (void)rest;
    colon_help(words, ARRAY_LEN(words), "Ctrl-C ends a command; the shell keeps what it holds.");
}

/* A line that is one of these words, or was meant to be, and nothing for the shell. */
static bool obey(struct prompt *p, const char *line)
{
    size_t len = strcspn(line, " \t");
    struct suggestion near = { .typed = line + 1, .typed_len = len > 1 ? len - 1 : 0 };

    if (line[0] != ':' || len == 1) /* which the shell has itself */
        return false;
    if (colon_obey(words, ARRAY_LEN(words), line + 1, p))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        suggestion_offer(&near, words[i].word);
    if (near.best)
        message("there is no '%.*s' (did you mean ':%s'?)", (int)(len < 40 ? len : 40), line,
                near.best);
    return near.best != NULL;
}

/* ---- lines ---- */

static bool is_blank(const struct gb_buf *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (!isspace((unsigned char)text->data[i]))
            return false;
    return true;
}

static void flush(struct prompt *p)
{
    auto_free char *text = p->text.len > 0 ? strndup(p->text.data, p->text.len - 1) : NULL;

    if (text && !is_blank(&p->text)) {
        p->ops->remember(p->edit, text);
        run_command(p);
    }
    p->text.len = 0;
}

static void type_line(struct prompt *p, const char *line)
{
    json_auto_t *request = json_pack("{s:s, s:s, s:s, s:o}", "kind", "session", "session", SESSION,
                                     "op", "type", "text", json_sprintf("%s\n", line));
    json_auto_t *result = NULL;
    const json_t *code;

    p->talk.echo = p->is_terminal ? line : NULL;
    result = serve(p, request);
    p->talk.echo = NULL;
    code = json_object_get(json_object_get(result, "pty"), "exit_code");
    if (json_is_integer(code))
        p->status = (int)json_integer_value(code);
    if (result && !p->want_json)
        report_result(result, &p->talk.report);
}

static void take_line(struct prompt *p, const char *line)
{
    struct gb_err err;

    if (p->is_asked) {
        type_line(p, line);
        return;
    }

    if (p->text.len == 0 && obey(p, line))
        return;
    if (gb_buf_add(&p->text, line, strlen(line), &err) < 0 ||
        gb_buf_add(&p->text, "\n", 1, &err) < 0) {
        message("the command is longer than %d KiB; put it into a file", COMMAND_MAX >> 10);
        p->text.len = 0;
        p->status = CLI_FAILED;
        return;
    }
    if (!command_is_unfinished(p->text.data, p->text.len))
        flush(p);
}

static void loop(struct prompt *p)
{
    const char *line = "";
    char ask[CWD_SHOWN + 16];

    while (!p->is_over && !p->talk.lost) {
        converse_interrupts = 0;
        (void)snprintf(ask, sizeof(ask), "%s$ ", p->cwd);
        switch (p->ops->line(p->edit, p->is_asked ? "" : p->text.len > 0 ? "> " : ask, &line)) {
        case EDIT_LINE:
            take_line(p, line);
            break;
        case EDIT_INTERRUPTED:
            (void)!write_all(STDOUT_FILENO, "\n", 1);
            p->text.len = 0;
            break;
        case EDIT_END:
            if (p->is_terminal)
                (void)!write_all(STDOUT_FILENO, "\n", 1);
            flush(p);
            p->is_over = true;
            break;
        }
    }
}

static int prompt_run(struct prompt *p)
{
    auto_free char *history = p->is_terminal ? converse_history("shell") : NULL;

    p->ops = edit_ops(p->is_terminal);
    p->edit = p->ops->open(history, &converse_interrupts);
    if (!p->edit)
        return report_refused(NULL, p->want_json);
    if (p->is_terminal && !p->want_json)
        message("a shell in a box that stays; :help for help, Ctrl-D to end");
    if (p->is_terminal && p->argv[0])
        message("'%.60s' is $1 in it; what is to be run goes behind -c", p->argv[0]);
    loop(p);
    p->ops->close(p->edit);
    if (p->talk.lost)
        return p->talk.lost;
    return p->is_terminal ? CLI_OK : p->status;
}

int prompt_main(const struct args *args)
{
    struct prompt p = { .talk.asker = ASKER_EMPTY, .argv = args->operands.rest, .cwd = "glovebox" };
    auto_engine struct gb_engine *engine = NULL;
    json_auto_t *config = NULL;
    json_auto_t *error = NULL;
    struct gb_err err;
    int status;

    if (settings_load(args, &config, &err) < 0)
        return cli_refuse(args->command, &err);
#ifndef __SANITIZE_ADDRESS__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* as for every engine of ours */
#endif
    if (engine_open_plain(args, config, &engine, &error) < 0)
        return report_refused(error, args->want_json);
    p.want_json = p.talk.is_silent = args->want_json;
    p.talk.report.filename = "command";
    p.is_terminal = isatty(STDIN_FILENO) != 0;
    gb_buf_init(&p.text, COMMAND_MAX);
    converse_begin(&p.talk, engine,
                   json_is_true(json_object_get(config, "raw")) ||
                       json_is_true(json_object_get(config, "pty")));
    status = prompt_run(&p);
    gb_buf_done(&p.text);
    converse_end(&p.talk);
    return status;
}
