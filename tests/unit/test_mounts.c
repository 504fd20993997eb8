/* Mounts and files as they are asked for: understood, or refused with a message that says why. */
#include "unit.h"

#include <limits.h>

#include "base/fd.h"
#include "engine/config.h"
#include "engine/files.h"
#include "engine/mounts.h"
#include "engine/request.h"
#include "sandbox/compose.h"
#include "sandbox/explain.h"
#include "sandbox/landlock.h"
#include "wish.h"

static char dir[64];

static int setup(void **state)
{
    static const char *const made[] = { "data", "other", "data/sub", "with:colon" };
    int fd = unit_dir(dir);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(made); i++)
        if (mkdirat(fd, made[i], 0755) < 0)
            return -1;
    if (symlinkat("data", fd, "link") < 0 ||
        close(openat(fd, "file", O_CREAT | O_WRONLY, 0644)) < 0)
        return -1;
    (void)close(fd);
    return chdir(dir);
}

static int teardown(void **state)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY);

    (void)state;
    fd_empty_dir(fd);
    (void)close(fd);
    return chdir("/") < 0 || rmdir(dir) < 0 ? -1 : 0;
}

static char *quoted(const char *text)
{
    char *copy = strdup(text);

    for (char *at = strchr(copy, '\''); at; at = strchr(at, '\''))
        *at = '"';
    return copy;
}

static struct mounts *read_list(const char *text, struct gb_err *err)
{
    char *json = quoted(text);
    json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
    struct mounts *m = mounts_new();

    assert_non_null(value);
    *err = (struct gb_err){ 0 };
    if (mounts_read(m, value, err) < 0)
        m = mounts_unref(m);
    json_decref(value);
    free(json);
    return m;
}

static void test_forms(void **state)
{
    static const struct {
        const char *text, *name, *below;
        bool is_rw;
    } cases[] = {
        { "['data']", "data", "data", false },
        { "['data/']", "data", "data", false },
        { "['./data/../other:o']", "o", "other", false },
        { "['data:in']", "in", "data", false },
        { "['data:in:ro']", "in", "data", false },
        { "['data:in:rw']", "in", "data", true },
        { "[{'host':'data','name':'rw'}]", "rw", "data", false },
        { "['with:colon:c:rw']", "c", "with:colon", true },
        { "['data/sub:s.u_b-1']", "s.u_b-1", "data/sub", false },
        { "[{'host':'data','name':'in','mode':'rw'}]", "in", "data", true },
        { "[{'host':'data','name':'in'}]", "in", "data", false },
        { "[{'host':'data'}]", "data", "data", false },
        { "['data:x:rw','other:x']", "x", "other", false }, /* the later one counts */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char path[200];
        struct gb_err err;
        struct mounts *m = read_list(cases[i].text, &err);

        if (!m)
            fail_msg("%s: %s", cases[i].text, err.msg);
        (void)snprintf(path, sizeof(path), "%s/%s", dir, cases[i].below);
        assert_int_equal(m->n, 1);
        assert_string_equal(m->list[0].name, cases[i].name);
        assert_string_equal(m->list[0].host, path);
        assert_int_equal(m->list[0].is_rw, cases[i].is_rw);
        mounts_unref(m);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "['data:rw']", "mounts: 'data:rw' does not say what it is to be called" },
        { "['data:ro']", "mounts: 'data:ro' does not say what it is to be called" },
        { "'data'", "must be a list" },
        { "[1]", "must be a list of" },
        { "['']", "no host" },
        { "[':name']", "no host" },
        { "['data:']", "is not a name" },
        { "['data:..']", "is not a name" },
        { "['data:.']", "is not a name" },
        { "['data:a/b']", "is not a name" },
        { "['data:a b']", "is not a name" },
        { "['data:workspace']", "workspace" },
        { "['nowhere:x']", "nowhere" },
        { "['data:x:wr']", "data:x" },
        { "['link:x']", "symbolic link" },
        { "['link/:x']", "symbolic link" },
        { "['file:x']", "not a directory" },
        { "['/:x']", "cannot be mounted" },
        { "['/proc:x']", "cannot be mounted" },
        { "['/proc/sys:x']", "cannot be mounted" },
        { "['/sys:x']", "cannot be mounted" },
        { "['/dev:x']", "cannot be mounted" },
        { "['/usr:x:rw']", "system" },
        { "['/usr/bin:x:rw']", "system" },
        { "['/etc:x:rw']", "system" },
        { "[{'name':'x'}]", "no host" },
        { "[{'host':'data','mode':'w'}]", "neither" },
        { "[{'host':'data','kind':'x'}]", "unknown key" },
        { "[{'host':1}]", "must be a string" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gb_err err;
        struct mounts *m = read_list(cases[i].text, &err);

        if (m || !strstr(err.msg, cases[i].says))
            fail_msg("%s: %s", cases[i].text, m ? "taken" : err.msg);
        assert_int_equal(err.code, GB_E_INVALID);
    }
}

static void test_too_many(void **state)
{
    struct mounts *m = mounts_new();
    char name[16];

    (void)state;
    for (int i = 0; i < MOUNTS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "m%d", i);
        assert_int_equal(mounts_add(m, name, "/a", false), 0);
    }
    assert_true(mounts_add(m, "one-more", "/a", false) < 0);
    assert_int_equal(mounts_add(m, "m3", "/b", true), 0);
    assert_string_equal(mounts_find(m, "m3")->host, "/b");
    assert_null(mounts_find(m, "one-more"));
    mounts_unref(m);
}

static void test_same(void **state)
{
    struct mounts *a = mounts_new(), *b = mounts_new();

    (void)state;
    assert_true(mounts_same(NULL, NULL) && mounts_same(a, NULL) && mounts_same(NULL, b));
    assert_int_equal(mounts_add(a, "x", "/x", false) | mounts_add(a, "y", "/y", true), 0);
    assert_false(mounts_same(a, b) || mounts_same(NULL, a));
    assert_int_equal(mounts_add(b, "y", "/y", true) | mounts_add(b, "x", "/x", false), 0);
    assert_true(mounts_same(a, b));
    assert_int_equal(mounts_add(b, "x", "/x", true), 0);
    assert_false(mounts_same(a, b));
    assert_true(mounts_any_rw(a) && !mounts_any_rw(NULL));
    mounts_unref(a);
    mounts_unref(b);
}

/* ---- what a request may have ---- */

static void with_config(const char *more, const char *mounts, struct config *c)
{
    struct gb_err err = { 0 };
    char text[400];

    (void)snprintf(text, sizeof(text), "{'extension_dir': '/nowhere', 'mounts': %s%s}", mounts,
                   more);
    char *json = quoted(text);
    if (config_init(c, json, &err) < 0)
        fail_msg("%s", err.msg);
    free(json);
}

static int request_of(const struct config *c, const char *mounts, struct request *r,
                      struct gb_err *err)
{
    char text[300];

    *err = (struct gb_err){ 0 };
    (void)snprintf(text, sizeof(text), "{'code': '1', 'mounts': %s}", mounts);
    char *json = quoted(text);
    int e = request_read(c, json, r, err);
    free(json);
    return e;
}

static void test_requests(void **state)
{
    static const struct {
        const char *mounts;
        int n; /* -1: refused */
        bool is_rw;
    } cases[] = {
        { "[]", 0, false },
        { "['w']", 1, true },
        { "[{'name':'w'}]", 1, true },
        { "[{'name':'w','mode':'ro'}]", 1, false },
        { "[{'name':'w','host':'other','mode':'rw'}]", 1, true },
        { "[{'name':'w','host':'data'}]", -1, false },
        { "[{'name':'w','host':'/etc'}]", -1, false },
        { "['in']", 1, false },
        { "[{'name':'in','mode':'rw'}]", -1, false },
        { "[{'name':'new','host':'data'}]", -1, false },
        { "[{'name':'new','host':'data/sub'}]", -1, false },
        { "'in'", -1, false },
        { "[{}]", -1, false },
        { "[7]", -1, false },
    };
    struct config c;
    struct request r;
    struct gb_err err;

    (void)state;
    with_config("", "['data:in', 'other:w:rw']", &c);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int e = request_of(&c, cases[i].mounts, &r, &err);

        if ((e < 0) != (cases[i].n < 0))
            fail_msg("%s: %s", cases[i].mounts, e < 0 ? err.msg : "taken");
        if (e < 0)
            assert_non_null(strstr(err.msg, "mounts"));
        else
            assert_int_equal(r.mounts->n, cases[i].n);
        if (e == 0 && cases[i].n > 0)
            assert_int_equal(r.mounts->list[0].is_rw, cases[i].is_rw);
        request_done(&r);
    }
    assert_int_equal(request_read(&c, "{\"code\": \"1\"}", &r, &err), 0);
    assert_int_equal(r.mounts->n, 2); /* without a word, all that is configured */
    request_done(&r);
    config_done(&c);

    with_config(", 'allow_request': ['mounts']", "['data:in']", &c);
    assert_int_equal(request_of(&c, "[{'name':'new','host':'other','mode':'rw'}]", &r, &err), 0);
    assert_true(r.mounts->n == 1 && r.mounts->list[0].is_rw);
    request_done(&r);
    config_done(&c);
}

static void test_glovebox_itself_stays_out_of_reach(void **state)
{
    static const char *const keys[] = { "extension_dir", "audit" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        for (int rw = 0; rw < 2; rw++) {
            struct gb_err err = { 0 };
            struct config c;
            char text[300];

            (void)snprintf(text, sizeof(text),
                           "{'extension_dir': '/nowhere', '%s': '%s/data/sub', 'mount': "
                           "['data:in:%s']}",
                           keys[i], dir, rw ? "rw" : "ro");
            char *json =
                quoted(i == 0 ? text + strlen("{'extension_dir': '/nowhere', ") - 1 : text);
            json[0] = '{';
            assert_int_equal(config_init(&c, json, &err), rw ? -1 : 0);
            if (rw)
                assert_non_null(strstr(err.msg, "cannot be rw"));
            else
                config_done(&c);
            free(json);
        }
    }
}

/* ---- plans ---- */

static void test_plans(void **state)
{
    struct mounts *m = mounts_new();
    struct gb_err err = { 0 };

    (void)state;
    assert_int_equal(mounts_add(m, "in", "/srv/in", false), 0);
    for (enum plan_level level = LEVEL_LANDLOCK; level <= LEVEL_NAMESPACES; level++) {
        struct plan_wish wish = a_wish(level);
        struct composed c;
        size_t ops = 0, rules = 0;

        wish.mounts = m;
        assert_int_equal(compose(&wish, &c, &err), 0);
        for (size_t i = 0; i < c.plan.n_ops; i++)
            if (plan_op_is_mount(&c.plan.ops[i])) {
                assert_int_equal(c.plan.ops[i].kind, OP_MOUNT_RO);
                assert_string_equal(c.plan.ops[i].source, "/srv/in");
                assert_string_equal(c.plan.ops[i].target, "mnt/in");
                ops++;
            }
        for (size_t i = 0; i < c.plan.n_rules; i++)
            if (c.plan.rules[i].is_mount) {
                assert_string_equal(c.plan.rules[i].path,
                                    level == LEVEL_NAMESPACES ? "/mnt/in" : "/srv/in");
                assert_int_equal(c.plan.rules[i].access, landlock_read_access());
                rules++;
            }
        assert_int_equal(ops, level == LEVEL_NAMESPACES ? 1 : 0);
        assert_int_equal(rules, 1);
        composed_done(&c);
    }
    mounts_unref(m);
}

/* The interpreter runs outside as well: what it imports there nobody changes from inside. */
static void test_interpreters(void **state)
{
    static const struct {
        const char *host;
        bool is_taken;
    } cases[] = {
        { "/home/somebody", false },          { "/home/somebody/venv", false },
        { "/home/somebody/venv/lib", false }, { "/home/somebody/venv2", true },
        { "/home/somebody/project", true },   { "/opt", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int rw = 0; rw < 2; rw++) {
            struct plan_wish wish = a_wish(LEVEL_NAMESPACES);
            struct mounts *m = mounts_new();
            struct gb_err err = { 0 };
            struct composed c;

            assert_int_equal(mounts_add(m, "m", cases[i].host, rw), 0);
            wish.mounts = m;
            int e = compose(&wish, &c, &err);
            if ((e == 0) != (!rw || cases[i].is_taken))
                fail_msg("%s %s: %s", cases[i].host, rw ? "rw" : "ro", e < 0 ? err.msg : "taken");
            if (e == 0)
                composed_done(&c);
            else
                assert_int_equal(err.code, GB_E_INVALID);
            mounts_unref(m);
        }
    }
}

/* ---- files ---- */

static void test_paths(void **state)
{
    static const char *const good[] = {
        "a", "a/b", "..a", "a..", "...", "a b", ".x/.y", "\xc3\xa4"
    };
    static const char *const bad[] = { "",   "/",      "/a",   "a/",   "a//b", ".",
                                       "..", "a/../b", "../a", "a/..", "./a",  "a/./b" };
    char text[PATH_MAX + 10];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(files_is_path(good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (files_is_path(bad[i]))
            fail_msg("'%s' was taken", bad[i]);
    memset(text, 'a', sizeof(text));
    text[256] = '\0';
    assert_false(files_is_path(text));
    text[255] = '\0';
    assert_true(files_is_path(text));
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        text[i] = i % 2 == 0 ? 'a' : '/';
    text[sizeof(text) - 1] = '\0';
    assert_false(files_is_path(text));
}

static void test_contents(void **state)
{
    static const struct {
        const char *text;
        int bytes; /* -1: refused */
    } cases[] = {
        { "{}", 0 },
        { "{'a':'xyz'}", 3 },
        { "{'a':''}", 0 },
        { "{'a':'x\\u0000y'}", 3 },
        { "{'a':{'base64':'/wA='}}", 2 },
        { "{'a':{'base64':''}}", 0 },
        { "{'a':'x','b/c':{'base64':'eA=='}}", 2 },
        { "{'a':{'base64':'!'}}", -1 },
        { "{'a':{'base64':'eA==','mode':1}}", -1 },
        { "{'a':{}}", -1 },
        { "{'a':1}", -1 },
        { "{'a':null}", -1 },
        { "{'/a':'x'}", -1 },
        { "['a']", -1 },
        { "'a'", -1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct request_files f = { 0 };
        struct gb_err err = { 0 };
        char *json = quoted(cases[i].text);
        json_t *value = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

        assert_non_null(value);
        int e = files_read(value, &f, &err);
        if ((e < 0) != (cases[i].bytes < 0))
            fail_msg("%s: %s", cases[i].text, e < 0 ? err.msg : "taken");
        if (e == 0)
            assert_int_equal(f.bytes, cases[i].bytes);
        else
            assert_non_null(strstr(err.msg, "files"));
        files_done(&f);
        json_decref(value);
        free(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_many), cmocka_unit_test(test_same),
        cmocka_unit_test(test_requests), cmocka_unit_test(test_glovebox_itself_stays_out_of_reach),
        cmocka_unit_test(test_plans),    cmocka_unit_test(test_interpreters),
        cmocka_unit_test(test_paths),    cmocka_unit_test(test_contents),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
