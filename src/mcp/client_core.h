#pragma once
/* What the files of the client share. */
#include "mcp/client.h"
#include "mcp/link.h"
#include "mcp/mcp.h"
#include "mcp/servers.h"

#define META_VERSION_KEY      "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES_KEY "io.modelcontextprotocol/clientCapabilities"
#define META_CLIENT_KEY       "io.modelcontextprotocol/clientInfo"

enum client_state {
    CLIENT_DOWN, /* until the time to begin (again) has come */
    CLIENT_PROBING,
    CLIENT_GREETING, /* initialize */
    CLIENT_LISTING,
    CLIENT_READY,
    CLIENT_ENDING
};

/* What is not a call of ours, and how much of it came lately. */
struct flood {
    int64_t since_us;
    unsigned count;
};

struct client {
    struct client_spec spec;
    struct link *link;
    enum client_state state;
    bool is_modern, knows_era; /* of the server that was there last */
    bool is_settled;
    bool is_probed_twice; /* the version was refused, and then named as one that is supported */
    bool has_fallen_back;
    bool is_probe_late;  /* the probe was not answered in time, and may still be */
    bool has_discovered; /* it was, and by a modern server */
    bool has_tools, tells_changes;
    unsigned failures; /* beginnings that failed, or short lives, in a row */
    int64_t ready_us;
    int64_t retry_us; /* when it begins again */
    struct event *on_begin, *on_start_late, *on_refresh, *on_probe;
    struct client_request *requests;
    size_t n_requests, n_sent;
    json_int_t last_id;
    json_t *tools;   /* in force */
    json_t *listing; /* pages that have come */
    unsigned pages;
    size_t list_bytes;
    struct client_request *own; /* the one of ours that is under way: a probe, a greeting, a page */
    struct client_request *stream; /* subscriptions/listen */
    struct client_request *health;
    bool wants_refresh;
    int64_t listed_us;
    int64_t refresh_us; /* between two lists: longer while each is another than the one before */
    struct flood flood, chatter; /* messages that nobody asked for; lines of log */
    char problem[200];
    char version[32];
};

struct client_request {
    struct client_request *prev, *next;
    struct client *client;
    json_int_t id; /* 0: it waits to be sent */
    char method[32];
    json_t *params;
    client_done done;
    void *data;
    struct event *on_late;
    uint64_t timeout_ms;
    unsigned rounds; /* how often the server asked back */
    bool is_own;     /* sent before the server is ready */
    bool is_retried;
};

/* ---- client.c ---- */

/* Log a line, as long as there are not too many. */
void client_log(struct client *c, const char *format, ...) gb_printf(2, 3);

/* The server cannot go on: end it and begin anew, later. */
void client_fault(struct client *c, const char *why);

/* It says that it is modern, and does not behave so: greet it. False: that was tried. */
bool client_falls_back(struct client *c);

/* The list of its tools is whole. */
void client_listed(struct client *c);

/* ---- client_ask.c ---- */

/* Send what waits, as far as may be under way at once. */
void requests_send(struct client *c);

/* A response came. False: nobody waits for it. */
bool requests_answer(struct client *c, const struct rpc_message *message);

/* Fail the request `id`, or, if it is 0, all that were sent. */
void requests_fail(struct client *c, json_int_t id, const char *type, const char *message);

/* Fail those that wait to be sent as well. */
void requests_fail_all(struct client *c, const char *type, const char *message);

/* Send something that is no request. `params` and `result` are taken. */
void client_notify(struct client *c, const char *method, json_t *params);
void client_reply(struct client *c, const json_t *id, json_t *result, int code,
                  const char *message);

/* Begin again with one that the server was too early for. */
void request_resend(struct client_request *r);

/* ---- client_list.c ---- */

/* Ask for the tools, from the first page. */
void list_begin(struct client *c);

/* ---- client_headers.c ---- */

/* Is what a tool's schema says of headers such that a client may offer it? */
bool headers_are_valid(const json_t *tool);

/* The headers that go with a call; new, NULL where there are none. */
json_t *headers_of_call(const json_t *tools, const json_t *params);
