/*
 * Our MCP client as the conformance suite drives clients: the address of its server is the last
 * argument, what to do comes in the environment. Lists the tools, calls all of them side by side
 * with arguments made from their schemas (or those that the suite names), and reads what else there
 * is.
 */
#include <event2/event.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "mcp/client.h"
#include "mcp/servers.h"

enum {
    CALL_MS = 10000
};

struct driver {
    struct event_base *base;
    struct client *client;
    int under_way;
    bool is_settled;
};

static void on_listed(void *data)
{
    (void)data;
}

static void on_settled(void *data)
{
    ((struct driver *)data)->is_settled = true;
}

static void on_log(void *data, const char *text)
{
    (void)data;
    (void)fprintf(stderr, "%s\n", text);
}

/* A value of a schema: its default, or the first that comes to mind. */
static json_t *sample(const json_t *schema)
{
    const char *type = json_string_at(schema, "type", "string");
    const json_t *known = json_object_get(schema, "default");

    if (!known)
        known = json_object_get(schema, "const");
    if (!known)
        known = json_array_get(json_object_get(schema, "enum"), 0);
    if (known)
        return json_deep_copy(known);
    if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
        return json_integer(5);
    if (strcmp(type, "boolean") == 0)
        return json_true();
    if (strcmp(type, "array") == 0)
        return json_array();
    return strcmp(type, "object") == 0 ? json_object() : json_string("test");
}

static json_t *samples(const json_t *schema, bool are_all)
{
    json_t *out = json_object(), *property;
    const char *name;

    json_object_foreach (json_object_get(schema, "properties"), name, property)
        if (are_all || json_array_has(json_object_get(schema, "required"), name))
            (void)json_object_set_new(out, name, sample(property));
    return out;
}

/* The user accepts, and leaves everything as it was. */
static json_t *on_elicit(void *data, const json_t *params)
{
    (void)data;
    return json_pack("{s:s,s:o}", "action", "accept", "content",
                     samples(json_object_get(params, "requestedSchema"), true));
}

static void on_answer(void *data, const struct client_answer *a)
{
    struct driver *d = data;
    auto_free char *text = a->result ? json_text(a->result) : NULL;

    d->under_way--;
    (void)printf("%s\n", text ? text : a->message);
}

static void ask(struct driver *d, const char *method, json_t *params)
{
    if (client_ask(d->client, method, params, CALL_MS, on_answer, d))
        d->under_way++;
}

static void call_tools(struct driver *d, const json_t *wanted)
{
    const json_t *tools = client_tools(d->client);

    for (size_t i = 0; i < json_array_size(wanted); i++)
        ask(d, "tools/call", json_deep_copy(json_array_get(wanted, i)));
    for (size_t i = 0; !wanted && i < json_array_size(tools); i++) {
        const json_t *tool = json_array_get(tools, i);

        ask(d, "tools/call",
            json_pack("{s:O,s:o}", "name", json_object_get(tool, "name"), "arguments",
                      samples(json_object_get(tool, "inputSchema"), false)));
    }
}

static void drive(struct driver *d)
{
    while (d->under_way > 0)
        (void)event_base_loop(d->base, EVLOOP_ONCE);
}

/* The first of each list, by the key that it is asked for with. */
static const struct {
    const char *list, *member, *get, *key;
} others[] = {
    { "resources/list", "resources", "resources/read", "uri" },
    { "prompts/list", "prompts", "prompts/get", "name" },
};

struct other {
    struct driver *driver;
    size_t which;
};

static void on_other(void *data, const struct client_answer *a)
{
    struct other *o = data;
    const json_t *first = json_array_get(json_object_get(a->result, others[o->which].member), 0);
    const json_t *key = json_object_get(first, others[o->which].key);

    o->driver->under_way--;
    if (key)
        ask(o->driver, others[o->which].get, json_pack("{s:O}", others[o->which].key, key));
}

static void ask_others(struct driver *d)
{
    static struct other asked[ARRAY_LEN(others)];

    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        asked[i] = (struct other){ .driver = d, .which = i };
        if (client_ask(d->client, others[i].list, json_object(), CALL_MS, on_other, &asked[i]))
            d->under_way++;
    }
    drive(d);
}

static void note(void *data, const char *text)
{
    (void)data;
    (void)text;
}

int main(int argc, char **argv)
{
    const char *context = getenv("MCP_CONFORMANCE_CONTEXT"),
               *scenario = getenv("MCP_CONFORMANCE_SCENARIO");
    auto_json json_t *known = context ? json_loads(context, 0, NULL) : NULL;
    auto_json json_t *config = json_pack("{s:{s:s}}", "suite", "url", argv[argc - 1]);
    char self[PATH_MAX] = "";
    struct servers servers;
    struct gb_err err;
    struct driver d = { .base = event_base_new() };

    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ||
        servers_read(config, &servers, note, NULL, &err) < 0)
        return 2;
    d.client = client_new(&(struct client_spec){
        .base = d.base,
        .server = &servers.list[0],
        .directory = getenv("GLOVEBOX_MODULES") ? getenv("GLOVEBOX_MODULES") : dirname(self),
        .grace_ms = 200,
        .events = { .listed = on_listed,
                    .settled = on_settled,
                    .log = on_log,
                    .elicit = on_elicit,
                    .data = &d } });
    while (!d.is_settled)
        (void)event_base_loop(d.base, EVLOOP_ONCE);
    if (!client_is_ready(d.client)) {
        (void)fprintf(stderr, "%s\n", client_problem(d.client));
        return 1;
    }
    call_tools(&d, json_object_get(known, "toolCalls"));
    drive(&d);
    if (scenario && strcmp(scenario, "http-standard-headers") == 0)
        ask_others(&d);
    client_close(d.client);
    while (!client_is_gone(d.client))
        (void)event_base_loop(d.base, EVLOOP_ONCE);
    (void)client_free(d.client);
    servers_done(&servers);
    event_base_free(d.base);
    return 0;
}
