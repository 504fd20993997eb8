#pragma once
/*
 * An MCP server without a transport, for both eras of the protocol: legacy (the `initialize`
 * handshake, 2025-11-25 and before) and modern (2026-07-28: no state, each request says in its
 * _meta who asks).
 *
 *   server   what is offered: tools, prompts, resources, each with a handler. One a program.
 *   peer     who talks to it: a stdio connection, one modern HTTP request, a legacy HTTP session.
 *   call     one request under way. Its handler answers it from inside, or later.
 *
 * A transport reads a message (rpc_read()), hands it to a peer with mcp_peer_take(), and is handed
 * what is to be sent, each message with the tag of the request that it belongs to. Handlers do not
 * see the era: to ask the client for something (mcp_call_ask()) is a request to the client in one,
 * and an `input_required` result and a second request in the other.
 *
 * Everything happens on one thread, in the loop of `base`.
 */
#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "mcp/rpc.h"

#define MCP_MODERN "2026-07-28"
#define MCP_LEGACY "2025-11-25" /* the newest of that era */

/* What a client has in a legacy HTTP request that does not say. */
#define MCP_LEGACY_ASSUMED "2025-03-26"

struct mcp_server;
struct mcp_peer;
struct mcp_call;

/* ---- the server ---- */

enum mcp_level {
    MCP_DEBUG,
    MCP_INFO,
    MCP_NOTICE,
    MCP_WARNING,
    MCP_ERROR,
    MCP_CRITICAL,
    MCP_ALERT,
    MCP_EMERGENCY
};

struct mcp_server_spec {
    struct event_base *base;  /* borrowed: for timers */
    const char *name;         /* of serverInfo; all strings are copied */
    const char *title;        /* may be NULL */
    const char *version;      /* of the program */
    const char *instructions; /* for the model; may be NULL */
    unsigned page_size;       /* of lists; 0: 100 */
    unsigned list_ttl_ms;     /* how long a modern client may keep a list */
    unsigned ask_ttl_ms;      /* how long a call waits for an answer; 0: ten minutes */
    bool has_tools;           /* there will be some, also if none has been added yet; */
    bool has_resources;       /* likewise */
    bool has_logging;         /* handlers call mcp_call_log() */
    enum mcp_level log_level; /* from here on, for legacy clients that have not said */
    bool has_subscriptions;   /* lists or resources may change */
    /* Completion: {"values": [...], "total"?, "hasMore"?} for `params` of completion/complete, or
     * NULL for none. NULL: the capability is not offered. */
    json_t *(*complete)(void *data, const struct mcp_call *call, const json_t *params);
    /* Called once, before the first request that is about more than the server itself: for what
     * takes time, so that no handshake waits for it. May be NULL. */
    void (*prepare)(void *data);
    void *data;
};

/* Does the work of a call. `data` is what was registered with it. Must answer with
 * mcp_call_finish() or mcp_call_fail(), once, from in here or later, unless the call was cancelled
 * before. */
typedef void (*mcp_handler)(struct mcp_call *call, void *data);

/* NULL when memory ran out. */
struct mcp_server *mcp_server_new(const struct mcp_server_spec *spec);

/* Cancels every call, and ends. All peers must have been freed. Accepts NULL. */
struct mcp_server *mcp_server_free(struct mcp_server *s);

/*
 * Offer something. `descriptor` is the object that the list shows ("name" and "inputSchema" of a
 * tool, "name" of a prompt, "uri" of a resource, "uriTemplate" of a template), and is taken also on
 * failure. One of the same name is replaced. The lists keep the order of registration. Clients that
 * asked for it are told that a list changed, once the loop turns.
 */
int mcp_server_add_tool(struct mcp_server *server, json_t *descriptor, mcp_handler run, void *data,
                        struct gb_err *err) gb_nodiscard;
/* The same, for a tool that understands more than its schema says: `read` makes of the arguments,
 * as a client sent them, a new object that the schema is held against. */
typedef json_t *(*mcp_reader)(const json_t *arguments);
int mcp_server_add_lenient_tool(struct mcp_server *server, json_t *descriptor, mcp_reader read,
                                mcp_handler run, void *data, struct gb_err *err) gb_nodiscard;
int mcp_server_add_prompt(struct mcp_server *server, json_t *descriptor, mcp_handler run,
                          void *data, struct gb_err *err) gb_nodiscard;
int mcp_server_add_resource(struct mcp_server *server, json_t *descriptor, mcp_handler run,
                            void *data, struct gb_err *err) gb_nodiscard;
int mcp_server_add_template(struct mcp_server *server, json_t *descriptor, mcp_handler run,
                            void *data, struct gb_err *err) gb_nodiscard;

/* Withdraw one. Calls of it that are under way go on. False: there is none. */
bool mcp_server_remove_tool(struct mcp_server *server, const char *name);
bool mcp_server_remove_prompt(struct mcp_server *server, const char *name);
bool mcp_server_remove_resource(struct mcp_server *server, const char *uri);

/* What the server offers is not known yet: lists and calls of tools wait until
 * mcp_server_release(), or until the time is up. Everything else is answered. Returns 0, -1 when
 * memory ran out. */
int mcp_server_hold(struct mcp_server *s, unsigned timeout_ms) gb_nodiscard;
void mcp_server_release(struct mcp_server *s);

/* It cannot be prepared: whatever is about more than the server itself is answered with this
 * error. */
void mcp_server_give_up(struct mcp_server *s, const char *why);

/* The tool's descriptor as the list shows it (borrowed), or NULL. */
const json_t *mcp_server_tool(const struct mcp_server *server, const char *name);

/* Tell those who subscribed that a resource changed. */
void mcp_server_resource_updated(struct mcp_server *server, const char *uri);

/* What is under way, for limits and metrics. */
struct mcp_counts {
    size_t calls;  /* that somebody waits for */
    size_t parked; /* that wait for a modern client's second request */
    size_t peers;
    size_t listening; /* subscriptions/listen */
};
struct mcp_counts mcp_server_counts(const struct mcp_server *s);

/* ---- peers: for transports ---- */

/* A message to be sent. Valid until the callback returns. */
struct mcp_outgoing {
    enum rpc_kind kind; /* a response is the last message with its tag */
    const char *text;   /* one JSON object, no line break in it */
    size_t len;
    void *tag;       /* of the request that it answers or belongs to; NULL: of none */
    int http_status; /* of a response: what an HTTP face sends if it has sent nothing yet */
};

struct mcp_peer_ops {
    /* From inside, the peer may be freed when the message is a response, and when a call is
     * dropped. */
    void (*send)(void *data, const struct mcp_outgoing *message);
    /* The request with this tag is over, and nothing is sent for it (it was cancelled). May be
     * NULL. */
    void (*dropped)(void *data, void *tag);
    /* More than enough waits to be sent: notifications that can be spared are. May be NULL. */
    bool (*is_full)(void *data);
};

struct mcp_peer_spec {
    const struct mcp_peer_ops *ops; /* borrowed, and so is data */
    void *data;
    /* Who it is: what one principal was given (handles, requestState) is not another's. Copied;
     * NULL is one principal too. */
    const char *principal;
    /* The peer is in the legacy era already, with this version and without a handshake: for HTTP
     * without sessions. NULL: it says itself. */
    const char *legacy_version;
    unsigned calls_max; /* at once; 0: 1024 */
};

struct mcp_peer *mcp_peer_new(struct mcp_server *server, const struct mcp_peer_spec *spec);

/* It is gone: its calls are cancelled, but for those that wait for a modern client's second
 * request. Nothing is sent any more, and no callback called. Accepts NULL. */
struct mcp_peer *mcp_peer_free(struct mcp_peer *peer);

/* The headers of an HTTP request. */
struct mcp_headers {
    /* The value of the header (any case), without white space around it; NULL: it is not there. */
    const char *(*get)(void *data, const char *name);
    void *data;
};

/* How a message came. */
struct mcp_arrival {
    void *tag;                         /* comes back with what is sent for this request */
    const struct mcp_headers *headers; /* NULL: not over HTTP, and not looked at */
    bool is_mute; /* nothing but its answer can be sent: the client cannot be asked */
};

/*
 * Take a message: the one road of both eras. What goes wrong is sent as an error. `message` stays
 * the caller's, which may drop it at once. Answers may be sent from inside. `how` may be NULL.
 */
void mcp_peer_take(struct mcp_peer *peer, const struct rpc_message *message,
                   const struct mcp_arrival *how);

/* Send the error for a text that is no message. */
void mcp_peer_refuse(struct mcp_peer *peer, const struct rpc_problem *problem,
                     const struct mcp_arrival *how);

/* Does the message belong to the modern era? `version_header` is MCP-Protocol-Version or NULL. */
bool mcp_is_modern(const struct rpc_message *message, const char *version_header);

/* Is it a version of the legacy era that is spoken here? */
bool mcp_is_legacy_version(const char *version);

/* The version that a legacy peer has agreed on, or NULL before the handshake. */
const char *mcp_peer_version(const struct mcp_peer *peer);

/* Cancel the request with this tag: a modern HTTP client that left. */
void mcp_peer_cancel(struct mcp_peer *peer, const void *tag);

/* Nobody reads what is sent with this tag any more, but the request goes on: a legacy HTTP client
 * that left. Its messages are sent with the tag NULL from then on, its response not at all. */
void mcp_peer_detach(struct mcp_peer *peer, const void *tag);

/* The server ends: answer what would stay open (subscriptions/listen). Other calls are not
 * touched. */
void mcp_peer_farewell(struct mcp_peer *peer);

/* Is a call under way that will be answered? */
bool mcp_peer_is_busy(const struct mcp_peer *peer);

/* ---- calls: for handlers ---- */

/* What was asked: all parameters; those called "arguments" (an object, empty where there are none);
 * the name or URI. Borrowed until the call ends. */
const json_t *mcp_call_params(const struct mcp_call *call);
const json_t *mcp_call_arguments(const struct mcp_call *call);
const char *mcp_call_target(const struct mcp_call *call);

struct mcp_server *mcp_call_server(const struct mcp_call *call);
const char *mcp_call_principal(const struct mcp_call *call); /* may be NULL */
bool mcp_call_is_modern(const struct mcp_call *call);

/* Can the client be asked? "elicitation" (forms), "elicitation.url", "sampling", "roots". */
bool mcp_call_can(const struct mcp_call *call, const char *capability);

/* The client gave it up, or left: stop. The call is gone when this returns, and so must nothing be
 * sent for it. Called at most once, never after the call was answered. */
void mcp_call_on_cancel(struct mcp_call *call, void (*cancelled)(struct mcp_call *call, void *data),
                        void *data);

bool mcp_call_wants_progress(const struct mcp_call *call);

/* Tell how far it is. Left out when the client did not ask for it, or when `progress` is not more
 * than it was. `total` is left out where it is negative, `message` where it is NULL. */
void mcp_call_progress(struct mcp_call *call, double progress, double total, const char *message);

/* A log message, sent if the client wants those of this level. `data` is taken. */
void mcp_call_log(struct mcp_call *call, enum mcp_level level, const char *logger, json_t *data);

/*
 * Ask the client. `requests` is taken: {KEY: {"method", "params"}, ...} with elicitation/create,
 * sampling/createMessage or roots/list. `answered` gets {KEY: result, ...}, with all keys,
 * borrowed; a client that answers with an error gives {"action": "cancel"} to an elicitation, null
 * to others. Only ask for what mcp_call_can(). The call may wait long, and is cancelled when that
 * is too long. Returns 0, or -1 (nothing was sent) when too many wait already, or memory ran out.
 */
int mcp_call_ask(struct mcp_call *call, json_t *requests,
                 void (*answered)(struct mcp_call *call, void *data, const json_t *answers),
                 void *data) gb_nodiscard;

/* An answer that came with the request before it was asked for, as modern clients may send;
 * borrowed, or NULL. Nothing shows that anybody was asked: not for what a person is to approve. */
const json_t *mcp_call_given(const struct mcp_call *call, const char *key);

/* Answer. The call is gone when these return. `result` and `more` are taken; a NULL result means
 * that memory ran out. What the era wants in a result besides is added. */
void mcp_call_finish(struct mcp_call *call, json_t *result);
void mcp_call_fail(struct mcp_call *call, int code, const char *message, json_t *more);

/* The result of a tool that failed in a way that the model can repair: isError with this text. */
void mcp_call_refuse(struct mcp_call *call, const char *message);

/* The error of resources/read for a URI that there is nothing at (any more). */
void mcp_call_no_resource(struct mcp_call *call);

/* A text block of a result's "content"; new. */
json_t *mcp_text(const char *text);
