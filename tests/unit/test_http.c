/* What of the HTTP server can be looked at without a connection. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/json.h"
#include "http/chunks.h"
#include "http/guard.h"
#include "http/head.h"
#include "http/rate.h"
#include "http/remote.h"
#include "http/token.h"
#include "unit.h"

/* ---- heads ---- */

#define POST_LINE "POST /x HTTP/1.1\r\n"
#define GET_LINE  "GET /x HTTP/1.1\r\n"
#define HOST_LINE "Host: a\r\n"

struct head_case {
    const char *text;
    int status; /* 0: it is good */
};

static const struct head_case head_cases[] = {
    { POST_LINE HOST_LINE "\r\n", 0 },
    { POST_LINE HOST_LINE "Content-Length: 5\r\n\r\n", 0 },
    { POST_LINE HOST_LINE "Content-Length:5 \t\r\n\r\n", 0 },
    { POST_LINE HOST_LINE "Transfer-Encoding: Chunked\r\n\r\n", 0 },
    { POST_LINE HOST_LINE "X-Any: 1\r\nX-Any: 2\r\nX-Empty:\r\n\r\n", 0 },
    { GET_LINE HOST_LINE "Content-Length: 0\r\n\r\n", 0 },
    { GET_LINE HOST_LINE "X: caf\xc3\xa9 \xff\ty\r\n\r\n", 0 },
    { "GET / HTTP/1.0\r\n\r\n", 0 },
    { "GET http://a/x?y HTTP/1.1\r\n" HOST_LINE "\r\n", 0 },
    { "OPTIONS * HTTP/1.1\r\n" HOST_LINE "\r\n", 0 },
    { "BREW /pot HTTP/1.1\r\n" HOST_LINE "\r\n", 0 },
    /* request lines */
    { "GET  /x HTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "GET /x  HTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "GET\t/x\tHTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "GET /x HTTP/1.1 \r\n" HOST_LINE "\r\n", 400 },
    { " GET /x HTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "GET /x HTTP/1.2\r\n" HOST_LINE "\r\n", 400 },
    { "GET /x HTTP/2.0\r\n" HOST_LINE "\r\n", 400 },
    { "GET /x http/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "GET /x\r\n" HOST_LINE "\r\n", 400 },
    { "G(T /x HTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "GET x HTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "GET http:// HTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "GET ftp://a/ HTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "GET /x#y HTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "GET /\xc3\xa9 HTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    { "CONNECT a:80 HTTP/1.1\r\n" HOST_LINE "\r\n", 400 },
    /* fields */
    { GET_LINE "X: a\r\n\r\n", 400 }, /* no Host */
    { GET_LINE HOST_LINE "host: a\r\n\r\n", 400 },
    { GET_LINE HOST_LINE "Bad Name: x\r\n\r\n", 400 },
    { GET_LINE HOST_LINE ": x\r\n\r\n", 400 },
    { GET_LINE HOST_LINE "no colon\r\n\r\n", 400 },
    { GET_LINE HOST_LINE "X: y\r\n folded\r\n\r\n", 400 },
    { GET_LINE " Host: a\r\n\r\n", 400 },
    { GET_LINE HOST_LINE "X: a\001b\r\n\r\n", 400 },
    { GET_LINE HOST_LINE "X: a\177\r\n\r\n", 400 },
    { GET_LINE HOST_LINE "Authorization: x\r\nAUTHORIZATION: y\r\n\r\n", 400 },
    { GET_LINE HOST_LINE "Mcp-Method: x\r\nmcp-method: x\r\n\r\n", 400 },
    { GET_LINE HOST_LINE "Expect: 200-ok\r\n\r\n", 417 },
    /* two ways to say how long it is */
    { POST_LINE HOST_LINE "Content-Length: 5\r\ncontent-length: 5\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Transfer-Encoding: gzip, chunked\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Transfer-Encoding: chunked, chunked\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Transfer-Encoding: xchunked\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Transfer-Encoding: \x0b"
                          "chunked\r\n\r\n",
      400 },
    { POST_LINE HOST_LINE "Transfer-Encoding : chunked\r\n\r\n", 400 },
    { "POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Content-Length:\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Content-Length: +5\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Content-Length: 0x5\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Content-Length: 5, 5\r\n\r\n", 400 },
    { POST_LINE HOST_LINE "Content-Length: 5 5\r\n\r\n", 400 },
    { GET_LINE HOST_LINE "Content-Length: 5\r\n\r\n", 400 },
    { GET_LINE HOST_LINE "Transfer-Encoding: chunked\r\n\r\n", 400 },
    { "HEAD / HTTP/1.1\r\n" HOST_LINE "Content-Length: 5\r\n\r\n", 400 },
};

static void test_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(head_cases); i++) {
        const struct head_case *a = &head_cases[i];
        struct head h;
        size_t scanned = 0, len = strlen(a->text);
        const struct head_problem *problem;

        if (head_find_end(a->text, len, &scanned) != (int)len)
            fail_msg("case %zu has no end", i);
        problem = head_parse(&h, a->text, len);
        if ((problem ? problem->status : 0) != a->status)
            fail_msg("case %zu: %s", i, problem ? problem->message : "taken");
        head_done(&h);
    }
}

static void test_what_a_head_says(void **state)
{
    static const char text[] = "POST http://b:1/x/y?z=/ HTTP/1.1\r\nhOST: a\r\nX:  1 \r\nx: 2\r\n"
                               "Connection: x, Close\r\nExpect: 100-Continue\r\n"
                               "Content-Length: 99999999999999999999999\r\n\r\n";
    struct head h;

    (void)state;
    assert_null(head_parse(&h, text, sizeof(text) - 1));
    assert_string_equal(h.method, "POST");
    assert_string_equal(h.path, "/x/y");
    assert_string_equal(h.host, "b:1");
    assert_string_equal(head_get(&h, "Host"), "a");
    assert_string_equal(head_get(&h, "X"), "1");
    assert_null(head_get(&h, "Y"));
    assert_false(h.is_kept);
    assert_true(h.wants_go_ahead);
    assert_true(h.length == UINT64_MAX);
    head_done(&h);
}

static void test_too_much_of_a_head(void **state)
{
    auto_free char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    struct head h;

    (void)state;
    (void)fprintf(f, GET_LINE HOST_LINE);
    for (int i = 0; i < HEAD_FIELDS_MAX; i++)
        (void)fprintf(f, "X: y\r\n");
    (void)fprintf(f, "\r\n");
    (void)fclose(f);
    assert_int_equal(head_parse(&h, text, len)->status, 431);
    head_done(&h);
    free(take_ptr(text));

    f = open_memstream(&text, &len);
    (void)fprintf(f, "GET /%*s HTTP/1.1\r\n" HOST_LINE "\r\n", HEAD_TARGET_MAX, "x");
    (void)fclose(f);
    for (char *at = text + 5; *at == ' '; at++)
        *at = 'x';
    assert_int_equal(head_parse(&h, text, len)->status, 414);
    head_done(&h);
}

/* Where a head ends, whole and byte by byte. */
static void test_ends_of_heads(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        int end;
    } cases[] = {
        { "A\r\nB\r\n\r\nrest", 12, 8 },
        { "A\r\nB\r\n\r", 7, 0 },
        { "A\r\nB\r\n", 6, 0 },
        { "A\nB\n\n", 5, -1 },
        { "A\r\nB\n", 5, -1 },
        { "A\rB", 3, -1 },
        { "A\r\r\n", 4, -1 },
        { "A\0B", 3, -1 },
        { "\r\n", 2, -1 },
        { "\n", 1, -1 },
        { "", 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t scanned = 0;
        int end = 0;

        assert_int_equal(head_find_end(cases[i].text, cases[i].len, &scanned), cases[i].end);
        scanned = 0;
        for (size_t n = 1; n <= cases[i].len && end == 0; n++)
            end = head_find_end(cases[i].text, n, &scanned);
        assert_int_equal(end, cases[i].end);
    }
}

/* ---- chunks ---- */

struct chunk_case {
    const char *text, *body; /* NULL: it is refused */
    const char *rest;
};

static const struct chunk_case chunk_cases[] = {
    { "0\r\n\r\n", "", "" },
    { "5\r\nhello\r\n0\r\n\r\nGET", "hello", "GET" },
    { "2\r\nhe\r\n003\r\nllo\r\n00\r\n\r\n", "hello", "" },
    { "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789", "" },
    { "5;a\r\nhello\r\n0\r\n\r\n", "hello", "" },
    { "5;a=b;c=\"d;\\\"\\\\\"\r\nhello\r\n0;last=1\r\n\r\n", "hello", "" },
    { "5 ; a = b\t; c\r\nhello\r\n0\r\n\r\n", "hello", "" },
    { "0\r\nX-Sum: 5\r\nY:\r\n\r\n", "", "" },
    { "0x5\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "+5\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "-5\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { " 5\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "5 \r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "5 zzz\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "5g\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { ";a\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "5;\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "5;a=\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "5;a=\"b\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "5;a\001\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "5\nhello\n0\n\n", NULL, NULL },
    { "5\r\nhelloX\r\n0\r\n\r\n", NULL, NULL },
    { "5\r\nhello\n0\r\n\r\n", NULL, NULL },
    { "1000000000000005\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "ffffffffffffffff\r\nhello\r\n0\r\n\r\n", NULL, NULL },
    { "0\r\nno field\r\n\r\n", NULL, NULL },
    { "0\r\n folded\r\n\r\n", NULL, NULL },
};

static enum chunks_said feed(const struct chunk_case *a, size_t piece, struct evbuffer *in,
                             struct gb_buf *out)
{
    struct chunks c = { 0 };
    enum chunks_said said = CHUNKS_MORE;
    size_t len = strlen(a->text);

    for (size_t at = 0; at < len && said == CHUNKS_MORE; at += piece) {
        (void)evbuffer_add(in, a->text + at, len - at < piece ? len - at : piece);
        said = chunks_take(&c, in, out, 1000);
    }
    return said;
}

static void test_chunks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(chunk_cases); i++) {
        for (size_t piece = 1; piece < 50; piece += 24) {
            const struct chunk_case *a = &chunk_cases[i];
            struct evbuffer *in = evbuffer_new();
            struct gb_buf out;
            struct gb_err err;
            enum chunks_said said;

            gb_buf_init(&out, 1000);
            said = feed(a, piece, in, &out);

            if ((said == CHUNKS_OVER) != (a->body != NULL))
                fail_msg("case %zu: %d", i, (int)said);
            (void)evbuffer_add(in, "", 1);
            assert_return_code(gb_buf_add(&out, "", 1, &err), 0);
            if (a->body)
                assert_string_equal(out.data, a->body);
            if (a->body && piece > strlen(a->text))
                assert_string_equal(evbuffer_pullup(in, -1), a->rest);
            evbuffer_free(in);
            gb_buf_done(&out);
        }
    }
}

static void test_chunks_are_bounded(void **state)
{
    struct evbuffer *in = evbuffer_new();
    struct gb_buf out;
    struct chunks c = { 0 };
    enum chunks_said said = CHUNKS_MORE;

    (void)state;
    gb_buf_init(&out, 1000000);
    (void)evbuffer_add_printf(in, "3e9\r\n"); /* refused before its bytes come */
    assert_int_equal(chunks_take(&c, in, &out, 1000), CHUNKS_TOO_BIG);
    (void)evbuffer_drain(in, evbuffer_get_length(in));
    c = (struct chunks){ 0 };
    for (int i = 0; i < 1000 && said == CHUNKS_MORE; i++) { /* more around it than in it */
        (void)evbuffer_add_printf(in, "1;a=%0900d\r\nx\r\n", 1);
        said = chunks_take(&c, in, &out, 1000000);
    }
    assert_int_equal(said, CHUNKS_MALFORMED);
    (void)evbuffer_drain(in, evbuffer_get_length(in));
    c = (struct chunks){ 0 };
    (void)evbuffer_add_printf(in, "1;a=%02000d", 1); /* a line without end */
    assert_int_equal(chunks_take(&c, in, &out, 1000), CHUNKS_MALFORMED);
    evbuffer_free(in);
    gb_buf_done(&out);
}

/* ---- what clients are told ---- */

static void test_what_is_not_for_clients(void **state)
{
    static const struct {
        const char *type, *message, *told; /* told NULL: as it is */
    } cases[] = {
        { "invalid", "timeout: must be a number", NULL },
        { "invalid", "say 1/2, and/or send it to /v1/shell", NULL },
        { "invalid", "path: '/workspace/a' is 5 / 2", NULL },
        { "invalid", "mounts: '/srv/my data/x': No such file", "mounts: '(a path)': No such file" },
        { "invalid", "reading /etc/ssl/ca.pem: no", "reading (a path): no" },
        { "busy", "too many, see (/var/log)", "too many, see ((a path))" },
        { "system", "opening /usr/lib/x: EPERM", "the server could not run this" },
        { "another", "/x", "the server could not run this" },
        { "no_isolation", "/proc/sys/x is 0", "this server cannot hold programs in a box" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json json_t *result = json_pack(
            "{s:s,s:{s:s,s:s,s:s},s:s,s:{s:{s:s},s:n}}", "status", "failed", "error", "type",
            cases[i].type, "message", cases[i].message, "hint", "see /x/y", "audit_error",
            "writing '/a/b': full", "spill", "stdout", "path", "/srv/spill/1.out", "stderr");
        auto_free char *said = remote_censor(result);
        const json_t *error = json_object_get(result, "error");
        const char *told = cases[i].told ? cases[i].told : cases[i].message;

        assert_string_equal(json_string_at(error, "message", ""), told);
        assert_null(strstr(json_string_at(error, "hint", ""), "/x"));
        assert_string_equal(json_string_at(result, "audit_error", ""), "writing '(a path)': full");
        assert_string_equal(
            json_string_at(json_object_get(json_object_get(result, "spill"), "stdout"), "path", ""),
            "1.out");
        assert_int_equal(said != NULL, cases[i].told != NULL);
        if (said)
            assert_non_null(strstr(said, cases[i].message));
    }
}

/* A program's own error is the client's, with all that it says. */
static void test_what_a_program_said_is_for_clients(void **state)
{
    auto_json json_t *result = json_pack("{s:s,s:{s:s,s:s}}", "status", "error", "error", "type",
                                         "OSError", "message", "no '/etc/x'");

    (void)state;
    assert_null(remote_censor(result));
    assert_string_equal(json_string_at(json_object_get(result, "error"), "message", ""),
                        "no '/etc/x'");
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
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_what_a_head_says),
        cmocka_unit_test(test_too_much_of_a_head),
        cmocka_unit_test(test_ends_of_heads),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_chunks_are_bounded),
        cmocka_unit_test(test_what_is_not_for_clients),
        cmocka_unit_test(test_what_a_program_said_is_for_clients),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_token_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
