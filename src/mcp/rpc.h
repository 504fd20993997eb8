#pragma once
/*
 * JSON-RPC 2.0 as MCP uses it: one message a piece of text, no batches, ids that are strings or
 * integers. For servers and clients, and for every transport. What arrives is hostile: its size,
 * depth and number of items are bounded before it is parsed.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    RPC_BYTES_MAX = 8 << 20, /* of a message */
    RPC_DEPTH_MAX = 128,
    RPC_ITEMS_MAX = 200000, /* values, and keys of objects */
    RPC_ID_MAX = 1024,      /* bytes of an id that is a string */
    RPC_METHOD_MAX = 256    /* bytes of a method's name */
};

/* Codes of errors: those of JSON-RPC, then those of MCP from 2026-07-28 on. */
enum rpc_code {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_HEADER_MISMATCH = -32020,
    RPC_MISSING_CAPABILITY = -32021,
    RPC_UNSUPPORTED_VERSION = -32022
};

enum rpc_kind {
    RPC_REQUEST,
    RPC_NOTIFICATION,
    RPC_RESPONSE /* a result or an error */
};

/* Is the text more than is parsed: in bytes, in depth, in items? Says in which, or NULL: it is
 * not. */
const char *rpc_excess(const char *text, size_t len);

/* A message that arrived. */
struct rpc_message {
    json_t *json; /* all of it, owned; the others are borrowed from it */
    enum rpc_kind kind;
    const json_t *id;     /* of a request or a response; NULL in an error that names none */
    const char *method;   /* of a request or a notification */
    const json_t *params; /* an object, or NULL */
    const json_t *result; /* of a response, or NULL: */
    const json_t *error;  /* {"code", "message", "data"?} */
    size_t bytes;         /* of the text it came as */
};

/* Why a text is no message. */
struct rpc_problem {
    int code;
    char message[160];
    json_t *id; /* of the request, as far as it could be read; owned, may be NULL */
};

/* Read one message. Returns 0, or -1 with a problem; the caller calls the `_done` of what it
 * got. */
int rpc_read(const char *text, size_t len, struct rpc_message *ret, struct rpc_problem *problem)
    __attribute__((warn_unused_result));

void rpc_message_done(struct rpc_message *message);
void rpc_problem_done(struct rpc_problem *problem);

/* Are both ids the same? A string is never a number. */
bool rpc_id_equal(const json_t *a, const json_t *b);

/* Messages to be sent; new, NULL when memory ran out. `params`, `result` and `data` are taken and
 * may be NULL; `id` is borrowed, and NULL where it is not known (the member is left out then). */
json_t *rpc_request(const json_t *id, const char *method, json_t *params);
json_t *rpc_notification(const char *method, json_t *params);
json_t *rpc_result(const json_t *id, json_t *result);
json_t *rpc_error(const json_t *id, int code, const char *message, json_t *data);

/* As text without a line break in it; the caller frees it. */
char *rpc_text(const json_t *message, size_t *ret_len);

/* ---- lines, for stdio ---- */

/* Cuts a stream of bytes into lines. A line that is too long is skipped, and told of once. */
struct rpc_lines {
    char *data;
    size_t start, len, cap; /* what is not taken yet is at data + start, len bytes */
    size_t scanned;         /* of those, how many hold no line break */
    bool is_skipping;
};

enum rpc_line_state {
    RPC_LINE_NONE, /* there is no whole line */
    RPC_LINE_ONE,
    RPC_LINE_LONG /* one that was too long has been skipped, or is being */
};

/* Room for up to `len` more bytes, to be read into; NULL when memory ran out. Tell with
 * rpc_lines_add() how many came. */
char *rpc_lines_room(struct rpc_lines *l, size_t len);
void rpc_lines_add(struct rpc_lines *l, size_t len);

/* The next line without its end ("\n" or "\r\n"), valid until the next rpc_lines_room(). Lines of
 * white space are passed over. */
enum rpc_line_state rpc_lines_next(struct rpc_lines *l, const char **ret, size_t *ret_len);

/* What came after the last line break. */
size_t rpc_lines_rest(const struct rpc_lines *lines);
void rpc_lines_done(struct rpc_lines *lines);
