/*
 * The module: libcurl's multi interface on libevent.
 *
 * How this works. libcurl says which sockets it waits for and until when (watch_socket,
 * watch_time); the loop says when one of them is ready (on_socket, on_time), and libcurl goes on
 * from there. Nothing blocks: names are looked up by a thread of libcurl's. A transfer that ended
 * is told from an event of its own, with no frame of libcurl's below, so whoever is told may free
 * the client.
 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/own.h"
#include "fetch/fetch.h"
#include "fetch/url.h"

enum {
    IDLE_MAX = 4, /* connections kept when nobody uses them */
    HEADERS_MAX = 64 << 10,
    HEADER_LINE_MAX = 8 << 10
};

struct fetch_client {
    struct event_base *base;
    CURLM *multi;
    struct event *on_time;
    struct fetch *fetches;
};

struct fetch {
    struct fetch *next;
    struct fetch_client *client;
    CURL *easy;
    struct curl_slist *headers;
    struct event *on_done, *on_data;
    void (*stream)(void *data, const struct fetch_head *head, const char *bytes, size_t len);
    const char *keep;
    char kept[512];
    struct gb_buf body;
    size_t reply_max;
    size_t header_bytes;
    bool too_big;
    bool loopback_only;
    bool strayed; /* loopback_only, and the name led elsewhere */
    char why[CURL_ERROR_SIZE];
    struct fetch_reply reply;
    fetch_done done;
    void *data;
};

/* ---- signals ---- */

struct signals {
    sigset_t before;
    bool pipe_pending;
};

/* Around every call into libcurl. The threads that it starts inherit the mask, so none takes a
 * signal that the host program waits for; and a write to a connection that is gone raises no
 * SIGPIPE in a program that may not be ready for it. */
static void signals_hold(struct signals *s)
{
    static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
    sigset_t all, pending;

    (void)sigfillset(&all);
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        (void)sigdelset(&all, own[i]);
    (void)pthread_sigmask(SIG_BLOCK, &all, &s->before);
    (void)sigemptyset(&pending);
    (void)sigpending(&pending);
    s->pipe_pending = sigismember(&pending, SIGPIPE) == 1;
}

static void signals_release(const struct signals *s)
{
    const struct timespec now = { 0 };
    sigset_t pipe_gone;

    (void)sigemptyset(&pipe_gone);
    (void)sigaddset(&pipe_gone, SIGPIPE);
    if (!s->pipe_pending)
        while (sigtimedwait(&pipe_gone, NULL, &now) < 0 && errno == EINTR)
            ;
    (void)pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

/* ---- how it ended ---- */

static const struct {
    CURLcode code;
    enum fetch_fault fault;
} faults[] = {
    { CURLE_OPERATION_TIMEDOUT, FETCH_TIMEOUT },
    { CURLE_COULDNT_RESOLVE_HOST, FETCH_NETWORK },
    { CURLE_COULDNT_CONNECT, FETCH_NETWORK },
    { CURLE_GOT_NOTHING, FETCH_NETWORK },
    { CURLE_PARTIAL_FILE, FETCH_NETWORK },
    { CURLE_RECV_ERROR, FETCH_NETWORK },
    { CURLE_SEND_ERROR, FETCH_NETWORK },
    { CURLE_SSL_CONNECT_ERROR, FETCH_NETWORK },
    { CURLE_WEIRD_SERVER_REPLY, FETCH_NETWORK },
    { CURLE_FILESIZE_EXCEEDED, FETCH_TOO_BIG },
    { CURLE_PEER_FAILED_VERIFICATION, FETCH_TRUST },
    { CURLE_SSL_ISSUER_ERROR, FETCH_TRUST },
    { CURLE_SSL_INVALIDCERTSTATUS, FETCH_TRUST },
};

static enum fetch_fault fault_of(const struct fetch *f, CURLcode code)
{
    if (code == CURLE_OK)
        return FETCH_OK;
    if (f->too_big)
        return FETCH_TOO_BIG;
    if (f->strayed)
        return FETCH_OTHER;
    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        if (faults[i].code == code)
            return faults[i].fault;
    return FETCH_OTHER;
}

static const char *why_of(const struct fetch *f, CURLcode code)
{
    if (code == CURLE_OK)
        return "";
    if (f->too_big)
        return "the reply is too big";
    if (f->strayed)
        return "the name of this host leads to another";
    return f->why[0] ? f->why : curl_easy_strerror(code);
}

static void keep_reply(struct fetch *f, CURLcode code)
{
    curl_off_t after = 0;
    const char *type = NULL;

    f->reply = (struct fetch_reply){ .fault = fault_of(f, code), .retry_after_s = -1 };
    (void)snprintf(f->reply.why, sizeof(f->reply.why), "%s", why_of(f, code));
    (void)curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &f->reply.status);
    if (curl_easy_getinfo(f->easy, CURLINFO_CONTENT_TYPE, &type) == CURLE_OK && type)
        (void)snprintf(f->reply.type, sizeof(f->reply.type), "%s", type);
    memcpy(f->reply.kept, f->kept, sizeof(f->reply.kept));
    if (curl_easy_getinfo(f->easy, CURLINFO_RETRY_AFTER, &after) == CURLE_OK && after > 0)
        f->reply.retry_after_s = after;
}

/* ---- a transfer ---- */

static void unlink_fetch(struct fetch *f)
{
    struct fetch **at = &f->client->fetches;

    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
}

/* Lets go of libcurl's part. */
static void close_easy(struct fetch *f)
{
    struct signals s;

    if (!f->easy)
        return;
    signals_hold(&s);
    (void)curl_multi_remove_handle(f->client->multi, f->easy);
    curl_easy_cleanup(f->easy);
    signals_release(&s);
    f->easy = NULL;
}

static void fetch_free(struct fetch *f)
{
    if (f->on_done)
        event_free(f->on_done);
    if (f->on_data)
        event_free(f->on_data);
    curl_slist_free_all(f->headers);
    gb_buf_done(&f->body);
    free(f);
}

/* Hand over what has come of a stream. The fetch may be gone afterwards, if it is not done. */
static void hand_over(struct fetch *f)
{
    struct fetch_head head = { .status = f->reply.status,
                               .type = f->reply.type[0] ? f->reply.type : NULL,
                               .kept = f->kept };
    struct gb_buf piece = f->body;
    const char *type = NULL;

    if (f->easy) { /* it goes on */
        (void)curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &head.status);
        if (curl_easy_getinfo(f->easy, CURLINFO_CONTENT_TYPE, &type) == CURLE_OK)
            head.type = type;
    }
    gb_buf_init(&f->body, piece.max);
    if (piece.len > 0)
        f->stream(f->data, &head, piece.data, piece.len);
    gb_buf_done(&piece);
}

static void on_data(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    hand_over(data);
}

static void on_done(evutil_socket_t fd, short what, void *data)
{
    struct fetch *f = data;
    struct gb_err err;

    (void)fd;
    (void)what;
    if (f->stream && f->body.len > 0) {
        event_active(f->on_done, EV_TIMEOUT, 0); /* afterwards, unless it is cancelled */
        hand_over(f);
        return;
    }
    unlink_fetch(f);
    if (gb_buf_add(&f->body, "", 1, &err) < 0) {
        f->reply.fault = FETCH_OTHER;
        (void)snprintf(f->reply.why, sizeof(f->reply.why), "memory ran out");
    } else {
        f->reply.body = f->body.data;
        f->reply.len = f->body.len - 1;
    }
    f->done(f->data, &f->reply); /* the client may be gone now */
    fetch_free(f);
}

/* Those that have ended. Nobody is told yet: see on_done. */
static void reap(struct fetch_client *c)
{
    const CURLMsg *msg;
    int left;

    while ((msg = curl_multi_info_read(c->multi, &left))) {
        struct fetch *f = NULL;
        CURLcode code = msg->data.result;

        if (msg->msg != CURLMSG_DONE ||
            curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &f) != CURLE_OK || !f)
            continue;
        keep_reply(f, code);
        close_easy(f); /* `msg` is gone with it */
        event_active(f->on_done, EV_TIMEOUT, 0);
    }
}

/* ---- what libcurl waits for ---- */

static void go_on(struct fetch_client *c, curl_socket_t fd, int what)
{
    struct signals s;
    int running;

    signals_hold(&s);
    (void)curl_multi_socket_action(c->multi, fd, what, &running);
    signals_release(&s);
    reap(c);
}

static void on_socket(evutil_socket_t fd, short what, void *data)
{
    go_on(data, fd,
          (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static void on_time(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    go_on(data, CURL_SOCKET_TIMEOUT, 0);
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data)
{
    struct fetch_client *c = data;
    struct event *event = socket_data;
    short want =
        (short)((what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0));

    (void)easy;
    if (event)
        event_free(event);
    event = what == CURL_POLL_REMOVE || want == 0
                ? NULL
                : event_new(c->base, fd, (short)(want | EV_PERSIST), on_socket, c);
    if (event)
        (void)event_add(event, NULL);
    (void)curl_multi_assign(c->multi, fd, event);
    return 0;
}

static int watch_time(CURLM *multi, long ms, void *data)
{
    const struct fetch_client *c = data;
    struct timeval in = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

    (void)multi;
    return ms < 0 ? evtimer_del(c->on_time) : evtimer_add(c->on_time, &in);
}

/* ---- what libcurl hands over ---- */

static size_t take_body(char *bytes, size_t one, size_t n, void *data)
{
    struct fetch *f = data;
    struct gb_err err;

    (void)one; /* is 1 */
    if (n > f->reply_max - f->body.len) {
        f->too_big = true;
        return 0;
    }
    if (f->stream)
        event_active(f->on_data, EV_TIMEOUT, 0);
    return gb_buf_add(&f->body, bytes, n, &err) < 0 ? 0 : n;
}

/* "Name: value", as it comes. */
static void keep_header(struct fetch *f, const char *bytes, size_t n)
{
    size_t len = strlen(f->keep), at = len + 1;

    if (n <= at || strncasecmp(bytes, f->keep, len) != 0 || bytes[len] != ':')
        return;
    while (at < n && (bytes[at] == ' ' || bytes[at] == '\t'))
        at++;
    while (n > at && (bytes[n - 1] == '\r' || bytes[n - 1] == '\n' || bytes[n - 1] == ' '))
        n--;
    if (n - at >= sizeof(f->kept))
        return;
    memcpy(f->kept, bytes + at, n - at);
    f->kept[n - at] = '\0';
}

static size_t take_header(const char *bytes, size_t one, size_t n, void *data)
{
    struct fetch *f = data;

    (void)one;
    if (f->keep)
        keep_header(f, bytes, n);
    f->header_bytes += n;
    f->too_big = f->header_bytes > HEADERS_MAX;
    return f->too_big ? 0 : n;
}

static bool on_this_host(const struct sockaddr *address)
{
    union {
        const struct sockaddr *any;
        const struct sockaddr_in *v4;
        const struct sockaddr_in6 *v6;
    } a = { .any = address };

    if (address->sa_family == AF_INET)
        return ntohl(a.v4->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a.v6->sin6_addr);
}

static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct fetch *f = data;

    (void)purpose;
    if (f->loopback_only && !on_this_host(&address->addr)) {
        f->strayed = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* ---- beginning ---- */

static int add_header(struct fetch *f, const char *line)
{
    struct curl_slist *longer = curl_slist_append(f->headers, line);

    if (longer)
        f->headers = longer;
    return longer ? 0 : -1;
}

static int add_headers(struct fetch *f, const struct fetch_request *r)
{
    char line[HEADER_LINE_MAX];
    int bad = 0;

    if (r->body)
        bad |= add_header(f, "Content-Type: application/json");
    if (snprintf(line, sizeof(line), "Accept: %s", r->accept ? r->accept : "application/json") >=
        (int)sizeof(line))
        bad = -1;
    bad |= add_header(f, line);
    for (const char *const *at = r->headers; at && *at; at++)
        bad |= add_header(f, *at);
    bad |= add_header(f, "Expect:"); /* not to wait for a "100 Continue" before a long body */
    if (r->key) {
        if (snprintf(line, sizeof(line), "Authorization: Bearer %s", r->key) >= (int)sizeof(line))
            bad = -1;
        bad |= bad ? bad : add_header(f, line);
        explicit_bzero(line, sizeof(line));
    }
    return bad;
}

/* What is sent, and what becomes of the answer. */
static int set_transfer(struct fetch *f, const struct fetch_request *r)
{
    CURL *e = f->easy;
    unsigned bad = 0;

    bad |= curl_easy_setopt(e, CURLOPT_URL, r->url);
    if (r->body) {
        bad |= curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(r->body));
        bad |= curl_easy_setopt(e, CURLOPT_COPYPOSTFIELDS, r->body);
    }
    if (r->method)
        bad |= curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, r->method);
    bad |= curl_easy_setopt(e, CURLOPT_HTTPHEADER, f->headers);
    bad |= curl_easy_setopt(e, CURLOPT_USERAGENT, "glovebox/" GLOVEBOX_VERSION);
    bad |= curl_easy_setopt(e, CURLOPT_PRIVATE, f);
    bad |= curl_easy_setopt(e, CURLOPT_ERRORBUFFER, f->why);
    bad |= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
    bad |= curl_easy_setopt(e, CURLOPT_WRITEDATA, f);
    bad |= curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_header);
    bad |= curl_easy_setopt(e, CURLOPT_HEADERDATA, f);
    bad |= curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    bad |= curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, f);
    if (!r->stream)
        bad |= curl_easy_setopt(e, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)r->reply_max);
    bad |= curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
    if (r->connect_ms > 0)
        bad |= curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)r->connect_ms);
    return bad == 0 ? 0 : -1;
}

/* What it may not do. Each is set although some are defaults: defaults have changed before. */
static int set_bounds(CURL *e, const struct fetch_request *r)
{
    unsigned bad = 0;

    bad |= curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    bad |= curl_easy_setopt(e, CURLOPT_PROXY, ""); /* nor what the environment says */
    bad |= curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    bad |= curl_easy_setopt(e, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    bad |= curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
    bad |= curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    bad |= curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    bad |= curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
    bad |= curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
    bad |= curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (r->ca) {
        bad |= curl_easy_setopt(e, CURLOPT_CAINFO, r->ca);
        bad |= curl_easy_setopt(e, CURLOPT_CAPATH, NULL); /* these and no others */
    }
#if LIBCURL_VERSION_NUM >= 0x075500
    bad |= curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    bad |= curl_easy_setopt(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
    /* A look-up that nobody waits for any more is left to its thread: joining it would hold the
     * loop for as long as the name server is silent. */
    bad |= curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
#endif
    return bad == 0 ? 0 : -1;
}

static int begin(struct fetch *f, const struct fetch_request *r)
{
    struct signals s;
    CURLMcode bad;

    f->on_done = event_new(f->client->base, -1, 0, on_done, f);
    f->on_data = event_new(f->client->base, -1, 0, on_data, f);
    f->easy = curl_easy_init();
    if (!f->on_done || !f->on_data || !f->easy || add_headers(f, r) < 0 || set_transfer(f, r) < 0 ||
        set_bounds(f->easy, r) < 0)
        return -1;
    signals_hold(&s);
    bad = curl_multi_add_handle(f->client->multi, f->easy);
    signals_release(&s);
    return bad == CURLM_OK ? 0 : -1;
}

static void cancel(struct fetch *f)
{
    close_easy(f);
    unlink_fetch(f);
    fetch_free(f);
}

static struct fetch *post(struct fetch_client *client, const struct fetch_request *request,
                          fetch_done done, void *data, struct gb_err *err)
{
    struct fetch *f = calloc(1, sizeof(*f));

    if (f) {
        *f = (struct fetch){ .client = client,
                             .next = client->fetches,
                             .reply_max = request->reply_max,
                             .loopback_only = request->loopback_only,
                             .stream = request->stream,
                             .keep = request->keep,
                             .done = done,
                             .data = data };
        gb_buf_init(&f->body, request->reply_max + 1);
        client->fetches = f;
        if (begin(f, request) == 0)
            return f;
        cancel(f);
    }
    (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "beginning a request");
    return NULL;
}

/* ---- clients ---- */

static struct fetch_client *client_free(struct fetch_client *c)
{
    struct signals s;

    if (!c)
        return NULL;
    while (c->fetches)
        cancel(c->fetches);
    if (c->multi) {
        signals_hold(&s);
        (void)curl_multi_cleanup(c->multi);
        signals_release(&s);
    }
    if (c->on_time)
        event_free(c->on_time);
    free(c);
    return NULL;
}

static void start_curl(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

static struct fetch_client *client_new(struct event_base *base)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* libcurl's own start is for the process */
    struct fetch_client *c;
    unsigned bad = 0;

    (void)pthread_once(&once, start_curl);
    c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->base = base;
    c->multi = curl_multi_init();
    c->on_time = evtimer_new(base, on_time, c);
    if (!c->multi || !c->on_time)
        return client_free(c);
    bad |= (unsigned)curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    bad |= (unsigned)curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    bad |= (unsigned)curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, watch_time);
    bad |= (unsigned)curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    bad |= (unsigned)curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)IDLE_MAX);
    return bad == 0 ? c : client_free(c);
}

extern const struct fetch_ops glovebox_fetch;
__attribute__((visibility("default"))) const struct fetch_ops glovebox_fetch = {
    .abi = FETCH_ABI,
    .url = url_read,
    .client_new = client_new,
    .client_free = client_free,
    .post = post,
    .cancel = cancel,
};
