/* Where a cell of Python ends, line by line. */
#include "unit.h"

#include "cli/cells.h"

static void add(struct gb_buf *to, const char *data, size_t len)
{
    struct gb_err err;

    assert_int_equal(gb_buf_add(to, data ? data : "", len, &err), 0);
}

/* Lines by '|' become these cells, which '#' ends: typed, or from a file. */
static void expect(const char *lines, bool is_typed, const char *want)
{
    char *copy = strdup(lines), *rest = copy;
    struct gb_buf got;
    struct cells c;
    struct gb_err err;

    cells_init(&c);
    gb_buf_init(&got, 4096);
    for (char *line = strsep(&rest, "|"); line; line = strsep(&rest, "|")) {
        enum cells_state state = CELLS_BEFORE;
        while (state == CELLS_BEFORE) {
            assert_int_equal(cells_add(&c, line, is_typed, &state, &err), 0);
            if (state == CELLS_MORE)
                continue;
            add(&got, c.text.data, c.text.len);
            add(&got, "#", 1);
            cells_clear(&c);
        }
    }
    add(&got, c.text.data, c.text.len);
    add(&got, "", 1);
    assert_string_equal(got.data, want);
    gb_buf_done(&got);
    cells_done(&c);
    free(copy);
}

static void test_simple_lines(void **state)
{
    (void)state;
    expect("x = 1|y", true, "x = 1\n#y\n#");
    expect("", true, "#");
    expect("x = {'a': 1}  |'b:'", true, "x = {'a': 1}  \n#'b:'\n#");
}

static void test_what_is_open_goes_on(void **state)
{
    (void)state;
    expect("f(1,| 2)", true, "f(1,\n 2)\n#");
    expect("x = [|'(', # ]||]", true, "x = [\n'(', # ]\n\n]\n#");
    expect("s = '''a|('b|'''", true, "s = '''a\n('b\n'''\n#");
    expect("s = \"\"\"it's|\"\"\"", true, "s = \"\"\"it's\n\"\"\"\n#");
    expect("x = 1 + \\|2", true, "x = 1 + \\\n2\n#");
    expect("x = 'a\\|b'", true, "x = 'a\\\nb'\n#");
    expect("'\\\\'|1", true, "'\\\\'\n#1\n#");
    expect("'not closed|1", true, "'not closed\n#1\n#");
}

static void test_blocks(void **state)
{
    (void)state;
    expect("if x:| y|else:| z||w", true, "if x:\n y\nelse:\n z\n#w\n#");
    expect("def f(a, # :| b):| return a||", true, "def f(a, # :\n b):\n return a\n##");
    expect("@d|def f():| pass||", true, "@d\ndef f():\n pass\n##");
    expect("x[1:|2]", true, "x[1:\n2]\n#");
    expect("for i in x: # c| i|", true, "for i in x: # c\n i\n#");
}

static void test_from_a_file(void **state)
{
    (void)state;
    expect("if x:| y||| z|else:| w|k", false, "if x:\n y\n\n\n z\nelse:\n w\n#k\n#");
    expect("@d('/a:b')|def f():| pass|f()", false, "@d('/a:b')\ndef f():\n pass\n#f()\n#");
    expect("@d|@e|def f():| pass|f()", false, "@d\n@e\ndef f():\n pass\n#f()\n#");
    expect("try:| x|# why|except E:| y|if z:| w", false,
           "try:\n x\n# why\nexcept E:\n y\n#if z:\n w\n");
    expect("elsewhere = 1|if x:| y|elsewhere", false, "elsewhere = 1\n#if x:\n y\n#elsewhere\n#");
}

static void test_too_long(void **state)
{
    struct cells c;
    struct gb_err err;
    enum cells_state s;
    char *line = calloc(1, CELL_MAX + 1);

    (void)state;
    assert_non_null(line);
    memset(line, 'x', CELL_MAX);
    cells_init(&c);
    assert_int_equal(cells_add(&c, line, true, &s, &err), -1);
    cells_done(&c);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple_lines), cmocka_unit_test(test_what_is_open_goes_on),
        cmocka_unit_test(test_blocks),       cmocka_unit_test(test_from_a_file),
        cmocka_unit_test(test_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
