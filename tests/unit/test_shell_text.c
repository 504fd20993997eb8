/* What a command gets as its environment, and what is left of what it prints. */
#include "unit.h"

#include <jansson.h>

#include "shell/environment.h"
#include "shell/plain.h"

/* ---- environment ---- */

#define BASE                                                                                   \
    "\"base\": {\"PATH\": \"/usr/bin\", \"HOME\": \"/h\", \"LANG\": \"C.UTF-8\", \"TMPDIR\": " \
    "\"/t\", \"A\": \"1\"}"

static void test_environment(void **state)
{
    static const struct {
        const char *wish, *want;
    } cases[] = {
        { "{" BASE "}", "{\"A\":\"1\",\"HOME\":\"/h\",\"LANG\":\"C.UTF-8\",\"PATH\":\"/usr/bin\","
                        "\"TERM\":\"dumb\",\"TMPDIR\":\"/t\"}" },
        { "{" BASE ", \"clean\": true}",
          "{\"A\":\"1\",\"HOME\":\"/h\",\"PATH\":\"/usr/bin\",\"TMPDIR\":\"/t\"}" },
        /* 271: exactly what is given, and what a box cannot do without */
        { "{" BASE ", \"bare\": true, \"add\": {\"B\": \"2\"}}",
          "{\"B\":\"2\",\"HOME\":\"/h\",\"PATH\":\"/usr/bin\",\"TMPDIR\":\"/t\"}" },
        { "{" BASE ", \"bare\": true, \"add\": {\"HOME\": null, \"TMPDIR\": null}}",
          "{\"PATH\":\"/usr/bin\"}" },
        { "{" BASE ", \"unset\": [\"A\", \"LANG\", \"TERM\", \"X\"], \"add\": {\"A\": \"2\"}}",
          "{\"A\":\"2\",\"HOME\":\"/h\",\"PATH\":\"/usr/bin\",\"TMPDIR\":\"/t\"}" },
        /* 457: there is always a PATH */
        { "{\"base\": {}, \"clean\": true}", "{\"PATH\":\"" ENVIRONMENT_PATH "\"}" },
        { "{\"base\": {}, \"clean\": true, \"add\": {\"PATH\": null}}",
          "{\"PATH\":\"" ENVIRONMENT_PATH "\"}" },
        { "{\"base\": {}, \"clean\": true, \"add\": {\"PATH\": \":.:bin:/a::/b:./c\"}}",
          "{\"PATH\":\"/a:/b\"}" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *wish = json_loads(cases[i].wish, 0, NULL);
        struct environment_wish w = { .base = json_object_get(wish, "base"),
                                      .clean = json_is_true(json_object_get(wish, "clean")),
                                      .bare = json_is_true(json_object_get(wish, "bare")),
                                      .unset = json_object_get(wish, "unset"),
                                      .add = json_object_get(wish, "add") };
        struct gb_err err = { 0 };
        json_t *env = environment_make(&w, &err);
        char *text = json_dumps(env, JSON_COMPACT | JSON_SORT_KEYS);

        assert_non_null(wish);
        assert_string_equal(text, cases[i].want);
        free(text);
        json_decref(env);
        json_decref(wish);
    }
}

static void test_environment_is_bounded(void **state)
{
    json_t *base = json_object();
    struct gb_err err = { 0 };
    char name[16];

    (void)state;
    for (int i = 0; i <= ENVIRONMENT_NAMES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "N%d", i);
        json_object_set_new(base, name, json_string(""));
    }
    assert_null(environment_make(&(struct environment_wish){ .base = base }, &err));
    assert_int_equal(err.code, GB_E_LIMIT);
    json_decref(base);
}

/* ---- plain text ---- */

struct kept {
    char text[16384];
    size_t len;
};

static void keep(void *data, const char *bytes, size_t len)
{
    struct kept *k = data;

    assert_true(k->len + len < sizeof(k->text));
    memcpy(k->text + k->len, bytes, len);
    k->len += len;
    k->text[k->len] = '\0';
}

static void plain(const char *bytes, size_t len, size_t piece, struct kept *k)
{
    struct plain *p = malloc(sizeof(*p));

    *k = (struct kept){ 0 };
    plain_init(p, keep, k);
    for (size_t at = 0; at < len; at += piece)
        plain_add(p, bytes + at, len - at < piece ? len - at : piece);
    plain_end(p);
    free(p);
}

static void test_plain(void **state)
{
    static const struct {
        const char *bytes, *want;
    } cases[] = {
        { "", "" },
        { "abc\n", "abc\n" },
        { "abc", "abc" },
        { "a\tb\n", "a\tb\n" },
        { "h\xc3\xa9\xe2\x82\xac\n", "h\xc3\xa9\xe2\x82\xac\n" },
        { "\x1b[31mred\x1b[0m\n", "red\n" },
        { "\x1b[38;5;196;1mx\x1b[m", "x" },
        { "a\r\nb\r\n", "a\nb\n" },
        { " 10%\r 20%\r100%\ndone\n", "100%\ndone\n" },
        { "10%\r\x1b[K20%\r\x1b[Kdone\n", "done\n" },
        { "abc\r", "abc" },
        { "abc\r\n", "abc\n" },
        { "abc\r\r\n", "abc\n" },
        { "-\b\\\b|\b/\b done\n", " done\n" },
        { "b\bbo\bol\bld\n", "bold\n" },
        { "\xc3\xa9\bx\n", "x\n" },
        { "\b\b\n", "\n" },
        { "\x1b]0;title\x07x\n", "x\n" },
        { "\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\\n", "link\n" },
        { "\x1bPdevice\x1b\\x", "x" },
        { "\x1b(Bx\x1b=y", "xy" },
        { "a\x07"
          "b\x7f"
          "c",
          "abc" },
        { "\x1b[2J\x1b[Hx", "x" },
        /* what does not end hides no more than its line */
        { "\x1b]0;never\nx\n", "\nx\n" },
        { "\x1b[31\nx\n", "\nx\n" },
        { "\x1b\nx\n", "\nx\n" },
        { "x\x1b", "x" },
        { "\x1b[1\x1b[0mx", "x" },
    };
    struct kept k;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t piece = 1; piece < 8; piece++) {
            plain(cases[i].bytes, strlen(cases[i].bytes), piece, &k);
            if (strcmp(k.text, cases[i].want) != 0)
                fail_msg("case %zu, pieces of %zu: '%s', not '%s'", i, piece, k.text,
                         cases[i].want);
        }
    }
}

/* A line that is longer than what is held goes out, and what is written over it begins another. */
static void test_long_line(void **state)
{
    char line[2 * PLAIN_LINE + 3];
    struct kept k;

    (void)state;
    memset(line, 'x', sizeof(line));
    plain(line, sizeof(line), 100, &k);
    assert_int_equal(k.len, sizeof(line));
    line[2 * PLAIN_LINE] = '\r';
    line[2 * PLAIN_LINE + 1] = 'y';
    line[2 * PLAIN_LINE + 2] = '\n';
    plain(line, sizeof(line), 100, &k);
    assert_int_equal(k.len, 2 * PLAIN_LINE + 3);
    assert_string_equal(k.text + 2 * PLAIN_LINE, "\ny\n");
}

/* Whatever comes, as many lines come out as went in, and never more bytes. */
static void test_any_bytes(void **state)
{
    static const char alphabet[] = "ab\r\b\x1b[]0;mK\x07\\P(\n\xc3\xa9";
    struct kept k;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[64];
        size_t len = unit_random() % sizeof(text), lines = 0, got = 0;

        for (size_t i = 0; i < len; i++) {
            text[i] = alphabet[unit_random() % (sizeof(alphabet) - 1)];
            lines += text[i] == '\n';
        }
        plain(text, len, 1 + unit_random() % 9, &k);
        for (size_t i = 0; i < k.len; i++)
            got += k.text[i] == '\n';
        assert_int_equal(got, lines);
        assert_true(k.len <= len);
        assert_null(memchr(k.text, '\x1b', k.len));
        assert_null(memchr(k.text, '\r', k.len));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment), cmocka_unit_test(test_environment_is_bounded),
        cmocka_unit_test(test_plain),       cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_any_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
