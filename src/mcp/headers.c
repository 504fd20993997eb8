/* Modern HTTP requests say some of what is in their body in headers too, so that what stands
 * between can route them. Who believes the one and acts on the other can be fooled: they must
 * agree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "mcp/core.h"

static const char *get(const struct mcp_headers *headers, const char *name)
{
    return headers->get(headers->data, name);
}

static int mismatch(char *why, size_t size, const char *name, const char *problem)
{
    (void)snprintf(why, size, "the header %.60s %s", name, problem);
    return -1;
}

/* A value as it was meant: =?base64?...?= stands for what no header can carry. The caller frees it;
 * NULL when it is malformed, or memory ran out. */
static char *decode(const char *value)
{
    static const char start[] = "=?base64?", end[] = "?=";
    size_t len = strlen(value);
    uint64_t n;
    char *text;

    if (len < sizeof(start) + sizeof(end) - 2 ||
        strncasecmp(value, start, sizeof(start) - 1) != 0 || strcmp(value + len - 2, end) != 0)
        return strdup(value);
    n = len - (sizeof(start) - 1) - (sizeof(end) - 1);
    text = strndup(value + sizeof(start) - 1, n);
    if (!text || !base64_is_valid(text, n) || !base64_decode(text, &n) || memchr(text, '\0', n)) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

/* Is the header there, and what the body says? */
static int compare(const struct mcp_headers *headers, const char *name, const char *body, char *why,
                   size_t size)
{
    const char *value = get(headers, name);
    auto_free char *decoded = value ? decode(value) : NULL;

    if (!value)
        return mismatch(why, size, name, "is missing");
    if (!decoded)
        return mismatch(why, size, name, "is not valid base64");
    return strcmp(decoded, body) == 0 ? 0 : mismatch(why, size, name, "is not what the body says");
}

int headers_check_version(const struct mcp_headers *headers, const char *version, char *why,
                          size_t size)
{
    return headers ? compare(headers, "MCP-Protocol-Version", version, why, size) : 0;
}

/* The text that stands for an argument in a header; NULL: none does. The caller frees it. */
static char *argument_text(const json_t *value)
{
    if (json_is_string(value))
        return strdup(json_string_value(value));
    if (json_is_integer(value) || json_is_boolean(value) || json_is_real(value))
        return json_text(value);
    return NULL;
}

static bool is_same_number(const json_t *value, const char *text)
{
    char *end = NULL;
    double d = strtod(text, &end);

    return json_is_number(value) && end != text && *end == '\0' && d == json_number_value(value);
}

static int check_param(const struct mcp_headers *headers, const char *header, const json_t *value,
                       char *why, size_t size)
{
    auto_free char *body = value ? argument_text(value) : NULL;
    char name[128];
    const char *given;

    (void)snprintf(name, sizeof(name), "Mcp-Param-%.100s", header);
    given = get(headers, name);
    if (!body)
        return given ? mismatch(why, size, name, "is there, and no argument for it") : 0;
    if (given && is_same_number(value, given))
        return 0;
    return compare(headers, name, body, why, size);
}

/* Arguments that the tool's schema wants in headers as well. */
static int check_params(const struct mcp_headers *headers, const json_t *tool,
                        const json_t *arguments, char *why, size_t size)
{
    const json_t *schema = json_object_get(tool, "inputSchema");
    json_t *properties = json_object_get(schema, "properties"), *property;
    const char *key;

    json_object_foreach (properties, key, property) {
        const char *header = json_string_at(property, "x-mcp-header", NULL);

        if (header && check_param(headers, header, json_object_get(arguments, key), why, size) < 0)
            return -1;
    }
    return 0;
}

int headers_check(const struct mcp_headers *headers, const struct rpc_message *m,
                  struct mcp_server *server, char *why, size_t size)
{
    static const struct {
        const char *method, *key;
    } named[] = {
        { "tools/call", "name" },
        { "prompts/get", "name" },
        { "resources/read", "uri" },
    };
    const char *name;

    if (!headers)
        return 0;
    if (compare(headers, "Mcp-Method", m->method, why, size) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        if (strcmp(m->method, named[i].method) != 0)
            continue;
        name = json_string_value(json_object_get(m->params, named[i].key));
        if (name && compare(headers, "Mcp-Name", name, why, size) < 0)
            return -1;
        if (name && i == 0)
            return check_params(headers, mcp_server_tool(server, name),
                                json_object_get(m->params, "arguments"), why, size);
    }
    return 0;
}
