/* Calls of programs on their way to other servers, and back. */
#include "mcp/downstream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "engine/loop.h"
#include "engine/tools.h"
#include "glovebox.h"
#include "mcp/downstream_core.h"

enum {
    GRACE_MS = 200,
    LOG_MAX = 50,         /* lines about one list of tools */
    LARGE = 256 << 10,    /* bytes of a result */
    READ_PAUSE_US = 5000, /* between two pieces of a list */
    END_MS = 900          /* that ending all of them may take; then what is left is killed */
};

/* A call of a program's that a server works on. */
struct relay {
    struct relay *prev, *next;
    struct downstream *all;
    struct upstream *server;
    struct gb_call *call;
    struct client_request *request;
    json_t *returns;
    bool is_read;            /* of a resource, by its handle */
    json_t *result;          /* a large one, which has come, and waits for: */
    struct event *on_result; /* a turn of the loop's own */
};

/* ---- what is told ---- */

void downstream_log(struct upstream *u, const char *format, ...)
{
    char text[600];
    va_list args;

    if (u->n_logged++ >= LOG_MAX) /* nobody reads a thousand, and writing them takes time */
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (u->n_logged == LOG_MAX)
        (void)snprintf(text, sizeof(text), "(there is more to say of its tools than is shown)");
    u->all->spec.log(u->all->spec.data, u->spec->key, text);
}

static void on_log(void *data, const char *text)
{
    const struct upstream *u = data;

    u->all->spec.log(u->all->spec.data, u->spec->key, text);
}

/* ---- calls ---- */

static void relay_free(struct relay *r)
{
    if (r->prev)
        r->prev->next = r->next;
    else
        r->all->relays = r->next;
    if (r->next)
        r->next->prev = r->prev;
    if (r->on_result)
        event_free(r->on_result);
    json_decref(r->result);
    json_decref(r->returns);
    free(r);
}

/* What a server says may hold what only it and we should know. */
static void refuse(const struct upstream *u, struct gb_call *call, const char *type,
                   const char *message)
{
    auto_free char *text = strdup(message ? message : "");

    if (text)
        server_scrub(u->spec, text);
    (void)gb_tool_error(call, type, text);
}

static void answer(const struct upstream *u, struct gb_call *call, const json_t *value,
                   bool has_handles)
{
    auto_free char *text = json_text(value);

    if (!text) {
        (void)gb_tool_error(call, "MemoryError", "memory ran out");
        return;
    }
    server_scrub(u->spec, text);
    if (has_handles)
        (void)engine_tool_blocks(call, text);
    else
        (void)gb_tool_result(call, text);
}

static void answer_result(const struct relay *r, struct gb_call *call, const json_t *result)
{
    struct outcome out;

    outcome_of(r->server, result, r->returns, &out);
    if (out.value)
        answer(r->server, call, out.value, out.has_handles);
    else
        refuse(r->server, call, out.type, out.message);
    json_decref(out.value);
    free(out.message);
}

static void answer_read(const struct relay *r, struct gb_call *call, const json_t *result)
{
    auto_json json_t *data = outcome_of_read(result);

    if (data)
        answer(r->server, call, data, false);
    else
        (void)gb_tool_error(call, "InvalidResult", "the server gave nothing that can be read");
}

static void give_result(struct relay *r, const json_t *result)
{
    if (r->is_read)
        answer_read(r, r->call, result);
    else
        answer_result(r, r->call, result);
    relay_free(r);
}

static void on_result(evutil_socket_t fd, short what, void *data)
{
    struct relay *r = data;

    (void)fd;
    (void)what;
    give_result(r, r->result);
}

/* A large result was read in this turn of the loop; it is checked and passed on in another. */
static bool put_off(struct relay *r, const struct client_answer *a)
{
    static const struct timeval soon = { .tv_usec = 1000 }; /* others come in between */

    r->on_result =
        a->bytes > LARGE ? evtimer_new(engine_loop(r->all->spec.engine), on_result, r) : NULL;
    if (!r->on_result)
        return false;
    r->request = NULL;
    r->result = json_incref(json_shared(a->result));
    /* libevent's time is that at which this turn began, which may be long ago */
    (void)event_base_update_cache_time(engine_loop(r->all->spec.engine));
    (void)evtimer_add(r->on_result, &soon);
    return true;
}

static void on_answer(void *data, const struct client_answer *a)
{
    struct relay *r = data;

    if (!a->result) {
        refuse(r->server, r->call, a->type, a->message);
        relay_free(r);
    } else if (!put_off(r, a)) {
        give_result(r, a->result);
    }
}

/* Hand a call over to a server; `params` is taken. */
static void relay(struct upstream *u, struct gb_call *call, const char *method, json_t *params,
                  const json_t *returns)
{
    struct relay *r = params ? calloc(1, sizeof(*r)) : NULL;
    char text[120];

    if (client_is_away(u->client)) { /* why is in the log: it may name the host's files */
        (void)snprintf(text, sizeof(text), "the server '%.60s' is not there", u->spec->key);
        refuse(u, call, "ServerGone", text);
        json_decref(params);
        free(r);
        return;
    }
    if (r)
        *r = (struct relay){ .all = u->all,
                             .server = u,
                             .call = call,
                             .returns = json_incref(json_shared(returns)),
                             .is_read = strcmp(method, "resources/read") == 0,
                             .next = u->all->relays };
    if (r)
        r->request = client_ask(u->client, method, params, 0, on_answer, r);
    else
        json_decref(params);
    if (!r || !r->request) {
        (void)gb_tool_error(call, "TooManyCalls", "too many calls wait for this server already");
        if (r)
            json_decref(r->returns);
        free(r);
        return;
    }
    if (r->next)
        r->next->prev = r;
    u->all->relays = r;
}

static void read_handle(struct downstream *d, struct gb_call *call, const json_t *args)
{
    struct shelf_item item;

    if (shelf_find(d->shelf, json_string_at(args, "handle", ""), &item) < 0)
        (void)gb_tool_error(call, "UnknownHandle",
                            "it has expired: call the tool that gave it again");
    else if (item.data)
        answer(&d->servers[item.server], call, item.data, false);
    else
        relay(&d->servers[item.server], call, "resources/read", json_pack("{s:s}", "uri", item.uri),
              NULL);
}

static const struct offered *find(struct downstream *d, const char *name, struct upstream **ret)
{
    size_t len = strcspn(name, ".");

    for (size_t i = 0; i < d->spec.servers.count; i++) {
        struct upstream *u = &d->servers[i];

        if (strlen(u->spec->ident) != len || strncmp(u->spec->ident, name, len) != 0)
            continue;
        *ret = u;
        for (size_t k = 0; k < u->offer.n_tools; k++)
            if (strcmp(u->offer.tools[k].name, name) == 0)
                return &u->offer.tools[k];
    }
    return NULL;
}

static void on_call(void *data, struct gb_call *call, const char *name, const char *text)
{
    struct downstream *d = data;
    json_t *args = json_loads(text, JSON_ALLOW_NUL, NULL);
    struct upstream *u = NULL;
    const struct offered *o = find(d, name, &u);

    if (!args || d->is_ending) {
        (void)gb_tool_error(call, "ServerGone", "the servers are being ended");
    } else if (strcmp(name, "read_handle") == 0) {
        read_handle(d, call, args);
    } else if (!o) { /* it was there when the program began */
        (void)gb_tool_error(call, "UnknownTool", "the server does not have this tool any more");
    } else {
        relay(u, call, "tools/call", json_pack("{s:s,s:O}", "name", o->tool, "arguments", args),
              o->returns);
    }
    json_decref(args);
}

static void on_cancelled(void *data, struct gb_call *call)
{
    struct downstream *d = data;
    struct relay *r = d->relays;

    while (r && r->call != call)
        r = r->next;
    if (r && r->request)
        client_cancel(r->request);
    if (r)
        relay_free(r);
    (void)gb_tool_error(call, "Cancelled", NULL); /* which only frees it */
}

/* ---- the engine's tools ---- */

static const char about_tools[] =
    "[{\"name\": \"search_tools\", \"builtin\": \"search\", \"description\": \"Find tools by "
    "words: "
    "a list of name, signature and description, best first\", \"parameters\": {\"type\": "
    "\"object\", "
    "\"properties\": {\"query\": {\"type\": \"string\", \"maxLength\": 500}, \"limit\": {\"type\": "
    "\"integer\", \"minimum\": 1, \"maximum\": 50, \"default\": 10}}, \"required\": [\"query\"], "
    "\"additionalProperties\": false}, \"returns\": {\"type\": \"array\", \"items\": {\"type\": "
    "\"object\"}}},"
    "{\"name\": \"describe_tool\", \"builtin\": \"describe\", \"description\": \"All about one "
    "tool, "
    "with the JSON Schemas of its parameters and of what it returns\", \"parameters\": {\"type\": "
    "\"object\", \"properties\": {\"name\": {\"type\": \"string\", \"maxLength\": 200}}, "
    "\"required\": [\"name\"], \"additionalProperties\": false}, \"returns\": {\"type\": "
    "\"object\"}},"
    "{\"name\": \"read_handle\", \"builtin\": \"read\", \"hosted\": true, \"timeout\": 60, "
    "\"parameters\": {\"type\": \"object\", \"properties\": {\"handle\": {\"type\": \"string\", "
    "\"maxLength\": 64}}, \"required\": [\"handle\"], \"additionalProperties\": false}}]";

/* Are programs to find that beside the servers? */
static bool is_about_tools(const char *name)
{
    return strcmp(name, "search_tools") == 0 || strcmp(name, "describe_tool") == 0;
}

static bool has_own(const struct downstream *d, const char *name)
{
    for (size_t i = 0; i < json_array_size(d->own); i++)
        if (strcmp(json_string_at(json_array_get(d->own, i), "name", ""), name) == 0)
            return true;
    return false;
}

/* As many of each server's as leave the others their part: one that has too many takes none from
 * them. */
static size_t share_of(const struct downstream *d, size_t room)
{
    for (size_t share = room;; share--) {
        size_t n = 0;
        for (size_t i = 0; i < d->spec.servers.count; i++)
            n += d->servers[i].offer.n_tools < share ? d->servers[i].offer.n_tools : share;
        if (n <= room || share == 0)
            return share;
    }
}

/* The engine's own, and those about tools. NULL with err. */
static struct toolset *fixed_tools(const struct downstream *d, struct gb_err *err)
{
    auto_json json_t *about = json_loads(about_tools, 0, NULL);
    auto_json json_t *list = json_copy(d->own);

    for (size_t i = 0; i < json_array_size(about); i++)
        if (!has_own(d, json_string_at(json_array_get(about, i), "name", "")))
            (void)json_array_append(list, json_array_get(about, i));
    return toolset_read(list, err);
}

static struct toolset *all_tools(struct downstream *d, struct gb_err *err)
{
    size_t room = TOOLS_MAX - toolset_count(d->fixed), share = share_of(d, room), n = 0;
    auto_free struct toolset **sets = calloc(TOOLS_MAX + 1, sizeof(struct toolset *));

    if (!sets) {
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a list of tools");
        return NULL;
    }
    sets[n++] = d->fixed;
    for (size_t i = 0; i < d->spec.servers.count; i++) {
        struct upstream *u = &d->servers[i];
        for (size_t k = 0; k < u->offer.n_tools && k < share; k++)
            sets[n++] = u->offer.tools[k].set;
        if (u->offer.n_tools > share)
            downstream_log(u, "there are more than %d tools in all: %zu of its %zu are left out",
                           TOOLS_MAX, u->offer.n_tools - share, u->offer.n_tools);
    }
    return toolset_join(sets, n, err);
}

/* Give the engine what there is now. */
static void install(struct downstream *d)
{
    struct gb_err err = { 0 };
    struct toolset *set = all_tools(d, &err);
    auto_free char *error = NULL;
    auto_json json_t *why = NULL;

    if (!set) {
        d->spec.log(d->spec.data, "*", err.msg);
    } else if (engine_use_tools(d->spec.engine, set, &error) < 0) {
        why = error ? json_loads(error, 0, NULL) : NULL;
        d->spec.log(d->spec.data, "*", json_string_at(why, "message", "memory ran out"));
    }
    if (d->published)
        passthrough_show(d);
    if (d->spec.changed)
        d->spec.changed(d->spec.data, d);
}

static void on_changed(evutil_socket_t fd, short what, void *data)
{
    struct downstream *d = data;

    (void)fd;
    (void)what;
    if (!d->is_ending)
        install(d);
}

/* Whoever waits for all servers wants their tools too. */
static void on_settled(void *data)
{
    struct upstream *u = data;

    if (downstream_is_settled(u->all)) {
        (void)evtimer_del(u->all->on_changed);
        install(u->all);
    }
    gb_wake(u->all->spec.engine);
}

/* Read on; then wait for as long as that took, which is the others' time. */
static void read_on(struct upstream *u)
{
    static const struct timeval now = { 0 }, pause = { .tv_usec = READ_PAUSE_US };

    if (!offer_go_on(u)) {
        (void)evtimer_add(u->on_read, &pause);
        return;
    }
    (void)evtimer_add(u->all->on_changed, &now); /* several servers may have something new */
}

static void on_read(evutil_socket_t fd, short what, void *data)
{
    struct upstream *u = data;

    (void)fd;
    (void)what;
    if (u->all->is_ending)
        return;
    read_on(u);
    if (offer_is_read(u) && downstream_is_settled(u->all))
        on_settled(u);
}

static void on_listed(void *data)
{
    struct upstream *u = data;

    offer_begin(u);
    read_on(u);
}

/* ---- life ---- */

static int start_servers(struct downstream *d, struct gb_err *err)
{
    for (size_t i = 0; i < d->spec.servers.count; i++) {
        struct upstream *u = &d->servers[i];
        const struct client_spec spec = {
            .base = engine_loop(d->spec.engine),
            .server = &d->spec.servers.list[i],
            .directory = engine_directory(d->spec.engine),
            .grace_ms = d->spec.grace_ms,
            .events = { .listed = on_listed, .settled = on_settled, .log = on_log, .data = u }
        };

        *u = (struct upstream){ .all = d, .number = i, .spec = spec.server };
        if (has_own(d, u->spec->ident) || is_about_tools(u->spec->ident))
            return gb_fail(err, GB_E_INVALID, 0,
                           "the server '%.60s' and a tool would both be '%s' to programs",
                           u->spec->key, u->spec->ident);
        if (u->spec->argv &&
            engine_guard_program(d->spec.engine, u->spec->argv, u->spec->cwd, err) < 0)
            return -1;
        u->on_read = evtimer_new(spec.base, on_read, u);
        u->client = u->on_read ? client_new(&spec) : NULL;
        if (!u->client)
            return gb_fail(err, GB_E_SYSTEM, ENOMEM, "beginning with the MCP servers");
    }
    return 0;
}

struct downstream *downstream_new(struct downstream_spec *spec, struct gb_err *err)
{
    struct downstream *d = calloc(1, sizeof(*d));
    auto_free char *tools = gb_tools(spec->engine);
    struct tool_host host = { .call = on_call, .cancelled = on_cancelled, .data = d };

    if (!d) {
        servers_done(&spec->servers);
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "beginning with the MCP servers");
        return NULL;
    }
    d->spec = *spec;
    if (d->spec.grace_ms == 0)
        d->spec.grace_ms = GRACE_MS;
    d->servers = calloc(spec->servers.count + 1, sizeof(*d->servers));
    d->own = tools ? json_loads(tools, 0, NULL) : NULL;
    d->shelf = shelf_new();
    d->on_changed = evtimer_new(engine_loop(spec->engine), on_changed, d);
    if (!d->servers || !d->own || !d->shelf || !d->on_changed) {
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "beginning with the MCP servers");
        return downstream_free(d);
    }
    d->fixed = fixed_tools(d, err);
    if (!d->fixed || start_servers(d, err) < 0)
        return downstream_free(d);
    engine_host_tools(spec->engine, &host);
    return d;
}

bool downstream_is_settled(const struct downstream *d)
{
    for (size_t i = 0; i < d->spec.servers.count; i++)
        if (!d->servers[i].client || !client_is_settled(d->servers[i].client) ||
            !offer_is_read(&d->servers[i]))
            return false;
    return true;
}

int downstream_check(const struct downstream *d, struct gb_err *err)
{
    for (size_t i = 0; i < d->spec.servers.count; i++) {
        const struct upstream *u = &d->servers[i];

        if (!client_is_ready(u->client))
            return gb_fail(err, GB_E_SYSTEM, 0, "the MCP server '%.60s' is not there: %.150s",
                           u->spec->key, client_problem(u->client));
    }
    return 0;
}

void downstream_publish(struct downstream *d, struct mcp_server *server)
{
    d->published = server;
    if (server)
        passthrough_show(d);
}

/* Close them all, and let the loop see them out. */
static void end_servers(struct downstream *d)
{
    struct event_base *base = engine_loop(d->spec.engine);
    int64_t until = clock_us() + END_MS * 1000;
    const struct timeval nap = { .tv_usec = 20000 };
    bool is_any = true;

    for (size_t i = 0; i < d->spec.servers.count; i++)
        if (d->servers[i].client)
            client_close(d->servers[i].client);
    while (is_any && clock_us() < until) {
        is_any = false;
        for (size_t i = 0; i < d->spec.servers.count; i++)
            is_any = is_any || (d->servers[i].client && !client_is_gone(d->servers[i].client));
        if (is_any) {
            (void)evtimer_add(d->on_changed, &nap); /* the loop comes round */
            (void)event_base_loop(base, EVLOOP_ONCE);
        }
    }
}

struct downstream *downstream_free(struct downstream *d)
{
    if (!d)
        return NULL;
    d->is_ending = true;
    d->published = NULL;
    if (d->servers && d->on_changed)
        end_servers(d);
    while (d->relays) { /* whose results were put off: the others have failed with their servers */
        refuse(d->relays->server, d->relays->call, "ServerGone", "the servers are being ended");
        relay_free(d->relays);
    }
    engine_host_tools(d->spec.engine, NULL);
    for (size_t i = 0; d->servers && i < d->spec.servers.count; i++) {
        (void)client_free(d->servers[i].client);
        if (d->servers[i].on_read)
            event_free(d->servers[i].on_read);
        offer_done(&d->servers[i].offer);
        offer_done(&d->servers[i].reading);
    }
    if (d->on_changed)
        event_free(d->on_changed);
    (void)shelf_free(d->shelf);
    json_decref(d->own);
    (void)toolset_unref(d->fixed);
    json_decref(d->shown);
    servers_done(&d->spec.servers);
    free(d->servers);
    free(d);
    return NULL;
}
