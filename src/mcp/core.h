#pragma once
/* What the files of the core share. Transports and handlers see mcp.h alone. */
#include "mcp/mcp.h"

#define META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_LOG_LEVEL    "io.modelcontextprotocol/logLevel"
#define META_SERVER       "io.modelcontextprotocol/serverInfo"
#define META_SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

enum {
    CALLS_MAX = 1024,          /* of a peer at once */
    CALL_BYTES_MAX = 64 << 20, /* of their parameters together */
    PARKED_MAX = 256,          /* of a server */
    SUBSCRIBED_MAX = 256,      /* resources that a peer, or a stream, is told about */
    ASK_TTL_MS = 600000,
    PAGE_SIZE = 100,
    STATE_KEY = 32,
    STATE_ID = 16,
    RESOURCE_NOT_FOUND = -32002 /* of the legacy era */
};

enum offer_kind {
    OFFER_TOOL,
    OFFER_PROMPT,
    OFFER_RESOURCE,
    OFFER_TEMPLATE,
    OFFER_KINDS
};

struct offer {
    json_t *descriptor;
    const char *name;     /* looks into it */
    const json_t *schema; /* of a tool's arguments, where they can be checked; or NULL */
    mcp_reader read;      /* of a tool, or NULL */
    mcp_handler run;
    void *data;
};

struct offers {
    struct offer *list;
    size_t count;
    bool is_offered; /* there was one: the capability is there */
};

struct mcp_server {
    struct mcp_server_spec spec; /* its strings are not kept */
    json_t *info;
    json_t *instructions; /* a string, or NULL */
    struct offers offers[OFFER_KINDS];
    struct mcp_peer *peers;
    struct mcp_call *parked;
    size_t n_calls, n_parked, n_peers, n_listening;
    struct event *on_held; /* calls wait until then; NULL: they do not */
    struct event *on_changed, *on_idle;
    unsigned changed; /* 1u << offer_kind */
    bool is_preparing;
    char *given_up; /* why; or NULL */
    unsigned char key[STATE_KEY];
};

struct mcp_peer {
    struct mcp_server *server;
    struct mcp_peer *prev, *next;
    const struct mcp_peer_ops *ops;
    void *data;
    char *principal;
    unsigned calls_max;
    struct mcp_call *calls;
    size_t n_calls, n_bytes;
    /* the legacy era */
    const char *version; /* NULL before the handshake */
    json_t *capabilities;
    json_t *subscribed; /* an object: the URIs are its keys */
    enum mcp_level log_level;
    bool is_ready; /* it said so: it may be told of changes */
    json_int_t last_id;
};

struct method {
    const char *name;
    unsigned flags;
    /* Answers, or leaves the call to a handler. */
    void (*run)(struct mcp_call *call);
};

enum method_flag {
    METHOD_LEGACY = 1u << 0,
    METHOD_MODERN = 1u << 1,
    METHOD_CACHED = 1u << 2, /* its result may be kept for a time */
    METHOD_ASKS = 1u << 3,   /* may answer with input_required */
    METHOD_STAYS = 1u << 4,  /* is not answered until the end */
    METHOD_WAITS = 1u << 5   /* until the server knows what it offers */
};

struct mcp_call {
    struct mcp_server *server;
    struct mcp_peer *peer; /* NULL while it is parked */
    struct mcp_call *prev, *next;
    const struct method *method;
    json_t *id;
    json_t *params;
    json_t *arguments;
    const char *target;
    size_t bytes;
    void *tag;
    bool is_detached; /* nobody reads what is sent with its tag */
    bool is_held;     /* until mcp_server_release() */
    bool is_mute;     /* its client can be told nothing but the answer */
    /* who asks */
    bool is_modern;
    char *principal;
    json_t *capabilities;
    int log_level; /* -1: none */
    json_t *progress_token;
    double progress;
    bool has_progressed;
    /* what became of it */
    void (*cancelled)(struct mcp_call *call, void *data);
    void *cancel_data;
    /* asking (ask.c) */
    json_t *requests; /* that have no answer yet; NULL: it does not wait */
    json_t *answers;
    json_t *questions; /* legacy: {ID: key} */
    void (*answered)(struct mcp_call *call, void *data, const json_t *answers);
    void *answer_data;
    struct event *on_expired;
    json_t *late; /* a response that is kept until somebody asks for it */
    int late_status;
    unsigned char state_id[STATE_ID];
    /* subscriptions/listen (listen.c) */
    json_t *filter;
};

/* ---- server.c ---- */

struct offer *offer_find(struct mcp_server *s, enum offer_kind kind, const char *name);
/* The template that a URI is an instance of. */
struct offer *offer_match(struct mcp_server *s, const char *uri);
/* What takes time, unless it is done; now, or once the loop has turned. */
void server_prepare(struct mcp_server *s);
void server_prepare_soon(struct mcp_server *s);
json_t *server_capabilities(const struct mcp_server *s);
/* Is it to wait until the server knows what it offers? It will be run then. */
bool server_holds(struct mcp_call *call);

/* ---- peer.c ---- */

/* Why a request does not become a call. */
struct refusal {
    int code;
    char message[240];
    json_t *data; /* taken */
    bool is_modern;
    int http_status; /* 0: by the code */
};

void peer_initialize(struct mcp_call *call);

/* Send and drop a message; NULL (memory ran out) sends nothing. `call` is what it belongs to, or
 * NULL. */
void peer_send(struct mcp_peer *peer, const struct mcp_call *call, enum rpc_kind kind,
               json_t *message, int http_status);
struct mcp_call *peer_find_call(const struct mcp_peer *peer, const json_t *id);

/* ---- methods.c ---- */

/* Is it about the server itself? Such are answered whatever else is not ready. */
bool method_is_early(const char *name);

/* The method that this server has in that era, or NULL. */
const struct method *method_find(const struct mcp_server *server, const char *name, bool is_modern);

/* -1 when it is none. */
int level_of(const char *name);
const char *level_name(enum mcp_level level);

/* ---- call.c ---- */

/* NULL when memory ran out. */
struct mcp_call *call_new(struct mcp_peer *peer, const struct method *method,
                          const struct rpc_message *message);
/* Who asks, in the modern era: from _meta, which was looked at. */
void call_read_meta(struct mcp_call *call, const json_t *meta);
/* Send the response, which is taken, and drop the call. */
void call_answer(struct mcp_call *call, json_t *response, int http_status);
/* The client gave it up: tell the handler, and drop it. */
void call_cancel(struct mcp_call *call);
/* Move between the lists of a peer and of the parked. */
void call_link(struct mcp_call *call, struct mcp_peer *peer);
void call_unlink(struct mcp_call *call);

/* ---- ask.c ---- */

/* A second request that brings answers. True: it was dealt with, and `call` is gone. */
bool question_resume(struct mcp_call *call);
/* A legacy client's answer. */
void question_response(struct mcp_peer *peer, const struct rpc_message *m);
void question_done(struct mcp_call *call);

/* ---- listen.c ---- */

void listen_run(struct mcp_call *call);
void listen_changed(struct mcp_server *server, enum offer_kind kind);
/* How a stream that the server ends is answered. */
json_t *listen_result(const struct mcp_call *call);

/* ---- headers.c ---- */

/* What a modern HTTP request says in its headers must be what its body says. Return 0, or -1 with a
 * message. The first is about the version, the second about everything else. */
int headers_check_version(const struct mcp_headers *headers, const char *version, char *why,
                          size_t size);
int headers_check(const struct mcp_headers *headers, const struct rpc_message *m,
                  struct mcp_server *server, char *why, size_t size);
