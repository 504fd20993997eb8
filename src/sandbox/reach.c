#include "sandbox/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/own.h"

enum {
    WAITING_MAX = 64,
    RETRIES = 16,    /* in a tick: a program decides how many there are */
    GUARD_US = 1000, /* more than init ever waits in connect() */
    STATUS_MAX = 4096,
};

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_un unix_;
        char bytes[128]; /* as long as one may be */
    };
    socklen_t len;
};

/* A call that is not answered yet. */
static struct waiting {
    struct notice notice;
    struct address address;
    int sock, pinned;
    bool was_blocking;
    int64_t until_us; /* 0: for as long as it takes */
} waiting[WAITING_MAX];
static size_t n_waiting;

/* ---- the caller's socket ---- */

static pid_t leader_of(pid_t tid)
{
    char path[64], text[STATUS_MAX];
    const char *at;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", tid);
    if (fd_slurp_at(AT_FDCWD, path, text, sizeof(text) - 1) <= 0)
        return -1;
    at = strstr(text, "\nTgid:");
    return at ? (pid_t)strtol(at + strlen("\nTgid:"), NULL, 10) : -1;
}

/* Before Linux 6.9 only of the first thread; that the others have its descriptors is so but for
 * programs that see to it that they do not. */
static int open_caller(pid_t tid)
{
    enum {
        PIDFD_THREAD_ = O_EXCL
    };
    int fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD_);

    if (fd < 0 && errno == EINVAL)
        fd = (int)syscall(SYS_pidfd_open, leader_of(tid), 0);
    return fd;
}

static int take_socket(const struct notice *n)
{
    auto_close int caller = open_caller(n->tid);
    int fd = caller < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, caller, (int)n->args[0], 0);

    return fd >= 0 ? fd : errno == EBADF ? -EBADF : -EPERM;
}

/* ---- where it leads ---- */

/* Is it on the file system that the box was made with? Nothing else may be mounted on these. */
static bool is_own(int fd)
{
    struct stat it, own;

    return fstat(fd, &it) == 0 && stat("/tmp", &own) == 0 && it.st_dev == own.st_dev;
}

static bool is_path(const struct address *a)
{
    return a->len > offsetof(struct sockaddr_un, sun_path) && a->any.sa_family == AF_UNIX &&
           a->unix_.sun_path[0] != '\0';
}

/* Put the socket itself in the place of the path: what was looked at is what is connected to. */
static int pin(const struct notice *n, struct address *a, int *ret_pinned)
{
    char path[sizeof(a->bytes) + 1] = { 0 };
    int fd;

    memcpy(path, a->unix_.sun_path, a->len - offsetof(struct sockaddr_un, sun_path));
    fd = notice_open(n, AT_FDCWD, path, 0);
    if (fd < 0)
        return fd;
    if (!is_own(fd)) {
        (void)close(fd);
        return -EACCES;
    }
    *ret_pinned = fd;
    *a = (struct address){ .unix_ = { .sun_family = AF_UNIX }, .len = sizeof(a->unix_) };
    (void)snprintf(a->unix_.sun_path, sizeof(a->unix_.sun_path), "/proc/self/fd/%d", fd);
    return 0;
}

/* In the host's network an abstract name may be a service of the host's. The guest's Landlock would
 * know; init has none. */
static bool is_foreign_name(const struct plan *plan, const struct address *a)
{
    return (plan->namespaces & CLONE_NEWNET) == 0 && a->any.sa_family == AF_UNIX && !is_path(a);
}

static int read_address(const struct plan *plan, const struct notice *n, struct address *ret)
{
    int len = (int)n->args[2], e;

    *ret = (struct address){ 0 };
    if (len < 0 || (size_t)len > sizeof(ret->bytes))
        return -EINVAL;
    ret->len = (socklen_t)len;
    e = len == 0 ? 0 : notice_read(n, n->args[1], ret->bytes, (size_t)len);
    if (e < 0)
        return e;
    /* The kernel's own bound on a path; what is longer would not fit into ours. */
    if (is_path(ret) && ret->len > sizeof(ret->unix_))
        return -EINVAL;
    return is_foreign_name(plan, ret) ? -EPERM : 0;
}

/* ---- connecting ---- */

static void ignore(int signal)
{
    (void)signal;
}

static void block_alarm(int how)
{
    sigset_t alarm;

    (void)sigemptyset(&alarm);
    (void)sigaddset(&alarm, SIGALRM);
    (void)sigprocmask(how, &alarm, NULL);
}

void reach_prepare(void)
{
    struct sigaction act = { .sa_handler = ignore }; /* no SA_RESTART: it is to interrupt */

    (void)sigaction(SIGALRM, &act, NULL);
    block_alarm(SIG_BLOCK);
}

static void set_blocking(int sock, bool blocks)
{
    int flags = fcntl(sock, F_GETFL);

    if (flags >= 0)
        (void)fcntl(sock, F_SETFL, blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* 0 or an error, soon. */
static int try_connect(int sock, const struct address *a)
{
    static const struct itimerval guard = { { 0, GUARD_US }, { 0, GUARD_US } }, off = { 0 };
    int e;

    (void)setitimer(ITIMER_REAL, &guard, NULL);
    block_alarm(SIG_UNBLOCK);
    e = connect(sock, &a->any, a->len) < 0 ? errno : 0;
    block_alarm(SIG_BLOCK);
    (void)setitimer(ITIMER_REAL, &off, NULL);
    return e;
}

/* Has it to be tried again? A local one that is full says EAGAIN. */
static bool is_under_way(int e)
{
    return e == EINPROGRESS || e == EALREADY || e == EINTR || e == EAGAIN;
}

static void finish(struct waiting *w, int e)
{
    if (w->was_blocking)
        set_blocking(w->sock, true);
    gb_closep(&w->sock);
    gb_closep(&w->pinned);
    notice_finish(&w->notice, 0, e);
}

static int64_t patience_until(int sock)
{
    enum {
        LONGEST_S = 10 * 365 * 24 * 3600
    };
    struct timeval t = { 0 };
    socklen_t len = sizeof(t);

    if (getsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &t, &len) < 0 ||
        (t.tv_sec == 0 && t.tv_usec == 0))
        return 0;
    if (t.tv_sec > LONGEST_S) /* the kernel takes any number */
        t.tv_sec = LONGEST_S;
    return clock_us() + (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static void begin(struct waiting *w)
{
    int flags = fcntl(w->sock, F_GETFL), e;

    w->was_blocking = flags >= 0 && (flags & O_NONBLOCK) == 0;
    if (w->was_blocking)
        set_blocking(w->sock, false);
    e = try_connect(w->sock, &w->address);
    /* Over loopback it is there as soon as the first call has let go of the socket. */
    if (w->was_blocking && e == EINPROGRESS)
        e = try_connect(w->sock, &w->address);
    if (!w->was_blocking && e == EINTR)
        e = EINPROGRESS;
    if (!w->was_blocking || !is_under_way(e)) {
        finish(w, e);
    } else if (n_waiting == WAITING_MAX) {
        finish(w, EAGAIN);
    } else {
        w->until_us = patience_until(w->sock);
        waiting[n_waiting++] = *w;
    }
}

void reach_connect(const struct plan *plan, const struct notice *n)
{
    struct waiting w = { .notice = *n, .sock = -1, .pinned = -1 };
    int e = read_address(plan, n, &w.address);

    if (e == 0) {
        w.sock = take_socket(n);
        e = w.sock < 0 ? w.sock : 0;
    }
    if (e == 0 && is_path(&w.address))
        e = pin(n, &w.address, &w.pinned);
    if (e == 0 && !notice_is_valid(n))
        e = -EINTR; /* it was not the caller's */
    if (e < 0)
        finish(&w, -e);
    else
        begin(&w);
}

/* ---- those that wait ---- */

static uint64_t mask_of(const char *status, const char *name)
{
    const char *at = strstr(status, name);

    return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/* Has it a signal to see to? The kernel does not interrupt who waits for an answer. */
static bool has_signal(pid_t tid)
{
    char path[64], text[STATUS_MAX];

    (void)snprintf(path, sizeof(path), "/proc/%d/status", tid);
    if (fd_slurp_at(AT_FDCWD, path, text, sizeof(text) - 1) <= 0)
        return true;
    return ((mask_of(text, "\nSigPnd:") | mask_of(text, "\nShdPnd:")) &
            ~mask_of(text, "\nSigBlk:")) != 0;
}

bool reach_is_waiting(void)
{
    return n_waiting > 0;
}

/* True: it goes on waiting. */
static bool retry(struct waiting *w)
{
    int e = EINTR;

    if (notice_is_valid(&w->notice) && !has_signal(w->notice.tid)) {
        /* The program may have made it block again meanwhile, which would hold up init. */
        if (w->was_blocking)
            set_blocking(w->sock, false);
        e = try_connect(w->sock, &w->address);
        if (is_under_way(e) && (w->until_us == 0 || clock_us() < w->until_us))
            return true;
    }
    finish(w, e == EALREADY ? EINPROGRESS : e);
    return false;
}

void reach_retry(void)
{
    static int64_t next_us;
    static size_t at; /* they take turns */
    int64_t now = clock_us();

    if (now < next_us)
        return;
    next_us = now + REACH_TICK_US;
    for (size_t i = 0; i < RETRIES && i < n_waiting; i++) {
        if (at >= n_waiting)
            at = 0;
        if (retry(&waiting[at]))
            at++;
        else
            waiting[at] = waiting[--n_waiting];
    }
}
