#include "cli/report.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "base/visible.h"
#include "cli/cli.h"
#include "cli/findings.h"
#include "cli/io.h"

/* Every key of a result, so that a reader of --json needs no second shape. */
static const char failed_result[] =
    "{\"status\":\"failed\",\"exit_code\":125,"
    "\"stdout\":\"\",\"stderr\":\"\",\"stdout_truncated\":false,\"stderr_truncated\":false,"
    "\"stdout_bytes\":0,\"stderr_bytes\":0,\"value\":null,\"has_value\":false,"
    "\"error\":{\"type\":\"system\",\"message\":\"out of memory\",\"hint\":null},"
    "\"findings\":[],\"limit\":null,\"files\":[],\"tool_calls\":[],\"session\":null,"
    "\"outputs\":[],\"isolation\":null,\"policy\":null,\"risk\":0,"
    "\"usage\":{\"wall_ms\":0.0,\"cpu_ms\":0.0,\"max_rss_kb\":0},"
    "\"timings\":{\"check_ms\":0.0,\"start_ms\":0.0,\"run_ms\":0.0,\"collect_ms\":0.0}}";

static void print_error(FILE *f, const json_t *error, const char *fallback)
{
    const char *text = json_string_at(error, "message", NULL);
    const char *hint = json_string_at(error, "hint", NULL);

    fprintf(f, "glovebox: %s\n", text && *text ? text : fallback);
    if (hint && *hint)
        fprintf(f, "glovebox: hint: %s\n", hint);
}

/* The word of a box in which commands ran. */
static void print_guests(FILE *f, const char *label, const char *text)
{
    if (!*text)
        return;
    fprintf(f, "glovebox: %s", label);
    put_visible_text(f, text);
    fputc('\n', f);
}

/* input() of a program that was given nothing to read. */
static void print_empty_stdin(FILE *f, const json_t *error, const struct report *r)
{
    json_auto_t *request = r->request ? json_loads(r->request, JSON_ALLOW_NUL, NULL) : NULL;

    if (!request || json_object_get(request, "stdin") || json_object_get(request, "stdin_base64") ||
        strcmp(json_string_at(error, "type", ""), "EOFError") != 0)
        return;
    fputs("glovebox: hint: standard input is empty; --stdin FILE gives it, '--stdin -' passes "
          "yours\n",
          f);
}

static void print_raised(FILE *f, const json_t *result, const struct report *r)
{
    const json_t *error = json_object_get(result, "error");
    const char *traceback = json_string_at(error, "traceback", NULL);
    size_t len = traceback ? strlen(traceback) : 0;

    if (strcmp(json_string_at(error, "type", ""), "shell") == 0) { /* it could not begin */
        print_guests(f, "", json_string_at(error, "message", ""));
        print_guests(f, "hint: ", json_string_at(error, "hint", ""));
    }
    if (len > 0)
        fprintf(f, "%s%s", traceback, traceback[len - 1] == '\n' ? "" : "\n");
    print_empty_stdin(f, error, r);
}

static void print_rejected(FILE *f, const json_t *result, const struct report *r)
{
    const json_t *findings = json_object_get(result, "findings");
    json_auto_t *request = r->request ? json_loads(r->request, JSON_ALLOW_NUL, NULL) : NULL;
    const json_t *code =
        json_object_get(request, json_object_get(request, "command") ? "command" : "code");
    struct source source = { .name = r->filename,
                             .code = json_string_value(code),
                             .len = json_string_length(code),
                             .is_colored = wants_color(STDERR_FILENO) };

    if (json_array_size(findings) == 0)
        print_error(f, json_object_get(result, "error"), "rejected");
    source.is_errors_only = r->are_warnings_known;
    findings_print(f, findings, &source);
}

static void print_timeout(FILE *f, const json_t *result, const struct report *r)
{
    (void)r;
    fprintf(f, "glovebox: %s\n",
            json_string_at(json_object_get(result, "error"), "message", "timed out"));
}

static void print_limit(FILE *f, const json_t *result, const struct report *r)
{
    const char *text = json_string_at(json_object_get(result, "error"), "message", NULL);
    const char *limit = json_string_at(result, "limit", NULL);

    const char *traceback = json_string_at(json_object_get(result, "error"), "traceback", NULL);

    (void)r;
    if (traceback)
        fputs(traceback, f);
    if (text)
        fprintf(f, "glovebox: %s\n", text);
    else
        fprintf(f, "glovebox: the limit of %s was reached\n", limit ? limit : "resources");
}

static void print_crashed(FILE *f, const json_t *result, const struct report *r)
{
    int sig = report_exit_code(result) - CLI_SIGNAL;
    const char *name = sigabbrev_np(sig);

    (void)r;
    fprintf(f, "glovebox: killed by signal %d", sig);
    if (name)
        fprintf(f, " (SIG%s)", name);
    fputc('\n', f);
}

static void print_failed(FILE *f, const json_t *result, const struct report *r)
{
    (void)r;
    print_error(f, json_object_get(result, "error"), "the program could not be run");
}

static const struct {
    const char *status;
    void (*print)(FILE *f, const json_t *result, const struct report *r);
} printers[] = {
    { "error", print_raised }, { "rejected", print_rejected }, { "timeout", print_timeout },
    { "limit", print_limit },  { "crashed", print_crashed },   { "failed", print_failed },
};

/* What a command had started in the background. The names are its own choice. */
static void print_survivors(FILE *f, const json_t *result)
{
    const json_t *list = json_object_get(result, "survivors");
    json_int_t more = json_integer_value(json_object_get(result, "survivors_omitted"));

    fputs("glovebox: note: ended what still ran:", f);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);

        fputs(i ? ", " : " ", f);
        put_visible_text(f, json_string_at(one, "command", ""));
        fprintf(f, " (%lld)", (long long)json_integer_value(json_object_get(one, "pid")));
    }
    if (more > 0)
        fprintf(f, ", and %lld more", (long long)more);
    fputc('\n', f);
}

/* Somebody asked for the whole of it, and will look for it later. */
static void print_unspilled(FILE *f, const json_t *spill)
{
    static const char *const streams[][2] = { { "stdout", "standard output" },
                                              { "stderr", "standard error" } };

    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        const json_t *file = json_object_get(spill, streams[i][0]);
        bool is_cut = json_is_false(json_object_get(file, "complete"));
        const char *error = json_string_at(file, "error", is_cut ? "--spill-limit" : NULL);

        if (error)
            fprintf(f, "glovebox: warning: --spill: %s was not kept whole: %s\n", streams[i][1],
                    error);
    }
}

/* What we say begins a line of its own, also after half a line of the guest's. */
static void say(struct text *t, bool *is_line_open)
{
    if (*is_line_open && ftell(t->stream) > 0) {
        (void)!write_all(STDERR_FILENO, "\n", 1);
        *is_line_open = false;
    }
    (void)!text_send(t, STDERR_FILENO);
}

void report_result(const json_t *result, const struct report *r)
{
    const char *status = json_string_at(result, "status", NULL);
    const char *unrecorded = json_string_at(result, "audit_error", NULL);
    bool is_line_open = r->is_line_open, is_told = false;
    struct text t;

    for (size_t i = 0; i < ARRAY_LEN(printers); i++) {
        if (!status || strcmp(printers[i].status, status) != 0)
            continue;
        if (text_open(&t) < 0)
            return;
        printers[i].print(t.stream, result, r);
        say(&t, &is_line_open);
        is_told = printers[i].print == print_failed;
    }
    if (json_array_size(json_object_get(result, "survivors")) > 0 && text_open(&t) == 0) {
        print_survivors(t.stream, result);
        say(&t, &is_line_open);
    }
    if (json_object_get(result, "spill") && text_open(&t) == 0) {
        print_unspilled(t.stream, json_object_get(result, "spill"));
        say(&t, &is_line_open);
    }
    if (!unrecorded || is_told || text_open(&t) < 0)
        return;
    fprintf(t.stream, "glovebox: warning: %s\n", unrecorded);
    say(&t, &is_line_open);
}

/* A file that the program named, on a terminal of ours. */
static void print_unwritten(FILE *f, const json_t *item)
{
    const json_t *path = json_object_get(item, "path");

    fputs("glovebox: not written: ", f);
    put_visible(f, json_string_value(path), json_string_length(path));
    fprintf(f, ": %s\n", json_string_at(item, "omitted", ""));
}

void report_unwritten(const json_t *result, const char *dir, const struct report *r)
{
    enum {
        SHOWN = 10
    };
    const json_t *files = json_object_get(result, "files");
    const char *more = json_string_at(json_object_get(result, "files_omitted"), "reason", NULL);
    bool is_line_open = r->is_line_open;
    size_t n = 0;
    struct text t;

    if (text_open(&t) < 0)
        return;
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *item = json_array_get(files, i);
        const char *mount = json_string_at(item, "mount", NULL);

        if (!json_string_at(item, "omitted", NULL) || !mount || strcmp(mount, "workspace") != 0)
            continue;
        if (n++ < SHOWN)
            print_unwritten(t.stream, item);
    }
    if (n > SHOWN)
        fprintf(t.stream, "glovebox: and %zu more\n", n - SHOWN);
    if (more)
        fprintf(t.stream, "glovebox: not all files are in %s: %s\n", dir, more);
    say(&t, &is_line_open);
}

int report_exit_code(const json_t *result)
{
    const json_t *code = json_object_get(result, "exit_code");

    return json_is_integer(code) ? (int)(json_integer_value(code) & 0xff) : CLI_FAILED;
}

json_t *report_failed(const json_t *error)
{
    json_auto_t *result = json_loads(failed_result, 0, NULL);

    if (!result || (error && json_object_set_new(result, "error", json_deep_copy(error)) < 0))
        return NULL;
    return take_ptr(result);
}

int report_refused(const json_t *error, bool want_json)
{
    const char *type = json_string_at(error, "type", NULL);
    bool is_usage = type && strcmp(type, gb_code_name(GB_E_INVALID)) == 0;
    int status = is_usage ? CLI_USAGE : CLI_FAILED;
    struct text t;

    if (text_open(&t) < 0)
        return CLI_FAILED;
    if (!want_json) {
        print_error(t.stream, error, "out of memory");
        (void)!text_send(&t, STDERR_FILENO);
        return status;
    }

    json_auto_t *result = report_failed(error);
    (void)json_object_set_new(result, "exit_code", json_integer(status));
    (void)json_dumpf(result, t.stream, JSON_COMPACT);
    fputc('\n', t.stream);
    return text_finish(&t, status);
}

int report_err(const struct gb_err *err, bool want_json)
{
    json_auto_t *error = json_pack("{s:s,s:o,s:o}", "type", gb_code_name(err->code), "message",
                                   json_lossy(err->msg), "hint", json_lossy(err->hint));

    return report_refused(error, want_json);
}

json_t *report_parse(const char *text, bool want_json, int *ret_status)
{
    json_t *parsed = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;

    if (parsed)
        return parsed;
    json_auto_t *error = text ? json_pack("{s:s, s:s, s:n}", "type", gb_code_name(GB_E_PROTOCOL),
                                          "message", "the engine's answer is not JSON", "hint")
                              : NULL;
    *ret_status = report_refused(error, want_json);
    return NULL;
}
