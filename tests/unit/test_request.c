/* Requests as they come from outside: refused with a message that names the key, or understood. */
#include "unit.h"

#include "base/json.h"
#include "engine/request.h"

static struct config config;

static int setup(void **state)
{
    struct gb_err err = { 0 };

    (void)state;
    return config_init(&config,
                       "{\"extension_dir\": \"/nowhere\", \"allow_request\": [\"prelude\"]}", &err);
}

static int teardown(void **state)
{
    (void)state;
    config_done(&config);
    return 0;
}

/* JSON with single quotes for double ones. The caller frees it. */
static char *quoted(const char *text)
{
    char *copy = strdup(text);

    assert_non_null(copy);
    for (char *at = strchr(copy, '\''); at; at = strchr(at, '\''))
        *at = '"';
    return copy;
}

static int read_text(const char *text, struct request *r, struct gb_err *err)
{
    char *json = quoted(text);
    int result;

    *err = (struct gb_err){ 0 };
    result = request_read(&config, json, r, err);
    free(json);
    return result;
}

static void read_good(const char *text, struct request *r)
{
    struct gb_err err;

    if (read_text(text, r, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
}

/* Of what the guest gets. */
static const char *program_text(const struct request *r, const char *key)
{
    return json_string_value(json_object_get(r->program, key));
}

static const struct {
    const char *text, *want;
} refused[] = {
    { "", "the request is not JSON: " },
    { "{", "the request is not JSON: " },
    { "{} x", "the request is not JSON: " },
    { "{'code': 'a', 'code': 'b'}", "the request is not JSON: duplicate object key" },
    { "{'code': '', 'limits': {'cpu': 1, 'cpu': 2}}", "the request is not JSON: duplicate" },
    { "{'code': '\xff'}", "the request is not JSON: " },
    { "{'code': '\\ud800'}", "the request is not JSON: " },
    { "[]", "the request is not a JSON object" },
    { "[{'code': ''}]", "the request is not a JSON object" },
    { "{}", "the request has no 'code'" },
    { "{'id': 1}", "the request has no 'code'" },
    { "{'code': '', 'Code': ''}", "unknown key 'Code' in the request" },
    { "{'code': '', '': 1}", "unknown key '' in the request" },
    { "{'code': '', 'memory': '64M'}", "unknown key 'memory' in the request" },
    { "{'code': '', 'allow_request': []}", "unknown key 'allow_request' in the request" },
    { "{'code': '', 'python': '/x'}", "unknown key 'python' in the request" },
    { "{'code': null}", "code: must be a string" },
    { "{'code': 1}", "code: must be a string" },
    { "{'code': ['a']}", "code: must be a string" },
    { "{'code': '', 'kind': 'ruby'}", "kind: must be" },
    { "{'code': '', 'kind': null}", "kind: must be" },
    { "{'code_base64': 'A'}", "code_base64: must be base64" },
    { "{'code_base64': '*'}", "code_base64: must be base64" },
    { "{'code_base64': 1}", "code_base64: must be base64" },
    { "{'code_base64': null}", "code_base64: must be base64" },
    { "{'code': 'a', 'code_base64': 'Yg=='}", "code: and code_base64 say the same thing twice" },
    { "{'code_base64': 'Yg==', 'code': 'a'}", "code: and code_base64 say the same thing twice" },
    { "{'kind': 'shell', 'command': 'a', 'command_base64': 'Yg=='}",
      "command: and command_base64 say the same thing twice" },
    { "{'code': '', 'stdin': 'a', 'stdin_base64': 'Yg=='}",
      "stdin: and stdin_base64 say the same thing twice" },
    { "{'code': 'a', 'command': 'b'}", "command: is for the kind 'shell'" },
    { "{'code': 'a', 'command_base64': 'Yg=='}", "command_base64: is for the kind 'shell'" },
    { "{'command_base64': 'Yg=='}", "command_base64: is for the kind 'shell'" },
    { "{'kind': 'shell', 'command': 'a', 'code_base64': 'Yg=='}",
      "code_base64: is not for the kind" },
    { "{'code': 'a', 'kind': 'session', 'op': 'inspect', 'session': 's'}",
      "code: is not for the kind 'session'" },
    { "{'code': '', 'files': {'a': {'base64': 'Yg==', 'text': 'b'}}}",
      "files: 'a' must be a string" },
    { "{'code': '', 'stdin': 1}", "stdin: must be a string" },
    { "{'code': '', 'stdin': null}", "stdin: must be a string" },
    { "{'code': '', 'stdin_base64': 'a b='}", "stdin_base64: must be base64" },
    { "{'code': '', 'stdin_base64': {}}", "stdin_base64: must be base64" },
    { "{'code': '', 'filename': 1}", "filename: must be a string" },
    { "{'code': '', 'filename': 'a\\u0000b'}", "filename: must be a string without NUL" },
    { "{'code': '', 'prelude': []}", "prelude: must be a string" },
    { "{'code': '', 'argv': 'a'}", "argv: must be a list of strings" },
    { "{'code': '', 'argv': ['a', 1]}", "argv: must be a list of strings" },
    { "{'code': '', 'inputs': []}", "inputs: must be an object" },
    { "{'code': '', 'env': []}", "env: must be an object of strings" },
    { "{'code': '', 'env': {'A': 1}}", "env: 'A' must be a name with a string" },
    { "{'code': '', 'env': {'A': null}}", "env: 'A' must be a name with a string" },
    { "{'code': '', 'env': {'': 'x'}}", "env: '' must be a name with a string" },
    { "{'code': '', 'env': {'A=B': 'x'}}", "env: 'A=B' must be a name with a string" },
    { "{'code': '', 'env': {'A': 'x\\u0000'}}", "env: 'A' must be a name with a string" },
    { "{'code': '', 'timeout': 'x'}", "timeout: must be a number of seconds" },
    { "{'code': '', 'timeout': 31}", "timeout: 31 s is looser than the configured 30 s" },
    { "{'code': '', 'limits': 1}", "limits: must be an object" },
    { "{'code': '', 'limits': {'ram': 1}}", "limits: unknown key 'ram'" },
    { "{'code': '', 'limits': {'memory': 1}}", "limits.memory: must be between 16M and 1T" },
    { "{'code': '', 'limits': {'processes': 65}}", "limits.processes: 65 is looser than" },
    { "{'code': '', 'network': 'host'}", "network: host is looser than the configured none" },
    { "{'code': '', 'isolation': 'none'}", "isolation: none is looser than the configured" },
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct request r;
        struct gb_err err;

        if (read_text(refused[i].text, &r, &err) != -1)
            fail_msg("%s was taken", refused[i].text);
        assert_int_equal(err.code, GB_E_INVALID);
        if (strncmp(err.msg, refused[i].want, strlen(refused[i].want)) != 0)
            fail_msg("%s: '%s', not '%s'", refused[i].text, err.msg, refused[i].want);
        request_done(&r);
    }
}

static void test_what_was_meant(void **state)
{
    static const char *const cases[][2] = {
        { "{'cod': ''}", "did you mean 'code'?" },
        { "{'code': '', 'sessoin': 'a'}", "did you mean 'session'?" },
        { "{'code': '', 'timeuot': 1}", "did you mean 'timeout'?" },
        { "{'code': '', 'block_imports': []}", "did you mean 'block_import'?" },
        { "{'code': '', 'mount': []}", "did you mean 'mounts'?" },
        { "{'code': '', 'memory': 1}", "it goes into 'limits': \"limits\": {\"memory\": ...}" },
        { "{'code': '', 'xyzzy': 1}", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct request r;
        struct gb_err err;

        assert_int_equal(read_text(cases[i][0], &r, &err), -1);
        assert_string_equal(err.hint, cases[i][1]);
        request_done(&r);
    }
}

static void test_the_id_is_kept(void **state)
{
    static const char *const cases[] = {
        "{'id': 'a1', 'nonsense': 1}",
        "{'nonsense': 1, 'id': 'a1'}",
        "{'id': 'a1'}",
        "{'code': 7, 'id': 'a1'}",
        "{'timeout': -1, 'id': 'a1'}",
        "{'id': 'a1', 'code': ''}",
        "{'limits': {'ram': 1}, 'id': 'a1'}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct request r;
        struct gb_err err;

        (void)read_text(cases[i], &r, &err);
        assert_string_equal(json_string_value(r.id), "a1");
        request_done(&r);
    }
}

static void test_any_id(void **state)
{
    static const char *const ids[] = { "null", "7", "-1.5", "[1,2]", "{\"a\":1}", "true", "\"\"" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct request r;
        char text[60];

        (void)snprintf(text, sizeof(text), "{'code': '', 'id': %s}", ids[i]);
        read_good(text, &r);
        char *id = json_text(r.id);
        assert_string_equal(id, ids[i]);
        free(id);
        request_done(&r);
    }
    struct request r;
    read_good("{'code': ''}", &r);
    assert_null(r.id);
    request_done(&r);
}

static void test_what_the_guest_gets(void **state)
{
    struct request r;

    (void)state;
    read_good("{'id': 1, 'kind': 'python', 'code': 'x + 1', 'filename': 'f.py', 'prelude': 'y = 2',"
              " 'argv': ['a', ''], 'inputs': {'x': [1, null]}, 'env': {'MODE': 'test'},"
              " 'timeout': 5, 'limits': {'memory': '64M', 'processes': 16}, 'policy': 'standard'}",
              &r);
    auto_json json_t *rules = json_incref(json_object_get(r.program, "check"));
    assert_string_equal(json_string_value(json_object_get(rules, "policy")), "standard");
    json_object_del(r.program, "check"); /* test_policy.c looks at it */
    char *text = json_text(r.program);
    char *want = quoted("{'code':'x + 1','filename':'f.py','prelude':'y = 2','argv':['a',''],"
                        "'inputs':{'x':[1,null]},'env':{'MODE':'test'}}");
    assert_string_equal(text, want); /* the program's own business, and no setting */
    assert_int_equal(r.settings.timeout_ms, 5000);
    assert_int_equal(r.settings.memory_bytes, 64 << 20);
    assert_int_equal(r.settings.processes, 16);
    assert_int_equal(r.settings.policy, POLICY_STANDARD);
    assert_int_equal(r.settings.disk_bytes, config.settings.disk_bytes);
    assert_int_equal(r.bad_byte, -1);
    assert_null(r.stdin_data);
    free(text);
    free(want);
    request_done(&r);
}

static void test_code_may_hold_nul(void **state)
{
    struct request r;

    (void)state;
    read_good("{'code': 'a\\u0000b', 'stdin': 'c\\u0000d', 'inputs': {'x': '\\u0000'}}", &r);
    json_t *code = json_object_get(r.program, "code");
    assert_int_equal(json_string_length(code), 3);
    assert_memory_equal(json_string_value(code), "a\0b", 3);
    assert_int_equal(r.stdin_bytes, 3);
    assert_memory_equal(r.stdin_data, "c\0d", 3);
    request_done(&r);
}

static void test_base64(void **state)
{
    static const struct {
        const char *text, *code;
        int64_t bad_byte;
    } cases[] = {
        { "{'code_base64': ''}", "", -1 },
        { "{'code_base64': 'MSArIDE='}", "1 + 1", -1 },
        { "{'code_base64': 'MSArIDE'}", "1 + 1", -1 },
        { "{'code_base64': 'w7w='}", "\xc3\xbc", -1 },
        { "{'code_base64': 'Yf8='}", "", 1 },
        { "{'code_base64': '7aCA'}", "", 0 }, /* a surrogate */
        { "{'code_base64': 'YWLDvMM='}", "", 4 },
        { "{'code_base64': 'YQoACg=='}", "a\n", 2 }, /* a NUL */
    };
    struct request r;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        read_good(cases[i].text, &r);
        assert_string_equal(program_text(&r, "code"), cases[i].code);
        assert_null(json_object_get(r.program, "code_base64"));
        assert_int_equal(r.bad_byte, cases[i].bad_byte);
        request_done(&r);
    }
    read_good("{'code': '', 'stdin_base64': '/wAK'}", &r);
    assert_int_equal(r.stdin_bytes, 3);
    assert_memory_equal(r.stdin_data, "\xff\0\n", 3);
    request_done(&r);
    read_good("{'code': '', 'stdin': ''}", &r);
    assert_int_equal(r.stdin_bytes, 0);
    request_done(&r);
}

/* A NUL ends what strdup() copies, but not the string: nothing may be looked for beyond it. */
static void test_base64_with_nul(void **state)
{
    static const char *const starts[] = { "{'code_base64': 'QUJD\\u0000",
                                          "{'code': '', 'stdin_base64': 'QUJD\\u0000" };
    static const size_t more[] = { 0, 1, 4, 4 << 20 };
    char *text = malloc((4 << 20) + 100);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < ARRAY_LEN(starts) * ARRAY_LEN(more); i++) {
        const char *start = starts[i / ARRAY_LEN(more)];
        size_t len = more[i % ARRAY_LEN(more)];
        struct request r;
        struct gb_err err;

        char *at = stpcpy(text, start);
        memset(at, 'A', len);
        memcpy(at + len, "'}", 3);
        assert_int_equal(read_text(text, &r, &err), -1);
        assert_non_null(strstr(err.msg, "must be base64"));
        request_done(&r);
    }
    free(text);
}

static void test_names_of_inputs(void **state)
{
    static const struct {
        const char *name;
        bool good;
    } cases[] = {
        { "x", true },      { "_", true },     { "x1", true },      { "__name__", true },
        { "print", true },  { "match", true }, { "true", true },    { "X_9", true },
        { "", false },      { "1x", false },   { "a-b", false },    { "a b", false },
        { "a.b", false },   { "x\\n", false }, { "None", false },   { "True", false },
        { "class", false }, { "def", false },  { "lambda", false }, { "yield", false },
        { "async", false }, { "if", false },   { "import", false }, { "nonlocal", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct request r;
        struct gb_err err;
        char text[80];

        (void)snprintf(text, sizeof(text), "{'code': '', 'inputs': {'%s': 1}}", cases[i].name);
        if (read_text(text, &r, &err) != (cases[i].good ? 0 : -1))
            fail_msg("'%s': %s", cases[i].name, err.msg);
        if (!cases[i].good)
            assert_non_null(strstr(err.msg, "is not a variable's name"));
        request_done(&r);
    }
}

/* ---- sizes ---- */

/* {"code": "", KEY: a string of `len` times 'A'} */
static int read_long(const char *key, size_t len, struct request *r, struct gb_err *err)
{
    char *text = malloc(len + 100);

    assert_non_null(text);
    int n = snprintf(text, 100, "{\"code\": \"\", \"%s\": \"", key);
    if (strncmp(key, "code", 4) == 0)
        n = snprintf(text, 100, "{\"%s\": \"", key);
    memset(text + n, 'A', len);
    memcpy(text + (size_t)n + len, "\"}", 3);
    *err = (struct gb_err){ 0 };
    int result = request_read(&config, text, r, err);
    free(text);
    return result;
}

static void test_sizes(void **state)
{
    static const struct {
        const char *key;
        size_t len; /* of the string, just as long as may be */
        const char *want;
    } cases[] = {
        { "code", CODE_MAX, "code: 1048577 bytes are more than the 1 MiB allowed" },
        { "code_base64", CODE_MAX / 3 * 4 + 2,
          "code: 1048577 bytes are more than the 1 MiB allowed" },
        { "prelude", CODE_MAX, "prelude: 1048577 bytes are more than the 1 MiB allowed" },
        { "filename", CODE_MAX, "filename: 1048577 bytes are more than the 1 MiB allowed" },
        { "stdin", STDIN_MAX, "stdin: 67108865 bytes are more than the 64 MiB allowed" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct request r;
        struct gb_err err;

        if (cases[i].len < STDIN_MAX) { /* which takes a second each time */
            if (read_long(cases[i].key, cases[i].len, &r, &err) != 0)
                fail_msg("%s: %s", cases[i].key, err.msg);
            request_done(&r);
        }
        assert_int_equal(read_long(cases[i].key, cases[i].len + 1, &r, &err), -1);
        assert_int_equal(err.code, GB_E_LIMIT);
        assert_string_equal(err.msg, cases[i].want);
        request_done(&r);
    }
}

static void test_what_the_operator_allows(void **state)
{
    struct config open;
    struct request r;
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(config_init(&open,
                                 "{\"extension_dir\": \"/nowhere\", \"timeout\": 1,"
                                 " \"allow_request\": [\"timeout\", \"memory\"]}",
                                 &err),
                     0);
    assert_int_equal(request_read(&open,
                                  "{\"code\": \"\", \"timeout\": 2,"
                                  " \"limits\": {\"memory\": \"1G\"}}",
                                  &r, &err),
                     0);
    assert_int_equal(r.settings.timeout_ms, 2000);
    assert_int_equal(r.settings.memory_bytes, 1 << 30);
    request_done(&r);
    assert_int_equal(
        request_read(&open, "{\"code\": \"\", \"limits\": {\"disk\": \"1G\"}}", &r, &err), -1);
    request_done(&r);
    config_done(&open);
}

/* It is the operator's: strict does not look at what is in it. */
static void test_the_prelude(void **state)
{
    struct config own;
    struct request r;
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(
        config_init(&own, "{\"extension_dir\": \"/nowhere\", \"prelude\": \"x = 1\"}", &err), 0);
    assert_int_equal(request_read(&own, "{\"code\": \"x\"}", &r, &err), 0);
    assert_string_equal(program_text(&r, "prelude"), "x = 1");
    request_done(&r);
    assert_int_equal(request_read(&own, "{\"code\": \"x\", \"prelude\": \"\"}", &r, &err), -1);
    assert_int_equal(err.code, GB_E_INVALID);
    assert_string_equal(err.msg, "prelude: is the operator's, and no key of a request");
    request_done(&r);
    config_done(&own);
}

static void test_configurations(void **state)
{
    static const struct {
        const char *text, *want; /* NULL: taken */
    } cases[] = {
        { "{'extension_dir': '/x', 'pool': 0, 'oneshot': true, 'env': {'A': 'b'}}", NULL },
        { "[]", "the configuration is not a JSON object: " },
        { "{", "the configuration is not a JSON object: " },
        { "{'pool': 1, 'pool': 2}", "the configuration is not a JSON object: duplicate" },
        { "{'nonsense': 1}", "nonsense: unknown key in the configuration" },
        { "{'limits': {}}", "limits: unknown key in the configuration" },
        { "{'timeuot': 1}", "timeuot: unknown key in the configuration (did you mean 'timeout'?)" },
        { "{'block_imports': []}",
          "block_imports: unknown key in the configuration (did you mean 'block_import'?)" },
        { "{'review_keys': ''}",
          "review_keys: unknown key in the configuration (did you mean 'review_key'?)" },
        { "{'policy': 'off', 'block_import': ['x']}",
          "block_import: has no meaning under policy 'off'" },
        { "{'pool': 65}", "pool: must be between 0 and 64" },
        { "{'pool': -1}", "pool: must be between 0 and 64" },
        { "{'pool': 1.5}", "pool: must be between 0 and 64" },
        { "{'oneshot': 1}", "oneshot: must be true or false" },
        { "{'acknowledge_unsafe': 'yes'}", "acknowledge_unsafe: must be true or false" },
        { "{'env': []}", "env: must be an object of strings" },
        { "{'env': {'A=': 'x'}}", "env: 'A=' must be a name with a string" },
        { "{'preload': 'json'}", "preload: must be a list of strings" },
        { "{'preload': [1]}", "preload: must be a list of strings" },
        { "{'allow_request': [null]}", "allow_request: must be a list of strings" },
        { "{'allow_request': ['memroy']}", "allow_request: a request cannot loosen 'memroy'" },
        { "{'allow_request': ['pool']}", "allow_request: a request cannot loosen 'pool'" },
        { "{'python': ''}", "python: must not be empty" },
        { "{'extension_dir': 1}", "extension_dir: must be a string" },
        { "{'timeout': 0}", "timeout: must be between " },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = quoted(cases[i].text);
        struct gb_err err = { 0 };
        struct config c;

        int r = config_init(&c, text, &err);
        if (r == 0)
            config_done(&c);
        if (r != (cases[i].want ? -1 : 0))
            fail_msg("%s: %s", cases[i].text, err.msg);
        if (cases[i].want && strncmp(err.msg, cases[i].want, strlen(cases[i].want)) != 0)
            fail_msg("%s: '%s', not '%s'", cases[i].text, err.msg, cases[i].want);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_what_was_meant),
        cmocka_unit_test(test_the_id_is_kept),
        cmocka_unit_test(test_any_id),
        cmocka_unit_test(test_what_the_guest_gets),
        cmocka_unit_test(test_code_may_hold_nul),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_base64_with_nul),
        cmocka_unit_test(test_names_of_inputs),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_what_the_operator_allows),
        cmocka_unit_test(test_the_prelude),
        cmocka_unit_test(test_configurations),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
