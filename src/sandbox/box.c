/*
 * How a box is made.
 *
 *   zygote ---clone(all namespaces, CLONE_PARENT)---> init ---fork---> guest
 *
 * init is cloned raw, so that one call makes every namespace and the box becomes the engine's
 * child. A raw clone leaves glibc's idea of the thread id stale, which init never asks for; the
 * guest comes from glibc's fork(), which sets it right and runs the fork handlers of every
 * library that is loaded.
 *
 * The order of steps is the security argument:
 *   1. the zygote maps the ids              (init waits for that)
 *   2. open the pieces of the host          as the engine's user
 *   3. become the box's user                never the host's root from here on
 *   4. build the private root, leave the host's
 *   5. loopback up, host name, resource limits
 *   6. no_new_privs, no capabilities
 *   7. Landlock, seccomp                    nothing above is possible any more
 *   8. fork the guest
 * Without namespaces, steps 1, 2 and 4 fall away, and init, which must be able to kill the guest
 * and to read /proc, stays outside the guest's Landlock domain: 7 then happens in the guest.
 *
 * A waiting box has done all of it. Nothing is left to do between a request and its code.
 */
#include "sandbox/box.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/own.h"
#include "sandbox/landlock.h"
#include "sandbox/root.h"
#include "sandbox/seal.h"

/* ---- set-up ---- */

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

static int setup_namespaces(const struct plan *plan, struct gb_err *err)
{
    struct root_sources sources;

    if (root_open_sources(plan, &sources, err) < 0 || seal_ids(plan, err) < 0 ||
        root_enter(plan, &sources, err) < 0)
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

static int setup_init(const struct plan *plan, struct gb_err *err)
{
    (void)prctl(PR_SET_NAME, "glovebox-init", 0, 0, 0);
    /* order: before there is a guest, so that it never sees our memory or descriptors through
     * /proc, whoever it may be; and before the filter, which forbids it. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (plan->level == LEVEL_NAMESPACES) {
        if (setup_namespaces(plan, err) < 0 || seal_rlimits(plan, err) < 0 ||
            seal_privileges(err) < 0 || seal_shut(plan, err) < 0)
            return -1;
        return 0;
    }
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "becoming the box's reaper");
    if (setup_scratch(plan, err) < 0)
        return -1;
    if (plan->level == LEVEL_LANDLOCK) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
            return gb_fail(err, GB_E_NO_ISOLATION, errno, "setting no_new_privs");
        return landlock_scope_signals(err);
    }
    return 0;
}

/* The guest's own share of the set-up, where init has to stay outside. */
static int setup_guest(const struct plan *plan, struct gb_err *err)
{
    if (plan->level == LEVEL_NAMESPACES)
        return 0;
    if (setsid() < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a session");
    if (seal_ids(plan, err) < 0) /* not even unboxed is it the host's root */
        return -1;
    if (plan->level == LEVEL_NONE)
        return 0;
    if (seal_rlimits(plan, err) < 0 || seal_privileges(err) < 0)
        return -1;
    return seal_shut(plan, err);
}

/* ---- the guest ---- */

static void tell(int ctl, const struct box_event *event)
{
    (void)fd_send(ctl, event, sizeof(*event), NULL, 0);
}

static int64_t cpu_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void box_ready(int ctl)
{
    struct box_event event = { .kind = BOX_READY, .cpu_us = cpu_us() };

    tell(ctl, &event);
    (void)close(ctl);
}

static _Noreturn void guest_main(const struct box_spec *spec)
{
    const struct plan *plan = spec->plan;
    struct box_event failed = { .kind = BOX_FAILED };
    sigset_t none;

    (void)prctl(PR_SET_NAME, "glovebox-guest", 0, 0, 0);
    if (plan->level != LEVEL_NAMESPACES) {
        /* Should init die all the same, nothing must be left behind by the guest itself. */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    } else {
        (void)setsid();
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(spec->fds.out, 1) < 0 || dup2(spec->fds.err, 2) < 0 ||
        setup_guest(plan, &failed.err) < 0 || chdir(plan->workdir) < 0) {
        if (failed.err.code == GB_OK)
            gb_err_set(&failed.err, GB_E_SYSTEM, errno, "entering %s", plan->workdir);
        tell(spec->fds.ctl, &failed);
        _exit(1);
    }
    /* init is hidden; the guest may see itself. */
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    (void)close(spec->fds.out);
    (void)close(spec->fds.err);
    spec->guest(&spec->fds);
    _exit(1);
}

/* ---- init ---- */

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

/* Kill the rest, tell the engine, reap, clean up, go. The engine hears of it when nothing in the
 * box can run another instruction; taking down its memory and namespaces is slow, and nobody needs
 * to wait for that. */
static _Noreturn void init_end(const struct init *in, struct box_event *event)
{
    if (in->plan->level >= LEVEL_LANDLOCK)
        (void)kill(-1, SIGKILL);
    /* One that is left is, as a rule, the one that lets the guest leave; more have used time that
     * is to be accounted for. */
    if (in->plan->level < LEVEL_LANDLOCK || event->end != END_EXITED ||
        watch_children(in->proc, 2) > 1)
        kill_tree(in);
    event->kind = BOX_ENDED;
    (void)getrusage(RUSAGE_CHILDREN, &event->usage);
    tell(in->ctl, event);
    if (in->plan->level < LEVEL_NAMESPACES) /* in a namespace the kernel reaps what we leave */
        kill_tree(in);
    if (in->scratch >= 0) {
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

static void init_reap(const struct init *in)
{
    for (;;) {
        struct box_event event = { .end = END_EXITED };
        pid_t pid = waitpid(-1, &event.status, WNOHANG | __WALL);

        if (pid <= 0)
            return;
        if (pid == in->guest)
            init_end(in, &event);
    }
}

/* The host program may be busy, or stopped, and not turn its loop: the clock runs all the same. */
static void init_late(const struct init *in)
{
    struct box_event event = { .end = END_LATE };

    hear_last_words(in);
    reap_guest(in);
    init_end(in, &event);
}

static void init_obey(struct init *in)
{
    struct box_order order;
    ssize_t n = fd_recv(in->ctl, &order, sizeof(order), NULL, NULL);

    if (n != (ssize_t)sizeof(order) || order.kind != BOX_WATCH) {
        struct box_event event = { .end = END_TOLD };
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

/* Close everything that the zygote had open, but what the box was given. */
static void keep_only(const struct box_fds *fds)
{
    int keep[] = { fds->ctl, fds->chan, fds->answer, fds->out, fds->err };
    unsigned low = 3;

    for (size_t i = 0; i < ARRAY_LEN(keep); i++) { /* in ascending order */
        for (size_t k = i + 1; k < ARRAY_LEN(keep); k++) {
            if (keep[k] < keep[i]) {
                int t = keep[i];
                keep[i] = keep[k];
                keep[k] = t;
            }
        }
        if ((unsigned)keep[i] > low)
            (void)syscall(SYS_close_range, low, (unsigned)keep[i] - 1, 0);
        low = (unsigned)keep[i] + 1;
    }
    (void)syscall(SYS_close_range, low, ~0u, 0);
}

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
    if (in->scratch >= 0)
        fd_empty_dir(in->scratch);
    _exit(1);
}

static _Noreturn void init_main(const struct box_spec *spec, int go)
{
    struct box_event event = { .kind = BOX_FAILED };
    struct init in = { .plan = spec->plan, .ctl = spec->fds.ctl, .proc = -1, .scratch = -1 };
    sigset_t child;
    char byte;
    int signals;

    if (fd_read_all(go, &byte, 1) < 0)
        _exit(1); /* the zygote could not map our ids, and has said so */
    /* order: first, so that all that follows is counted there */
    if (spec->fds.cgroup >= 0 && fd_write_all(spec->fds.cgroup, "0", 1) < 0) {
        gb_err_set(&event.err, GB_E_SYSTEM, errno, "entering the box's control group");
        gb_err_hint(&event.err, "the engine itself must run below the directory that was "
                                "delegated");
        init_fail(&in, &event);
    }
    keep_only(&spec->fds);
    detach_streams();
    if (setup_init(spec->plan, &event.err) < 0)
        init_fail(&in, &event);

    in.proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (spec->plan->scratch[0])
        in.scratch = open(spec->plan->scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &child, NULL);
    (void)signal(SIGCHLD, SIG_DFL);
    signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (in.proc < 0 || signals < 0 || (spec->plan->scratch[0] && in.scratch < 0)) {
        gb_err_set(&event.err, GB_E_SYSTEM, errno, "opening /proc");
        init_fail(&in, &event);
    }

    in.guest = fork();
    if (in.guest == 0) {
        (void)close(signals);
        (void)close(in.proc);
        if (in.scratch >= 0)
            (void)close(in.scratch);
        guest_main(spec);
    }
    if (in.guest < 0) {
        gb_err_set(&event.err, GB_E_SYSTEM, errno, "forking the guest");
        init_fail(&in, &event);
    }
    /* The interpreter's signal handlers are the guest's business; with none, the kernel drops
     * whatever a guest sends to the first process of its namespace. */
    for (int sig = 1; sig < NSIG; sig++)
        if (sig != SIGCHLD)
            (void)signal(sig, SIG_DFL);
    (void)close(spec->fds.chan);
    (void)close(spec->fds.answer);
    (void)close(spec->fds.out);
    (void)close(spec->fds.err);
    init_loop(&in, signals);
}

/* ---- the zygote's side ---- */

static int map_ids(pid_t pid, const struct plan *plan, struct gb_err *err)
{
    char dir[64], line[64];
    auto_close int proc = -1;
    int e = 0;

    (void)snprintf(dir, sizeof(dir), "/proc/%d", pid);
    proc = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "opening %s", dir);
    if (!plan->change_ids) /* an ordinary user may map itself only, and must give up setgroups */
        e = fd_write_file_at(proc, "setgroups", "deny");
    if (e == 0) {
        (void)snprintf(line, sizeof(line), "%u %u 1", plan->inside_id, plan->outside_uid);
        e = fd_write_file_at(proc, "uid_map", line);
    }
    if (e == 0) {
        (void)snprintf(line, sizeof(line), "%u %u 1", plan->inside_id, plan->outside_gid);
        e = fd_write_file_at(proc, "gid_map", line);
    }
    return e < 0 ? gb_fail(err, GB_E_NO_ISOLATION, -e, "mapping the box's user") : 0;
}

static int clone_failed(const struct plan *plan, int e, struct gb_err *err)
{
    if (plan->namespaces == 0)
        return gb_fail(err, GB_E_SYSTEM, e, "forking a box");
    (void)gb_fail(err, GB_E_NO_ISOLATION, e, "making the box's namespaces");
    return gb_fail_hint(err, "'glovebox doctor' says why and what to do; --isolation landlock "
                             "needs no namespaces");
}

int box_spawn(const struct box_spec *spec, pid_t *ret_pid, int *ret_pidfd, struct gb_err *err)
{
    auto_close int pidfd = -1, go_read = -1, go_write = -1;
    unsigned long flags = CLONE_PARENT | CLONE_PIDFD | SIGCHLD | spec->plan->namespaces;
    int go[2];
    long pid;

    *ret_pid = 0;
    *ret_pidfd = -1;
    if (pipe2(go, O_CLOEXEC) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a pipe");
    go_read = go[0];
    go_write = go[1];

    /* clone, not clone3: containers hide the latter, since a filter cannot see its flags. The
     * third argument is where the pidfd goes. */
    pid = syscall(SYS_clone, flags, NULL, &pidfd, NULL, 0UL);
    if (pid < 0)
        return clone_failed(spec->plan, errno, err);
    if (pid == 0) {
        (void)close(go_write);
        init_main(spec, go_read);
    }
    *ret_pid = (pid_t)pid;
    *ret_pidfd = take_fd(&pidfd);
    if ((spec->plan->namespaces & CLONE_NEWUSER) != 0 && map_ids((pid_t)pid, spec->plan, err) < 0)
        return -1; /* closing the pipe ends the box */
    if (fd_write_all(go_write, "", 1) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "starting a box");
    return 0;
}
