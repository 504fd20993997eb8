/*
 * Asking the client, in both eras.
 *
 * Legacy: each question is a request to the client, sent on the way of the call that asks; the call
 * goes on when all are answered.
 *
 * Modern: the call is answered with `input_required`, the questions, and a requestState. That
 * request is over then; the call itself is parked, without a peer, until the client sends the same
 * request again with the state and the answers. It then takes over that request's place. The state
 * is good for one call, one time, one principal, and the same method and parameters.
 */
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "engine/digest.h"
#include "mcp/core.h"
#include "mcp/state.h"

_Static_assert((int)STATE_KEY == STATE_KEY_BYTES && (int)STATE_ID == STATE_ID_BYTES,
               "what core.h has room for");

enum {
    HTTP_OK = 200
};

static uint64_t now_ms(void)
{
    return (uint64_t)clock_us() / 1000;
}

void question_done(struct mcp_call *call)
{
    if (call->on_expired)
        event_free(take_ptr(call->on_expired));
    json_decref(take_ptr(call->requests));
    json_decref(take_ptr(call->answers));
    json_decref(take_ptr(call->questions));
}

/* ---- waiting ---- */

/* The answer to a call that nobody answered in time. */
static void on_expired(evutil_socket_t fd, short what, void *data)
{
    struct mcp_call *call = data;
    void (*cancelled)(struct mcp_call *, void *) = call->cancelled;

    (void)fd;
    (void)what;
    if (!call->peer) {
        call_cancel(call);
        return;
    }
    call->cancelled = NULL;
    if (cancelled)
        cancelled(call, call->cancel_data);
    mcp_call_fail(call, RPC_INTERNAL_ERROR, "nobody answered the question in time", NULL);
}

static int wait_for_answers(struct mcp_call *call)
{
    unsigned ms = call->server->spec.ask_ttl_ms;
    struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000 };

    if (!call->on_expired)
        call->on_expired = evtimer_new(call->server->spec.base, on_expired, call);
    return call->on_expired ? evtimer_add(call->on_expired, &tv) : -1;
}

/* All answers are there. */
static void go_on(struct mcp_call *call)
{
    void (*answered)(struct mcp_call *, void *, const json_t *) = call->answered;
    auto_json json_t *answers = take_ptr(call->answers);

    question_done(call);
    call->answered = NULL;
    answered(call, call->answer_data, answers);
}

/* Keep an answer, which is taken, and strike out its question. */
static void note_answer(struct mcp_call *call, const char *key, json_t *answer)
{
    (void)json_object_set_new(call->answers, key, answer);
    (void)json_object_del(call->requests, key);
}

/* ---- legacy ---- */

static int ask_legacy(struct mcp_call *call)
{
    struct mcp_peer *peer = call->peer;
    const char *key;
    json_t *request;

    call->questions = json_object();
    json_object_foreach (call->requests, key, request) {
        auto_json json_t *id = json_integer(++peer->last_id);
        auto_free char *name = json_text(id);
        json_t *params = json_object_get(request, "params");

        if (!name || json_object_set_new(call->questions, name, json_string(key)) < 0)
            return -1;
        peer_send(peer, call, RPC_REQUEST,
                  rpc_request(id, json_string_at(request, "method", ""), json_incref(params)), 0);
    }
    return 0;
}

/* What stands for the answer of a client that failed to give one. */
static json_t *no_answer(const json_t *request)
{
    if (strcmp(json_string_at(request, "method", ""), "elicitation/create") == 0)
        return json_pack("{s:s}", "action", "cancel");
    return json_null();
}

void question_response(struct mcp_peer *peer, const struct rpc_message *m)
{
    auto_free char *name = json_is_integer(m->id) ? json_text(m->id) : NULL;
    struct mcp_call *call = peer->calls;
    const char *key;

    while (call && name && !json_object_get(call->questions, name))
        call = call->next;
    if (!call || !name)
        return;
    key = json_string_at(call->questions, name, "");
    note_answer(call, key,
                json_is_object(m->result) ? json_incref(json_shared(m->result))
                                          : no_answer(json_object_get(call->requests, key)));
    (void)json_object_del(call->questions, name);
    if (json_object_size(call->requests) == 0)
        go_on(call);
}

/* ---- modern ---- */

/* What a state is bound to: the request without what differs when it is sent again, and who sends
 * it. */
static int binding_of(const struct mcp_call *call, char ret[DIGEST_HEX + 1])
{
    auto_json json_t *params = json_copy(call->params);
    auto_json json_t *bound = NULL;
    auto_free char *text = NULL;

    (void)json_object_del(params, "_meta");
    (void)json_object_del(params, "inputResponses");
    (void)json_object_del(params, "requestState");
    bound = json_pack("{s:s,s:O,s:s?}", "method", call->method->name, "params", params, "principal",
                      call->principal);
    text = bound ? json_dumps(bound, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (!text)
        return -1;
    digest_hex(text, strlen(text), ret);
    return 0;
}

static json_t *new_state(struct mcp_call *call)
{
    struct state state = { .expires_ms = now_ms() + call->server->spec.ask_ttl_ms };
    char bound[DIGEST_HEX + 1], text[STATE_TEXT];

    if (binding_of(call, bound) < 0 ||
        getrandom(state.id, sizeof(state.id), 0) != (ssize_t)sizeof(state.id))
        return NULL;
    memcpy(call->state_id, state.id, sizeof(state.id));
    state_write(call->server->key, &state, bound, DIGEST_HEX, text);
    return json_string(text);
}

static int ask_modern(struct mcp_call *call)
{
    json_t *state = new_state(call);
    json_t *result =
        json_pack("{s:s,s:O,s:o,s:{s:O}}", "resultType", "input_required", "inputRequests",
                  call->requests, "requestState", state, "_meta", META_SERVER, call->server->info);
    struct mcp_peer *peer = call->peer;

    if (!result)
        return -1;
    /* order: parked before it is sent, since a peer may be freed from inside */
    call_unlink(call);
    call_link(call, NULL);
    peer_send(peer, call, RPC_RESPONSE, rpc_result(call->id, result), HTTP_OK);
    return 0;
}

static void refuse_state(struct mcp_call *call, const char *why)
{
    mcp_call_fail(call, RPC_INVALID_PARAMS, why, NULL);
}

/* The parked call that a state names, or NULL, and `call` was answered. */
static struct mcp_call *find_parked(struct mcp_call *call, const json_t *text)
{
    struct mcp_call *parked = call->server->parked;
    char bound[DIGEST_HEX + 1];
    struct state state;

    if (!json_is_string(text) || binding_of(call, bound) < 0 ||
        !state_read(call->server->key, json_string_value(text), json_string_length(text), bound,
                    DIGEST_HEX, &state)) {
        refuse_state(call, "requestState is not one that was given for this request");
        return NULL;
    }
    while (parked && memcmp(parked->state_id, state.id, sizeof(state.id)) != 0)
        parked = parked->next;
    if (!parked || state.expires_ms < now_ms()) {
        refuse_state(call, "requestState was used already, or is too old; send the request anew");
        return NULL;
    }
    return parked;
}

/* Take what the second request brought over to the call that waits, which goes on in its place. */
static void take_place(struct mcp_call *parked, struct mcp_call *call)
{
    struct mcp_peer *peer = call->peer;

    json_decref(parked->id);
    parked->id = take_ptr(call->id);
    json_decref(parked->progress_token);
    parked->progress_token = take_ptr(call->progress_token);
    json_decref(parked->capabilities);
    parked->capabilities = take_ptr(call->capabilities);
    parked->log_level = call->log_level;
    parked->has_progressed = false;
    parked->tag = call->tag;
    parked->is_detached = false;

    call->is_detached = true; /* nobody is told that it goes */
    call->tag = NULL;
    call_cancel(call);
    call_unlink(parked);
    call_link(parked, peer);
}

static int ask_again(struct mcp_call *call)
{
    return wait_for_answers(call) < 0 ? -1 : ask_modern(call);
}

static void note_answers(struct mcp_call *call, const json_t *responses)
{
    json_t *object = json_shared(responses), *answer;
    const char *key;

    json_object_foreach (object, key, answer)
        if (json_object_get(call->requests, key) && json_is_object(answer))
            note_answer(call, key, json_incref(answer));
}

bool question_resume(struct mcp_call *call)
{
    const json_t *state = json_object_get(call->params, "requestState");
    auto_json json_t *responses = json_incref(json_object_get(call->params, "inputResponses"));
    struct mcp_call *parked;

    if (!call->is_modern)
        return false;
    if (responses && !json_is_object(responses)) {
        refuse_state(call, "inputResponses must be an object");
        return true;
    }
    if (!state)
        return false;
    parked = find_parked(call, state);
    if (!parked)
        return true;
    take_place(parked, call);
    if (parked->late) { /* it ended while nobody was there */
        json_t *response = take_ptr(parked->late);

        (void)json_object_set(response, "id", parked->id);
        call_answer(parked, response, parked->late_status);
        return true;
    }
    note_answers(parked, responses);
    if (json_object_size(parked->requests) == 0)
        go_on(parked);
    else if (ask_again(parked) < 0)
        on_expired(-1, 0, parked);
    return true;
}

const json_t *mcp_call_given(const struct mcp_call *call, const char *key)
{
    const json_t *given = json_object_get(json_object_get(call->params, "inputResponses"), key);

    return call->is_modern && json_is_object(given) ? given : NULL;
}

/* ---- both ---- */

int mcp_call_ask(struct mcp_call *call, json_t *requests,
                 void (*answered)(struct mcp_call *call, void *data, const json_t *answers),
                 void *data)
{
    bool is_possible = json_object_size(requests) > 0 && call->peer && !call->requests &&
                       (!call->is_modern || call->server->n_parked < PARKED_MAX);

    question_done(call);
    call->requests = requests;
    call->answers = json_object();
    call->answered = answered;
    call->answer_data = data;
    if (is_possible && call->answers && wait_for_answers(call) == 0 &&
        (call->is_modern ? ask_modern(call) : ask_legacy(call)) == 0)
        return 0;
    question_done(call);
    return -1;
}
