/* What becomes of the URL that somebody configured. */
#include "unit.h"

#include "fetch/url.h"

#define PATH "/chat/completions"

static void test_made(void **state)
{
    static const struct {
        const char *base, *text, *host;
        bool encrypted, loopback;
    } cases[] = {
        { "https://api.example.com/v1", "https://api.example.com/v1" PATH, "api.example.com", true,
          false },
        { "https://api.example.com/v1/", "https://api.example.com/v1" PATH, "api.example.com", true,
          false },
        { "https://api.example.com/v1//", "https://api.example.com/v1" PATH, "api.example.com",
          true, false },
        { "https://api.example.com", "https://api.example.com" PATH, "api.example.com", true,
          false },
        { "https://api.example.com/v1" PATH, "https://api.example.com/v1" PATH, "api.example.com",
          true, false },
        { "https://api.example.com/v1" PATH "/", "https://api.example.com/v1" PATH,
          "api.example.com", true, false },
        { "https://a.example/x/chat/completions2", "https://a.example/x/chat/completions2" PATH,
          "a.example", true, false },
        { "https://a.example/d" PATH "?api-version=1", "https://a.example/d" PATH "?api-version=1",
          "a.example", true, false },
        { "https://a.example/d?x=1&y=%2F", "https://a.example/d" PATH "?x=1&y=%2F", "a.example",
          true, false },
        { "HTTPS://a.example:8443/v1", "https://a.example:8443/v1" PATH, "a.example:8443", true,
          false },
        { "http://10.0.0.5:11434/v1", "http://10.0.0.5:11434/v1" PATH, "10.0.0.5:11434", false,
          false },
        { "http://localhost:8000/v1", "http://localhost:8000/v1" PATH, "localhost:8000", false,
          true },
        { "http://127.0.0.1/v1", "http://127.0.0.1/v1" PATH, "127.0.0.1", false, true },
        { "http://127.9.8.7/v1", "http://127.9.8.7/v1" PATH, "127.9.8.7", false, true },
        { "http://127.1/v1", "http://127.0.0.1/v1" PATH, "127.0.0.1", false, true },
        { "http://2130706433/v1", "http://127.0.0.1/v1" PATH, "127.0.0.1", false, true },
        { "http://[::1]:80/v1", "http://[::1]:80/v1" PATH, "[::1]:80", false, true },
        { "http://[::2]/v1", "http://[::2]/v1" PATH, "[::2]", false, false },
        { "http://127.0.0.1.example.com/", "http://127.0.0.1.example.com" PATH,
          "127.0.0.1.example.com", false, false },
        { "http://localhost.example.com/", "http://localhost.example.com" PATH,
          "localhost.example.com", false, false },
        { "http://128.0.0.1/", "http://128.0.0.1" PATH, "128.0.0.1", false, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fetch_url url;
        struct gb_err err = { 0 };

        if (url_read(cases[i].base, PATH, &url, &err) < 0)
            fail_msg("%s: %s", cases[i].base, err.msg);
        assert_string_equal(url.text, cases[i].text);
        assert_string_equal(url.host, cases[i].host);
        if (url.encrypted != cases[i].encrypted || url.loopback != cases[i].loopback)
            fail_msg("%s: encrypted %d, loopback %d", cases[i].base, url.encrypted, url.loopback);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *base, *say;
    } cases[] = {
        { "", "not a URL" },
        { "api.example.com/v1", "not a URL" },
        { "/v1", "not a URL" },
        { "https://", "not a URL" },
        { "https://a b.example/", "not a URL" },
        { "https://a.example:99999/", "not a URL" },
        { "https://a.example/\r\nX: y", "not a URL" },
        { "file:///etc/passwd", "neither https nor http" },
        { "ftp://a.example/", "neither https nor http" },
        { "gopher://a.example/", "neither https nor http" },
        { "ws://a.example/", "neither https nor http" },
        { "https://user@a.example/", "user name" },
        { "https://user:secretword@a.example/", "user name" },
        { "https://:secretword@a.example/", "user name" },
        { "https://a.example/#here", "fragment" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fetch_url url;
        struct gb_err err = { 0 };

        if (url_read(cases[i].base, PATH, &url, &err) == 0)
            fail_msg("'%s' was taken as '%s'", cases[i].base, url.text);
        assert_int_equal(err.code, GB_E_INVALID);
        if (!strstr(err.msg, cases[i].say) || !err.hint[0])
            fail_msg("'%s': '%s' (%s)", cases[i].base, err.msg, err.hint);
        assert_null(strstr(err.msg, "secretword"));
    }
}

static void test_long(void **state)
{
    static const size_t lengths[] = { FETCH_URL_MAX - 40, FETCH_URL_MAX, 20000 };
    struct fetch_url url;
    struct gb_err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        auto_free char *text = malloc(lengths[i] + 1);

        memset(text, 'a', lengths[i]);
        memcpy(text, "https://a.example/", 18);
        text[lengths[i]] = '\0';
        assert_int_equal(url_read(text, PATH, &url, &err), i == 0 ? 0 : -1);
    }
    assert_string_equal(err.msg, "the URL is too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
