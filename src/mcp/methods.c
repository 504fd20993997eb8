/* The methods of both eras, as a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/schema.h"
#include "mcp/core.h"

static const char *const levels[] = { "debug", "info",     "notice", "warning",
                                      "error", "critical", "alert",  "emergency" };

int level_of(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(levels); i++)
        if (strcmp(name, levels[i]) == 0)
            return (int)i;
    return -1;
}

const char *level_name(enum mcp_level level)
{
    return levels[level];
}

static void invalid(struct mcp_call *call, const char *message)
{
    mcp_call_fail(call, RPC_INVALID_PARAMS, message, NULL);
}

/* ---- about the server ---- */

static void ping(struct mcp_call *call)
{
    mcp_call_finish(call, json_object());
}

static void discover(struct mcp_call *call)
{
    json_t *result = json_pack("{s:[s],s:o}", "supportedVersions", MCP_MODERN, "capabilities",
                               server_capabilities(call->server));

    if (result && call->server->instructions)
        (void)json_object_set(result, "instructions", call->server->instructions);
    mcp_call_finish(call, result);
}

static void set_level(struct mcp_call *call)
{
    int level = level_of(json_string_value(json_object_get(call->params, "level")));

    if (level < 0) {
        invalid(call, "level must be one of debug, info, notice, warning, error, critical, alert, "
                      "emergency");
        return;
    }
    call->peer->log_level = (enum mcp_level)level;
    mcp_call_finish(call, json_object());
}

/* ---- lists ---- */

/* Where a page begins. "" is the beginning, as no cursor is. */
static bool read_cursor(const json_t *cursor, size_t count, size_t *ret)
{
    const char *text = json_string_value(cursor);
    char *end = NULL;
    unsigned long at;

    *ret = 0;
    if (!cursor || (text && json_string_length(cursor) == 0))
        return true;
    if (!text || text[0] != 'p' || text[1] < '0' || text[1] > '9' ||
        json_string_length(cursor) > 12)
        return false;
    at = strtoul(text + 1, &end, 10);
    *ret = at;
    return *end == '\0' && at > 0 && at < count;
}

static void list(struct mcp_call *call, enum offer_kind kind, const char *key)
{
    const struct offers *offers = &call->server->offers[kind];
    size_t first, last;
    json_t *page = json_array(), *result;

    if (!read_cursor(json_object_get(call->params, "cursor"), offers->count, &first)) {
        json_decref(page);
        invalid(call, "cursor: not one that this server gave");
        return;
    }
    last = offers->count - first > call->server->spec.page_size
               ? first + call->server->spec.page_size
               : offers->count;
    for (size_t i = first; i < last; i++)
        (void)json_array_append(page, offers->list[i].descriptor);
    result = json_pack("{s:o}", key, page);
    if (result && last < offers->count)
        (void)json_object_set_new(result, "nextCursor", json_sprintf("p%zu", last));
    mcp_call_finish(call, result);
}

static void list_tools(struct mcp_call *call)
{
    list(call, OFFER_TOOL, "tools");
}

static void list_prompts(struct mcp_call *call)
{
    list(call, OFFER_PROMPT, "prompts");
}

static void list_resources(struct mcp_call *call)
{
    list(call, OFFER_RESOURCE, "resources");
}

static void list_templates(struct mcp_call *call)
{
    list(call, OFFER_TEMPLATE, "resourceTemplates");
}

/* ---- tools, prompts, resources ---- */

/* The string that names what is wanted; false: the call was answered. */
static bool read_target(struct mcp_call *call, const char *key)
{
    const json_t *name = json_object_get(call->params, key);
    char message[80];

    call->target = json_string_value(name);
    if (call->target && strlen(call->target) == json_string_length(name))
        return true;
    (void)snprintf(message, sizeof(message), "params.%s must be a string", key);
    invalid(call, message);
    return false;
}

static bool read_arguments(struct mcp_call *call)
{
    const json_t *given = json_object_get(call->params, "arguments");

    if (given && !json_is_object(given)) {
        invalid(call, "params.arguments must be an object");
        return false;
    }
    call->arguments = given ? json_incref(json_shared(given)) : json_object();
    return true;
}

static void not_found(struct mcp_call *call, int code, const char *what)
{
    char message[160];

    (void)snprintf(message, sizeof(message), "%s: %.100s", what, call->target);
    mcp_call_fail(call, code, message, NULL);
}

static void call_tool(struct mcp_call *call)
{
    struct offer *tool;
    struct gb_err err;

    if (!read_target(call, "name") || !read_arguments(call))
        return;
    tool = offer_find(call->server, OFFER_TOOL, call->target);
    if (!tool) {
        not_found(call, RPC_INVALID_PARAMS, "unknown tool");
        return;
    }
    if (question_resume(call))
        return;
    if (tool->read) {
        json_t *given = call->arguments;

        call->arguments = tool->read(given);
        json_decref(given);
    }
    /* The model can repair its arguments, if it is told and not the program that drives it. */
    if (tool->schema && schema_validate(tool->schema, call->arguments, "arguments", &err) < 0) {
        mcp_call_refuse(call, err.msg);
        return;
    }
    tool->run(call, tool->data);
}

static void get_prompt(struct mcp_call *call)
{
    struct offer *prompt;

    if (!read_target(call, "name") || !read_arguments(call))
        return;
    prompt = offer_find(call->server, OFFER_PROMPT, call->target);
    if (!prompt)
        not_found(call, RPC_INVALID_PARAMS, "unknown prompt");
    else if (!question_resume(call))
        prompt->run(call, prompt->data);
}

static void read_resource(struct mcp_call *call)
{
    struct offer *resource;

    if (!read_target(call, "uri") || !read_arguments(call))
        return;
    resource = offer_find(call->server, OFFER_RESOURCE, call->target);
    if (!resource)
        resource = offer_match(call->server, call->target);
    if (!resource)
        mcp_call_no_resource(call);
    else if (!question_resume(call))
        resource->run(call, resource->data);
}

void mcp_call_no_resource(struct mcp_call *call)
{
    mcp_call_fail(call, call->is_modern ? RPC_INVALID_PARAMS : RESOURCE_NOT_FOUND,
                  "resource not found",
                  json_pack("{s:O}", "uri", json_object_get(call->params, "uri")));
}

static void subscribe(struct mcp_call *call)
{
    json_t *subscribed = call->peer->subscribed;

    if (!read_target(call, "uri"))
        return;
    if (json_object_size(subscribed) >= SUBSCRIBED_MAX) {
        invalid(call, "too many subscriptions: at most 256");
        return;
    }
    (void)json_object_set_new(subscribed, call->target, json_true());
    mcp_call_finish(call, json_object());
}

static void unsubscribe(struct mcp_call *call)
{
    if (!read_target(call, "uri"))
        return;
    (void)json_object_del(call->peer->subscribed, call->target);
    mcp_call_finish(call, json_object());
}

static void complete(struct mcp_call *call)
{
    const json_t *ref = json_object_get(call->params, "ref");
    const json_t *argument = json_object_get(call->params, "argument");
    const char *type = json_string_at(ref, "type", "");
    json_t *completion;

    if (strcmp(type, "ref/prompt") != 0 && strcmp(type, "ref/resource") != 0) {
        invalid(call, "params.ref must be of the type ref/prompt or ref/resource");
        return;
    }
    if (!json_is_string(json_object_get(argument, "name")) ||
        !json_is_string(json_object_get(argument, "value"))) {
        invalid(call, "params.argument must have a name and a value, both strings");
        return;
    }
    completion = call->server->spec.complete(call->server->spec.data, call, call->params);
    if (!completion)
        completion = json_pack("{s:[],s:i,s:b}", "values", "total", 0, "hasMore", 0);
    mcp_call_finish(call, json_pack("{s:o}", "completion", completion));
}

/* ---- the table ---- */

enum {
    BOTH = METHOD_LEGACY | METHOD_MODERN
};

static const struct method methods[] = {
    { "initialize", METHOD_LEGACY, peer_initialize },
    { "ping", METHOD_LEGACY, ping },
    { "logging/setLevel", METHOD_LEGACY, set_level },
    { "server/discover", METHOD_MODERN | METHOD_CACHED, discover },
    { "tools/list", BOTH | METHOD_CACHED | METHOD_WAITS, list_tools },
    { "tools/call", BOTH | METHOD_ASKS | METHOD_WAITS, call_tool },
    { "prompts/list", BOTH | METHOD_CACHED, list_prompts },
    { "prompts/get", BOTH | METHOD_ASKS, get_prompt },
    { "resources/list", BOTH | METHOD_CACHED, list_resources },
    { "resources/templates/list", BOTH | METHOD_CACHED, list_templates },
    { "resources/read", BOTH | METHOD_CACHED | METHOD_ASKS, read_resource },
    { "resources/subscribe", METHOD_LEGACY, subscribe },
    { "resources/unsubscribe", METHOD_LEGACY, unsubscribe },
    { "completion/complete", BOTH, complete },
    { "subscriptions/listen", METHOD_MODERN | METHOD_STAYS, listen_run },
};

/* Methods are there with what they are about. */
static bool is_offered(const struct mcp_server *s, const char *name)
{
    const bool has_resources =
        s->offers[OFFER_RESOURCE].is_offered || s->offers[OFFER_TEMPLATE].is_offered;
    const struct {
        const char *prefix;
        bool is_there;
    } needs[] = {
        { "tools/", s->offers[OFFER_TOOL].is_offered },
        { "prompts/", s->offers[OFFER_PROMPT].is_offered },
        { "resources/subscribe", has_resources && s->spec.has_subscriptions },
        { "resources/unsubscribe", has_resources && s->spec.has_subscriptions },
        { "resources/", has_resources },
        { "logging/", s->spec.has_logging },
        { "completion/", s->spec.complete != NULL },
        { "subscriptions/", s->spec.has_subscriptions },
    };

    for (size_t i = 0; i < ARRAY_LEN(needs); i++)
        if (strncmp(name, needs[i].prefix, strlen(needs[i].prefix)) == 0)
            return needs[i].is_there;
    return true;
}

bool method_is_early(const char *name)
{
    return strcmp(name, "initialize") == 0 || strcmp(name, "ping") == 0 ||
           strcmp(name, "server/discover") == 0;
}

const struct method *method_find(const struct mcp_server *server, const char *name, bool is_modern)
{
    unsigned era = is_modern ? METHOD_MODERN : METHOD_LEGACY;

    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (methods[i].flags & era && strcmp(methods[i].name, name) == 0)
            return is_offered(server, name) ? &methods[i] : NULL;
    return NULL;
}
