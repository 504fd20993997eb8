/* Words, and what is expanded in them. */
#include <stdio.h>
#include <string.h>

#include "shell/parser.h"

/* What a word turned out to have in it. */
struct traits {
    bool has_expansion; /* $ or ` or a process substitution */
    bool has_split;     /* one that is not in double quotes */
    bool has_quote;
    bool has_pattern; /* what is matched against files, braces, a tilde */
};

static int parse_dollar(struct parser *p, bool quoted, struct traits *t);

static bool is_name_start(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(int c)
{
    return is_name_start(c) || is_digit(c);
}

/* Where a here-document is due at the next line's start, shells disagree about what a line is. */
static int check_line(struct parser *p)
{
    return p->n_heredocs == 0 ? 0
                              : parser_fail(p, "a here-document, and on the same line something "
                                               "that goes over several lines or is substituted");
}

/* ---- quotes ---- */

static int skip_single(struct parser *p)
{
    int c;

    (void)parser_raw(p);
    while ((c = parser_raw(p)) != '\'') {
        if (c == END)
            return parser_fail(p, "a single quote does not end");
        if (c == '\n' && check_line(p) < 0)
            return -1;
    }
    return 0;
}

/* $'...': what its escapes stand for is not read. */
static int skip_ansi(struct parser *p)
{
    int c;

    (void)parser_raw(p);
    while ((c = parser_raw(p)) != '\'') {
        if (c == '\\')
            c = parser_raw(p);
        if (c == END)
            return parser_fail(p, "a single quote does not end");
        if (c == '\n' && check_line(p) < 0)
            return -1;
    }
    return 0;
}

/* Room for what is between here and the next that no backslash precedes. */
static size_t length_in_backquotes(const struct parser *p)
{
    size_t i = p->at;

    while (i < p->len && p->text[i] != '`')
        i += p->text[i] == '\\' ? 2 : 1;
    return i - p->at + 2;
}

/* A command in backquotes is a text of its own, with a level of backslashes taken off. */
static int parse_backquotes(struct parser *p, bool quoted)
{
    char *inner;
    size_t n = 0;
    int c, r;

    if (check_line(p) < 0 || parser_enter(p) < 0)
        return -1;
    (void)parser_raw(p);
    inner = parser_alloc(p, length_in_backquotes(p));
    if (!inner)
        return -1;
    while ((c = parser_raw(p)) != '`') {
        if (c == '\\') {
            c = parser_raw(p);
            if (quoted && c == '"')
                return parser_fail(p, "\\\" in backquotes: write $(...)");
            if (c != '`' && c != '$' && c != '\\')
                inner[n++] = '\\';
        }
        if (c == END)
            return parser_fail(p, "a backquote does not end");
        inner[n++] = (char)c;
    }
    r = parse_inner(p, inner, n);
    parser_leave(p);
    return r;
}

/* The escaped byte too. */
static int skip_escape(struct parser *p)
{
    (void)parser_raw(p);
    return parser_raw(p) == END ? parser_fail(p, "a backslash at the end") : 0;
}

/* One byte, or what begins there, of text in which double quotes' rules hold. */
static int parse_quoted_byte(struct parser *p, struct traits *t)
{
    switch (parser_peek(p)) {
    case END:
        return parser_fail(p, "a double quote, or a brace, does not end");
    case '\\':
        return skip_escape(p);
    case '$':
        return parse_dollar(p, true, t);
    case '`':
        t->has_expansion = true;
        return parse_backquotes(p, true);
    case '\n':
        if (check_line(p) < 0)
            return -1;
        break;
    default:
        break;
    }
    (void)parser_take(p);
    return 0;
}

static int parse_double(struct parser *p, struct traits *t)
{
    if (parser_enter(p) < 0)
        return -1;
    (void)parser_take(p);
    t->has_quote = true;
    while (parser_peek(p) != '"')
        if (parse_quoted_byte(p, t) < 0)
            return -1;
    (void)parser_take(p);
    parser_leave(p);
    return 0;
}

/* ---- what begins with a dollar ---- */

static int parse_process(struct parser *p, struct traits *t)
{
    if (check_line(p) < 0)
        return -1;
    p->parsed.is_bash = true;
    t->has_expansion = t->has_split = true;
    (void)parser_take(p);
    (void)parser_take(p);
    return parse_substitution(p);
}

/* The word of ${name:-word} and its like, up to the brace, which is taken. */
static int parse_parameter_word(struct parser *p, bool quoted, struct traits *t)
{
    for (int c = parser_peek(p); c != '}'; c = parser_peek(p)) {
        int r;

        if (c == '\'' && quoted)
            return parser_fail(p, "a single quote in ${...} in double quotes");
        if (c == '\'')
            r = skip_single(p);
        else if (c == '"')
            r = parse_double(p, t);
        else if (c == '$')
            r = parse_dollar(p, quoted, t);
        else if (!quoted && (c == '<' || c == '>') && parser_peek2(p) == '(')
            r = parse_process(p, t);
        else
            r = parse_quoted_byte(p, t);
        if (r < 0)
            return -1;
    }
    (void)parser_take(p);
    return 0;
}

/* Only digits and what separates them: what has names in it is evaluated, and so are their
 * values. */
static int parse_numbers(struct parser *p, const char *also, int closing)
{
    int c;

    while ((c = parser_peek(p)) != closing) {
        if (c == END || (!is_digit(c) && !strchr(also, c)))
            return parser_fail(p, "an index or a length that is not a number");
        (void)parser_take(p);
    }
    (void)parser_take(p);
    return 0;
}

static int parse_subscript(struct parser *p)
{
    p->parsed.is_bash = true;
    (void)parser_take(p);
    if (parser_peek(p) == '@' || parser_peek(p) == '*') {
        (void)parser_take(p);
        return parser_take(p) == ']' ? 0 : parser_fail(p, "'%s' in ${...}", "[");
    }
    return parse_numbers(p, "", ']');
}

/* ${name:=word}: it sets the variable. */
static int note_assignment(struct parser *p, size_t from, size_t to)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%.*s", (int)(to - from), p->text + from);
    return p->visitor->variable(p->visitor->data, name, false, p->problem);
}

static int parse_transformation(struct parser *p)
{
    int c;

    p->parsed.is_bash = true;
    (void)parser_take(p);
    c = parser_take(p);
    if (c == END || !strchr("QULu", c) || parser_take(p) != '}')
        return parser_fail(p, "${...@%c}", c == END ? ' ' : c);
    return 0;
}

/* What comes after the name in braces. */
static int parse_operator(struct parser *p, size_t from, size_t to, bool quoted, struct traits *t)
{
    int c = parser_peek(p);

    if (c == '}')
        return parser_take(p) == '}' ? 0 : -1;
    if (c == '@')
        return parse_transformation(p);
    if (c == ':' && !(parser_peek2(p) != END && strchr("-=?+", parser_peek2(p)))) {
        p->parsed.is_bash = true;
        (void)parser_take(p);
        return parse_numbers(p, ": -", '}');
    }
    if (c == ':') {
        (void)parser_take(p);
        c = parser_peek(p);
    }
    if (c == END || !strchr("-=?+#%/^,", c))
        return parser_fail(p, "'%c' in ${...}", c == END ? ' ' : c);
    if (c == '=' && note_assignment(p, from, to) < 0)
        return -1;
    if (strchr("/^,", c))
        p->parsed.is_bash = true;
    (void)parser_take(p);
    return parse_parameter_word(p, quoted, t);
}

static int parse_parameter(struct parser *p, bool quoted, struct traits *t)
{
    size_t from;
    int c;

    (void)parser_take(p); /* the brace */
    if (parser_peek(p) == '!')
        return parser_fail(p, "${!...}: a name that is computed");
    if (parser_peek(p) == '#' && parser_peek2(p) != '}')
        (void)parser_take(p);
    c = parser_peek(p);
    from = p->at;
    if (is_name_start(c)) {
        while (is_name(parser_peek(p)))
            (void)parser_take(p);
    } else if (is_digit(c)) {
        while (is_digit(parser_peek(p)))
            (void)parser_take(p);
    } else if (c != END && strchr("@*#?-$!", c)) {
        (void)parser_take(p);
    } else {
        return parser_fail(p, "'${' without a name");
    }
    size_t to = p->at;
    if (parser_peek(p) == '[' && parse_subscript(p) < 0)
        return -1;
    return parse_operator(p, from, to, quoted, t);
}

int parse_arithmetic(struct parser *p)
{
    int open = 0, c;

    for (;;) {
        c = parser_peek(p);
        if (c == ')' && open == 0)
            break;
        if (c == END || (!is_digit(c) && !strchr("+-*/%<>=!&|^~?:,() \t", c)))
            return parser_fail(p, "arithmetic with more in it than numbers: the value of a name "
                                  "would be evaluated");
        open += c == '(' ? 1 : c == ')' ? -1 : 0;
        (void)parser_take(p);
    }
    (void)parser_take(p);
    return parser_take(p) == ')' ? 0 : parser_fail(p, "arithmetic that does not end");
}

static int parse_parenthesis(struct parser *p)
{
    (void)parser_take(p);
    if (parser_peek(p) != '(')
        return parse_substitution(p);
    (void)parser_take(p);
    return parse_arithmetic(p);
}

static int parse_expansion(struct parser *p, int c, bool quoted, struct traits *t)
{
    if (c == '(')
        return check_line(p) < 0 ? -1 : parse_parenthesis(p);
    if (c == '{')
        return parse_parameter(p, quoted, t);
    if (c == '[')
        return parser_fail(p, "$[...]: write $((...))");
    if (c == '"')
        return parser_fail(p, "$\"...\": what it is translated to is expanded");
    if (c == '\'') { /* only where it is a quote */
        p->parsed.is_bash = true;
        return skip_ansi(p);
    }
    if (!is_name_start(c)) {
        (void)parser_take(p);
        return 0;
    }
    while (is_name(parser_peek(p)))
        (void)parser_take(p);
    return 0;
}

static int parse_dollar(struct parser *p, bool quoted, struct traits *t)
{
    int c, r;

    (void)parser_take(p);
    c = parser_peek(p);
    if (c == END || !(is_name(c) || strchr("({[@*#?-$!", c) || (!quoted && strchr("'\"", c))))
        return 0; /* a dollar and nothing more */
    t->has_expansion = true;
    if (!quoted)
        t->has_split = true;
    if (parser_enter(p) < 0)
        return -1;
    r = parse_expansion(p, c, quoted, t);
    parser_leave(p);
    return r;
}

int parse_heredoc_body(struct parser *p, const char *text, size_t len)
{
    struct traits t = { 0 };
    struct parser outer;
    int r = parser_enter(p);

    parser_dive(p, text, len, &outer);
    while (r == 0 && parser_peek(p) != END)
        r = parse_quoted_byte(p, &t);
    parser_surface(p, &outer);
    parser_leave(p);
    return r;
}

/* ---- words ---- */

/* A literal word without its quotes: the quotes have been seen to end. */
static const char *unquote(struct parser *p, size_t from, size_t to)
{
    char *made = parser_alloc(p, to - from + 1);
    size_t n = 0;
    char quote = '\0';

    for (size_t i = from; made && i < to; i++) {
        char c = p->text[i];

        if (quote ? c == quote : c == '\'' || c == '"') {
            quote = (char)(quote ? '\0' : c);
            continue;
        }
        if (c == '\\' && quote != '\'' && (!quote || strchr("\"\\$`\n", p->text[i + 1]))) {
            c = p->text[++i];
            if (c == '\n')
                continue;
        }
        made[n++] = c;
    }
    if (made)
        made[n] = '\0';
    return made;
}

/* As it is written, for messages. */
static const char *written(struct parser *p, size_t from, size_t to)
{
    enum {
        SHOWN = 60
    };
    size_t n = to - from < SHOWN ? to - from : SHOWN;
    char *made = parser_alloc(p, n + 1);

    if (!made)
        return NULL;
    memcpy(made, p->text + from, n);
    made[n] = '\0';
    return made;
}

/* name=(word word): the words. */
static int parse_array(struct parser *p)
{
    struct shell_word word;

    p->parsed.is_bash = true;
    if (check_line(p) < 0 || parser_enter(p) < 0)
        return -1;
    (void)parser_take(p);
    for (;;) {
        while (parser_peek(p) != END && strchr(" \t\n", parser_peek(p)))
            (void)parser_take(p);
        if (parser_peek(p) == ')')
            break;
        if (parser_peek(p) == '[' || parser_peek(p) == '#')
            return parser_fail(p, "an array with indices or comments in it");
        if (parse_word(p, WORD_USUAL, &word) < 0)
            return -1;
    }
    (void)parser_take(p);
    parser_leave(p);
    return 0;
}

/* Does what was read of the word end in the '=' of an assignment? */
static bool is_before_value(const struct parser *p, size_t from)
{
    size_t i = from;

    while (i < p->at && is_name(p->text[i]))
        i++;
    if (i == from || is_digit(p->text[from]))
        return false;
    i += i < p->at && p->text[i] == '+';
    return i + 1 == p->at && p->text[i] == '=';
}

static int parse_piece(struct parser *p, int c, struct traits *t)
{
    switch (c) {
    case '\\':
        t->has_quote = true;
        return skip_escape(p);
    case '\'':
        t->has_quote = true;
        return skip_single(p);
    case '"':
        return parse_double(p, t);
    case '$':
        return parse_dollar(p, false, t);
    case '`':
        t->has_expansion = t->has_split = true;
        return parse_backquotes(p, false);
    case '*':
    case '?':
    case '[':
    case '{':
        t->has_pattern = true;
        break;
    default:
        break;
    }
    (void)parser_take(p);
    return 0;
}

/* `open`: parentheses of a regular expression that are. */
static bool ends_word(int c, enum word_mode mode, int *open)
{
    if (c == END || strchr(" \t\n;&<>", c))
        return true;
    if (mode == WORD_USUAL)
        return strchr("|()", c) != NULL;
    *open += c == '(' ? 1 : c == ')' ? -1 : 0;
    return *open < 0;
}

static int finish_word(struct parser *p, size_t from, const struct traits *t,
                       struct shell_word *ret)
{
    /* Alone they are no pattern. */
    bool is_alone = p->at == from + 1 && (p->text[from] == '{' || p->text[from] == '[');

    ret->is_literal = !t->has_expansion && (!t->has_pattern || is_alone);
    ret->is_plain = ret->is_literal && !t->has_quote;
    ret->is_quoted = t->has_quote && !t->has_split && !t->has_pattern;
    ret->text = ret->is_literal ? unquote(p, from, p->at) : written(p, from, p->at);
    return ret->text ? 0 : -1;
}

int parse_word(struct parser *p, enum word_mode mode, struct shell_word *ret)
{
    struct traits t = { 0 };
    size_t from;
    int c = parser_peek(p), r = 0, open = 0;

    from = p->at;
    t.has_pattern = c == '~';
    for (; r == 0; c = parser_peek(p)) {
        if ((c == '<' || c == '>') && parser_peek2(p) == '(')
            r = parse_process(p, &t);
        else if (c == '(' && is_before_value(p, from))
            r = parse_array(p);
        else if (ends_word(c, mode, &open))
            break;
        else
            r = parse_piece(p, c, &t);
    }
    if (r < 0)
        return -1;
    if (open > 0) /* bash reads on to the last of them, whatever is between */
        return parser_fail(p, "a regular expression with blanks or operators in parentheses");
    if (at(p, from) == '{' && (c == '<' || c == '>'))
        return parser_fail(p, "'{' and '%c' in a word: it sets a variable, whose name is evaluated",
                           c);
    if (p->at == from)
        return c == END ? parser_fail(p, "it ends where a word must come")
                        : parser_fail(p, "'%c' where a word must come", c == '\n' ? ' ' : c);
    return finish_word(p, from, &t, ret);
}

const char *word_assigns(struct parser *p, size_t from, size_t to, int *ret)
{
    size_t i = from, end;
    const char *name;

    *ret = 0;
    while (i < to && is_name(p->text[i]))
        i++;
    end = i;
    if (end == from || is_digit(p->text[from]))
        return NULL;
    if (i < to && p->text[i] == '[') { /* an index: digits only */
        for (i++; i < to && is_digit(p->text[i]);)
            i++;
        if (i >= to || p->text[i] != ']') {
            const char *equals = memchr(p->text + i, '=', to - i);
            if (equals)
                *ret = parser_fail(p, "an index that is not a number");
            return NULL;
        }
        i++;
        p->parsed.is_bash = true;
    }
    if (i + 1 < to && p->text[i] == '+' && p->text[i + 1] == '=') {
        p->parsed.is_bash = true;
        i++;
    }
    if (i >= to || p->text[i] != '=')
        return NULL;
    name = written(p, from, end);
    if (!name)
        *ret = -1;
    return name;
}
