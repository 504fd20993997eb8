#include "cli/unfinished.h"

#include <string.h>

#include "base/own.h"

enum {
    NEST_MAX = 64,
    DOCUMENTS_MAX = 8,
    WORD_MAX = 64,
};

struct scan {
    const char *at, *end;
    char nest[NEST_MAX]; /* what is open: " ` ( and, with a $ before it, { or s for a bracket;
                            m: one of arithmetic */
    size_t depth;
    int blocks;      /* of if, for, case and the like */
    bool begins;     /* a command: words that open and close mean something here */
    bool wants_more; /* the last that was seen was an operator with something missing behind it */
    struct {
        char word[WORD_MAX];
        bool is_indented; /* <<- */
    } documents[DOCUMENTS_MAX];
    size_t n_documents;
    bool is_open; /* the text ended within something */
};

static char top(const struct scan *s)
{
    if (s->depth == 0)
        return '\0';
    return s->nest[s->depth - 1];
}

static void push(struct scan *s, char what)
{
    if (s->depth < NEST_MAX)
        s->nest[s->depth++] = what;
}

static void pop(struct scan *s)
{
    if (s->depth > 0)
        s->depth--;
}

static bool has(const struct scan *s, const char *text)
{
    size_t len = strlen(text);

    return (size_t)(s->end - s->at) >= len && memcmp(s->at, text, len) == 0;
}

/* To behind the next of this character; without one, the text ends within. */
static void skip_to(struct scan *s, char c)
{
    const char *found = memchr(s->at, c, (size_t)(s->end - s->at));

    s->is_open = !found;
    s->at = found ? found + 1 : s->end;
}

/* ---- here-documents ---- */

/* The word behind <<, without its quotes. */
static void take_document(struct scan *s)
{
    char *word = s->documents[s->n_documents < DOCUMENTS_MAX ? s->n_documents : 0].word;
    size_t len = 0;
    char quote = 0;

    s->at += 2;
    s->documents[s->n_documents < DOCUMENTS_MAX ? s->n_documents : 0].is_indented = has(s, "-");
    if (has(s, "-"))
        s->at++;
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
    for (; s->at < s->end && (quote || !strchr(" \t\n;&|<>()", *s->at)); s->at++) {
        if (quote ? *s->at == quote : (*s->at == '\'' || *s->at == '"')) {
            if (quote)
                quote = '\0';
            else
                quote = *s->at;
        } else if ((*s->at != '\\' || quote == '\'') && len + 1 < WORD_MAX) {
            word[len++] = *s->at;
        }
    }
    word[len] = '\0';
    if (s->n_documents < DOCUMENTS_MAX)
        s->n_documents++;
}

static bool is_end_of(const struct scan *s, size_t document, const char *line, size_t len)
{
    while (s->documents[document].is_indented && len > 0 && *line == '\t') {
        line++;
        len--;
    }
    return len == strlen(s->documents[document].word) &&
           memcmp(line, s->documents[document].word, len) == 0;
}

/* The lines of those that began before this newline. */
static void skip_documents(struct scan *s)
{
    for (size_t i = 0; i < s->n_documents && !s->is_open; i++) {
        bool is_over = false;
        while (!is_over && s->at < s->end) {
            const char *line = s->at, *newline = memchr(line, '\n', (size_t)(s->end - line));
            size_t len = (size_t)((newline ? newline : s->end) - line);
            is_over = is_end_of(s, i, line, len);
            s->at = newline ? newline + 1 : s->end;
        }
        s->is_open = !is_over;
    }
    s->n_documents = 0;
}

/* ---- words ---- */

static bool is_one_of(const char *word, size_t len, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i]) == len && memcmp(list[i], word, len) == 0)
            return true;
    return false;
}

static void take_word(struct scan *s)
{
    static const char *const opens[] = { "if", "for", "while", "until", "case", "select", "{" };
    static const char *const closes[] = { "fi", "done", "esac", "}" };
    static const char *const leads[] = { "then", "do", "else",  "elif",  "!",
                                         "time", "if", "while", "until", "{" };
    const char *word = s->at;
    size_t len;
    bool began = s->begins;

    while (s->at < s->end && !strchr(" \t\n;&|<>()\"'`$\\", *s->at))
        s->at++;
    len = (size_t)(s->at - word);
    s->begins = began && is_one_of(word, len, leads, ARRAY_LEN(leads));
    if (!began)
        return;
    if (is_one_of(word, len, opens, ARRAY_LEN(opens)))
        s->blocks++;
    else if (is_one_of(word, len, closes, ARRAY_LEN(closes)))
        s->blocks--;
}

/* ---- characters ---- */

static void in_double_quotes(struct scan *s)
{
    if (*s->at == '\\' && s->at + 1 < s->end) {
        s->at += 2;
        return;
    }
    if (*s->at == '"') {
        pop(s);
    } else if (has(s, "$(") || has(s, "${")) {
        push(s, s->at[1] == '(' ? 's' : '{');
        s->begins = s->at[1] == '(';
        s->at++;
    } else if (*s->at == '`') {
        push(s, '`');
    }
    s->at++;
}

static bool take_operator(struct scan *s)
{
    if (has(s, "<<<")) {
        s->at += 3;
    } else if (has(s, "<<") && top(s) != '{') {
        take_document(s);
    } else if (has(s, "&&") || has(s, "||")) {
        s->at += 2;
        s->wants_more = s->begins = true;
    } else if (*s->at == '|') {
        s->at++;
        s->wants_more = s->begins = true;
    } else if (*s->at == ';' || *s->at == '&') {
        s->at++;
        s->begins = true;
    } else {
        return false;
    }
    return true;
}

static void take_bracket(struct scan *s)
{
    char c = *s->at++;

    if (c == '(') {
        push(s, '(');
        s->begins = true;
    } else { /* behind what a function has, a word may open its body; or it ends a case's pattern */
        s->begins = top(s) != 's';
        if (top(s) == '(' || top(s) == 's')
            pop(s);
    }
}

static void take_newline(struct scan *s)
{
    s->at++;
    s->begins = true;
    skip_documents(s);
}

/* Two brackets: what is in them is no command. */
static void take_arithmetic(struct scan *s)
{
    push(s, 'm');
    push(s, 'm');
    s->at += 2;
    s->begins = false;
}

/* In a command: quotes, and what opens something. */
static bool take_quote(struct scan *s)
{
    switch (*s->at) {
    case '\\':
        s->is_open = s->at + 2 >= s->end && s->at + 1 < s->end && s->at[1] == '\n';
        s->at += s->at + 1 < s->end ? 2 : 1;
        break;
    case '\'':
        s->at++;
        skip_to(s, '\'');
        break;
    case '"':
        push(s, '"');
        s->at++;
        break;
    case '`':
        if (top(s) == '`')
            pop(s);
        else
            push(s, '`');
        s->at++;
        break;
    case '$':
        s->begins = has(s, "$(");
        if (has(s, "$((")) {
            s->at++;
            take_arithmetic(s);
            return true;
        }
        if (has(s, "$(") || has(s, "${"))
            push(s, *++s->at == '(' ? 's' : '{');
        s->at++;
        return true;
    default:
        return false;
    }
    s->begins = false;
    return true;
}

static void in_arithmetic(struct scan *s)
{
    if (*s->at == '(')
        push(s, 'm');
    else if (*s->at == ')')
        pop(s);
    s->at++;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Where a command is read, and not within something. */
static void in_command(struct scan *s)
{
    if (s->begins && has(s, "((")) {
        take_arithmetic(s);
    } else if (is_blank(*s->at) || strchr("<>", *s->at)) {
        if (!take_operator(s))
            s->at++;
    } else if (*s->at == '#' && (s->begins || is_blank(s->at[-1]))) {
        const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
        s->at = newline ? newline : s->end;
    } else if (*s->at == '\n') {
        take_newline(s);
    } else if (*s->at == '(' || *s->at == ')') {
        take_bracket(s);
    } else if (!take_operator(s)) {
        take_word(s);
    }
}

static void step(struct scan *s)
{
    if (top(s) == '"') {
        in_double_quotes(s);
        return;
    }
    if (top(s) == '{' && *s->at == '}') { /* of a parameter; a group's is a word */
        pop(s);
        s->at++;
        return;
    }
    if (!is_blank(*s->at) && *s->at != '\n' && *s->at != '#')
        s->wants_more = false;
    if (take_quote(s))
        return;
    if (top(s) == 'm')
        in_arithmetic(s);
    else if (top(s) == '{')
        s->at++;
    else
        in_command(s);
}

bool command_is_unfinished(const char *text, size_t len)
{
    struct scan s = { .at = text, .end = text + len, .begins = true };

    while (s.at < s.end && !s.is_open)
        step(&s);
    return s.is_open || s.depth > 0 || s.blocks > 0 || s.wants_more || s.n_documents > 0;
}
