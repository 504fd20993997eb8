/* The fixture over HTTP, at /mcp: fixture_http FILE ADDRESS. Says where, and serves until it is
 * ended. */
#include <signal.h>
#include <stdio.h>

#include "base/json.h"
#include "engine/loop.h"
#include "http/mcp.h"
#include "mcp_fixture.h"

static void on_end(evutil_socket_t fd, short what, void *base)
{
    (void)fd;
    (void)what;
    (void)event_base_loopbreak(base);
}

static int serve(struct event_base *base, struct mcp_server *mcp, const char *where)
{
    struct gb_err err = { .msg = "not started" };
    struct http_spec spec = { .base = base, .limits = http_default_limits };
    struct http_server *http = http_server_new(&spec, &err);
    struct http_mcp *endpoint = http_mcp_new(&(struct http_mcp_spec){ .base = base, .mcp = mcp });
    struct event *end = evsignal_new(base, SIGTERM, on_end, base);
    int status = 1;

    if (http && endpoint && end && event_add(end, NULL) == 0 &&
        http_server_listen(http, where, &err) == 0) {
        http_mcp_route(endpoint, http, "/mcp");
        (void)printf("%s/mcp\n", http_server_url(http, 0));
        (void)fflush(stdout);
        status = event_base_dispatch(base) < 0;
    } else {
        (void)fprintf(stderr, "fixture: %s\n", err.msg);
    }
    (void)http_server_free(http);
    (void)http_mcp_free(endpoint);
    if (end)
        event_free(end);
    return status;
}

int main(int argc, char **argv)
{
    json_error_t why = { .text = "no file and address given" };
    auto_json json_t *all = argc > 2 ? json_load_file(argv[1], 0, &why) : NULL;
    struct event_base *base = engine_loop_new();
    struct mcp_server *server = all && base ? fixture_new(base, all) : NULL;
    struct event *watch = server ? fixture_watch(base, server) : NULL;
    int status = 1;

    if (watch)
        status = serve(base, server, argv[2]);
    else
        (void)fprintf(stderr, "fixture: %s\n", why.text);
    if (watch)
        event_free(watch);
    (void)mcp_server_free(server);
    if (base)
        event_base_free(base);
    return status;
}
