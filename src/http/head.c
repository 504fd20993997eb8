#include "http/head.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/own.h"

enum {
    LENGTH_DIGITS_MAX = 18
};

static const struct head_problem no_memory = { 503, "memory ran out" };
static const struct head_problem bad_line = { 400, "the request line is malformed" };
static const struct head_problem bad_version = { 400, "this is not HTTP/1" };
static const struct head_problem bad_target = { 400, "the request's target is malformed" };
static const struct head_problem long_target = { 414, "the request's target is too long" };
static const struct head_problem bad_field = { 400, "a header is malformed" };
static const struct head_problem many_fields = { 431, "there are too many headers" };
static const struct head_problem twice = { 400, "a header that says one thing is there twice" };
static const struct head_problem no_host = { 400, "the Host header is missing" };
static const struct head_problem bad_length = { 400, "Content-Length is not a number" };
static const struct head_problem two_lengths = {
    400, "Content-Length and Transfer-Encoding contradict each other"
};
static const struct head_problem bad_coding = { 400, "Transfer-Encoding must be chunked" };
static const struct head_problem no_body = { 400, "a request with this method has no body" };
static const struct head_problem bad_expect = { 417, "Expect must be 100-continue" };

/* Who says one of these twice means to be understood in two ways. */
static const char *const once[] = {
    "Host",         "Content-Length", "Transfer-Encoding",    "Authorization",  "Origin",
    "Content-Type", "Expect",         "MCP-Protocol-Version", "Mcp-Session-Id", "Mcp-Method",
    "Mcp-Name"
};

static const char *const bodiless[] = { "GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "CONNECT" };

/* ---- characters ---- */

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool head_is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_token_char(text[i]))
            return false;
    return len > 0;
}

/* Of a field's value: no control character but the tab. */
static bool is_value_char(char c)
{
    return c == '\t' || ((unsigned char)c >= 0x20 && c != 0x7f);
}

bool head_is_field(const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);

    if (!colon || !head_is_token(line, (size_t)(colon - line)))
        return false; /* a name that is none, space before the colon, a line that goes on */
    for (const char *at = colon; at < line + len; at++)
        if (!is_value_char(*at))
            return false;
    return true;
}

/* ---- its end ---- */

/* A line ends in CR LF, and neither is anywhere else: who takes one of them alone for an end sees
 * other lines than who does not. Nor is there a NUL, which ends a string. */
int head_find_end(const char *text, size_t len, size_t *scanned)
{
    for (size_t i = *scanned; i < len; i++) {
        if (text[i] == '\0' || (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) ||
            (i > 0 && text[i - 1] == '\r' && text[i] != '\n') || (i == 1 && text[i] == '\n'))
            return -1;
        if (i >= 3 && text[i] == '\n' && text[i - 2] == '\n')
            return (int)i + 1;
    }
    *scanned = len;
    return 0;
}

/* ---- the request line ---- */

static bool take_version(struct head *h, const char *text)
{
    h->is_http_1_0 = strcmp(text, "HTTP/1.0") == 0;
    return h->is_http_1_0 || strcmp(text, "HTTP/1.1") == 0;
}

static const struct head_problem *take_target(struct head *h, char *target)
{
    static const char scheme[] = "http://";
    char *path = target;

    if (strlen(target) > HEAD_TARGET_MAX)
        return &long_target;
    for (const char *at = target; *at; at++)
        if (*at <= 0x20 || *at > 0x7e || *at == '#')
            return &bad_target;
    if (strncasecmp(target, scheme, sizeof(scheme) - 1) == 0) {
        h->host = target + sizeof(scheme) - 1;
        path = target + sizeof(scheme) - 1 + strcspn(h->host, "/?");
        /* Both end with a NUL, so the host moves into the room of the scheme. */
        memmove(target, h->host, (size_t)(path - h->host));
        target[path - h->host] = '\0';
        h->host = target;
        if (!*target)
            return &bad_target;
    } else if (*target != '/' && strcmp(target, "*") != 0) {
        return &bad_target;
    }
    path[strcspn(path, "?")] = '\0';
    h->path = *path ? path : "/";
    return NULL;
}

static const struct head_problem *take_line(struct head *h, char *line)
{
    char *target = strchr(line, ' ');
    char *version = target ? strchr(target + 1, ' ') : NULL;

    if (!version || !head_is_token(line, (size_t)(target - line)))
        return &bad_line;
    *target++ = '\0';
    *version++ = '\0';
    if (!take_version(h, version))
        return &bad_version;
    h->method = line;
    return take_target(h, target);
}

/* ---- fields ---- */

static const struct head_problem *take_field(struct head *h, char *line, size_t len)
{
    char *value, *end = line + len;

    if (!head_is_field(line, len))
        return &bad_field;
    if (h->n_fields == HEAD_FIELDS_MAX)
        return &many_fields;
    value = strchr(line, ':');
    *value++ = '\0';
    value += strspn(value, " \t");
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    h->fields[h->n_fields++] = (struct head_field){ .name = line, .value = value };
    return NULL;
}

const char *head_get(const struct head *h, const char *name)
{
    for (size_t i = 0; i < h->n_fields; i++)
        if (strcasecmp(h->fields[i].name, name) == 0)
            return h->fields[i].value;
    return NULL;
}

static bool is_repeated(const struct head *h, const char *name)
{
    int n = 0;

    for (size_t i = 0; i < h->n_fields; i++)
        n += strcasecmp(h->fields[i].name, name) == 0;
    return n > 1;
}

/* Is the word in the list of a Connection header? */
static bool names_option(const struct head *h, const char *word)
{
    for (size_t i = 0; i < h->n_fields; i++) {
        const char *at = h->fields[i].value;

        if (strcasecmp(h->fields[i].name, "Connection") != 0)
            continue;
        while (*at) {
            size_t len;

            at += strspn(at, ", \t");
            len = strcspn(at, ", \t");
            if (len == strlen(word) && strncasecmp(at, word, len) == 0)
                return true;
            at += len;
        }
    }
    return false;
}

/* ---- what they mean together ---- */

static bool has_method(const struct head *h, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(h->method, list[i]) == 0)
            return true;
    return false;
}

static const struct head_problem *take_length(struct head *h)
{
    const char *length = head_get(h, "Content-Length");
    const char *coding = head_get(h, "Transfer-Encoding");

    if (length && (!*length || strspn(length, "0123456789") != strlen(length)))
        return &bad_length;
    if (length && coding)
        return &two_lengths;
    if (coding && (h->is_http_1_0 || strcasecmp(coding, "chunked") != 0))
        return &bad_coding;
    h->is_chunked = coding != NULL;
    if (length) /* one that is longer is more than anybody takes */
        h->length = strlen(length) > LENGTH_DIGITS_MAX ? UINT64_MAX : strtoull(length, NULL, 10);
    if ((h->is_chunked || h->length > 0) && has_method(h, bodiless, ARRAY_LEN(bodiless)))
        return &no_body;
    return NULL;
}

static const struct head_problem *take_meaning(struct head *h)
{
    const char *expect = head_get(h, "Expect");

    for (size_t i = 0; i < ARRAY_LEN(once); i++)
        if (is_repeated(h, once[i]))
            return &twice;
    if (!h->is_http_1_0 && !head_get(h, "Host"))
        return &no_host;
    if (expect && !h->is_http_1_0 && strcasecmp(expect, "100-continue") != 0)
        return &bad_expect;
    h->wants_go_ahead = expect && !h->is_http_1_0;
    h->is_kept = !names_option(h, "close") && (!h->is_http_1_0 || names_option(h, "keep-alive"));
    return take_length(h);
}

const struct head_problem *head_parse(struct head *h, const char *text, size_t len)
{
    const struct head_problem *problem = NULL;
    char *line, *end;

    *h = (struct head){ .text = strndup(text, len), .method = "", .path = "" };
    if (!h->text)
        return &no_memory;
    line = h->text;
    end = strstr(line, "\r\n");
    if (!end || strlen(h->text) != len)
        return &bad_line;
    *end = '\0';
    problem = take_line(h, line);
    for (line = end + 2; !problem && (end = strstr(line, "\r\n")) && end > line; line = end + 2) {
        *end = '\0';
        problem = take_field(h, line, (size_t)(end - line));
    }
    return problem ? problem : take_meaning(h);
}

void head_done(struct head *h)
{
    free(h->text);
    *h = (struct head){ 0 };
}
