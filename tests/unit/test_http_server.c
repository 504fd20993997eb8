/* The HTTP server with limits that a test can wait for: clients that do not read, or read
 * slowly. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/http.h"

enum {
    EVENT_BYTES = 64 << 10,
    TICK_MS = 10,
    PATIENCE_MS = 20000 /* for a slow machine */
};

struct world {
    struct event_base *base;
    struct http_server *http;
    struct http_exchange *stream; /* NULL: there is none, or its client is gone */
    struct event *on_tick;
    char path[64];
    size_t n_gone;
};

static void on_gone(void *data)
{
    struct world *w = data;

    w->stream = NULL;
    w->n_gone++;
}

static void run_stream(struct http_exchange *x, void *data)
{
    struct world *w = data;

    w->stream = x;
    http_on_gone(x, on_gone, w);
    http_stream_begin(x);
}

static void run_page(struct http_exchange *x, void *data)
{
    auto_free char *text = calloc(1, 4 << 20);

    (void)data;
    http_reply(x, 200, "text/plain", text, 4 << 20);
}

/* The stream always has something more to say. */
static void on_tick(evutil_socket_t fd, short what, void *data)
{
    static char event[EVENT_BYTES];
    struct world *w = data;

    (void)fd;
    (void)what;
    memset(event, 'x', sizeof(event));
    if (w->stream && !http_stream_is_full(w->stream))
        http_stream_send(w->stream, NULL, event, sizeof(event));
}

static struct world *open_world(const struct http_limits *limits)
{
    static const struct timeval tick = { .tv_usec = TICK_MS * 1000 };
    struct world *w = calloc(1, sizeof(*w));
    struct http_spec spec = { .limits = *limits };
    struct gb_err err;

    assert_non_null(w);
    (void)snprintf(w->path, sizeof(w->path), "/tmp/test_http_server.%d", (int)getpid());
    w->base = spec.base = event_base_new();
    w->http = http_server_new(&spec, &err);
    assert_non_null(w->http);
    http_server_route(w->http, &(struct http_route){ "/stream", HTTP_GET, true, run_stream, w });
    http_server_route(w->http, &(struct http_route){ "/page", HTTP_GET, true, run_page, w });
    assert_return_code(http_server_listen(w->http, w->path, &err), 0);
    w->on_tick = event_new(w->base, -1, EV_PERSIST, on_tick, w);
    (void)event_add(w->on_tick, &tick);
    return w;
}

static void close_world(struct world *w)
{
    event_free(w->on_tick);
    (void)http_server_free(w->http);
    event_base_free(w->base);
    free(w);
}

static int ask(const struct world *w, const char *path)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    char text[100];
    int n = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);

    memcpy(a.sun_path, w->path, sizeof(w->path));
    assert_return_code(connect(fd, (const struct sockaddr *)&a, sizeof(a)), errno);
    assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
    return fd;
}

/* Let the server do what it does for so long, or until nobody is connected. `reader` takes what
 * comes, up to `rate` bytes a tick. */
static bool ends_within(struct world *w, int ms, int reader, size_t rate)
{
    static char room[1 << 20];
    int64_t until = clock_us() + (int64_t)ms * 1000;

    do {
        (void)event_base_loop(w->base, EVLOOP_ONCE);
        if (rate > 0)
            (void)!recv(reader, room, rate < sizeof(room) ? rate : sizeof(room), 0);
    } while (http_server_counts(w->http).connections > 0 && clock_us() < until);
    return http_server_counts(w->http).connections == 0;
}

static struct http_limits quick(void)
{
    struct http_limits limits = http_default_limits;

    limits.write_ms = 300;
    return limits;
}

static void test_a_stream_that_nobody_reads(void **state)
{
    struct http_limits limits = quick();
    struct world *w = open_world(&limits);
    auto_close int fd = ask(w, "/stream");

    (void)state;
    assert_false(ends_within(w, 100, fd, 0));
    assert_non_null(w->stream);
    assert_true(ends_within(w, PATIENCE_MS, fd, 0));
    assert_int_equal(w->n_gone, 1);
    assert_int_equal(http_server_counts(w->http).refused[HTTP_REFUSED_UNREAD], 1);
    assert_true(http_server_counts(w->http).unsent_bytes == 0);
    close_world(w);
}

/* A byte now and then is not reading. */
static void test_a_stream_that_is_read_too_slowly(void **state)
{
    struct http_limits limits = quick();
    struct world *w = open_world(&limits);
    auto_close int fd = ask(w, "/stream");

    (void)state;
    assert_true(ends_within(w, PATIENCE_MS, fd, 1));
    assert_int_equal(w->n_gone, 1);
    close_world(w);
}

static void test_a_stream_that_is_read(void **state)
{
    struct http_limits limits = quick();
    struct world *w = open_world(&limits);
    auto_close int fd = ask(w, "/stream");

    (void)state;
    assert_false(ends_within(w, 1500, fd, 1 << 20));
    assert_int_equal(w->n_gone, 0);
    close_world(w);
}

/* What all do not read is bounded, and a reply that finds no room is an error, and not half. */
static void test_pages_that_nobody_reads(void **state)
{
    struct http_limits limits = http_default_limits;
    struct world *w;
    int fds[6];
    char text[16] = "";

    (void)state;
    limits.unsent_bytes = 10 << 20;
    w = open_world(&limits);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = ask(w, "/page");
        (void)ends_within(w, 50, fds[i], 0);
        assert_true(http_server_counts(w->http).unsent_bytes <= limits.unsent_bytes);
    }
    assert_true(http_server_counts(w->http).refused[HTTP_REFUSED_UNREAD] > 0);
    (void)ends_within(w, 500, -1, 0); /* long enough to be known as who does not read */
    (void)close(fds[5]);
    fds[5] = ask(w, "/page");
    (void)ends_within(w, 50, -1, 0);
    assert_int_equal(recv(fds[5], text, 12, 0), 12);
    assert_string_equal(text, "HTTP/1.1 200");
    assert_true(http_server_counts(w->http).unsent_bytes <= limits.unsent_bytes);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        (void)close(fds[i]);
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stream_that_nobody_reads),
        cmocka_unit_test(test_a_stream_that_is_read_too_slowly),
        cmocka_unit_test(test_a_stream_that_is_read),
        cmocka_unit_test(test_pages_that_nobody_reads),
    };

    (void)signal(SIGPIPE, SIG_IGN); /* as the command does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
