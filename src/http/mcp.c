/*
 * How this works: each POST is a `post`. Its message is handed to a peer: one of its own, that ends
 * with it, or that of the legacy session it belongs to. What the peer sends comes back with the
 * post as its tag: a response is the reply, as JSON; whatever comes before it turns the reply into
 * a stream.
 *
 * A legacy client that says `initialize` gets a session: it may be asked something on one request
 * and answer with another, set a level, cancel. One that does not name its session is served
 * without.
 *
 * A modern client that leaves gives up its request. A legacy one does not: the post stays, without
 * its exchange, until it is answered.
 */
#include "http/mcp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"

enum {
    SESSIONS_MAX = 1024,
    SESSION_TTL_MS = 3600000,
    SESSION_ID = 16, /* bytes */
    PING_MS = 15000
};

struct session {
    struct session *prev, *next; /* the one that was used last first */
    struct http_mcp *endpoint;
    struct mcp_peer *peer;
    char id[2 * SESSION_ID + 1];
    int64_t used_us;
    size_t n_posts; /* that have not been answered */
};

struct post {
    struct post *prev, *next;
    struct http_mcp *endpoint;
    struct http_exchange *x; /* NULL: the client has left */
    struct session *session; /* or: */
    struct mcp_peer *peer;   /* its own */
    bool is_modern;
    bool is_streaming;
    bool can_stream;
};

struct http_mcp {
    struct http_mcp_spec spec;
    struct post *posts;
    struct session *sessions, *last_session;
    size_t n_sessions;
    struct event *on_ping;
};

static const char as_json[] = "application/json";

/* ---- posts ---- */

static struct post *post_new(struct http_mcp *e, struct http_exchange *x)
{
    struct post *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    *p = (struct post){
        .endpoint = e, .x = x, .next = e->posts, .can_stream = http_accepts(x, "text/event-stream")
    };
    if (p->next)
        p->next->prev = p;
    e->posts = p;
    return p;
}

static void post_free(struct post *p)
{
    if (p->prev)
        p->prev->next = p->next;
    else
        p->endpoint->posts = p->next;
    if (p->next)
        p->next->prev = p->prev;
    if (p->session)
        p->session->n_posts--;
    (void)mcp_peer_free(p->peer);
    free(p);
}

static void on_gone(void *data)
{
    struct post *p = data;

    p->x = NULL;
    if (p->is_modern)
        post_free(p);
}

/* ---- what peers send ---- */

static void reply_last(struct post *p, const struct mcp_outgoing *m)
{
    struct http_exchange *x = p->x;
    bool is_streaming = p->is_streaming;

    post_free(p);
    if (!x)
        return;
    if (!is_streaming) {
        http_reply(x, m->http_status, as_json, m->text, m->len);
        return;
    }
    http_stream_send(x, NULL, m->text, m->len);
    http_stream_end(x);
}

static void send_message(void *data, const struct mcp_outgoing *m)
{
    struct post *p = m->tag;

    (void)data;
    if (!p) /* for a stream that this server does not offer */
        return;
    if (m->kind == RPC_RESPONSE) {
        reply_last(p, m);
        return;
    }
    if (!p->x || !p->can_stream)
        return;
    if (m->kind == RPC_NOTIFICATION && p->is_streaming && http_stream_is_full(p->x))
        return; /* who does not read misses what would only be told */
    if (!p->is_streaming)
        http_stream_begin(p->x);
    p->is_streaming = true;
    http_stream_send(p->x, NULL, m->text, m->len);
}

/* It was cancelled: there is no answer. */
static void drop(void *data, void *tag)
{
    struct post *p = tag;
    struct http_exchange *x = p ? p->x : NULL;
    bool is_streaming = p && p->is_streaming;

    (void)data;
    if (p)
        post_free(p);
    if (!x)
        return;
    if (!is_streaming)
        http_stream_begin(x);
    http_stream_end(x);
}

/* Of a peer with one request. A session's are bounded by their own number. */
static bool is_full(void *data)
{
    const struct post *p = data;

    return p->x && p->is_streaming && http_stream_is_full(p->x);
}

static const struct mcp_peer_ops post_ops = { .send = send_message,
                                              .dropped = drop,
                                              .is_full = is_full };
static const struct mcp_peer_ops session_ops = { .send = send_message, .dropped = drop };

/* ---- sessions of the legacy era ---- */

static void session_unlink(struct session *s)
{
    struct http_mcp *e = s->endpoint;

    if (s->prev)
        s->prev->next = s->next;
    else
        e->sessions = s->next;
    if (s->next)
        s->next->prev = s->prev;
    else
        e->last_session = s->prev;
    e->n_sessions--;
}

static void session_use(struct session *s)
{
    struct http_mcp *e = s->endpoint;

    s->used_us = clock_us();
    s->prev = NULL;
    s->next = e->sessions;
    if (s->next)
        s->next->prev = s;
    else
        e->last_session = s;
    e->sessions = s;
    e->n_sessions++;
}

static void session_free(struct session *s)
{
    struct http_mcp *e = s->endpoint;

    /* Its calls end, and so do the posts that wait for them. */
    (void)mcp_peer_free(s->peer);
    for (struct post *p = e->posts, *next; p; p = next) {
        next = p->next;
        if (p->session != s)
            continue;
        p->session = NULL;
        drop(NULL, p);
    }
    session_unlink(s);
    free(s);
}

/* Make room, and end those that nobody has used for long. */
static void sessions_trim(struct http_mcp *e)
{
    int64_t oldest = clock_us() - (int64_t)e->spec.session_ttl_ms * 1000;
    struct session *s = e->last_session, *before;

    for (; s && (s->used_us < oldest || e->n_sessions >= e->spec.sessions_max); s = before) {
        before = s->prev;
        if (s->n_posts == 0)
            session_free(s);
    }
}

static struct session *session_new(struct http_mcp *e)
{
    static const char digits[] = "0123456789abcdef";
    struct session *s = NULL;
    struct mcp_peer_spec spec = { .ops = &session_ops, .principal = e->spec.principal };
    unsigned char id[SESSION_ID];

    sessions_trim(e);
    if (e->n_sessions < e->spec.sessions_max)
        s = calloc(1, sizeof(*s));
    if (!s || getrandom(id, sizeof(id), 0) != sizeof(id)) {
        free(s);
        return NULL;
    }
    s->endpoint = e;
    s->peer = mcp_peer_new(e->spec.mcp, &spec);
    if (!s->peer) {
        free(s);
        return NULL;
    }
    for (size_t i = 0; i < SESSION_ID; i++) {
        s->id[2 * i] = digits[id[i] >> 4];
        s->id[2 * i + 1] = digits[id[i] & 15];
    }
    session_use(s);
    return s;
}

static struct session *session_find(struct http_mcp *e, const char *id)
{
    struct session *s = e->sessions;

    while (s && strcmp(s->id, id) != 0)
        s = s->next;
    if (s) {
        session_unlink(s);
        session_use(s);
    }
    return s;
}

/* ---- refusals ---- */

static void reply_rpc_error(struct http_exchange *x, int status, const json_t *id, int code,
                            const char *message)
{
    auto_json json_t *error = rpc_error(id, code, message, NULL);
    size_t len = 0;
    auto_free char *text = error ? rpc_text(error, &len) : NULL;

    http_reply(x, status, as_json, text, text ? len : 0);
}

static void reply_accepted(struct http_exchange *x)
{
    http_reply(x, 202, NULL, NULL, 0);
}

/* ---- requests ---- */

static const char *get_header(void *data, const char *name)
{
    return http_header(data, name);
}

static void take(struct post *p, struct mcp_peer *peer, const struct rpc_message *m)
{
    const struct mcp_headers headers = { .get = get_header, .data = p->x };
    const struct mcp_arrival how = { .tag = p, .headers = &headers, .is_mute = !p->can_stream };

    http_on_gone(p->x, on_gone, p);
    mcp_peer_take(peer, m, &how);
}

/* Serve a request with a peer of its own. */
static void take_alone(struct http_mcp *e, struct http_exchange *x, const struct rpc_message *m,
                       const char *legacy_version)
{
    struct post *p = post_new(e, x);
    struct mcp_peer_spec spec = { .ops = &post_ops,
                                  .data = p,
                                  .principal = e->spec.principal,
                                  .legacy_version = legacy_version };

    if (p) {
        p->is_modern = !legacy_version;
        p->peer = mcp_peer_new(e->spec.mcp, &spec);
    }
    if (p && p->peer) {
        take(p, p->peer, m);
        return;
    }
    if (p)
        post_free(p);
    http_reply_busy(x, "memory ran out");
}

/* Hand a message to a session. Only requests are answered with what it sends. */
static void take_in_session(struct session *s, struct http_exchange *x, const struct rpc_message *m)
{
    struct post *p;

    if (m->kind != RPC_REQUEST) {
        mcp_peer_take(s->peer, m, NULL);
        reply_accepted(x);
        return;
    }
    p = post_new(s->endpoint, x);
    if (!p) {
        http_reply_busy(x, "memory ran out");
        return;
    }
    p->session = s;
    s->n_posts++;
    take(p, s->peer, m);
}

static void initialize(struct http_mcp *e, struct http_exchange *x, const struct rpc_message *m)
{
    struct session *s = session_new(e);

    if (!s) {
        http_reply_busy(x, "too many sessions");
        return;
    }
    http_set_header(x, "Mcp-Session-Id", s->id);
    take_in_session(s, x, m); /* answered from inside */
    if (!mcp_peer_version(s->peer))
        session_free(s);
}

static void take_legacy(struct http_mcp *e, struct http_exchange *x, const struct rpc_message *m)
{
    const char *version = http_header(x, "MCP-Protocol-Version");
    const char *id = http_header(x, "Mcp-Session-Id");
    struct session *s = id ? session_find(e, id) : NULL;

    if (version && !mcp_is_legacy_version(version))
        reply_rpc_error(x, 400, m->id, RPC_INVALID_REQUEST, "unsupported MCP-Protocol-Version");
    else if (m->kind == RPC_REQUEST && strcmp(m->method, "initialize") == 0)
        initialize(e, x, m);
    else if (id && !s)
        reply_rpc_error(x, 404, m->id, RPC_INVALID_REQUEST,
                        "there is no such session (any more): begin with initialize");
    else if (s)
        take_in_session(s, x, m);
    else if (m->kind == RPC_REQUEST)
        take_alone(e, x, m, version ? version : MCP_LEGACY_ASSUMED);
    else if (m->kind == RPC_NOTIFICATION)
        reply_accepted(x);
    else
        reply_rpc_error(x, 400, NULL, RPC_INVALID_REQUEST, "a response without Mcp-Session-Id");
}

static void take_modern(struct http_mcp *e, struct http_exchange *x, const struct rpc_message *m)
{
    if (m->kind == RPC_REQUEST)
        take_alone(e, x, m, NULL);
    else if (m->kind == RPC_NOTIFICATION)
        reply_accepted(x);
    else
        reply_rpc_error(x, 400, NULL, RPC_INVALID_REQUEST, "clients send no responses");
}

static bool is_too_much(const struct http_mcp *e, const struct rpc_message *m)
{
    return m->kind == RPC_REQUEST && strcmp(m->method, "tools/call") == 0 && e->spec.is_full &&
           e->spec.is_full(e->spec.data);
}

static void take_post(struct http_mcp *e, struct http_exchange *x)
{
    struct rpc_message m;
    struct rpc_problem problem;
    size_t len = 0;
    const char *text = http_body(x, &len);

    if (rpc_read(text, len, &m, &problem) < 0)
        reply_rpc_error(x, 400, problem.id, problem.code, problem.message);
    else if (is_too_much(e, &m))
        http_reply_busy(x, "too many calls wait for their turn");
    else if (mcp_is_modern(&m, http_header(x, "MCP-Protocol-Version")))
        take_modern(e, x, &m);
    else
        take_legacy(e, x, &m);
    rpc_message_done(&m);
    rpc_problem_done(&problem);
}

static void refuse_method(struct http_exchange *x)
{
    http_set_header(x, "Allow", "POST");
    http_reply_error(x, 405, "invalid", "this path takes POST");
}

/* The client is done with its session. */
static void take_delete(struct http_mcp *e, struct http_exchange *x)
{
    const char *id = http_header(x, "Mcp-Session-Id");
    struct session *s = id ? session_find(e, id) : NULL;

    if (!id) {
        refuse_method(x);
    } else if (!s) {
        http_reply_error(x, 404, "gone", "there is no such session (any more)");
    } else {
        session_free(s);
        http_reply(x, 204, NULL, NULL, 0);
    }
}

static void run(struct http_exchange *x, void *data)
{
    struct http_mcp *e = data;

    if (http_method(x) == HTTP_DELETE)
        take_delete(e, x);
    else if (http_method(x) != HTTP_POST)
        refuse_method(x);
    else if (!http_accepts(x, as_json) && !http_accepts(x, "text/event-stream"))
        http_reply_error(x, 406, "invalid",
                         "Accept must have application/json and text/event-stream");
    else if (http_need_json(x))
        take_post(e, x);
}

/* ---- life ---- */

/* What stands between drops connections that nothing passes over. */
static void on_ping(evutil_socket_t fd, short what, void *data)
{
    struct http_mcp *e = data;

    (void)fd;
    (void)what;
    for (struct post *p = e->posts; p; p = p->next)
        if (p->x && p->is_streaming && !http_stream_is_full(p->x))
            http_stream_ping(p->x);
    sessions_trim(e);
}

struct http_mcp *http_mcp_new(const struct http_mcp_spec *spec)
{
    static const struct timeval often = { .tv_sec = PING_MS / 1000 };
    struct http_mcp *e = calloc(1, sizeof(*e));

    if (!e)
        return NULL;
    e->spec = *spec;
    if (spec->sessions_max == 0)
        e->spec.sessions_max = SESSIONS_MAX;
    if (spec->session_ttl_ms == 0)
        e->spec.session_ttl_ms = SESSION_TTL_MS;
    e->on_ping = event_new(spec->base, -1, EV_PERSIST, on_ping, e);
    if (!e->on_ping || event_add(e->on_ping, &often) < 0)
        return http_mcp_free(e);
    return e;
}

struct http_mcp *http_mcp_free(struct http_mcp *e)
{
    if (!e)
        return NULL;
    while (e->sessions)
        session_free(e->sessions);
    while (e->posts)
        post_free(e->posts);
    if (e->on_ping)
        event_free(e->on_ping);
    free(e);
    return NULL;
}

void http_mcp_route(struct http_mcp *e, struct http_server *server, const char *path)
{
    http_server_route(server, &(struct http_route){ .path = path,
                                                    .methods = HTTP_GET | HTTP_POST | HTTP_DELETE,
                                                    .run = run,
                                                    .data = e });
}

void http_mcp_farewell(struct http_mcp *e)
{
    for (struct post *p = e->posts, *next; p; p = next) {
        next = p->next;
        if (p->peer)
            mcp_peer_farewell(p->peer);
    }
}

size_t http_mcp_sessions(const struct http_mcp *e)
{
    return e->n_sessions;
}
