/* What of the HTTP server can be looked at without a connection. */
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "base/json.h"
#include "http/guard.h"
#include "http/head.h"
#include "http/rate.h"
#include "http/token.h"
#include "unit.h"

/* ---- heads ---- */

struct head_case {
    const char *lines[6][2];
    bool is_old, is_get;
    bool is_good;
};

static void test_heads(void **state)
{
    static const struct head_case cases[] = {
        { .lines = { { "Host", "a" } }, .is_good = true },
        { .lines = { { "Host", "a" }, { "Content-Length", "5" } }, .is_good = true },
        { .lines = { { "Host", "a" }, { "Transfer-Encoding", "Chunked" } }, .is_good = true },
        { .lines = { { "Host", "a" }, { "X-Any", "1" }, { "X-Any", "2" } }, .is_good = true },
        { .lines = { { "X", "a" } }, .is_old = true, .is_good = true },
        { .lines = { { "Host", "a" }, { "Content-Length", "0" } },
          .is_get = true,
          .is_good = true },
        { .lines = { { "X", "a" } } }, /* no Host */
        { .lines = { { "Host", "a" }, { "host", "a" } } },
        { .lines = { { "Host", "a" }, { "Content-Length", "5" }, { "content-length", "5" } } },
        { .lines = { { "Host", "a" },
                     { "Content-Length", "5" },
                     { "Transfer-Encoding", "chunked" } } },
        { .lines = { { "Host", "a" }, { "Transfer-Encoding", "gzip, chunked" } } },
        { .lines = { { "Host", "a" }, { "Transfer-Encoding", "chunked" } }, .is_old = true },
        { .lines = { { "Host", "a" }, { "Content-Length", "" } } },
        { .lines = { { "Host", "a" }, { "Content-Length", "+5" } } },
        { .lines = { { "Host", "a" }, { "Content-Length", "5, 5" } } },
        { .lines = { { "Host", "a" }, { "Content-Length", "5" } }, .is_get = true },
        { .lines = { { "Host", "a" }, { "Transfer-Encoding", "chunked" } }, .is_get = true },
        { .lines = { { "Host", "a" }, { "Authorization", "x" }, { "AUTHORIZATION", "y" } } },
        { .lines = { { "Host", "a" }, { "Mcp-Method", "x" }, { "mcp-method", "x" } } },
        { .lines = { { "Host", "a" }, { "Bad Name", "x" } } },
        { .lines = { { "Host", "a" }, { "Content-Length ", "5" } } },
        { .lines = { { "Host", "a" }, { "", "x" } } },
        { .lines = { { "Host", "a" }, { "X", "a\001b" } } },
        { .lines = { { "Host", "a" }, { "X", "a\177" } } },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct evkeyval lines[6];
        struct evkeyvalq headers;
        const char *problem;

        TAILQ_INIT(&headers);
        for (size_t k = 0; k < ARRAY_LEN(lines) && cases[i].lines[k][0]; k++) {
            lines[k].key = strdup(cases[i].lines[k][0]);
            lines[k].value = strdup(cases[i].lines[k][1]);
            TAILQ_INSERT_TAIL(&headers, &lines[k], next);
        }
        problem = guard_headers(&headers, cases[i].is_old, !cases[i].is_get);
        if (!problem != cases[i].is_good)
            fail_msg("case %zu: %s", i, problem ? problem : "taken");
        for (size_t k = 0; k < ARRAY_LEN(lines) && cases[i].lines[k][0]; k++) {
            free(lines[k].key);
            free(lines[k].value);
        }
    }
}

/* ---- hosts, origins, tokens, types ---- */

static void test_hosts(void **state)
{
    auto_json json_t *names = json_pack("[s,s]", "box.example", "other:99");

    (void)state;
    assert_true(guard_host("localhost:80", GUARD_LOOPBACK, NULL));
    assert_true(guard_host("[::1]:80", GUARD_LOOPBACK, NULL));
    assert_true(guard_host("127.1.2.3", GUARD_LOOPBACK, NULL));
    assert_false(guard_host("10.0.0.1", GUARD_LOOPBACK, NULL));
    assert_true(guard_host("10.0.0.1:1", GUARD_LOOPBACK | GUARD_ADDRESSES, NULL));
    assert_true(guard_host("[fe80::1]", GUARD_ADDRESSES, NULL));
    assert_false(guard_host("box.example", GUARD_LOOPBACK | GUARD_ADDRESSES, NULL));
    assert_true(guard_host("BOX.example:443", GUARD_LOOPBACK, names));
    assert_true(guard_host("other:99", 0, names));
    assert_false(guard_host("other", 0, names));
    assert_false(guard_host("box.example.evil", 0, names));
    assert_false(guard_host("localhost", 0, NULL));
    assert_true(guard_host("whatever", GUARD_ANY, NULL));
    assert_false(guard_host("", GUARD_LOOPBACK, names));
    assert_false(guard_host("[", GUARD_LOOPBACK, names));
    assert_false(guard_host("[]", GUARD_LOOPBACK, names));
    assert_false(guard_host("localhost:8a", GUARD_LOOPBACK, names));
}

static void test_origins(void **state)
{
    auto_json json_t *allowed = json_pack("[s]", "https://app.example");

    (void)state;
    assert_true(guard_origin("http://localhost:3000", NULL));
    assert_true(guard_origin("https://[::1]", NULL));
    assert_true(guard_origin("https://app.example", allowed));
    assert_false(guard_origin("https://app.example:444", allowed));
    assert_false(guard_origin("https://app.example", NULL));
    assert_false(guard_origin("null", allowed));
    assert_false(guard_origin("", allowed));
    assert_false(guard_origin("http:/", allowed));
    assert_false(guard_origin("ws://localhost", allowed));
}

static void test_tokens(void **state)
{
    (void)state;
    assert_true(guard_token("Bearer abcdefgh", "abcdefgh"));
    assert_true(guard_token("bearer   abcdefgh", "abcdefgh"));
    assert_false(guard_token(NULL, "abcdefgh"));
    assert_false(guard_token("", "abcdefgh"));
    assert_false(guard_token("Bearer", "abcdefgh"));
    assert_false(guard_token("Bearer abcdefg", "abcdefgh"));
    assert_false(guard_token("Bearer abcdefghi", "abcdefgh"));
    assert_false(guard_token("Bearer abcdefgH", "abcdefgh"));
    assert_false(guard_token("Basic abcdefgh", "abcdefgh"));
}

/* Whether the token is seen, whole and byte by byte. */
static bool is_shown(const char *text, size_t len, struct head *ret)
{
    struct head whole = { 0 }, pieces = { 0 };
    bool at_once = head_feed(&whole, text, len, "abcdefgh"), in_pieces = false;

    for (size_t i = 0; i < len; i++)
        in_pieces = head_feed(&pieces, text + i, 1, "abcdefgh") || in_pieces;
    assert_int_equal(at_once, in_pieces);
    assert_int_equal(whole.is_over, pieces.is_over);
    *ret = whole;
    return at_once;
}

static void test_token_on_its_way(void **state)
{
    static const struct {
        const char *text;
        bool is_shown, is_over;
    } cases[] = {
        { "POST / HTTP/1.1\r\nAuthorization: Bearer abcdefgh\r\n\r\n", true, true },
        { "POST / HTTP/1.1\nauthorization:bearer  abcdefgh\n\n", true, true },
        { "POST / HTTP/1.1\r\nAuthorization: Bearer abcdefgh\r\n", true, false },
        { "POST / HTTP/1.1\r\nAuthorization: Bearer abcdefgh", false, false },
        { "POST / HTTP/1.1\r\nAuthorization: Bearer abcdefgi\r\n\r\n", false, true },
        { "POST / HTTP/1.1\r\nX-Authorization: Bearer abcdefgh\r\n\r\n", false, true },
        { "POST / HTTP/1.1\r\nX: y\r\n Authorization: Bearer abcdefgh\r\n\r\n", false, true },
        { "POST / HTTP/1.1\r\n\r\nAuthorization: Bearer abcdefgh\r\n", false, true },
    };
    char line[HEAD_LINE_MAX + 40];
    struct head head;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (is_shown(cases[i].text, strlen(cases[i].text), &head) != cases[i].is_shown ||
            head.is_over != cases[i].is_over)
            fail_msg("case %zu", i);
    for (size_t extra = 0; extra < 30; extra++) { /* around the longest line that is kept */
        size_t n = HEAD_LINE_MAX - 10 + extra;

        memset(line, 'x', sizeof(line));
        line[n] = '\n';
        (void)snprintf(line + n + 1, sizeof(line) - n - 1, "\r\n");
        assert_false(is_shown(line, n + 3, &head));
        assert_true(head.is_over);
    }
}

static void test_types(void **state)
{
    static const char events[] = "text/event-stream";

    (void)state;
    assert_true(guard_type("application/json", "application/json"));
    assert_true(guard_type("Application/JSON;charset=utf-8", "application/json"));
    assert_false(guard_type("application/jsonp", "application/json"));
    assert_false(guard_type("", "application/json"));
    assert_true(guard_accepts("application/json, text/event-stream", events, true));
    assert_true(guard_accepts("application/json,TEXT/event-stream;q=0.5", events, true));
    assert_true(guard_accepts("text/*", events, false));
    assert_true(guard_accepts("*/*;q=0.1", events, false));
    assert_false(guard_accepts("*/*", events, true));
    assert_false(guard_accepts("text/html, application/*", events, false));
    assert_false(guard_accepts("", events, false));
    assert_false(guard_accepts(",,, ;", events, false));
    assert_false(guard_accepts("t/*", events, false));
}

/* ---- rates ---- */

static void test_rates(void **state)
{
    struct rates *r = rates_new(10);
    int64_t now = 1000000;
    int n = 0;

    (void)state;
    while (n < 1000 && rates_take(r, "a", 1, now))
        n++;
    assert_int_equal(n, 20); /* two seconds' worth */
    assert_true(rates_take(r, "a", 1, now + 200000));
    assert_true(rates_take(r, "a", 1000, now + 10000000)); /* may overdraw once, */
    assert_false(rates_take(r, "a", 1, now + 60000000));   /* and pays for it */
    assert_true(rates_take(r, "a", 1, now + 130000000));
    (void)rates_free(r);

    r = rates_new(0);
    for (n = 0; n < 100000; n++)
        assert_true(rates_take(r, "a", 100, now));
    (void)rates_free(r);
}

/* ---- the token's file ---- */

static void test_token_file(void **state)
{
    char dir[] = "/tmp/test_token.XXXXXX", path[64];
    auto_free char *first = NULL, *second = NULL;
    bool is_new = false;
    struct gb_err err;
    struct stat st;
    int fd;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/a/b/token", dir);
    assert_int_equal(token_load(path, &first, &is_new, &err), 0);
    assert_true(is_new);
    assert_int_equal(strlen(first), 43);
    assert_int_equal(
        strspn(first, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), 43);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(token_load(path, &second, &is_new, &err), 0);
    assert_false(is_new);
    assert_string_equal(first, second);

    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(token_load(path, &second, &is_new, &err), -1);
    assert_non_null(strstr(err.msg, "others may read"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0); /* a folder in its place */
    assert_int_equal(token_load(path, &second, &is_new, &err), -1);
    assert_int_equal(rmdir(path), 0);
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "two words are none\n", 19), 19);
    (void)close(fd);
    assert_int_equal(token_load(path, &second, &is_new, &err), -1);
    assert_null(strstr(err.msg, "words"));
    (void)unlink(path);
    for (int i = 0; i < 3; i++) {
        *strrchr(path, '/') = '\0';
        assert_int_equal(rmdir(path), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),      cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_origins),    cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_types),      cmocka_unit_test(test_rates),
        cmocka_unit_test(test_token_file), cmocka_unit_test(test_token_on_its_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
