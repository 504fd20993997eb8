/*
 * From the result of a server's tool to the value that a program gets: what is structured first,
 * then JSON that came as text, then text. Everything else is kept here, and the program gets a
 * handle.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"
#include "engine/schema.h"
#include "mcp/downstream_core.h"

enum {
    BLOCKS_MAX = 1000,
    MESSAGE_MAX = 4000
};

static void fail(struct outcome *ret, const char *type, const char *message)
{
    ret->type = type;
    ret->message = strdup(message ? message : "");
}

/* ---- blocks ---- */

/* Objects and lists; a text that happens to be a number stays a text. */
static json_t *parsed(const json_t *text)
{
    const char *at = json_string_value(text) + strspn(json_string_value(text), " \t\r\n");

    if (*at != '{' && *at != '[')
        return NULL;
    return json_loadb(json_string_value(text), json_string_length(text), JSON_ALLOW_NUL, NULL);
}

/* Of base64 that is valid. */
static json_int_t decoded_size(const char *text, size_t len)
{
    size_t padding = 0;

    while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
        padding++;
    return (json_int_t)(len / 4 * 3 - padding);
}

/* Takes `data`. What can be read by the handle that comes back. */
static json_t *handle_for(const struct upstream *u, json_t *data, const json_t *about,
                          const char *kind, bool *has_handles)
{
    const json_t *coded = json_object_get(data, "base64"), *text = json_object_get(data, "text");
    const char *uri = json_string_at(about, "uri", NULL);
    json_int_t size = json_integer_value(json_object_get(about, "size"));
    char handle[SHELF_ID];
    json_t *out;

    if (coded)
        size = decoded_size(json_string_value(coded), json_string_length(coded));
    else if (text)
        size = (json_int_t)json_string_length(text);
    if (shelf_add(u->all->shelf, u->number, data, uri, handle) < 0)
        return json_sprintf("(%s: too large)", kind);
    *has_handles = true;
    out = json_pack("{s:s,s:s,s:O?,s:O?,s:O?}", "handle", handle, "kind", kind, "mime",
                    json_object_get(about, "mimeType"), "name", json_object_get(about, "name"),
                    "uri", json_object_get(about, "uri"));
    if (out && size > 0)
        (void)json_object_set_new(out, "size", json_integer(size));
    return out;
}

/* The content of a resource as it is read. NULL: it has none. */
static json_t *content_of(const json_t *resource)
{
    const json_t *text = json_object_get(resource, "text"),
                 *blob = json_object_get(resource, "blob");

    if (json_is_string(text))
        return json_pack("{s:O}", "text", text);
    if (json_is_string(blob) && base64_is_valid(json_string_value(blob), json_string_length(blob)))
        return json_pack("{s:O}", "base64", blob);
    return NULL;
}

static json_t *block_value(const struct upstream *u, const json_t *block, bool *has_handles)
{
    const char *type = json_string_at(block, "type", "");
    const json_t *text = json_object_get(block, "text"), *data = json_object_get(block, "data");
    const json_t *resource = json_object_get(block, "resource");
    json_t *value;

    if (strcmp(type, "text") == 0 && json_is_string(text)) {
        value = parsed(text);
        return value ? value : json_incref(json_shared(text));
    }
    if ((strcmp(type, "image") == 0 || strcmp(type, "audio") == 0) && json_is_string(data) &&
        base64_is_valid(json_string_value(data), json_string_length(data)))
        return handle_for(u, json_pack("{s:O}", "base64", data), block, type, has_handles);
    if (strcmp(type, "resource_link") == 0 && json_is_string(json_object_get(block, "uri")))
        return handle_for(u, NULL, block, type, has_handles);
    if (strcmp(type, "resource") == 0 && json_is_object(resource)) {
        value = content_of(resource);
        if (value)
            return handle_for(u, value, resource, type, has_handles);
    }
    return json_sprintf("(a block of the type '%.40s' that cannot be read)", type);
}

/* One block is its value, several are a list of them. */
static json_t *blocks_value(const struct upstream *u, const json_t *content, bool *has_handles)
{
    size_t n = json_array_size(content);
    json_t *list;

    if (n == 0)
        return json_null();
    if (n == 1)
        return block_value(u, json_array_get(content, 0), has_handles);
    list = json_array();
    for (size_t i = 0; i < n && i < BLOCKS_MAX; i++)
        (void)json_array_append_new(list, block_value(u, json_array_get(content, i), has_handles));
    return list;
}

/* ---- failures ---- */

static char *text_of(const json_t *content)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        return NULL;
    for (size_t i = 0; i < json_array_size(content) && len < MESSAGE_MAX; i++) {
        (void)fprintf(f, "%s%.*s", i ? "\n" : "", MESSAGE_MAX,
                      json_string_at(json_array_get(content, i), "text", ""));
        (void)fflush(f);
    }
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- the whole ---- */

static void check_structured(const json_t *structured, const json_t *returns, struct outcome *ret)
{
    struct gb_err err;
    char text[300];

    if (!structured) {
        fail(ret, "InvalidResult", "the server promised a structured result and gave none");
        return;
    }
    if (schema_validate(returns, structured, "", &err) == 0)
        return;
    (void)snprintf(text, sizeof(text), "the result is not what the server's schema says: %.200s",
                   err.msg);
    fail(ret, "InvalidResult", text);
}

void outcome_of(const struct upstream *u, const json_t *result, const json_t *returns,
                struct outcome *ret)
{
    const json_t *structured = json_object_get(result, "structuredContent");
    const json_t *content = json_object_get(result, "content");
    auto_free char *text = NULL;

    *ret = (struct outcome){ 0 };
    if (json_is_true(json_object_get(result, "isError"))) {
        text = text_of(content);
        if (text)
            server_scrub(u->spec, text);
        fail(ret, "ToolFailed", text);
        return;
    }
    if (returns)
        check_structured(structured, returns, ret);
    if (ret->type)
        return;
    if (structured && !json_is_null(structured))
        ret->value = json_incref(json_shared(structured));
    else if (json_is_array(content))
        ret->value = blocks_value(u, content, &ret->has_handles);
    if (!ret->value)
        fail(ret, "InvalidResult", "the server's answer has no content");
}

json_t *outcome_of_read(const json_t *result)
{
    return content_of(json_array_get(json_object_get(result, "contents"), 0));
}
