/* Whatever of a request decides what executes is shown to those who agree to it, and digested. */
#include "unit.h"

#include "base/json.h"
#include "engine/manifest.h"

static struct config config;

static int setup(void **state)
{
    struct gb_err err = { 0 };

    (void)state;
    return config_init(
        &config,
        "{\"extension_dir\": \"/nowhere\", \"allow_request\": [\"prelude\", \"network\"],"
        " \"mounts\": [{\"host\": \"/tmp\", \"name\": \"tmp\"}],"
        " \"tools\": [{\"name\": \"look\"}, {\"name\": \"send\"}]}",
        &err);
}

static int teardown(void **state)
{
    (void)state;
    config_done(&config);
    return 0;
}

/* JSON with single quotes for double ones; a request, to be freed with request_done(). */
static void read_good(const char *text, struct request *r)
{
    char *json = strdup(text);
    struct gb_err err = { 0 };

    assert_non_null(json);
    for (char *at = strchr(json, '\''); at; at = strchr(at, '\''))
        *at = '"';
    if (request_read(&config, json, r, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    free(json);
}

static void digest_of(const char *text, char ret[DIGEST_HEX + 1])
{
    struct request r;

    read_good(text, &r);
    ret[0] = '\0';
    manifest_digest(&r, &config, ret);
    assert_int_equal(strlen(ret), DIGEST_HEX);
    request_done(&r);
}

static bool parts_have(const char *text, const char *needle)
{
    struct request r;
    struct gb_err err = { 0 };
    bool has = false;

    read_good(text, &r);
    auto_json json_t *parts = manifest_parts(&r, &config, &err);
    assert_non_null(parts);
    for (size_t i = 0; i < json_array_size(parts); i++)
        has |= strstr(json_string_at(json_array_get(parts, i), "text", ""), needle) != NULL;
    request_done(&r);
    return has;
}

#define PY "{'code': 'pass'"
#define SH "{'kind': 'shell', 'command': 'true'"
#define TY "{'kind': 'session', 'op': 'type', 'session': 's'"

/* For each key that is shown: a request with it, and without it or with another value; what of it
 * must be in the parts, unless the question has it elsewhere; whether the digest must tell them
 * apart. */
static const struct {
    const char *key, *with, *without, *needle;
    bool is_digested;
} shown[] = {
    { "id", PY ", 'id': 'N'}", PY "}", NULL, false },
    { "kind", SH "}", "{'code': 'true'}", NULL, true },
    { "code", "{'code': 'NEEDLE'}", PY "}", "NEEDLE", true },
    { "code_base64", "{'code_base64': 'TkVFRExF'}", PY "}", "NEEDLE", true },
    { "command", "{'kind': 'shell', 'command': 'NEEDLE'}", SH "}", "NEEDLE", true },
    { "command_base64", "{'kind': 'shell', 'command_base64': 'TkVFRExF'}", SH "}", "NEEDLE", true },
    { "filename", PY ", 'filename': 'n.py'}", PY "}", NULL, true },
    { "prelude", PY ", 'prelude': 'NEEDLE'}", PY "}", "NEEDLE", true },
    { "argv", PY ", 'argv': ['NEEDLE']}", PY "}", "NEEDLE", true },
    { "inputs", PY ", 'inputs': {'n': 'NEEDLE'}}", PY "}", "NEEDLE", true },
    { "env", PY ", 'env': {'N': 'NEEDLE'}}", PY "}", "NEEDLE", true },
    { "stdin", PY ", 'stdin': 'NEEDLE'}", PY "}", "NEEDLE", true },
    { "stdin_base64", PY ", 'stdin_base64': 'TkVFRExF'}", PY "}", "NEEDLE", true },
    { "tools", PY ", 'tools': ['look']}", PY "}", NULL, true },
    { "files", PY ", 'files': {'n.py': 'NEEDLE'}}", PY "}", "NEEDLE", true },
    { "session", PY ", 'session': 's'}", PY "}", NULL, false },
    { "op", "{'kind': 'session', 'op': 'write_file', 'session': 's', 'files': {'a': 'NEEDLE'}}",
      TY "}", "NEEDLE", true },
    { "text", TY ", 'text': 'NEEDLE'}", TY "}", "NEEDLE", true },
    { "keys", TY ", 'keys': ['up']}", TY "}", "up", true },
    { "mounts", PY ", 'mounts': []}", PY "}", NULL, true },
    { "isolation", PY ", 'isolation': 'namespaces'}", PY "}", NULL, true },
    { "policy", PY ", 'policy': 'strict'}", PY "}", NULL, false },
    { "network", PY ", 'network': 'host'}", PY "}", NULL, true },
    { "backend", PY ", 'backend': 'local'}", PY "}", NULL, false },
    { "clean_env", SH ", 'clean_env': true}", SH "}", "clean_env", true },
    { "confine_workdir", SH ", 'confine_workdir': false}", SH "}", "confine_workdir", true },
    { "pty", SH ", 'session': 's', 'pty': true}", SH "}", "pty", true },
    { "shell", SH ", 'shell': ['sh', '-c', 'NEEDLE']}", SH "}", "NEEDLE", true },
    { "unset_env", SH ", 'unset_env': ['NEEDLE']}", SH "}", "NEEDLE", true },
    { "workdir", SH ", 'workdir': '/NEEDLE'}", SH "}", "NEEDLE", true },
};

/* A new key of a request must be classified in manifest.c, and one that is shown must be here. */
static void test_every_key_is_shown_or_harmless(void **state)
{
    size_t n = 0;
    const char *key, *why;
    bool in_limits;

    (void)state;
    for (; (key = request_key(n)); n++) {
        bool is_shown = manifest_shows(key, &why), has_row = false;

        if (!why)
            fail_msg("'%s' is neither shown nor declared harmless (manifest.c)", key);
        for (size_t i = 0; i < ARRAY_LEN(shown); i++)
            has_row |= strcmp(shown[i].key, key) == 0;
        if (is_shown != has_row)
            fail_msg("'%s' is %s, and has %s row here", key, is_shown ? "shown" : "not shown",
                     has_row ? "a" : "no");
    }
    assert_true(n > 40);
    for (n = 0; (key = settings_request_key(n, &in_limits)); n++)
        if (in_limits && (manifest_shows(key, &why) || !why))
            fail_msg("'limits.%s' is not declared harmless (manifest.c)", key);
    assert_false(manifest_shows("no such key", &why));
    assert_null(why);
}

static void test_what_is_shown(void **state)
{
    char with[DIGEST_HEX + 1], without[DIGEST_HEX + 1];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        digest_of(shown[i].with, with);
        digest_of(shown[i].without, without);
        if (shown[i].is_digested != (strcmp(with, without) != 0))
            fail_msg("%s: its digest is %s", shown[i].key,
                     shown[i].is_digested ? "the same without it" : "another without it");
        if (!shown[i].needle)
            continue;
        if (!parts_have(shown[i].with, shown[i].needle) ||
            parts_have(shown[i].without, shown[i].needle))
            fail_msg("%s: it is not what is shown", shown[i].key);
    }
}

/* Of what is configured, only what decides what runs: the rest may be secret. */
static void test_configured_variables(void **state)
{
    struct config usual = config;
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(config_init(&config,
                                 "{\"extension_dir\": \"/nowhere\", \"env\": {\"PATH\": \"/evil\","
                                 " \"LD_PRELOAD\": \"/x.so\", \"TOKEN\": \"hunter2\"}}",
                                 &err),
                     0);
    assert_true(parts_have(PY "}", "/evil"));
    assert_true(parts_have(PY "}", "/x.so"));
    assert_false(parts_have(PY "}", "TOKEN"));
    assert_false(parts_have(PY "}", "HOME"));
    config_done(&config);
    config = usual;
    assert_false(parts_have(PY "}", "PATH"));
}

/* Values that hold quotes and newlines cannot pass for others. */
static void test_values_stay_one_line(void **state)
{
    (void)state;
    assert_true(parts_have(PY ", 'env': {'A': '1\\nB=2'}}", "{\"A\":\"1\\nB=2\"}"));
}

static void test_too_much(void **state)
{
    char *text = malloc(MANIFEST_MAX + 64);
    struct request r;
    struct gb_err err = { 0 };

    (void)state;
    assert_non_null(text);
    (void)snprintf(text, MANIFEST_MAX + 64, PY ", 'stdin': '%0*d'}", MANIFEST_MAX + 1, 0);
    read_good(text, &r);
    assert_null(manifest_parts(&r, &config, &err));
    assert_int_equal(err.code, GB_E_LIMIT);
    request_done(&r);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key_is_shown_or_harmless),
        cmocka_unit_test(test_what_is_shown),
        cmocka_unit_test(test_configured_variables),
        cmocka_unit_test(test_values_stay_one_line),
        cmocka_unit_test(test_too_much),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
