/*
 * An MCP server for test suites, made of the same core as glovebox's own and of a file that says
 * what it offers (fixture.json).
 *
 * What an offer does, its "do": result (answer with it), refuse, log, progress, ask (one round of
 * questions after another), need (a capability of the client's), change (one of the lists).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "mcp/mcp.h"
#include "mcp_fixture.h"

/* ---- what results are made of ---- */

/* The value that $NAME stands for: an argument, the URI, or what a template had for {id}. New. */
static char *word_value(const struct mcp_call *call, const char *name, size_t len)
{
    auto_free char *key = strndup(name, len);
    const char *uri = mcp_call_target(call);
    const char *start = uri ? strstr(uri, "template/") : NULL;

    if (!key)
        return NULL;
    if (uri && strcmp(key, "uri") == 0)
        return strdup(uri);
    if (strcmp(key, "id") == 0 && start)
        return strndup(start + 9, strcspn(start + 9, "/"));
    return strdup(json_string_at(mcp_call_arguments(call), key, ""));
}

static json_t *fill_text(const struct mcp_call *call, const char *text)
{
    char *filled = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&filled, &len);
    json_t *json;

    while (*text) {
        size_t plain = strcspn(text, "$"), name;

        (void)fwrite(text, 1, plain, f);
        text += plain;
        if (!*text)
            break;
        name = strspn(text + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        auto_free char *value = word_value(call, text + 1, name);

        fputs(value ? value : "", f);
        text += 1 + name;
    }
    (void)fclose(f);
    json = json_string(filled);
    free(filled);
    return json;
}

/* A copy in which the words that begin with "$" are replaced. */
static json_t *fill(const struct mcp_call *call, const json_t *json)
{
    json_t *object = json_shared(json), *copy, *value;
    const char *key;
    size_t i;

    if (json_is_string(json) && strchr(json_string_value(json), '$'))
        return fill_text(call, json_string_value(json));
    if (!json_is_object(json) && !json_is_array(json))
        return json_incref(object);
    copy = json_is_object(json) ? json_object() : json_array();
    json_object_foreach (object, key, value)
        json_object_set_new(copy, key, fill(call, value));
    if (json_is_array(json))
        json_array_foreach (object, i, value)
            json_array_append_new(copy, fill(call, value));
    return copy;
}

/* ---- asking ---- */

struct asking {
    const json_t *what;
    size_t round;
    json_t *answers; /* of all rounds */
};

static void asking_free(struct asking *a)
{
    json_decref(a->answers);
    free(a);
}

static void asking_dropped(struct mcp_call *call, void *data)
{
    (void)call;
    asking_free(data);
}

static void finish_asking(struct mcp_call *call, struct asking *a)
{
    auto_free char *answers = json_dumps(a->answers, JSON_COMPACT);
    auto_free char *text = NULL;
    json_t *block;

    if (asprintf(&text, "%s%s", json_string_at(a->what, "text", ""), answers) < 0)
        abort();
    block = mcp_text(text);
    if (json_is_true(json_object_get(a->what, "is_prompt")))
        block = json_pack("{s:[{s:s,s:o}]}", "messages", "role", "user", "content", block);
    else
        block = json_pack("{s:[o]}", "content", block);
    asking_free(a);
    mcp_call_on_cancel(call, NULL, NULL);
    mcp_call_finish(call, block);
}

static void ask_round(struct mcp_call *call, struct asking *a);

static void on_answers(struct mcp_call *call, void *data, const json_t *answers)
{
    struct asking *a = data;

    json_object_update(a->answers, json_shared(answers));
    a->round++;
    ask_round(call, a);
}

/* Of a round, what this client can be asked, and has not said already. */
static json_t *questions_of(struct mcp_call *call, const struct asking *a)
{
    json_t *round = json_array_get(json_object_get(a->what, "rounds"), a->round);
    json_t *questions = json_object(), *request;
    const char *key;

    json_object_foreach (round, key, request) {
        const char *method = json_string_at(request, "method", "");
        auto_free char *capability = strndup(method, strcspn(method, "/"));
        const json_t *given = mcp_call_given(call, key);

        if (given)
            json_object_set(a->answers, key, json_shared(given));
        else if (mcp_call_can(call, capability))
            json_object_set_new(questions, key, fill(call, request));
    }
    return questions;
}

static void ask_round(struct mcp_call *call, struct asking *a)
{
    json_t *questions;

    for (; a->round < json_array_size(json_object_get(a->what, "rounds")); a->round++) {
        questions = questions_of(call, a);
        if (json_object_size(questions) == 0) {
            json_decref(questions);
            continue;
        }
        if (mcp_call_ask(call, questions, on_answers, a) == 0)
            return;
        break;
    }
    finish_asking(call, a);
}

static void do_ask(struct mcp_call *call, const json_t *what)
{
    struct asking *a = calloc(1, sizeof(*a));

    a->what = what;
    a->answers = json_object();
    mcp_call_on_cancel(call, asking_dropped, a);
    ask_round(call, a);
}

/* ---- the other things to do ---- */

static void do_result(struct mcp_call *call, const json_t *what)
{
    mcp_call_finish(call, fill(call, json_object_get(what, "result")));
}

static void do_refuse(struct mcp_call *call, const json_t *what)
{
    mcp_call_refuse(call, json_string_at(what, "text", ""));
}

static void do_log(struct mcp_call *call, const json_t *what)
{
    const json_t *messages = json_object_get(what, "messages");

    for (size_t i = 0; i < json_array_size(messages); i++)
        mcp_call_log(call, MCP_INFO, "fixture", json_incref(json_array_get(messages, i)));
    do_result(call, what);
}

static void do_progress(struct mcp_call *call, const json_t *what)
{
    const json_t *steps = json_object_get(what, "steps");

    for (size_t i = 0; i < json_array_size(steps); i++)
        mcp_call_progress(call, json_number_value(json_array_get(steps, i)), 100, "a step");
    do_result(call, what);
}

static void do_need(struct mcp_call *call, const json_t *what)
{
    const char *capability = json_string_at(what, "capability", "");

    if (mcp_call_can(call, capability))
        mcp_call_finish(call, json_pack("{s:[o]}", "content", mcp_text("It is there.")));
    else
        mcp_call_fail(call, RPC_MISSING_CAPABILITY, "the client lacks a capability",
                      json_pack("{s:{s:{}}}", "requiredCapabilities", capability));
}

static void nothing(struct mcp_call *call, void *data)
{
    (void)data;
    mcp_call_refuse(call, "only here to come and go");
}

/* Add one that is not there, or take it away again. */
static void do_change(struct mcp_call *call, const json_t *what)
{
    struct mcp_server *server = mcp_call_server(call);
    struct gb_err err;
    int e = 0;

    if (strcmp(json_string_at(what, "kind", ""), "tool") == 0) {
        if (!mcp_server_remove_tool(server, "test_passing"))
            e = mcp_server_add_tool(server,
                                    json_pack("{s:s,s:s,s:{s:s}}", "name", "test_passing",
                                              "description", "Comes and goes", "inputSchema",
                                              "type", "object"),
                                    nothing, NULL, &err);
    } else if (!mcp_server_remove_prompt(server, "test_passing")) {
        e = mcp_server_add_prompt(
            server, json_pack("{s:s,s:s}", "name", "test_passing", "description", "Comes and goes"),
            nothing, NULL, &err);
    }
    mcp_call_finish(call,
                    json_pack("{s:[o]}", "content", mcp_text(e < 0 ? err.msg : "It has changed.")));
}

static void run(struct mcp_call *call, void *data)
{
    static const struct {
        const char *name;
        void (*run)(struct mcp_call *call, const json_t *what);
    } ways[] = {
        { "ask", do_ask },           { "change", do_change }, { "log", do_log },
        { "need", do_need },         { "refuse", do_refuse }, { "result", do_result },
        { "progress", do_progress },
    };
    const char *as = json_string_at(data, "as", "");

    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        if (strcmp(ways[i].name, as) == 0)
            ways[i].run(call, data);
}

/* ---- the server ---- */

static json_t *complete(void *data, const struct mcp_call *call, const json_t *params)
{
    static const char *const words[] = { "alpha", "beta", "gamma" };
    const json_t *argument = json_object_get(params, "argument");
    const char *typed = json_string_at(argument, "value", "");
    json_t *values = json_array();

    (void)data;
    (void)call;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strncmp(words[i], typed, strlen(typed)) == 0)
            json_array_append_new(values, json_string(words[i]));
    return json_pack("{s:o,s:I,s:b}", "values", values, "total",
                     (json_int_t)json_array_size(values), "hasMore", 0);
}

static int offer_all(struct mcp_server *server, const json_t *all, struct gb_err *err)
{
    static const struct {
        const char *key;
        int (*add)(struct mcp_server *, json_t *, mcp_handler, void *, struct gb_err *);
    } kinds[] = {
        { "tools", mcp_server_add_tool },
        { "prompts", mcp_server_add_prompt },
        { "resources", mcp_server_add_resource },
        { "templates", mcp_server_add_template },
    };

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        const json_t *list = json_object_get(all, kinds[k].key);

        for (size_t i = 0; i < json_array_size(list); i++) {
            json_t *offer = json_array_get(list, i), *shown = json_copy(offer);

            json_object_del(shown, "do");
            if (kinds[k].add(server, shown, run, json_object_get(offer, "do"), err) < 0)
                return -1;
        }
    }
    return 0;
}

struct mcp_server *fixture_new(struct event_base *base, const json_t *all)
{
    const struct mcp_server_spec spec = { .base = base,
                                          .name = "glovebox-fixture",
                                          .version = "1",
                                          .instructions = "A server for test suites.",
                                          .list_ttl_ms = 1000,
                                          .has_logging = true,
                                          .log_level = MCP_INFO,
                                          .has_subscriptions = true,
                                          .complete = complete };
    struct mcp_server *server = mcp_server_new(&spec);
    struct gb_err err;

    if (!server || offer_all(server, all, &err) < 0) {
        (void)fprintf(stderr, "fixture: %s\n", server ? err.msg : "no memory");
        return mcp_server_free(server);
    }
    return server;
}

static void on_watched(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    mcp_server_resource_updated(data, "test://watched-resource");
}

struct event *fixture_watch(struct event_base *base, struct mcp_server *server)
{
    static const struct timeval every = { .tv_sec = 3 };
    struct event *event = event_new(base, -1, EV_PERSIST, on_watched, server);

    if (event)
        (void)event_add(event, &every);
    return event;
}
