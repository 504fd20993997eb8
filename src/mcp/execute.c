/*
 * A call of a tool that runs something: the request waits for its turn, output becomes progress, a
 * question of the engine becomes one to the client's user, and the result the tool's.
 *
 * Whichever ends first ends the other: a call that is cancelled drops its run, and a run that is
 * done answers its call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "base/visible.h"
#include "engine/loop.h"
#include "engine/manifest.h"
#include "mcp/approval.h"
#include "mcp/content.h"
#include "mcp/tools.h"

enum {
    TELL_EVERY_MS = 100,
    TELL_BYTES = 2048, /* of output in a progress message: its end */
    FINDINGS_SHOWN = 10
};

struct execution {
    struct mcp_face *face;
    struct mcp_call *call;
    struct run_turn *turn;
    enum execute_as as;
    char session[HANDLE_TEXT]; /* empty: none */
    bool is_reset;
    /* progress */
    char news[TELL_BYTES]; /* the end of what has not been told */
    size_t n_news;
    uint64_t n_bytes; /* of all output */
    int64_t told_us;
    struct event *on_tell;
};

static void execution_free(struct execution *x)
{
    if (x->on_tell)
        event_free(x->on_tell);
    free(x);
}

static void on_cancel(struct mcp_call *call, void *data)
{
    struct execution *x = data;

    (void)call;
    if (x->turn)
        run_drop(x->turn);
    execution_free(x);
}

/* ---- progress ---- */

/* Tell the whole lines that there are, or, if there is none, what there is. */
static void tell(struct execution *x)
{
    const char *end = memrchr(x->news, '\n', x->n_news);
    size_t len = end ? (size_t)(end - x->news) : x->n_news;
    size_t used = end ? len + 1 : len;
    char text[TELL_BYTES + 1];

    memcpy(text, x->news, len);
    text[len] = '\0';
    x->told_us = clock_us();
    if (len > 0)
        mcp_call_progress(x->call, (double)(x->n_bytes - (x->n_news - used)), -1, text);
    x->n_news -= used;
    memmove(x->news, x->news + used, x->n_news);
}

static void on_tell(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    tell(data);
}

static void on_output(void *data, enum gb_stream stream, const char *bytes, size_t len)
{
    static const struct timeval soon = { .tv_usec = TELL_EVERY_MS * 1000 };
    struct execution *x = data;
    size_t keep;

    (void)stream;
    x->n_bytes += len;
    if (len >= TELL_BYTES) {
        bytes += len - TELL_BYTES;
        len = TELL_BYTES;
    }
    keep = x->n_news + len > TELL_BYTES ? TELL_BYTES - len : x->n_news;
    memmove(x->news, x->news + (x->n_news - keep), keep);
    memcpy(x->news + keep, bytes, len);
    x->n_news = keep + len;
    if (x->told_us + TELL_EVERY_MS * 1000 <= clock_us() && memchr(bytes, '\n', len))
        tell(x);
    else if (x->on_tell && !evtimer_pending(x->on_tell, NULL))
        (void)evtimer_add(x->on_tell, &soon);
}

/* ---- approval ---- */

static void put_list(FILE *f, const char *label, const json_t *names)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        fputs(i == 0 ? label : ", ", f);
        put_visible_text(f, json_string_value(json_array_get(names, i)));
    }
    if (json_array_size(names) > 0)
        fputc('\n', f);
}

static void put_mounts(FILE *f, const json_t *mounts)
{
    for (size_t i = 0; i < json_array_size(mounts); i++) {
        const json_t *m = json_array_get(mounts, i);

        fputs("It sees: ", f);
        put_visible_text(f, json_string_at(m, "host", ""));
        (void)fprintf(f, ", %s\n", json_string_at(m, "mode", ""));
    }
}

static void put_findings(FILE *f, const json_t *findings)
{
    size_t n = json_array_size(findings);

    for (size_t i = 0; i < n && i < FINDINGS_SHOWN; i++) {
        const json_t *finding = json_array_get(findings, i);

        (void)fprintf(f, "Found in line %lld: ",
                      (long long)json_integer_value(json_object_get(finding, "line")));
        put_visible_text(f, json_string_at(finding, "message", ""));
        fputc('\n', f);
    }
    if (n > FINDINGS_SHOWN)
        (void)fprintf(f, "Found besides: %zu more\n", n - FINDINGS_SHOWN);
}

/* Each line of a part begins with a bar, so that none can pass for one of ours; the program is the
 * last, and nothing of ours comes after it. */
static void put_parts(FILE *f, const json_t *parts)
{
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);

        if (json_is_true(json_object_get(part, "is_program"))) {
            manifest_put(f, part, "");
            continue;
        }
        put_visible_text(f, json_string_at(part, "title", ""));
        fputc(':', f);
        manifest_put(f, part, "| ");
        fputc('\n', f);
    }
}

/* What a person needs to see: all of it. The caller frees it. */
static char *question_text(const json_t *question)
{
    bool is_held = json_is_true(json_object_get(question, "is_held"));
    bool has_net = strcmp(json_string_at(question, "network", "none"), "none") != 0;
    bool is_op = strcmp(json_string_at(question, "kind", ""), "session") == 0;
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        return NULL;
    (void)fprintf(f, "%s %s%s\n", is_op ? "Put this into the session?" : "Run this program?",
                  is_held ? "It is held in a box by the kernel"
                          : "Nothing holds it: it can do what you can",
                  has_net ? ", with network." : ", without network.");
    put_list(f, "It may call: ", json_object_get(question, "tools"));
    put_list(f, "Its environment has: ", json_object_get(question, "env"));
    put_mounts(f, json_object_get(question, "mounts"));
    put_findings(f, json_object_get(question, "findings"));
    put_parts(f, json_object_get(question, "parts"));
    if (fclose(f) != 0)
        free(take_ptr(text));
    return text;
}

/* A person who sees a part of it would say yes to the rest as well. */
static const char too_long[] =
    "it is longer than a question can be (64 KiB with all that decides what runs): do it in "
    "smaller steps, or reset the session";

static void on_answer(struct mcp_call *call, void *data, const json_t *answers)
{
    struct execution *x = data;

    (void)call;
    if (approval_is_given(answers))
        run_approve(x->turn, 1, NULL);
    else
        run_approve(x->turn, 0,
                    approval_is_dismissed(answers) ? "the question was dismissed"
                                                   : "the user declined");
}

static void on_approve(void *data, const json_t *question)
{
    struct execution *x = data;
    auto_free char *text = NULL;

    if (!mcp_call_can(x->call, "elicitation")) {
        run_approve(x->turn, -1,
                    "this MCP client cannot ask its user (it does not offer elicitation): use one "
                    "that can, or start glovebox with --approve never");
        return;
    }
    text = question_text(question);
    if (text && strlen(text) > APPROVAL_TEXT_MAX) {
        run_approve(x->turn, 0, too_long);
        return;
    }
    if (mcp_call_ask(x->call,
                     approval_question(text, "Run it", "Whether the program may run, this once"),
                     on_answer, x) < 0)
        run_approve(x->turn, -1, "too many questions wait for an answer already");
}

/* ---- results ---- */

/* A session that is gone has no handle any more. One that was reset keeps it, and so does one that
 * a request was not even admitted to. */
static void note_session(const struct execution *x, const json_t *result)
{
    const json_t *error = json_object_get(result, "error");
    bool is_gone = strcmp(json_string_at(error, "type", ""), "gone") == 0;
    bool is_failed = strcmp(json_string_at(result, "status", "failed"), "failed") == 0;
    bool is_closed = json_is_null(json_object_get(result, "session")) && !is_failed && !x->is_reset;

    if (x->session[0] && (is_gone || is_closed))
        handles_drop(x->face->handles, x->session);
}

static void note_log(struct mcp_call *call, const json_t *result)
{
    const char *status = json_string_at(result, "status", "failed");
    const json_t *wall = json_object_get(json_object_get(result, "usage"), "wall_ms");

    mcp_call_log(call, strcmp(status, "failed") == 0 ? MCP_ERROR : MCP_INFO, "glovebox",
                 json_pack("{s:s,s:s,s:O?}", "tool", mcp_call_target(call), "status", status,
                           "wall_ms", wall));
}

static void on_done(void *data, json_t *result)
{
    struct execution *x = data;
    struct mcp_face *face = x->face;
    struct mcp_call *call = x->call;
    enum execute_as as = x->as;

    if (result)
        note_session(x, result);
    execution_free(x);
    mcp_call_on_cancel(call, NULL, NULL);
    note_log(call, result);
    if (!result)
        mcp_call_fail(call, RPC_INTERNAL_ERROR, "memory ran out", NULL);
    else if (as == EXECUTE_OP)
        mcp_call_finish(call, content_of_op(result));
    else
        mcp_call_finish(call, content_of_run(result, face->files, mcp_call_principal(call)));
}

void execute(struct mcp_call *call, struct mcp_face *face, json_t *request, enum execute_as as)
{
    bool is_told = mcp_call_wants_progress(call) && as == EXECUTE_RUN;
    const struct runs_events events = { .done = on_done,
                                        .output = is_told ? on_output : NULL,
                                        .approve = on_approve };
    struct execution *x = calloc(1, sizeof(*x));

    if (!x) {
        json_decref(request);
        mcp_call_fail(call, RPC_INTERNAL_ERROR, "memory ran out", NULL);
        return;
    }
    *x = (struct execution){ .face = face, .call = call, .as = as };
    (void)snprintf(x->session, sizeof(x->session), "%s", json_string_at(request, "session", ""));
    x->is_reset = strcmp(json_string_at(request, "op", ""), "reset") == 0;
    if (is_told)
        x->on_tell = evtimer_new(face->spec.base, on_tell, x);
    mcp_call_on_cancel(call, on_cancel, x);
    x->turn = runs_add(face->runs, request, &events, x);
    if (!x->turn) {
        mcp_call_on_cancel(call, NULL, NULL);
        execution_free(x);
        mcp_call_fail(call, RPC_INTERNAL_ERROR, "memory ran out", NULL);
    }
}
