/*
 * The life of a client: begin, find the era, list the tools, be ready; end, and begin again.
 *
 * A server that is started is asked `server/discover` first. One that knows it is modern; any other
 * answer, or none in time, means `initialize`. Some old servers end when they are asked what they
 * do not know: those are begun with once more, and greeted at once. Which era it was is remembered
 * for the next time.
 */
#include "mcp/client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "mcp/client_core.h"

enum {
    PROBE_MS = 5000,
    BACKOFF_MIN_MS = 100,
    BACKOFF_MAX_MS = 60000,
    WAIT_MAX_MS = 5000,    /* for a server that will begin again: a call waits no longer */
    HEALTHY_US = 30000000, /* a life that long makes it forget the failures before */
    REFRESH_MS = 200,      /* after a change */
    WINDOW_US = 10000000,
    FLOOD_MAX = 20000, /* messages in a window that nobody asked for */
    LOG_MAX = 100      /* lines in a window */
};

static void begin(struct client *c);
static void go_greet(struct client *c);

/* ---- what the operator is told ---- */

/* Counts one more; how many there are in this window. */
static unsigned flood_count(struct flood *f)
{
    int64_t now = clock_us();

    if (now - f->since_us > WINDOW_US)
        *f = (struct flood){ .since_us = now };
    return ++f->count;
}

void client_log(struct client *c, const char *format, ...)
{
    char text[1200];
    unsigned n = flood_count(&c->chatter);
    va_list args;

    if (n > LOG_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    server_scrub(c->spec.server, text);
    c->spec.events.log(c->spec.events.data, text);
    if (n == LOG_MAX)
        c->spec.events.log(c->spec.events.data, "(it says more than is shown here)");
}

static void settle(struct client *c)
{
    if (c->is_settled)
        return;
    c->is_settled = true;
    c->spec.events.settled(c->spec.events.data);
}

/* ---- the end, and another beginning ---- */

static struct timeval in_ms(uint64_t ms)
{
    return (struct timeval){ .tv_sec = (time_t)(ms / 1000),
                             .tv_usec = (suseconds_t)(ms % 1000 * 1000) };
}

static uint64_t backoff_ms(const struct client *c)
{
    uint64_t ms = BACKOFF_MIN_MS;

    if (c->failures > 1)
        ms = 1000ull << (c->failures < 8 ? c->failures - 2 : 6);
    return ms < BACKOFF_MAX_MS ? ms : BACKOFF_MAX_MS;
}

static void stop_timers(struct client *c)
{
    (void)evtimer_del(c->on_start_late);
    (void)evtimer_del(c->on_refresh);
    (void)evtimer_del(c->on_probe);
}

/* The link is gone: begin again when its time has come. */
static void come_back(struct client *c)
{
    uint64_t ms;
    struct timeval in;
    char text[280];

    if (c->ready_us != 0 && clock_us() - c->ready_us > HEALTHY_US)
        c->failures = 0;
    c->ready_us = 0;
    c->failures++;
    ms = backoff_ms(c);
    in = in_ms(ms);
    c->retry_us = clock_us() + (int64_t)ms * 1000;
    c->state = CLIENT_DOWN;
    client_log(c, "%s; it is tried again in %g s", c->problem, (double)ms / 1000);
    (void)evtimer_add(c->on_begin, &in);
    (void)snprintf(text, sizeof(text), "the server '%.60s' is not there: %.180s",
                   c->spec.server->key, c->problem);
    server_scrub(c->spec.server, text);
    if (ms > WAIT_MAX_MS || c->failures > 1)
        requests_fail_all(c, "ServerGone", text);
    settle(c);
}

static void drop_requests(struct client *c)
{
    char text[280];

    (void)snprintf(text, sizeof(text), "the server '%.60s' is gone: %.180s", c->spec.server->key,
                   c->problem);
    server_scrub(c->spec.server, text);
    requests_fail(c, 0, "ServerGone", text);
}

void client_fault(struct client *c, const char *why)
{
    if (c->state == CLIENT_ENDING || c->state == CLIENT_DOWN)
        return;
    (void)snprintf(c->problem, sizeof(c->problem), "%s", why);
    c->state = CLIENT_ENDING; /* order: before anybody is told, who may ask for more */
    stop_timers(c);
    drop_requests(c);
    c->link->ops->close(c->link);
}

/* ---- what the link tells ---- */

static void on_ended(void *data, const char *why)
{
    struct client *c = data;
    bool was_asked = c->state == CLIENT_ENDING, was_probing = c->state == CLIENT_PROBING;

    stop_timers(c);
    c->link->ops->free(take_ptr(c->link));
    if (!was_asked)
        (void)snprintf(c->problem, sizeof(c->problem), "%s", why);
    c->state = CLIENT_DOWN;
    if (was_probing && !c->knows_era && !c->spec.server->url) {
        c->knows_era = true; /* it did not take the question well */
        c->is_modern = false;
        if (c->own)
            client_cancel(c->own);
        begin(c);
        return;
    }
    drop_requests(c);
    come_back(c);
}

static void on_said(void *data, const char *line)
{
    client_log(data, "%s", line);
}

/* A request of the server's: what only legacy ones make. */
static void take_request(struct client *c, const struct rpc_message *m)
{
    json_t *answer = NULL;

    if (strcmp(m->method, "ping") == 0)
        answer = json_object();
    else if (strcmp(m->method, "elicitation/create") == 0 && c->spec.events.elicit)
        answer = c->spec.events.elicit(c->spec.events.data, m->params);
    client_reply(c, m->id, answer, RPC_METHOD_NOT_FOUND, "this client does not do that");
}

/* If it said that its tools changed; while they are being listed for the first time, when that is
 * done. */
static void refresh_soon(struct client *c)
{
    struct timeval soon = in_ms(REFRESH_MS);

    if (c->wants_refresh && c->state == CLIENT_READY && !evtimer_pending(c->on_refresh, NULL))
        (void)evtimer_add(c->on_refresh, &soon);
}

static void take_notification(struct client *c, const struct rpc_message *m)
{
    const json_t *params = m->params, *data;
    auto_free char *text = NULL;

    if (strcmp(m->method, "notifications/tools/list_changed") == 0) {
        c->wants_refresh = true;
        refresh_soon(c);
    } else if (strcmp(m->method, "notifications/message") == 0) {
        data = json_object_get(params, "data");
        text = json_is_string(data) ? strdup(json_string_value(data)) : json_text(data);
        client_log(c, "%.20s: %.500s", json_string_at(params, "level", "info"), text ? text : "");
    }
}

static void on_message(void *data, const struct rpc_message *m, const char *bad)
{
    struct client *c = data;

    if (c->state == CLIENT_ENDING || c->state == CLIENT_DOWN)
        return;
    if (m && m->kind == RPC_RESPONSE && requests_answer(c, m))
        return;
    if (flood_count(&c->flood) > FLOOD_MAX) {
        client_fault(c, "it floods us with messages that nobody asked for");
        return;
    }
    if (!m)
        client_log(c, "it sent what is no message: %.100s", bad);
    else if (m->kind == RPC_REQUEST)
        take_request(c, m);
    else if (m->kind == RPC_NOTIFICATION)
        take_notification(c, m);
    else if (!c->is_probe_late)
        client_log(c, "it answered a request that nobody waits for");
    else
        c->has_discovered =
            json_array_has(json_object_get(m->result, "supportedVersions"), MCP_MODERN);
}

static void on_failed(void *data, json_int_t id, enum link_fault fault, const char *why)
{
    static const char *const types[] = { [LINK_NO_SESSION] = "ServerGone",
                                         [LINK_REFUSED] = "ServerError",
                                         [LINK_TOO_BIG] = "InvalidResult",
                                         [LINK_BROKEN] = "ServerGone" };
    struct client *c = data;
    char text[280];

    if (c->state == CLIENT_ENDING || c->state == CLIENT_DOWN)
        return;
    (void)snprintf(text, sizeof(text), "the server '%.60s': %.200s", c->spec.server->key, why);
    server_scrub(c->spec.server, text);
    if (fault == LINK_NO_SESSION) {
        client_fault(c, "its session is over");
        return;
    }
    requests_fail(c, id, types[fault], text);
}

/* ---- the beginning ---- */

static void go_listen(struct client *c);

static void be_ready(struct client *c)
{
    (void)evtimer_del(c->on_start_late);
    c->ready_us = clock_us();
    c->problem[0] = '\0';
    go_listen(c);
    settle(c);
    requests_send(c);
}

void client_listed(struct client *c)
{
    c->state = CLIENT_READY;
    if (c->ready_us == 0)
        be_ready(c);
    refresh_soon(c);
}

static void go_list(struct client *c, const json_t *capabilities)
{
    const json_t *tools = json_object_get(capabilities, "tools");

    c->has_tools = tools != NULL;
    c->tells_changes = json_is_true(json_object_get(tools, "listChanged"));
    c->knows_era = true;
    c->state = CLIENT_LISTING;
    list_begin(c);
}

/* Modern servers tell of changes on a request that stays open. */
static void on_listen_over(void *data, const struct client_answer *answer)
{
    struct client *c = data;

    c->tells_changes = false;
    if (!answer->result && c->state == CLIENT_READY)
        client_log(c, "it does not tell of changes: %.120s", answer->message);
}

static void go_listen(struct client *c)
{
    if (c->is_modern && c->tells_changes && !c->stream)
        c->stream = client_ask(c, "subscriptions/listen",
                               json_pack("{s:{s:b}}", "notifications", "toolsListChanged", 1), 0,
                               on_listen_over, c);
    else if (!c->is_modern)
        c->link->ops->listen(c->link);
}

static void on_greeted(void *data, const struct client_answer *answer)
{
    struct client *c = data;
    const char *version = json_string_at(answer->result, "protocolVersion", "");
    auto_json json_t *capabilities = NULL;
    char why[200];

    if (c->state != CLIENT_GREETING)
        return;
    if (answer->result && mcp_is_legacy_version(version)) {
        (void)snprintf(c->version, sizeof(c->version), "%s", version);
        c->link->ops->agree(c->link, c->version, false);
        client_notify(c, "notifications/initialized", NULL);
        go_list(c, json_object_get(answer->result, "capabilities"));
        return;
    }
    if (!answer->result && c->has_discovered) { /* it was only slow to say so */
        c->is_modern = true;
        capabilities = json_pack("{s:{}}", "tools");
        c->link->ops->agree(c->link, MCP_MODERN, true);
        go_list(c, capabilities);
        return;
    }
    if (answer->result)
        (void)snprintf(why, sizeof(why),
                       "it wants to speak version '%.40s', which is not known here", version);
    else
        (void)snprintf(why, sizeof(why), "it cannot be begun with: %.150s", answer->message);
    client_fault(c, why);
}

static void go_greet(struct client *c)
{
    c->is_modern = false;
    c->state = CLIENT_GREETING;
    c->link->ops->agree(c->link, MCP_LEGACY, false);
    c->own = client_ask(c, "initialize", json_object(), 0, on_greeted, c);
    if (!c->own)
        client_fault(c, "memory ran out");
}

static void go_probe(struct client *c);

bool client_falls_back(struct client *c)
{
    if (!c->is_modern || c->has_fallen_back || c->ready_us != 0)
        return false;
    c->has_fallen_back = true;
    go_greet(c);
    return true;
}

static void on_probed(void *data, const struct client_answer *answer)
{
    struct client *c = data;
    const json_t *versions = json_object_get(answer->result, "supportedVersions");
    const json_t *supported = json_object_get(json_object_get(answer->error, "data"), "supported");

    if (c->state != CLIENT_PROBING)
        return;
    (void)evtimer_del(c->on_probe);
    if (json_array_has(versions, MCP_MODERN)) {
        c->link->ops->agree(c->link, MCP_MODERN, true);
        go_list(c, json_object_get(answer->result, "capabilities"));
        return;
    }
    if (!c->is_probed_twice && json_array_has(supported, MCP_MODERN)) {
        c->is_probed_twice = true;
        go_probe(c);
        return;
    }
    if (!answer->result && strcmp(answer->type, "ServerGone") == 0 && c->spec.server->url) {
        client_fault(c, answer->message);
        return;
    }
    go_greet(c);
}

static void on_probe(evutil_socket_t fd, short what, void *data)
{
    struct client *c = data;

    (void)fd;
    (void)what;
    if (c->state != CLIENT_PROBING)
        return;
    c->is_probe_late = true;
    if (c->own)
        client_cancel(c->own);
    go_greet(c);
}

static void go_probe(struct client *c)
{
    struct timeval in = in_ms(PROBE_MS);

    c->is_modern = true;
    c->state = CLIENT_PROBING;
    c->link->ops->agree(c->link, MCP_MODERN, true);
    c->own = client_ask(c, "server/discover", json_object(), 0, on_probed, c);
    (void)evtimer_add(c->on_probe, &in);
    if (!c->own)
        client_fault(c, "memory ran out");
}

static void begin(struct client *c)
{
    struct timeval in = in_ms(c->spec.server->start_ms);
    struct link_spec spec = { .base = c->spec.base,
                              .server = c->spec.server,
                              .directory = c->spec.directory,
                              .grace_ms = c->spec.grace_ms,
                              .events = { .message = on_message,
                                          .failed = on_failed,
                                          .said = on_said,
                                          .ended = on_ended,
                                          .data = c } };
    struct gb_err err = { 0 };

    c->is_probe_late = c->has_discovered = c->is_probed_twice = c->has_fallen_back = false;
    c->last_id = 0;
    c->flood = (struct flood){ 0 };
    c->link = c->spec.server->url ? link_http_new(&spec, &err) : link_stdio_new(&spec, &err);
    if (!c->link) {
        (void)snprintf(c->problem, sizeof(c->problem), "%.190s", err.msg);
        come_back(c);
        return;
    }
    (void)evtimer_add(c->on_start_late, &in);
    if (c->knows_era && !c->is_modern)
        go_greet(c);
    else
        go_probe(c);
}

static void on_begin(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    begin(data);
}

static void on_start_late(evutil_socket_t fd, short what, void *data)
{
    struct client *c = data;
    char why[80];

    (void)fd;
    (void)what;
    (void)snprintf(why, sizeof(why), "it was not ready within %g s",
                   (double)c->spec.server->start_ms / 1000);
    client_fault(c, why);
}

/* The tools have, or may have, changed. Not more often than once in a while, however often it is
 * told. */
static void on_refresh(evutil_socket_t fd, short what, void *data)
{
    struct client *c = data;
    struct timeval later = in_ms((uint64_t)c->refresh_us / 1000);

    (void)fd;
    (void)what;
    if (c->state != CLIENT_READY)
        return;
    if (c->own || clock_us() - c->listed_us < c->refresh_us) {
        (void)evtimer_add(c->on_refresh, &later);
        return;
    }
    c->wants_refresh = false;
    list_begin(c);
}

/* ---- life ---- */

struct client *client_new(const struct client_spec *spec)
{
    static const struct timeval now = { 0 };
    struct client *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->spec = *spec;
    c->on_begin = evtimer_new(spec->base, on_begin, c);
    c->on_start_late = evtimer_new(spec->base, on_start_late, c);
    c->on_refresh = evtimer_new(spec->base, on_refresh, c);
    c->on_probe = evtimer_new(spec->base, on_probe, c);
    c->tools = json_array();
    if (!c->on_begin || !c->on_start_late || !c->on_refresh || !c->on_probe || !c->tools ||
        evtimer_add(c->on_begin, &now) < 0)
        return client_free(c);
    return c;
}

/* Nothing comes back from here. */
static void on_gone(void *data, const char *why)
{
    struct client *c = data;

    (void)why;
    c->link->ops->free(take_ptr(c->link));
}

static void hear_nothing(void *data, const struct rpc_message *m, const char *bad)
{
    (void)data;
    (void)m;
    (void)bad;
}

void client_close(struct client *c)
{
    stop_timers(c);
    (void)evtimer_del(c->on_begin);
    c->state = CLIENT_ENDING;
    requests_fail_all(c, "ServerGone", "the server is being ended");
    if (!c->link)
        return;
    c->link->events.ended = on_gone;
    c->link->events.message = hear_nothing;
    c->link->ops->close(c->link);
}

bool client_is_gone(const struct client *c)
{
    return !c->link || c->link->ops->is_gone(c->link);
}

struct client *client_free(struct client *c)
{
    struct event *events[] = { c ? c->on_begin : NULL, c ? c->on_start_late : NULL,
                               c ? c->on_refresh : NULL, c ? c->on_probe : NULL };

    if (!c)
        return NULL;
    c->state = CLIENT_ENDING;
    requests_fail_all(c, "ServerGone", "the server is being ended");
    if (c->link)
        c->link->ops->free(c->link);
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        if (events[i])
            event_free(events[i]);
    json_decref(c->tools);
    json_decref(c->listing);
    free(c);
    return NULL;
}

bool client_is_away(const struct client *c)
{
    return c->state == CLIENT_DOWN && c->failures > 1;
}

bool client_is_ready(const struct client *c)
{
    return c->state == CLIENT_READY;
}

bool client_is_settled(const struct client *c)
{
    return c->is_settled;
}

const char *client_problem(const struct client *c)
{
    return c->problem;
}

const json_t *client_tools(const struct client *c)
{
    return c->tools;
}
