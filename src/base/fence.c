#include "base/fence.h"

#include <ctype.h>
#include <string.h>

static const char mark[] = "```";

enum {
    MARK_LEN = sizeof(mark) - 1,
    INDENT_MAX = 3 /* more makes it a line of code to Markdown */
};

static size_t line_end(const char *text, size_t len, size_t at)
{
    while (at < len && text[at] != '\n' && text[at] != '\r')
        at++;
    return at;
}

static bool is_blank(const char *text, size_t at, size_t end)
{
    while (at < end && isspace((unsigned char)text[at]))
        at++;
    return at == end;
}

/* Where the mark of a line ends that begins with one, else 0. */
static size_t mark_end(const char *text, size_t at, size_t end)
{
    size_t indent = 0;

    while (indent < INDENT_MAX && at < end && text[at] == ' ') {
        indent++;
        at++;
    }
    return end - at >= MARK_LEN && memcmp(text + at, mark, MARK_LEN) == 0 ? at + MARK_LEN : 0;
}

/* The name of a language, as "python" in ```python. */
static bool is_language(const char *text, size_t at, size_t end)
{
    while (at < end && (isalnum((unsigned char)text[at]) || strchr("_+.-", text[at])))
        at++;
    return is_blank(text, at, end);
}

struct line {
    size_t at, end;
};

/* The next line that is not blank; false after the last. */
static bool next_line(const char *text, size_t len, struct line *line)
{
    do {
        line->at = line->end;
        while (line->at < len && (text[line->at] == '\n' || text[line->at] == '\r'))
            line->at++;
        line->end = line_end(text, len, line->at);
    } while (line->at < len && is_blank(text, line->at, line->end));
    return line->at < len;
}

static void blank(char *text, struct line line)
{
    memset(text + line.at, ' ', line.end - line.at);
}

bool fence_blank(char *text, size_t len)
{
    struct line first = { 0 }, line, last;
    size_t after = 0, marks = 0;

    if (!next_line(text, len, &first))
        return false;
    after = mark_end(text, first.at, first.end);
    if (after == 0 || !is_language(text, after, first.end))
        return false;
    for (line = last = first; next_line(text, len, &line); last = line) {
        after = mark_end(text, line.at, line.end);
        marks += after != 0;
    }
    if (marks != 1 || after == 0 || !is_blank(text, after, last.end))
        return false;
    blank(text, first);
    blank(text, last);
    return true;
}
