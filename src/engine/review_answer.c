#include "engine/review_answer.h"

#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/own.h"
#include "base/parse.h"

enum {
    REASON_MAX = 4 << 10,
    MODEL_MAX = 200,
    COMPLAINT_MAX = 300,
    DETAIL_MAX = 8 << 10, /* as JSON text */
    DETAIL_TEXT_MAX = 2 << 10,
    DETAIL_NAME_MAX = 100,
    DETAIL_DEPTH_MAX = 4,
    /* A shorter key ("none", "EMPTY") is a stand-in and not a secret, and may be a word. */
    SECRET_MIN = 8
};

#define TOKENS_MAX 1000000000000LL

/* ---- text ---- */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* What a terminal would act on, or what would show text in another order than it is read in. */
static bool is_sly(const unsigned char *c, unsigned len)
{
    static const char *const turns[] = {
        "\u200e", "\u200f", "\u061c", "\u202a", "\u202b", "\u202c",
        "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"
    };

    if (len == 1)
        return (c[0] < 0x20 && c[0] != '\n' && c[0] != '\t') || c[0] >= 0x7f;
    if (len == 2 && c[0] == 0xc2 && c[1] < 0xa0)
        return true; /* U+0080 to U+009F */
    for (size_t i = 0; i < ARRAY_LEN(turns); i++)
        if (strlen(turns[i]) == len && memcmp(c, turns[i], len) == 0)
            return true;
    return false;
}

char *answer_clean(const char *text, const char *key, size_t max)
{
    static const char cut[] = "...";
    size_t left = strlen(text), secret = key ? strlen(key) : 0, n = 0;
    char *out = malloc(max + sizeof(cut));

    while (out && *text) {
        unsigned len = utf8_char_len((const unsigned char *)text, left);
        const char *from = text;
        size_t add = len, skip = len;

        if (secret >= SECRET_MIN && starts_with(text, key)) {
            from = "[key]";
            add = 5;
            skip = secret;
        } else if (is_sly((const unsigned char *)text, len)) {
            from = "?";
            add = 1;
        }
        if (n + add > max) {
            memcpy(out + n, cut, sizeof(cut) - 1);
            n += sizeof(cut) - 1;
            break;
        }
        memcpy(out + n, from, add);
        n += add;
        text += skip;
        left -= skip;
    }
    if (out)
        out[n] = '\0';
    return out;
}

static json_t *clean_string(const char *text, const char *key, size_t max)
{
    auto_free char *clean = answer_clean(text, key, max);

    return clean ? json_string(clean) : NULL;
}

/* ---- what else it said ---- */

static json_t *clean_json(const json_t *json, const char *key, unsigned depth)
{
    json_t *from = json_shared(json), *out;

    if (json_is_string(json))
        return clean_string(json_string_value(json), key, DETAIL_TEXT_MAX);
    if (!json_is_array(json) && !json_is_object(json))
        return json_incref(from);
    if (depth >= DETAIL_DEPTH_MAX)
        return json_string("...");
    out = json_is_array(json) ? json_array() : json_object();
    for (size_t i = 0; i < json_array_size(json); i++)
        json_array_append_new(out, clean_json(json_array_get(json, i), key, depth + 1));
    for (void *at = json_object_iter(from); at; at = json_object_iter_next(from, at)) {
        auto_free char *name = answer_clean(json_object_iter_key(at), key, DETAIL_NAME_MAX);
        json_object_set_new(out, name, clean_json(json_object_iter_value(at), key, depth + 1));
    }
    return out;
}

/* All but the two that were asked for, as far as there is room. */
static json_t *read_detail(json_t *verdict, const char *key)
{
    size_t room = DETAIL_MAX;
    json_t *detail = NULL, *value;
    const char *name;

    json_object_foreach (verdict, name, value) {
        if (strcmp(name, "is_secure") == 0 || strcmp(name, "reason") == 0)
            continue;
        auto_free char *clean = answer_clean(name, key, DETAIL_NAME_MAX);
        auto_json json_t *copy = clean_json(value, key, 0);
        size_t bytes = json_dumpb(copy, NULL, 0, JSON_ENCODE_ANY | JSON_COMPACT) + strlen(name);

        if (bytes > room)
            continue;
        room -= bytes;
        detail = detail ? detail : json_object();
        json_object_set(detail, clean, copy);
    }
    return detail ? detail : json_null();
}

/* ---- tokens ---- */

static json_int_t count_of(const json_t *usage, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(usage, name));

    return n > 0 && n <= TOKENS_MAX ? n : 0;
}

static void add_tokens(struct answer_tokens *tokens, const json_t *usage)
{
    json_int_t prompt = count_of(usage, "prompt_tokens");
    json_int_t completion = count_of(usage, "completion_tokens");
    json_int_t total = count_of(usage, "total_tokens");

    if (prompt == 0 && completion == 0 && total == 0)
        return;
    tokens->known = true;
    tokens->prompt += prompt;
    tokens->completion += completion;
    tokens->total += total > 0 ? total : prompt + completion;
}

/* ---- the verdict ---- */

static const char *const spaces = " \t\r\n";

/* Models like to wrap JSON into a fence of ``` lines. One around the whole is taken off. */
static void unfence(const char **text, size_t *len)
{
    static const char *const starts[] = { "```json\n", "```JSON\n", "```\n" };
    const char *at = *text + strspn(*text, spaces), *end = *text + *len;

    while (end > at && strchr(spaces, end[-1]))
        end--;
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        size_t n = strlen(starts[i]);
        if ((size_t)(end - at) >= n + 3 && starts_with(at, starts[i]) &&
            memcmp(end - 3, "```", 3) == 0) {
            at += n;
            end -= 3;
            break;
        }
    }
    *text = at;
    *len = (size_t)(end - at);
}

static json_t *read_verdict(const json_t *content, const char *key, struct gb_err *err)
{
    const char *text = json_string_value(content);
    size_t len = json_string_length(content);
    auto_json json_t *verdict = NULL;
    const json_t *secure, *reason;

    if (len == 0) {
        gb_err_set(err, GB_E_PROTOCOL, 0, "the reply has no content");
        return NULL;
    }
    unfence(&text, &len);
    verdict = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(verdict)) {
        gb_err_set(err, GB_E_PROTOCOL, 0, "the verdict is not a JSON object");
        return NULL;
    }
    secure = json_object_get(verdict, "is_secure");
    reason = json_object_get(verdict, "reason");
    if (!json_is_boolean(secure)) {
        gb_err_set(err, GB_E_PROTOCOL, 0, "the verdict's is_secure is not true or false");
        return NULL;
    }
    if (!json_is_string(reason)) {
        gb_err_set(err, GB_E_PROTOCOL, 0, "the verdict's reason is not a string");
        return NULL;
    }
    gb_err_set(err, GB_E_SYSTEM, 0, "memory ran out"); /* in case it did */
    return json_pack("{s:b,s:o,s:o}", "secure", json_is_true(secure), "reason",
                     clean_string(json_string_value(reason), key, REASON_MAX), "detail",
                     read_detail(verdict, key));
}

json_t *answer_read(const char *body, size_t len, const char *key, struct answer_tokens *tokens,
                    struct gb_err *err)
{
    auto_json json_t *reply = json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *choices = json_object_get(reply, "choices");
    const json_t *model = json_object_get(reply, "model"), *message;
    json_t *answer;

    if (!json_is_object(reply)) {
        gb_err_set(err, GB_E_PROTOCOL, 0, "the reply is not a JSON object");
        return NULL;
    }
    add_tokens(tokens, json_object_get(reply, "usage"));
    if (json_array_size(choices) == 0) {
        gb_err_set(err, GB_E_PROTOCOL, 0, "the reply has no choices");
        return NULL;
    }
    message = json_object_get(json_array_get(choices, 0), "message");
    answer = read_verdict(json_object_get(message, "content"), key, err);
    if (answer)
        json_object_set_new(answer, "model",
                            json_string_length(model) > 0
                                ? clean_string(json_string_value(model), key, MODEL_MAX)
                                : json_null());
    return answer;
}

/* ---- complaints ---- */

char *answer_complaint(const char *body, size_t len, const char *key)
{
    auto_json json_t *reply = json_loadb(body, len, 0, NULL);
    const json_t *error = json_object_get(reply, "error");
    const json_t *places[] = { json_object_get(error, "message"), error,
                               json_object_get(reply, "message"),
                               json_object_get(reply, "detail") };

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (json_string_length(places[i]) > 0)
            return answer_clean(json_string_value(places[i]), key, COMPLAINT_MAX);
    return NULL;
}
