/* The fixture on standard input and output: fixture_stdio FILE */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "engine/loop.h"
#include "mcp/stdio.h"
#include "mcp_fixture.h"

static void on_ended(void *data)
{
    *(bool *)data = true;
}

int main(int argc, char **argv)
{
    json_error_t why = { .text = "no file given" };
    auto_json json_t *all = argc > 1 ? json_load_file(argv[1], 0, &why) : NULL;
    struct event_base *base = engine_loop_new();
    struct mcp_server *server = all && base ? fixture_new(base, all) : NULL;
    struct event *watch = server ? fixture_watch(base, server) : NULL;
    bool is_over = false;
    struct mcp_stdio_spec spec = { .server = server,
                                   .base = base,
                                   .in = STDIN_FILENO,
                                   .out = STDOUT_FILENO,
                                   .ended = on_ended,
                                   .data = &is_over };
    struct gb_err err = { .msg = "not started" };
    struct mcp_stdio *stdio = watch ? mcp_stdio_new(&spec, &err) : NULL;

    if (!stdio) {
        (void)fprintf(stderr, "fixture: %s\n", all ? err.msg : why.text);
        return 1;
    }
    while (!is_over)
        (void)event_base_loop(base, EVLOOP_ONCE);
    (void)mcp_stdio_free(stdio);
    event_free(watch);
    (void)mcp_server_free(server);
    event_base_free(base);
    return 0;
}
