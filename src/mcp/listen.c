/* Telling clients that something changed: subscriptions/listen, and what legacy clients get. */
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "mcp/core.h"

static const struct {
    const char *key;    /* in the filter */
    const char *method; /* of the notification */
} changes[OFFER_KINDS] = {
    [OFFER_TOOL] = { "toolsListChanged", "notifications/tools/list_changed" },
    [OFFER_PROMPT] = { "promptsListChanged", "notifications/prompts/list_changed" },
    [OFFER_RESOURCE] = { "resourcesListChanged", "notifications/resources/list_changed" },
    [OFFER_TEMPLATE] = { "resourcesListChanged", "notifications/resources/list_changed" },
};

static json_t *subscription_meta(const struct mcp_call *call)
{
    return json_pack("{s:O}", META_SUBSCRIPTION, call->id);
}

json_t *listen_result(const struct mcp_call *call)
{
    return json_pack("{s:o}", "_meta", subscription_meta(call));
}

/* Tell one stream. `params` is taken. */
static void tell(const struct mcp_call *call, const char *method, json_t *params)
{
    (void)json_object_set_new(params, "_meta", subscription_meta(call));
    peer_send(call->peer, call, RPC_NOTIFICATION, rpc_notification(method, params), 0);
}

/* What of a filter is honoured; NULL: it is not one. */
static json_t *read_filter(const struct mcp_server *server, const json_t *wanted)
{
    const json_t *uris = json_object_get(wanted, "resourceSubscriptions");
    json_t *filter = json_object(), *kept = NULL;

    for (unsigned kind = 0; kind < OFFER_KINDS; kind++)
        if (json_is_true(json_object_get(wanted, changes[kind].key)) &&
            server->offers[kind].is_offered)
            (void)json_object_set_new(filter, changes[kind].key, json_true());
    if (json_array_size(uris) > 0 && json_array_size(uris) <= SUBSCRIBED_MAX)
        kept = json_array();
    for (size_t i = 0; kept && i < json_array_size(uris); i++)
        if (json_is_string(json_array_get(uris, i)))
            (void)json_array_append(kept, json_array_get(uris, i));
    if (kept)
        (void)json_object_set_new(filter, "resourceSubscriptions", kept);
    return filter;
}

void listen_run(struct mcp_call *call)
{
    const json_t *wanted = json_object_get(call->params, "notifications");

    if (!json_is_object(wanted)) {
        mcp_call_fail(call, RPC_INVALID_PARAMS, "params.notifications must be an object", NULL);
        return;
    }
    call->filter = read_filter(call->server, wanted);
    call->server->n_listening++;
    tell(call, "notifications/subscriptions/acknowledged",
         json_pack("{s:O}", "notifications", call->filter));
}

void listen_changed(struct mcp_server *server, enum offer_kind kind)
{
    for (struct mcp_peer *peer = server->peers; peer; peer = peer->next) {
        if (peer->version && peer->is_ready)
            peer_send(peer, NULL, RPC_NOTIFICATION, rpc_notification(changes[kind].method, NULL),
                      0);
        for (struct mcp_call *call = peer->calls; call; call = call->next)
            if (json_object_get(call->filter, changes[kind].key))
                tell(call, changes[kind].method, json_object());
    }
}

void mcp_server_resource_updated(struct mcp_server *server, const char *uri)
{
    static const char method[] = "notifications/resources/updated";

    for (struct mcp_peer *peer = server->peers; peer; peer = peer->next) {
        if (json_object_get(peer->subscribed, uri))
            peer_send(peer, NULL, RPC_NOTIFICATION,
                      rpc_notification(method, json_pack("{s:s}", "uri", uri)), 0);
        for (struct mcp_call *call = peer->calls; call; call = call->next)
            if (json_array_has(json_object_get(call->filter, "resourceSubscriptions"), uri))
                tell(call, method, json_pack("{s:s}", "uri", uri));
    }
}
