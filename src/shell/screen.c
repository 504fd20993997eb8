#include "shell/screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"

enum {
    PLAIN,
    ESCAPE,   /* after ESC */
    SEQUENCE, /* after ESC [ */
    STRING,   /* after ESC ] and the like, until BEL or ESC \ */
    STRING_ESCAPE,
    CHARSET, /* after ESC ( */
};

/* ---- the grid ---- */

static uint32_t *cell(const struct screen *s, int row, int column)
{
    return &s->cells[row * s->columns + column];
}

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static void blank(const struct screen *s, int row, int from, int to)
{
    if (from < to)
        memset(cell(s, row, from), 0, (size_t)(to - from) * sizeof(uint32_t));
}

int screen_init(struct screen *s, int rows, int columns)
{
    *s = (struct screen){ .rows = clamp(rows, 1, SCREEN_ROWS_MAX),
                          .columns = clamp(columns, 1, SCREEN_COLUMNS_MAX) };
    s->bottom = s->rows - 1;
    s->cells = calloc((size_t)s->rows * (size_t)s->columns, sizeof(uint32_t));
    return s->cells ? 0 : -1;
}

void screen_done(struct screen *s)
{
    free(s->cells);
    free(s->other);
    *s = (struct screen){ 0 };
}

int screen_resize(struct screen *s, int rows, int columns)
{
    struct screen made;
    int up; /* so that the line of the cursor stays */

    if (screen_init(&made, rows, columns) < 0)
        return -1;
    up = clamp(s->row - (made.rows - 1), 0, s->rows);
    for (int row = 0; row < made.rows && row + up < s->rows; row++)
        for (int column = 0; column < made.columns && column < s->columns; column++)
            *cell(&made, row, column) = *cell(s, row + up, column);
    made.row = clamp(s->row - up, 0, made.rows - 1);
    made.column = clamp(s->column, 0, made.columns - 1);
    screen_done(s);
    *s = made;
    return 0;
}

/* Lines `top` to `bottom`, by `n`: up if it is more than 0. */
static void scroll(const struct screen *s, int top, int bottom, int n)
{
    int height = bottom - top + 1, by = clamp(n < 0 ? -n : n, 0, height);
    size_t bytes = (size_t)(height - by) * (size_t)s->columns * sizeof(uint32_t);

    if (height <= 0)
        return;
    if (n > 0)
        memmove(cell(s, top, 0), cell(s, top + by, 0), bytes);
    else
        memmove(cell(s, top + by, 0), cell(s, top, 0), bytes);
    for (int row = n > 0 ? bottom - by + 1 : top, k = 0; k < by; k++, row++)
        blank(s, row, 0, s->columns);
}

static void line_feed(struct screen *s)
{
    if (s->row == s->bottom)
        scroll(s, s->top, s->bottom, 1);
    else if (s->row < s->rows - 1)
        s->row++;
}

static void put(struct screen *s, uint32_t code)
{
    if (s->column >= s->columns) {
        s->column = 0;
        line_feed(s);
    }
    *cell(s, s->row, s->column++) = code;
}

/* ---- sequences ---- */

/* The i-th number; `otherwise` where it is missing or 0. */
static int number(const struct screen *s, size_t i, int otherwise)
{
    return i < s->n_numbers && s->numbers[i] > 0 ? s->numbers[i] : otherwise;
}

static void erase_screen(struct screen *s, int how)
{
    int from = how == 0 ? s->row + 1 : 0, to = how == 1 ? s->row : s->rows;
    int column = clamp(s->column, 0, s->columns - 1);

    for (int row = from; row < to; row++)
        blank(s, row, 0, s->columns);
    if (how == 0)
        blank(s, s->row, column, s->columns);
    if (how == 1)
        blank(s, s->row, 0, column + 1);
}

static void erase_line(struct screen *s, int how)
{
    int column = clamp(s->column, 0, s->columns - 1);

    blank(s, s->row, how == 0 ? column : 0, how == 1 ? column + 1 : s->columns);
}

/* Characters of the line, behind the cursor: n more, or, if it is less than 0, fewer. */
static void shift(struct screen *s, int n)
{
    int column = clamp(s->column, 0, s->columns - 1), room = s->columns - column;
    int by = clamp(n < 0 ? -n : n, 0, room);
    size_t bytes = (size_t)(room - by) * sizeof(uint32_t);

    if (n > 0)
        memmove(cell(s, s->row, column) + by, cell(s, s->row, column), bytes);
    else
        memmove(cell(s, s->row, column), cell(s, s->row, column) + by, bytes);
    if (n > 0)
        blank(s, s->row, column, column + by);
    else
        blank(s, s->row, s->columns - by, s->columns);
}

/* A program that takes the whole screen, and gives it back as it was. */
static void alternate(struct screen *s, bool is_on)
{
    size_t bytes = (size_t)s->rows * (size_t)s->columns * sizeof(uint32_t);

    if (is_on && !s->other) {
        s->other = malloc(bytes);
        if (s->other)
            memcpy(s->other, s->cells, bytes);
        erase_screen(s, 2);
    } else if (!is_on && s->other) {
        free(s->cells);
        s->cells = take_ptr(s->other);
    }
}

static void set_mode(struct screen *s, bool is_on)
{
    for (size_t i = 0; s->prefix == '?' && i < s->n_numbers; i++)
        if (s->numbers[i] == 1049 || s->numbers[i] == 1047 || s->numbers[i] == 47)
            alternate(s, is_on);
}

static void move_to(struct screen *s, int row, int column)
{
    s->row = clamp(row, 0, s->rows - 1);
    s->column = clamp(column, 0, s->columns - 1);
}

static void set_region(struct screen *s)
{
    int top = number(s, 0, 1) - 1, bottom = number(s, 1, s->rows) - 1;

    if (top >= bottom || bottom >= s->rows)
        return;
    s->top = top;
    s->bottom = bottom;
    move_to(s, 0, 0);
}

static void act(struct screen *s, char final)
{
    int n = number(s, 0, 1), how = s->n_numbers > 0 ? s->numbers[0] : 0;
    int column = clamp(s->column, 0, s->columns - 1);
    bool scrolls = s->row >= s->top && s->row <= s->bottom;

    switch (final) {
    case 'A':
        move_to(s, s->row - n, column);
        break;
    case 'B':
    case 'e':
        move_to(s, s->row + n, column);
        break;
    case 'C':
    case 'a':
        move_to(s, s->row, column + n);
        break;
    case 'D':
        move_to(s, s->row, column - n);
        break;
    case 'E':
        move_to(s, s->row + n, 0);
        break;
    case 'F':
        move_to(s, s->row - n, 0);
        break;
    case 'G':
    case '`':
        move_to(s, s->row, n - 1);
        break;
    case 'd':
        move_to(s, n - 1, column);
        break;
    case 'H':
    case 'f':
        move_to(s, n - 1, number(s, 1, 1) - 1);
        break;
    case 'J':
        erase_screen(s, how);
        break;
    case 'K':
        erase_line(s, how);
        break;
    case 'L':
        if (scrolls)
            scroll(s, s->row, s->bottom, -n);
        break;
    case 'M':
        if (scrolls)
            scroll(s, s->row, s->bottom, n);
        break;
    case 'S':
        scroll(s, s->top, s->bottom, n);
        break;
    case 'T':
        scroll(s, s->top, s->bottom, -n);
        break;
    case 'P':
        shift(s, -n);
        break;
    case '@':
        shift(s, n);
        break;
    case 'X':
        blank(s, s->row, column, clamp(column + n, 0, s->columns));
        break;
    case 'h':
        set_mode(s, true);
        break;
    case 'l':
        set_mode(s, false);
        break;
    case 'r':
        if (!s->prefix)
            set_region(s);
        break;
    case 's':
        s->saved_row = s->row;
        s->saved_column = column;
        break;
    case 'u':
        move_to(s, s->saved_row, s->saved_column);
        break;
    default:
        break;
    }
}

/* ---- bytes ---- */

static void control(struct screen *s, char c)
{
    switch (c) {
    case '\n':
    case '\v':
    case '\f':
        line_feed(s);
        break;
    case '\r':
        s->column = 0;
        break;
    case '\b':
        s->column = clamp(s->column - 1, 0, s->columns - 1);
        break;
    case '\t':
        s->column = clamp((s->column / 8 + 1) * 8, 0, s->columns - 1);
        break;
    case '\033':
        s->state = ESCAPE;
        break;
    default:
        break;
    }
}

static void escape(struct screen *s, char c)
{
    s->state = PLAIN;
    switch (c) {
    case '[':
        s->state = SEQUENCE;
        s->n_numbers = 0;
        s->prefix = 0;
        break;
    case ']':
    case 'P':
    case '_':
    case '^':
    case 'X':
        s->state = STRING;
        break;
    case '(':
    case ')':
    case '#':
    case '%':
        s->state = CHARSET;
        break;
    case '7':
        s->saved_row = s->row;
        s->saved_column = s->column;
        break;
    case '8':
        move_to(s, s->saved_row, s->saved_column);
        break;
    case 'D':
        line_feed(s);
        break;
    case 'E':
        s->column = 0;
        line_feed(s);
        break;
    case 'M':
        if (s->row == s->top)
            scroll(s, s->top, s->bottom, -1);
        else if (s->row > 0)
            s->row--;
        break;
    case 'c':
        erase_screen(s, 2);
        move_to(s, 0, 0);
        break;
    default:
        break;
    }
}

static void sequence(struct screen *s, char c)
{
    if (c >= '0' && c <= '9') {
        if (s->n_numbers == 0)
            s->numbers[s->n_numbers++] = 0;
        int *n = &s->numbers[s->n_numbers - 1];
        *n = *n > 9999 ? *n : *n * 10 + (c - '0');
    } else if (c == ';' || c == ':') {
        if (s->n_numbers == 0)
            s->numbers[s->n_numbers++] = 0;
        if (s->n_numbers < SCREEN_NUMBERS)
            s->numbers[s->n_numbers++] = 0;
    } else if (c >= '<' && c <= '?') {
        s->prefix = c;
    } else if (c >= '@' && c <= '~') {
        s->state = PLAIN;
        act(s, c);
    } else if (c == '\033') {
        s->state = ESCAPE;
    }
}

/* Not what was written longer than it is, which may be any control, nor the controls beyond
 * ASCII. */
static bool is_shown(const struct screen *s)
{
    return s->code >= s->least && s->code >= 0xa0 && s->code <= 0x10ffff &&
           (s->code < 0xd800 || s->code >= 0xe000);
}

/* UTF-8, as far as it is. */
static void character(struct screen *s, unsigned char c)
{
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };

    if (s->more > 0 && (c & 0xc0) == 0x80) {
        s->code = s->code << 6 | (c & 0x3f);
        if (--s->more == 0)
            put(s, is_shown(s) ? s->code : 0xfffd);
        return;
    }
    s->more = 0;
    if (c < 0x80) {
        put(s, c);
    } else if (c >= 0xc2 && c < 0xf5) {
        s->more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        s->least = least[s->more];
        s->code = c & (0x3f >> s->more);
    } else {
        put(s, 0xfffd);
    }
}

static void add(struct screen *s, char c)
{
    /* Whatever is open ends with its line: nothing that comes after it is hidden. */
    if (c == '\n')
        s->state = PLAIN;
    switch (s->state) {
    case ESCAPE:
        escape(s, c);
        return;
    case SEQUENCE:
        sequence(s, c);
        return;
    case CHARSET:
        s->state = PLAIN;
        return;
    case STRING:
        s->state = c == '\a' ? PLAIN : c == '\033' ? STRING_ESCAPE : STRING;
        return;
    case STRING_ESCAPE:
        s->state = c == '\\' ? PLAIN : STRING;
        return;
    default:
        break;
    }
    if ((unsigned char)c < 0x20 || c == 0x7f)
        control(s, c);
    else
        character(s, (unsigned char)c);
}

void screen_add(struct screen *s, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        add(s, bytes[i]);
}

/* ---- what is shown ---- */

static char *encode(char *to, uint32_t code)
{
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (int i = n - 1; i > 0; i--) {
        to[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    to[0] = (char)(lead[n] | code);
    return to + n;
}

static int used(const struct screen *s, int row)
{
    int n = s->columns;

    while (n > 0 && (*cell(s, row, n - 1) == 0 || *cell(s, row, n - 1) == ' '))
        n--;
    return n;
}

char *screen_text(const struct screen *s)
{
    char *text = malloc((size_t)s->rows * ((size_t)s->columns * 4 + 1) + 1), *at = text;
    int rows = s->rows;

    while (text && rows > 0 && used(s, rows - 1) == 0)
        rows--;
    for (int row = 0; text && row < rows; row++) {
        for (int column = 0; column < used(s, row); column++)
            at = encode(at, *cell(s, row, column) ? *cell(s, row, column) : ' ');
        *at++ = '\n';
    }
    if (text)
        *at = '\0';
    return text;
}
