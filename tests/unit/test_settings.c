/* Settings: what the operator says holds, and a request may only ask for less. */
#include "unit.h"

#include "base/json.h"
#include "engine/settings.h"

/* 'text' with single quotes, since C has the double ones. */
static json_t *json_of(const char *text)
{
    char copy[200];

    (void)snprintf(copy, sizeof(copy), "%s", text);
    for (char *at = strchr(copy, '\''); at; at = strchr(at, '\''))
        *at = '"';
    json_t *json = json_loads(copy, JSON_DECODE_ANY, NULL);
    if (!json)
        fail_msg("not JSON: %s", copy);
    return json;
}

static int configure(struct settings *s, const char *key, const char *value, struct gb_err *err)
{
    auto_json json_t *json = json_of(value);

    return settings_configure(s, key, json, err);
}

static int request(struct settings *s, const char *key, const char *value, const char *allowed,
                   struct gb_err *err)
{
    auto_json json_t *json = json_of(value);
    auto_json json_t *list = allowed ? json_of(allowed) : NULL;
    struct settings configured = *s;

    return settings_request(s, &configured, key, json, list, err);
}

static void test_defaults_of_the_contract(void **state)
{
    struct settings s = settings_default();

    (void)state;
    assert_int_equal(s.timeout_ms, 30000);
    assert_int_equal(s.memory_bytes, 512 << 20);
    assert_int_equal(s.processes, 64);
    assert_int_equal(s.disk_bytes, 256 << 20);
    assert_int_equal(s.open_files, 256);
    assert_int_equal(s.cpu_ms, 0);
    assert_int_equal(s.stdout_bytes, 64 << 10);
    assert_int_equal(s.stderr_bytes, 64 << 10);
    assert_int_equal(s.isolation, ISOLATE_AUTO);
    assert_int_equal(s.policy, POLICY_DEFAULT);
    assert_int_equal(s.network, NETWORK_NONE);
    assert_int_equal(s.backend, 0);
}

static void test_configured_values(void **state)
{
    static const struct {
        const char *key, *value;
        size_t offset;
        uint64_t want;
    } cases[] = {
#define AT(field) offsetof(struct settings, field)
        { "timeout", "2.5", AT(timeout_ms), 2500 },

        { "timeout", "0.001", AT(timeout_ms), 1 },
        { "timeout", "604800", AT(timeout_ms), 604800000 },
        { "memory", "'16M'", AT(memory_bytes), 16 << 20 },
        { "memory", "1073741824", AT(memory_bytes), 1 << 30 },
        { "memory", "'1T'", AT(memory_bytes), (uint64_t)1 << 40 },
        { "disk", "'64K'", AT(disk_bytes), 64 << 10 },
        { "processes", "1", AT(processes), 1 },
        { "processes", "4000", AT(processes), 4000 },
        { "open_files", "16", AT(open_files), 16 },
        { "cpu", "1.5", AT(cpu_ms), 1500 },
        { "stdout_limit", "0", AT(stdout_bytes), 0 },
        { "stderr_limit", "'1G'", AT(stderr_bytes), 1 << 30 },
        { "isolation", "'none'", AT(isolation), ISOLATE_NONE },
        { "isolation", "'process'", AT(isolation), ISOLATE_PROCESS },
        { "isolation", "'landlock'", AT(isolation), ISOLATE_LANDLOCK },
        { "isolation", "'namespaces'", AT(isolation), ISOLATE_NAMESPACES },
        { "isolation", "'auto'", AT(isolation), ISOLATE_AUTO },
        { "policy", "'off'", AT(policy), POLICY_OFF },
        { "policy", "'standard'", AT(policy), POLICY_STANDARD },
        { "policy", "'strict'", AT(policy), POLICY_STRICT },
        { "network", "'host'", AT(network), NETWORK_HOST },
        { "backend", "'local'", AT(backend), 0 },
#undef AT
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct settings s = settings_default();
        struct gb_err err = { 0 };
        uint64_t got;

        if (configure(&s, cases[i].key, cases[i].value, &err) != 1)
            fail_msg("%s = %s: %s", cases[i].key, cases[i].value, err.msg);
        memcpy(&got, (char *)&s + cases[i].offset, sizeof(got));
        assert_int_equal(got, cases[i].want);
    }
}

static void test_unknown_keys_are_not_settings(void **state)
{
    static const char *const keys[] = { "", "Timeout", "stdout", "limits", "timeout_ms", "pool" };
    struct settings s = settings_default(), before = s;
    struct gb_err err = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_int_equal(configure(&s, keys[i], "1", &err), 0);
    assert_int_equal(request(&s, "code", "1", NULL, &err), 0);
    assert_int_equal(request(&s, "memory", "1", NULL, &err), 0); /* it lives in limits */
    assert_memory_equal(&s, &before, sizeof(s));
}

#define ISOLATIONS "must be one of none, process, landlock, namespaces, auto"

static const struct {
    const char *key, *request_key, *value, *want;
} refusals[] = {
    { "timeout", "timeout", "0", "must be between 0.001 s and 604800 s" },
    { "timeout", "timeout", "0.0004", "must be between 0.001 s and 604800 s" },
    { "timeout", "timeout", "604801", "must be between 0.001 s and 604800 s" },
    { "timeout", "timeout", "-1", "must be a number of seconds" },
    { "timeout", "timeout", "1e300", "must be a number of seconds" },
    { "timeout", "timeout", "'soon'", "must be a number of seconds" },
    { "timeout", "timeout", "'2.5'", "must be a number of seconds" },
    { "timeout", "timeout", "null", "must be a number of seconds" },
    { "timeout", "timeout", "true", "must be a number of seconds" },
    { "timeout", "timeout", "[1]", "must be a number of seconds" },
    { "memory", "memory", "'15M'", "must be between 16M and 1T" },
    { "memory", "memory", "1", "must be between 16M and 1T" },
    { "memory", "memory", "'2T'", "must be between 16M and 1T" },
    { "memory", "memory", "9223372036854775807", "must be between 16M and 1T" },
    { "memory", "memory", "-1", "must be a size such as 512M" },
    { "memory", "memory", "1.5", "must be a size such as 512M" },
    { "memory", "memory", "'1.5G'", "must be a size such as 512M" },
    { "memory", "memory", "'99999999999999999999'", "must be a size such as 512M" },
    { "memory", "memory", "{}", "must be a size such as 512M" },
    { "disk", "disk", "'63K'", "must be between 64K and 1T" },
    { "disk", "disk", "'2T'", "must be between 64K and 1T" },
    { "disk", "disk", "false", "must be a size such as 512M" },
    { "processes", "processes", "0", "must be between 1 and 4000" },
    { "processes", "processes", "4001", "must be between 1 and 4000" },
    { "processes", "processes", "'64'", "must be a whole number" },
    { "processes", "processes", "1.0", "must be a whole number" },
    { "processes", "processes", "-1", "must be a whole number" },
    { "open_files", "open_files", "15", "must be between 16 and 1048576" },
    { "open_files", "open_files", "1048577", "must be between 16 and 1048576" },
    { "open_files", "open_files", "null", "must be a whole number" },
    { "cpu", "cpu", "0", "must be between 0.001 s and 604800 s" },
    { "cpu", "cpu", "604801", "must be between 0.001 s and 604800 s" },
    { "cpu", "cpu", "'none'", "must be a number of seconds" },
    { "stdout_limit", "stdout", "'2G'", "must be between 0 and 1G" },
    { "stdout_limit", "stdout", "-1", "must be a size such as 512M" },
    { "stderr_limit", "stderr", "'2G'", "must be between 0 and 1G" },
    { "stderr_limit", "stderr", "[]", "must be a size such as 512M" },
    { "isolation", "isolation", "'docker'", ISOLATIONS },
    { "isolation", "isolation", "''", ISOLATIONS },
    { "isolation", "isolation", "3", ISOLATIONS },
    { "policy", "policy", "'Strict'", "must be one of off, standard, strict" },
    { "policy", "policy", "'default'", "must be one of off, standard, strict" },
    { "policy", "policy", "null", "must be one of off, standard, strict" },
    { "network", "network", "'lan'", "must be one of host, none" },
    { "network", "network", "false", "must be one of host, none" },
    { "backend", "backend", "'e2b'", "must be one of local" },
};

static void assert_message(const struct gb_err *err, const char *key, const char *text)
{
    char want[200];

    (void)snprintf(want, sizeof(want), "%s: %s", key, text);
    assert_int_equal(err->code, GB_E_INVALID);
    assert_string_equal(err->msg, want);
}

static void test_refusals_name_the_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct settings s = settings_default();
        struct gb_err err = { 0 };

        if (configure(&s, refusals[i].key, refusals[i].value, &err) != -1)
            fail_msg("%s = %s was taken", refusals[i].key, refusals[i].value);
        assert_message(&err, refusals[i].key, refusals[i].want);
    }
}

static bool is_limit(const char *key)
{
    static const char *const outside[] = { "timeout", "isolation", "policy", "network", "backend" };

    for (size_t i = 0; i < ARRAY_LEN(outside); i++)
        if (strcmp(key, outside[i]) == 0)
            return false;
    return true;
}

static void test_requests_are_refused_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct settings s = settings_default(), before = s;
        const char *key = refusals[i].request_key;
        struct gb_err err = { 0 };
        char value[100], name[40];

        if (is_limit(key)) {
            (void)snprintf(value, sizeof(value), "{'%s': %s}", key, refusals[i].value);
            (void)snprintf(name, sizeof(name), "limits.%s", key);
            assert_int_equal(request(&s, "limits", value, NULL, &err), -1);
        } else {
            (void)snprintf(name, sizeof(name), "%s", key);
            assert_int_equal(request(&s, key, refusals[i].value, NULL, &err), -1);
        }
        assert_message(&err, name, refusals[i].want);
        assert_memory_equal(&s, &before, sizeof(s));
    }
}

/* ---- tightening ---- */

static const struct {
    const char *key, *configured; /* NULL: the default */
    const char *request_key, *value;
    const char *refused; /* the message, or NULL: taken */
} tightening[] = {
    { "timeout", NULL, "timeout", "30", NULL },
    { "timeout", NULL, "timeout", "0.5", NULL },
    { "timeout", NULL, "timeout", "30.001",
      "timeout: 30.001 s is looser than the configured 30 s" },
    { "timeout", "60", "timeout", "60", NULL },
    { "memory", NULL, "limits", "{'memory': '512M'}", NULL },
    { "memory", NULL, "limits", "{'memory': '16M'}", NULL },
    { "memory", NULL, "limits", "{'memory': '1G'}",
      "limits.memory: 1G is looser than the configured 512M" },
    { "disk", NULL, "limits", "{'disk': 268435457}",
      "limits.disk: 268435457 is looser than the configured 256M" },
    { "processes", NULL, "limits", "{'processes': 64}", NULL },
    { "processes", NULL, "limits", "{'processes': 65}",
      "limits.processes: 65 is looser than the configured 64" },
    { "open_files", NULL, "limits", "{'open_files': 512}",
      "limits.open_files: 512 is looser than the configured 256" },
    { "cpu", NULL, "limits", "{'cpu': 3600}", NULL }, /* none is the loosest of all */
    { "cpu", "2", "limits", "{'cpu': 2}", NULL },
    { "cpu", "2", "limits", "{'cpu': 2.5}", "limits.cpu: 2.5 s is looser than the configured 2 s" },
    { "stdout_limit", NULL, "limits", "{'stdout': 0}", NULL },
    { "stdout_limit", NULL, "limits", "{'stdout': '65K'}",
      "limits.stdout: 65K is looser than the configured 64K" },
    { "stderr_limit", "0", "limits", "{'stderr': 1}",
      "limits.stderr: 1 is looser than the configured 0" },
    { "stderr_limit", "0", "limits", "{'stderr': 0}", NULL },
    { "isolation", NULL, "isolation", "'auto'", NULL },
    { "isolation", NULL, "isolation", "'namespaces'", NULL },
    { "isolation", NULL, "isolation", "'landlock'", NULL },
    { "isolation", NULL, "isolation", "'process'",
      "isolation: process is looser than the configured auto" },
    { "isolation", NULL, "isolation", "'none'",
      "isolation: none is looser than the configured auto" },
    { "isolation", "'namespaces'", "isolation", "'namespaces'", NULL },
    { "isolation", "'namespaces'", "isolation", "'auto'", NULL },
    { "isolation", "'namespaces'", "isolation", "'landlock'",
      "isolation: landlock is looser than the configured namespaces" },
    { "isolation", "'landlock'", "isolation", "'namespaces'", NULL },
    { "isolation", "'landlock'", "isolation", "'process'",
      "isolation: process is looser than the configured landlock" },
    { "isolation", "'process'", "isolation", "'landlock'", NULL },
    { "isolation", "'process'", "isolation", "'process'", NULL },
    { "isolation", "'process'", "isolation", "'none'",
      "isolation: none is looser than the configured process" },
    { "isolation", "'none'", "isolation", "'none'", NULL },
    { "policy", NULL, "policy", "'standard'", NULL },
    { "policy", NULL, "policy", "'strict'", NULL },
    { "patterns", NULL, "patterns", "'block'", NULL },
    { "patterns", NULL, "patterns", "'warn'", NULL },
    { "patterns", NULL, "patterns", "'off'", "patterns: off is looser than the configured warn" },
    { "patterns", "'off'", "patterns", "'warn'", NULL },
    { "approve", NULL, "approve", "'ask'", NULL },
    { "approve", NULL, "approve", "'never'", NULL },
    { "approve", "'ask'", "approve", "'always'", NULL },
    { "approve", "'ask'", "approve", "'never'",
      "approve: never is looser than the configured ask" },
    { "policy", NULL, "policy", "'off'", "policy: off is looser than the configured standard" },
    { "policy", "'off'", "policy", "'off'", NULL },
    { "policy", "'off'", "policy", "'strict'", NULL },
    { "policy", "'strict'", "policy", "'standard'",
      "policy: standard is looser than the configured strict" },
    { "network", NULL, "network", "'none'", NULL },
    { "network", NULL, "network", "'host'", "network: host is looser than the configured none" },
    { "network", "'host'", "network", "'host'", NULL },
    { "network", "'host'", "network", "'none'", NULL },
    { "backend", NULL, "backend", "'local'", NULL },
};

static struct settings configured(size_t i)
{
    struct settings s = settings_default();
    struct gb_err err = { 0 };

    if (tightening[i].configured)
        assert_int_equal(configure(&s, tightening[i].key, tightening[i].configured, &err), 1);
    return s;
}

static void test_a_request_only_tightens(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tightening); i++) {
        struct settings s = configured(i), before = s;
        struct gb_err err = { 0 };
        const char *want = tightening[i].refused;
        int r = request(&s, tightening[i].request_key, tightening[i].value, NULL, &err);

        if (r != (want ? -1 : 1))
            fail_msg("%s %s on %s: %s", tightening[i].request_key, tightening[i].value,
                     tightening[i].configured ? tightening[i].configured : "the default", err.msg);
        if (!want)
            continue;
        assert_int_equal(err.code, GB_E_INVALID);
        assert_string_equal(err.msg, want);
        assert_non_null(strstr(err.hint, tightening[i].key));
        assert_memory_equal(&s, &before, sizeof(s));
    }
}

static void test_what_the_operator_allows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tightening); i++) {
        struct settings s = configured(i);
        struct gb_err err = { 0 };
        char allowed[60];

        if (!tightening[i].refused)
            continue;
        /* What is allowed for others does not help; what is allowed for it does. */
        assert_int_equal(request(&s, tightening[i].request_key, tightening[i].value,
                                 "['nothing', 1, null, '']", &err),
                         -1);
        (void)snprintf(allowed, sizeof(allowed), "['nothing', '%s']", tightening[i].key);
        assert_int_equal(request(&s, tightening[i].request_key, tightening[i].value, allowed, &err),
                         1);
    }
}

static void test_auto_is_no_wish(void **state)
{
    struct settings s = settings_default();
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(configure(&s, "isolation", "'namespaces'", &err), 1);
    assert_int_equal(request(&s, "isolation", "'auto'", NULL, &err), 1);
    assert_int_equal(s.isolation, ISOLATE_NAMESPACES);
    /* Not even where the operator would allow something weaker. */
    assert_int_equal(request(&s, "isolation", "'auto'", "['isolation']", &err), 1);
    assert_int_equal(s.isolation, ISOLATE_NAMESPACES);
}

/* Where the kernel does not hold the box, the policy that nobody chose is strict. */
static void test_the_default_policy_depends_on_isolation(void **state)
{
    static const char *const weak[] = { "'process'", "'none'" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(weak); i++) {
        struct settings s = settings_default();
        struct gb_err err = { 0 };

        assert_int_equal(configure(&s, "isolation", weak[i], &err), 1);
        assert_int_equal(request(&s, "policy", "'standard'", NULL, &err), -1);
        assert_int_equal(request(&s, "policy", "'strict'", NULL, &err), 1);
    }
}

/* What nobody chose goes by what was chosen. */
static void test_what_defaults_come_to(void **state)
{
    static const struct {
        uint64_t isolation, policy;
        enum policy_choice want;
        enum patterns_choice patterns;
        enum approve_choice approve;
    } cases[] = {
        { ISOLATE_AUTO, POLICY_DEFAULT, POLICY_STANDARD, PATTERNS_WARN, APPROVE_NEVER },
        { ISOLATE_LANDLOCK, POLICY_STRICT, POLICY_STRICT, PATTERNS_BLOCK, APPROVE_NEVER },
        { ISOLATE_NAMESPACES, POLICY_OFF, POLICY_OFF, PATTERNS_OFF, APPROVE_NEVER },
        { ISOLATE_PROCESS, POLICY_DEFAULT, POLICY_STRICT, PATTERNS_BLOCK, APPROVE_ASK },
        { ISOLATE_NONE, POLICY_STANDARD, POLICY_STANDARD, PATTERNS_WARN, APPROVE_ASK },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct settings s = settings_default();

        s.isolation = cases[i].isolation;
        s.policy = cases[i].policy;
        assert_int_equal(settings_policy(&s), cases[i].want);
        assert_int_equal(settings_patterns(&s), cases[i].patterns);
        assert_int_equal(settings_approve(&s), cases[i].approve);
        s.patterns = PATTERNS_OFF;
        s.approve = APPROVE_ALWAYS;
        assert_int_equal(settings_patterns(&s), PATTERNS_OFF);
        assert_int_equal(settings_approve(&s), APPROVE_ALWAYS);
    }
}

static void test_limits_of_a_request(void **state)
{
    struct settings s = settings_default();
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(request(&s, "limits", "{}", NULL, &err), 1);
    assert_int_equal(request(&s, "limits", "{'memory': '64M', 'cpu': 1, 'stdout': 5}", NULL, &err),
                     1);
    assert_int_equal(s.memory_bytes, 64 << 20);
    assert_int_equal(s.cpu_ms, 1000);
    assert_int_equal(s.stdout_bytes, 5);
    assert_int_equal(request(&s, "limits", "[]", NULL, &err), -1);
    assert_string_equal(err.msg, "limits: must be an object");
    assert_int_equal(request(&s, "limits", "{'timeout': 1}", NULL, &err), -1);
    assert_string_equal(err.msg, "limits: unknown key 'timeout'");
    assert_int_equal(request(&s, "limits", "{'stdout_limit': 1}", NULL, &err), -1);
}

static void test_limits_for_people(void **state)
{
    static const struct {
        const char *limit, *text;
        uint64_t value;
    } cases[] = {
        { "memory", "512M", 512 << 20 },
        { "disk", "256M", 256 << 20 },
        { "processes", "64", 64 },
        { "open_files", "256", 256 },
        { "cpu", "1.5 s", 1500 },
        { "stdout", "64K", 64 << 10 },
        { "stderr", "1000", 1000 },
        { "timeout", "", 0 }, /* not one of them */
        { "none", "", 0 },
    };
    struct settings s = settings_default();
    char text[32];

    (void)state;
    s.cpu_ms = 1500;
    s.stderr_bytes = 1000;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        settings_limit_text(&s, cases[i].limit, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
        assert_int_equal(settings_limit_value(&s, cases[i].limit), cases[i].value);
    }
    assert_string_equal(policy_name(POLICY_OFF), "off");
    assert_string_equal(policy_name(POLICY_STRICT), "strict");
    assert_string_equal(policy_name(POLICY_DEFAULT), "default");
}

static void test_all_of_them_as_json(void **state)
{
    struct settings s = settings_default();
    struct gb_err err;
    json_t *json;

    (void)state;
    assert_int_equal(configure(&s, "timeout", "1.5", &err), 1);
    assert_int_equal(configure(&s, "isolation", "'landlock'", &err), 1);
    json = settings_json(&s);
    assert_int_equal(json_integer_value(json_object_get(json, "timeout")), 1500);
    assert_int_equal(json_integer_value(json_object_get(json, "memory")), 512 << 20);
    assert_string_equal(json_string_value(json_object_get(json, "isolation")), "landlock");
    assert_string_equal(json_string_value(json_object_get(json, "policy")), "standard");
    assert_string_equal(json_string_value(json_object_get(json, "patterns")), "warn");
    assert_string_equal(json_string_value(json_object_get(json, "approve")), "never");
    assert_int_equal(configure(&s, "policy", "'off'", &err), 1);
    json_decref(json);
    json = settings_json(&s);
    assert_string_equal(json_string_value(json_object_get(json, "policy")), "off");
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_of_the_contract),
        cmocka_unit_test(test_configured_values),
        cmocka_unit_test(test_unknown_keys_are_not_settings),
        cmocka_unit_test(test_refusals_name_the_key),
        cmocka_unit_test(test_requests_are_refused_alike),
        cmocka_unit_test(test_a_request_only_tightens),
        cmocka_unit_test(test_what_the_operator_allows),
        cmocka_unit_test(test_auto_is_no_wish),
        cmocka_unit_test(test_the_default_policy_depends_on_isolation),
        cmocka_unit_test(test_what_defaults_come_to),
        cmocka_unit_test(test_limits_of_a_request),
        cmocka_unit_test(test_limits_for_people),
        cmocka_unit_test(test_all_of_them_as_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
