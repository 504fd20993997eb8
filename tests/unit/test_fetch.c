/* The module's table, without a network: what ends before anything is sent. */
#include "unit.h"

#include <event2/event.h>
#include <signal.h>

#include "fetch/fetch.h"

extern const struct fetch_ops glovebox_fetch;
static const struct fetch_ops *const ops = &glovebox_fetch;

struct told {
    int times;
    enum fetch_fault fault;
    char why[FETCH_WHY_MAX];
    size_t len;
    struct fetch_client *client; /* freed when told */
};

static void on_done(void *data, const struct fetch_reply *reply)
{
    struct told *told = data;

    told->times++;
    told->fault = reply->fault;
    told->len = reply->len;
    assert_string_equal(reply->body, "");
    memcpy(told->why, reply->why, sizeof(told->why));
    if (told->client)
        told->client = ops->client_free(told->client);
}

static struct fetch_request request_to(const char *url)
{
    return (
        struct fetch_request){ .url = url, .body = "{}", .timeout_ms = 20000, .reply_max = 1000 };
}

static void test_loopback_only(void **state)
{
    static const char *const urls[] = { "http://192.0.2.1/", "http://[2001:db8::1]:8000/",
                                        "https://128.0.0.1/" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct event_base *base = event_base_new();
        struct told told = { .client = ops->client_new(base) };
        struct fetch_request request = request_to(urls[i]);
        struct gb_err err;

        request.loopback_only = true;
        assert_non_null(ops->post(told.client, &request, on_done, &told, &err));
        assert_int_equal(told.times, 0);
        (void)event_base_dispatch(base);
        assert_int_equal(told.times, 1);
        assert_int_equal(told.fault, FETCH_OTHER);
        assert_string_equal(told.why, "the name of this host leads to another");
        assert_null(told.client); /* freed from where it was told */
        event_base_free(base);
    }
}

static void test_never_other_protocols(void **state)
{
    static const char *const urls[] = { "file:///etc/passwd", "ftp://127.0.0.1/",
                                        "gopher://127.0.0.1/", "http://me:pw@127.0.0.1/" };
    struct event_base *base = event_base_new();
    struct fetch_client *client = ops->client_new(base);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct told told = { 0 };
        struct fetch_request request = request_to(urls[i]);
        struct gb_err err;

        assert_non_null(ops->post(client, &request, on_done, &told, &err));
        (void)event_base_dispatch(base);
        assert_int_equal(told.times, 1);
        assert_int_equal(told.fault, FETCH_OTHER);
        assert_int_equal(told.len, 0);
        assert_true(told.why[0] != '\0');
    }
    assert_null(ops->client_free(client));
    event_base_free(base);
}

/* Freed with requests under way: nobody is told. */
static void test_freed_early(void **state)
{
    struct event_base *base = event_base_new();
    struct fetch_client *client = ops->client_new(base);
    struct told told = { 0 };
    struct fetch_request request = request_to("http://127.0.0.1:1/");
    struct gb_err err;

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct fetch *f = ops->post(client, &request, on_done, &told, &err);

        assert_non_null(f);
        if (i % 2 == 0)
            ops->cancel(f);
    }
    assert_null(ops->client_free(client));
    (void)event_base_dispatch(base);
    assert_int_equal(told.times, 0);
    assert_null(ops->client_free(NULL));
    event_base_free(base);
}

/* Calls into libcurl are made with signals held back: they must come back as they were. */
static void test_signals_stay(void **state)
{
    struct event_base *base = event_base_new();
    struct fetch_client *client = ops->client_new(base);
    struct told told = { 0 };
    struct fetch_request request = request_to("http://127.0.0.1:1/");
    struct gb_err err;
    sigset_t usual, before, after, pending;

    (void)state;
    (void)sigemptyset(&before);
    (void)sigaddset(&before, SIGPIPE);
    (void)sigaddset(&before, SIGUSR1);
    (void)pthread_sigmask(SIG_SETMASK, &before, &usual);
    (void)raise(SIGPIPE); /* the host program's own */
    assert_non_null(ops->post(client, &request, on_done, &told, &err));
    (void)event_base_dispatch(base);
    assert_int_equal(told.times, 1);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &after);
    (void)sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGPIPE), 1);
    for (int sig = 1; sig < 32; sig++)
        assert_int_equal(sigismember(&after, sig), sigismember(&before, sig));
    (void)signal(SIGPIPE, SIG_IGN);
    (void)pthread_sigmask(SIG_SETMASK, &usual, NULL);
    assert_null(ops->client_free(client));
    event_base_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loopback_only),
        cmocka_unit_test(test_never_other_protocols),
        cmocka_unit_test(test_freed_early),
        cmocka_unit_test(test_signals_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
