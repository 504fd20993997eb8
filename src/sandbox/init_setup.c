/*
 * How init builds the box around itself and the guest, and seals itself. The order of steps is the
 * security argument; init.c has it.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "sandbox/compose.h"
#include "sandbox/init.h"
#include "sandbox/net.h"
#include "sandbox/root.h"
#include "sandbox/seal.h"
#include "sandbox/verify.h"

/* The guest waits twice: for its place to be there, before it seals itself, and for the box to be
 * whole, before it asks for code; it is then told which layers we found. One that is gone will be
 * reaped. */
static void beckon(int ready)
{
    (void)fd_write_all(ready, "", 1);
}

static int setup_namespaces(const struct plan *plan, const struct init_given *p, struct gb_err *err)
{
    bool has_new_net = (plan->namespaces & CLONE_NEWNET) != 0 && p->net < 0;
    const struct root_given given = { p->mounts, p->n_mounts, p->root };
    struct root_sources sources;

    if (root_open_sources(plan, &given, &sources, err) < 0 || seal_ids(plan, err) < 0 ||
        root_enter(plan, &given, &sources, err) < 0)
        return -1;
    beckon(p->ready); /* it seals itself while we go on */
    if (root_leave_host(err) < 0)
        return -1;
    if (has_new_net && net_set_up(err) < 0)
        return -1;
    if (sethostname(plan->hostname, strlen(plan->hostname)) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "naming the box");
    return verify_host_name(plan, err);
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
    /* The engine's links to mounts, if there are any: we remove them as the box's user. */
    (void)snprintf(path, sizeof(path), "%s" BOX_MOUNTS, plan->scratch);
    if (plan->change_ids && chown(path, plan->outside_uid, plan->outside_gid) < 0 &&
        errno != ENOENT)
        return gb_fail(err, GB_E_SYSTEM, errno, "giving %s to the box", path);
    return 0;
}

int init_set_up(const struct plan *plan, const struct init_given *p, struct gb_err *err)
{
    if (plan->level == LEVEL_NAMESPACES)
        return setup_namespaces(plan, p, err);
    if (setup_scratch(plan, err) < 0)
        return -1;
    beckon(p->ready);
    return 0;
}

/* Without a user namespace the engine's root is the host's. The scratch directory is the box's
 * user's by now, and so are the processes to be killed. */
static int become_box_user(const struct plan *plan, struct gb_err *err)
{
    if (plan->level != LEVEL_LANDLOCK || !plan->change_ids)
        return 0;
    return seal_bounding_set(false, err) < 0 ? -1 : seal_ids(plan, err);
}

/* What is left to do: wait, look, kill, answer, tidy up. Not Landlock, which would keep it from
 * ending a guest that is in another domain. */
int init_seal(const struct plan *plan, struct gb_err *err)
{
    static const int calls[] = {
#ifdef SYS_open /* the older half, which newer architectures do without */
        SYS_open,
        SYS_poll,
        SYS_stat,
        SYS_unlink,
        SYS_rmdir,
        SYS_chmod,
        SYS_readlink,
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
        /* on behalf of guests */
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_openat2,
        SYS_pidfd_open,
        SYS_pidfd_getfd,
        SYS_connect,
        SYS_getsockopt,
        SYS_setitimer,
        SYS_readlinkat,
        SYS_utimensat,
    };
    static const uint32_t notices[] = { SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND,
                                        SECCOMP_IOCTL_NOTIF_ID_VALID };
    static const struct seal_allowed allowed = { calls, ARRAY_LEN(calls), notices,
                                                 ARRAY_LEN(notices) };

    if (plan->level < LEVEL_LANDLOCK)
        return 0;
    if (become_box_user(plan, err) < 0 || seal_privileges(err) < 0)
        return -1;
    return seal_calls(&allowed, err);
}
