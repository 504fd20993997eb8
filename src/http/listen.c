/* Where the server listens. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/own.h"
#include "http/core.h"

enum {
    BACKLOG = 512
};

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

/* ---- reading ---- */

static int invalid(const char *where, struct gb_err *err)
{
    (void)gb_fail(err, GB_E_INVALID, 0, "cannot listen at '%.100s'", where);
    return gb_fail_hint(err, "PORT, ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH");
}

static int cannot(const char *where, int why, struct gb_err *err)
{
    static const struct {
        int why;
        const char *hint;
    } hints[] = {
        { EADDRINUSE, "another server is there; --listen with another port, or 0 for any" },
        { EACCES, "ports below 1024 are for root, and the directory of a socket must be yours" },
        { EADDRNOTAVAIL, "this machine does not have that address" },
        { ENOENT, "the directory of the socket must be there" },
    };

    (void)gb_fail(err, GB_E_SYSTEM, why, "listening at %.150s", where);
    for (size_t i = 0; i < ARRAY_LEN(hints); i++)
        if (hints[i].why == why)
            gb_err_hint(err, "%s", hints[i].hint);
    return -1;
}

static bool read_port(const char *text, in_port_t *ret)
{
    char *end = NULL;
    unsigned long n = strtoul(text, &end, 10);

    if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 5 || n > 65535)
        return false;
    *ret = htons((in_port_t)n);
    return true;
}

static int read_local(const char *path, union address *ret, socklen_t *ret_len, struct gb_err *err)
{
    if (strlen(path) >= sizeof(ret->local.sun_path))
        return gb_fail(err, GB_E_INVALID, 0,
                       "the path of a Unix socket may have %zu bytes: '%.60s...'",
                       sizeof(ret->local.sun_path) - 1, path);
    ret->local.sun_family = AF_UNIX;
    memcpy(ret->local.sun_path, path, strlen(path) + 1);
    *ret_len = sizeof(ret->local);
    return 0;
}

/* The part before ":PORT"; a port alone has none. */
static bool read_inet(const char *where, union address *ret, socklen_t *ret_len)
{
    const char *colon = strrchr(where, ':');
    const char *port = colon ? colon + 1 : where;
    char host[INET6_ADDRSTRLEN + 3] = "127.0.0.1";
    size_t len = colon ? (size_t)(colon - where) : 0;

    if (colon) {
        if (len == 0 || len >= sizeof(host))
            return false;
        memcpy(host, where, len);
        host[len] = '\0';
        if (strcmp(host, "localhost") == 0)
            memcpy(host, "127.0.0.1", sizeof("127.0.0.1"));
    }
    len = strlen(host);
    if (host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        *ret_len = sizeof(ret->v6);
        ret->v6.sin6_family = AF_INET6;
        return inet_pton(AF_INET6, host + 1, &ret->v6.sin6_addr) == 1 &&
               read_port(port, &ret->v6.sin6_port);
    }
    *ret_len = sizeof(ret->v4);
    ret->v4.sin_family = AF_INET;
    return inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1 && read_port(port, &ret->v4.sin_port);
}

static int read_where(const char *where, union address *ret, socklen_t *ret_len, struct gb_err *err)
{
    *ret = (union address){ 0 };
    if (strncmp(where, "unix:", 5) == 0)
        return where[5] ? read_local(where + 5, ret, ret_len, err) : invalid(where, err);
    if (where[0] == '/' || where[0] == '.')
        return read_local(where, ret, ret_len, err);
    return read_inet(where, ret, ret_len) ? 0 : invalid(where, err);
}

static bool is_loopback(const union address *a)
{
    if (a->any.sa_family == AF_INET)
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
    return a->any.sa_family == AF_UNIX || IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

static char *url_of(int fd, const char *where)
{
    union address a = { 0 };
    socklen_t len = sizeof(a);
    char host[INET6_ADDRSTRLEN] = "";
    char *url = NULL;
    int n;

    if (getsockname(fd, &a.any, &len) < 0)
        return NULL;
    if (a.any.sa_family == AF_UNIX) {
        n = asprintf(&url, "unix:%s", strncmp(where, "unix:", 5) == 0 ? where + 5 : where);
    } else if (a.any.sa_family == AF_INET) {
        (void)inet_ntop(AF_INET, &a.v4.sin_addr, host, sizeof(host));
        n = asprintf(&url, "http://%s:%u", host, ntohs(a.v4.sin_port));
    } else {
        (void)inet_ntop(AF_INET6, &a.v6.sin6_addr, host, sizeof(host));
        n = asprintf(&url, "http://[%s]:%u", host, ntohs(a.v6.sin6_port));
    }
    return n < 0 ? NULL : url;
}

/* ---- listening ---- */

static void on_accept(struct evconnlistener *bound, evutil_socket_t fd, struct sockaddr *from,
                      int len, void *data)
{
    (void)bound;
    (void)len;
    conn_accept(data, fd, from);
}

/* Without descriptors or memory for one more, the kernel would say at once that there is one. */
static void on_cannot_accept(struct evconnlistener *bound, void *data)
{
    (void)bound;
    listeners_pause(data, true);
}

/* Takes the socket if it succeeds. */
static struct evconnlistener *accept_at(struct http_server *s, int fd)
{
    struct evconnlistener *bound =
        evconnlistener_new(s->spec.base, on_accept, s,
                           LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0 /* it listens */, fd);

    if (bound)
        evconnlistener_set_error_cb(bound, on_cannot_accept);
    return bound;
}

/* A socket that nobody listens at any more is in the way; one that somebody does is not ours. */
static int clear_way(const union address *a, struct gb_err *err)
{
    const char *path = a->local.sun_path;
    struct stat st;
    auto_close int fd = -1;

    if (lstat(path, &st) < 0)
        return 0;
    if (!S_ISSOCK(st.st_mode))
        return gb_fail(err, GB_E_SYSTEM, EEXIST, "%.150s is there, and no socket", path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, &a->any, sizeof(a->local)) == 0 || errno != ECONNREFUSED)
        return gb_fail(err, GB_E_SYSTEM, EADDRINUSE, "somebody listens at %.150s already", path);
    return unlink(path) < 0 ? gb_fail(err, GB_E_SYSTEM, errno, "removing %.150s", path) : 0;
}

static int open_socket(const char *where, const union address *a, socklen_t len, struct gb_err *err)
{
    auto_close int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_local = a->any.sa_family == AF_UNIX;
    static const int one = 1;
    mode_t mask;
    int rc;

    if (fd < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a socket");
    if (is_local && clear_way(a, err) < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    mask = umask(0177); /* the socket's file is its owner's from the start */
    rc = bind(fd, &a->any, len);
    (void)umask(mask);
    if (rc < 0 || listen(fd, BACKLOG) < 0)
        return cannot(where, errno, err);
    return take_fd(&fd);
}

int http_server_listen(struct http_server *s, const char *where, struct gb_err *err)
{
    struct listener *l = &s->listeners[s->n_listeners];
    union address a;
    socklen_t len = 0;
    auto_close int fd = -1;

    if (s->n_listeners == LISTENERS_MAX)
        return gb_fail(err, GB_E_INVALID, 0, "more than %d addresses to listen at", LISTENERS_MAX);
    if (read_where(where, &a, &len, err) < 0)
        return -1;
    fd = open_socket(where, &a, len, err);
    if (fd < 0)
        return -1;
    l->url = url_of(fd, where);
    l->path = a.any.sa_family == AF_UNIX ? strdup(a.local.sun_path) : NULL;
    l->bound = accept_at(s, fd);
    if (l->bound)
        (void)take_fd(&fd);
    s->n_listeners++;
    if (!l->url || !l->bound)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "listening at %.150s", where);
    s->is_public |= !is_loopback(&a);
    return 0;
}

const char *http_server_url(const struct http_server *s, size_t i)
{
    return i < s->n_listeners ? s->listeners[i].url : NULL;
}

void listeners_pause(struct http_server *s, bool is_paused)
{
    s->is_paused = is_paused;
    for (size_t i = 0; i < s->n_listeners; i++) {
        struct evconnlistener *bound = s->listeners[i].bound;

        if (bound)
            (void)(is_paused ? evconnlistener_disable(bound) : evconnlistener_enable(bound));
    }
}

void listeners_close(struct http_server *s)
{
    for (size_t i = 0; i < s->n_listeners; i++) {
        struct listener *l = &s->listeners[i];

        if (l->bound)
            evconnlistener_free(l->bound);
        if (l->path)
            (void)unlink(l->path);
        free(l->path);
        free(l->url);
    }
    s->n_listeners = 0;
    s->is_paused = false;
}
