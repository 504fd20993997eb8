/* What a server offers: tools, prompts, resources and templates, in the order in which they
 * came. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/json.h"
#include "base/own.h"
#include "engine/schema.h"
#include "mcp/core.h"

static const char *const name_keys[OFFER_KINDS] = {
    [OFFER_TOOL] = "name",
    [OFFER_PROMPT] = "name",
    [OFFER_RESOURCE] = "uri",
    [OFFER_TEMPLATE] = "uriTemplate",
};

static void on_changed(evutil_socket_t fd, short what, void *data)
{
    struct mcp_server *s = data;
    unsigned changed = s->changed;

    (void)fd;
    (void)what;
    s->changed = 0;
    for (unsigned kind = 0; kind < OFFER_KINDS; kind++)
        if (changed & 1u << kind)
            listen_changed(s, (enum offer_kind)kind);
}

void server_prepare(struct mcp_server *s)
{
    void (*prepare)(void *) = s->spec.prepare;

    s->spec.prepare = NULL;
    s->is_preparing = true;
    if (prepare)
        prepare(s->spec.data);
    s->is_preparing = false;
}

void mcp_server_give_up(struct mcp_server *s, const char *why)
{
    free(s->given_up);
    s->given_up = strdup(why);
}

/* The handshake is answered, and nothing else has been asked for yet. */
static void on_idle(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    server_prepare(data);
}

void server_prepare_soon(struct mcp_server *s)
{
    static const struct timeval soon = { .tv_usec = 1000 };

    if (s->spec.prepare)
        (void)evtimer_add(s->on_idle, &soon);
}

static json_t *info_of(const struct mcp_server_spec *spec)
{
    json_t *info = json_pack("{s:s,s:s}", "name", spec->name, "version", spec->version);

    if (info && spec->title)
        (void)json_object_set_new(info, "title", json_string(spec->title));
    return info;
}

struct mcp_server *mcp_server_new(const struct mcp_server_spec *spec)
{
    struct mcp_server *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->spec = *spec;
    s->spec.page_size = spec->page_size ? spec->page_size : PAGE_SIZE;
    s->spec.ask_ttl_ms = spec->ask_ttl_ms ? spec->ask_ttl_ms : ASK_TTL_MS;
    s->info = info_of(spec);
    s->instructions = spec->instructions ? json_string(spec->instructions) : NULL;
    s->on_changed = evtimer_new(spec->base, on_changed, s);
    s->on_idle = evtimer_new(spec->base, on_idle, s);
    s->offers[OFFER_TOOL].is_offered = spec->has_tools;
    s->offers[OFFER_RESOURCE].is_offered = spec->has_resources;
    if (!s->info || !s->on_changed || !s->on_idle ||
        getrandom(s->key, sizeof(s->key), 0) != sizeof(s->key))
        return mcp_server_free(s);
    return s;
}

struct mcp_server *mcp_server_free(struct mcp_server *s)
{
    if (!s)
        return NULL;
    while (s->parked)
        call_cancel(s->parked);
    for (unsigned kind = 0; kind < OFFER_KINDS; kind++) {
        for (size_t i = 0; i < s->offers[kind].count; i++)
            json_decref(s->offers[kind].list[i].descriptor);
        free(s->offers[kind].list);
    }
    if (s->on_changed)
        event_free(s->on_changed);
    if (s->on_idle)
        event_free(s->on_idle);
    if (s->on_held)
        event_free(s->on_held);
    json_decref(s->info);
    json_decref(s->instructions);
    explicit_bzero(s->key, sizeof(s->key));
    free(s->given_up);
    free(s);
    return NULL;
}

/* ---- waiting ---- */

bool server_holds(struct mcp_call *call)
{
    call->is_held = call->server->on_held && call->method->flags & METHOD_WAITS;
    return call->is_held;
}

/* The first that a peer made: lists have the last one first. */
static struct mcp_call *held_call(const struct mcp_server *s)
{
    struct mcp_call *first = NULL;

    for (const struct mcp_peer *peer = s->peers; peer && !first; peer = peer->next)
        for (struct mcp_call *call = peer->calls; call; call = call->next)
            if (call->is_held)
                first = call;
    return first;
}

void mcp_server_release(struct mcp_server *s)
{
    struct mcp_call *call;

    if (!s->on_held)
        return;
    event_free(take_ptr(s->on_held));
    while ((call = held_call(s))) { /* from the start after each: any of them may end others */
        call->is_held = false;
        call->method->run(call);
    }
}

static void on_held(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    mcp_server_release(data);
}

int mcp_server_hold(struct mcp_server *s, unsigned timeout_ms)
{
    const struct timeval in = { .tv_sec = timeout_ms / 1000,
                                .tv_usec = (suseconds_t)(timeout_ms % 1000 * 1000) };

    if (!s->on_held)
        s->on_held = evtimer_new(s->spec.base, on_held, s);
    return s->on_held && evtimer_add(s->on_held, &in) == 0 ? 0 : -1;
}

struct mcp_counts mcp_server_counts(const struct mcp_server *s)
{
    return (struct mcp_counts){
        .calls = s->n_calls, .parked = s->n_parked, .peers = s->n_peers, .listening = s->n_listening
    };
}

/* ---- offers ---- */

static void changed(struct mcp_server *s, enum offer_kind kind)
{
    struct timeval now = { 0 };

    if (!s->spec.has_subscriptions || !s->peers || s->is_preparing || s->spec.prepare)
        return; /* nobody has seen it as it was */
    s->changed |= 1u << kind;
    (void)evtimer_add(s->on_changed, &now);
}

struct offer *offer_find(struct mcp_server *s, enum offer_kind kind, const char *name)
{
    struct offers *offers = &s->offers[kind];

    for (size_t i = 0; i < offers->count; i++)
        if (strcmp(offers->list[i].name, name) == 0)
            return &offers->list[i];
    return NULL;
}

/* A schema that says more than can be checked is the handler's to check. */
static const json_t *schema_of(enum offer_kind kind, const json_t *descriptor)
{
    const json_t *schema = json_object_get(descriptor, "inputSchema");
    struct gb_err ignored;

    return kind == OFFER_TOOL && schema_check(schema, &ignored) == 0 ? schema : NULL;
}

static int check_offer(enum offer_kind kind, const json_t *descriptor, struct gb_err *err)
{
    const json_t *name = json_object_get(descriptor, name_keys[kind]);
    const json_t *schema = json_object_get(descriptor, "inputSchema");

    if (!json_is_string(name) || json_string_length(name) == 0)
        return gb_fail(err, GB_E_INVALID, 0, "\"%s\" must be a string", name_keys[kind]);
    if (kind == OFFER_TOOL && strcmp(json_string_at(schema, "type", ""), "object") != 0)
        return gb_fail(err, GB_E_INVALID, 0, "the tool '%.80s' has no inputSchema of type object",
                       json_string_value(name));
    return 0;
}

/* Room for one more, which is empty. */
static struct offer *offer_add(struct offers *offers)
{
    struct offer *list = realloc(offers->list, (offers->count + 1) * sizeof(*list));

    if (!list)
        return NULL;
    offers->list = list;
    list[offers->count] = (struct offer){ 0 };
    return &list[offers->count++];
}

static int add(struct mcp_server *s, enum offer_kind kind, const struct offer *given,
               struct gb_err *err)
{
    auto_json json_t *descriptor = given->descriptor;
    struct offer *o;
    bool is_new;

    if (!descriptor)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "offering a tool");
    if (check_offer(kind, descriptor, err) < 0)
        return -1;
    o = offer_find(s, kind, json_string_at(descriptor, name_keys[kind], ""));
    if (!o)
        o = offer_add(&s->offers[kind]);
    if (!o)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "offering a tool");
    is_new = !json_equal(o->descriptor, descriptor);
    json_decref(o->descriptor);
    *o = *given;
    o->name = json_string_at(descriptor, name_keys[kind], "");
    o->schema = schema_of(kind, descriptor);
    descriptor = NULL;
    s->offers[kind].is_offered = true;
    if (is_new)
        changed(s, kind);
    return 0;
}

static bool withdraw(struct mcp_server *s, enum offer_kind kind, const char *name)
{
    struct offers *offers = &s->offers[kind];
    struct offer *o = offer_find(s, kind, name);

    if (!o)
        return false;
    json_decref(o->descriptor);
    offers->count--;
    memmove(o, o + 1, (size_t)(offers->list + offers->count - o) * sizeof(*o));
    changed(s, kind);
    return true;
}

#define ADD(kind) \
    add(server, kind, &(struct offer){ .descriptor = descriptor, .run = run, .data = data }, err)

int mcp_server_add_tool(struct mcp_server *server, json_t *descriptor, mcp_handler run, void *data,
                        struct gb_err *err)
{
    return ADD(OFFER_TOOL);
}

int mcp_server_add_lenient_tool(struct mcp_server *server, json_t *descriptor, mcp_reader read,
                                mcp_handler run, void *data, struct gb_err *err)
{
    struct offer tool = { .descriptor = descriptor, .read = read, .run = run, .data = data };

    return add(server, OFFER_TOOL, &tool, err);
}

int mcp_server_add_prompt(struct mcp_server *server, json_t *descriptor, mcp_handler run,
                          void *data, struct gb_err *err)
{
    return ADD(OFFER_PROMPT);
}

int mcp_server_add_resource(struct mcp_server *server, json_t *descriptor, mcp_handler run,
                            void *data, struct gb_err *err)
{
    return ADD(OFFER_RESOURCE);
}

int mcp_server_add_template(struct mcp_server *server, json_t *descriptor, mcp_handler run,
                            void *data, struct gb_err *err)
{
    return ADD(OFFER_TEMPLATE);
}

bool mcp_server_remove_tool(struct mcp_server *server, const char *name)
{
    return withdraw(server, OFFER_TOOL, name);
}

bool mcp_server_remove_prompt(struct mcp_server *server, const char *name)
{
    return withdraw(server, OFFER_PROMPT, name);
}

bool mcp_server_remove_resource(struct mcp_server *server, const char *uri)
{
    return withdraw(server, OFFER_RESOURCE, uri);
}

const json_t *mcp_server_tool(const struct mcp_server *server, const char *name)
{
    const struct offers *offers = &server->offers[OFFER_TOOL];

    for (size_t i = 0; i < offers->count; i++)
        if (strcmp(offers->list[i].name, name) == 0)
            return offers->list[i].descriptor;
    return NULL;
}

/* Is it what the template stands for? {NAME} is some text without a slash, {+NAME} any text. */
static bool matches(const char *template, const char *uri)
{
    for (;;) {
        size_t literal = strcspn(template, "{");
        const char *end = template[literal] ? strchr(template + literal, '}') : NULL;
        size_t run;

        if (strncmp(template, uri, literal) != 0)
            return false;
        uri += literal;
        if (!end)
            return *uri == '\0';
        run = template[literal + 1] == '+' ? strlen(uri) : strcspn(uri, "/");
        template = end + 1;
        if (*template) { /* up to where the next literal begins */
            size_t next = strcspn(template, "{");
            const char *at = uri;

            while (at < uri + run && strncmp(at, template, next) != 0)
                at++;
            run = (size_t)(at - uri);
        }
        if (run == 0)
            return false;
        uri += run;
    }
}

struct offer *offer_match(struct mcp_server *s, const char *uri)
{
    struct offers *templates = &s->offers[OFFER_TEMPLATE];

    for (size_t i = 0; i < templates->count; i++)
        if (matches(templates->list[i].name, uri))
            return &templates->list[i];
    return NULL;
}

/* ---- capabilities ---- */

json_t *server_capabilities(const struct mcp_server *s)
{
    int tells = s->spec.has_subscriptions;
    json_t *caps = json_object();

    if (s->offers[OFFER_TOOL].is_offered)
        (void)json_object_set_new(caps, "tools", json_pack("{s:b}", "listChanged", tells));
    if (s->offers[OFFER_PROMPT].is_offered)
        (void)json_object_set_new(caps, "prompts", json_pack("{s:b}", "listChanged", tells));
    if (s->offers[OFFER_RESOURCE].is_offered || s->offers[OFFER_TEMPLATE].is_offered)
        (void)json_object_set_new(caps, "resources",
                                  json_pack("{s:b,s:b}", "subscribe", tells, "listChanged", tells));
    if (s->spec.has_logging)
        (void)json_object_set_new(caps, "logging", json_object());
    if (s->spec.complete)
        (void)json_object_set_new(caps, "completions", json_object());
    return caps;
}
