#include "cli/servers.h"

#include <stddef.h>

#include "base/buf.h"
#include "base/own.h"
#include "cli/io.h"
#include "cli/signals.h"
#include "glovebox.h"
#include "mcp/downstream.h"

#define SERVERS_BYTES_MAX ((size_t)1 << 20)

static int read_file(const char *path, json_t **ret, struct gb_err *err)
{
    auto_close int fd = open_input(path, err);
    struct gb_buf buf;
    json_error_t why;
    int r = -1;

    if (fd < 0)
        return gb_fail_wrap(err, "--mcp");
    gb_buf_init(&buf, SERVERS_BYTES_MAX);
    if (read_all(fd, path, &buf, err) == 0) {
        *ret = json_loadb(buf.data ? buf.data : "", buf.len, JSON_REJECT_DUPLICATES, &why);
        r = *ret ? 0
                 : gb_fail(err, GB_E_SYSTEM, 0, "%.100s:%d:%d: %.100s", path, why.line, why.column,
                           why.text);
    }
    gb_buf_done(&buf);
    return r;
}

static void note(void *data, const char *text)
{
    (void)data;
    message("note: %s", text);
}

static void on_log(void *data, const char *server, const char *text)
{
    (void)data;
    message("mcp %s: %s", server, text);
}

static int await(const struct downstream *d, struct gb_engine *engine, struct gb_err *err)
{
    while (!downstream_is_settled(d)) {
        if (signals_caught() != 0)
            return gb_fail(err, GB_E_SYSTEM, 0, "interrupted while MCP servers were started");
        (void)gb_step(engine, -1);
    }
    return downstream_check(d, err);
}

int downstream_open(const json_t *config, struct gb_engine *engine, bool wait,
                    struct downstream **ret, struct gb_err *err)
{
    json_t *given = json_object_get(config, "mcp");
    struct downstream_spec spec = { .engine = engine, .log = on_log };
    json_auto_t *file = NULL;
    const char *path = json_string_value(given);

    *ret = NULL;
    if (!given)
        return 0;
    if (path && read_file(path, &file, err) < 0)
        return -1;
    if (servers_read(path ? file : given, &spec.servers, note, NULL, err) < 0)
        return gb_fail_wrap(err, "%.100s", path ? path : "mcp");
    *ret = downstream_new(&spec, err);
    if (!*ret)
        return gb_fail_wrap(err, "%.100s", path ? path : "mcp");
    return wait ? await(*ret, engine, err) : 0;
}

void downstream_closep(struct downstream **d)
{
    *d = downstream_free(*d);
}
