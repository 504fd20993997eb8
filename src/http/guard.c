#include "http/guard.h"

#include <arpa/inet.h>
#include <nettle/memops.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/own.h"

enum {
    HOST_MAX = 255
};

/* ---- host and origin ---- */

/* The name before ":PORT", without the brackets of an address. False: it is malformed. */
static bool split_host(const char *host, char name[HOST_MAX + 1])
{
    bool is_bracketed = *host == '[';
    const char *start = host + is_bracketed;
    size_t len = strcspn(start, is_bracketed ? "]" : ":");
    const char *rest = start + len;

    if (is_bracketed && *rest++ != ']')
        return false;
    if (len == 0 || len > HOST_MAX)
        return false;
    if (*rest == ':' && strspn(rest + 1, "0123456789") != strlen(rest + 1))
        return false;
    if (*rest && *rest != ':')
        return false;
    memcpy(name, start, len);
    name[len] = '\0';
    if (len > 1 && name[len - 1] == '.') /* the same name, said to be whole */
        name[len - 1] = '\0';
    return true;
}

static bool is_address(const char *name)
{
    unsigned char bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

static bool is_loopback(const char *name)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (inet_pton(AF_INET, name, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, name, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6);
    return strcasecmp(name, "localhost") == 0;
}

static bool is_listed(const char *text, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcasecmp(json_string_value(json_array_get(list, i)), text) == 0)
            return true;
    return false;
}

bool guard_host(const char *host, unsigned ours, const json_t *names)
{
    char name[HOST_MAX + 1];

    if (ours & GUARD_ANY)
        return true;
    if (!split_host(host, name))
        return false;
    if ((ours & GUARD_LOOPBACK) && is_loopback(name))
        return true;
    if ((ours & GUARD_ADDRESSES) && is_address(name))
        return true;
    return is_listed(name, names) || is_listed(host, names);
}

bool guard_origin(const char *origin, const json_t *allowed)
{
    const char *host = strstr(origin, "://");
    char name[HOST_MAX + 1];

    if (is_listed(origin, allowed))
        return true;
    if (strncmp(origin, "http://", 7) != 0 && strncmp(origin, "https://", 8) != 0)
        return false;
    return split_host(host + 3, name) && is_loopback(name);
}

/* ---- the token ---- */

bool guard_token(const char *authorization, const char *token)
{
    static const char scheme[] = "Bearer ";
    size_t len = strlen(token);

    if (!authorization || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
        return false;
    authorization += sizeof(scheme) - 1;
    authorization += strspn(authorization, " ");
    return strlen(authorization) == len && memeql_sec(authorization, token, len) != 0;
}

/* ---- types ---- */

static bool is_type(const char *value, size_t len, const char *type)
{
    return len == strlen(type) && strncasecmp(value, type, len) == 0;
}

bool guard_type(const char *value, const char *type)
{
    return is_type(value, strcspn(value, "; \t"), type);
}

bool guard_accepts(const char *accept, const char *type, bool is_strict)
{
    size_t family = strcspn(type, "/") + 1;

    while (*accept) {
        size_t len;

        accept += strspn(accept, ", \t");
        len = strcspn(accept, ",; \t");
        if (is_type(accept, len, type))
            return true;
        if (!is_strict &&
            (is_type(accept, len, "*/*") || (len == family + 1 && accept[family] == '*' &&
                                             strncasecmp(accept, type, family) == 0)))
            return true;
        accept += strcspn(accept, ",");
    }
    return false;
}
