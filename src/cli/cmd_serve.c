/* `glovebox serve`: MCP and plain JSON over HTTP. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/own.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/report.h"
#include "cli/served.h"
#include "cli/servers.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "cli/tools.h"
#include "engine/loop.h"
#include "glovebox.h"
#include "http/http.h"
#include "http/mcp.h"
#include "http/metrics.h"
#include "http/remote.h"
#include "http/token.h"
#include "http/v1.h"
#include "mcp/face.h"

#define DEFAULT_LISTEN "127.0.0.1:8377"

enum {
    WAITING_MAX = 256,
    DRAIN_MS = 15000,
    SPARE_FILES = 512 /* descriptors for everything but connections */
};

/* Everything that serves, in the order in which it is made; it ends in the reverse order. */
struct service {
    struct gb_engine *engine;
    struct mcp_face *face;
    const json_t *config;
    struct downstream *servers;
    struct http_server *http;
    struct http_mcp *mcp;
    struct http_v1 *v1;
    struct metrics *metrics;
    size_t waiting_max;
};

/* ---- what the command line says ---- */

static double number(const struct args *args, const char *key, double otherwise)
{
    const json_t *value = json_object_get(args->serve, key);

    return value ? json_number_value(value) : otherwise;
}

static unsigned in_ms(const struct args *args, const char *key, unsigned otherwise)
{
    double ms = number(args, key, otherwise / 1000.0) * 1000;

    return ms < 1 ? 1 : ms > 86400000 ? 86400000 : (unsigned)ms;
}

static struct http_limits limits_of(const struct args *args)
{
    struct http_limits l = http_default_limits;

    l.connections = (unsigned)number(args, "max_connections", l.connections);
    l.body_bytes = (size_t)number(args, "max_body", (double)l.body_bytes);
    l.request_ms = in_ms(args, "request_timeout", l.request_ms);
    l.idle_ms = in_ms(args, "idle_timeout", l.idle_ms);
    l.rate = (unsigned)number(args, "rate", l.rate);
    if (l.held_bytes < 2 * l.body_bytes)
        l.held_bytes = 2 * l.body_bytes;
    return l;
}

/* As many descriptors as connections may need. */
static int make_room(const struct http_limits *limits, struct gb_err *err)
{
    struct rlimit r;
    rlim_t want = limits->connections + SPARE_FILES;

    if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= want)
        return 0;
    r.rlim_cur = r.rlim_max > want ? want : r.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &r);
    if (r.rlim_cur >= want)
        return 0;
    (void)gb_fail(err, GB_E_LIMIT, 0, "%u connections need %llu descriptors, and there may be %llu",
                  limits->connections, (unsigned long long)want, (unsigned long long)r.rlim_max);
    return gb_fail_hint(err, "fewer with --max-connections, or a higher 'ulimit -n'");
}

/* Standard error may be a journal that others read: it is told where the token is, never the token
 * itself. */
static int get_token(const struct args *args, char **ret, struct gb_err *err)
{
    auto_free char *usual = args->token_file ? NULL : token_path();
    const char *path = args->token_file ? args->token_file : usual;
    bool is_new = false;

    if (args->no_auth) {
        *ret = NULL;
        return 0;
    }
    if (!path) {
        (void)gb_fail(err, GB_E_INVALID, 0, "there is no home to keep the token in");
        return gb_fail_hint(err, "say where with --token-file");
    }
    if (token_load(path, ret, &is_new, err) < 0)
        return -1;
    if (is_new)
        message("made a token for clients; only you can read it: cat %s", path);
    else
        message("the token for clients is in %s", path);
    return 0;
}

/* ---- serving ---- */

static bool is_full(void *data)
{
    const struct service *s = data;

    return runs_waiting(mcp_face_runs(s->face)) >= s->waiting_max;
}

/* The operator reads what clients are not told. */
static void censor(json_t *result)
{
    auto_free char *said = remote_censor(result);

    if (said)
        message("a request failed: %s", said);
}

static int no_memory(struct gb_err *err)
{
    return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the server");
}

static int add_routes(struct service *s, const struct args *args, struct gb_err *err)
{
    struct event_base *base = engine_loop(s->engine);
    struct runs *runs = mcp_face_runs(s->face);
    struct mcp_server *mcp = mcp_face_server(s->face);

    s->mcp = http_mcp_new(&(struct http_mcp_spec){ .base = base,
                                                   .mcp = mcp,
                                                   .principal = args->no_auth ? NULL : "token",
                                                   .is_full = is_full,
                                                   .data = s });
    s->v1 = http_v1_new(&(struct http_v1_spec){
        .base = base,
        .runs = runs,
        .waiting_max = s->waiting_max,
        .has_shell = engine_admits(s->engine, "{\"kind\":\"shell\",\"command\":\":\"}") });
    if (!s->mcp || !s->v1)
        return no_memory(err);
    s->metrics = metrics_new(&(struct metrics_spec){
        .http = s->http, .engine = s->engine, .runs = runs, .mcp = mcp, .endpoint = s->mcp });
    if (!s->metrics)
        return no_memory(err);
    runs_censor(runs, censor);
    http_mcp_route(s->mcp, s->http, "/mcp");
    http_v1_route(s->v1, s->http);
    metrics_route(s->metrics);
    return 0;
}

static int listen_all(struct service *s, const struct args *args, struct gb_err *err)
{
    const json_t *where = json_object_get(args->serve, "listen");
    const char *url;

    if (json_array_size(where) == 0 && http_server_listen(s->http, DEFAULT_LISTEN, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(where); i++)
        if (http_server_listen(s->http, json_string_value(json_array_get(where, i)), err) < 0)
            return -1;
    if (args->no_auth && http_server_is_public(s->http)) {
        (void)gb_fail(err, GB_E_INVALID, 0,
                      "--no-auth would let in everybody who reaches this machine");
        return gb_fail_hint(err, "listen at 127.0.0.1 or a Unix socket, or leave out --no-auth");
    }
    for (size_t i = 0; (url = http_server_url(s->http, i)); i++)
        message("serving at %s (MCP at /mcp, JSON at /v1/run)%s", url,
                args->no_auth ? ", to anybody who comes" : "");
    return 0;
}

static int service_open(struct service *s, const struct args *args, const char *token,
                        struct mcp_face_spec *face, struct gb_err *err)
{
    struct http_spec spec = { .base = engine_loop(s->engine),
                              .limits = limits_of(args),
                              .token = token,
                              .hosts = json_object_get(args->serve, "allow_host"),
                              .origins = json_object_get(args->serve, "allow_origin") };

    s->waiting_max = (size_t)number(args, "max_waiting", WAITING_MAX);
    face->engine = s->engine;
    if (make_room(&spec.limits, err) < 0 || mcp_face_new(face, &s->face, err) < 0 ||
        downstream_serve(s->config, s->engine, s->face, &s->servers, err) < 0)
        return -1;
    downstream_settle(s->servers, s->engine);
    s->http = http_server_new(&spec, err);
    if (!s->http || add_routes(s, args, err) < 0)
        return -1;
    return listen_all(s, args, err);
}

static void service_close(struct service *s)
{
    (void)metrics_free(s->metrics);
    (void)http_server_free(s->http); /* order: tells the others who is gone */
    (void)http_v1_free(s->v1);
    (void)http_mcp_free(s->mcp);
    downstream_closep(&s->servers);
    (void)mcp_face_free(s->face);
}

/* Nobody new; those who are here are served, within reason. */
static void wind_down(struct service *s, unsigned drain_ms)
{
    int64_t until = clock_us() + (int64_t)drain_ms * 1000;

    http_server_drain(s->http);
    message("ending"); /* said when it is true: nobody new is let in */
    http_mcp_farewell(s->mcp);
    while (http_server_busy(s->http) > 0) {
        int64_t left_ms = (until - clock_us()) / 1000;

        if (left_ms <= 0) {
            message("%zu requests did not end in time", http_server_busy(s->http));
            return;
        }
        (void)gb_step(s->engine, left_ms < 100 ? (int)left_ms : 100);
    }
}

static int serve(struct service *s, const struct args *args, struct mcp_face_spec *face,
                 struct gb_err *err)
{
    auto_free char *token = NULL;
    int known = 0;

    if (get_token(args, &token, err) < 0 || service_open(s, args, token, face, err) < 0)
        return -1;
    while (signals_caught() == 0) {
        (void)gb_step(s->engine, -1);
        known = served_watch(s->engine, known);
    }
    wind_down(s, in_ms(args, "drain_timeout", DRAIN_MS));
    return 0;
}

/* What other servers call it. */
static void serve_advise(const struct args *args, struct gb_err *err)
{
    (void)args;
    if (strstr(err->msg, "'--port'") || strstr(err->msg, "'-p'") || strstr(err->msg, "'--host'") ||
        strstr(err->msg, "'--bind'"))
        gb_err_hint(err, "where to listen: --listen PORT, or ADDRESS:PORT");
}

static int serve_main(const struct args *args)
{
    struct mcp_face_spec face = { 0 };
    struct service s = { 0 };
    json_auto_t *config = NULL;
    json_auto_t *error = NULL;
    auto_engine struct gb_engine *engine = NULL;
    struct gb_err err;
    int status;

    if (args->operands.count > 0 || args->operands.rest[0]) {
        gb_err_set(&err, GB_E_INVALID, 0, "serve takes no arguments");
        gb_err_hint(&err, "where to listen: --listen %.60s",
                    args->operands.count > 0 ? args->operands.words[0] : "PORT");
        return cli_refuse(args->command, &err);
    }
    if (settings_load(args, &config, &err) < 0 || served_settings(args, config, &face, &err) < 0)
        return cli_refuse(args->command, &err);
    if (engine_open(args, config, &engine, &error) < 0)
        return report_refused(error, false);
    s.engine = engine;
    s.config = config;
    status = serve(&s, args, &face, &err);
    service_close(&s);
    if (status < 0 && err.code == GB_E_INVALID)
        return cli_refuse(args->command, &err);
    if (status < 0)
        message_err(&err);
    return status < 0 ? CLI_FAILED : CLI_OK;
}

#define SERVE offsetof(struct args, serve)
static const struct option_spec serve_specs[] = {
    { 0, "listen", OPT_KEY_STRINGS, SERVE, "ADDRESS",
      "PORT, ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH; port 0 is any that is free",
      DEFAULT_LISTEN },
    { 0, "token-file", OPT_TEXT, offsetof(struct args, token_file), "FILE",
      "the token that clients must show; made where there is none",
      "glovebox/token in the XDG state folder" },
    { 0, "no-auth", OPT_FLAG, offsetof(struct args, no_auth), NULL,
      "serve whoever can connect, without a token", NULL },
    { 0, "allow-host", OPT_KEY_STRINGS, SERVE, "NAME",
      "a name that clients reach this server by, besides the loopback's", NULL },
    { 0, "allow-origin", OPT_KEY_STRINGS, SERVE, "ORIGIN",
      "web pages that may ask, besides the loopback's: https://app.example.org", NULL },
    { 0, "max-connections", OPT_KEY_COUNT, SERVE, "N", "connections at once", "1024" },
    { 0, "max-waiting", OPT_KEY_COUNT, SERVE, "N",
      "requests that may wait for their turn; more are told to come back", "256" },
    { 0, "max-body", OPT_KEY_SIZE, SERVE, "SIZE", "bytes of a request", "8M" },
    { 0, "rate", OPT_KEY_COUNT, SERVE, "N", "requests a second from one address", "2000" },
    { 0, "request-timeout", OPT_KEY_SECONDS, SERVE, "SECONDS",
      "how long a request may take to arrive", "20" },
    { 0, "idle-timeout", OPT_KEY_SECONDS, SERVE, "SECONDS", "how long a connection may be idle",
      "60" },
    { 0, "drain-timeout", OPT_KEY_SECONDS, SERVE, "SECONDS",
      "how long requests that are under way have when the server is to end", "15" },
};
static const struct option_group serve_options = { "Server", serve_specs, ARRAY_LEN(serve_specs) };

static const struct option_group *const groups[] = {
    &serve_options, &served_options, &mount_options,        &capture_options,
    &tool_options,  &shell_options,  &command_rule_options, &spill_options,
    &limit_options, &policy_options, &consent_options,      &box_options,
    &audit_options, &config_options, &general_options,      NULL
};

const struct command cmd_serve = {
    .name = "serve",
    .operands = "[OPTIONS]",
    .summary = "serve agents and programs over HTTP",
    .description =
        "MCP over streamable HTTP at /mcp; a request of the library as JSON at /v1/run, /v1/shell "
        "and /v1/check, with its result as the answer, or as server-sent events; /healthz and "
        "/metrics. Clients show a token, 'Authorization: Bearer TOKEN', which is made when the "
        "server is first started.\n"
        "SIGTERM ends it when what is under way is done; a second one at once.",
    .groups = groups,
    .run = serve_main,
    .advise = serve_advise,
};
