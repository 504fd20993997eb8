#include "cli/cells.h"

#include <string.h>

#include "base/own.h"

void cells_init(struct cells *c)
{
    *c = (struct cells){ 0 };
    gb_buf_init(&c->text, CELL_MAX);
}

void cells_done(struct cells *c)
{
    gb_buf_done(&c->text);
}

void cells_clear(struct cells *c)
{
    struct gb_buf text = c->text;

    text.len = 0;
    *c = (struct cells){ .text = text };
}

/* ---- one line ---- */

static bool is_tripled(const char *at)
{
    return at[0] == at[1] && at[0] == at[2];
}

/* Inside a text: the character after it, or after what is escaped. */
static const char *in_quotes(struct cells *c, const char *at)
{
    if (*at == '\\')
        return at[1] ? at + 2 : at + 1;
    if (*at == c->quote && !c->is_long) {
        c->quote = 0;
    } else if (*at == c->quote && is_tripled(at)) {
        c->quote = 0;
        return at + 3;
    }
    return at + 1;
}

static const char *in_code(struct cells *c, const char *at, char *last)
{
    if (*at == '#')
        return at + strlen(at);
    if (*at == '\'' || *at == '"') {
        c->quote = *at;
        c->is_long = is_tripled(at);
        *last = *at;
        return at + (c->is_long ? 3 : 1);
    }
    if (strchr("([{", *at))
        c->depth++;
    else if (strchr(")]}", *at) && c->depth > 0)
        c->depth--;
    if (*at != ' ' && *at != '\t')
        *last = *at;
    return at + 1;
}

/* Follow a line; its last character that means something, or 0. */
static char scan(struct cells *c, const char *line)
{
    const char *at = line;
    char last = 0;

    while (*at)
        at = c->quote ? in_quotes(c, at) : in_code(c, at, &last);
    c->is_joined = at > line && at[-1] == '\\' && (!c->quote || !c->is_long) && last != 0;
    if (c->quote && !c->is_long && !c->is_joined)
        c->quote = 0; /* it was not closed: the check will say so */
    return last;
}

/* ---- cells ---- */

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\f")] == '\0';
}

/* Does it go on with a statement that began before? */
static bool is_clause(const char *line)
{
    static const char *const words[] = { "elif", "else", "except", "finally", "case" };
    size_t len = strspn(line, "abcdefghijklmnopqrstuvwxyz");

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (len == strlen(words[i]) && strncmp(line, words[i], len) == 0)
            return true;
    return line[0] == ' ' || line[0] == '\t' || line[0] == '#';
}

static bool is_open(const struct cells *c)
{
    return c->depth > 0 || c->quote || c->is_joined;
}

/* Decorators are not a block yet: what they are for comes at the same depth. */
static bool has_only_decorators(const struct cells *c)
{
    return c->text.len > 0 && c->text.data[0] == '@' && !c->has_body;
}

/* An empty line ends a cell that is typed. In a file blocks have empty lines in them. */
static int add_blank(struct cells *c, bool is_typed, enum cells_state *ret, struct gb_err *err)
{
    bool is_inside = c->in_block && !is_typed;

    *ret = is_inside ? CELLS_MORE : CELLS_READY;
    return is_inside ? gb_buf_add(&c->text, "\n", 1, err) : 0;
}

int cells_add(struct cells *c, const char *line, bool is_typed, enum cells_state *ret,
              struct gb_err *err)
{
    char last;

    if (!is_open(c) && is_blank(line))
        return add_blank(c, is_typed, ret, err);
    if (!is_open(c) && c->in_block && !is_typed && !is_clause(line) && !has_only_decorators(c)) {
        *ret = CELLS_BEFORE;
        return 0;
    }
    if (!is_open(c) && line[0] != '@' && line[0] != '#')
        c->has_body = true; /* what the decorators are for */
    if (gb_buf_add(&c->text, line, strlen(line), err) < 0 || gb_buf_add(&c->text, "\n", 1, err) < 0)
        return -1;
    last = scan(c, line);
    if (!is_open(c) && (last == ':' || line[0] == '@'))
        c->in_block = true;
    *ret = is_open(c) || c->in_block ? CELLS_MORE : CELLS_READY;
    return 0;
}
