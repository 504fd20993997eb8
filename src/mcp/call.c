/* Calls: requests under way, from the arrival to the answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "mcp/core.h"

enum {
    HTTP_OK = 200
};

/* ---- lists ---- */

void call_link(struct mcp_call *call, struct mcp_peer *peer)
{
    struct mcp_call **head = peer ? &peer->calls : &call->server->parked;

    call->peer = peer;
    call->prev = NULL;
    call->next = *head;
    if (call->next)
        call->next->prev = call;
    *head = call;
    if (peer) {
        peer->n_calls++;
        peer->n_bytes += call->bytes;
        call->server->n_calls++;
    } else {
        call->server->n_parked++;
    }
}

void call_unlink(struct mcp_call *call)
{
    struct mcp_peer *peer = call->peer;

    if (call->prev)
        call->prev->next = call->next;
    else if (peer)
        peer->calls = call->next;
    else
        call->server->parked = call->next;
    if (call->next)
        call->next->prev = call->prev;
    if (peer) {
        peer->n_calls--;
        peer->n_bytes -= call->bytes;
        call->server->n_calls--;
    } else {
        call->server->n_parked--;
    }
}

/* ---- life ---- */

/* It is in no list any more. */
static void call_free(struct mcp_call *call)
{
    question_done(call);
    if (call->filter)
        call->server->n_listening--;
    json_decref(call->filter);
    json_decref(call->late);
    json_decref(call->id);
    json_decref(call->params);
    json_decref(call->arguments);
    json_decref(call->capabilities);
    json_decref(call->progress_token);
    free(call->principal);
    free(call);
}

struct mcp_call *call_new(struct mcp_peer *peer, const struct method *method,
                          const struct rpc_message *message)
{
    struct mcp_call *call = calloc(1, sizeof(*call));
    const json_t *meta = json_object_get(message->params, "_meta");

    if (!call)
        return NULL;
    *call = (struct mcp_call){
        .server = peer->server,
        .method = method,
        .id = json_incref(json_shared(message->id)),
        .params = message->params ? json_incref(json_shared(message->params)) : json_object(),
        .bytes = message->bytes,
        .principal = peer->principal ? strdup(peer->principal) : NULL,
        .capabilities = json_incref(peer->capabilities),
        .log_level = (int)peer->log_level,
        .progress_token = json_incref(json_object_get(meta, "progressToken")),
    };
    call_link(call, peer);
    if (peer->principal && !call->principal) { /* without it, it would be somebody else's */
        call_unlink(call);
        call_free(call);
        return NULL;
    }
    return call;
}

void call_read_meta(struct mcp_call *call, const json_t *meta)
{
    call->is_modern = true;
    json_decref(call->capabilities);
    call->capabilities = json_incref(json_object_get(meta, META_CAPABILITIES));
    call->log_level = level_of(json_string_value(json_object_get(meta, META_LOG_LEVEL)));
}

void call_cancel(struct mcp_call *call)
{
    struct mcp_peer *peer = call->peer;
    void (*cancelled)(struct mcp_call *, void *) = call->cancelled;

    call->cancelled = NULL;
    if (cancelled)
        cancelled(call, call->cancel_data);
    call_unlink(call); /* order: whoever is told may free the peer */
    if (peer && peer->ops && peer->ops->dropped && !call->is_detached)
        peer->ops->dropped(peer->data, call->tag);
    call_free(call);
}

void call_answer(struct mcp_call *call, json_t *response, int http_status)
{
    struct mcp_peer *peer = call->peer;

    call->cancelled = NULL;
    call->answered = NULL;
    if (!peer) { /* parked: its client will be back, or the call expires */
        call->late = response;
        call->late_status = http_status;
        return;
    }
    call_unlink(call); /* order: whoever sends it may free the peer */
    peer_send(peer, call, RPC_RESPONSE, response, http_status);
    call_free(call);
}

/* What the modern era wants in every result. */
static void complete_result(const struct mcp_call *call, json_t *result)
{
    json_t *meta = json_object_get(result, "_meta");

    if (!json_object_get(result, "resultType"))
        (void)json_object_set_new(result, "resultType", json_string("complete"));
    if (!meta) {
        meta = json_object();
        (void)json_object_set_new(result, "_meta", meta);
    }
    if (!json_object_get(meta, META_SERVER))
        (void)json_object_set(meta, META_SERVER, call->server->info);
    if (!(call->method->flags & METHOD_CACHED) || json_object_get(result, "inputRequests"))
        return;
    if (!json_object_get(result, "ttlMs"))
        (void)json_object_set_new(result, "ttlMs", json_integer(call->server->spec.list_ttl_ms));
    if (!json_object_get(result, "cacheScope"))
        (void)json_object_set_new(result, "cacheScope", json_string("private"));
}

void mcp_call_finish(struct mcp_call *call, json_t *result)
{
    if (!result) {
        mcp_call_fail(call, RPC_INTERNAL_ERROR, "memory ran out", NULL);
        return;
    }
    if (call->is_modern)
        complete_result(call, result);
    call_answer(call, rpc_result(call->id, result), HTTP_OK);
}

json_t *mcp_text(const char *text)
{
    return json_pack("{s:s,s:o}", "type", "text", "text", json_replaced(text, strlen(text)));
}

void mcp_call_refuse(struct mcp_call *call, const char *message)
{
    mcp_call_finish(call, json_pack("{s:[o],s:b}", "content", mcp_text(message), "isError", 1));
}

/* ---- what handlers ask about it ---- */

const json_t *mcp_call_params(const struct mcp_call *call)
{
    return call->params;
}

const json_t *mcp_call_arguments(const struct mcp_call *call)
{
    return call->arguments;
}

const char *mcp_call_target(const struct mcp_call *call)
{
    return call->target;
}

struct mcp_server *mcp_call_server(const struct mcp_call *call)
{
    return call->server;
}

const char *mcp_call_principal(const struct mcp_call *call)
{
    return call->principal;
}

bool mcp_call_is_modern(const struct mcp_call *call)
{
    return call->is_modern;
}

bool mcp_call_can(const struct mcp_call *call, const char *capability)
{
    const json_t *elicitation = json_object_get(call->capabilities, "elicitation");
    bool has_url = json_object_get(elicitation, "url") != NULL;

    if (call->is_mute && !call->is_modern) /* to ask is another message then */
        return false;
    if (strcmp(capability, "elicitation.url") == 0)
        return has_url;
    if (strcmp(capability, "elicitation") == 0) /* without a word on it, forms are meant */
        return json_is_object(elicitation) && (!has_url || json_object_get(elicitation, "form"));
    return json_is_object(json_object_get(call->capabilities, capability));
}

void mcp_call_on_cancel(struct mcp_call *call, void (*cancelled)(struct mcp_call *call, void *data),
                        void *data)
{
    call->cancelled = cancelled;
    call->cancel_data = data;
}

/* ---- notifications ---- */

static bool may_notify(const struct mcp_call *call)
{
    const struct mcp_peer *peer = call->peer;

    return peer && peer->ops && !(peer->ops->is_full && peer->ops->is_full(peer->data));
}

bool mcp_call_wants_progress(const struct mcp_call *call)
{
    return call->progress_token != NULL;
}

static json_t *number(double d)
{
    return d == floor(d) && fabs(d) < 1e15 ? json_integer((json_int_t)d) : json_real(d);
}

void mcp_call_progress(struct mcp_call *call, double progress, double total, const char *message)
{
    json_t *params;

    if (!call->progress_token || !may_notify(call) ||
        (call->has_progressed && progress <= call->progress))
        return;
    call->has_progressed = true;
    call->progress = progress;
    params =
        json_pack("{s:O,s:o}", "progressToken", call->progress_token, "progress", number(progress));
    if (params && total >= 0)
        (void)json_object_set_new(params, "total", number(total));
    if (params && message)
        (void)json_object_set_new(params, "message", json_replaced(message, strlen(message)));
    peer_send(call->peer, call, RPC_NOTIFICATION,
              rpc_notification("notifications/progress", params), 0);
}

void mcp_call_log(struct mcp_call *call, enum mcp_level level, const char *logger, json_t *data)
{
    int least = !call->is_modern && call->peer ? (int)call->peer->log_level : call->log_level;
    json_t *params;

    if (!call->server->spec.has_logging || least < 0 || (int)level < least || !may_notify(call)) {
        json_decref(data);
        return;
    }
    params = json_pack("{s:s,s:o}", "level", level_name(level), "data", data);
    if (params && logger)
        (void)json_object_set_new(params, "logger", json_string(logger));
    peer_send(call->peer, call, RPC_NOTIFICATION, rpc_notification("notifications/message", params),
              0);
}
