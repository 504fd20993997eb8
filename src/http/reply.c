/* What is sent to a client. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/own.h"
#include "http/core.h"

enum {
    STREAM_FULL_BYTES = 1 << 20,
    STREAM_MOST_BYTES = 64 << 20, /* however much a route sends to who does not read */
    RETRY_SECONDS = 1
};

static const char as_json[] = "application/json";

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    { 200, "OK" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 406, "Not Acceptable" },
    { 413, "Content Too Large" },
    { 414, "URI Too Long" },
    { 415, "Unsupported Media Type" },
    { 417, "Expectation Failed" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 503, "Service Unavailable" },
};

/* ---- heads ---- */

void http_set_header(struct http_exchange *x, const char *name, const char *value)
{
    if (!strpbrk(value, "\r\n")) /* or it would be more than one */
        (void)evbuffer_add_printf(x->lines, "%s: %s\r\n", name, value);
}

static void set_common_headers(struct http_exchange *x)
{
    const char *origin = http_header(x, "Origin");
    time_t now = time(NULL);
    struct tm tm;
    char date[40] = "";

    if (gmtime_r(&now, &tm) && strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm) > 0)
        http_set_header(x, "Date", date);
    http_set_header(x, "Cache-Control", "no-store");
    http_set_header(x, "X-Content-Type-Options", "nosniff");
    if (!origin || !x->is_admitted)
        return;
    http_set_header(x, "Access-Control-Allow-Origin", origin);
    http_set_header(x, "Access-Control-Expose-Headers", "Mcp-Session-Id");
    http_set_header(x, "Vary", "Origin");
}

/* Say whether the connection stays, and send the head. */
static void send_head(struct http_exchange *x, int status)
{
    struct evbuffer *head = evbuffer_new();
    const char *reason = "";

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            reason = reasons[i].reason;
    x->conn->is_last |= !x->head.is_kept || x->server->is_draining || x->conn->is_excess;
    if (x->conn->is_last)
        http_set_header(x, "Connection", "close");
    else if (x->head.is_http_1_0)
        http_set_header(x, "Connection", "keep-alive");
    if (!head) {
        conn_drop(x->conn);
        return;
    }
    (void)evbuffer_add_printf(head, "HTTP/1.1 %d %s\r\n", status, reason);
    (void)evbuffer_add_buffer(head, x->lines);
    (void)evbuffer_add(head, "\r\n", 2);
    conn_send(x->conn, head);
    evbuffer_free(head);
}

void reply_go_ahead(struct http_exchange *x)
{
    struct evbuffer *line = evbuffer_new();

    if (!line)
        return;
    (void)evbuffer_add_printf(line, "HTTP/1.1 100 Continue\r\n\r\n");
    conn_send(x->conn, line);
    evbuffer_free(line);
}

/* ---- whole replies ---- */

static void send_whole(struct http_exchange *x, int status, const char *type, const char *text,
                       size_t len)
{
    struct evbuffer *body = evbuffer_new();
    char length[24];

    if (!body) {
        conn_drop(x->conn);
        return;
    }
    set_common_headers(x);
    if (type)
        http_set_header(x, "Content-Type", type);
    if (status != 204) {
        (void)snprintf(length, sizeof(length), "%zu", len);
        http_set_header(x, "Content-Length", length);
    }
    send_head(x, status);
    /* What is asked with HEAD is told how long it would be, and nothing more. */
    if (len > 0 && status != 204 && strcmp(x->head.method, "HEAD") != 0)
        (void)evbuffer_add(body, text, len);
    conn_send(x->conn, body);
    evbuffer_free(body);
}

void http_reply(struct http_exchange *x, int status, const char *type, const char *text, size_t len)
{
    static const char full[] =
        "{\"status\":\"failed\",\"error\":{\"type\":\"busy\",\"message\":\"too much waits to be "
        "read by clients\",\"hint\":\"\"}}";

    if (!crowd_has_room(x->server, len)) {
        x->server->counts.refused[HTTP_REFUSED_UNREAD]++;
        status = 503;
        type = as_json;
        text = full;
        len = sizeof(full) - 1;
    }
    send_whole(x, status, type, text, len);
    exchange_leave(x, status);
}

void reply_failed(struct http_exchange *x, int status, const char *kind, const char *message,
                  const char *hint)
{
    auto_json json_t *body = json_pack("{s:s,s:{s:s,s:o,s:s}}", "status", "failed", "error", "type",
                                       kind, "message", json_lossy(message), "hint", hint);
    auto_free char *text = body ? json_text(body) : NULL;
    char seconds[16];

    (void)snprintf(seconds, sizeof(seconds), "%d", RETRY_SECONDS);
    if (status == 503 || status == 429)
        http_set_header(x, "Retry-After", seconds);
    http_reply(x, status, as_json, text, text ? strlen(text) : 0);
}

void http_reply_error(struct http_exchange *x, int status, const char *kind, const char *message)
{
    reply_failed(x, status, kind, message, "");
}

void http_reply_busy(struct http_exchange *x, const char *message)
{
    x->server->counts.refused[HTTP_REFUSED_BUSY]++;
    reply_failed(x, 503, "busy", message, "");
}

/* ---- streams ---- */

void http_stream_begin(struct http_exchange *x)
{
    set_common_headers(x);
    http_set_header(x, "Content-Type", "text/event-stream");
    http_set_header(x, "X-Accel-Buffering", "no"); /* for a proxy that would keep it back */
    if (x->head
            .is_http_1_0) /* it knows no chunks: the end of the connection is that of the stream */
        x->conn->is_last = true;
    else
        http_set_header(x, "Transfer-Encoding", "chunked");
    send_head(x, 200);
}

/* Takes `piece`. */
static void send_piece(struct http_exchange *x, struct evbuffer *piece)
{
    size_t len = evbuffer_get_length(piece);
    struct evbuffer *chunk = evbuffer_new();

    if (!chunk || x->conn->unsent > STREAM_MOST_BYTES || !crowd_has_room(x->server, len)) {
        x->server->counts.refused[HTTP_REFUSED_UNREAD] += chunk != NULL;
        conn_drop(x->conn); /* a stream that lost a piece must not look whole */
    } else if (x->head.is_http_1_0) {
        conn_send(x->conn, piece);
    } else {
        (void)evbuffer_add_printf(chunk, "%zx\r\n", len);
        (void)evbuffer_add_buffer(chunk, piece);
        (void)evbuffer_add(chunk, "\r\n", 2);
        conn_send(x->conn, chunk);
    }
    if (chunk)
        evbuffer_free(chunk);
    evbuffer_free(piece);
}

void http_stream_send(struct http_exchange *x, const char *name, const char *text, size_t len)
{
    struct evbuffer *piece = evbuffer_new();

    if (!piece)
        return;
    if (name)
        (void)evbuffer_add_printf(piece, "event: %s\n", name);
    (void)evbuffer_add(piece, "data: ", 6);
    (void)evbuffer_add(piece, text, len);
    (void)evbuffer_add(piece, "\n\n", 2);
    send_piece(x, piece);
}

void http_stream_ping(struct http_exchange *x)
{
    struct evbuffer *piece = evbuffer_new();

    if (!piece)
        return;
    (void)evbuffer_add(piece, ":\n\n", 3);
    send_piece(x, piece);
}

void http_stream_end(struct http_exchange *x)
{
    struct evbuffer *end = evbuffer_new();

    if (end && !x->head.is_http_1_0)
        (void)evbuffer_add(end, "0\r\n\r\n", 5);
    if (end)
        conn_send(x->conn, end);
    else
        conn_drop(x->conn);
    if (end)
        evbuffer_free(end);
    exchange_leave(x, 200);
}

bool http_stream_is_full(const struct http_exchange *x)
{
    return x->conn->unsent >= STREAM_FULL_BYTES;
}
