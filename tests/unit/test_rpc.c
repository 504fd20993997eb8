#include "mcp/rpc.h"

#include "base/json.h"
#include "mcp/state.h"
#include "unit.h"

/* ---- reading ---- */

static int read_text(const char *text, struct rpc_message *m, struct rpc_problem *p)
{
    return rpc_read(text, strlen(text), m, p);
}

static void test_kinds(void **state)
{
    static const struct {
        const char *text;
        enum rpc_kind kind;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}", RPC_REQUEST },
        { "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"a\",\"params\":{}}", RPC_REQUEST },
        { "{\"jsonrpc\":\"2.0\",\"method\":\"a\"}", RPC_NOTIFICATION },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", RPC_RESPONSE },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"x\"}}", RPC_RESPONSE },
        { "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"x\"}}",
          RPC_RESPONSE },
        { "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"x\"}}", RPC_RESPONSE },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rpc_message m;
        struct rpc_problem p;

        assert_int_equal(read_text(cases[i].text, &m, &p), 0);
        assert_int_equal(m.kind, cases[i].kind);
        assert_int_equal(m.bytes, strlen(cases[i].text));
        rpc_message_done(&m);
        rpc_problem_done(&p);
    }
}

static void test_depth_and_size_are_told_without_parsing(void **state)
{
    static const char start[] = "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"\\\"\":\"";
    static char text[RPC_BYTES_MAX + 2];
    struct rpc_message m;
    struct rpc_problem p;

    (void)state;
    memset(text, '[', sizeof(text) - 1);
    assert_int_equal(rpc_read(text, RPC_DEPTH_MAX + 1, &m, &p), -1);
    assert_int_equal(p.code, RPC_INVALID_REQUEST);
    assert_int_equal(rpc_read(text, RPC_DEPTH_MAX, &m, &p), -1);
    assert_int_equal(p.code, RPC_PARSE_ERROR);
    assert_int_equal(rpc_read(text, RPC_BYTES_MAX + 1, &m, &p), -1);
    assert_int_equal(p.code, RPC_INVALID_REQUEST);

    /* brackets in strings are no depth */
    memcpy(text, start, sizeof(start) - 1);
    memcpy(text + 2000, "\"}}", 4);
    assert_int_equal(read_text(text, &m, &p), 0);
    rpc_message_done(&m);
}

static void test_an_id_that_could_be_read_is_kept(void **state)
{
    struct rpc_message m;
    struct rpc_problem p;

    (void)state;
    assert_int_equal(read_text("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":5}", &m, &p), -1);
    assert_string_equal(json_string_value(p.id), "x");
    rpc_problem_done(&p);
    assert_null(p.id);
}

static void test_ids(void **state)
{
    auto_json json_t *one = json_integer(1), *other = json_integer(1), *text = json_string("1");

    (void)state;
    assert_true(rpc_id_equal(one, other));
    assert_false(rpc_id_equal(one, text));
    assert_false(rpc_id_equal(one, NULL));
    assert_false(rpc_id_equal(NULL, NULL));
}

/* ---- writing ---- */

static void test_what_is_written_can_be_read(void **state)
{
    auto_json json_t *id = json_string("a\n\"");
    json_t *const made[] = { rpc_request(id, "m", json_pack("{s:s}", "x", "line\nbreak")),
                             rpc_notification("m", NULL), rpc_result(id, json_object()),
                             rpc_error(id, -5, "no", json_true()),
                             rpc_error(NULL, -5, "no", NULL) };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(made); i++) {
        struct rpc_message m;
        struct rpc_problem p;
        size_t len = 0;
        auto_free char *text = rpc_text(made[i], &len);

        assert_non_null(text);
        assert_null(strchr(text, '\n'));
        assert_int_equal(rpc_read(text, len, &m, &p), 0);
        assert_true(json_equal(m.json, made[i]));
        rpc_message_done(&m);
        json_decref(made[i]);
    }
}

/* ---- lines ---- */

static void feed(struct rpc_lines *l, const char *text, size_t len)
{
    char *room = rpc_lines_room(l, len);

    assert_non_null(room);
    memcpy(room, text, len);
    rpc_lines_add(l, len);
}

/* What the lines are, joined by '|'. */
static void join(struct rpc_lines *l, char ret[64])
{
    const char *line = NULL;
    size_t len = 0;

    while (rpc_lines_next(l, &line, &len) == RPC_LINE_ONE) {
        size_t used = strlen(ret);

        (void)snprintf(ret + used, 64 - used, "%.*s|", (int)len, line);
    }
}

static void test_lines_in_any_pieces(void **state)
{
    static const char text[] = "one\n\n  \t\r\ntwo\r\nthree\n\nfour";

    (void)state;
    for (size_t step = 1; step < sizeof(text); step++) {
        struct rpc_lines l = { 0 };
        char found[64] = "";

        for (size_t at = 0; at < sizeof(text) - 1; at += step) {
            feed(&l, text + at, sizeof(text) - 1 - at < step ? sizeof(text) - 1 - at : step);
            join(&l, found);
        }
        assert_string_equal(found, "one|two|three|");
        assert_int_equal(rpc_lines_rest(&l), 4);
        rpc_lines_done(&l);
    }
}

static void test_a_line_that_is_too_long_is_told_of_once(void **state)
{
    enum {
        PIECE = 1 << 20
    };
    static char piece[PIECE];
    struct rpc_lines l = { 0 };
    const char *line = NULL;
    size_t len = 0, told = 0;

    (void)state;
    memset(piece, 'x', sizeof(piece));
    for (int i = 0; i < 30; i++) {
        feed(&l, piece, sizeof(piece));
        told += rpc_lines_next(&l, &line, &len) == RPC_LINE_LONG;
    }
    assert_int_equal(told, 1);
    assert_true(l.cap <= (size_t)RPC_BYTES_MAX * 2);
    feed(&l, "end\nnext\n", 9);
    assert_int_equal(rpc_lines_next(&l, &line, &len), RPC_LINE_ONE);
    assert_memory_equal(line, "next", 4);

    /* one that comes with its end is skipped as well */
    for (int i = 0; i < 9; i++)
        feed(&l, piece, sizeof(piece));
    feed(&l, "\nlast\n", 6);
    assert_int_equal(rpc_lines_next(&l, &line, &len), RPC_LINE_LONG);
    assert_int_equal(rpc_lines_next(&l, &line, &len), RPC_LINE_ONE);
    assert_memory_equal(line, "last", 4);
    rpc_lines_done(&l);
}

/* ---- requestState ---- */

static void test_state_round_trip(void **state)
{
    static const unsigned char key[STATE_KEY_BYTES] = "a key of thirty-two bytes, or so";
    const struct state in = { .id = "sixteen bytes!!", .expires_ms = 0x0123456789abcdef };
    char text[STATE_TEXT];
    struct state out;

    (void)state;
    state_write(key, &in, "bound", 5, text);
    assert_int_equal(strlen(text), STATE_TEXT - 1);
    assert_int_equal(
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
        STATE_TEXT - 1);
    assert_true(state_read(key, text, STATE_TEXT - 1, "bound", 5, &out));
    assert_memory_equal(in.id, out.id, sizeof(in.id));
    assert_true(in.expires_ms == out.expires_ms);
}

static void test_state_that_differs_anywhere_is_none(void **state)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    static const unsigned char key[STATE_KEY_BYTES] = "a key of thirty-two bytes, or so";
    static const unsigned char other[STATE_KEY_BYTES] = "a key of thirty-two bytes, or sO";
    const struct state in = { .expires_ms = 5 };
    char text[STATE_TEXT];
    struct state out;

    (void)state;
    state_write(key, &in, "bound", 5, text);
    assert_false(state_read(other, text, STATE_TEXT - 1, "bound", 5, &out));
    assert_false(state_read(key, text, STATE_TEXT - 1, "Bound", 5, &out));
    assert_false(state_read(key, text, STATE_TEXT - 1, "bound", 4, &out));
    assert_false(state_read(key, text, STATE_TEXT - 2, "bound", 5, &out));
    assert_false(state_read(key, "", 0, "bound", 5, &out));
    for (size_t at = 0; at < STATE_TEXT - 1; at++) {
        char was = text[at];

        for (const char *c = letters; *c; c++) {
            text[at] = *c;
            assert_int_equal(state_read(key, text, STATE_TEXT - 1, "bound", 5, &out), *c == was);
        }
        text[at] = was;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_depth_and_size_are_told_without_parsing),
        cmocka_unit_test(test_an_id_that_could_be_read_is_kept),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_what_is_written_can_be_read),
        cmocka_unit_test(test_lines_in_any_pieces),
        cmocka_unit_test(test_a_line_that_is_too_long_is_told_of_once),
        cmocka_unit_test(test_state_round_trip),
        cmocka_unit_test(test_state_that_differs_anywhere_is_none),
    };

    return cmocka_run_group_tests_name("rpc", tests, NULL, NULL);
}
