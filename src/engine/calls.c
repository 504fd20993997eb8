#include "engine/calls.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "engine/audit.h"
#include "engine/command.h"
#include "engine/discover.h"
#include "engine/job.h"
#include "engine/schema.h"
#include "engine/tools.h"
#include "python/protocol.h"

enum {
    OPEN_CALLS_MAX = 10000,     /* of one program at once */
    OPEN_BYTES_MAX = 64 << 20,  /* of their arguments */
    UNREAD_MAX = 64 << 20,      /* of results that a program has not read */
    RECORDS_MAX = 200,          /* calls that a result lists */
    RESULT_ITEMS_MAX = 1 << 20, /* an item costs two bytes to send and a hundred to read */
    TYPE_MAX = 200,
    MESSAGE_MAX = 4000
};

struct gb_call {
    struct gb_call *next, **at; /* in a list: what points to it */
    struct lane_item turn;      /* its wait for its command to begin, and: */
    struct lane *lane;          /* that of its job, as long as it has a command */
    struct gb_engine *engine;
    struct gb_job *job; /* NULL: it is over, and nobody waits for the answer */
    uint64_t id;
    struct tool *tool;
    char *args; /* JSON text */
    size_t args_len;
    json_t *record; /* of the job's result, or NULL: there are too many */
    int64_t began_us;
    struct event *on_late;
    struct command *command; /* that runs for it */
    bool is_hosted;          /* somebody in this process has been told, and will answer */
    bool is_the_hosts;       /* namely the engine's host of tools, and not the job's callback */
    bool is_blocks;          /* its result may have handles in it */
};

static void start_waiting(struct gb_engine *engine);

/* ---- lists ---- */

/* There may be thousands, added and given up by a program as fast as it can: nothing here looks for
 * its place. */
static void list_add(struct gb_call **list, struct gb_call *call)
{
    call->next = *list;
    call->at = list;
    if (*list)
        (*list)->at = &call->next;
    *list = call;
}

static void list_remove(const struct gb_call *call)
{
    *call->at = call->next;
    if (call->next)
        call->next->at = call->at;
}

static struct gb_call **bucket(struct gb_job *job, uint64_t id)
{
    return &job->calls.open[id % CALLS_BUCKETS];
}

static void call_free(struct gb_call *call)
{
    if (call->on_late)
        event_free(call->on_late);
    tool_unref(call->tool);
    json_decref(call->record);
    free(call->args);
    free(call);
}

/* ---- what the program is told ---- */

static void tell(struct gb_job *job, const char *text, size_t len)
{
    const struct backend_ops *ops = job->engine->backend->ops;

    if (job->run && ops->tell)
        (void)!ops->tell(job->run, text, len); /* or its run is ending */
}

/* Text that may be anything, cut and made UTF-8. */
static json_t *clean_text(const char *text, size_t max)
{
    auto_free char *cut = strndup(text ? text : "", max);

    return cut ? json_lossy(cut) : json_string("");
}

static void tell_error(struct gb_job *job, uint64_t id, json_t *type, json_t *message)
{
    auto_json json_t *reply = json_pack("{s:I,s:b,s:O,s:O}", "id", (json_int_t)id, "ok", 0, "type",
                                        type, "message", message);
    auto_free char *text = json_text(reply);

    if (text)
        tell(job, text, strlen(text));
}

static bool tell_result(struct gb_job *job, const struct gb_call *call, const char *result,
                        size_t len)
{
    char head[80];
    size_t n = (size_t)snprintf(
        head, sizeof(head), "{\"id\":%llu,\"ok\":true,%s\"result\":", (unsigned long long)call->id,
        call->is_blocks ? "\"blocks\":true," : "");
    auto_free char *text = malloc(n + len + 1);

    if (!text)
        return false;
    memcpy(text, head, n);
    memcpy(text + n, result, len);
    text[n + len] = '}';
    tell(job, text, n + len + 1);
    return true;
}

/* ---- what the result says of it ---- */

static json_t *record_new(struct gb_job *job, const char *name)
{
    json_t *list = json_object_get(job->result, "tool_calls"), *record;

    if (json_array_size(list) >= RECORDS_MAX) {
        json_object_set_new(job->result, "tool_calls_omitted",
                            json_integer((json_int_t)job->calls.total - RECORDS_MAX));
        return NULL;
    }
    record =
        json_pack("{s:o,s:b,s:f}", "name", clean_text(name, TOOL_NAME_MAX), "ok", 0, "ms", 0.0);
    json_array_append(list, record);
    return record;
}

static void record_end(struct gb_job *job, json_t *record, int64_t began_us, json_t *error)
{
    job->calls.failed += error != NULL;
    if (!record)
        return;
    json_object_set_new(record, "ok", json_boolean(!error));
    json_object_set_new(record, "ms", json_real((double)(clock_us() - began_us) / 1000));
    if (error)
        json_object_set(record, "error", error);
}

/* ---- the end of a call ---- */

/* It is over: nobody waits for it, and what was done for it on the host is stopped. The embedding
 * program still holds it until it has answered. */
static void call_over(struct gb_job *job, struct gb_call *call, bool is_abandoned)
{
    struct gb_engine *engine = call->engine;

    list_remove(call);
    job->calls.n_open--;
    job->calls.open_bytes -= call->args_len;
    if (call->on_late)
        (void)evtimer_del(call->on_late);
    lane_leave(&call->turn);
    if (call->command) {
        command_kill(call->command);
        call->command = NULL;
    }
    call->job = NULL;
    if (!call->is_hosted) {
        call_free(call);
        return;
    }
    free(take_ptr(call->args));
    list_add(&engine->calls.late, call);
    if (is_abandoned && call->is_the_hosts)
        engine->calls.host.cancelled(engine->calls.host.data, call);
    else if (is_abandoned && job->callbacks.tool_cancelled)
        job->callbacks.tool_cancelled(job->callbacks.data, job, call);
}

static void call_fail(struct gb_call *call, const char *type, const char *message,
                      bool is_abandoned)
{
    struct gb_job *job = call->job;
    auto_json json_t *kind = clean_text(type && *type ? type : "ToolError", TYPE_MAX);
    auto_json json_t *text = clean_text(message, MESSAGE_MAX);

    record_end(job, call->record, call->began_us, kind);
    tell_error(job, call->id, kind, text);
    call_over(job, call, is_abandoned);
}

/* Nobody wants to know any more. */
static void call_abandon(struct gb_job *job, struct gb_call *call)
{
    auto_json json_t *kind = json_string("Cancelled");

    record_end(job, call->record, call->began_us, kind);
    call_over(job, call, true);
}

/* Is it JSON that a program can be given? NULL, or what is wrong with it. */
static const char *result_problem(const char *text, size_t len, char *room, size_t size)
{
    auto_json json_t *json = NULL;
    json_error_t why;
    size_t items = 0;

    if (len > TOOL_RESULT_MAX) {
        (void)snprintf(room, size, "the tool's result has %zu bytes; %d MiB are the most", len,
                       TOOL_RESULT_MAX >> 20);
        return room;
    }
    for (size_t i = 0; i < len; i++)
        items += text[i] == ',' || text[i] == '[' || text[i] == '{';
    if (items > RESULT_ITEMS_MAX)
        return "the tool's result has too many items";
    json = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!json) {
        (void)snprintf(room, size, "the tool's result is not JSON: %.120s", why.text);
        return room;
    }
    return json_depth(json) > TOOL_DEPTH_MAX ? "the tool's result is nested too deeply" : NULL;
}

static int call_succeed(struct gb_call *call, const char *text, size_t len)
{
    struct gb_job *job = call->job;
    const struct backend_ops *ops = job->engine->backend->ops;
    char room[200];
    const char *problem = result_problem(text, len, room, sizeof(room));

    if (problem) {
        call_fail(call, "InvalidResult", problem, false);
        return -1;
    }
    if (job->run && ops->untold && ops->untold(job->run) + len > UNREAD_MAX) {
        call_fail(call, "TooMuchUnread",
                  "the program has not read the results of its other calls, and this one finds no "
                  "room",
                  false);
        return -1;
    }
    if (!tell_result(job, call, text, len)) {
        call_fail(call, "MemoryError", "memory ran out", false);
        return -1;
    }
    record_end(job, call->record, call->began_us, NULL);
    call_over(job, call, false);
    return 0;
}

/* ---- answers of the embedding program's ---- */

/* Nobody waits for it any more. */
static int drop_late(struct gb_call *call)
{
    list_remove(call);
    call_free(call);
    return -1;
}

int calls_answer(struct gb_call *call, const char *result)
{
    if (!call->job)
        return drop_late(call);
    call->is_hosted = false;
    return call_succeed(call, result ? result : "null", result ? strlen(result) : 4);
}

int calls_answer_blocks(struct gb_call *call, const char *result)
{
    call->is_blocks = true;
    return calls_answer(call, result);
}

int calls_refuse(struct gb_call *call, const char *type, const char *message)
{
    if (!call->job)
        return drop_late(call);
    call->is_hosted = false;
    call_fail(call, type, message, false);
    return 0;
}

static void on_late(evutil_socket_t fd, short what, void *data)
{
    struct gb_call *call = data;
    char text[80];

    (void)fd;
    (void)what;
    (void)snprintf(text, sizeof(text), "the tool took longer than %g s",
                   (double)call->tool->timeout_ms / 1000);
    call_fail(call, "Timeout", text, true);
}

/* ---- commands ---- */

static void fail_by_status(struct gb_call *call, const struct command_end *end)
{
    auto_free char *text = NULL;
    size_t len = end->err_len;

    while (len > 0 && (end->err[len - 1] == '\n' || end->err[len - 1] == ' '))
        len--;
    if (asprintf(&text, "exit status %d%s%.*s", end->status, len > 0 ? ": " : "", (int)len,
                 end->err) < 0)
        text = NULL;
    call_fail(call, "CommandFailed", text ? text : "", false);
}

static void on_command(void *data, const struct command_end *end)
{
    struct gb_call *call = data;
    char text[80];

    call->command = NULL;
    if (end->is_too_much) {
        (void)snprintf(text, sizeof(text), "the tool printed more than %d MiB",
                       TOOL_RESULT_MAX >> 20);
        call_fail(call, "InvalidResult", text, false);
    } else if (end->status != 0) {
        fail_by_status(call, end);
    } else {
        (void)call_succeed(call, end->out, end->out_len);
    }
}

/* Not before its process is gone does another begin: a program that calls and gives up as fast as
 * it can has no more of them at once than any other. */
static void on_command_gone(void *host, void *place)
{
    struct gb_engine *engine = host;

    lane_release(place);
    start_waiting(engine);
}

static void start_command(struct gb_call *call)
{
    char keeper[PATH_MAX];
    struct command_spec spec = { .base = call->engine->base,
                                 .keeper = keeper,
                                 .command = call->tool->command,
                                 .name = call->tool->name,
                                 .input = call->args,
                                 .input_len = call->args_len,
                                 .out_max = TOOL_RESULT_MAX,
                                 .done = on_command,
                                 .data = call,
                                 .gone = on_command_gone,
                                 .host = call->engine,
                                 .place = call->lane,
                                 .all = &call->engine->calls.commands };
    struct gb_err err;

    (void)snprintf(keeper, sizeof(keeper), "%s/glovebox-keeper",
                   call->engine->config.extension_dir);
    call->command = command_start(&spec, &err);
    if (call->command)
        return;
    lane_release(call->lane);
    call_fail(call, "CommandFailed", err.msg, false);
}

static void start_waiting(struct gb_engine *engine)
{
    const struct lane_item *next;

    while (!engine->freeing && (next = lanes_next(&engine->calls.lanes)))
        start_command(next->data);
}

/* Wait for a place among the commands of all runs. */
static void queue(struct gb_call *call)
{
    struct calls *calls = &call->job->calls;

    if (!calls->lane)
        calls->lane = lane_new(&call->engine->calls.lanes);
    if (!calls->lane) {
        call_fail(call, "MemoryError", "memory ran out", false);
        return;
    }
    call->lane = calls->lane;
    call->turn.data = call;
    lane_wait(call->lane, &call->turn);
    start_waiting(call->engine);
}

/* ---- the beginning of a call ---- */

/* Answer a tool about tools. False: it is none. */
static bool call_by_engine(struct gb_call *call)
{
    auto_json json_t *args = NULL;
    auto_json json_t *answer = NULL;
    auto_free char *text = NULL;
    struct gb_err err = { 0 };

    if (call->tool->builtin != TOOL_SEARCHES && call->tool->builtin != TOOL_DESCRIBES)
        return false;
    args = json_loadb(call->args, call->args_len, JSON_ALLOW_NUL, NULL);
    answer = discover_answer(call->job->request.tools, call->tool, args, &err);
    text = answer ? json_text(answer) : NULL;
    if (text)
        (void)call_succeed(call, text, strlen(text));
    else
        call_fail(call, "UnknownTool", err.msg, false);
    return true;
}

/* Offer it to whoever answers tools for all jobs. It may be answered, and gone, when this returns
 * true. */
static bool call_by_host(struct gb_call *call)
{
    const struct tool_host *host = &call->engine->calls.host;

    if (!host->call || !call->tool->is_hosted)
        return false;
    call->is_hosted = call->is_the_hosts = true;
    host->call(host->data, call, call->tool->name, call->args);
    return true;
}

static void call_start(struct gb_call *call)
{
    struct gb_job *job = call->job;

    if (call->tool->timeout_ms > 0 && !call->on_late) { /* not without its limit */
        call_fail(call, "MemoryError", "memory ran out", false);
        return;
    }
    if (call->on_late) {
        struct timeval in = { .tv_sec = (time_t)(call->tool->timeout_ms / 1000),
                              .tv_usec = (suseconds_t)(call->tool->timeout_ms % 1000 * 1000) };
        (void)evtimer_add(call->on_late, &in);
    }
    if (call->tool->command) {
        queue(call);
    } else if (call_by_engine(call) || call_by_host(call)) {
        return;
    } else if (job->callbacks.tool) {
        call->is_hosted = true;
        job->callbacks.tool(job->callbacks.data, job, call, call->tool->name, call->args);
    } else {
        call_fail(call, "NoHandler", "nobody on the host answers calls of this tool", false);
    }
}

/* The text of the arguments as it came, which the caller frees: writing it anew costs as much as
 * reading it did. They are the third and last key; there are no others, and none twice. */
static char *args_text(const struct run_word *word, const json_t *id, const char *name)
{
    auto_json json_t *title = json_string(name);
    auto_free char *quoted = title ? json_dumps(title, JSON_ENCODE_ANY) : NULL;
    auto_free char *head = NULL;
    size_t n;

    if (!quoted || asprintf(&head, "{\"id\":%lld,\"name\":%s,\"args\":",
                            (long long)json_integer_value(id), quoted) < 0) {
        head = NULL;
        return NULL;
    }
    n = strlen(head);
    if (json_object_size(word->json) != 3 || word->len < n + 3 ||
        memcmp(word->text, head, n) != 0 || word->text[word->len - 1] != '}')
        return NULL;
    return strndup(word->text + n, word->len - n - 1);
}

/* Takes `args`. */
static struct gb_call *call_new(struct gb_job *job, uint64_t id, struct tool *tool, char *args)
{
    struct gb_call *call = args ? calloc(1, sizeof(*call)) : NULL;

    if (!call) {
        free(args);
        return NULL;
    }
    *call = (struct gb_call){ .engine = job->engine,
                              .job = job,
                              .id = id,
                              .tool = tool_ref(tool),
                              .args = args,
                              .args_len = strlen(args),
                              .record = record_new(job, tool->name),
                              .began_us = clock_us() };
    if (tool->timeout_ms > 0)
        call->on_late = evtimer_new(job->engine->base, on_late, call);
    list_add(bucket(job, id), call);
    job->calls.n_open++;
    job->calls.open_bytes += call->args_len;
    return call;
}

/* Why this call is not even begun; *type says what kind of reason it is. NULL: it is. */
static const char *refusal(const struct gb_job *job, const struct tool *tool, const json_t *args,
                           const char **type, struct gb_err *err)
{
    *type = "TooManyCalls";
    if (job->calls.total > job->request.settings.tool_calls)
        return "the program has made as many tool calls as it may";
    if (job->calls.n_open > OPEN_CALLS_MAX || job->calls.open_bytes > OPEN_BYTES_MAX)
        return "too many calls are under way";
    *type = "InvalidArguments";
    return tool->parameters && schema_validate(tool->parameters, args, "", err) < 0 ? err->msg
                                                                                    : NULL;
}

static const char *take_call(struct gb_job *job, const struct run_word *word)
{
    const json_t *id = json_object_get(word->json, "id");
    const json_t *args = json_object_get(word->json, "args");
    const char *name = json_string_value(json_object_get(word->json, "name")), *type, *why;
    struct tool *tool = name ? toolset_find(job->request.tools, name) : NULL;
    struct gb_call *call;
    struct gb_err err;

    if (!json_is_integer(id) || json_integer_value(id) <= (json_int_t)job->calls.last_id)
        return "a tool call with the number of another, or none";
    if (!tool || !json_is_object(args))
        return "a call of a tool that it does not have, or without arguments";
    job->calls.last_id = (uint64_t)json_integer_value(id);
    job->calls.total++;
    /* Not those beyond the limit: there may be no end of them. */
    if (job->calls.total <= job->request.settings.tool_calls + 1 &&
        audit_note(job, AUDIT_TOOL_CALLED, json_pack("{s:s}", "tool", tool->name)) < 0)
        return NULL; /* its end is on the way */
    call = call_new(job, job->calls.last_id, tool, args_text(word, id, name));
    if (!call)
        return "a tool call that is not written as calls are";
    why = refusal(job, tool, args, &type, &err);
    if (why)
        call_fail(call, type, why, false);
    else
        call_start(call);
    return NULL;
}

static const char *take_cancel(struct gb_job *job, const struct run_word *word)
{
    const json_t *id = json_object_get(word->json, "id");
    struct gb_call *call = NULL;

    if (!json_is_integer(id) || json_integer_value(id) <= 0 ||
        json_integer_value(id) > (json_int_t)job->calls.last_id)
        return "it gave up a tool call that it never made";
    call = *bucket(job, (uint64_t)json_integer_value(id));
    while (call && call->id != (uint64_t)json_integer_value(id))
        call = call->next;
    if (call) /* else the answer is on its way */
        call_abandon(job, call);
    return NULL;
}

const char *calls_word(struct gb_job *job, const struct run_word *word)
{
    if (job->stopped != STOP_NONE)
        return NULL;
    return word->kind == WORD_TOOL_CALL ? take_call(job, word) : take_cancel(job, word);
}

void calls_end(struct gb_job *job)
{
    lane_close(take_ptr(job->calls.lane)); /* order: none begins in the place of one that ends */
    for (size_t i = 0; i < CALLS_BUCKETS; i++)
        while (job->calls.open[i])
            call_abandon(job, job->calls.open[i]);
}

void calls_close(struct gb_engine *engine)
{
    commands_end(&engine->calls.commands);
    while (engine->calls.late) {
        struct gb_call *call = engine->calls.late;

        engine->calls.late = call->next;
        call_free(call);
    }
}
