/* The tools of a server: asked for page by page, kept when all have come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "base/visible.h"
#include "mcp/client_core.h"

enum {
    PAGES_MAX = 100,
    TOOLS_MAX = 1000, /* of a server */
    BYTES_MAX = 32 << 20,
    NAME_MAX_BYTES = 128,
    PAGE_MS = 30000,
    TTL_MIN_MS = 60000,
    TTL_MAX_MS = 86400000,
    REFRESH_MIN_US = 1000000, /* between two lists */
    REFRESH_MAX_US = 64000000
};

static void ask_page(struct client *c, const char *cursor);

static const char *name_of(const json_t *tool)
{
    const json_t *name = json_object_get(tool, "name");
    const char *text = json_string_value(name);

    return text && strlen(text) == json_string_length(name) ? text : NULL;
}

static bool has_name(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(name_of(json_array_get(list, i)), name) == 0)
            return true;
    return false;
}

/* What is wrong with it; NULL: nothing. */
static const char *problem_of(const struct client *c, const json_t *tool)
{
    const char *name = name_of(tool);

    if (!name || !*name || strlen(name) > NAME_MAX_BYTES)
        return "its name is none";
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return "its name is none";
    if (!json_is_object(json_object_get(tool, "inputSchema")))
        return "it has no inputSchema";
    if (c->spec.server->url && c->is_modern && !headers_are_valid(tool))
        return "what it wants in headers (x-mcp-header) is not valid";
    return has_name(c->listing, name) ? "there are two of that name" : NULL;
}

/* What is wrong with its text, which models will read; `clean` is without what nobody sees. */
static const char *problem_of_text(const json_t *tool, const json_t *clean)
{
    const char *name = name_of(clean);

    if (!clean || !name || strcmp(name, name_of(tool)) != 0)
        return "a name in it has characters that nobody sees";
    return NULL;
}

static void take_tools(struct client *c, const json_t *tools)
{
    for (size_t i = 0; i < json_array_size(tools); i++) {
        const json_t *tool = json_array_get(tools, i);
        const char *problem = problem_of(c, tool), *name = name_of(tool);
        auto_json json_t *clean = problem ? NULL : visible_only(tool);

        if (!problem)
            problem = problem_of_text(tool, clean);
        if (json_array_size(c->listing) >= TOOLS_MAX) {
            client_log(c, "it has more than %d tools; the others are left out", TOOLS_MAX);
            return;
        }
        if (problem)
            client_log(c, "a tool is left out ('%.60s'): %s", name ? name : "", problem);
        else
            (void)json_array_append(c->listing, clean);
    }
}

/* How long a list is good for when nobody tells that it changed. */
static void set_ttl(struct client *c, const json_t *result)
{
    json_int_t ms = json_integer_value(json_object_get(result, "ttlMs"));
    struct timeval in;

    if (c->tells_changes || ms <= 0 || !c->is_modern)
        return;
    ms = ms < TTL_MIN_MS ? TTL_MIN_MS : ms > TTL_MAX_MS ? TTL_MAX_MS : ms;
    in = (struct timeval){ .tv_sec = ms / 1000 };
    (void)evtimer_add(c->on_refresh, &in);
}

/* A server whose tools change all the time is asked for them less and less often: each list costs
 * as much as it is long. */
static void set_pace(struct client *c, bool is_changed)
{
    int64_t now = clock_us();
    bool is_again = c->refresh_us != 0 && now - c->listed_us < 2 * c->refresh_us;

    if (!is_changed || !is_again)
        c->refresh_us = REFRESH_MIN_US;
    else if (c->refresh_us < REFRESH_MAX_US)
        c->refresh_us *= 2;
    c->listed_us = now;
}

static void finish(struct client *c)
{
    json_t *before = c->tools;
    bool is_same = json_equal(c->tools, c->listing) != 0;

    set_pace(c, !is_same);
    if (is_same) { /* others look into it: the one that they know stays */
        json_decref(take_ptr(c->listing));
    } else {
        c->tools = take_ptr(c->listing);
        c->spec.events.listed(c->spec.events.data);
        json_decref(before);
    }
    client_listed(c);
}

static void on_page(void *data, const struct client_answer *answer)
{
    struct client *c = data;
    const json_t *tools = json_object_get(answer->result, "tools");
    const json_t *next = json_object_get(answer->result, "nextCursor");
    char why[160];

    if (c->state != CLIENT_LISTING && c->state != CLIENT_READY)
        return;
    if (!json_is_array(tools) && c->state == CLIENT_READY) { /* what there is stays */
        client_log(c, "it did not tell how its tools changed: %.120s",
                   answer->result ? "there is no list in its answer" : answer->message);
        return;
    }
    if (!answer->result && client_falls_back(c))
        return;
    if (!json_is_array(tools)) {
        (void)snprintf(why, sizeof(why), "it does not list its tools: %.120s",
                       answer->result ? "there is no list in its answer" : answer->message);
        client_fault(c, why);
        return;
    }
    c->list_bytes += json_dumpb(tools, NULL, 0, JSON_COMPACT);
    if (c->list_bytes > BYTES_MAX) {
        client_fault(c, "the list of its tools is too large");
        return;
    }
    take_tools(c, tools);
    if (json_is_string(next) && c->pages < PAGES_MAX && json_array_size(c->listing) < TOOLS_MAX) {
        ask_page(c, json_string_value(next));
        return;
    }
    if (json_is_string(next))
        client_log(c, "the list of its tools does not end; the rest is left out");
    set_ttl(c, answer->result);
    finish(c);
}

static void ask_page(struct client *c, const char *cursor)
{
    json_t *params = cursor ? json_pack("{s:s}", "cursor", cursor) : json_object();

    c->pages++;
    c->own = client_ask(c, "tools/list", params, PAGE_MS, on_page, c);
    if (!c->own)
        client_fault(c, "memory ran out");
}

void list_begin(struct client *c)
{
    json_decref(c->listing);
    c->listing = json_array();
    c->pages = 0;
    c->list_bytes = 0;
    if (c->has_tools) {
        ask_page(c, NULL);
        return;
    }
    finish(c);
}
