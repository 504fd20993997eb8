#include "mcp/sse.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

struct seen {
    char text[4096];
    int count, stop_after;
};

static bool note(void *data, const char *text, size_t len)
{
    struct seen *s = data;
    size_t have = strlen(s->text);

    (void)snprintf(s->text + have, sizeof(s->text) - have, "[%.*s]", (int)len, text);
    return ++s->count != s->stop_after;
}

static void expect(const char *stream, size_t piece, const char *want)
{
    struct seen seen = { 0 };
    struct sse sse;
    size_t len = strlen(stream);

    sse_init(&sse, 1 << 16);
    for (size_t at = 0; at < len; at += piece)
        assert_int_equal(
            sse_feed(&sse, stream + at, at + piece < len ? piece : len - at, note, &seen), 0);
    sse_done(&sse);
    assert_string_equal(seen.text, want);
}

static void test_events(void **state)
{
    static const struct {
        const char *stream, *want;
    } cases[] = {
        { "data: a\n\n", "[a]" },
        { "data:a\n\ndata: b\n\n", "[a][b]" },
        { "data: a\ndata: b\n\n", "[a\nb]" },
        { "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", "[a\nb][c]" },
        { "data: a\rdata: b\r\rdata: c\r\r", "[a\nb][c]" },
        { ": comment\n\nevent: message\ndata: a\n\n", "[a]" },
        { "data\n\n", "" },
        { "data:\n\n", "" },
        { "data:  two\n\n", "[ two]" },
        { "database: x\n\nid: 1\n\n", "" },
        { "\n\n\n\ndata: a\n\n", "[a]" },
        { "data: cut off", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t piece = 1; piece < 12; piece++)
            expect(cases[i].stream, piece, cases[i].want);
}

static void test_fields(void **state)
{
    static const char stream[] =
        "id: a7\nretry: 250\ndata: x\n\nretry: soon\nid:\n\nretry: 999999999\n\n";
    struct seen seen = { 0 };
    struct sse sse;

    (void)state;
    sse_init(&sse, 100);
    assert_int_equal(sse.retry_ms, -1);
    assert_int_equal(sse_feed(&sse, stream, 27, note, &seen), 0);
    assert_string_equal(sse.id, "a7");
    assert_int_equal(sse.retry_ms, 250);
    assert_int_equal(sse_feed(&sse, stream + 27, sizeof(stream) - 28, note, &seen), 0);
    assert_string_equal(sse.id, "");
    assert_int_equal(sse.retry_ms, 60000);
    sse_done(&sse);
}

static void test_bounds(void **state)
{
    char line[200] = "data: ";
    struct seen seen = { .stop_after = 1 };
    struct sse sse;

    (void)state;
    memset(line + 6, 'x', sizeof(line) - 6);
    sse_init(&sse, 100);
    assert_int_equal(sse_feed(&sse, line, sizeof(line), note, &seen), -1);
    sse_done(&sse);

    sse_init(&sse, 100); /* an event in many lines */
    line[90] = '\n';
    assert_int_equal(sse_feed(&sse, line, 91, note, &seen), 0);
    assert_int_equal(sse_feed(&sse, line, 91, note, &seen), -1);
    sse_done(&sse);

    sse_init(&sse, 100); /* whoever is told may want no more */
    assert_int_equal(sse_feed(&sse, "data: a\n\ndata: b\n\n", 18, note, &seen), 0);
    assert_string_equal(seen.text, "[a]");
    sse_done(&sse);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_events),
                                        cmocka_unit_test(test_fields),
                                        cmocka_unit_test(test_bounds) };

    return cmocka_run_group_tests_name("sse", tests, NULL, NULL);
}
