#include "python/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "python/protocol.h"

enum {
    WORDS_MAX = 4096,
    TWIN_AFTER = 4,  /* boxes: an engine that makes a few needs no twin */
    TWIN_ORDERS = 2, /* at a time */
    LATE_MS = 2000
};

/* One of its processes. Making a box is a row of steps in two processes by turns, which wait for a
 * processor in between: where many are wanted, one zygote cannot make use of two processors. So it
 * has a twin then, a fork of itself with a socket of its own, which takes half of the orders. */
struct half {
    struct zygote *zygote;
    pid_t pid; /* 0: there is none yet */
    int pidfd, sock;
    struct event *on_sock;
    unsigned n_orders; /* that it has not answered */
};

enum {
    FIRST,
    TWIN,
    HALVES
};

struct zygote {
    struct zygote_callbacks callbacks;
    struct event_base *base;
    struct half halves[HALVES];
    unsigned n_made;
    bool has_twin; /* or has been asked for one: once */
    int err;
    struct event *on_err;
    json_t *info;
    char *path;
    /* the end of what it wrote to standard error: why it died, if it does */
    char words[WORDS_MAX + 1];
    size_t n_words;
    bool is_spent;  /* it has made its last box */
    bool is_ending; /* one of its processes is gone, and the other about to be */
};

/* ---- why it died ---- */

static void hear(struct zygote *z)
{
    for (;;) {
        if (z->n_words == WORDS_MAX) { /* the end is what matters: drop the first half */
            memmove(z->words, z->words + WORDS_MAX / 2, WORDS_MAX / 2);
            z->n_words = WORDS_MAX / 2;
        }
        ssize_t n = read(z->err, z->words + z->n_words, WORDS_MAX - z->n_words);
        if (n <= 0)
            break;
        z->n_words += (size_t)n;
    }
    z->words[z->n_words] = '\0';
}

static const char *last_line(struct zygote *z)
{
    char *at;

    while (z->n_words > 0 && (z->words[z->n_words - 1] == '\n' || z->words[z->n_words - 1] == ' '))
        z->words[--z->n_words] = '\0';
    at = strrchr(z->words, '\n');
    return at ? at + 1 : z->words;
}

static void explain_death(struct zygote *z, struct gb_err *err)
{
    static const char unusable[] = "glovebox-unusable ", python_2[] = "Unknown option: -I";
    static const char needed[] = "glovebox needs CPython 3.9 or newer, not a free-threaded build";
    const char *line;

    hear(z);
    line = last_line(z);
    if (strncmp(line, unusable, strlen(unusable)) == 0 || strstr(z->words, python_2)) {
        gb_err_set(err, GB_E_NO_INTERPRETER, 0, "%s is %s; %s", z->path,
                   line[0] == unusable[0] ? line + strlen(unusable) : "Python 2", needed);
        gb_err_hint(err, "name another interpreter with --python PATH");
    } else if (strncmp(line, "preloading ", strlen("preloading ")) == 0) {
        gb_err_set(err, GB_E_NO_INTERPRETER, 0, "%s did not start: %s", z->path, line);
        gb_err_hint(err, "what is to be preloaded must be importable by '%s -I'", z->path);
    } else if (!z->info) {
        gb_err_set(err, GB_E_NO_INTERPRETER, 0,
                   "%s did not start as a Python interpreter; it said: %s", z->path,
                   line[0] ? line : "nothing");
        gb_err_hint(err, "glovebox needs CPython 3.9 or newer; try '%s -I -c pass'", z->path);
    } else {
        gb_err_set(err, GB_E_GONE, 0, "the warm interpreter died%s%s", line[0] ? ": " : "", line);
    }
}

/* ---- events ---- */

static void deafen(struct half *h)
{
    if (h->on_sock)
        event_free(h->on_sock);
    h->on_sock = NULL;
}

static void died(struct zygote *z)
{
    struct gb_err err;

    explain_death(z, &err);
    for (size_t i = 0; i < HALVES; i++)
        deafen(&z->halves[i]);
    (void)event_del(z->on_err);
    z->callbacks.died(z->callbacks.data, &err);
}

/* Let them make what they were ordered to, and end. */
static void dismiss(struct zygote *z)
{
    for (size_t i = 0; i < HALVES; i++)
        if (z->halves[i].on_sock)
            (void)shutdown(z->halves[i].sock, SHUT_WR);
}

/* Without one of them the other is to end too, but not before it has told of the boxes that it
 * makes: they are our children. A twin that could not be made is done without. */
static void half_gone(struct half *h)
{
    struct zygote *z = h->zygote;

    deafen(h);
    if (h->pid == 0)
        (void)close(take_fd(&h->sock));
    else
        z->is_ending = true;
    if (z->is_ending)
        dismiss(z);
    if (!z->halves[FIRST].on_sock && !z->halves[TWIN].on_sock)
        died(z);
}

static void on_sock(evutil_socket_t fd, short what, void *data);

static int half_hear(struct half *h)
{
    h->on_sock = event_new(h->zygote->base, h->sock, EV_READ | EV_PERSIST, on_sock, h);
    if (h->on_sock && event_add(h->on_sock, NULL) == 0)
        return 0;
    deafen(h);
    return -1;
}

static void on_sock(evutil_socket_t fd, short what, void *data)
{
    struct half *h = data;
    struct zygote *z = h->zygote;
    char text[sizeof(struct zygote_reply) + HELLO_MAX];
    struct zygote_reply reply;
    int pidfd = -1;
    size_t n = 1;
    ssize_t len = fd_recv(fd, text, sizeof(text), &pidfd, &n);

    (void)what;
    if (len == -EAGAIN)
        return;
    if (len < (ssize_t)sizeof(reply)) {
        half_gone(h);
        return;
    }
    memcpy(&reply, text, sizeof(reply));
    if (reply.kind == ZYGOTE_TWIN) {
        h->pid = reply.pid;
        h->pidfd = (int)syscall(SYS_pidfd_open, h->pid, 0);
        return;
    }
    if (reply.kind == ZYGOTE_HELLO) {
        z->info = json_loadb(text + sizeof(reply), (size_t)len - sizeof(reply), 0, NULL);
        z->callbacks.hello(z->callbacks.data, z->info);
        return;
    }
    h->n_orders--;
    z->n_made++;
    z->callbacks.box(z->callbacks.data, reply.number, reply.pid, n == 1 ? pidfd : -1, &reply.err);
}

static void on_err(evutil_socket_t fd, short what, void *data)
{
    struct zygote *z = data;
    size_t before = z->n_words;

    (void)fd;
    (void)what;
    hear(z);
    if (z->n_words == before)
        (void)event_del(z->on_err); /* closed */
}

/* ---- life ---- */

int zygote_new(struct event_base *base, const struct interpreter_spec *spec,
               const struct zygote_callbacks *callbacks, struct zygote **ret, struct gb_err *err)
{
    struct zygote *z = calloc(1, sizeof(*z));
    struct half *first;

    if (!z)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a zygote");
    *z = (struct zygote){ .callbacks = *callbacks, .base = base, .err = -1 };
    for (size_t i = 0; i < HALVES; i++)
        z->halves[i] = (struct half){ .zygote = z, .pidfd = -1, .sock = -1 };
    z->path = strdup(spec->path);
    first = &z->halves[FIRST];
    if (interpreter_start(spec, &first->pid, &first->pidfd, &first->sock, &z->err, err) < 0) {
        (void)zygote_free(z);
        return -1;
    }
    (void)fcntl(z->err, F_SETFL, O_NONBLOCK);
    z->on_err = event_new(base, z->err, EV_READ | EV_PERSIST, on_err, z);
    if (!z->path || half_hear(first) < 0 || !z->on_err || event_add(z->on_err, NULL) < 0) {
        (void)zygote_free(z);
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "watching a zygote");
    }
    *ret = z;
    return 0;
}

static void ask_for_twin(struct zygote *z)
{
    const struct zygote_order order = { .is_twin = true };
    struct half *twin = &z->halves[TWIN];
    int ends[2];

    z->has_twin = true;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    twin->sock = ends[0];
    if (half_hear(twin) == 0)
        (void)fd_send(z->halves[FIRST].sock, &order, sizeof(order), &ends[1], TWIN_FDS);
    (void)close(ends[1]); /* if it was not sent, that is its end */
}

/* The one that has less to do, if there are two. */
static struct half *free_half(struct zygote *z)
{
    struct half *first = &z->halves[FIRST], *twin = &z->halves[TWIN];

    return twin->on_sock && twin->pid > 0 && twin->n_orders < first->n_orders ? twin : first;
}

int zygote_order(struct zygote *z, const struct zygote_order *order, const int *fds, size_t n,
                 struct gb_err *err)
{
    struct half *h = free_half(z);
    int e = z->is_ending ? -EPIPE : fd_send(h->sock, order, sizeof(*order), fds, n);

    if (e < 0)
        return gb_fail(err, GB_E_GONE, -e, "ordering a box");
    z->is_spent = order->is_last;
    h->n_orders++;
    if (!z->has_twin && z->n_made >= TWIN_AFTER && h->n_orders >= TWIN_ORDERS)
        ask_for_twin(z);
    return 0;
}

void zygote_retire(struct zygote *z)
{
    z->is_spent = true;
    dismiss(z);
}

bool zygote_is_spent(const struct zygote *z)
{
    return z->is_spent;
}

/* A twin that was on its way: it says who it is, or is not, as soon as it is there. */
static pid_t late_twin(int sock)
{
    struct pollfd p = { .fd = sock, .events = POLLIN };
    struct zygote_reply reply = { 0 };
    size_t n = 0;

    if (poll(&p, 1, LATE_MS) <= 0 || fd_recv(sock, &reply, sizeof(reply), NULL, &n) <= 0)
        return 0;
    return reply.pid;
}

static void half_end(struct half *h)
{
    siginfo_t info;

    deafen(h);
    if (h->pid == 0 && h->sock >= 0)
        h->pid = late_twin(h->sock);
    if (h->pidfd < 0 && h->pid > 0)
        h->pidfd = (int)syscall(SYS_pidfd_open, h->pid, 0);
    if (h->pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, h->pidfd, SIGKILL, NULL, 0);
    gb_closep(&h->sock); /* which ends it as well */
    while (h->pidfd >= 0 && waitid(P_PIDFD, (id_t)h->pidfd, &info, WEXITED) < 0 && errno == EINTR)
        ;
    gb_closep(&h->pidfd);
}

struct zygote *zygote_free(struct zygote *z)
{
    if (!z)
        return NULL;
    for (size_t i = 0; i < HALVES; i++)
        half_end(&z->halves[i]);
    if (z->on_err)
        event_free(z->on_err);
    gb_closep(&z->err);
    json_decref(z->info);
    free(z->path);
    free(z);
    return NULL;
}
