/*
 * Bytes as a client sends them over a connection, to a server with a token, MCP and a route that
 * echoes. The server must not end, leak or hold anything afterwards; whatever it says is HTTP; and
 * without the token it tells nothing. Bytes are sent in two pieces, the first of which is as long
 * as the first byte says.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "http/chunks.h"
#include "http/head.h"
#include "http/mcp.h"

#define TOKEN "open-sesame-1234"

enum {
    TURNS_MAX = 60,
    ANSWER_MAX = 1 << 20
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];
static char answer[ANSWER_MAX + 1];

/* ---- what is served ---- */

static void run_secret(struct mcp_call *call, void *data)
{
    (void)data;
    mcp_call_progress(call, 1, 2, "m");
    mcp_call_finish(call, json_pack("{s:[o]}", "content", mcp_text("SECRET")));
}

static void run_wait(struct mcp_call *call, void *data)
{
    (void)call;
    (void)data;
}

static void echo(struct http_exchange *x, void *data)
{
    size_t len = 0;
    const char *body = http_body(x, &len);

    (void)data;
    if (http_accepts_by_name(x, "text/event-stream")) {
        http_stream_begin(x);
        http_stream_send(x, "SECRET", "1", 1);
        http_stream_end(x);
    } else if (http_need_json(x)) {
        http_set_header(x, "X-What", "SECRET");
        http_reply(x, 200, "application/json", body, len);
    }
}

static struct mcp_server *offer(struct event_base *base)
{
    const struct mcp_server_spec spec = { .base = base, .name = "f", .version = "1" };
    struct mcp_server *server = mcp_server_new(&spec);
    struct gb_err err;
    static const struct {
        const char *name;
        mcp_handler run;
    } tools[] = { { "secret", run_secret }, { "wait", run_wait } };

    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (mcp_server_add_tool(
                server,
                json_pack("{s:s,s:{s:s}}", "name", tools[i].name, "inputSchema", "type", "object"),
                tools[i].run, NULL, &err) < 0)
            abort();
    return server;
}

/* ---- the client ---- */

static int connect_to(void)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    memcpy(a.sun_path, path, strlen(path) + 1);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
        abort();
    return fd;
}

static void turn(struct event_base *base, int n)
{
    for (int i = 0; i < n; i++)
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
}

/* Talk, and give back how much was answered. */
static size_t talk(struct event_base *base, const char *data, size_t len, size_t cut)
{
    auto_close int fd = connect_to();
    size_t n = 0;
    bool is_shut = false;

    (void)!send(fd, data, cut, MSG_NOSIGNAL);
    turn(base, 4);
    (void)!send(fd, data + cut, len - cut, MSG_NOSIGNAL);
    for (int i = 0; i < TURNS_MAX; i++) {
        ssize_t got;

        turn(base, 1);
        got = recv(fd, answer + n, ANSWER_MAX - n, 0);
        if (got > 0)
            n += (size_t)got;
        else if (got == 0 || errno != EAGAIN || (is_shut && i > 20))
            break;
        if (i == 10 && !is_shut)
            is_shut = shutdown(fd, SHUT_WR) == 0;
    }
    return n;
}

/* ---- what must hold ---- */

/* How a body ends, and what was in it, does not depend on how it was cut. */
static void judge_chunks(const char *text, size_t len, size_t cut)
{
    struct evbuffer *in[2] = { evbuffer_new(), evbuffer_new() };
    struct chunks c[2] = { { 0 } };
    struct gb_buf out[2];
    enum chunks_said said[2];

    for (int i = 0; i < 2; i++)
        gb_buf_init(&out[i], ANSWER_MAX);
    (void)evbuffer_add(in[0], text, len);
    said[0] = chunks_take(&c[0], in[0], &out[0], ANSWER_MAX);
    (void)evbuffer_add(in[1], text, cut);
    said[1] = chunks_take(&c[1], in[1], &out[1], ANSWER_MAX);
    (void)evbuffer_add(in[1], text + cut, len - cut);
    if (said[1] == CHUNKS_MORE)
        said[1] = chunks_take(&c[1], in[1], &out[1], ANSWER_MAX);
    if (said[0] != said[1] || out[0].len != out[1].len ||
        (out[0].len > 0 && memcmp(out[0].data, out[1].data, out[0].len) != 0) ||
        (said[0] == CHUNKS_OVER && evbuffer_get_length(in[0]) != evbuffer_get_length(in[1])))
        abort();
    for (int i = 0; i < 2; i++) {
        gb_buf_done(&out[i]);
        evbuffer_free(in[i]);
    }
}

/* Nor does where a head ends; and of one that is taken, its length is said in one way. */
static void judge_head(const char *text, size_t len, size_t cut)
{
    size_t whole = 0, pieces = 0;
    int end = head_find_end(text, len, &whole), early = head_find_end(text, cut, &pieces);
    struct head h;

    if ((early != 0 ? early : head_find_end(text, len, &pieces)) != end)
        abort();
    if (end <= 0)
        return;
    if (!head_parse(&h, text, (size_t)end) &&
        (strpbrk(h.path, " #?") || (h.is_chunked && head_get(&h, "Content-Length")) ||
         (!h.is_http_1_0 && !head_get(&h, "Host"))))
        abort();
    head_done(&h);
}

static void judge(const char *data, size_t len, size_t n)
{
    answer[n] = '\0';
    if (n > 0 && (n < 12 || strncmp(answer, "HTTP/", 5) != 0))
        abort();
    if (!memmem(data, len, TOKEN, strlen(TOKEN)) && memmem(answer, n, "SECRET", 6))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    size_t len = size > 0 ? size - 1 : 0;
    size_t cut = size > 0 ? data[0] * (len + 1) / 256 : 0;
    struct event_base *base = event_base_new();
    struct mcp_server *mcp = offer(base);
    struct http_spec spec = { .base = base, .limits = http_default_limits, .token = TOKEN };
    struct gb_err err;
    struct http_server *http = http_server_new(&spec, &err);
    struct http_mcp *endpoint = http_mcp_new(&(struct http_mcp_spec){ .base = base, .mcp = mcp });
    size_t n;

    judge_chunks(text, len, cut);
    judge_head(text, len, cut);
    if (!*path)
        (void)snprintf(path, sizeof(path), "/tmp/fuzz_http.%d", (int)getpid());
    http_mcp_route(endpoint, http, "/mcp");
    http_server_route(http,
                      &(struct http_route){ "/echo", HTTP_POST | HTTP_GET, false, echo, NULL });
    if (http_server_listen(http, path, &err) < 0)
        abort();
    n = talk(base, text, len, cut);
    judge(text, len, n);
    turn(base, 30);
    if (http_server_counts(http).connections > 1 || http_server_counts(http).held_bytes > size)
        abort();
    (void)http_server_free(http);
    (void)http_mcp_free(endpoint);
    (void)mcp_server_free(mcp);
    event_base_free(base);
    return 0;
}
