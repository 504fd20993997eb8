#include "mcp/servers.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "base/suggest.h"
#include "python/names.h"

enum {
    TIMEOUT_MS = 60000,
    START_MS = 60000,
    TIMEOUT_MAX_S = 7 * 86400,
    WORDS_MAX = 1000, /* arguments, variables, headers, patterns */
    SECRET_MIN = 6    /* bytes: what is shorter would be found everywhere */
};

struct reader {
    struct server_spec *spec;
    const char *command;
    void (*note)(void *data, const char *text);
    void *data;
    struct gb_err *err;
};

#define fail(r, ...) gb_fail((r)->err, GB_E_INVALID, 0, __VA_ARGS__)

/* ---- ${NAME} ---- */

/* Add what stands for "${NAME}", "${env:NAME}" or "${NAME:-otherwise}" at `at`, which is behind the
 * brace. Returns the end of it, or NULL. */
static const char *put_variable(struct reader *r, FILE *f, const char *at)
{
    const char *end = strchr(at, '}'), *colon, *value;
    char name[128];
    size_t len;

    if (strncmp(at, "env:", 4) == 0)
        at += 4;
    colon = end ? memmem(at, (size_t)(end - at), ":-", 2) : NULL;
    len = end ? (size_t)((colon ? colon : end) - at) : 0;
    if (len == 0 || len >= sizeof(name)) {
        (void)fail(r, "'${' must be followed by the name of a variable and '}'");
        return NULL;
    }
    memcpy(name, at, len);
    name[len] = '\0';
    value = getenv(name);
    if (!value && !colon) {
        (void)fail(r, "the variable %s is not set", name);
        return NULL;
    }
    if (value)
        (void)fputs(value, f);
    else
        (void)fwrite(colon + 2, 1, (size_t)(end - colon - 2), f);
    return end + 1;
}

/* The text with variables of our environment put in. The caller frees it; NULL with err. */
static char *expand(struct reader *r, const char *text)
{
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);

    if (!f) {
        (void)gb_fail(r->err, GB_E_SYSTEM, ENOMEM, "reading the servers");
        return NULL;
    }
    while (text && *text) {
        const char *at = strstr(text, "${");

        (void)fwrite(text, 1, at ? (size_t)(at - text) : strlen(text), f);
        if (!at)
            break;
        text = put_variable(r, f, at + 2);
    }
    if (fclose(f) != 0 || !text) {
        if (text)
            (void)gb_fail(r->err, GB_E_SYSTEM, ENOMEM, "reading the servers");
        free(out);
        return NULL;
    }
    return out;
}

static bool is_plain(const json_t *value)
{
    return json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value);
}

/* ---- keys ---- */

static int take_text(struct reader *r, const char *key, const json_t *value, char **ret)
{
    if (!is_plain(value) || !*json_string_value(value))
        return fail(r, "%s: must be a string", key);
    free(*ret);
    *ret = expand(r, json_string_value(value));
    return *ret ? 0 : gb_fail_wrap(r->err, "%s", key);
}

static int take_command(struct reader *r, const char *key, const json_t *value)
{
    char **argv = calloc(2, sizeof(*argv));

    if (!argv)
        return gb_fail(r->err, GB_E_SYSTEM, ENOMEM, "reading the servers");
    if (take_text(r, key, value, &argv[0]) < 0) {
        free(argv);
        return -1;
    }
    r->spec->argv = argv;
    return 0;
}

static void strings_free(char **list)
{
    for (char **at = list; at && *at; at++) {
        explicit_bzero(*at, strlen(*at));
        free(*at);
    }
    free(list);
}

/* "args" come after the command whichever was read first. */
static int take_args(struct reader *r, const char *key, const json_t *value)
{
    size_t n = json_array_size(value);
    char **argv;

    if (!json_is_array(value) || n > WORDS_MAX)
        return fail(r, "%s: must be a list of strings", key);
    if (!r->spec->argv)
        return fail(r, "%s: there is no 'command' that they are for", key);
    argv = realloc(r->spec->argv, (n + 2) * sizeof(*argv));
    if (!argv)
        return gb_fail(r->err, GB_E_SYSTEM, ENOMEM, "reading the servers");
    r->spec->argv = argv;
    for (size_t i = 0; i < n; i++) {
        const json_t *word = json_array_get(value, i);

        if (!is_plain(word))
            return fail(r, "%s: must be a list of strings", key);
        argv[i + 1] = expand(r, json_string_value(word));
        argv[i + 2] = NULL;
        if (!argv[i + 1])
            return gb_fail_wrap(r->err, "%s", key);
    }
    return 0;
}

/* Names and values, as "NAME=VALUE" or "Name: value". */
static int take_pairs(struct reader *r, const char *key, const json_t *value, const char *between,
                      char ***ret)
{
    char **list = *ret;
    size_t n = 0;
    const char *name;
    json_t *text;

    if (!json_is_object(value) || json_object_size(value) > WORDS_MAX)
        return fail(r, "%s: must be an object of strings", key);
    while (list && list[n])
        n++;
    list = realloc(list, (n + json_object_size(value) + 1) * sizeof(*list));
    if (!list)
        return gb_fail(r->err, GB_E_SYSTEM, ENOMEM, "reading the servers");
    list[n] = NULL;
    *ret = list;
    json_object_foreach (json_shared(value), name, text) {
        auto_free char *expanded = NULL;

        if (!is_plain(text) || strpbrk(name, "=: \t\r\n") || !*name)
            return fail(r, "%s: '%.60s' must be a name with a string", key, name);
        expanded = expand(r, json_string_value(text));
        if (!expanded)
            return gb_fail_wrap(r->err, "%s: %.60s", key, name);
        if (between[0] == ':' && strpbrk(expanded, "\r\n"))
            return fail(r, "%s: '%.60s' has a line break in it", key, name);
        if (asprintf(&list[n], "%s%s%s", name, between, expanded) < 0) {
            list[n] = NULL;
            return gb_fail(r->err, GB_E_SYSTEM, ENOMEM, "reading the servers");
        }
        list[++n] = NULL;
    }
    return 0;
}

static int take_env(struct reader *r, const char *key, const json_t *value)
{
    return take_pairs(r, key, value, "=", &r->spec->env);
}

static int take_headers(struct reader *r, const char *key, const json_t *value)
{
    return take_pairs(r, key, value, ": ", &r->spec->headers);
}

static int take_cwd(struct reader *r, const char *key, const json_t *value)
{
    return take_text(r, key, value, &r->spec->cwd);
}

static int take_url(struct reader *r, const char *key, const json_t *value)
{
    return take_text(r, key, value, &r->spec->url);
}

static int take_ca(struct reader *r, const char *key, const json_t *value)
{
    if (take_text(r, key, value, &r->spec->ca) < 0)
        return -1;
    return access(r->spec->ca, R_OK) < 0
               ? gb_fail(r->err, GB_E_INVALID, errno, "%s: reading %.100s", key, r->spec->ca)
               : 0;
}

static int take_type(struct reader *r, const char *key, const json_t *value)
{
    static const char *const known[] = { "stdio", "http", "streamable-http", "streamableHttp",
                                         "streamable_http" };
    const char *text = json_string_value(value);

    for (size_t i = 0; text && i < ARRAY_LEN(known); i++)
        if (strcmp(text, known[i]) == 0)
            return 0;
    if (text && strcmp(text, "sse") == 0) {
        (void)fail(r, "%s: the transport of 2024 (HTTP+SSE) is not spoken", key);
        return gb_fail_hint(r->err, "most such servers have streamable HTTP too: try \"http\" and "
                                    "the url that ends with /mcp");
    }
    return fail(r, "%s: must be \"stdio\" or \"http\"", key);
}

static int take_patterns(struct reader *r, const char *key, const json_t *value, json_t **ret)
{
    if (!json_is_array(value) || json_array_size(value) > WORDS_MAX)
        return fail(r, "%s: must be a list of names of tools, '*' and '?' match any", key);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!is_plain(json_array_get(value, i)))
            return fail(r, "%s: must be a list of strings", key);
    *ret = json_incref(json_shared(value));
    return 0;
}

static int take_allow(struct reader *r, const char *key, const json_t *value)
{
    return take_patterns(r, key, value, &r->spec->allow);
}

static int take_deny(struct reader *r, const char *key, const json_t *value)
{
    return take_patterns(r, key, value, &r->spec->deny);
}

/* "always", "never", or patterns of those that need it. */
static int take_approval(struct reader *r, const char *key, const json_t *value)
{
    const char *text = json_string_value(value);

    if (!text)
        return take_patterns(r, key, value, &r->spec->approval);
    if (strcmp(text, "always") == 0)
        r->spec->approval = json_pack("[s]", "*");
    else if (strcmp(text, "never") != 0)
        return fail(r, "%s: must be \"always\", \"never\" or a list of names of tools", key);
    return 0;
}

static bool read_seconds(const json_t *value, uint64_t *ret_ms)
{
    double s = json_number_value(value);

    if (!(s >= 0.001) || s > TIMEOUT_MAX_S)
        return false;
    *ret_ms = (uint64_t)llround(s * 1000);
    return true;
}

static int take_timeout(struct reader *r, const char *key, const json_t *value)
{
    return read_seconds(value, &r->spec->timeout_ms)
               ? 0
               : fail(r, "%s: must be a number of seconds, up to %d", key, TIMEOUT_MAX_S);
}

static int take_start(struct reader *r, const char *key, const json_t *value)
{
    return read_seconds(value, &r->spec->start_ms)
               ? 0
               : fail(r, "%s: must be a number of seconds, up to %d", key, TIMEOUT_MAX_S);
}

static int take_timeouts(struct reader *r, const char *key, const json_t *value)
{
    const char *name;
    json_t *seconds;
    uint64_t ms;

    if (!json_is_object(value) || json_object_size(value) > WORDS_MAX)
        return fail(r, "%s: must be an object of seconds by name of the tool", key);
    json_object_foreach (json_shared(value), name, seconds)
        if (!read_seconds(seconds, &ms))
            return fail(r, "%s: '%.60s' must be a number of seconds, up to %d", key, name,
                        TIMEOUT_MAX_S);
    r->spec->timeouts = json_incref(json_shared(value));
    return 0;
}

static int take_passthrough(struct reader *r, const char *key, const json_t *value)
{
    r->spec->is_passthrough = json_is_true(value);
    return json_is_boolean(value) ? 0 : fail(r, "%s: must be true or false", key);
}

static int take_nothing(struct reader *r, const char *key, const json_t *value)
{
    (void)r;
    (void)key;
    (void)value;
    return 0;
}

/* In the order in which they are read. */
static const struct {
    const char *key;
    int (*take)(struct reader *r, const char *key, const json_t *value);
} keys[] = {
    { "type", take_type },
    { "transport", take_type },
    { "command", take_command },
    { "args", take_args },
    { "env", take_env },
    { "cwd", take_cwd },
    { "url", take_url },
    { "headers", take_headers },
    { "ca", take_ca },
    { "allow", take_allow },
    { "deny", take_deny },
    { "approval", take_approval },
    { "timeout", take_timeout },
    { "tool_timeouts", take_timeouts },
    { "start_timeout", take_start },
    { "passthrough", take_passthrough },
    { "disabled", take_nothing }, /* see is_disabled() */
    { "enabled", take_nothing },
    { "description", take_nothing },
    { "name", take_nothing },
};

/* A key that nobody here knows may be another agent's; one that is nearly ours is a mistake. */
static int pass_over(struct reader *r, const char *key)
{
    struct suggestion near = { .typed = key, .typed_len = strlen(key) };
    char text[200];

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        suggestion_offer(&near, keys[i].key);
    if (near.best)
        return fail(r, "unknown key '%.60s': did you mean '%s'?", key, near.best);
    (void)snprintf(text, sizeof(text), "the key '%.60s' of the server '%.60s' means nothing here",
                   key, r->spec->key);
    r->note(r->data, text);
    return 0;
}

static bool is_disabled(const json_t *server)
{
    return json_is_true(json_object_get(server, "disabled")) ||
           json_is_false(json_object_get(server, "enabled"));
}

/* ---- names ---- */

bool ident_of(const char *text, bool is_global, char *ret, size_t size)
{
    size_t n = 0;
    bool has_any = false;

    if (isdigit((unsigned char)text[0]))
        ret[n++] = '_';
    for (; *text && n + 2 < size; text++) {
        bool is_word = isalnum((unsigned char)*text) || *text == '_';

        has_any = has_any || is_word;
        ret[n++] = (char)((unsigned char)*text < 128 && is_word ? *text : '_');
    }
    ret[n] = '\0';
    if (!(is_global ? name_is_function(ret) : name_is_variable(ret))) {
        ret[n] = '_'; /* a keyword, or a builtin */
        ret[n + 1] = '\0';
    }
    return has_any && !*text && (is_global ? name_is_function(ret) : name_is_variable(ret));
}

static int name_server(struct reader *r, const struct servers *before)
{
    char ident[SERVER_IDENT_MAX];

    if (!ident_of(r->spec->key, true, ident, sizeof(ident)))
        return fail(r, "its name cannot be made one that programs can use");
    for (size_t i = 0; i < before->count; i++)
        if (strcmp(before->list[i].ident, ident) == 0)
            return fail(r, "programs would find it as '%s', which is also the server '%.60s'",
                        ident, before->list[i].key);
    r->spec->ident = strdup(ident);
    return r->spec->ident ? 0 : gb_fail(r->err, GB_E_SYSTEM, ENOMEM, "reading the servers");
}

/* ---- one server ---- */

/* A server gets what programs cannot do without, and what is configured: other variables of ours
 * may be keys that are none of its business. */
static int add_usual_env(struct server_spec *spec)
{
    static const char *const usual[] = { "HOME",          "LANG",           "LC_ALL",
                                         "LOGNAME",       "PATH",           "SHELL",
                                         "TERM",          "TMPDIR",         "TZ",
                                         "USER",          "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
                                         "XDG_DATA_HOME", "XDG_RUNTIME_DIR" };
    size_t n = 0, given;
    char **list;

    while (spec->env && spec->env[n])
        n++;
    given = n;
    list = realloc(spec->env, (n + ARRAY_LEN(usual) + 1) * sizeof(*list));
    if (!list)
        return -1;
    spec->env = list;
    for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
        const char *value = getenv(usual[i]);
        size_t len = strlen(usual[i]);
        bool is_given = false;

        for (size_t k = 0; k < given; k++)
            is_given = is_given || (strncmp(list[k], usual[i], len) == 0 && list[k][len] == '=');
        if (value && !is_given && asprintf(&list[n], "%s=%s", usual[i], value) >= 0)
            n++;
    }
    list[n] = NULL;
    return 0;
}

static int check_whole(struct reader *r)
{
    const struct server_spec *s = r->spec;

    if (!s->argv == !s->url)
        return fail(r, s->argv ? "has a command and a url: it is one or the other"
                               : "has neither a command nor a url");
    if (s->argv && (s->headers || s->ca))
        return fail(r, "headers and ca are for a server with a url");
    if (s->url && (s->env || s->cwd))
        return fail(r, "env and cwd are for a server with a command");
    if (s->argv && add_usual_env(r->spec) < 0)
        return gb_fail(r->err, GB_E_SYSTEM, ENOMEM, "reading the servers");
    return 0;
}

static int read_keys(struct reader *r, const json_t *server)
{
    const char *key;
    json_t *value;

    if (!json_is_object(server))
        return fail(r, "must be an object");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        value = json_object_get(server, keys[i].key);
        if (value && keys[i].take(r, keys[i].key, value) < 0)
            return -1;
    }
    json_object_foreach (json_shared(server), key, value) {
        size_t i = 0;

        while (i < ARRAY_LEN(keys) && strcmp(keys[i].key, key) != 0)
            i++;
        if (i == ARRAY_LEN(keys) && pass_over(r, key) < 0)
            return -1;
    }
    return check_whole(r);
}

static void spec_done(struct server_spec *s)
{
    strings_free(s->argv);
    strings_free(s->env);
    strings_free(s->headers);
    free(s->key);
    free(s->ident);
    free(s->cwd);
    free(s->url);
    free(s->ca);
    json_decref(s->allow);
    json_decref(s->deny);
    json_decref(s->approval);
    json_decref(s->timeouts);
}

/* Clients find "server__tool": could a tool of the longer name's server be one of the shorter's? */
static bool is_ambiguous(const char *one, const char *other)
{
    size_t n = strlen(one) < strlen(other) ? strlen(one) : strlen(other);
    const char *rest = strlen(one) > n ? one + n : other + n;

    return strncmp(one, other, n) == 0 && (strcmp(rest, "_") == 0 || strncmp(rest, "__", 2) == 0);
}

static int check_passthrough(struct reader *r, const struct servers *before)
{
    for (size_t i = 0; r->spec->is_passthrough && i < before->count; i++)
        if (before->list[i].is_passthrough && is_ambiguous(r->spec->ident, before->list[i].ident))
            return fail(r, "passthrough: clients could not tell its tools from those of '%.60s'",
                        before->list[i].key);
    return 0;
}

static int read_server(struct reader *r, struct servers *all, const char *key, const json_t *server)
{
    struct server_spec *spec = &all->list[all->count];

    *spec =
        (struct server_spec){ .key = strdup(key), .timeout_ms = TIMEOUT_MS, .start_ms = START_MS };
    r->spec = spec;
    if (spec->key && name_server(r, all) == 0 && read_keys(r, server) == 0 &&
        check_passthrough(r, all) == 0) {
        all->count++;
        return 0;
    }
    spec_done(spec);
    return gb_fail_wrap(r->err, "the server '%.60s'", key);
}

/* ---- all ---- */

/* The object of servers, wherever it is. */
static const json_t *find_servers(const json_t *config)
{
    const json_t *at = json_object_get(config, "mcpServers");

    if (!at)
        at = json_object_get(config, "servers");
    return at ? at : config;
}

int servers_read(const json_t *config, struct servers *ret,
                 void (*note)(void *data, const char *text), void *data, struct gb_err *err)
{
    const json_t *servers = find_servers(config);
    struct reader r = { .note = note, .data = data, .err = err };
    struct servers all = { 0 };
    const char *key;
    json_t *server;

    if (!json_is_object(servers) || json_object_size(servers) > SERVERS_MAX)
        return gb_fail(err, GB_E_INVALID, 0,
                       "must be {\"mcpServers\": {NAME: {...}}}, with at most %d servers",
                       SERVERS_MAX);
    all.list = calloc(json_object_size(servers) + 1, sizeof(*all.list));
    if (!all.list)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the servers");
    json_object_foreach (json_shared(servers), key, server) {
        if (!is_disabled(server) && read_server(&r, &all, key, server) < 0) {
            servers_done(&all);
            return -1;
        }
    }
    *ret = all;
    return 0;
}

void servers_done(struct servers *servers)
{
    for (size_t i = 0; i < servers->count; i++)
        spec_done(&servers->list[i]);
    free(servers->list);
    *servers = (struct servers){ 0 };
}

/* ---- what is done with a tool ---- */

bool server_lists(const json_t *patterns, const char *tool)
{
    for (size_t i = 0; i < json_array_size(patterns); i++)
        if (fnmatch(json_string_value(json_array_get(patterns, i)), tool, 0) == 0)
            return true;
    return false;
}

bool server_offers(const struct server_spec *spec, const char *tool)
{
    return (!spec->allow || server_lists(spec->allow, tool)) && !server_lists(spec->deny, tool);
}

uint64_t server_timeout_ms(const struct server_spec *spec, const char *tool)
{
    uint64_t ms = spec->timeout_ms;
    const char *pattern;
    json_t *seconds;

    json_object_foreach (spec->timeouts, pattern, seconds)
        if (fnmatch(pattern, tool, 0) == 0 && read_seconds(seconds, &ms))
            return ms;
    return ms;
}

/* ---- credentials ---- */

static void scrub_text(const char *value, size_t len, char *text)
{
    char *at = text;

    while ((at = memmem(at, strlen(at), value, len))) {
        memset(at, '*', len);
        at += len;
    }
}

/* As it is, and as JSON has it. */
static void scrub_value(const char *value, char *text)
{
    auto_json json_t *string = json_string(value);
    auto_free char *written = string ? json_text(string) : NULL;

    if (strlen(value) < SECRET_MIN)
        return;
    scrub_text(value, strlen(value), text);
    if (written)
        scrub_text(written + 1, strlen(written) - 2, text);
}

static bool has_any(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(text, *words))
            return true;
    return false;
}

/* "NAME=VALUE". An address is one only where it has somebody's name, or more, in it. */
static bool sounds_secret(const char *pair)
{
    static const char *const secrets[] = { "KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CRED", NULL };
    static const char *const addresses[] = { "CONNECTION", "DSN", "URL", "URI", NULL };
    auto_free char *name = strndup(pair, strcspn(pair, "="));

    return !name || has_any(name, secrets) || (has_any(name, addresses) && strpbrk(pair, "@?;"));
}

/* Headers that everybody sends. */
static bool is_public(const char *header)
{
    static const char *const names[] = { "Accept",     "Accept-Language", "Content-Type",
                                         "User-Agent", "Origin",          "Referer" };
    size_t len = strcspn(header, ":");

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strlen(names[i]) == len && strncasecmp(header, names[i], len) == 0)
            return true;
    return false;
}

void server_scrub(const struct server_spec *spec, char *text)
{
    for (char **at = spec->headers; at && *at; at++) {
        const char *value = strstr(*at, ": ") + 2, *space = strchr(value, ' ');

        if (is_public(*at))
            continue;
        scrub_value(value, text);
        if (space)
            scrub_value(space + 1, text); /* what comes behind "Bearer" */
    }
    for (char **at = spec->env; at && *at; at++)
        if (sounds_secret(*at))
            scrub_value(strchr(*at, '=') + 1, text);
}
