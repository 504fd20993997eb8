/* Tools of other servers that clients are offered directly as well. What a client sends goes there
 * as it is, and what comes back comes back as it is, but for what a server may not show. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/visible.h"
#include "mcp/approval.h"
#include "mcp/downstream_core.h"
#include "mcp/mcp.h"

struct passing {
    struct mcp_call *call;
    struct downstream *all;
    struct upstream *server;
    struct client_request *request;
    char *tool;
    uint64_t timeout_ms;
};

static void passing_free(struct passing *p)
{
    free(p->tool);
    free(p);
}

static void on_cancel(struct mcp_call *call, void *data)
{
    struct passing *p = data;

    (void)call;
    if (p->request)
        client_cancel(p->request);
    passing_free(p);
}

/* The server's own result: what the client may have of it. */
static json_t *shown_result(const struct upstream *u, const json_t *result)
{
    static const char *const keys[] = { "content", "structuredContent", "isError" };
    auto_free char *text = json_text(result);
    auto_json json_t *clean = NULL;
    json_t *out = json_object();

    if (text)
        server_scrub(u->spec, text);
    clean = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_object_get(clean, keys[i]))
            (void)json_object_set(out, keys[i], json_object_get(clean, keys[i]));
    if (!json_object_get(out, "content"))
        (void)json_object_set_new(out, "content", json_array());
    return out;
}

static void on_answer(void *data, const struct client_answer *a)
{
    struct passing *p = data;
    struct mcp_call *call = p->call;
    const struct upstream *u = p->server;
    char text[600];

    mcp_call_on_cancel(call, NULL, NULL);
    passing_free(p);
    if (a->result) {
        mcp_call_finish(call, shown_result(u, a->result));
        return;
    }
    (void)snprintf(text, sizeof(text), "%s: %.500s", a->type, a->message);
    server_scrub(u->spec, text);
    mcp_call_refuse(call, text);
}

static void pass_on(struct passing *p)
{
    struct mcp_call *call = p->call;
    json_t *params = json_pack("{s:s,s:O}", "name", p->tool, "arguments", mcp_call_arguments(call));

    p->request =
        client_is_away(p->server->client)
            ? (json_decref(params), NULL)
            : client_ask(p->server->client, "tools/call", params, p->timeout_ms, on_answer, p);
    if (p->request)
        return;
    mcp_call_on_cancel(call, NULL, NULL);
    passing_free(p);
    mcp_call_refuse(call, "ServerGone: the server that has this tool is not there");
}

/* ---- approval ---- */

static void on_approved(struct mcp_call *call, void *data, const json_t *answers)
{
    struct passing *p = data;

    if (approval_is_given(answers)) {
        pass_on(p);
        return;
    }
    mcp_call_on_cancel(call, NULL, NULL);
    passing_free(p);
    mcp_call_refuse(call, "the user did not allow this call");
}

/* What a person needs to see. The caller frees it. */
static char *question_text(const struct passing *p)
{
    auto_free char *args = json_text(mcp_call_arguments(p->call));
    char *text = NULL;
    size_t len = 0;
    FILE *f = args ? open_memstream(&text, &len) : NULL;

    if (!f)
        return NULL;
    (void)fprintf(f, "Call %s.", p->server->spec->ident);
    put_visible_text(f, p->tool);
    fputs(" with this?\n", f);
    put_visible_lines(f, args, strlen(args), LINES_SHELL, "");
    if (fclose(f) != 0)
        free(take_ptr(text));
    return text;
}

static void ask_first(struct passing *p)
{
    struct mcp_call *call = p->call;
    auto_free char *text = mcp_call_can(call, "elicitation") ? question_text(p) : NULL;
    bool is_long = text && strlen(text) > APPROVAL_TEXT_MAX;

    if (text && !is_long &&
        mcp_call_ask(call, approval_question(text, "Call it", NULL), on_approved, p) == 0)
        return;
    mcp_call_on_cancel(call, NULL, NULL);
    passing_free(p);
    mcp_call_refuse(
        call, is_long
                  ? "its arguments are longer than a question to its user can be (64 KiB)"
                  : "this tool needs its user's approval, and this MCP client cannot ask for it "
                    "(it does not offer elicitation)");
}

/* ---- handlers ---- */

static const struct offered *find(struct downstream *d, const char *shown, struct upstream **ret)
{
    const char *name = json_string_at(d->shown, shown, "");

    for (size_t i = 0; i < d->spec.servers.count; i++)
        for (size_t k = 0; k < d->servers[i].offer.n_tools; k++)
            if (strcmp(d->servers[i].offer.tools[k].name, name) == 0) {
                *ret = &d->servers[i];
                return &d->servers[i].offer.tools[k];
            }
    return NULL;
}

static void run(struct mcp_call *call, void *data)
{
    struct downstream *d = data;
    struct upstream *u = NULL;
    const struct offered *o = find(d, mcp_call_target(call), &u);
    struct passing *p = o && !d->is_ending ? calloc(1, sizeof(*p)) : NULL;

    if (!p) {
        mcp_call_refuse(call, "the server does not have this tool any more");
        return;
    }
    *p = (struct passing){ .call = call,
                           .all = d,
                           .server = u,
                           .tool = strdup(o->tool),
                           .timeout_ms = server_timeout_ms(u->spec, o->tool) };
    mcp_call_on_cancel(call, on_cancel, p);
    if (o->needs_approval)
        ask_first(p);
    else
        pass_on(p);
}

/* ---- what is shown ---- */

static json_t *descriptor_of(const struct offered *o, const char *shown)
{
    static const char *const keys[] = { "title",        "description", "inputSchema",
                                        "outputSchema", "annotations", "icons" };
    json_t *tool = json_pack("{s:s}", "name", shown);

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_object_get(o->described, keys[i]))
            (void)json_object_set(tool, keys[i], json_object_get(o->described, keys[i]));
    return tool;
}

/* "server__tool": hosts take no dots. */
static int show_one(struct downstream *d, json_t *shown, const struct upstream *u,
                    const struct offered *o, struct gb_err *err)
{
    char name[160];

    if (snprintf(name, sizeof(name), "%s__%s", u->spec->ident, strchr(o->name, '.') + 1) >=
        (int)sizeof(name))
        return gb_fail(err, GB_E_INVALID, 0, "its name is too long for clients: '%.100s'", name);
    if (json_object_get(shown, name) ||
        (mcp_server_tool(d->published, name) && !json_object_get(d->shown, name)))
        return gb_fail(err, GB_E_INVALID, 0, "clients would find two tools as '%.100s'", name);
    (void)json_object_set_new(shown, name, json_string(o->name));
    if (mcp_server_tool(d->published, name) &&
        json_equal(json_object_get(mcp_server_tool(d->published, name), "inputSchema"),
                   json_object_get(o->described, "inputSchema")))
        return 0;
    return mcp_server_add_tool(d->published, descriptor_of(o, name), run, d, err);
}

/* One that cannot be shown is no reason to hide those of other servers. */
void passthrough_show(struct downstream *d)
{
    json_t *shown = json_object(), *name_now;
    const char *name;
    struct gb_err err;

    for (size_t i = 0; i < d->spec.servers.count; i++) {
        struct upstream *u = &d->servers[i];
        for (size_t k = 0; k < u->offer.n_tools && u->spec->is_passthrough; k++)
            if (show_one(d, shown, u, &u->offer.tools[k], &err) < 0)
                downstream_log(u, "the tool '%.60s' is not shown: %.200s", u->offer.tools[k].tool,
                               err.msg);
    }
    json_object_foreach (d->shown, name, name_now)
        if (!json_object_get(shown, name))
            (void)mcp_server_remove_tool(d->published, name);
    json_decref(d->shown);
    d->shown = shown;
}
