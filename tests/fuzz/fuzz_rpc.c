/*
 * Bytes as a client sends them, in both eras, to a server with a tool that answers, one that waits
 * and one that asks. Nothing may be sent that is not a message, nothing may leak, and nothing may
 * be left.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "mcp/mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *last_state; /* that was given: so that the fuzzer gets past the authentication */

static void on_send(void *data, const struct mcp_outgoing *m)
{
    struct rpc_message message;
    struct rpc_problem problem;

    (void)data;
    if (m->len > RPC_BYTES_MAX)
        return;
    if (memchr(m->text, '\n', m->len) || rpc_read(m->text, m->len, &message, &problem) < 0)
        abort();
    if (json_object_get(message.result, "requestState")) {
        free(last_state);
        last_state = strdup(json_string_at(message.result, "requestState", ""));
    }
    rpc_message_done(&message);
}

static const struct mcp_peer_ops ops = { .send = on_send };

static void answer(struct mcp_call *call, void *data)
{
    (void)data;
    mcp_call_progress(call, 1, 2, "m");
    mcp_call_log(call, MCP_WARNING, "l", json_true());
    mcp_call_finish(call, json_pack("{s:[o]}", "content", mcp_text("x")));
}

static void wait_for_ever(struct mcp_call *call, void *data)
{
    (void)call;
    (void)data;
}

static void answered(struct mcp_call *call, void *data, const json_t *answers)
{
    (void)data;
    if (json_object_size(answers) != 1)
        abort();
    mcp_call_finish(call, json_object());
}

static void ask(struct mcp_call *call, void *data)
{
    json_t *request = json_pack("{s:{s:s,s:{}}}", "k", "method", "elicitation/create", "params");

    if (mcp_call_ask(call, request, answered, data) < 0)
        mcp_call_refuse(call, "no");
}

static void offer(struct mcp_server *server, const char *name, mcp_handler run)
{
    json_t *tool = json_pack("{s:s,s:{s:s,s:{s:{s:s,s:s}}}}", "name", name, "inputSchema", "type",
                             "object", "properties", "x", "type", "integer", "x-mcp-header", "X");
    struct gb_err err;

    if (mcp_server_add_tool(server, tool, run, NULL, &err) < 0)
        abort();
}

static const char *get_header(void *data, const char *name)
{
    return strcmp(name, "Mcp-Name") == 0 ? data : NULL;
}

/* A line; "@" in it stands for the last requestState. */
static void take(struct mcp_peer *peer, const char *line, size_t len)
{
    char name[8] = "=?base6";
    const struct mcp_headers headers = { .get = get_header, .data = name };
    const struct mcp_arrival how = { .tag = peer, .headers = len % 16 == 15 ? &headers : NULL };
    const char *at = memchr(line, '@', len);
    auto_free char *text = NULL;
    struct rpc_message message;
    struct rpc_problem problem;
    int n;

    if (at && last_state) {
        n = asprintf(&text, "%.*s%s%.*s", (int)(at - line), line, last_state,
                     (int)(len - 1 - (size_t)(at - line)), at + 1);
        line = text;
        len = n < 0 ? 0 : strlen(text);
    }
    if (rpc_read(line, len, &message, &problem) == 0)
        mcp_peer_take(peer, &message, &how);
    else
        mcp_peer_refuse(peer, &problem, &how);
    rpc_message_done(&message);
    rpc_problem_done(&problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct event_base *base = event_base_new();
    const struct mcp_server_spec spec = { .base = base,
                                          .name = "f",
                                          .version = "1",
                                          .page_size = 2,
                                          .has_logging = true,
                                          .has_subscriptions = true };
    const struct mcp_peer_spec peer_spec = { .ops = &ops, .principal = "p" };
    struct mcp_server *server = mcp_server_new(&spec);
    struct mcp_peer *peer = mcp_peer_new(server, &peer_spec);
    struct rpc_lines lines = { 0 };
    const char *line;
    size_t len;

    offer(server, "answer", answer);
    offer(server, "wait", wait_for_ever);
    offer(server, "ask", ask);
    for (size_t at = 0; at < size; at += 100) { /* in pieces */
        size_t n = size - at < 100 ? size - at : 100;

        memcpy(rpc_lines_room(&lines, n), data + at, n);
        rpc_lines_add(&lines, n);
        while (rpc_lines_next(&lines, &line, &len) == RPC_LINE_ONE)
            take(peer, line, len);
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
    }
    mcp_peer_farewell(peer);
    (void)mcp_peer_free(peer);
    if (mcp_server_counts(server).calls != 0)
        abort();
    (void)mcp_server_free(server);
    event_base_free(base);
    rpc_lines_done(&lines);
    free(last_state);
    last_state = NULL;
    return 0;
}
