#include "cli/findings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/visible.h"

#define BOLD   "\033[1m"
#define RED    "\033[1;31m"
#define PURPLE "\033[1;35m"
#define GREEN  "\033[1;32m"
#define PLAIN  "\033[0m"

bool wants_color(int fd)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

    return isatty(fd) && (!no || !*no) && term && strcmp(term, "dumb") != 0;
}

static void put_color(FILE *f, const struct source *source, const char *color)
{
    if (source->is_colored)
        fputs(color, f);
}

bool source_next(const struct source *source, const char **at, const char **ret, size_t *ret_len)
{
    if (!*at && source->code) /* the byte-order mark belongs to no line */
        *at = source->code +
              (source->len >= 3 && memcmp(source->code, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    return *at && visible_line(source->code, source->len, LINES_PYTHON, at, ret, ret_len);
}

/* Line `number` of the code, counted from 1; NULL when there is none. */
static const char *find_line(const struct source *source, json_int_t number, size_t *ret_len)
{
    const char *at = NULL, *line = NULL;

    for (json_int_t i = 0; i < number; i++)
        if (!source_next(source, &at, &line, ret_len))
            return NULL;
    return line;
}

/* The line of code, and a caret below the column (counted in characters, from 1). */
static void print_line(FILE *f, const char *line, size_t len, json_int_t column,
                       const struct source *source)
{
    char *shown = NULL;
    size_t shown_len = 0, at = 0;
    FILE *before = NULL;

    fputs("    ", f);
    put_visible(f, line, len);
    fputc('\n', f);
    if (column < 1)
        return;
    for (json_int_t i = 1; i < column && at < len; i++) {
        do
            at++;
        while (at < len && (line[at] & 0xc0) == 0x80); /* the rest of a UTF-8 sequence */
    }
    /* As wide as what stands before it was shown. */
    before = open_memstream(&shown, &shown_len);
    if (!before)
        return;
    put_visible(before, line, at);
    fputs("    ", f);
    if (fclose(before) == 0)
        for (size_t i = 0; i < shown_len; i++)
            if ((shown[i] & 0xc0) != 0x80)
                fputc(shown[i] == '\t' ? '\t' : ' ', f);
    free(shown);
    put_color(f, source, GREEN);
    fputc('^', f);
    put_color(f, source, PLAIN);
    fputc('\n', f);
}

static void print_source(FILE *f, const json_t *finding, const struct source *source,
                         json_int_t line, json_int_t column)
{
    const char *text = json_string_at(finding, "source", NULL);
    size_t len = text ? strcspn(text, "\r\n") : 0;

    if (!text && !json_string_at(finding, "file", NULL))
        text = find_line(source, line, &len);
    if (text)
        print_line(f, text, len, column, source);
}

static bool is_error(const json_t *finding)
{
    return strcmp(json_string_at(finding, "severity", "error"), "warning") != 0;
}

static void print_finding(FILE *f, const json_t *finding, const struct source *source)
{
    const char *text = json_string_at(finding, "message", NULL);
    const char *rule = json_string_at(finding, "rule", NULL);
    const char *remedy = json_string_at(finding, "remedy", NULL);
    const char *file = json_string_at(finding, "file", NULL);
    json_int_t line = json_integer_value(json_object_get(finding, "line"));
    json_int_t column = json_integer_value(json_object_get(finding, "column"));
    bool is_bad = is_error(finding);

    put_color(f, source, BOLD);
    put_visible_text(f, file ? file : source->name);
    if (line > 0)
        fprintf(f, ":%lld", (long long)line);
    if (line > 0 && column > 0)
        fprintf(f, ":%lld", (long long)column);
    fputs(": ", f);
    put_color(f, source, is_bad ? RED : PURPLE);
    fputs(is_bad ? "error: " : "warning: ", f);
    put_color(f, source, PLAIN);
    put_visible_text(f, text ? text : "refused");
    if (rule) {
        fputs(" [", f);
        put_visible_text(f, rule);
        fputc(']', f);
    }
    fputc('\n', f);
    print_source(f, finding, source, line, column);
    if (remedy && *remedy) {
        fputs("help: ", f);
        put_visible_text(f, remedy);
        fputc('\n', f);
    }
}

void findings_print(FILE *f, const json_t *findings, const struct source *source)
{
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);

        if (!source->is_errors_only || is_error(finding))
            print_finding(f, finding, source);
    }
}
