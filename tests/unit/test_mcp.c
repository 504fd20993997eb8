/* The protocol core with a transport that only remembers. What needs an engine is tested end to
 * end. */
#include "mcp/mcp.h"

#include "base/json.h"
#include "unit.h"

struct wire {
    struct event_base *base;
    struct mcp_server *server;
    struct mcp_peer *peer;
    json_t *sent; /* {"message", "tag", "status", "kind"} */
    int n_dropped;
    bool is_full;
    bool frees_peer; /* when a response is sent, as an HTTP face does */
    /* the tool */
    struct mcp_call *held;
    int n_cancelled;
    json_t *answers;
};

static void on_send(void *data, const struct mcp_outgoing *m)
{
    struct wire *w = data;

    assert_int_equal(strlen(m->text), m->len);
    json_array_append_new(w->sent,
                          json_pack("{s:o,s:I,s:i,s:i}", "message", json_loads(m->text, 0, NULL),
                                    "tag", (json_int_t)(intptr_t)m->tag, "status", m->http_status,
                                    "kind", m->kind));
    if (w->frees_peer && m->kind == RPC_RESPONSE)
        w->peer = mcp_peer_free(w->peer);
}

static void on_dropped(void *data, void *tag)
{
    struct wire *w = data;

    (void)tag;
    w->n_dropped++;
}

static bool is_full(void *data)
{
    return ((struct wire *)data)->is_full;
}

static const struct mcp_peer_ops ops = { .send = on_send,
                                         .dropped = on_dropped,
                                         .is_full = is_full };

static void on_cancel(struct mcp_call *call, void *data)
{
    struct wire *w = data;

    (void)call;
    w->n_cancelled++;
    w->held = NULL;
}

static void echo(struct mcp_call *call, void *data)
{
    (void)data;
    mcp_call_finish(
        call, json_pack("{s:[],s:O}", "content", "structuredContent", mcp_call_arguments(call)));
}

static void hold(struct mcp_call *call, void *data)
{
    struct wire *w = data;

    w->held = call;
    mcp_call_on_cancel(call, on_cancel, w);
}

static void on_answers(struct mcp_call *call, void *data, const json_t *answers)
{
    struct wire *w = data;

    json_decref(w->answers);
    w->answers = json_incref(json_shared(answers));
    w->held = NULL;
    mcp_call_finish(call, json_pack("{s:[o]}", "content", mcp_text("done")));
}

static void ask(struct mcp_call *call, void *data)
{
    struct wire *w = data;
    json_t *requests = json_pack("{s:{s:s,s:{}},s:{s:s,s:{}}}", "a", "method", "elicitation/create",
                                 "params", "b", "method", "roots/list", "params");

    w->held = call;
    mcp_call_on_cancel(call, on_cancel, w);
    assert_int_equal(mcp_call_ask(call, requests, on_answers, w), 0);
}

static json_t *tool(const char *name)
{
    return json_pack("{s:s,s:s,s:{s:s}}", "name", name, "description", "x", "inputSchema", "type",
                     "object");
}

static struct mcp_peer *new_peer(struct wire *w, const char *principal)
{
    const struct mcp_peer_spec spec = { .ops = &ops, .data = w, .principal = principal };

    return mcp_peer_new(w->server, &spec);
}

static int set_up(void **state)
{
    struct wire *w = calloc(1, sizeof(*w));
    struct mcp_server_spec spec = { .name = "unit",
                                    .version = "1",
                                    .page_size = 2,
                                    .ask_ttl_ms = 60000,
                                    .has_logging = true,
                                    .has_subscriptions = true };
    struct gb_err err;

    w->base = spec.base = event_base_new();
    w->server = mcp_server_new(&spec);
    w->sent = json_array();
    assert_int_equal(mcp_server_add_tool(w->server, tool("echo"), echo, w, &err), 0);
    assert_int_equal(mcp_server_add_tool(w->server, tool("hold"), hold, w, &err), 0);
    assert_int_equal(mcp_server_add_tool(w->server, tool("ask"), ask, w, &err), 0);
    w->peer = new_peer(w, "me");
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct wire *w = *state;

    (void)mcp_peer_free(w->peer);
    (void)mcp_server_free(w->server);
    event_base_free(w->base);
    json_decref(w->sent);
    json_decref(w->answers);
    free(w);
    return 0;
}

static void say_with(struct wire *w, const char *text, const struct mcp_arrival *how)
{
    struct rpc_message m;
    struct rpc_problem p;

    if (rpc_read(text, strlen(text), &m, &p) == 0)
        mcp_peer_take(w->peer, &m, how);
    else
        mcp_peer_refuse(w->peer, &p, how);
    rpc_message_done(&m);
    rpc_problem_done(&p);
}

static void say(struct wire *w, const char *text)
{
    say_with(w, text, NULL);
}

/* What was sent first, and has not been looked at. */
static json_t *hear(struct wire *w)
{
    json_t *first = json_incref(json_array_get(w->sent, 0));

    assert_non_null(first);
    json_array_remove(w->sent, 0);
    return first;
}

static int hear_error(struct wire *w)
{
    auto_json json_t *sent = hear(w);
    const json_t *error = json_object_get(json_object_get(sent, "message"), "error");

    assert_non_null(error);
    return (int)json_integer_value(json_object_get(error, "code"));
}

static const char handshake[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-11-25\",\"capabilities\":{\"elicitation\":{},\"roots\":{}}}}";

#define META                                                                 \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{},\"roots\":{}}}"

static void begin_legacy(struct wire *w)
{
    say(w, handshake);
    json_decref(hear(w));
}

/* ---- tests ---- */

static void test_pages(void **state)
{
    struct wire *w = *state;
    auto_json json_t *first = NULL, *second = NULL;
    const json_t *result;

    begin_legacy(w);
    say(w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    first = hear(w);
    result = json_object_get(json_object_get(first, "message"), "result");
    assert_int_equal(json_array_size(json_object_get(result, "tools")), 2);
    assert_string_equal(json_string_at(result, "nextCursor", ""), "p2");
    say(w,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"cursor\":\"p2\"}}");
    second = hear(w);
    result = json_object_get(json_object_get(second, "message"), "result");
    assert_int_equal(json_array_size(json_object_get(result, "tools")), 1);
    assert_null(json_object_get(result, "nextCursor"));
    say(w,
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{\"cursor\":\"p3\"}}");
    assert_int_equal(hear_error(w), RPC_INVALID_PARAMS);
}

static void test_a_list_that_changed_is_told_once_and_only_then(void **state)
{
    struct wire *w = *state;
    struct gb_err err;
    auto_json json_t *told = NULL;

    begin_legacy(w);
    assert_int_equal(mcp_server_add_tool(w->server, tool("more"), echo, w, &err), 0);
    (void)event_base_loop(w->base, EVLOOP_NONBLOCK);
    assert_int_equal(json_array_size(w->sent), 0); /* it is not ready */
    say(w, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    assert_true(mcp_server_remove_tool(w->server, "more"));
    assert_false(mcp_server_remove_tool(w->server, "more"));
    assert_int_equal(mcp_server_add_tool(w->server, tool("other"), echo, w, &err), 0);
    (void)event_base_loop(w->base, EVLOOP_NONBLOCK);
    assert_int_equal(json_array_size(w->sent), 1);
    told = hear(w);
    assert_string_equal(json_string_at(json_object_get(told, "message"), "method", ""),
                        "notifications/tools/list_changed");
}

static void test_a_call_that_is_cancelled_says_nothing(void **state)
{
    struct wire *w = *state;

    begin_legacy(w);
    say(w,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}");
    assert_non_null(w->held);
    assert_true(mcp_peer_is_busy(w->peer));
    say(w, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
           "cancelled\",\"params\":{\"requestId\":1}}");
    assert_int_equal(w->n_cancelled, 1);
    assert_int_equal(w->n_dropped, 1);
    assert_int_equal(json_array_size(w->sent), 0);
    assert_false(mcp_peer_is_busy(w->peer));
}

static void test_a_peer_that_goes_cancels_what_it_asked_for(void **state)
{
    struct wire *w = *state;

    begin_legacy(w);
    say(w,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}");
    w->peer = mcp_peer_free(w->peer);
    assert_int_equal(w->n_cancelled, 1);
    assert_int_equal(w->n_dropped, 0);
    assert_int_equal(mcp_server_counts(w->server).calls, 0);
}

static void test_progress_only_grows_and_gives_way(void **state)
{
    struct wire *w = *state;

    begin_legacy(w);
    say(w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\","
           "\"_meta\":{\"progressToken\":\"t\"}}}");
    mcp_call_progress(w->held, 1, -1, NULL);
    mcp_call_progress(w->held, 1, -1, NULL);
    mcp_call_progress(w->held, 0, -1, NULL);
    assert_int_equal(json_array_size(w->sent), 1);
    w->is_full = true;
    mcp_call_progress(w->held, 2, -1, NULL);
    assert_int_equal(json_array_size(w->sent), 1);
    w->is_full = false;
    mcp_call_progress(w->held, 2, 10, "m");
    assert_int_equal(json_array_size(w->sent), 2);
}

static void test_legacy_questions(void **state)
{
    struct wire *w = *state;
    auto_json json_t *one = NULL;

    begin_legacy(w);
    say(w,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\"}}");
    one = hear(w);
    json_decref(hear(w));
    assert_int_equal(json_integer_value(json_object_get(one, "kind")), RPC_REQUEST);
    say(w, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":1,\"message\":\"no\"}}");
    assert_null(w->answers);
    say(w, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"); /* it was answered */
    assert_null(w->answers);
    say(w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\"}}");
    assert_string_equal(json_string_at(json_object_get(w->answers, "a"), "action", ""), "accept");
    assert_true(json_is_null(json_object_get(w->answers, "b")));
    json_decref(hear(w));
}

/* Ask in the modern era; returns the state, and the HTTP status that the answer had. */
static char *park(struct wire *w, const char *name)
{
    auto_json json_t *sent = NULL;
    auto_free char *text = NULL;
    const json_t *result;

    assert_true(asprintf(&text,
                         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                         "\"name\":\"%s\"," META "}}",
                         name) > 0);
    say(w, text);
    sent = hear(w);
    result = json_object_get(json_object_get(sent, "message"), "result");
    assert_string_equal(json_string_at(result, "resultType", ""), "input_required");
    return strdup(json_string_at(result, "requestState", ""));
}

static void resume(struct wire *w, const char *name, const char *requests_state,
                   const char *responses)
{
    auto_free char *text = NULL;

    assert_true(asprintf(&text,
                         "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
                         "\"name\":\"%s\",\"requestState\":\"%s\",\"inputResponses\":%s," META "}}",
                         name, requests_state, responses) > 0);
    say(w, text);
}

static void test_a_modern_question_outlives_its_peer(void **state)
{
    struct wire *w = *state;
    auto_free char *parked = NULL;
    auto_json json_t *done = NULL;

    w->frees_peer = true;
    parked = park(w, "ask");
    assert_null(w->peer);
    assert_int_equal(mcp_server_counts(w->server).parked, 1);
    w->peer = new_peer(w, "me");
    resume(w, "ask", parked, "{\"a\":{},\"b\":{}}");
    done = hear(w);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(done, "message"), "id")),
                     2);
    assert_int_equal(mcp_server_counts(w->server).parked, 0);
    assert_int_equal(json_object_size(w->answers), 2);
}

static void test_a_modern_question_is_its_principals(void **state)
{
    struct wire *w = *state;
    auto_free char *parked = park(w, "ask");

    (void)mcp_peer_free(w->peer);
    w->peer = new_peer(w, "somebody else");
    resume(w, "ask", parked, "{\"a\":{},\"b\":{}}");
    assert_int_equal(hear_error(w), RPC_INVALID_PARAMS);
    (void)mcp_peer_free(w->peer);
    w->peer = new_peer(w, NULL);
    resume(w, "ask", parked, "{\"a\":{},\"b\":{}}");
    assert_int_equal(hear_error(w), RPC_INVALID_PARAMS);
    assert_null(w->answers);
    assert_int_equal(mcp_server_counts(w->server).parked, 1);
}

static void test_only_what_is_missing_is_asked_again(void **state)
{
    struct wire *w = *state;
    auto_free char *parked = park(w, "ask"), *next = NULL;
    auto_json json_t *again = NULL;
    const json_t *result;

    resume(w, "ask", parked, "{\"b\":{\"roots\":[]}}");
    again = hear(w);
    result = json_object_get(json_object_get(again, "message"), "result");
    assert_int_equal(json_object_size(json_object_get(result, "inputRequests")), 1);
    next = strdup(json_string_at(result, "requestState", ""));
    resume(w, "ask", parked, "{\"a\":{}}");
    assert_int_equal(hear_error(w), RPC_INVALID_PARAMS);
    resume(w, "ask", next, "{\"a\":{}}");
    json_decref(hear(w));
    assert_int_equal(json_object_size(w->answers), 2);
}

static void test_what_ends_while_it_is_parked_is_told_later(void **state)
{
    struct wire *w = *state;
    auto_free char *parked = park(w, "ask");
    auto_json json_t *done = NULL;
    const json_t *message;

    mcp_call_finish(w->held, json_pack("{s:[o]}", "content", mcp_text("ended")));
    assert_int_equal(json_array_size(w->sent), 0);
    resume(w, "ask", parked, "{}");
    done = hear(w);
    message = json_object_get(done, "message");
    assert_int_equal(json_integer_value(json_object_get(message, "id")), 2);
    assert_non_null(json_object_get(json_object_get(message, "result"), "content"));
    assert_int_equal(mcp_server_counts(w->server).parked, 0);
}

static void test_only_so_many_can_be_parked(void **state)
{
    struct wire *w = *state;

    for (int i = 0; i < 256; i++)
        free(park(w, "ask"));
    assert_int_equal(mcp_server_counts(w->server).parked, 256);
    w->n_cancelled = 0;
    w->peer = mcp_peer_free(w->peer);
    assert_int_equal(w->n_cancelled, 0);
}

static void test_a_detached_call_is_not_answered(void **state)
{
    struct wire *w = *state;
    struct mcp_arrival how = { .tag = w };

    begin_legacy(w);
    say_with(
        w,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\","
        "\"_meta\":{\"progressToken\":1}}}",
        &how);
    mcp_peer_detach(w->peer, w);
    mcp_call_progress(w->held, 1, -1, NULL);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(w->sent, 0), "tag")), 0);
    mcp_call_finish(w->held, json_object());
    assert_int_equal(json_array_size(w->sent), 1);
}

/* ---- headers ---- */

struct header {
    const char *name, *value;
};

static const char *get_header(void *data, const char *name)
{
    for (const struct header *h = data; h->name; h++)
        if (strcasecmp(h->name, name) == 0)
            return h->value;
    return NULL;
}

static void test_headers_and_their_order(void **state)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                               "call\",\"params\":{\"name\":\"echo\"," META "}}";
    static struct {
        struct header headers[4];
        int code, status;
    } cases[] = {
        { { { NULL, NULL } }, RPC_HEADER_MISMATCH, 400 },
        { { { "mcp-protocol-version", "2025-11-25" } }, RPC_HEADER_MISMATCH, 400 },
        { { { "mcp-protocol-version", "2026-07-28" } }, RPC_HEADER_MISMATCH, 400 },
        { { { "mcp-protocol-version", "2026-07-28" }, { "mcp-method", "tools/list" } },
          RPC_HEADER_MISMATCH,
          400 },
        { { { "mcp-protocol-version", "2026-07-28" }, { "mcp-method", "tools/call" } },
          RPC_HEADER_MISMATCH,
          400 },
        { { { "mcp-protocol-version", "2026-07-28" },
            { "mcp-method", "tools/call" },
            { "mcp-name", "Echo" } },
          RPC_HEADER_MISMATCH,
          400 },
        { { { "mcp-protocol-version", "2026-07-28" },
            { "mcp-method", "tools/call" },
            { "mcp-name", "=?base64?!?=" } },
          RPC_HEADER_MISMATCH,
          400 },
        { { { "mcp-protocol-version", "2026-07-28" },
            { "mcp-method", "tools/call" },
            { "mcp-name", "=?base64?ZWNobw?=" } }, /* without its padding */
          RPC_HEADER_MISMATCH,
          400 },
        { { { "mcp-protocol-version", "2026-07-28" },
            { "mcp-method", "tools/call" },
            { "mcp-name", "echo" } },
          0,
          200 },
        { { { "mcp-protocol-version", "2026-07-28" },
            { "mcp-method", "tools/call" },
            { "mcp-name", "=?base64?ZWNobw==?=" } },
          0,
          200 },
    };
    struct wire *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct mcp_headers headers = { .get = get_header, .data = cases[i].headers };
        const struct mcp_arrival how = { .tag = w, .headers = &headers };
        auto_json json_t *sent = NULL;
        const json_t *error;

        say_with(w, text, &how);
        sent = hear(w);
        error = json_object_get(json_object_get(sent, "message"), "error");
        assert_int_equal(json_integer_value(json_object_get(error, "code")), cases[i].code);
        assert_int_equal(json_integer_value(json_object_get(sent, "status")), cases[i].status);
        assert_true(json_integer_value(json_object_get(sent, "tag")) == (json_int_t)(intptr_t)w);
    }
}

static void test_http_status(void **state)
{
    static const struct {
        const char *text;
        int code, status;
    } cases[] = {
        { "{", RPC_PARSE_ERROR, 400 },
        { "[]", RPC_INVALID_REQUEST, 400 },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{" META "}}",
          RPC_METHOD_NOT_FOUND, 404 },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{" META "}}",
          RPC_METHOD_NOT_FOUND, 404 },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"," META
          "}}",
          RPC_INVALID_PARAMS, 400 },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
          "\"io.modelcontextprotocol/protocolVersion\":\"x\","
          "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
          RPC_UNSUPPORTED_VERSION, 400 },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
          "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
          RPC_INVALID_PARAMS, 400 },
    };
    struct wire *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json json_t *sent = NULL;
        const json_t *error;

        say(w, cases[i].text);
        sent = hear(w);
        error = json_object_get(json_object_get(sent, "message"), "error");
        assert_int_equal(json_integer_value(json_object_get(error, "code")), cases[i].code);
        assert_int_equal(json_integer_value(json_object_get(sent, "status")), cases[i].status);
    }
}

static void test_offers_that_are_none(void **state)
{
    struct wire *w = *state;
    struct gb_err err;

    assert_int_equal(mcp_server_add_tool(w->server, json_object(), echo, w, &err), -1);
    assert_int_equal(mcp_server_add_tool(w->server, json_pack("{s:s}", "name", "x"), echo, w, &err),
                     -1);
    assert_int_equal(mcp_server_add_tool(w->server, NULL, echo, w, &err), -1);
    assert_null(mcp_server_tool(w->server, "x"));
    assert_non_null(mcp_server_tool(w->server, "echo"));
}

static void read_any(struct mcp_call *call, void *data)
{
    (void)data;
    mcp_call_finish(
        call, json_pack("{s:[{s:s,s:s}]}", "contents", "uri", mcp_call_target(call), "text", "x"));
}

static void test_templates(void **state)
{
    static const struct {
        const char *uri;
        bool is_there;
    } cases[] = {
        { "t://a/1/data", true },   { "t://a/1/2/data", false }, { "t://a//data", false },
        { "t://a/1/data/", false }, { "t://a/1", false },        { "t://b/x/y/z", true },
        { "t://b/", false },        { "t://c/x", false },        { "t://a/data/data", true },
    };
    struct wire *w = *state;
    struct gb_err err;

    assert_int_equal(mcp_server_add_template(
                         w->server,
                         json_pack("{s:s,s:s}", "uriTemplate", "t://a/{id}/data", "name", "a"),
                         read_any, w, &err),
                     0);
    assert_int_equal(
        mcp_server_add_template(w->server,
                                json_pack("{s:s,s:s}", "uriTemplate", "t://b/{+path}", "name", "b"),
                                read_any, w, &err),
        0);
    begin_legacy(w);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_free char *text = NULL;
        auto_json json_t *sent = NULL;

        assert_true(asprintf(&text,
                             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
                             "\"params\":{\"uri\":\"%s\"}}",
                             cases[i].uri) > 0);
        say(w, text);
        sent = hear(w);
        assert_int_equal(json_object_get(json_object_get(sent, "message"), "result") != NULL,
                         cases[i].is_there);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pages),
        TEST(test_a_list_that_changed_is_told_once_and_only_then),
        TEST(test_a_call_that_is_cancelled_says_nothing),
        TEST(test_a_peer_that_goes_cancels_what_it_asked_for),
        TEST(test_progress_only_grows_and_gives_way),
        TEST(test_legacy_questions),
        TEST(test_a_modern_question_outlives_its_peer),
        TEST(test_a_modern_question_is_its_principals),
        TEST(test_only_what_is_missing_is_asked_again),
        TEST(test_what_ends_while_it_is_parked_is_told_later),
        TEST(test_only_so_many_can_be_parked),
        TEST(test_a_detached_call_is_not_answered),
        TEST(test_headers_and_their_order),
        TEST(test_http_status),
        TEST(test_offers_that_are_none),
        TEST(test_templates),
    };

    return cmocka_run_group_tests_name("mcp", tests, NULL, NULL);
}
