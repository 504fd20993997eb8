/*
 * How a box is made.
 *
 *   zygote ---clone(all namespaces, CLONE_VM, CLONE_PARENT)---> init ---fork---> guest
 *                                                                |
 *                                                               exec glovebox-init (init.c)
 *
 * One clone makes every namespace (but for the network's, if that was handed on: net.h), and the
 * box becomes the engine's child. It does not copy the interpreter: the new process borrows the
 * zygote's memory, forks the guest from it, and becomes a small program of its own. Until the
 * zygote has mapped the ids the new process waits, and from then on the zygote does, so that only
 * one of the two ever does anything in that memory; and what the new process does in it is little:
 * see enter().
 *
 * The guest comes from glibc's fork(), which sets its thread id right and runs the fork handlers
 * of every library that is loaded; where the zygote makes no other, it inherits its memory instead
 * (heir.h). It readies the interpreter while init builds the box around
 * both; when init says that its place is there it seals itself, and only when init says that the
 * box is whole does it ask for code:
 *   1. close what the box was not given
 *   2. become the box's user            never the host's root from here on
 *   3. resource limits, no_new_privs, no capabilities
 *   4. the filter that init hears from (notice.h), which init is sent
 *   5. Landlock, seccomp                nothing above is possible any more
 *
 * A waiting box has done all of it. Nothing is left to do between a request and its code.
 */
#include "sandbox/box.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/own.h"
#include "sandbox/idmap.h"
#include "sandbox/landlock.h"
#include "sandbox/mounts.h"
#include "sandbox/net.h"
#include "sandbox/notice.h"
#include "sandbox/root.h"
#include "sandbox/seal.h"
#include "sandbox/verify.h"

static void tell_failed(int ctl, const struct gb_err *err)
{
    struct box_event event = { .kind = BOX_FAILED, .err = *err };

    (void)fd_send(ctl, &event, sizeof(event), NULL, 0);
}

/* ---- the guest ---- */

static uint32_t layers; /* that hold this box; the guest's */

void box_ready(int ctl)
{
    struct box_event event = { .kind = BOX_READY, .cpu_us = clock_cpu_us(), .layers = layers };
    auto_close int workspace = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    /* A program must not run of which the engine does not know: it would be sent to another box,
     * too. */
    if (fd_send(ctl, &event, sizeof(event), &workspace, workspace >= 0 ? 1 : 0) < 0)
        _exit(1);
    (void)close(ctl);
}

static int close_between(unsigned first, unsigned last, unsigned flags, struct gb_err *err)
{
    if (first > last || syscall(SYS_close_range, first, last, flags) == 0)
        return 0;
    return gb_fail(err, GB_E_NO_ISOLATION, errno, "closing what the box was not given");
}

/* Close everything that the zygote had open, and what preparing left, but what the box was
 * given. */
static int keep_only(const struct box_fds *fds, int ready, struct gb_err *err)
{
    int keep[] = { fds->ctl, fds->chan, fds->answer, fds->out, fds->err, ready };
    unsigned low = 3;

    for (size_t i = 0; i < ARRAY_LEN(keep); i++) { /* in ascending order */
        for (size_t k = i + 1; k < ARRAY_LEN(keep); k++) {
            if (keep[k] < keep[i]) {
                int t = keep[i];
                keep[i] = keep[k];
                keep[k] = t;
            }
        }
        if (close_between(low, (unsigned)keep[i] - 1, 0, err) < 0)
            return -1;
        low = (unsigned)keep[i] + 1;
    }
    if (close_between(low, ~0u, 0, err) < 0)
        return -1;
    if (!verify_closed(fds->init) || !verify_closed(fds->plan) || !verify_closed(fds->net))
        return gb_fail(err, GB_E_NO_ISOLATION, 0, "the box has descriptors that it was not given");
    return 0;
}

static pid_t init_pid; /* of the box that is made, as the guest sees it */

/* Should init die all the same, nothing must be left behind by the guest itself. */
static int die_with_init(const struct plan *plan, struct gb_err *err)
{
    int signal = 0;

    if (plan->level == LEVEL_NAMESPACES) /* there the kernel sees to it */
        return 0;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
        prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0) < 0 || signal != SIGKILL)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "tying the guest's life to init's");
    if (getppid() != init_pid) /* order: after it was asked for. It was too late */
        _exit(1);
    return 0;
}

/* Init is to hear of some calls, and is not to be under the filter that tells of them: it makes
 * such calls on behalf of guests. */
static int hand_over_notices(const struct plan *plan, int ready, struct gb_err *err)
{
    auto_close int fd = -1;
    int e;

    if (plan->level < LEVEL_LANDLOCK)
        return 0;
    if (notice_install(plan, &fd, err) < 0)
        return -1;
    e = fd_send(ready, "", 1, &fd, fd >= 0 ? 1 : 0);
    return e < 0 ? gb_fail(err, GB_E_SYSTEM, -e, "sending init a descriptor") : 0;
}

static int seal(const struct plan *plan, int ready, struct gb_err *err)
{
    /* order: a root that becomes another user loses the right to. In a namespace it is empty. */
    if (plan->change_ids && plan->level != LEVEL_NAMESPACES && seal_bounding_set(false, err) < 0)
        return -1;
    if (seal_ids(plan, err) < 0) /* not even unboxed is it the host's root */
        return -1;
    if (plan->level == LEVEL_NONE)
        return 0;
    if (seal_rlimits(plan, err) < 0 || seal_privileges(err) < 0)
        return -1;
    /* again: another user's process has forgotten it */
    if (die_with_init(plan, err) < 0 || hand_over_notices(plan, ready, err) < 0 ||
        seal_shut(plan, err) < 0)
        return -1;
    layers = plan_layers(plan) &
             (LAYER_RLIMITS | LAYER_NNP | LAYER_CAPS | LAYER_LANDLOCK | LAYER_SECCOMP);
    return 0;
}

static int take_place(const struct box_spec *spec, int ready, struct gb_err *err)
{
    if (setsid() != getpid() || dup2(spec->fds.out, 1) < 0 || dup2(spec->fds.err, 2) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a session");
    if (seal(spec->plan, ready, err) < 0)
        return -1;
    /* After the limits and the seal: the directory must be one that the guest can enter. */
    if (chdir(spec->plan->workdir) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "entering %s", spec->plan->workdir);
    return 0;
}

static _Noreturn void guest_main(const struct box_spec *spec, int ready)
{
    struct gb_err err = { 0 };
    sigset_t none;
    uint32_t others;
    char byte;

    (void)prctl(PR_SET_NAME, "glovebox-guest", 0, 0, 0);
    (void)die_with_init(spec->plan, &err);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    spec->prepare(&spec->fds);
    if (fd_read_all(ready, &byte, 1) < 0)
        _exit(1); /* the box could not be built, and init has said so */
    if (keep_only(&spec->fds, ready, &err) < 0 || take_place(spec, ready, &err) < 0) {
        tell_failed(spec->fds.ctl, &err);
        _exit(1);
    }
    if (fd_read_all(ready, &others, sizeof(others)) < 0)
        _exit(1);
    (void)close(ready);
    layers |= others;
    if ((plan_layers(spec->plan) & ~layers) != 0) {
        (void)gb_fail(&err, GB_E_NO_ISOLATION, 0, "the box was made without all of its layers");
        tell_failed(spec->fds.ctl, &err);
        _exit(1);
    }
    /* init is hidden; the guest may see itself. */
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    (void)close(spec->fds.out);
    (void)close(spec->fds.err);
    spec->guest(&spec->fds);
    _exit(1);
}

/* ---- becoming init ---- */

/* What building a box takes, of all that the new namespaces gave. */
static const unsigned init_caps[] = {
    CAP_SYS_ADMIN, CAP_SETUID,       CAP_SETGID, CAP_SETPCAP,
    CAP_NET_ADMIN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_CHOWN,
};

/* For init and the guest alike: every further call of this kind would make the kernel copy the
 * process' credentials once more. */
static int bound_capabilities(struct gb_err *err)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2];

    if (syscall(SYS_capget, &head, data) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "asking for capabilities");
    for (size_t i = 0; i < ARRAY_LEN(init_caps); i++)
        data[init_caps[i] / 32].inheritable |= 1u << init_caps[i] % 32;
    /* order: what is to be inherited must still be within the bounding set */
    if (syscall(SYS_capset, &head, data) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "keeping capabilities");
    return seal_bounding_set(true, err);
}

/* The rights over the new namespaces would be lost when a program is executed by a user that is not
 * root there. */
static int keep_capabilities(struct gb_err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(init_caps); i++)
        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, init_caps[i], 0, 0) < 0)
            return gb_fail(err, GB_E_SYSTEM, errno, "keeping capability %u", init_caps[i]);
    return 0;
}

/* What has to be so before there is a guest, since it is inherited. */
static int before_guest(const struct box_spec *spec, pid_t zygote, struct gb_err *err)
{
    enum plan_level level = spec->plan->level;
    int is_reaper = 0;

    for (size_t i = 0; i < BOX_CGROUPS_MAX; i++) {
        if (spec->fds.cgroups[i] < 0 || fd_write_all(spec->fds.cgroups[i], "0", 1) == 0)
            continue;
        (void)gb_fail(err, GB_E_SYSTEM, errno, "entering the box's control group");
        return gb_fail_hint(err, "the engine itself must run below the directory that was "
                                 "delegated");
    }
    if (level == LEVEL_NAMESPACES)
        return bound_capabilities(err);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ||
        prctl(PR_GET_CHILD_SUBREAPER, &is_reaper, 0, 0, 0) < 0 || !is_reaper)
        return gb_fail(err, GB_E_SYSTEM, errno, "becoming the box's reaper");
    if (level != LEVEL_LANDLOCK)
        return 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "setting no_new_privs");
    return landlock_scope_signals(zygote, err);
}

struct entry {
    const struct box_spec *spec;
    int go[2];    /* a byte comes when the ids are mapped */
    int ready[2]; /* and one when the box is built; a descriptor comes back (notice.h) */
    const struct idmap_mounts *mounts;
    int root; /* the common part of it, or -1 */
    bool is_net_lent;
    pid_t zygote;
};

static void become_init(const struct entry *e, pid_t guest, struct gb_err *err)
{
    enum {
        FIXED = 6,
        MAX = FIXED + MOUNTS_MAX
    };
    const struct box_spec *spec = e->spec;
    const struct idmap_mounts *mounts = e->mounts;
    int numbers[MAX] = {
        guest,  spec->fds.ctl, spec->fds.plan, e->ready[1], e->is_net_lent ? spec->fds.net : -1,
        e->root
    };
    const char *argv[MAX + 2] = { "glovebox-init" };
    const char *env[] = { NULL };
    char text[MAX][16];
    size_t n = FIXED;

    for (size_t i = 0; i < mounts->n && n < MAX; i++)
        numbers[n++] = mounts->fds[i];
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(text[i], sizeof(text[i]), "%d", numbers[i]);
        argv[i + 1] = text[i];
    }
    if (spec->plan->level == LEVEL_NAMESPACES && keep_capabilities(err) < 0)
        return;
    if (close_between(3, ~0u, CLOSE_RANGE_CLOEXEC, err) < 0)
        return;
    for (size_t i = 1; i < n; i++)
        (void)fcntl(numbers[i], F_SETFD, 0);
    (void)syscall(SYS_execveat, spec->fds.init, "", argv, env, AT_EMPTY_PATH);
    gb_err_set(err, GB_E_SYSTEM, errno, "executing glovebox-init");
}

enum {
    ROOM = 256 << 10, /* of stack for what we do until the new process has left */
    STACK = 1 << 20,  /* that there must be in all */
    PATIENCE_S = 10
};

static int be_guest(void *data)
{
    const struct entry *e = data;

    (void)close(e->ready[1]);
    guest_main(e->spec, e->ready[0]);
}

static pid_t make_guest(struct entry *e, struct gb_err *err)
{
    static struct entry left; /* for the heir: the zygote's stack is not what it was by then */
    char *stack = (char *)__builtin_frame_address(0) - ROOM;
    pid_t pid;

    if (e->spec->heir) {
        left = *e;
        pid = heir_clone(e->spec->heir, stack - (uintptr_t)stack % 16, be_guest, &left);
    } else {
        pid = fork();
    }
    if (pid == 0)
        _exit(be_guest(e));
    if (pid < 0)
        gb_err_set(err, GB_E_SYSTEM, errno, "forking the guest");
    return pid;
}

/* In the zygote's memory, on a lower part of its stack, while it stands still. Whatever this
 * changes stays changed there. */
static int enter(void *data)
{
    struct entry *e = data;
    struct gb_err err = { 0 };
    pid_t guest = -1;
    char byte;

    (void)close(e->go[1]); /* so that we see when the zygote is gone */
    if (fd_read_all(e->go[0], &byte, 1) < 0)
        _exit(1); /* it is, or it could not map our ids, and has said so */
    if (before_guest(e->spec, e->zygote, &err) == 0) {
        init_pid = getpid();
        guest = make_guest(e, &err);
        if (guest >= 0)
            become_init(e, guest, &err);
    }
    tell_failed(e->spec->fds.ctl, &err);
    _exit(1);
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
    return gb_fail(err, GB_E_NO_ISOLATION, e, "making the box's namespaces");
}

/* Until the new process has left our memory: the kernel clears the word then, and wakes us. One
 * that does not get that far (a frozen control group, a file system that hangs) is killed, which
 * makes it leave, so that the other boxes still have a zygote. */
static void stand_still(const pid_t *word, int pidfd)
{
    struct timespec patience = { .tv_sec = PATIENCE_S };
    pid_t pid;

    while ((pid = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != 0) {
        long r = syscall(SYS_futex, word, FUTEX_WAIT, pid, &patience, NULL, 0);
        if (r < 0 && errno == ETIMEDOUT)
            (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    }
}

static int start(pid_t pid, const struct plan *plan, int go, struct gb_err *err)
{
    if ((plan->namespaces & CLONE_NEWUSER) != 0 && map_ids(pid, plan, err) < 0)
        return -1;
    if (fd_write_all(go, "", 1) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "starting a box");
    return 0;
}

/* In a network namespace that was handed on, if that can be had; else a new one is made. */
static bool enter_lent_net(const struct box_spec *spec)
{
    if (spec->plan->lends_net)
        net_prepare_lending();
    return spec->fds.net >= 0 && net_enter(spec->fds.net);
}

static int spawn(const struct box_spec *spec, const struct idmap_mounts *mounts, pid_t *ret_pid,
                 int *ret_pidfd, struct gb_err *err)
{
    /* clone, not clone3: containers hide the latter, since a filter cannot see its flags. */
    unsigned long flags = CLONE_VM | CLONE_PARENT | CLONE_PIDFD | CLONE_CHILD_CLEARTID | SIGCHLD |
                          spec->plan->namespaces;
    auto_close int pidfd = -1, go_read = -1, go_write = -1, ready_read = -1, ready_write = -1,
                   root = -1;
    struct rlimit stack_limit;
    int go[2], ready[2], e, r;
    pid_t pid, inside = 1; /* the word: not zero until the kernel says so */

    if (getrlimit(RLIMIT_STACK, &stack_limit) < 0 || stack_limit.rlim_cur < STACK)
        return gb_fail(err, GB_E_SYSTEM, 0, "a box needs a stack of a mebibyte (ulimit -s)");
    if (pipe2(go, O_CLOEXEC) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a pipe");
    go_read = go[0];
    go_write = go[1];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ready) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a pair of sockets");
    ready_read = ready[0];
    ready_write = ready[1];

    struct entry entry = { .spec = spec,
                           .go = { go_read, go_write },
                           .ready = { ready_read, ready_write },
                           .mounts = mounts,
                           .root = -1,
                           .is_net_lent = enter_lent_net(spec),
                           .zygote = getpid() };
    char *stack = (char *)__builtin_frame_address(0) - ROOM;

    if (entry.is_net_lent)
        flags &= ~(unsigned long)CLONE_NEWNET;
    if (spec->plan->lends_net)
        root = root_common(spec->plan);
    entry.root = root;
    pid = clone(enter, stack - (uintptr_t)stack % 16, (int)flags, &entry, &pidfd, NULL, &inside);
    e = errno;
    if (entry.is_net_lent)
        net_leave();
    if (pid < 0)
        return clone_failed(spec->plan, e, err);
    *ret_pid = pid;
    *ret_pidfd = take_fd(&pidfd);
    r = start(pid, spec->plan, go_write, err);
    if (r < 0)
        (void)close(take_fd(&go_write)); /* ends the box */
    stand_still(&inside, *ret_pidfd);
    return r;
}

int box_spawn(const struct box_spec *spec, pid_t *ret_pid, int *ret_pidfd, struct gb_err *err)
{
    struct idmap_mounts mounts;
    int r;

    *ret_pid = 0;
    *ret_pidfd = -1;
    if (idmap_open(spec->plan, &mounts, err) < 0)
        return -1;
    r = spawn(spec, &mounts, ret_pid, ret_pidfd, err);
    idmap_close(&mounts);
    return r;
}
