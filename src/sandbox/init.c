/*
 * The first process of a box: a program of its own, small and static, so that starting and ending
 * it costs next to nothing and nothing of the interpreter or of the engine is in its memory.
 *
 *   glovebox-init GUEST CTL PLAN READY [MOUNT...]
 *
 * It is executed by box.c in the new namespaces, with the guest already forked: a copy of the warm
 * interpreter that waits for a byte on READY while the box is built around both of them. MOUNT are
 * directories that only the host's root could open (idmap.h).
 *
 * The order of steps is the security argument:
 *   1. open the pieces of the host          as the engine's user
 *   2. become the box's user                never the host's root from here on
 *   3. build the private root, leave the host's
 *   4. loopback up, host name
 *   5. no_new_privs, no capabilities, a seccomp filter of its own with next to nothing in it
 * The guest seals itself, more closely, when 3 has given it its place, and asks for code only when
 * 5 is done and it is told so.
 * Without namespaces, 1 to 4 fall away.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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
#include "sandbox/box.h"
#include "sandbox/mounts.h"
#include "sandbox/root.h"
#include "sandbox/seal.h"

/* ---- set-up ---- */

/* The guest waits twice: for its place to be there, before it seals itself, and for the box to be
 * whole, before it asks for code. One that is gone will be reaped. */
static void beckon(int ready)
{
    (void)fd_write_all(ready, "", 1);
}

static int loopback_up(struct gb_err *err)
{
    auto_close int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

    if (sock < 0 || ioctl(sock, SIOCSIFFLAGS, &ifr) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "bringing up the box's loopback");
    return 0;
}

/* As little as a Unix socket may hold: what waits in sockets is memory that nobody counts. */
static int bound_buffers(struct gb_err *err)
{
    static const char *const files[] = { "/proc/sys/net/ipv4/tcp_rmem",
                                         "/proc/sys/net/ipv4/tcp_wmem" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        int e = fd_write_file_at(AT_FDCWD, files[i], "4096 65536 212992");
        if (e < 0)
            return gb_fail(err, GB_E_NO_ISOLATION, -e, "bounding %s of the box", files[i]);
    }
    return 0;
}

static int setup_namespaces(const struct plan *plan, const int *mounts, size_t n_mounts, int ready,
                            struct gb_err *err)
{
    struct root_sources sources;

    if (root_open_sources(plan, mounts, n_mounts, &sources, err) < 0 || seal_ids(plan, err) < 0 ||
        root_enter(plan, &sources, err) < 0)
        return -1;
    beckon(ready); /* it seals itself while we go on */
    if (root_leave_host(err) < 0)
        return -1;
    if ((plan->namespaces & CLONE_NEWNET) != 0 && (loopback_up(err) < 0 || bound_buffers(err) < 0))
        return -1;
    if (sethostname(plan->hostname, strlen(plan->hostname)) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "naming the box");
    return 0;
}

/* A directory of the host for the guest to write in, made by init and removed by it. */
static int setup_scratch(const struct plan *plan, struct gb_err *err)
{
    static const char *const parts[] = { "", "/workspace", "/tmp", "/home" };
    char path[512];

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (snprintf(path, sizeof(path), "%s%s", plan->scratch, parts[i]) >= (int)sizeof(path))
            return gb_fail(err, GB_E_SYSTEM, ENAMETOOLONG, "making %s", plan->scratch);
        if (i > 0 && mkdir(path, 0700) < 0)
            return gb_fail(err, GB_E_SYSTEM, errno, "making %s", path);
        if (plan->change_ids && chown(path, plan->outside_uid, plan->outside_gid) < 0)
            return gb_fail(err, GB_E_SYSTEM, errno, "giving %s to the box", path);
    }
    return 0;
}

static int setup(const struct plan *plan, const int *mounts, size_t n_mounts, int ready,
                 struct gb_err *err)
{
    if (plan->level == LEVEL_NAMESPACES)
        return setup_namespaces(plan, mounts, n_mounts, ready, err);
    if (setup_scratch(plan, err) < 0)
        return -1;
    beckon(ready);
    return 0;
}

/* What is left to do: wait, look, kill, tidy up. Not Landlock, which would keep it from ending a
 * guest that is in another domain. */
static int seal_init(const struct plan *plan, struct gb_err *err)
{
    static const int calls[] = {
#ifdef SYS_open /* the older half, which newer architectures do without */
        SYS_open,
        SYS_poll,
        SYS_stat,
        SYS_unlink,
        SYS_rmdir,
        SYS_chmod,
#endif
        SYS_ppoll,
        SYS_read,
        SYS_readv,
        SYS_write,
        SYS_close,
        SYS_lseek,
        SYS_openat,
        SYS_fcntl,
        SYS_fstat,
        SYS_newfstatat,
        SYS_statx,
        SYS_getdents64,
        SYS_unlinkat,
        SYS_fchmod,
        SYS_fchmodat,
        SYS_sendmsg,
        SYS_recvmsg,
        SYS_kill,
        SYS_wait4,
        SYS_waitid,
        SYS_getrusage,
        SYS_getpid,
        SYS_clock_gettime,
        SYS_nanosleep,
        SYS_clock_nanosleep,
        SYS_restart_syscall,
        SYS_brk,
        SYS_mmap,
        SYS_munmap,
        SYS_mremap,
        SYS_madvise,
        SYS_rt_sigprocmask,
        SYS_rt_sigreturn,
        SYS_exit,
        SYS_exit_group,
    };

    if (plan->level < LEVEL_LANDLOCK)
        return 0;
    if (plan->level == LEVEL_NAMESPACES && seal_privileges(err) < 0)
        return -1;
    return seal_calls(calls, ARRAY_LEN(calls), err);
}

/* ---- watching ---- */

enum {
    DEADLINE_GRACE_US = 250000
};

struct init {
    const struct plan *plan;
    int ctl;
    int proc;    /* descriptor of /proc */
    int scratch; /* of the box's host directory, or -1 */
    pid_t guest;
    bool watching;
    bool is_listing; /* what is left at the end */
    struct plan_watch limits;
    int64_t next_look_us;
    int64_t deadline_us;
};

/* kill(-1) reaches exactly the box: its pid namespace, or its Landlock domain, and never init
 * itself. Nothing can fork away from under it, since the kernel holds the task list meanwhile.
 * Without either, walk the tree until it is empty. */
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
static void list_survivors(const struct init *in, struct box_event *event)
{
    pid_t pids[256];
    size_t n = in->is_listing ? watch_descendants(in->proc, getpid(), pids, ARRAY_LEN(pids)) : 0;

    for (size_t i = 0; i < n; i++) {
        struct box_survivor one;

        if (pids[i] == in->guest || !read_survivor(in, pids[i], &one))
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
    return (struct box_usage){
        .cpu_us = (int64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 +
                  (int64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec),
        .max_rss_kb = r.ru_maxrss,
    };
}

static void tell(int ctl, const struct box_event *event)
{
    (void)fd_send(ctl, event, sizeof(*event), NULL, 0);
}

/* Kill the rest, tell the engine, reap, clean up, go. The engine hears of it when nothing in the
 * box can run another instruction; taking down its memory and namespaces is slow, and nobody needs
 * to wait for that. */
static _Noreturn void init_end(const struct init *in, struct box_event *event)
{
    uint64_t left_us = 0;

    if (in->plan->level >= LEVEL_LANDLOCK)
        (void)kill(-1, SIGKILL);
    /* One that is left is, as a rule, the one that lets the guest leave, and is not waited for; what
     * it has used is asked for. */
    if (in->plan->level < LEVEL_LANDLOCK || event->end != END_EXITED ||
        watch_children(in->proc, 2, &left_us) > 1) {
        kill_tree(in);
        left_us = 0;
    }
    event->kind = BOX_ENDED;
    event->usage = usage_of_children();
    event->usage.cpu_us += (int64_t)left_us;
    tell(in->ctl, event);
    if (in->plan->level < LEVEL_NAMESPACES) /* in a namespace the kernel reaps what we leave */
        kill_tree(in);
    if (in->scratch >= 0) {
        struct box_order order;

        /* The engine looks at what is in it first, and closes the socket when it has; so does its
         * death. */
        while (fd_recv(in->ctl, &order, sizeof(order), NULL, NULL) > 0)
            ;
        fd_empty_dir(in->scratch);
        (void)rmdir(in->plan->scratch);
    }
    _exit(0);
}

/* Let the program write what it still holds, for a moment. */
static void hear_last_words(const struct init *in)
{
    enum {
        ROUNDS = 10,
        ROUND_US = 2000
    };

    if (!in->watching) /* it has hardly begun, or never ran */
        return;
    (void)kill(in->guest, BOX_LAST_WORDS_SIGNAL);
    for (int i = 0; i < ROUNDS; i++) {
        siginfo_t info = { 0 };
        (void)usleep(ROUND_US);
        if (waitid(P_PID, (id_t)in->guest, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
            info.si_pid == in->guest)
            return;
    }
}

/* The main process has been told to die, or was never seen to: its account is wanted too. */
static void reap_guest(const struct init *in)
{
    (void)kill(in->guest, SIGKILL);
    while (waitpid(in->guest, NULL, __WALL) < 0 && errno == EINTR)
        ;
}

/* What the engine said before there was a request may still wait to be read. */
static void hear_list(struct init *in)
{
    struct pollfd p = { .fd = in->ctl, .events = POLLIN };
    struct box_order order;

    if (in->watching || in->is_listing || poll(&p, 1, 0) <= 0)
        return;
    in->is_listing = fd_recv(in->ctl, &order, sizeof(order), NULL, NULL) == sizeof(order) &&
                     order.kind == BOX_LIST;
}

static void init_reap(struct init *in)
{
    for (;;) {
        struct box_event event = { .end = END_EXITED };
        pid_t pid = waitpid(-1, &event.status, WNOHANG | __WALL);

        if (pid <= 0)
            return;
        if (pid != in->guest)
            continue;
        hear_list(in);
        list_survivors(in, &event);
        init_end(in, &event);
    }
}

/* The host program may be busy, or stopped, and not turn its loop: the clock runs all the same. */
static void init_late(const struct init *in)
{
    struct box_event event = { .end = END_LATE };

    list_survivors(in, &event);
    hear_last_words(in);
    reap_guest(in);
    init_end(in, &event);
}

static void init_obey(struct init *in)
{
    struct box_order order;
    ssize_t n = fd_recv(in->ctl, &order, sizeof(order), NULL, NULL);

    if (n == (ssize_t)sizeof(order) && order.kind == BOX_LIST) {
        in->is_listing = true;
        return;
    }
    if (n != (ssize_t)sizeof(order) || order.kind != BOX_WATCH) {
        struct box_event event = { .end = END_TOLD };
        if (n > 0)
            list_survivors(in, &event);
        if (n > 0)
            hear_last_words(in);
        reap_guest(in);
        init_end(in, &event); /* the engine wants it, or is gone */
    }
    in->watching = true;
    in->limits = order.limits;
    in->next_look_us = clock_us();
    in->deadline_us = clock_us() + (int64_t)order.timeout_ms * 1000 + DEADLINE_GRACE_US;
}

static void init_look(struct init *in)
{
    struct box_event event = { .end = END_LIMIT };

    event.sample = watch_look(&in->limits, in->proc, in->scratch);
    if (event.sample.hit == LIMIT_NONE) {
        in->next_look_us = clock_us() + (int64_t)event.sample.next_ms * 1000;
        return;
    }
    list_survivors(in, &event);
    reap_guest(in);
    init_end(in, &event);
}

static int init_timeout(const struct init *in)
{
    int64_t us;

    if (!in->watching)
        return -1;
    us = (in->next_look_us < in->deadline_us ? in->next_look_us : in->deadline_us) - clock_us();
    return us <= 0 ? 0 : (int)(us / 1000 + 1);
}

static _Noreturn void init_loop(struct init *in, int signals)
{
    init_reap(in); /* what ended before there was a descriptor for it */

    struct pollfd fds[] = { { .fd = in->ctl, .events = POLLIN },
                            { .fd = signals, .events = POLLIN } };

    for (;;) {
        struct signalfd_siginfo info;
        int n = poll(fds, ARRAY_LEN(fds), init_timeout(in));

        if (n < 0 && errno != EINTR)
            _exit(1);
        if (n > 0 && fds[1].revents != 0) {
            (void)!read(signals, &info, sizeof(info));
            init_reap(in);
        }
        if (n > 0 && fds[0].revents != 0)
            init_obey(in);
        if (in->watching && clock_us() >= in->deadline_us)
            init_late(in);
        if (in->watching && clock_us() >= in->next_look_us)
            init_look(in);
    }
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
    tell(in->ctl, event);
    if (in->guest > 0)
        (void)kill(in->guest, SIGKILL);
    if (in->scratch >= 0)
        fd_empty_dir(in->scratch);
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

static int open_eyes(struct init *in, int *ret_signals, struct gb_err *err)
{
    const char *scratch = in->plan->scratch;
    sigset_t child;

    /* The interpreter's choice of ignored signals is the guest's business; with no handlers, the
     * kernel drops whatever a guest sends to the first process of its namespace. */
    for (int sig = 1; sig < NSIG; sig++)
        (void)signal(sig, sig == SIGPIPE ? SIG_IGN : SIG_DFL); /* a guest may be gone */
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &child, NULL);
    *ret_signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    in->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (in->proc < 0 || *ret_signals < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "opening /proc");
    if (scratch[0])
        in->scratch = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (scratch[0] && in->scratch < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "opening %s", scratch);
    return 0;
}

int main(int argc, char **argv)
{
    static struct plan plan;
    struct init in = { .plan = &plan, .proc = -1, .scratch = -1 };
    struct box_event event = { .kind = BOX_FAILED };
    int numbers[3 + MOUNTS_MAX];
    size_t n = 0;
    int signals;

    if (argc < 5 || argc > 5 + MOUNTS_MAX)
        return 2;
    for (int i = 2; i < argc; i++)
        numbers[n++] = (int)strtol(argv[i], NULL, 10);
    (void)prctl(PR_SET_NAME, "glovebox-init", 0, 0, 0);
    /* order: before the guest is let go, so that it never sees our memory or descriptors through
     * /proc, whoever it may be; and before the filter, which forbids it. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    in.guest = (pid_t)strtol(argv[1], NULL, 10);
    in.ctl = numbers[0];
    detach_streams();
    if (read_plan(numbers[1], &plan, &event.err) < 0 ||
        setup(&plan, numbers + 3, n - 3, numbers[2], &event.err) < 0 ||
        open_eyes(&in, &signals, &event.err) < 0 || seal_init(&plan, &event.err) < 0)
        init_fail(&in, &event);
    beckon(numbers[2]);
    (void)close(numbers[2]);
    init_loop(&in, signals);
}
