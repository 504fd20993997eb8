/* Requests of a client: under way, waiting, answered, given up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "glovebox.h"
#include "mcp/client_core.h"

enum {
    SENT_MAX = 256, /* at once; the others wait */
    REQUESTS_MAX = 20000,
    ROUNDS_MAX = 8,
    HEALTH_MIN_MS = 1000,
    HEALTH_MAX_MS = 10000
};

/* ---- the list ---- */

static void unlink_request(struct client_request *r)
{
    struct client *c = r->client;

    if (r->prev)
        r->prev->next = r->next;
    else
        c->requests = r->next;
    if (r->next)
        r->next->prev = r->prev;
    c->n_requests--;
    c->n_sent -= r->id != 0;
    if (c->own == r)
        c->own = NULL;
    if (c->stream == r)
        c->stream = NULL;
    if (c->health == r)
        c->health = NULL;
}

static void request_free(struct client_request *r)
{
    unlink_request(r);
    if (r->on_late)
        event_free(r->on_late);
    json_decref(r->params);
    free(r);
}

/* Tell how it ended. The request is gone before, so that whoever is told may do anything. */
static void finish(struct client_request *r, const struct client_answer *answer)
{
    client_done done = r->done;
    void *data = r->data;

    request_free(r);
    if (done)
        done(data, answer);
}

static void fail(struct client_request *r, const char *type, const char *message)
{
    finish(r, &(struct client_answer){ .type = type, .message = message });
}

/* ---- sending ---- */

static json_t *capabilities_of(const struct client *c)
{
    return c->spec.events.elicit ? json_pack("{s:{}}", "elicitation") : json_object();
}

static json_t *client_info(void)
{
    return json_pack("{s:s,s:s,s:s}", "name", "glovebox", "title", "Glovebox", "version",
                     gb_version());
}

/* What each modern request says about who asks. */
static void add_meta(const struct client *c, json_t *params)
{
    json_t *meta = json_object_get(params, "_meta");

    if (!meta) {
        meta = json_object();
        (void)json_object_set_new(params, "_meta", meta);
    }
    (void)json_object_set_new(meta, META_VERSION_KEY, json_string(MCP_MODERN));
    (void)json_object_set_new(meta, META_CAPABILITIES_KEY, capabilities_of(c));
    (void)json_object_set_new(meta, META_CLIENT_KEY, client_info());
}

static void add_greeting(const struct client *c, json_t *params)
{
    (void)json_object_set_new(params, "protocolVersion", json_string(MCP_LEGACY));
    (void)json_object_set_new(params, "capabilities", capabilities_of(c));
    (void)json_object_set_new(params, "clientInfo", client_info());
}

/* What a request is about, which HTTP wants to know. */
static const struct {
    const char *method, *key;
} named[] = {
    { "tools/call", "name" },
    { "resources/read", "uri" },
    { "prompts/get", "name" },
};

static void transmit(struct client *c, json_t *message, const struct client_request *r,
                     const char *method)
{
    json_auto_t *whole = message;
    json_auto_t *extra = NULL;
    size_t len = 0;
    auto_free char *text = message ? rpc_text(message, &len) : NULL;
    struct link_message m = { .text = text, .len = len, .id = r ? r->id : 0, .method = method };

    if (!text || !c->link)
        return;
    for (size_t i = 0; r && i < ARRAY_LEN(named); i++)
        if (strcmp(r->method, named[i].method) == 0)
            m.target = json_string_value(json_object_get(r->params, named[i].key));
    if (r && c->is_modern && strcmp(r->method, "tools/call") == 0) {
        extra = headers_of_call(c->tools, r->params);
        m.extra = extra;
    }
    c->link->ops->send(c->link, &m);
}

static void send_request(struct client_request *r)
{
    struct client *c = r->client;
    bool is_greeting = strcmp(r->method, "initialize") == 0;
    json_auto_t *id = NULL;

    r->id = ++c->last_id;
    c->n_sent++;
    id = json_integer(r->id);
    if (is_greeting)
        add_greeting(c, r->params);
    else if (c->is_modern)
        add_meta(c, r->params);
    transmit(c, rpc_request(id, r->method, json_incref(r->params)), r, r->method);
}

void requests_send(struct client *c)
{
    struct client_request *r = c->requests, *next;

    /* The newest is the first of the list: go from its end. */
    while (r && r->next)
        r = r->next;
    for (; r && c->n_sent < SENT_MAX && c->state == CLIENT_READY; r = next) {
        next = r->prev;
        if (r->id == 0)
            send_request(r);
    }
}

void client_notify(struct client *c, const char *method, json_t *params)
{
    transmit(c, rpc_notification(method, params), NULL, method);
}

void client_reply(struct client *c, const json_t *id, json_t *result, int code, const char *message)
{
    transmit(c, result ? rpc_result(id, result) : rpc_error(id, code, message, NULL), NULL, NULL);
}

/* ---- time ---- */

static void on_health(void *data, const struct client_answer *answer)
{
    if (!answer->result && strcmp(answer->type, "Timeout") == 0)
        client_fault(data, "it does not answer any more");
}

/* A call took too long, or was given up: is it the call, or the server? */
static void look_after(struct client *c)
{
    uint64_t ms = c->spec.server->timeout_ms;

    ms = ms < HEALTH_MIN_MS ? HEALTH_MIN_MS : ms > HEALTH_MAX_MS ? HEALTH_MAX_MS : ms;
    if (c->state == CLIENT_READY && !c->health && !c->spec.server->url)
        c->health = client_ask(c, c->is_modern ? "server/discover" : "ping", json_object(), ms,
                               on_health, c);
}

/* Tell the server that nobody waits for it. */
static void give_up(struct client_request *r)
{
    struct client *c = r->client;

    if (r->id == 0 || !c->link || strcmp(r->method, "initialize") == 0)
        return;
    if (!c->spec.server->url || !c->is_modern)
        client_notify(c, "notifications/cancelled",
                      json_pack("{s:I,s:s}", "requestId", r->id, "reason", "nobody waits for it"));
    c->link->ops->forget(c->link, r->id);
}

static void on_late(evutil_socket_t fd, short what, void *data)
{
    struct client_request *r = data;
    struct client *c = r->client;
    bool was_sent = r->id != 0, was_health = c->health == r, is_own = r->is_own;
    char text[80];

    (void)fd;
    (void)what;
    (void)snprintf(text, sizeof(text), "no answer within %g s", (double)r->timeout_ms / 1000);
    give_up(r);
    fail(r, "Timeout", text);
    if (was_sent && !was_health && !is_own)
        look_after(c);
    requests_send(c);
}

static void set_timer(struct client_request *r)
{
    struct timeval in = { .tv_sec = (time_t)(r->timeout_ms / 1000),
                          .tv_usec = (suseconds_t)(r->timeout_ms % 1000 * 1000) };

    if (r->timeout_ms == 0)
        return;
    r->on_late = evtimer_new(r->client->spec.base, on_late, r);
    if (r->on_late)
        (void)evtimer_add(r->on_late, &in);
}

/* ---- asking ---- */

struct client_request *client_ask(struct client *c, const char *method, json_t *params,
                                  uint64_t timeout_ms, client_done done, void *data)
{
    struct client_request *r = c->n_requests < REQUESTS_MAX ? calloc(1, sizeof(*r)) : NULL;

    if (!r || !params) {
        json_decref(params);
        free(r);
        return NULL;
    }
    *r = (struct client_request){ .client = c,
                                  .params = params,
                                  .done = done,
                                  .data = data,
                                  .timeout_ms = timeout_ms,
                                  .next = c->requests };
    (void)snprintf(r->method, sizeof(r->method), "%s", method);
    if (c->requests)
        c->requests->prev = r;
    c->requests = r;
    c->n_requests++;
    set_timer(r);
    r->is_own = c->state == CLIENT_PROBING || c->state == CLIENT_GREETING ||
                (c->state == CLIENT_LISTING && strcmp(method, "tools/list") == 0);
    if (strcmp(method, "tools/call") == 0 || strcmp(method, "resources/read") == 0)
        r->is_own = false;
    if (r->is_own || (c->state == CLIENT_READY && c->n_sent < SENT_MAX))
        send_request(r);
    return r;
}

void client_cancel(struct client_request *r)
{
    struct client *c = r->client;
    bool is_call = r->id != 0 && !r->is_own;

    give_up(r);
    request_free(r);
    if (is_call)
        look_after(c);
    requests_send(c);
}

void request_resend(struct client_request *r)
{
    r->client->n_sent -= r->id != 0;
    r->id = 0;
    requests_send(r->client);
}

/* ---- answers ---- */

static struct client_request *find(const struct client *c, const json_t *id)
{
    struct client_request *r = c->requests;

    if (!json_is_integer(id) || json_integer_value(id) == 0)
        return NULL;
    while (r && r->id != json_integer_value(id))
        r = r->next;
    return r;
}

/* What the user answers to one question of the server's; NULL: nobody can be asked. */
static json_t *answer_question(struct client *c, const json_t *question)
{
    if (strcmp(json_string_at(question, "method", ""), "elicitation/create") != 0 ||
        !c->spec.events.elicit)
        return NULL;
    return c->spec.events.elicit(c->spec.events.data, json_object_get(question, "params"));
}

/* The server wants to know something first: ask again, with the answers. False: that cannot be. */
static bool ask_back(struct client_request *r, const json_t *result)
{
    json_t *questions = json_object_get(result, "inputRequests"), *question;
    const json_t *state = json_object_get(result, "requestState");
    json_t *answers = json_object(), *answer;
    const char *key;

    if (++r->rounds > ROUNDS_MAX || (!questions && !state)) {
        json_decref(answers);
        return false;
    }
    json_object_foreach (questions, key, question) {
        answer = answer_question(r->client, question);
        if (!answer) {
            json_decref(answers);
            return false;
        }
        (void)json_object_set_new(answers, key, answer);
    }
    (void)json_object_del(r->params, "requestState"); /* that of the round before */
    (void)json_object_del(r->params, "inputResponses");
    if (json_object_size(answers) > 0)
        (void)json_object_set(r->params, "inputResponses", answers);
    if (state)
        (void)json_object_set_new(r->params, "requestState", json_incref(json_shared(state)));
    json_decref(answers);
    request_resend(r);
    return true;
}

static void take_result(struct client_request *r, const json_t *result, size_t bytes)
{
    const char *type = json_string_at(result, "resultType", "complete");

    if (strcmp(type, "complete") == 0) {
        finish(r, &(struct client_answer){ .result = result, .bytes = bytes });
        return;
    }
    if (strcmp(type, "input_required") != 0) {
        fail(r, "InvalidResult",
             "the server answered with a kind of result that is not known here");
        return;
    }
    if (!r->client->is_modern || !ask_back(r, result))
        fail(r, "NeedsInput",
             "the server wants to ask its user something, and there is nobody to ask");
}

static void take_error(struct client_request *r, const json_t *error)
{
    json_int_t code = json_integer_value(json_object_get(error, "code"));
    struct client *c = r->client;

    /* What it wants in headers has changed since it was listed. */
    if (code == RPC_HEADER_MISMATCH && !r->is_retried && strcmp(r->method, "tools/call") == 0 &&
        c->state == CLIENT_READY) {
        r->is_retried = true;
        c->n_sent -= r->id != 0;
        r->id = 0;
        c->state = CLIENT_LISTING; /* it waits for that */
        list_begin(c);
        return;
    }
    finish(r,
           &(struct client_answer){ .type = code == RPC_INVALID_PARAMS        ? "InvalidArguments"
                                            : code == RPC_UNSUPPORTED_VERSION ? "UnsupportedVersion"
                                                                              : "ServerError",
                                    .message = json_string_at(error, "message", ""),
                                    .error = error });
}

bool requests_answer(struct client *c, const struct rpc_message *message)
{
    struct client_request *r = find(c, message->id);

    if (!r)
        return false;
    if (message->result)
        take_result(r, message->result, message->bytes);
    else
        take_error(r, message->error);
    requests_send(c);
    return true;
}

static void fail_some(struct client *c, bool and_waiting, const char *type, const char *message)
{
    bool is_done = false;

    while (!is_done) { /* from the start after each: whoever is told may begin another */
        struct client_request *r = c->requests;

        while (r && r->id == 0 && !and_waiting)
            r = r->next;
        is_done = !r;
        if (r)
            fail(r, type, message);
    }
}

void requests_fail(struct client *c, json_int_t id, const char *type, const char *message)
{
    struct client_request *r = c->requests;

    if (id == 0) {
        fail_some(c, false, type, message);
        return;
    }
    while (r && r->id != id)
        r = r->next;
    if (r)
        fail(r, type, message);
    requests_send(c);
}

void requests_fail_all(struct client *c, const char *type, const char *message)
{
    fail_some(c, true, type, message);
}
