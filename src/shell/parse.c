/* Commands: lists, pipelines, compounds, redirections, here-documents. */
#include "shell/parse.h"

#include <string.h>

#include "base/own.h"
#include "shell/parser.h"

/* ---- here-documents ---- */

/* The line at `i`: where it ends. */
static size_t line_end(const struct parser *p, size_t i)
{
    const char *end = i < p->len ? memchr(p->text + i, '\n', p->len - i) : NULL;

    return end ? (size_t)(end - p->text) : p->len;
}

/* Where the line at `i` begins once its tabs are taken off. */
static size_t line_start(const struct parser *p, const struct heredoc *h, size_t i, size_t end)
{
    while (h->strips_tabs && i < end && p->text[i] == '\t')
        i++;
    return i;
}

/* What is expanded has lost its tabs by then: a document within it may end elsewhere for that. */
static int expand_heredoc(struct parser *p, const struct heredoc *h, size_t from, size_t to)
{
    char *made;
    size_t n = 0;

    if (h->is_quoted || !h->strips_tabs)
        return h->is_quoted ? 0 : parse_heredoc_body(p, p->text + from, to - from);
    made = parser_alloc(p, to - from + 1);
    if (!made)
        return -1;
    for (size_t i = from, end; i < to; i = end + 1) {
        end = line_end(p, i);
        i = line_start(p, h, i, end);
        memcpy(made + n, p->text + i, end + 1 - i);
        n += end + 1 - i;
    }
    return parse_heredoc_body(p, made, n);
}

static int read_heredoc(struct parser *p, const struct heredoc *h)
{
    size_t from = p->at, end = 0, n = strlen(h->delimiter);

    for (size_t i = p->at; i < p->len; i = end + 1, p->line++) {
        end = line_end(p, i);
        size_t start = line_start(p, h, i, end);
        bool begins = end - start >= n && memcmp(p->text + start, h->delimiter, n) == 0;
        if (begins && end - start == n) {
            p->at = end < p->len ? end + 1 : end;
            p->line += end < p->len;
            return expand_heredoc(p, h, from, i);
        }
        if (begins && p->n_substitutions > 0 && memchr(p->text + start, ')', end - start))
            return parser_fail(p, "a ')' in a line that begins like the end of a here-document, "
                                  "where bash takes it for that");
        if (!h->is_quoted && end > i && p->text[end - 1] == '\\')
            return parser_fail(p, "a line of a here-document that ends in a backslash");
    }
    return parser_fail(p, "a here-document does not end: '%.40s' is missing", h->delimiter);
}

/* Take a newline, and the here-documents that begin after it. */
static int take_newline(struct parser *p)
{
    size_t n = p->n_heredocs;
    int r = 0;

    (void)parser_raw(p);
    p->n_heredocs = 0;
    for (size_t i = 0; i < n && r == 0; i++)
        r = read_heredoc(p, &p->heredocs[i]);
    return r;
}

static void skip_blanks(struct parser *p)
{
    while (parser_peek(p) == ' ' || parser_peek(p) == '\t')
        (void)parser_raw(p);
    if (parser_peek(p) == '#')
        while (at(p, p->at) != END && at(p, p->at) != '\n')
            p->at++;
}

static int skip_newlines(struct parser *p)
{
    for (skip_blanks(p); parser_peek(p) == '\n'; skip_blanks(p))
        if (take_newline(p) < 0)
            return -1;
    return 0;
}

/* ---- reserved words ---- */

static const char *const reserved[] = {
    "!",  "case", "coproc", "do",   "done", "elif",  "else",  "esac", "fi", "for", "function",
    "if", "in",   "select", "then", "time", "until", "while", "{",    "}",  "[[",  "]]",
};

static size_t skip_joins(const struct parser *p, size_t i)
{
    while (at(p, i) == '\\' && at(p, i + 1) == '\n')
        i += 2;
    return i;
}

/* Where this word ends, if it is next, unquoted and ended; joined lines may be in it. 0 if it is
 * not. */
static size_t end_of_next(const struct parser *p, const char *word)
{
    size_t i = skip_joins(p, p->at);

    for (; *word; word++, i = skip_joins(p, i + 1))
        if (at(p, i) != (unsigned char)*word)
            return 0;
    return at(p, i) == END || strchr(" \t\n;&|()<>", at(p, i)) ? i : 0;
}

static bool is_next(struct parser *p, const char *word)
{
    return end_of_next(p, word) > 0;
}

static bool take_word(struct parser *p, const char *word)
{
    size_t end = end_of_next(p, word);

    while (p->at < end)
        (void)parser_raw(p);
    return end > 0;
}

static int expect(struct parser *p, const char *word)
{
    if (skip_newlines(p) < 0)
        return -1;
    return take_word(p, word) ? 0 : parser_fail(p, "'%s' is missing", word);
}

/* The end of a branch of 'case'. */
static bool is_case_end(struct parser *p)
{
    return parser_peek(p) == ';' && (parser_peek2(p) == ';' || parser_peek2(p) == '&');
}

/* What can only come after commands. */
static bool is_closing(struct parser *p)
{
    static const char *const closing[] = {
        "}", "do", "done", "elif", "else", "esac", "fi", "then"
    };

    for (size_t i = 0; i < ARRAY_LEN(closing); i++)
        if (is_next(p, closing[i]))
            return true;
    return parser_peek(p) == ')' || parser_peek(p) == END;
}

/* ---- redirections ---- */

static int add_heredoc(struct parser *p, bool strips_tabs)
{
    size_t from;
    struct shell_word word;
    struct heredoc *h = &p->heredocs[p->n_heredocs];

    skip_blanks(p);
    if (p->n_heredocs == HEREDOCS_MAX)
        return parser_fail(p, "more than %d here-documents on a line", HEREDOCS_MAX);
    from = p->at;
    if (parse_word(p, WORD_USUAL, &word) < 0)
        return -1;
    if (memchr(p->text + from, '$', p->at - from) || memchr(p->text + from, '`', p->at - from) ||
        memchr(p->text + from, '\n', p->at - from) || !word.is_literal)
        return parser_fail(p, "a here-document whose end is not a plain word");
    *h = (struct heredoc){ .delimiter = word.text,
                           .is_quoted = !word.is_plain,
                           .strips_tabs = strips_tabs };
    p->n_heredocs++;
    return 0;
}

/* Behind >& or <&: bash expands what is no number a second time. */
static bool is_descriptor(const struct shell_word *target)
{
    size_t n = strspn(target->text, "0123456789");

    return target->is_plain && (!target->text[n] || strcmp(target->text + n, "-") == 0);
}

/* At '<' or '>', or at '&' before '>'. */
static int parse_redirection(struct parser *p)
{
    struct shell_word target;
    int c = parser_take(p), next = parser_peek(p);
    bool is_duplicating = c != '&' && next == '&';

    if (c == '&') {
        p->parsed.is_bash = true;
        (void)parser_take(p);
        if (parser_peek(p) == '>')
            (void)parser_take(p);
    } else if (c == '<' && next == '<') {
        (void)parser_take(p);
        if (parser_peek(p) != '<') {
            bool strips = parser_peek(p) == '-';
            if (strips)
                (void)parser_take(p);
            return add_heredoc(p, strips);
        }
        p->parsed.is_bash = true;
        (void)parser_take(p);
    } else if (next != END && strchr(c == '<' ? "&>" : "&>|", next)) {
        (void)parser_take(p);
    }
    skip_blanks(p);
    if (parse_word(p, WORD_USUAL, &target) < 0)
        return -1;
    return is_duplicating && !is_descriptor(&target)
               ? parser_fail(p, "'%c&' before something that is no descriptor's number", c)
               : 0;
}

static bool is_process(struct parser *p)
{
    return parser_peek2(p) == '(';
}

/* Digits right before a redirection belong to it. */
static void skip_number(struct parser *p)
{
    size_t i = p->at;

    while (at(p, i) >= '0' && at(p, i) <= '9')
        i++;
    if (i > p->at && (at(p, i) == '<' || at(p, i) == '>') && at(p, i + 1) != '(')
        p->at = i;
}

/* Returns 1 if there was one, 0 if not. */
static int take_redirection(struct parser *p)
{
    int c;

    skip_blanks(p);
    skip_number(p);
    c = parser_peek(p);
    if (((c == '<' || c == '>') && !is_process(p)) || (c == '&' && parser_peek2(p) == '>'))
        return parse_redirection(p) < 0 ? -1 : 1;
    return 0;
}

static int take_redirections(struct parser *p)
{
    int r;

    do
        r = take_redirection(p);
    while (r > 0);
    return r;
}

/* ---- simple commands ---- */

static int parse_list(struct parser *p);
static int parse_command(struct parser *p);

struct words {
    struct shell_word *list;
    size_t n, cap;
};

static int add_word(struct parser *p, struct words *w, const struct shell_word *word)
{
    if (w->n == w->cap) {
        size_t cap = w->cap ? w->cap * 2 : 8;
        struct shell_word *grown = parser_alloc(p, cap * sizeof(*grown));

        if (!grown)
            return -1;
        if (w->n > 0)
            memcpy(grown, w->list, w->n * sizeof(*grown));
        w->list = grown;
        w->cap = cap;
    }
    w->list[w->n++] = *word;
    return 0;
}

/* name () command */
static int parse_function(struct parser *p)
{
    (void)parser_take(p);
    skip_blanks(p);
    if (parser_take(p) != ')')
        return parser_fail(p, "'(' after a word");
    if (skip_newlines(p) < 0)
        return -1;
    return parse_command(p);
}

static int tell_command(struct parser *p, const struct words *w, size_t line)
{
    struct shell_command command = { .words = w->list, .n_words = w->n, .line = line };

    if (w->n == 0)
        return 0;
    if (++p->parsed.n_commands > SHELL_COMMANDS_MAX)
        return parser_fail(p, "more than %d commands", SHELL_COMMANDS_MAX);
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (w->list[0].is_literal && strcmp(reserved[i], w->list[0].text) == 0)
            return parser_fail(p, "'%s' where a command must come", reserved[i]);
    if (p->visitor->command(p->visitor->data, &command, p->problem) == 0)
        return 0;
    p->problem->line = line;
    return -1;
}

/* An assignment, if no word came before it. Returns 1 if it is one. */
static int take_assignment(struct parser *p, size_t from, struct words *names)
{
    int r;
    const char *name = word_assigns(p, from, p->at, &r);

    if (!name)
        return r;
    return add_word(p, names, &(struct shell_word){ .text = name }) < 0 ? -1 : 1;
}

/* Whether they are for a command is known when all of it was read. */
static int tell_assignments(struct parser *p, const struct words *names, bool is_passed,
                            size_t line)
{
    for (size_t i = 0; i < names->n; i++) {
        if (p->visitor->variable(p->visitor->data, names->list[i].text, is_passed, p->problem) == 0)
            continue;
        p->problem->line = line;
        return -1;
    }
    return 0;
}

static int parse_simple(struct parser *p)
{
    struct words words = { 0 }, names = { 0 };
    size_t line = p->line;
    bool has_prefix = false;

    for (;;) {
        struct shell_word word;
        size_t from;
        int r = take_redirection(p), c = parser_peek(p);

        if (r < 0)
            return -1;
        if (r > 0) {
            has_prefix = true;
            continue;
        }
        if (c == '(' && words.n == 1 && !has_prefix && words.list[0].is_plain)
            return parse_function(p);
        if (c == END || (strchr("\n;&|()<>", c) && !is_process(p)) || strchr("\n;&|()", c))
            break;
        from = p->at;
        if (parse_word(p, WORD_USUAL, &word) < 0)
            return -1;
        r = words.n == 0 ? take_assignment(p, from, &names) : 0;
        if (r < 0 || (r == 0 && add_word(p, &words, &word) < 0))
            return -1;
        has_prefix |= r > 0;
    }
    if (words.n == 0 && !has_prefix)
        return parser_fail(p, "a command is missing");
    if (tell_assignments(p, &names, words.n > 0, line) < 0)
        return -1;
    return tell_command(p, &words, line);
}

/* ---- compound commands ---- */

static int parse_group(struct parser *p)
{
    return parse_list(p) < 0 ? -1 : expect(p, "}");
}

static int parse_if(struct parser *p)
{
    do {
        if (parse_list(p) < 0 || expect(p, "then") < 0 || parse_list(p) < 0)
            return -1;
    } while (take_word(p, "elif"));
    if (take_word(p, "else") && parse_list(p) < 0)
        return -1;
    return expect(p, "fi");
}

static int parse_body(struct parser *p)
{
    return expect(p, "do") < 0 || parse_list(p) < 0 ? -1 : expect(p, "done");
}

static int parse_while(struct parser *p)
{
    return parse_list(p) < 0 ? -1 : parse_body(p);
}

static int parse_for(struct parser *p)
{
    struct shell_word word;
    int c;

    skip_blanks(p);
    if (parse_word(p, WORD_USUAL, &word) < 0)
        return -1;
    if (!word.is_plain)
        return parser_fail(p, "a loop over something that is no name");
    if (p->visitor->variable(p->visitor->data, word.text, false, p->problem) < 0) {
        p->problem->line = p->line;
        return -1;
    }
    if (skip_newlines(p) < 0)
        return -1;
    if (take_word(p, "in")) {
        for (skip_blanks(p); (c = parser_peek(p)) != END && c != '\n' && c != ';'; skip_blanks(p))
            if (parse_word(p, WORD_USUAL, &word) < 0)
                return -1;
    }
    skip_blanks(p);
    if (parser_peek(p) == ';')
        (void)parser_take(p);
    return parse_body(p);
}

/* ';;', or what bash has beside it. Returns 1 if there is one. */
static int take_case_end(struct parser *p)
{
    skip_blanks(p);
    if (!is_case_end(p))
        return 0;
    (void)parser_take(p);
    p->parsed.is_bash |= parser_take(p) == '&';
    if (parser_peek(p) == '&') {
        p->parsed.is_bash = true;
        (void)parser_take(p);
    }
    return 1;
}

static int parse_patterns(struct parser *p)
{
    struct shell_word word;

    if (parser_peek(p) == '(')
        (void)parser_take(p);
    for (;;) {
        skip_blanks(p);
        if (parse_word(p, WORD_USUAL, &word) < 0)
            return -1;
        skip_blanks(p);
        if (parser_peek(p) != '|')
            break;
        (void)parser_take(p);
    }
    return parser_take(p) == ')' ? 0 : parser_fail(p, "a pattern of 'case' without ')'");
}

static int parse_case(struct parser *p)
{
    struct shell_word word;

    skip_blanks(p);
    if (parse_word(p, WORD_USUAL, &word) < 0 || expect(p, "in") < 0)
        return -1;
    for (;;) {
        if (skip_newlines(p) < 0)
            return -1;
        if (take_word(p, "esac"))
            return 0;
        if (parse_patterns(p) < 0 || parse_list(p) < 0)
            return -1;
        if (take_case_end(p) == 0)
            return expect(p, "esac");
    }
}

static int parse_named_function(struct parser *p)
{
    struct shell_word name;

    p->parsed.is_bash = true;
    skip_blanks(p);
    if (parse_word(p, WORD_USUAL, &name) < 0)
        return -1;
    if (!name.is_plain)
        return parser_fail(p, "a function without a plain name");
    skip_blanks(p);
    if (parser_peek(p) == '(')
        return parse_function(p);
    return skip_newlines(p) < 0 ? -1 : parse_command(p);
}

/* ---- [[ ]] ---- */

static bool is_number(const struct shell_word *w)
{
    return w->text && w->is_literal && w->text[0] &&
           strspn(w->text + (w->text[0] == '-'), "0123456789") ==
               strlen(w->text + (w->text[0] == '-'));
}

/* Operands that bash would evaluate must be numbers. */
static int check_operand(struct parser *p, const struct shell_word *before,
                         const struct shell_word *op, const struct shell_word *now)
{
    static const char *const numeric[] = { "-eq", "-ne", "-lt", "-le", "-gt", "-ge" };

    if (!op->text || !op->is_literal)
        return 0;
    if (strcmp(op->text, "-v") == 0 || strcmp(op->text, "-R") == 0)
        return parser_fail(p, "[[ %s ]]: a name that would be evaluated", op->text);
    for (size_t i = 0; i < ARRAY_LEN(numeric); i++)
        if (strcmp(op->text, numeric[i]) == 0 && !(is_number(before) && is_number(now)))
            return parser_fail(p,
                               "[[ %s ]] with something that is not a number: it would be "
                               "evaluated",
                               op->text);
    return 0;
}

/* An operator, or a parenthesis. Those of a pattern count as well: bash reads a pattern on to its
 * last. */
static int take_operator(struct parser *p, int *open)
{
    int c = parser_take(p);

    *open += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (*open < 0 || (strchr("&|", c) && parser_take(p) != c))
        return parser_fail(p, "'%c' in [[ ]]", c);
    return 0;
}

/* Without comments: what looks like one may be part of a pattern. */
static int skip_in_condition(struct parser *p)
{
    for (int c = parser_peek(p); c != END && strchr(" \t\n", c); c = parser_peek(p)) {
        if (c == '\n' && take_newline(p) < 0)
            return -1;
        if (c != '\n')
            (void)parser_raw(p);
    }
    return parser_peek(p) == '#' ? parser_fail(p, "'#' in [[ ]]: a comment, or part of a pattern")
                                 : 0;
}

static int parse_condition(struct parser *p)
{
    struct shell_word two = { 0 }, one = { 0 }, now;
    int c, open = 0;

    p->parsed.is_bash = true;
    for (;;) {
        if (skip_in_condition(p) < 0)
            return -1;
        if (take_word(p, "]]"))
            return open > 0 ? parser_fail(p, "']]' where ')' is missing")
                            : check_operand(p, &two, &one, &(struct shell_word){ 0 });
        c = parser_peek(p);
        bool is_regex = one.text && one.is_literal && strcmp(one.text, "=~") == 0;
        if (!is_regex && c != END && strchr("()<>&|", c) &&
            !((c == '<' || c == '>') && is_process(p))) {
            if (take_operator(p, &open) < 0)
                return -1;
            two = one = (struct shell_word){ 0 };
            continue;
        }
        if (parse_word(p, is_regex ? WORD_REGEX : WORD_USUAL, &now) < 0 ||
            check_operand(p, &two, &one, &now) < 0)
            return -1;
        two = one;
        one = now;
    }
}

static int refuse_coproc(struct parser *p)
{
    return parser_fail(p, "'coproc'");
}

/* ---- the whole ---- */

static int parse_subshell(struct parser *p)
{
    (void)parser_take(p);
    if (parser_peek(p) == '(') { /* ((...)) */
        p->parsed.is_bash = true;
        (void)parser_take(p);
        return parse_arithmetic(p);
    }
    if (parse_list(p) < 0)
        return -1;
    return parser_take(p) == ')' ? 0 : parser_fail(p, "')' is missing");
}

static const struct {
    const char *word;
    int (*parse)(struct parser *p);
} compounds[] = {
    { "{", parse_group },      { "if", parse_if },
    { "while", parse_while },  { "until", parse_while },
    { "for", parse_for },      { "select", parse_for },
    { "case", parse_case },    { "function", parse_named_function },
    { "[[", parse_condition }, { "coproc", refuse_coproc },
};

static int parse_any(struct parser *p)
{
    skip_blanks(p);
    if (parser_peek(p) == '(')
        return parse_subshell(p) < 0 ? -1 : take_redirections(p);
    for (size_t i = 0; i < ARRAY_LEN(compounds); i++) {
        if (!take_word(p, compounds[i].word))
            continue;
        p->parsed.is_bash |= strcmp(compounds[i].word, "select") == 0;
        return compounds[i].parse(p) < 0 ? -1 : take_redirections(p);
    }
    return parse_simple(p);
}

static int parse_command(struct parser *p)
{
    int r;

    if (parser_enter(p) < 0)
        return -1;
    r = parse_any(p);
    parser_leave(p);
    return r;
}

static int parse_pipeline(struct parser *p)
{
    for (skip_blanks(p);; skip_blanks(p)) {
        if (take_word(p, "time"))
            p->parsed.is_bash = true;
        else if (!take_word(p, "!"))
            break;
    }
    for (;;) {
        if (parse_command(p) < 0)
            return -1;
        skip_blanks(p);
        if (parser_peek(p) != '|' || parser_peek2(p) == '|')
            return 0;
        (void)parser_take(p);
        if (parser_peek(p) == '&') {
            p->parsed.is_bash = true;
            (void)parser_take(p);
        }
        if (skip_newlines(p) < 0)
            return -1;
    }
}

static int parse_and_or(struct parser *p)
{
    for (;;) {
        int c;

        if (parse_pipeline(p) < 0)
            return -1;
        skip_blanks(p);
        c = parser_peek(p);
        if ((c != '&' && c != '|') || parser_peek2(p) != c)
            return 0;
        (void)parser_take(p);
        (void)parser_take(p);
        if (skip_newlines(p) < 0)
            return -1;
    }
}

/* Up to what closes it, which stays. */
static int parse_list(struct parser *p)
{
    for (;;) {
        int c;

        if (skip_newlines(p) < 0)
            return -1;
        if (is_closing(p) || is_case_end(p))
            return 0;
        if (parse_and_or(p) < 0)
            return -1;
        skip_blanks(p);
        c = parser_peek(p);
        if (is_case_end(p))
            return 0;
        if (c == ';' || c == '&')
            (void)parser_take(p);
        else if (c != '\n')
            return 0;
    }
}

int parse_substitution(struct parser *p)
{
    p->n_substitutions++;
    if (parser_enter(p) < 0 || parse_list(p) < 0)
        return -1;
    if (parser_take(p) != ')')
        return parser_fail(p, "a substitution does not end");
    if (p->n_heredocs > 0)
        return parser_fail(p, "a here-document that begins in a substitution and not there ends");
    parser_leave(p);
    p->n_substitutions--;
    return 0;
}

static int parse_whole(struct parser *p)
{
    if (parse_list(p) < 0)
        return -1;
    if (parser_peek(p) != END)
        return parser_fail(p, "'%c' where a command must come", parser_peek(p));
    return p->n_heredocs == 0 ? 0 : parser_fail(p, "a here-document without a body");
}

int parse_inner(struct parser *p, const char *text, size_t len)
{
    struct parser outer;
    int r;

    parser_dive(p, text, len, &outer);
    r = parse_whole(p);
    parser_surface(p, &outer);
    return r;
}

int shell_parse(const char *text, size_t len, const struct shell_visitor *visitor,
                struct shell_parsed *ret, struct shell_problem *problem)
{
    struct parser p = {
        .text = text, .len = len, .line = 1, .visitor = visitor, .problem = problem
    };
    int r;

    *problem = (struct shell_problem){ .line = 1 };
    r = parse_whole(&p);
    parser_done(&p);
    *ret = p.parsed;
    return r;
}
