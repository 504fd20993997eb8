#include "cli/servers.h"

#include <errno.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/own.h"
#include "cli/io.h"
#include "cli/signals.h"
#include "glovebox.h"
#include "mcp/downstream.h"
#include "mcp/face.h"

#define SERVERS_BYTES_MAX ((size_t)1 << 20)

enum {
    HOLD_MS = 15000 /* that a client waits for servers that take long to begin with */
};

static int read_file(const char *path, json_t **ret, struct gb_err *err)
{
    auto_close int fd = open_input(path, err);

    return fd < 0 ? gb_fail_wrap(err, "--mcp") : read_json(fd, path, SERVERS_BYTES_MAX, ret, err);
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

/* Begin with what the configuration names; *ret stays NULL where it names none. */
static int start(const json_t *config, struct downstream_spec *spec, struct downstream **ret,
                 struct gb_err *err)
{
    json_t *given = json_object_get(config, "mcp");
    json_auto_t *file = NULL;
    const char *path = json_string_value(given);

    *ret = NULL;
    if (!given)
        return 0;
    if (path && read_file(path, &file, err) < 0)
        return -1;
    if (servers_read(path ? file : given, &spec->servers, note, NULL, err) < 0)
        return gb_fail_wrap(err, "%.100s", path ? path : "mcp");
    *ret = downstream_new(spec, err);
    return *ret ? 0 : gb_fail_wrap(err, "%.100s", path ? path : "mcp");
}

int downstream_open(const json_t *config, struct gb_engine *engine, struct downstream **ret,
                    struct gb_err *err)
{
    struct downstream_spec spec = { .engine = engine, .log = on_log };

    if (start(config, &spec, ret, err) < 0)
        return -1;
    return *ret ? await(*ret, engine, err) : 0;
}

/* ---- for faces that serve ---- */

static void on_changed(void *data, const struct downstream *d)
{
    struct mcp_face *face = data;
    struct gb_err err;

    if (mcp_face_refresh(face, &err) < 0)
        message_err(&err);
    if (downstream_is_settled(d))
        mcp_server_release(mcp_face_server(face));
}

int downstream_serve(const json_t *config, struct gb_engine *engine, struct mcp_face *face,
                     struct downstream **ret, struct gb_err *err)
{
    struct downstream_spec spec = {
        .engine = engine, .log = on_log, .changed = on_changed, .data = face
    };

    if (start(config, &spec, ret, err) < 0)
        return -1;
    if (!*ret)
        return 0;
    if (mcp_server_hold(mcp_face_server(face), HOLD_MS) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "beginning with the MCP servers");
    downstream_publish(*ret, mcp_face_server(face));
    return 0;
}

void downstream_settle(const struct downstream *d, struct gb_engine *engine)
{
    int64_t until = clock_us() + (int64_t)HOLD_MS * 1000;

    while (d && !downstream_is_settled(d) && clock_us() < until && signals_caught() == 0)
        (void)gb_step(engine, 100);
}

void downstream_closep(struct downstream **d)
{
    *d = downstream_free(*d);
}
