/* Arguments that a modern server wants in headers as well (x-mcp-header), so that what stands
 * between can route by them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/own.h"
#include "mcp/client_core.h"

enum {
    HEADER_MAX = 100,
    VALUE_MAX = 4096,
    DEPTH_MAX = 16
};

/* A token, as headers' names are. */
static bool is_token(const json_t *name)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    const char *text = json_string_value(name);

    if (!text || !*text || strlen(text) != json_string_length(name) || strlen(text) > HEADER_MAX)
        return false;
    for (; *text; text++)
        if (!((*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'z') ||
              (*text >= 'A' && *text <= 'Z') || strchr(others, *text)))
            return false;
    return true;
}

static bool is_mirrored_type(const char *type)
{
    return strcmp(type, "string") == 0 || strcmp(type, "integer") == 0 ||
           strcmp(type, "boolean") == 0;
}

/* Is there one anywhere but right in the properties? */
static bool has_deep(const json_t *schema, int depth)
{
    const char *key;
    json_t *value;

    if (depth > DEPTH_MAX)
        return false;
    if (json_object_get(schema, "x-mcp-header"))
        return true;
    json_object_foreach (json_shared(schema), key, value)
        if (has_deep(value, depth + 1))
            return true;
    for (size_t i = 0; i < json_array_size(schema); i++)
        if (has_deep(json_array_get(schema, i), depth + 1))
            return true;
    return false;
}

bool headers_are_valid(const json_t *tool)
{
    json_t *properties = json_object_get(json_object_get(tool, "inputSchema"), "properties");
    auto_json json_t *seen = json_object();
    const char *key;
    json_t *property;

    json_object_foreach (properties, key, property) {
        json_t *header = json_object_get(property, "x-mcp-header");
        char lower[HEADER_MAX + 1];
        size_t n = 0;

        if (!header)
            continue;
        if (!is_token(header) || !is_mirrored_type(json_string_at(property, "type", "")))
            return false;
        for (const char *at = json_string_value(header); *at; at++)
            lower[n++] = (char)(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at);
        lower[n] = '\0';
        if (json_object_get(seen, lower))
            return false;
        (void)json_object_set_new(seen, lower, json_true());
    }
    json_object_foreach (properties, key, property) {
        const char *inner;
        json_t *value;

        json_object_foreach (property, inner, value)
            if (has_deep(value, 0))
                return false;
    }
    return true;
}

/* Can a header carry it as it is? */
static bool is_plain(const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return len == 0 ||
           (text[0] != ' ' && text[len - 1] != ' ' && strncasecmp(text, "=?base64?", 9) != 0);
}

/* The text of a value as a header has it; new, or NULL: none. */
static json_t *header_value(const json_t *value)
{
    auto_json json_t *coded = NULL;

    if (json_is_boolean(value))
        return json_string(json_is_true(value) ? "true" : "false");
    if (json_is_integer(value))
        return json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (!json_is_string(value) || json_string_length(value) > VALUE_MAX)
        return NULL;
    if (is_plain(json_string_value(value)) &&
        strlen(json_string_value(value)) == json_string_length(value))
        return json_incref(json_shared(value));
    coded = json_base64(json_string_value(value), json_string_length(value));
    return coded ? json_sprintf("=?base64?%s?=", json_string_value(coded)) : NULL;
}

json_t *headers_of_call(const json_t *tools, const json_t *params)
{
    const char *name = json_string_at(params, "name", ""), *key;
    json_t *properties = NULL, *property, *headers = NULL;

    for (size_t i = 0; i < json_array_size(tools) && !properties; i++) {
        const json_t *tool = json_array_get(tools, i);

        if (strcmp(json_string_at(tool, "name", ""), name) == 0)
            properties = json_object_get(json_object_get(tool, "inputSchema"), "properties");
    }
    json_object_foreach (properties, key, property) {
        const json_t *value = json_object_get(json_object_get(params, "arguments"), key);
        const char *header = json_string_at(property, "x-mcp-header", NULL);
        json_t *text = header && value ? header_value(value) : NULL;
        char line[HEADER_MAX + 16];

        if (!text)
            continue;
        (void)snprintf(line, sizeof(line), "Mcp-Param-%.*s", HEADER_MAX, header);
        headers = headers ? headers : json_object();
        (void)json_object_set_new(headers, line, text);
    }
    return headers;
}
