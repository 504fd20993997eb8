/*
 * How this works: mcp_peer_take() sorts a message. A request finds its era, its method and becomes
 * a call; the method's function answers it or leaves it to a handler. What is sent goes through
 * peer_send() alone.
 *
 * The order in which a modern request is looked at is the order of its errors: _meta, version
 * header, version, method, other headers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "mcp/core.h"

/* The newest first; static, so that a peer can point at its own. */
static const char *const legacy_versions[] = { MCP_LEGACY, "2025-06-18", "2025-03-26",
                                               "2024-11-05" };

enum {
    HTTP_OK = 200,
    HTTP_BAD_REQUEST = 400,
    HTTP_NOT_FOUND = 404,
    HTTP_UNAVAILABLE = 503
};

static const char *known_version(const char *version)
{
    for (size_t i = 0; i < ARRAY_LEN(legacy_versions); i++)
        if (strcmp(version, legacy_versions[i]) == 0)
            return legacy_versions[i];
    return NULL;
}

bool mcp_is_legacy_version(const char *version)
{
    return known_version(version) != NULL;
}

const char *mcp_peer_version(const struct mcp_peer *peer)
{
    return peer->version;
}

/* ---- peers ---- */

struct mcp_peer *mcp_peer_new(struct mcp_server *server, const struct mcp_peer_spec *spec)
{
    struct mcp_peer *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    *p = (struct mcp_peer){
        .server = server,
        .ops = spec->ops,
        .data = spec->data,
        .principal = spec->principal ? strdup(spec->principal) : NULL,
        .calls_max = spec->calls_max ? spec->calls_max : CALLS_MAX,
        .subscribed = json_object(),
        .log_level = server->spec.log_level,
        .next = server->peers,
    };
    if (spec->legacy_version) {
        p->version = known_version(spec->legacy_version);
        p->is_ready = true;
    }
    if (p->next)
        p->next->prev = p;
    server->peers = p;
    server->n_peers++;
    if (!p->subscribed || !p->principal != !spec->principal)
        return mcp_peer_free(p);
    return p;
}

struct mcp_peer *mcp_peer_free(struct mcp_peer *peer)
{
    if (!peer)
        return NULL;
    peer->ops = NULL; /* nothing is sent, and nobody told */
    while (peer->calls)
        call_cancel(peer->calls);
    if (peer->prev)
        peer->prev->next = peer->next;
    else
        peer->server->peers = peer->next;
    if (peer->next)
        peer->next->prev = peer->prev;
    peer->server->n_peers--;
    json_decref(peer->capabilities);
    json_decref(peer->subscribed);
    free(peer->principal);
    free(peer);
    return NULL;
}

struct mcp_call *peer_find_call(const struct mcp_peer *peer, const json_t *id)
{
    struct mcp_call *call = peer->calls;

    while (call && !rpc_id_equal(call->id, id))
        call = call->next;
    return call;
}

static struct mcp_call *find_tag(const struct mcp_peer *peer, const void *tag)
{
    struct mcp_call *call = peer->calls;

    while (call && (call->is_detached || call->tag != tag))
        call = call->next;
    return call;
}

void mcp_peer_cancel(struct mcp_peer *peer, const void *tag)
{
    struct mcp_call *call = find_tag(peer, tag);

    if (call)
        call_cancel(call);
}

void mcp_peer_detach(struct mcp_peer *peer, const void *tag)
{
    struct mcp_call *call = find_tag(peer, tag);

    if (call)
        call->is_detached = true;
}

bool mcp_peer_is_busy(const struct mcp_peer *peer)
{
    const struct mcp_call *call = peer->calls;

    while (call && call->filter)
        call = call->next;
    return call != NULL;
}

void mcp_peer_farewell(struct mcp_peer *peer)
{
    struct mcp_call *call = peer->calls;

    while (call) {
        struct mcp_call *next = call->next;

        if (call->filter)
            mcp_call_finish(call, listen_result(call));
        call = next;
    }
}

/* ---- sending ---- */

void peer_send(struct mcp_peer *peer, const struct mcp_call *call, enum rpc_kind kind,
               json_t *message, int http_status)
{
    struct mcp_outgoing out = { .kind = kind, .http_status = http_status };
    auto_free char *text = NULL;

    if (peer && peer->ops && message && !(call && call->is_detached && kind == RPC_RESPONSE)) {
        text = rpc_text(message, &out.len);
        out.text = text;
        out.tag = call && !call->is_detached ? call->tag : NULL;
        if (text)
            peer->ops->send(peer->data, &out);
    }
    json_decref(message);
}

static int http_status_of(int code, bool is_modern)
{
    if (code == RPC_PARSE_ERROR || code == RPC_INVALID_REQUEST)
        return HTTP_BAD_REQUEST;
    if (!is_modern || code == RPC_INTERNAL_ERROR)
        return HTTP_OK;
    return code == RPC_METHOD_NOT_FOUND ? HTTP_NOT_FOUND : HTTP_BAD_REQUEST;
}

static void *tag_of(const struct mcp_arrival *how)
{
    return how ? how->tag : NULL;
}

/* An error for a request that has not become a call. */
static void refuse(struct mcp_peer *peer, const json_t *id, const struct mcp_arrival *how,
                   const struct refusal *why)
{
    struct mcp_call stand_in = { .tag = tag_of(how) };

    peer_send(peer, &stand_in, RPC_RESPONSE, rpc_error(id, why->code, why->message, why->data),
              why->http_status ? why->http_status : http_status_of(why->code, why->is_modern));
}

void mcp_peer_refuse(struct mcp_peer *peer, const struct rpc_problem *problem,
                     const struct mcp_arrival *how)
{
    struct refusal why = { .code = problem->code, .http_status = HTTP_BAD_REQUEST };

    memcpy(why.message, problem->message, sizeof(problem->message));
    refuse(peer, problem->id, how, &why);
}

void mcp_call_fail(struct mcp_call *call, int code, const char *message, json_t *more)
{
    call_answer(call, rpc_error(call->id, code, message, more),
                http_status_of(code, call->is_modern));
}

/* ---- requests ---- */

bool mcp_is_modern(const struct rpc_message *message, const char *version_header)
{
    const json_t *meta = json_object_get(message->params, "_meta");

    if (json_object_get(meta, META_VERSION))
        return true;
    return version_header && strcmp(version_header, MCP_MODERN) >= 0;
}

static const char *header(const struct mcp_arrival *how, const char *name)
{
    return how && how->headers ? how->headers->get(how->headers->data, name) : NULL;
}

static bool is_token(const json_t *token)
{
    return !token || json_is_integer(token) ||
           (json_is_string(token) && json_string_length(token) <= RPC_ID_MAX);
}

/* What is wrong with a modern request's _meta; NULL: nothing. */
static const char *meta_problem(const json_t *meta)
{
    const json_t *level = json_object_get(meta, META_LOG_LEVEL);

    if (!json_is_object(meta))
        return "params._meta is missing: a request of 2026-07-28 says there who asks "
               "(or begin with initialize)";
    if (!json_is_string(json_object_get(meta, META_VERSION)))
        return "params._meta: " META_VERSION " is missing, or no string";
    if (!json_is_object(json_object_get(meta, META_CAPABILITIES)))
        return "params._meta: " META_CAPABILITIES " is missing, or no object";
    if (level && level_of(json_string_value(level)) < 0)
        return "params._meta: " META_LOG_LEVEL " is no level";
    if (!is_token(json_object_get(meta, "progressToken")))
        return "params._meta: progressToken must be a string or an integer";
    return NULL;
}

/* In the order in which a modern request is looked at. Returns its method, or NULL with the
 * refusal. */
static const struct method *admit_modern(struct mcp_peer *peer, const struct rpc_message *m,
                                         const struct mcp_arrival *how, struct refusal *why)
{
    const json_t *meta = json_object_get(m->params, "_meta");
    const char *problem = meta_problem(meta);
    const char *version = json_string_at(meta, META_VERSION, "");
    const struct mcp_headers *headers = how ? how->headers : NULL;
    const struct method *method = method_find(peer->server, m->method, true);

    why->is_modern = true;
    why->code = RPC_INVALID_PARAMS;
    if (problem) {
        (void)snprintf(why->message, sizeof(why->message), "%s", problem);
        return NULL;
    }
    why->code = RPC_HEADER_MISMATCH;
    if (headers_check_version(headers, version, why->message, sizeof(why->message)) < 0)
        return NULL;
    if (strcmp(version, MCP_MODERN) != 0) {
        why->code = RPC_UNSUPPORTED_VERSION;
        (void)snprintf(why->message, sizeof(why->message), "unsupported protocol version");
        why->data = json_pack("{s:[s],s:s}", "supported", MCP_MODERN, "requested", version);
        return NULL;
    }
    if (!method) {
        why->code = RPC_METHOD_NOT_FOUND;
        (void)snprintf(why->message, sizeof(why->message), "method not found: %.100s", m->method);
        return NULL;
    }
    return headers_check(headers, m, peer->server, why->message, sizeof(why->message)) < 0 ? NULL
                                                                                           : method;
}

static const struct method *admit_legacy(struct mcp_peer *peer, const struct rpc_message *m,
                                         struct refusal *why)
{
    const struct method *method = method_find(peer->server, m->method, false);
    bool is_first = method && method_is_early(m->method);

    if (!peer->version && !is_first) {
        why->code = RPC_INVALID_PARAMS;
        (void)snprintf(why->message, sizeof(why->message), "%s", meta_problem(NULL));
        return NULL;
    }
    if (!method) {
        why->code = RPC_METHOD_NOT_FOUND;
        (void)snprintf(why->message, sizeof(why->message), "method not found: %.100s", m->method);
        return NULL;
    }
    if (!is_token(json_object_get(json_object_get(m->params, "_meta"), "progressToken"))) {
        why->code = RPC_INVALID_PARAMS;
        (void)snprintf(why->message, sizeof(why->message),
                       "params._meta: progressToken must be a string or an integer");
        return NULL;
    }
    return method;
}

/* Is there room for one more, and is its id free? */
static bool has_room(const struct mcp_peer *peer, const struct rpc_message *m, struct refusal *why)
{
    if (peer_find_call(peer, m->id)) {
        why->code = RPC_INVALID_REQUEST;
        (void)snprintf(why->message, sizeof(why->message),
                       "a request with this id has not been answered yet");
        return false;
    }
    if (peer->n_calls >= peer->calls_max || peer->n_bytes + m->bytes > CALL_BYTES_MAX) {
        why->code = RPC_INTERNAL_ERROR;
        why->http_status = HTTP_UNAVAILABLE;
        (void)snprintf(why->message, sizeof(why->message),
                       "busy: too many requests at once; wait for answers");
        return false;
    }
    return true;
}

static void take_request(struct mcp_peer *peer, const struct rpc_message *m,
                         const struct mcp_arrival *how)
{
    bool is_modern = mcp_is_modern(m, header(how, "MCP-Protocol-Version"));
    struct refusal why = { 0 };
    const struct method *method =
        is_modern ? admit_modern(peer, m, how, &why) : admit_legacy(peer, m, &why);
    struct mcp_call *call = NULL;

    if (!method || !has_room(peer, m, &why)) {
        refuse(peer, m->id, how, &why);
        return;
    }
    call = call_new(peer, method, m);
    if (!call) {
        why = (struct refusal){ .code = RPC_INTERNAL_ERROR, .message = "memory ran out" };
        refuse(peer, m->id, how, &why);
        return;
    }
    call->tag = tag_of(how);
    call->is_mute = how && how->is_mute;
    if (is_modern)
        call_read_meta(call, json_object_get(m->params, "_meta"));
    if (peer->server->given_up && !method_is_early(m->method))
        mcp_call_fail(call, RPC_INTERNAL_ERROR, peer->server->given_up, NULL);
    else if (!server_holds(call))
        method->run(call);
}

/* ---- notifications ---- */

static void take_notification(struct mcp_peer *peer, const struct rpc_message *m)
{
    struct mcp_call *call;

    if (strcmp(m->method, "notifications/initialized") == 0 && peer->version) {
        peer->is_ready = true;
    } else if (strcmp(m->method, "notifications/cancelled") == 0) {
        call = peer_find_call(peer, json_object_get(m->params, "requestId"));
        if (call)
            call_cancel(call);
    }
}

void mcp_peer_take(struct mcp_peer *peer, const struct rpc_message *message,
                   const struct mcp_arrival *how)
{
    switch (message->kind) {
    case RPC_REQUEST:
        if (method_is_early(message->method))
            server_prepare_soon(peer->server);
        else
            server_prepare(peer->server);
        take_request(peer, message, how);
        break;
    case RPC_NOTIFICATION:
        take_notification(peer, message);
        break;
    case RPC_RESPONSE:
        question_response(peer, message);
        break;
    }
}

/* ---- the handshake ---- */

void peer_initialize(struct mcp_call *call)
{
    struct mcp_peer *peer = call->peer;
    const json_t *caps = json_object_get(call->params, "capabilities");
    const char *wanted = json_string_value(json_object_get(call->params, "protocolVersion"));
    json_t *result;

    if (!wanted || !json_is_object(caps)) {
        mcp_call_fail(call, RPC_INVALID_PARAMS,
                      "initialize needs protocolVersion (a string) and capabilities (an object)",
                      NULL);
        return;
    }
    peer->version = known_version(wanted);
    if (!peer->version)
        peer->version = MCP_LEGACY;
    json_decref(peer->capabilities);
    peer->capabilities = json_incref(json_shared(caps));
    result = json_pack("{s:s,s:o,s:O}", "protocolVersion", peer->version, "capabilities",
                       server_capabilities(call->server), "serverInfo", call->server->info);
    if (result && call->server->instructions)
        (void)json_object_set(result, "instructions", call->server->instructions);
    mcp_call_finish(call, result);
}
