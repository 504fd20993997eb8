#include "python/zygote.h"

#include <errno.h>
#include <fcntl.h>
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
    WORDS_MAX = 4096
};

struct zygote {
    struct zygote_callbacks callbacks;
    pid_t pid;
    int pidfd, sock, err;
    struct event *on_sock, *on_err;
    json_t *info;
    char *path;
    /* the end of what it wrote to standard error: why it died, if it does */
    char words[WORDS_MAX + 1];
    size_t n_words;
    bool is_spent; /* it has made its last box */
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
    static const char too_old[] = "glovebox-too-old ";
    const char *line;

    hear(z);
    line = last_line(z);
    if (strncmp(line, too_old, strlen(too_old)) == 0) {
        gb_err_set(err, GB_E_NO_INTERPRETER, 0,
                   "%s is Python %s; glovebox needs CPython 3.9 or newer", z->path,
                   line + strlen(too_old));
        gb_err_hint(err, "name a newer interpreter with --python PATH");
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

static void died(struct zygote *z)
{
    struct gb_err err;

    explain_death(z, &err);
    (void)event_del(z->on_sock);
    (void)event_del(z->on_err);
    z->callbacks.died(z->callbacks.data, &err);
}

static void on_sock(evutil_socket_t fd, short what, void *data)
{
    struct zygote *z = data;
    char text[sizeof(struct zygote_reply) + HELLO_MAX];
    struct zygote_reply reply;
    int pidfd = -1;
    size_t n = 1;
    ssize_t len = fd_recv(fd, text, sizeof(text), &pidfd, &n);

    (void)what;
    if (len == -EAGAIN)
        return;
    if (len < (ssize_t)sizeof(reply)) {
        died(z);
        return;
    }
    memcpy(&reply, text, sizeof(reply));
    if (reply.kind == ZYGOTE_HELLO) {
        z->info = json_loadb(text + sizeof(reply), (size_t)len - sizeof(reply), 0, NULL);
        z->callbacks.hello(z->callbacks.data, z->info);
        return;
    }
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

    if (!z)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a zygote");
    *z = (struct zygote){ .callbacks = *callbacks, .pidfd = -1, .sock = -1, .err = -1 };
    z->path = strdup(spec->path);
    if (interpreter_start(spec, &z->pid, &z->pidfd, &z->sock, &z->err, err) < 0) {
        (void)zygote_free(z);
        return -1;
    }
    (void)fcntl(z->err, F_SETFL, O_NONBLOCK);
    z->on_sock = event_new(base, z->sock, EV_READ | EV_PERSIST, on_sock, z);
    z->on_err = event_new(base, z->err, EV_READ | EV_PERSIST, on_err, z);
    if (!z->path || !z->on_sock || !z->on_err || event_add(z->on_sock, NULL) < 0 ||
        event_add(z->on_err, NULL) < 0) {
        (void)zygote_free(z);
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "watching a zygote");
    }
    *ret = z;
    return 0;
}

int zygote_order(struct zygote *z, const struct zygote_order *order, const int *fds, size_t n,
                 struct gb_err *err)
{
    int e = fd_send(z->sock, order, sizeof(*order), fds, n);

    if (e < 0)
        return gb_fail(err, GB_E_GONE, -e, "ordering a box");
    z->is_spent = order->is_last;
    return 0;
}

void zygote_retire(struct zygote *z)
{
    z->is_spent = true;
    (void)shutdown(z->sock, SHUT_WR);
}

bool zygote_is_spent(const struct zygote *z)
{
    return z->is_spent;
}

struct zygote *zygote_free(struct zygote *z)
{
    if (!z)
        return NULL;
    if (z->on_sock)
        event_free(z->on_sock);
    if (z->on_err)
        event_free(z->on_err);
    if (z->pid > 0) {
        siginfo_t info;
        (void)syscall(SYS_pidfd_send_signal, z->pidfd, SIGKILL, NULL, 0);
        while (waitid(P_PIDFD, (id_t)z->pidfd, &info, WEXITED) < 0 && errno == EINTR)
            ;
    }
    gb_closep(&z->pidfd);
    gb_closep(&z->sock);
    gb_closep(&z->err);
    json_decref(z->info);
    free(z->path);
    free(z);
    return NULL;
}
