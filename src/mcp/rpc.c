#include "mcp/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"

enum {
    LINE_ROOM_MIN = 65536
};

/* ---- reading ---- */

static int refuse(struct rpc_problem *p, int code, const char *message)
{
    p->code = code;
    (void)snprintf(p->message, sizeof(p->message), "%s", message);
    return -1;
}

/* What the text would make a parser do, told without parsing it. */
struct shape {
    size_t depth, deepest, items;
};

static struct shape shape_of(const char *text, size_t len)
{
    struct shape s = { .items = 1 };
    bool is_string = false;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (is_string) {
            i += c == '\\';
            is_string = c != '"';
        } else if (c == '"') {
            is_string = true;
        } else if (c == '[' || c == '{') {
            s.items++;
            s.depth++;
            s.deepest = s.depth > s.deepest ? s.depth : s.deepest;
        } else if (c == ']' || c == '}') {
            s.depth -= s.depth > 0;
        } else if (c == ',' || c == ':') { /* a key costs more than what it stands for */
            s.items++;
        }
    }
    return s;
}

const char *rpc_excess(const char *text, size_t len)
{
    struct shape shape;

    if (len > RPC_BYTES_MAX)
        return "the message is larger than 8 MiB";
    shape = shape_of(text, len);
    if (shape.deepest > RPC_DEPTH_MAX)
        return "the message is nested more than 128 deep";
    return shape.items > RPC_ITEMS_MAX ? "the message has more than 200000 items and keys" : NULL;
}

static json_t *parse(const char *text, size_t len, struct rpc_problem *p)
{
    const char *excess = rpc_excess(text, len);
    json_error_t why;
    json_t *json;

    if (excess) {
        (void)refuse(p, RPC_INVALID_REQUEST, excess);
        return NULL;
    }
    json = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);
    if (!json) {
        p->code = RPC_PARSE_ERROR;
        (void)snprintf(p->message, sizeof(p->message), "not JSON: %.100s (column %d)", why.text,
                       why.column);
    }
    return json;
}

static bool is_id(const json_t *id)
{
    return json_is_integer(id) || (json_is_string(id) && json_string_length(id) <= RPC_ID_MAX);
}

static int read_call(struct rpc_message *m, struct rpc_problem *p)
{
    const json_t *method = json_object_get(m->json, "method");
    const json_t *params = json_object_get(m->json, "params");
    const char *name = json_string_value(method);

    m->kind = m->id ? RPC_REQUEST : RPC_NOTIFICATION;
    if (!name || strlen(name) != json_string_length(method) || !*name ||
        json_string_length(method) > RPC_METHOD_MAX)
        return refuse(p, RPC_INVALID_REQUEST, "\"method\" must be a name of at most 256 bytes");
    if (json_object_get(m->json, "result") || json_object_get(m->json, "error"))
        return refuse(p, RPC_INVALID_REQUEST, "a message with \"method\" has no result or error");
    if (params && !json_is_object(params))
        return refuse(p, RPC_INVALID_PARAMS, "\"params\" must be an object");
    m->method = name;
    m->params = params;
    return 0;
}

static int read_response(struct rpc_message *m, struct rpc_problem *p)
{
    m->kind = RPC_RESPONSE;
    m->result = json_object_get(m->json, "result");
    m->error = json_object_get(m->json, "error");
    if (!m->result == !m->error)
        return refuse(p, RPC_INVALID_REQUEST,
                      "a message has one of \"method\", \"result\" and \"error\"");
    if (m->result && !m->id)
        return refuse(p, RPC_INVALID_REQUEST, "a result needs the \"id\" of its request");
    if (m->error && (!json_is_integer(json_object_get(m->error, "code")) ||
                     !json_is_string(json_object_get(m->error, "message"))))
        return refuse(p, RPC_INVALID_REQUEST, "\"error\" must have a code and a message");
    return 0;
}

static int read_object(struct rpc_message *m, struct rpc_problem *p)
{
    const json_t *id = json_object_get(m->json, "id");
    bool is_call = json_object_get(m->json, "method") != NULL;

    if (json_is_array(m->json))
        return refuse(p, RPC_INVALID_REQUEST, "batches are not supported: send one message each");
    if (!json_is_object(m->json))
        return refuse(p, RPC_INVALID_REQUEST, "a message is a JSON object");
    if (is_id(id))
        m->id = id;
    if (strcmp(json_string_at(m->json, "jsonrpc", ""), "2.0") != 0)
        return refuse(p, RPC_INVALID_REQUEST, "\"jsonrpc\" must be \"2.0\"");
    /* An error about a message whose id its sender could not read has null there. */
    if (id && !m->id && (is_call || !json_is_null(id)))
        return refuse(p, RPC_INVALID_REQUEST,
                      "\"id\" must be an integer, or a string of at most 1024 bytes");
    return is_call ? read_call(m, p) : read_response(m, p);
}

int rpc_read(const char *text, size_t len, struct rpc_message *ret, struct rpc_problem *problem)
{
    *ret = (struct rpc_message){ .bytes = len };
    *problem = (struct rpc_problem){ 0 };
    ret->json = parse(text, len, problem);
    if (!ret->json)
        return -1;
    if (read_object(ret, problem) == 0)
        return 0;
    if (ret->id && json_object_get(ret->json, "method"))
        problem->id = json_incref(json_shared(ret->id));
    rpc_message_done(ret);
    return -1;
}

void rpc_message_done(struct rpc_message *message)
{
    json_decref(message->json);
    *message = (struct rpc_message){ 0 };
}

void rpc_problem_done(struct rpc_problem *problem)
{
    json_decref(problem->id);
    problem->id = NULL;
}

bool rpc_id_equal(const json_t *a, const json_t *b)
{
    return a && b && json_equal(a, b) != 0;
}

/* ---- writing ---- */

/* Takes the value; NULL leaves it out. */
static json_t *with(json_t *message, const char *key, json_t *value)
{
    if (value && json_object_set_new(message, key, value) < 0) {
        json_decref(message);
        return NULL;
    }
    return message;
}

static json_t *begin(const json_t *id)
{
    json_t *message = with(json_object(), "jsonrpc", json_string("2.0"));

    return id ? with(message, "id", json_incref(json_shared(id))) : message;
}

json_t *rpc_request(const json_t *id, const char *method, json_t *params)
{
    return with(with(begin(id), "method", json_string(method)), "params", params);
}

json_t *rpc_notification(const char *method, json_t *params)
{
    return rpc_request(NULL, method, params);
}

json_t *rpc_result(const json_t *id, json_t *result)
{
    return with(begin(id), "result", result);
}

json_t *rpc_error(const json_t *id, int code, const char *message, json_t *data)
{
    json_t *error = json_pack("{s:i,s:o}", "code", code, "message", json_lossy(message));

    return with(begin(id), "error", with(error, "data", data));
}

char *rpc_text(const json_t *message, size_t *ret_len)
{
    char *text = json_text(message);

    *ret_len = text ? strlen(text) : 0;
    return text;
}

/* ---- lines ---- */

char *rpc_lines_room(struct rpc_lines *l, size_t len)
{
    size_t need = l->len + len;
    char *data;

    if (l->start > 0) {
        if (l->len > 0)
            memmove(l->data, l->data + l->start, l->len);
        l->start = 0;
    }
    if (need > l->cap) {
        size_t cap = l->cap < LINE_ROOM_MIN ? LINE_ROOM_MIN : l->cap;

        while (cap < need)
            cap *= 2;
        data = realloc(l->data, cap);
        if (!data)
            return NULL;
        l->data = data;
        l->cap = cap;
    }
    return l->data + l->len;
}

void rpc_lines_add(struct rpc_lines *l, size_t len)
{
    l->len += len;
}

static void consume(struct rpc_lines *l, size_t n)
{
    l->start += n;
    l->len -= n;
    l->scanned = 0;
}

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r", text[i]) || !text[i])
            return false;
    return true;
}

/* There is no line break: what is too long already need not be kept until there is. */
static enum rpc_line_state without_end(struct rpc_lines *l)
{
    bool is_news = !l->is_skipping && l->len > RPC_BYTES_MAX;

    l->is_skipping = l->is_skipping || is_news;
    if (l->is_skipping)
        consume(l, l->len);
    return is_news ? RPC_LINE_LONG : RPC_LINE_NONE;
}

enum rpc_line_state rpc_lines_next(struct rpc_lines *l, const char **ret, size_t *ret_len)
{
    while (l->len > 0) {
        const char *at = l->data + l->start;
        const char *end = memchr(at + l->scanned, '\n', l->len - l->scanned);
        size_t len = end ? (size_t)(end - at) : 0;
        bool was_skipping = l->is_skipping;

        l->scanned = l->len;
        if (!end)
            return without_end(l);
        consume(l, len + 1);
        l->is_skipping = false;
        if (was_skipping || is_blank(at, len))
            continue;
        if (len > RPC_BYTES_MAX)
            return RPC_LINE_LONG;
        *ret = at;
        *ret_len = len - (at[len - 1] == '\r');
        return RPC_LINE_ONE;
    }
    return RPC_LINE_NONE;
}

size_t rpc_lines_rest(const struct rpc_lines *lines)
{
    return lines->len;
}

void rpc_lines_done(struct rpc_lines *lines)
{
    free(lines->data);
    *lines = (struct rpc_lines){ 0 };
}
