#include "cli/tools.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/own.h"
#include "cli/io.h"

#define TOOLS_BYTES_MAX ((size_t)4 << 20)

static const struct option_spec tools[] = {
    { 0, "tool", OPT_COMMAND, offsetof(struct args, tools), "NAME=COMMAND",
      "a tool that the program may call: COMMAND runs here, by /bin/sh, gets the arguments as a "
      "JSON object on standard input and prints its result as JSON; repeatable",
      NULL },
    { 0, "tools", OPT_TEXT, offsetof(struct args, tools_path), "FILE",
      "tools with descriptions and parameters: a JSON list", NULL },
    { 0, "mcp", OPT_KEY_TEXT, offsetof(struct args, config), "FILE",
      "MCP servers whose tools the program may call, as server.tool(...): JSON as agents have it, "
      "{\"mcpServers\": {...}}",
      NULL },
    { 0, "tool-calls", OPT_KEY_COUNT, offsetof(struct args, config), "N",
      "tool calls that the program may make", "100000" },
};
const struct option_group tool_options = { "Tools", tools, ARRAY_LEN(tools) };

static int out_of_memory(struct gb_err *err)
{
    return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the tools");
}

static int read_file(const char *path, json_t **ret, struct gb_err *err)
{
    auto_close int fd = open_input(path, err);

    return fd < 0 ? gb_fail_wrap(err, "--tools") : read_json(fd, path, TOOLS_BYTES_MAX, ret, err);
}

static const char *name_of(const json_t *tool)
{
    return json_string_value(json_object_get(tool, "name"));
}

/* Add one, in the place of one of the same name; takes it. */
static int add(json_t *list, json_t *tool)
{
    const char *name = name_of(tool), *other;

    for (size_t i = 0; name && i < json_array_size(list); i++) {
        other = name_of(json_array_get(list, i));
        if (other && strcmp(name, other) == 0)
            return json_array_set_new(list, i, tool);
    }
    return json_array_append_new(list, tool);
}

/* What is wrong with their content, the engine will say. */
static int add_all(json_t *list, const json_t *more, const char *where, struct gb_err *err)
{
    json_t *object = json_shared(more), *tool, *value;
    const char *name;

    if (more && !json_is_array(more) && !json_is_object(more))
        return gb_fail(err, GB_E_INVALID, 0,
                       "%.150s: must be a list of tools, or an object of them by name", where);
    for (size_t i = 0; i < json_array_size(more); i++)
        if (add(list, json_deep_copy(json_array_get(more, i))) < 0)
            return out_of_memory(err);
    json_object_foreach (object, name, value) {
        tool = json_deep_copy(value);
        if (json_is_object(tool) && !name_of(tool))
            (void)json_object_set_new(tool, "name", json_string(name));
        if (add(list, tool) < 0)
            return out_of_memory(err);
    }
    return 0;
}

static int check_commands(const json_t *list, struct gb_err *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *tool = json_array_get(list, i);
        if (json_is_object(tool) && !json_object_get(tool, "command"))
            return gb_fail(err, GB_E_INVALID, 0, "the tool '%.80s' has no command",
                           name_of(tool) ? name_of(tool) : "");
    }
    return 0;
}

int tools_gather(const struct args *args, json_t *config, struct gb_err *err)
{
    json_auto_t *file = NULL;
    json_auto_t *list = json_array();

    if (!json_object_get(config, "tools") && !args->tools_path && json_array_size(args->tools) == 0)
        return 0;
    if (!list)
        return out_of_memory(err);
    if (args->tools_path && read_file(args->tools_path, &file, err) < 0)
        return -1;
    if (add_all(list, json_object_get(config, "tools"), "tools", err) < 0 ||
        add_all(list, file, args->tools_path, err) < 0 ||
        add_all(list, args->tools, "--tool", err) < 0 || check_commands(list, err) < 0)
        return -1;
    return json_object_set(config, "tools", list) < 0 ? out_of_memory(err) : 0;
}
