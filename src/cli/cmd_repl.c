/*
 * `glovebox repl`: a session on a terminal, or from a pipe.
 *
 * Lines become cells (cells.h), cells become requests of one session. Words that begin with a colon
 * are about the session itself. The first Ctrl-C in a cell is a KeyboardInterrupt there, and the
 * session keeps what the cell did; the second kills the cell, and the session goes back to where it
 * was before it. At the prompt, Ctrl-C forgets what was typed, and Ctrl-D ends.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/own.h"
#include "base/visible.h"
#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/colon.h"
#include "cli/converse.h"
#include "cli/edit.h"
#include "cli/io.h"
#include "cli/report.h"
#include "cli/servers.h"
#include "cli/settings.h"
#include "cli/tools.h"
#include "glovebox.h"

enum {
    WIDTH = 24 /* of columns */
};

struct repl {
    struct converse talk;
    const struct edit_ops *ops;
    struct edit *edit;
    struct cells cells;
    char name[32]; /* of the session that cells go to */
    bool is_terminal;
    bool is_over;
    int status; /* of the last cell */
};

/* ---- one cell ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static void run_cell(struct repl *r)
{
    json_auto_t *request = json_pack("{s:s, s:s%, s:b}", "session", r->name, "code",
                                     r->cells.text.data, r->cells.text.len, "echo", 1);
    json_auto_t *result = request ? converse_serve(&r->talk, request) : NULL;
    auto_free char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;

    if (!request)
        message("the cell is not UTF-8");
    r->status = request && result ? report_exit_code(result) : CLI_FAILED;
    if (!result)
        return;
    r->talk.report.request = text;
    report_result(result, &r->talk.report);
    r->talk.report.request = NULL;
    converse_tell_state(result);
}

/* ---- words for the session ---- */

static json_t *ask_session(struct repl *r, const char *op, const char *key, json_t *value)
{
    json_auto_t *request =
        json_pack("{s:s, s:s, s:s}", "kind", "session", "session", r->name, "op", op);
    json_t *result;

    if (value)
        (void)json_object_set_new(request, key, value);
    result = converse_serve(&r->talk, request);
    if (result && strcmp(text_of(result, "status"), "ok") != 0) {
        report_result(result, &r->talk.report);
        json_decref(result);
        return NULL;
    }
    return result;
}

static void say_rewind(void *data, const char *word)
{
    struct repl *r = data;
    char *end = NULL;
    long long cell = *word ? strtoll(word, &end, 10) : 0;

    if (*word && (!end || *end || cell < 0)) {
        message(":rewind takes the number of a cell; :inspect lists them");
        return;
    }
    json_auto_t *result = ask_session(r, "rewind", "cell", *word ? json_integer(cell) : NULL);
    if (result)
        message("the session is as it was after cell %lld",
                (long long)json_integer_value(
                    json_object_get(json_object_get(result, "value"), "cell")));
}

static void say_fork(void *data, const char *word)
{
    struct repl *r = data;
    if (!*word) {
        message(":fork takes a name for the new session");
        return;
    }
    json_auto_t *result = ask_session(r, "fork", "into", json_string(word));
    if (result)
        message("the session '%s' is a fork of this one; :use %s goes there", word, word);
}

static bool is_session(struct repl *r, const char *name)
{
    json_auto_t *request = json_pack("{s:s, s:s}", "kind", "session", "op", "list");
    json_auto_t *result = request ? converse_serve(&r->talk, request) : NULL;
    const json_t *all = json_object_get(result, "value");

    for (size_t i = 0; i < json_array_size(all); i++)
        if (strcmp(text_of(json_array_get(all, i), "name"), name) == 0)
            return true;
    return false;
}

static void say_use(void *data, const char *word)
{
    struct repl *r = data;
    if (!*word || strlen(word) >= sizeof(r->name)) {
        message(":use takes the name of a session; this one is '%s'", r->name);
        return;
    }
    (void)snprintf(r->name, sizeof(r->name), "%s", word);
    if (!is_session(r, word))
        message("there is no session '%s' yet: the next cell begins it", word);
}

static void say_reset(void *data, const char *word)
{
    struct repl *r = data;
    (void)word;
    json_auto_t *result = ask_session(r, "reset", NULL, NULL);

    if (result)
        message("the session begins anew");
}

/* The guest's own words: shown, and not obeyed by the terminal. */
static void put_word(FILE *f, const char *text, int width)
{
    size_t len = strlen(text);

    put_visible(f, text, len);
    fprintf(f, "%*s", (int)len < width ? width - (int)len : 1, "");
}

static void print_names(FILE *f, const json_t *contents)
{
    const json_t *names = json_object_get(contents, "names");
    const json_t *modules = json_object_get(contents, "modules");

    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *entry = json_array_get(names, i);
        put_word(f, text_of(entry, "name"), WIDTH);
        put_word(f, text_of(entry, "type"), WIDTH);
        fprintf(f, "%10lld bytes\n",
                (long long)json_integer_value(json_object_get(entry, "bytes")));
    }
    for (size_t i = 0; i < json_array_size(modules); i++) {
        const char *name = json_string_value(json_array_get(modules, i));
        put_word(f, name ? name : "", WIDTH);
        fputs("module\n", f);
    }
}

static void say_inspect(void *data, const char *word)
{
    struct repl *r = data;
    (void)word;
    json_auto_t *result = ask_session(r, "inspect", NULL, NULL);
    const json_t *value = json_object_get(result, "value");
    const json_t *cells = json_object_get(value, "checkpoints");
    struct text t;

    if (!result || text_open(&t) < 0)
        return;
    print_names(t.stream, json_object_get(value, "contents"));
    fprintf(t.stream, "session %s after cell %lld; can be taken back to:", r->name,
            (long long)json_integer_value(json_object_get(value, "cell")));
    for (size_t i = 0; i < json_array_size(cells); i++)
        fprintf(t.stream, " %lld", (long long)json_integer_value(json_array_get(cells, i)));
    fputc('\n', t.stream);
    (void)!text_send(&t, STDOUT_FILENO);
}

static void say_quit(void *data, const char *word)
{
    struct repl *r = data;
    (void)word;
    r->is_over = true;
}

static void say_help(void *data, const char *word);

static const struct colon_word words[] = {
    { "rewind", "[N]", "take the session back to the end of cell N, or by one", say_rewind },
    { "fork", "NAME", "make a second session that goes on from here", say_fork },
    { "use", "NAME", "go to another session", say_use },
    { "reset", "", "forget everything", say_reset },
    { "inspect", "", "what the session holds", say_inspect },
    { "help", "", "this", say_help },
    { "quit", "", "end, as Ctrl-D does", say_quit },
};

static void say_help(void *data, const char *word)
{
    (void)data;
    (void)word;
    colon_help(words, ARRAY_LEN(words),
               "Ctrl-C interrupts a cell; once more kills it and takes the session back.");
}

static void obey(struct repl *r, const char *line)
{
    if (!colon_obey(words, ARRAY_LEN(words), line, r))
        message("unknown word ':%.*s'; :help lists them", (int)strcspn(line, " \t"), line);
}

/* ---- lines ---- */

/* What one types to leave Python. In a cell it would end the cell, and nothing else. */
static bool is_farewell(const char *line)
{
    static const char *const leaving[] = { "exit", "exit()", "quit", "quit()" };

    for (size_t i = 0; i < ARRAY_LEN(leaving); i++)
        if (strcmp(line, leaving[i]) == 0)
            return true;
    return false;
}

static void flush_cell(struct repl *r)
{
    if (r->cells.text.len > 0) {
        auto_free char *text = strndup(r->cells.text.data, r->cells.text.len);
        if (text)
            r->ops->remember(r->edit, text);
        run_cell(r);
    }
    cells_clear(&r->cells);
}

static void take_line(struct repl *r, const char *line)
{
    enum cells_state state = CELLS_BEFORE;
    struct gb_err err;

    if (r->cells.text.len == 0 && line[0] == ':') {
        r->ops->remember(r->edit, line);
        obey(r, line + 1);
        return;
    }
    if (r->is_terminal && r->cells.text.len == 0 && is_farewell(line)) {
        r->is_over = true;
        return;
    }
    while (state == CELLS_BEFORE) {
        if (cells_add(&r->cells, line, r->is_terminal, &state, &err) < 0) {
            message_err(&err);
            cells_clear(&r->cells);
            return;
        }
        if (state != CELLS_MORE)
            flush_cell(r);
    }
}

static void loop(struct repl *r)
{
    const char *line = "";

    while (!r->is_over && !r->talk.lost) { /* with nobody to read it, no cell is run */
        converse_interrupts = 0;
        switch (r->ops->line(r->edit, r->cells.text.len > 0 ? "... " : ">>> ", &line)) {
        case EDIT_LINE:
            take_line(r, line);
            break;
        case EDIT_INTERRUPTED:
            (void)!write_all(STDOUT_FILENO, "\n", 1);
            cells_clear(&r->cells);
            break;
        case EDIT_END:
            if (r->is_terminal)
                (void)!write_all(STDOUT_FILENO, "\n", 1);
            flush_cell(r);
            r->is_over = true;
            break;
        }
    }
}

/* ---- the command ---- */

static int repl_run(struct repl *r)
{
    auto_free char *history = r->is_terminal ? converse_history("repl") : NULL;

    r->ops = edit_ops(r->is_terminal);
    r->edit = r->ops->open(history, &converse_interrupts);
    if (!r->edit)
        return report_refused(NULL, false);
    if (r->is_terminal)
        message("Python in a box that stays; :help for help, Ctrl-D to end");
    loop(r);
    r->ops->close(r->edit);
    if (r->talk.lost)
        return r->talk.lost;
    return r->is_terminal ? CLI_OK : r->status;
}

static int repl_main(const struct args *args)
{
    struct repl repl = { .name = "repl", .talk.asker = ASKER_EMPTY };
    auto_engine struct gb_engine *engine = NULL;
    auto_downstream struct downstream *servers = NULL;
    json_auto_t *config = NULL;
    json_auto_t *error = NULL;
    struct gb_err err;
    int status;

    if (args->operands.count > 0 || args->operands.rest[0]) {
        gb_err_set(&err, GB_E_INVALID, 0, "unexpected argument '%.80s'",
                   args->operands.count > 0 ? args->operands.words[0] : args->operands.rest[0]);
        return cli_refuse(args->command, &err);
    }
    if (settings_load(args, &config, &err) < 0)
        return cli_refuse(args->command, &err);
#ifndef __SANITIZE_ADDRESS__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* as for every engine of ours */
#endif
    if (engine_open_plain(args, config, &engine, &error) < 0)
        return report_refused(error, false);
    if (downstream_open(config, engine, &servers, &err) < 0)
        return report_err(&err, false);
    repl.talk.report.filename = "cell";
    repl.is_terminal = isatty(STDIN_FILENO) != 0;
    converse_begin(&repl.talk, engine, false);
    cells_init(&repl.cells);
    status = repl_run(&repl);
    cells_done(&repl.cells);
    converse_end(&repl.talk);
    return status;
}

static const struct option_group *const groups[] = {
    &mount_options,  &capture_options, &tool_options, &limit_options,
    &policy_options, &consent_options, &box_options,  &audit_options,
    &config_options, &general_options, NULL
};

const struct command cmd_repl = {
    .name = "repl",
    .operands = "[OPTIONS]",
    .summary = "Python at a prompt, in a box that stays",
    .description =
        "Reads Python line by line and runs it in one session: names, files and threads stay from "
        "cell to cell. On a terminal with editing and history; a block ends with an empty line. "
        "From a pipe a block also ends with the next statement, and the exit status is that of the "
        "last cell.\n"
        "Ctrl-C raises KeyboardInterrupt in the cell; once more kills it, and the session goes "
        "back to where it was before. Ctrl-D ends. Lines that begin with a colon are about the "
        "session: :rewind, :fork, :use, :reset, :inspect, :help, :quit.",
    .groups = groups,
    .run = repl_main,
};
