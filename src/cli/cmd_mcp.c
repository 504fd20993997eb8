/* `glovebox mcp`: an MCP server on standard input and output. */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
#include "mcp/face.h"
#include "mcp/stdio.h"

enum {
    GRACE_MS = 400, /* for what is under way when the input ends */
    LOOK_MS = 2000, /* for the first box, where nobody asked for any */
    CMDLINE_MAX = 32 << 10
};

/* ---- what to paste ---- */

/* The words of our own command line after "mcp", without the option that asks for this. */
static json_t *own_arguments(void)
{
    static const char option[] = "--print-config";
    char text[CMDLINE_MAX];
    auto_close int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    json_t *list = json_pack("[s]", "mcp");
    size_t word = 0;

    text[len > 0 ? len : 0] = '\0';
    for (const char *at = text; at < text + len; at += strlen(at) + 1, word++) {
        if (word < 2)
            continue;
        if (strcmp(at, option) == 0)
            at += strlen(at) + 1; /* and its value */
        else if (strncmp(at, option, sizeof(option) - 1) != 0)
            (void)json_array_append_new(list, json_lossy(at));
    }
    return list;
}

static json_t *own_path(void)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

    path[len > 0 ? len : 0] = '\0';
    return json_lossy(len > 0 ? path : "glovebox");
}

static void note_relative(const char *option, const char *path)
{
    if (path && *path && *path != '/')
        message("warning: --%s %.200s: an agent may start this anywhere; give the whole path",
                option, path);
}

/* What is pasted elsewhere is read there. */
static void note_paths(const struct args *args)
{
    static const char *const keys[] = { "mcp", "audit", "spill", "python", "cgroup" };
    const json_t *mounts = json_object_get(args->config, "mount");

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        note_relative(keys[i], json_string_value(json_object_get(args->config, keys[i])));
    for (size_t i = 0; i < json_array_size(mounts); i++)
        note_relative("mount", json_string_value(json_array_get(mounts, i)));
    note_relative("config", args->config_path);
    note_relative("tools", args->tools_path);
}

static int print_config(const char *agent)
{
    bool is_vscode = strcmp(agent, "vscode") == 0;
    json_auto_t *server = json_pack("{s:o,s:o}", "command", own_path(), "args", own_arguments());
    json_auto_t *whole = NULL;
    auto_free char *text = NULL;
    struct text t;

    if (is_vscode)
        (void)json_object_set_new(server, "type", json_string("stdio"));
    whole = strcmp(agent, "generic") == 0
                ? json_incref(server)
                : json_pack("{s:{s:O}}", is_vscode ? "servers" : "mcpServers", "glovebox", server);
    text = whole ? json_dumps(whole, JSON_INDENT(2)) : NULL;
    if (!text || text_open(&t) < 0)
        return report_refused(NULL, false);
    (void)fprintf(t.stream, "%s\n", text);
    return text_finish(&t, CLI_OK);
}

/* ---- serving ---- */

struct serving {
    const struct args *args;
    const json_t *config;
    struct event_base *base;
    struct gb_engine *engine; /* NULL until it is needed */
    struct mcp_face *face;
    struct downstream *servers;
    bool is_over;
    int known;  /* of the host, as served_watch() has it */
    int failed; /* exit status if nothing can be served, else CLI_OK */
};

static void on_ended(void *data)
{
    ((struct serving *)data)->is_over = true;
}

static void on_failed(void *data, int why)
{
    struct serving *s = data;
    struct gb_err err;

    gb_err_set(&err, GB_E_SYSTEM, why, "writing to standard output");
    message_err(&err);
    s->failed = CLI_FAILED;
}

/* It was said here; say it to clients too, who may show no more than what they are answered. */
static void give_up(struct serving *s, const char *why, const char *hint)
{
    char text[600];

    (void)snprintf(text, sizeof(text), "glovebox cannot run anything: %s%s%s%s", why,
                   *hint ? " (" : "", hint, *hint ? ")" : "");
    mcp_server_give_up(mcp_face_server(s->face), text);
}

/* Finding the interpreter takes time where a shim stands for it: no handshake waits for that. */
static void open_engine(void *data)
{
    struct serving *s = data;
    json_auto_t *error = NULL;
    struct gb_err err;

    if (s->engine || s->failed != CLI_OK)
        return; /* whoever came first: a call, a moment without one, or the end */
    if (engine_open_on(s->base, s->args, s->config, &s->engine, &error) < 0) {
        s->failed = report_refused(error, false);
        give_up(s, json_string_at(error, "message", "out of memory"),
                json_string_at(error, "hint", ""));
    } else if (mcp_face_attach(s->face, s->engine, &err) < 0 ||
               downstream_serve(s->config, s->engine, s->face, &s->servers, &err) < 0) {
        message_err(&err);
        s->failed = err.code == GB_E_INVALID ? CLI_USAGE : CLI_FAILED;
        give_up(s, err.msg, err.hint);
    }
}

/* Nobody asked for anything: is it set up well, at least? */
static void look_once(struct serving *s)
{
    int64_t until = clock_us() + LOOK_MS * 1000;

    open_engine(s);
    while (s->failed == CLI_OK && s->known == 0 && signals_caught() == 0 && clock_us() < until) {
        (void)gb_step(s->engine, 50);
        s->known = served_watch(s->engine, s->known);
    }
    if (s->known < 0)
        s->failed = CLI_FAILED;
}

/* Calls that are nearly done may answer; then everything ends. */
static void wind_down(const struct serving *s, const struct mcp_stdio *stdio)
{
    int64_t until = clock_us() + GRACE_MS * 1000;

    while (s->engine && mcp_stdio_is_busy(stdio) && signals_caught() == 0) {
        int64_t left_ms = (until - clock_us()) / 1000;

        if (left_ms <= 0)
            return;
        (void)gb_step(s->engine, (int)left_ms);
    }
}

static int serve(struct serving *s, int in, int out, struct gb_err *err)
{
    const struct mcp_stdio_spec spec = { .server = mcp_face_server(s->face),
                                         .base = s->base,
                                         .in = in,
                                         .out = out,
                                         .ended = on_ended,
                                         .failed = on_failed,
                                         .data = s };
    struct mcp_stdio *stdio = mcp_stdio_new(&spec, err);

    if (!stdio)
        return -1;
    while (!s->is_over && signals_caught() == 0) {
        (void)event_base_loop(s->base, EVLOOP_ONCE);
        s->known = served_watch(s->engine, s->known);
    }
    wind_down(s, stdio);
    (void)mcp_stdio_free(stdio);
    if (!s->engine && s->failed == CLI_OK && signals_caught() == 0)
        look_once(s);
    if (s->failed != CLI_OK)
        return s->failed;
    return signals_caught() != 0 ? CLI_SIGNAL + signals_caught() : CLI_OK;
}

/* Keep the protocol's two streams to ourselves: nothing else in this process, and no child of it,
 * is to read a byte of the one or write one to the other. */
static int take_streams(int *ret_in, int *ret_out, struct gb_err *err)
{
    auto_close int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    auto_close int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    auto_close int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (in < 0 || out < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "setting up standard input and output");
    *ret_in = take_fd(&in);
    *ret_out = take_fd(&out);
    return 0;
}

/* `s` has its configuration. Returns the exit status, or -1 with err. */
static int run_server(struct serving *s, struct mcp_face_spec *spec, struct gb_err *err)
{
    auto_close int in = -1, out = -1;
    int status = -1;

    if (take_streams(&in, &out, err) < 0)
        return -1;
    /* The other signals end us as ever, until there is an engine to be ended first. */
    signals_outlive_readers();
    s->base = engine_loop_new();
    if (!s->base)
        return gb_fail(err, GB_E_SYSTEM, errno, "making an event loop");
    spec->base = s->base;
    spec->prepare = open_engine;
    spec->data = s;
    if (mcp_face_new(spec, &s->face, err) == 0)
        status = serve(s, in, out, err);
    /* order: calls drop their runs, the engine ends its boxes, and both live in the loop */
    downstream_closep(&s->servers);
    s->face = mcp_face_free(s->face);
    engine_closep(&s->engine);
    event_base_free(s->base);
    return status;
}

static int mcp_main(const struct args *args)
{
    struct mcp_face_spec spec = { 0 };
    struct serving s = { .args = args };
    json_auto_t *config = NULL;
    struct gb_err err;
    int status;

    if (args->operands.count > 0 || args->operands.rest[0]) {
        gb_err_set(&err, GB_E_INVALID, 0, "mcp takes no arguments");
        return cli_refuse(args->command, &err);
    }
    if (args->print_config) {
        note_paths(args);
        return print_config(args->print_config);
    }
    if (settings_load(args, &config, &err) < 0 || served_settings(args, config, &spec, &err) < 0)
        return cli_refuse(args->command, &err);
    s.config = config;
    if (isatty(STDIN_FILENO))
        message("waiting for an agent's messages on standard input; 'glovebox mcp --print-config "
                "claude' prints how an agent starts this, Ctrl-D ends it");
    status = run_server(&s, &spec, &err);
    if (status < 0) {
        message_err(&err);
        return CLI_FAILED;
    }
    return status;
}

static const struct option_spec mcp_specs[] = {
    { 0, "print-config", OPT_CHOICE, offsetof(struct args, print_config),
      "claude|vscode|cursor|generic",
      "print what to paste into the agent's configuration, with the other options, and exit; "
      "an agent may start it anywhere: give whole paths",
      NULL },
};
static const struct option_group mcp_options = { "Server", mcp_specs, ARRAY_LEN(mcp_specs) };

static const struct option_group *const groups[] = {
    &mcp_options,   &served_options, &mount_options,        &capture_options,
    &tool_options,  &shell_options,  &command_rule_options, &spill_options,
    &limit_options, &policy_options, &consent_options,      &box_options,
    &audit_options, &config_options, &general_options,      NULL
};

const struct command cmd_mcp = {
    .name = "mcp",
    .operands = "[OPTIONS]",
    .summary = "serve agents over MCP, on standard input and output",
    .description =
        "An MCP server for an agent to start: its tools run Python and shell commands in boxes. "
        "Speaks the protocol's "
        "revision 2026-07-28 and those with a handshake, up to 2025-11-25. Messages go to standard "
        "error. Ends, with everything that runs, when standard input does.\n"
        "'glovebox mcp --print-config claude' prints what to paste into the agent's "
        "configuration.",
    .groups = groups,
    .run = mcp_main,
};
