/*
 * The first process of a box: a program of its own, small and static, so that starting and ending
 * it costs next to nothing and nothing of the interpreter or of the engine is in its memory.
 *
 *   glovebox-init GUEST CTL PLAN READY NET ROOT [MOUNT...]
 *
 * It is executed by box.c in the new namespaces, with the guest already forked: a copy of the warm
 * interpreter that waits for a byte on READY while the box is built around both of them, and sends
 * back on it what tells of calls that we answer (notice.h). NET is the network namespace, if it was
 * handed on, or -1 (net.h), ROOT the common part of the root, or -1 (root.h). MOUNT are directories
 * that only the host's root could open (idmap.h).
 *
 * The order of steps is the security argument:
 *   1. open the pieces of the host          as the engine's user
 *   2. become the box's user                never the host's root from here on
 *   3. build the private root, leave the host's
 *   4. loopback up, host name
 *   5. no_new_privs, no capabilities, a seccomp filter of its own with next to nothing in it
 * The guest seals itself, more closely, when 3 has given it its place, and asks for code only when
 * 5 is done and it is told so. Without namespaces, 1 to 4 fall away.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/own.h"
#include "sandbox/init.h"
#include "sandbox/notice.h"
#include "sandbox/reach.h"
#include "sandbox/seal.h"
#include "sandbox/verify.h"

/* ---- watching ---- */

enum {
    DEADLINE_GRACE_US = 250000,
    REST_LOOK_US = 1000000, /* between looks at sessions that rest, in which nothing runs */
    STILL_US = 100000,      /* how often it is seen that nothing does */
    LOOK_SHARE = 8,         /* looks at a session may take one part in so many of our time */
};

/* kill(-1) reaches exactly the box: its pid namespace, or its Landlock domain, and never init
 * itself. verify_wall() has asked before there was anything to kill. Nothing can fork away from
 * under it, since the kernel holds the task list meanwhile. Without either, walk the tree until it
 * is empty. */
static void kill_tree(const struct init *in)
{
    pid_t pids[256];

    for (int round = 0; round < 4000; round++) {
        pid_t pid = waitpid(-1, NULL, WNOHANG | __WALL);

        if (pid < 0 && errno == ECHILD)
            return; /* the usual case: the program left nothing behind */
        if (in->plan->level >= LEVEL_LANDLOCK) {
            (void)kill(-1, SIGKILL);
        } else {
            size_t n = watch_descendants(in->proc, getpid(), pids, ARRAY_LEN(pids));
            for (size_t i = 0; i < n; i++)
                (void)kill(pids[i], SIGKILL);
        }
        do
            pid = waitpid(-1, NULL, WNOHANG | __WALL);
        while (pid > 0);
        if (pid < 0 && errno == ECHILD)
            return;
        (void)usleep(500);
    }
}

static struct box_usage usage_from(const struct rusage *r)
{
    return (struct box_usage){
        .cpu_us = (int64_t)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000000 +
                  (int64_t)(r->ru_utime.tv_usec + r->ru_stime.tv_usec),
        .max_rss_kb = r->ru_maxrss,
    };
}

/* "PID (COMMAND) STATE ...": the command may hold parentheses. False for one that is dead. */
static bool read_survivor(const struct init *in, pid_t pid, struct box_survivor *ret)
{
    char path[WATCH_PATH], text[512];
    const char *from, *to;
    ssize_t n;

    (void)snprintf(path, sizeof(path), "%d/stat", pid);
    n = fd_slurp_at(in->proc, path, text, sizeof(text) - 1);
    from = n > 0 ? strchr(text, '(') : NULL;
    to = from ? strrchr(from, ')') : NULL;
    if (!to || !to[1] || strchr("ZXx", to[2]))
        return false;
    *ret = (struct box_survivor){ .pid = pid };
    (void)snprintf(ret->command, sizeof(ret->command), "%.*s", (int)(to - from - 1), from + 1);
    return true;
}

/* Whoever lives beside the main process, before it is killed. */
static void list_survivors(const struct init *in, const struct seat *s, struct box_event *event)
{
    pid_t pids[256];
    size_t n = s->is_listing ? watch_descendants(in->proc, getpid(), pids, ARRAY_LEN(pids)) : 0;

    for (size_t i = 0; i < n; i++) {
        struct box_survivor one;

        if (pids[i] == s->guest || !read_survivor(in, pids[i], &one))
            continue;
        if (event->n_survivors < BOX_SURVIVORS_MAX)
            event->survivors[event->n_survivors] = one;
        event->n_survivors++;
    }
}

static struct box_usage usage_of_children(void)
{
    struct rusage r = { 0 };

    (void)getrusage(RUSAGE_CHILDREN, &r);
    return usage_from(&r);
}

void init_tell(const struct seat *s, const struct box_event *event)
{
    (void)fd_send(s->ctl, event, sizeof(*event), NULL, 0);
}

/* The last word, with the network namespace if that is as it was made. */
static void tell_end(const struct init *in, const struct seat *s, const struct box_event *event)
{
    bool hands_on = in->notices >= 0 && in->net >= 0 && !in->is_net_used;

    /* A descriptor may not be to be sent where the user has many on their way. */
    if (!hands_on || fd_send(s->ctl, event, sizeof(*event), &in->net, 1) < 0)
        init_tell(s, event);
}

/* Asked first, since the answer is no as a rule, and /proc takes longer to give it. */
static bool has_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/* Kill the rest, tell the engine, reap, clean up, go. The engine hears of it when nothing in the
 * box can run another instruction; taking down its memory and namespaces is slow, and nobody needs
 * to wait for that. */
_Noreturn void init_end(const struct init *in, const struct seat *s, struct box_event *event)
{
    uint64_t left_us = 0;

    if (in->plan->level >= LEVEL_LANDLOCK)
        (void)kill(-1, SIGKILL);
    /* One that is left is, as a rule, the one that lets the guest leave, and is not waited for;
     * what it has used is asked for. */
    if (in->plan->level < LEVEL_LANDLOCK || event->end != END_EXITED ||
        (has_children() && watch_children(in->proc, 2, &left_us) > 1)) {
        kill_tree(in);
        left_us = 0;
    }
    event->kind = BOX_ENDED;
    event->usage = usage_of_children();
    event->usage.cpu_us += (int64_t)left_us + in->notices_us;
    tell_end(in, s, event);
    if (in->plan->level < LEVEL_NAMESPACES) /* in a namespace the kernel reaps what we leave */
        kill_tree(in);
    if (in->scratch >= 0) {
        struct box_order order;

        /* The engine looks at what is in it first, and closes the socket when it has; so does its
         * death. */
        while (fd_recv(s->ctl, &order, sizeof(order), NULL, NULL) > 0)
            ;
        fd_empty_dir(in->scratch);
        (void)rmdir(in->plan->scratch);
    }
    _exit(0);
}

void init_hear_last_words(const struct seat *s)
{
    enum {
        ROUNDS = 10,
        ROUND_US = 2000
    };

    if (!s->watching) /* it has hardly begun, or never ran */
        return;
    (void)kill(s->guest, BOX_LAST_WORDS_SIGNAL);
    for (int i = 0; i < ROUNDS; i++) {
        siginfo_t info = { 0 };
        (void)usleep(ROUND_US);
        if (waitid(P_PID, (id_t)s->guest, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
            info.si_pid == s->guest)
            return;
    }
}

/* The main process has been told to die, or was never seen to: its account is wanted too. */
static void reap_guest(const struct seat *s)
{
    if (s->guest <= 0)
        return;
    (void)kill(s->guest, SIGKILL);
    while (waitpid(s->guest, NULL, __WALL) < 0 && errno == EINTR)
        ;
}

static struct seat *seat_of_guest(struct init *in, pid_t pid)
{
    for (size_t i = 0; i < in->n_seats; i++)
        if (in->seats[i].guest == pid)
            return &in->seats[i];
    return NULL;
}

/* Its main process is gone, or a limit is passed, or its time is up. */
static void seat_over(struct init *in, struct seat *s, struct box_event *event)
{
    if (s->is_lasting) {
        seat_roll(in, s, event);
        return;
    }
    if (event->end != END_EXITED)
        reap_guest(s);
    init_end(in, s, event);
}

static void init_obey(struct init *in, struct seat *s);

static bool has_order(const struct seat *s)
{
    struct box_order order = { 0 };
    struct iovec iov = { .iov_base = &order, .iov_len = sizeof(order) };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

    return recvmsg(s->ctl, &msg, MSG_PEEK | MSG_DONTWAIT) == (ssize_t)sizeof(order) &&
           order.kind != BOX_DIE;
}

/* order: what the engine has said comes before what it was said about. It names a copy before it
 * lets a cell begin, and asks for survivors before it lets a command begin, whose end this may be.
 * What poll() told is no answer: it may have waited for another's end, and this one came since. */
static void obey_waiting(struct init *in, pid_t guest)
{
    struct seat *s = seat_of_guest(in, guest);

    while (s && has_order(s)) {
        init_obey(in, s);
        s = seat_of_guest(in, guest);
    }
    if (s)
        s->is_called = false; /* what is left, the next poll() tells */
}

static void init_reap(struct init *in)
{
    for (;;) {
        struct box_event event = { .end = END_EXITED };
        struct rusage r = { 0 };
        pid_t pid = wait4(-1, &event.status, WNOHANG | __WALL, &r);
        struct seat *s = NULL;

        if (pid <= 0)
            return;
        event.usage = usage_from(&r);
        seat_note_death(in, pid);
        obey_waiting(in, pid);
        s = seat_of_guest(in, pid);
        if (!s)
            continue;
        list_survivors(in, s, &event);
        seat_over(in, s, &event);
    }
}

/* The host program may be busy, or stopped, and not turn its loop: the clock runs all the same. */
static void init_late(struct init *in, struct seat *s)
{
    struct box_event event = { .end = END_LATE };

    list_survivors(in, s, &event);
    init_hear_last_words(s);
    seat_over(in, s, &event);
}

/* The engine wants its end, or is gone. */
static void init_told(struct init *in, struct seat *s, bool is_heard)
{
    struct box_event event = { .end = END_TOLD };

    if (is_heard)
        list_survivors(in, s, &event);
    if (is_heard && !s->is_resting && s->guest > 0)
        init_hear_last_words(s);
    if (in->n_seats > 1) {
        seat_close(in, s, &event);
        return;
    }
    reap_guest(s);
    init_end(in, s, &event);
}

static void init_watch(struct init *in, struct seat *s, const struct box_order *order)
{
    s->watching = true;
    s->is_resting = false;
    s->rest_cpu_ms = 0;
    in->still_until_us = 0;
    s->limits = order->limits;
    s->cpu_each_ms = s->limits.cpu_ms;
    if (s->is_lasting && s->limits.cpu_ms != 0) /* of the cell, and not of those before it */
        s->limits.cpu_ms += watch_look(&(struct plan_watch){ 0 }, in->proc, in->scratch).cpu_ms +
                            (uint64_t)in->notices_us / 1000;
    in->next_look_us = clock_us();
    s->deadline_us = clock_us() + (int64_t)order->timeout_ms * 1000 + DEADLINE_GRACE_US;
}

static void init_obey(struct init *in, struct seat *s)
{
    struct box_order order;
    size_t n_fds = 1;
    int fd = -1;
    ssize_t n = fd_recv(s->ctl, &order, sizeof(order), &fd, &n_fds);

    if (n_fds == 0)
        fd = -1;
    if (n != (ssize_t)sizeof(order) || order.kind == BOX_DIE)
        init_told(in, s, n > 0);
    else if (order.kind == BOX_WATCH)
        init_watch(in, s, &order);
    else if (order.kind == BOX_LIST)
        s->is_listing = true;
    else
        seat_obey(in, s, &order, take_fd(&fd));
    gb_closep(&fd);
}

static bool is_resting(const struct init *in)
{
    for (size_t i = 0; i < in->n_seats; i++)
        if (!in->seats[i].is_resting)
            return false;
    return true;
}

/* What it costs to allow sockets is the program's doing. */
static void charge_notices(const struct init *in, struct plan_watch *limits)
{
    uint64_t ms = (uint64_t)in->notices_us / 1000;

    if (limits->cpu_ms != 0)
        limits->cpu_ms = limits->cpu_ms > ms ? limits->cpu_ms - ms : 1;
}

/* Do all wait, and is there nobody else? A process that a cell left would show, and so would a
 * thread; a handler that a timer calls uses time. */
static bool is_still(const struct init *in)
{
    for (size_t i = 0; i < in->n_seats; i++)
        if (seat_cpu_us(&in->seats[i]) != in->seats[i].still_us)
            return false;
    return true;
}

static void note_rest(struct init *in, const struct watch_sample *sample)
{
    bool is_quiet = is_resting(in) && sample->processes <= seat_waiting(in) && is_still(in);

    for (size_t i = 0; i < in->n_seats; i++) {
        struct seat *s = &in->seats[i];
        if (s->rest_cpu_ms != 0)
            s->limits.cpu_ms = sample->cpu_ms + (uint64_t)in->notices_us / 1000 + s->rest_cpu_ms;
        s->rest_cpu_ms = 0;
        s->still_us = seat_cpu_us(s);
    }
    in->still_until_us = is_quiet ? clock_us() + REST_LOOK_US : 0;
}

/* What cannot be watched does not run. */
static _Noreturn void init_blind(const struct init *in, struct box_event *event)
{
    event->end = END_BLIND;
    for (size_t i = 1; i < in->n_seats; i++)
        init_tell(&in->seats[i], event);
    init_end(in, &in->seats[0], event);
}

static void init_look(struct init *in)
{
    struct box_event event = { .end = END_LIMIT };
    struct plan_watch limits = seat_limits(in);
    int64_t began = clock_us(), took, next;

    charge_notices(in, &limits);
    do
        event.sample = watch_look(&limits, in->proc, in->scratch);
    while (event.sample.hit == LIMIT_MEMORY && seat_shed(in));
    if (event.sample.blind != 0)
        init_blind(in, &event);
    if (event.sample.hit != LIMIT_NONE) {
        struct seat *s = seat_blamed(in);
        if (s && (s->guest > 0 || !s->is_lasting)) {
            list_survivors(in, s, &event);
            seat_over(in, s, &event);
        }
    }
    next = (int64_t)event.sample.next_ms * 1000;
    if (in->seats[0].is_lasting) { /* exact shares of many copies are dear to ask for */
        took = (clock_us() - began) * LOOK_SHARE;
        next = took > next ? took : next;
        note_rest(in, &event.sample);
        next = in->still_until_us != 0 && next < STILL_US ? STILL_US : next;
    }
    in->next_look_us = clock_us() + next;
}

bool init_is_watching(const struct init *in)
{
    for (size_t i = 0; i < in->n_seats; i++)
        if (in->seats[i].watching)
            return true;
    return false;
}

static int init_timeout(const struct init *in)
{
    int64_t at = in->next_look_us, us;

    if (!init_is_watching(in))
        return reach_is_waiting() ? REACH_TICK_US / 1000 : -1;
    for (size_t i = 0; i < in->n_seats; i++)
        if (in->seats[i].deadline_us != 0 && in->seats[i].deadline_us < at)
            at = in->seats[i].deadline_us;
    us = at - clock_us();
    if (reach_is_waiting() && us > REACH_TICK_US)
        us = REACH_TICK_US;
    return us <= 0 ? 0 : (int)(us / 1000 + 1);
}

/* One at a time: following an order may end a seat, and then they have moved. */
static void hear_one(struct init *in)
{
    for (size_t i = 0; i < in->n_seats; i++) {
        if (in->seats[i].is_called) {
            in->seats[i].is_called = false;
            init_obey(in, &in->seats[i]);
            return;
        }
    }
}

static void init_clocks(struct init *in)
{
    for (size_t i = 0; i < in->n_seats; i++)
        if (in->seats[i].deadline_us != 0 && clock_us() >= in->seats[i].deadline_us)
            init_late(in, &in->seats[i]);
    if (!init_is_watching(in) || clock_us() < in->next_look_us)
        return;
    if (clock_us() < in->still_until_us && is_still(in))
        in->next_look_us = clock_us() + STILL_US;
    else
        init_look(in);
}

/* order: signals first. What was said before a guest ended is then seen with its end. */
static int init_wait(struct init *in, int signals, bool *ret_signal)
{
    struct pollfd fds[BOX_SEATS_MAX + 2] = { { .fd = signals, .events = POLLIN },
                                             { .fd = in->notices, .events = POLLIN } };
    int64_t began = clock_cpu_us();
    int n;

    for (size_t i = 0; i < in->n_seats; i++)
        fds[i + 2] = (struct pollfd){ .fd = in->seats[i].ctl, .events = POLLIN };
    n = poll(fds, in->n_seats + 2, init_timeout(in));
    *ret_signal = n > 0 && fds[0].revents != 0;
    if (reach_is_waiting())
        reach_retry();
    if (n > 0 && (fds[1].revents & POLLIN) != 0)
        init_hear_notice(in);
    if (n >= 0)
        in->notices_us += clock_cpu_us() - began;
    for (size_t i = 0; i < in->n_seats; i++)
        in->seats[i].is_called = n > 0 && fds[i + 2].revents != 0;
    return n < 0 && errno != EINTR ? -1 : 0;
}

static _Noreturn void init_loop(struct init *in, int signals)
{
    struct signalfd_siginfo info;
    bool has_signal;

    init_reap(in); /* what ended before there was a descriptor for it */

    while (init_wait(in, signals, &has_signal) == 0) {
        if (has_signal) {
            (void)!read(signals, &info, sizeof(info));
            init_reap(in);
        }
        hear_one(in);
        init_clocks(in);
    }
    kill_tree(in); /* deaf and blind: nothing may go on unwatched */
    _exit(1);
}

/* ---- the program ---- */

/* The zygote's standard error is the engine's to read and no box's to write. */
static void detach_streams(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd < 3; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            (void)close(fd);
    if (null > 2)
        (void)close(null);
}

static _Noreturn void init_fail(const struct init *in, struct box_event *event)
{
    event->kind = BOX_FAILED;
    init_tell(&in->seats[0], event);
    if (in->seats[0].guest > 0)
        (void)kill(in->seats[0].guest, SIGKILL);
    if (in->plan->scratch && in->plan->scratch[0]) { /* the engine may be gone */
        int dir = open(in->plan->scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (dir >= 0)
            fd_empty_dir(dir);
        (void)rmdir(in->plan->scratch);
    }
    _exit(1);
}

static int read_plan(int fd, struct plan *ret, struct gb_err *err)
{
    struct stat st;
    void *data;

    if (fstat(fd, &st) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "reading the plan");
    data =
        mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0); /* for as long as we live */
    if (data == MAP_FAILED)
        return gb_fail(err, GB_E_SYSTEM, errno, "reading the plan");
    (void)close(fd);
    return plan_unpack(data, (size_t)st.st_size, ret, err);
}

/* The guest sends what tells of its calls; nothing where the kernel cannot. */
static int hear_from_guest(struct init *in, int ready, struct gb_err *err)
{
    size_t n_fds = 1;
    char byte;
    int fd = -1;
    ssize_t n;

    if (in->plan->level < LEVEL_LANDLOCK)
        return 0;
    n = fd_recv(ready, &byte, 1, &fd, &n_fds);
    if (n != 1) /* it has said why */
        return gb_fail(err, GB_E_SYSTEM, n < 0 ? (int)-n : 0,
                       "the guest ended as it sealed itself");
    in->notices = n_fds == 1 ? fd : -1;
    return 0;
}

static int open_eyes(struct init *in, int *ret_signals, struct gb_err *err)
{
    const char *scratch = in->plan->scratch;
    sigset_t child;

    /* With no handlers, the kernel drops whatever a guest sends to the first process of its
     * namespace. What the zygote ignored is still ignored: a child's end must not be. */
    (void)signal(SIGPIPE, SIG_IGN); /* a guest may be gone */
    (void)signal(SIGCHLD, SIG_DFL);
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &child, NULL);
    reach_prepare();
    *ret_signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    in->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (in->proc < 0 || *ret_signals < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "opening /proc");
    if (in->plan->lends_net && in->notices >= 0 && in->net < 0)
        in->net = openat(in->proc, "self/ns/net", O_RDONLY | O_CLOEXEC);
    if (scratch[0])
        in->scratch = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (scratch[0] && in->scratch < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "opening %s", scratch);
    /* The next engine removes what nobody has locked: ours may be killed while we live. */
    if (scratch[0] && flock(in->scratch, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return gb_fail(err, GB_E_SYSTEM, errno, "locking %s", scratch);
    return 0;
}

/* From the guest, whoever it may be: it must not see our memory or descriptors through /proc. */
static int hide(struct gb_err *err)
{
    /* order: before the guest is let go; and before the filter, which forbids it. */
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "hiding the box's first process");
    return 0;
}

/* Does kill(-1) reach the box, and nobody else? If not, the first box that ends would take along
 * all that the user runs, and as root the whole host. */
static int verify_wall(const struct plan *plan, struct gb_err *err)
{
    if (plan->level == LEVEL_NAMESPACES && getpid() != 1)
        return gb_fail(err, GB_E_NO_ISOLATION, 0, "init is not the first of its pid namespace");
    /* The parent is the engine or, if that is gone, its reaper. */
    return plan->level == LEVEL_LANDLOCK ? verify_signal_scope(getppid(), err) : 0;
}

/* Those that are ours to make, and are there. The guest adds its own (box.c). */
static int find_layers(const struct init *in, uint32_t *ret, struct gb_err *err)
{
    enum {
        ALL = (1 << PLAN_NAMESPACES) - 1
    };

    if (verify_wall(in->plan, err) < 0 || verify_namespaces(in->plan, in->proc, err) < 0)
        return -1;
    *ret = plan_layers(in->plan) & (ALL | LAYER_WATCHER);
    return 0;
}

static int read_given(int argc, char **argv, struct init_given *ret)
{
    int *const fixed[] = { &ret->guest, &ret->ctl, &ret->plan, &ret->ready, &ret->net, &ret->root };
    int n_fixed = (int)ARRAY_LEN(fixed);

    if (argc < 1 + n_fixed || argc > 1 + n_fixed + MOUNTS_MAX)
        return -1;
    for (int i = 0; i < n_fixed; i++)
        *fixed[i] = (int)strtol(argv[1 + i], NULL, 10);
    ret->n_mounts = 0;
    for (int i = 1 + n_fixed; i < argc; i++)
        ret->mounts[ret->n_mounts++] = (int)strtol(argv[i], NULL, 10);
    return 0;
}

int main(int argc, char **argv)
{
    static struct plan plan;
    static struct init in = { .plan = &plan,
                              .proc = -1,
                              .scratch = -1,
                              .notices = -1,
                              .n_seats = 1,
                              .rules_left = INIT_RULES,
                              .domains_left = INIT_DOMAINS };
    struct box_event event = { .kind = BOX_FAILED };
    struct init_given given;
    uint32_t layers;
    int signals;

    if (read_given(argc, argv, &given) < 0)
        return 2;
    (void)prctl(PR_SET_NAME, "glovebox-init", 0, 0, 0);
    in.seats[0].guest = given.guest;
    in.seats[0].ctl = given.ctl;
    in.net = given.net;
    detach_streams();
    if (read_plan(given.plan, &plan, &event.err) < 0 || hide(&event.err) < 0 ||
        init_set_up(&plan, &given, &event.err) < 0 ||
        hear_from_guest(&in, given.ready, &event.err) < 0 ||
        open_eyes(&in, &signals, &event.err) < 0 || find_layers(&in, &layers, &event.err) < 0 ||
        init_seal(&plan, &event.err) < 0)
        init_fail(&in, &event);
    (void)fd_write_all(given.ready, &layers, sizeof(layers));
    (void)close(given.ready);
    init_loop(&in, signals);
}
