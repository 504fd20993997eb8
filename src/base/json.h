#pragma once
#include <jansson.h>
#include <stdbool.h>

/* The text of any JSON value, compact, reals in as few digits as give them back exactly. The
 * caller frees it; NULL only when memory ran out. */
char *json_text(const json_t *json);

/* A string from text that may not be UTF-8 (the name of a file, a message that was cut): each byte
 * that is not becomes '?'. */
json_t *json_lossy(const char *text);

/* The same with the replacement character in the place of each such byte. */
json_t *json_replaced(const char *bytes, size_t len);

/* A string with these bytes as base64; NULL when memory ran out. */
json_t *json_base64(const void *bytes, size_t len);

/* The string at `key`, or `otherwise` where there is none. */
static inline const char *json_string_at(const json_t *object, const char *key,
                                         const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : otherwise;
}

/* The strings of an array as the keys of a new object: to ask for many names, where asking the
 * array for each would cost names times items. */
json_t *json_names(const json_t *list);

/* Is this string in the array? For few questions: it is gone through for each. */
bool json_array_has(const json_t *list, const char *text);

/* How deep arrays and objects are nested: 1 for a plain value. */
size_t json_depth(const json_t *json);

/* At least as many values as the JSON text can hold: an item costs two bytes to send and hundreds
 * to read. */
static inline size_t json_count_items(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += text[i] == ',' || text[i] == '[' || text[i] == '{';
    return n;
}

/* jansson takes references and iterates through pointers that are not const, and changes nothing
 * but the count. */
static inline json_t *json_shared(const json_t *json)
{
    union {
        const json_t *in;
        json_t *out;
    } cast = { .in = json };

    return cast.out;
}

static inline void gb_json_decrefp(json_t **json)
{
    json_decref(*json);
}

#define auto_json __attribute__((cleanup(gb_json_decrefp)))
