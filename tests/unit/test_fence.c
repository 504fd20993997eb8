/* The fence that chat puts around code. */
#include "unit.h"

#include "base/fence.h"

static void test_fences(void **state)
{
    static const struct {
        const char *text, *want; /* NULL: it is left as it is */
    } rows[] = {
        { "```\nx = 1\n```", "   \nx = 1\n   " },
        { "```python\nx = 1\n```\n", "         \nx = 1\n   \n" },
        { "\n ```py \r\nx = 1\r\n```  \n\n", "\n       \r\nx = 1\r\n     \n\n" },
        { "```c++\n\n```", "      \n\n   " },
        { "", NULL },
        { "x = 1", NULL },
        { "```", NULL },
        { "```\nx = 1", NULL },
        { "x = 1\n```", NULL },
        { "Here:\n```\nx = 1\n```", NULL },
        { "```\nx = 1\n```\ndone", NULL },
        { "```\na\n```\n```\nb\n```", NULL },
        { "```print(1)\n```", NULL },
        { "```py\nx = 1\n```py", NULL },
        { "    ```\nx\n```", NULL },
        { "``\nx\n``", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%s", rows[i].text);
        assert_int_equal(fence_blank(text, strlen(text)), rows[i].want != NULL);
        assert_string_equal(text, rows[i].want ? rows[i].want : rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
