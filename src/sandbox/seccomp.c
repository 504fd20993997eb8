/*
 * The filter is an allow-list. A call that is not on it answers "no such call" (ENOSYS), so that
 * libraries fall back as they do on an older kernel; calls that a program might try on purpose to
 * gain something answer EPERM, which reads as what it is. Foreign architectures and the x32
 * numbers kill the process: no honest program makes them.
 *
 * What is missing on purpose, beyond what only root could do: namespaces (unshare, setns, clone's
 * CLONE_NEW*; clone3 hides its flags in memory, so it does not exist here), io_uring, userfaultfd,
 * bpf, perf, keyrings, other processes' memory, file handles; watching files (inotify: /usr is the
 * host's, and so are the events); and what holds memory that neither an rlimit nor the watcher can
 * see (memfd, vmsplice, larger socket buffers, System V and POSIX queues and shared memory).
 */
#include "sandbox/seccomp.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "sandbox/notice.h"

static const int allowed[] = {
    /* files */
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(stat),
    SCMP_SYS(fstat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(lseek),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(preadv),
    SCMP_SYS(pwritev),
    SCMP_SYS(preadv2),
    SCMP_SYS(pwritev2),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(flock),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(sync_file_range),
    SCMP_SYS(truncate),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fadvise64),
    SCMP_SYS(readahead),
    SCMP_SYS(getdents),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(chdir),
    SCMP_SYS(fchdir),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir),
    SCMP_SYS(link),
    SCMP_SYS(linkat),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(umask),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(copy_file_range),
    SCMP_SYS(fgetxattr),
    SCMP_SYS(flistxattr),
    SCMP_SYS(sync),
    SCMP_SYS(syncfs),
    /* memory */
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
    SCMP_SYS(msync),
    SCMP_SYS(mlock),
    SCMP_SYS(mlock2),
    SCMP_SYS(munlock),
    SCMP_SYS(mlockall),
    SCMP_SYS(munlockall),
    SCMP_SYS(membarrier),
    SCMP_SYS(pkey_alloc),
    SCMP_SYS(pkey_free),
    SCMP_SYS(pkey_mprotect),
    /* processes, threads, signals */
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(wait4),
    SCMP_SYS(waitid),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getppid),
    SCMP_SYS(getpgid),
    SCMP_SYS(getpgrp),
    SCMP_SYS(setpgid),
    SCMP_SYS(getsid),
    SCMP_SYS(setsid),
    SCMP_SYS(kill),
    SCMP_SYS(tkill),
    SCMP_SYS(tgkill),
    SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(signalfd),
    SCMP_SYS(signalfd4),
    SCMP_SYS(pause),
    SCMP_SYS(alarm),
    SCMP_SYS(getitimer),
    SCMP_SYS(setitimer),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(futex),
    SCMP_SYS(futex_waitv),
    SCMP_SYS(rseq),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(sched_get_priority_min),
    SCMP_SYS(sched_rr_get_interval),
    SCMP_SYS(sched_getattr),
    SCMP_SYS(getpriority),
    SCMP_SYS(ioprio_get),
    SCMP_SYS(getcpu),
    /* identity: asking, and changes that have no effect without capabilities */
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getresuid),
    SCMP_SYS(getresgid),
    SCMP_SYS(getgroups),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
    SCMP_SYS(setreuid),
    SCMP_SYS(setregid),
    SCMP_SYS(setresuid),
    SCMP_SYS(setresgid),
    SCMP_SYS(setgroups),
    SCMP_SYS(setfsuid),
    SCMP_SYS(setfsgid),
    SCMP_SYS(capget),
    SCMP_SYS(capset),
    SCMP_SYS(landlock_create_ruleset),
    /* waiting and time */
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_pwait2),
    SCMP_SYS(eventfd),
    SCMP_SYS(eventfd2),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(timerfd_gettime),
    SCMP_SYS(timer_create),
    SCMP_SYS(timer_settime),
    SCMP_SYS(timer_gettime),
    SCMP_SYS(timer_getoverrun),
    SCMP_SYS(timer_delete),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    /* pipes and sockets; which families is decided below */
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(sendto),
    SCMP_SYS(recvfrom),
    SCMP_SYS(sendmsg),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(recvmmsg),
    SCMP_SYS(shutdown),
    SCMP_SYS(getsockname),
    SCMP_SYS(getpeername),
    /* the system */
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrlimit),
    SCMP_SYS(setrlimit),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrandom),
};

/* Attributes of files, which Landlock does not look at: for guests behind a private root. Others
 * are told that there are none. */
static const int attributes_of_own[] = {
    SCMP_SYS(getxattr),    SCMP_SYS(lgetxattr),    SCMP_SYS(listxattr),    SCMP_SYS(llistxattr),
    SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr),
};

/* An access list on tmpfs is up to 64 KiB of the kernel's memory for each file and each directory,
 * twice, which no size of the file system bounds; and a filter cannot see the name. EOPNOTSUPP is
 * what a file system answers that has no attributes. */
static const int attributes[] = { SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr) };

/* Nor does it look at these. Without a private root init does them for the guest (notice.h), as
 * it does with modes. */
static const int times[] = { SCMP_SYS(utime), SCMP_SYS(utimes), SCMP_SYS(futimesat),
                             SCMP_SYS(utimensat) };

/* Giving a file to nobody in particular changes its times, and anybody may do that to any file. */
static const int ownership[] = { SCMP_SYS(chown), SCMP_SYS(fchown), SCMP_SYS(lchown),
                                 SCMP_SYS(fchownat) };

/* Tried on purpose, not by accident: say no rather than "what is that?". */
static const int refused[] = {
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(open_tree),
    SCMP_SYS(move_mount),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsmount),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(ioperm),
    SCMP_SYS(iopl),
    SCMP_SYS(syslog),
    SCMP_SYS(vhangup),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(mbind),
    SCMP_SYS(set_mempolicy),
    SCMP_SYS(migrate_pages),
    SCMP_SYS(move_pages),
    SCMP_SYS(setpriority),
    SCMP_SYS(ioprio_set),
};

/* Files' pages in pipes and sockets: a piece of four kilobytes keeps the whole of what the kernel
 * read at once, up to two mebibytes and more, also when the file is gone. EINVAL is what they
 * answer where a file does not know them; every program then reads and writes. */
static const int pinning[] = { SCMP_SYS(splice), SCMP_SYS(tee), SCMP_SYS(sendfile) };

#define ALL_NAMESPACES                                                                         \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
     CLONE_NEWCGROUP | 0x80 /* CLONE_NEWTIME */)

static int add(scmp_filter_ctx ctx, uint32_t action, int nr, const struct scmp_arg_cmp *when)
{
    if (nr < 0)
        return 0; /* this architecture does not have it */
    return seccomp_rule_add_array(ctx, action, nr, when ? 1 : 0, when);
}

/* Calls whose first argument names another process: only oneself. Without a pid namespace they
 * would reach the engine, which runs as the same user. */
static int add_self_only(scmp_filter_ctx ctx)
{
    static const int calls[] = { SCMP_SYS(prlimit64), SCMP_SYS(sched_setaffinity),
                                 SCMP_SYS(sched_setparam) };
    struct scmp_arg_cmp self = SCMP_A0(SCMP_CMP_EQ, 0);
    int e = 0;

    for (size_t i = 0; i < ARRAY_LEN(calls) && e == 0; i++)
        e = add(ctx, SCMP_ACT_ALLOW, calls[i], &self);
    return e;
}

/* Policies that run before nobody else, for oneself. sched_setattr has its policy in memory,
 * where a filter cannot see it, and does not exist here. */
static int add_scheduler(scmp_filter_ctx ctx)
{
    static const uint64_t policies[] = { SCHED_OTHER, SCHED_BATCH, SCHED_IDLE };
    int e = 0;

    for (size_t i = 0; i < ARRAY_LEN(policies) && e == 0; i++) {
        struct scmp_arg_cmp is[] = { SCMP_A0(SCMP_CMP_EQ, 0),
                                     SCMP_A1(SCMP_CMP_MASKED_EQ, ~(uint64_t)SCHED_RESET_ON_FORK,
                                             policies[i]) };
        e = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(sched_setscheduler), 2, is);
    }
    return e;
}

static int add_clone(scmp_filter_ctx ctx)
{
    struct scmp_arg_cmp plain = SCMP_A0(SCMP_CMP_MASKED_EQ, ALL_NAMESPACES, 0);

    return add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), &plain);
}

static int add_personality(scmp_filter_ctx ctx)
{
    static const uint64_t harmless[] = { 0, 0x0040000 /* ADDR_NO_RANDOMIZE */, 0xffffffff };
    int e = 0;

    for (size_t i = 0; i < ARRAY_LEN(harmless) && e == 0; i++) {
        struct scmp_arg_cmp is = SCMP_A0(SCMP_CMP_EQ, harmless[i]);
        e = add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(personality), &is);
    }
    return e;
}

static int add_each(scmp_filter_ctx ctx, uint32_t action, const int *calls, size_t n)
{
    int e = 0;

    for (size_t i = 0; i < n && e == 0; i++)
        e = add(ctx, action, calls[i], NULL);
    return e;
}

/* What to do with a call when its argument `arg` is one of these. By equality, since the kernel
 * looks at 32 bits of most such arguments: one with more set must not pass for another. */
static int add_when(scmp_filter_ctx ctx, uint32_t action, int nr, unsigned arg,
                    const uint64_t *values, size_t n)
{
    int e = 0;

    for (size_t i = 0; i < n && e == 0; i++) {
        struct scmp_arg_cmp is = { .arg = arg, .op = SCMP_CMP_EQ, .datum_a = values[i] };
        e = add(ctx, action, nr, &is);
    }
    return e;
}

enum {
    PIPE_MAX = 64 << 10 /* what a pipe holds unless it is told otherwise (charge.c) */
};

/* Not among them: F_NOTIFY, which tells what happens in the host's directories, and leases. The
 * watcher finds the locks of a process; those of an open file stay with it while it is on its way
 * through a socket, where nobody finds them. EINVAL is what a kernel answers that has none. */
static int add_fcntl(scmp_filter_ctx ctx)
{
    static const uint64_t commands[] = {
        F_DUPFD,      F_GETFD,     F_SETFD,     F_GETFL,         F_SETFL,
        F_GETLK,      F_SETLK,     F_SETLKW,    F_SETOWN,        F_GETOWN,
        F_SETSIG,     F_GETSIG,    F_SETOWN_EX, F_GETOWN_EX,     F_GETLEASE,
        F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS, F_DUPFD_CLOEXEC,
    };
    static const uint64_t unknown[] = { F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW };
    struct scmp_arg_cmp small[] = { SCMP_A1(SCMP_CMP_EQ, F_SETPIPE_SZ),
                                    SCMP_A2(SCMP_CMP_LE, PIPE_MAX) };
    struct scmp_arg_cmp large[] = { SCMP_A1(SCMP_CMP_EQ, F_SETPIPE_SZ),
                                    SCMP_A2(SCMP_CMP_GT, PIPE_MAX) };
    int e = add_when(ctx, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, commands, ARRAY_LEN(commands));

    if (e == 0)
        e = add_when(ctx, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(fcntl), 1, unknown, ARRAY_LEN(unknown));
    if (e == 0)
        e = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2, small);
    return e < 0 ? e
                 : seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fcntl), 2, large);
}

/* What programs ask of pipes, sockets and files. */
static const uint64_t ioctls[] = { TCGETS,  TIOCGWINSZ, TIOCGPGRP, FIONREAD,
                                   FIONBIO, FIONCLEX,   FIOCLEX,   FIOASYNC };

/* And, behind a private root, of terminals, which are the box's own, of the loopback, and of
 * file systems that share extents; add_ioctl() has the common ones of terminals. Not among them,
 * though an unprivileged process may ask for it: what makes the kernel load a module (TIOCSETD,
 * SIOCGIFBR, SIOCGIFVLAN), what types into a terminal (TIOCSTI, TIOCLINUX), what changes flags
 * of the host's files where a mount is rw. */
static const uint64_t rooted_ioctls[] = {
    TIOCGWINSZ,   TIOCSWINSZ,  FIONREAD,   FIONBIO,        FIONCLEX,      FIOCLEX,
    FIOASYNC,     TIOCSPGRP,   TIOCOUTQ,   TIOCNOTTY,      TIOCGSID,      TIOCPKT,
    TCSBRKP,      TCGETS2,     TCSETS2,    TCSETSW2,       TCSETSF2,      TIOCGPTN,
    TIOCSPTLCK,   TIOCGPTPEER, SIOCATMARK, SIOCGIFNAME,    SIOCGIFCONF,   SIOCGIFINDEX,
    SIOCGIFFLAGS, SIOCGIFADDR, SIOCGIFMTU, SIOCGIFNETMASK, SIOCGIFHWADDR, FICLONE,
};

static int add_ioctl(scmp_filter_ctx ctx, bool rooted)
{
    /* TCGETS to TIOCGPGRP, a terminal's attributes and who has it. One rule takes fewer steps. */
    struct scmp_arg_cmp common = SCMP_A1(SCMP_CMP_MASKED_EQ, ~(uint64_t)0xf, TCGETS & ~0xf);
    int e;

    if (!rooted)
        return add_when(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, ioctls, ARRAY_LEN(ioctls));
    e = add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), &common);
    return e < 0 ? e
                 : add_when(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, rooted_ioctls,
                            ARRAY_LEN(rooted_ioctls));
}

/* Options of sockets. Each is a way into a part of the kernel, and most parts are for somebody
 * else: encapsulation, upper-layer protocols, signatures, repair, filters, tables. */
struct option {
    int level;
    enum scmp_compare how; /* this one, or all up to it: a filter has a step for each */
    int option;
};

/* What servers and clients set. */
static const struct option options_set[] = {
    { SOL_SOCKET, SCMP_CMP_EQ, SO_REUSEADDR },
    { SOL_SOCKET, SCMP_CMP_EQ, SO_BROADCAST },
    { SOL_SOCKET, SCMP_CMP_EQ, SO_KEEPALIVE },
    { SOL_SOCKET, SCMP_CMP_EQ, SO_OOBINLINE },
    { SOL_SOCKET, SCMP_CMP_EQ, SO_LINGER },
    { SOL_SOCKET, SCMP_CMP_EQ, SO_REUSEPORT },
    { SOL_SOCKET, SCMP_CMP_EQ, SO_PASSCRED },
    { SOL_SOCKET, SCMP_CMP_EQ, SO_RCVLOWAT },
    { SOL_SOCKET, SCMP_CMP_EQ, SO_RCVTIMEO },
    { SOL_SOCKET, SCMP_CMP_EQ, SO_SNDTIMEO },
    { SOL_SOCKET, SCMP_CMP_EQ, SO_TIMESTAMP },
    { IPPROTO_IP, SCMP_CMP_LE, IP_TTL }, /* type of service */
    { IPPROTO_IP, SCMP_CMP_EQ, IP_PKTINFO },
    { IPPROTO_IP, SCMP_CMP_EQ, IP_MTU_DISCOVER },
    { IPPROTO_IP, SCMP_CMP_EQ, IP_RECVERR },
    { IPPROTO_IP, SCMP_CMP_EQ, IP_BIND_ADDRESS_NO_PORT },
    { IPPROTO_IP, SCMP_CMP_EQ, IP_MULTICAST_IF },
    { IPPROTO_IP, SCMP_CMP_EQ, IP_MULTICAST_TTL },
    { IPPROTO_IP, SCMP_CMP_EQ, IP_MULTICAST_LOOP },
    { IPPROTO_IP, SCMP_CMP_EQ, IP_ADD_MEMBERSHIP },
    { IPPROTO_IP, SCMP_CMP_EQ, IP_DROP_MEMBERSHIP },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_V6ONLY },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_UNICAST_HOPS },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_MTU_DISCOVER },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_RECVERR },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_RECVPKTINFO },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_TCLASS },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_MULTICAST_IF },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_MULTICAST_HOPS },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_MULTICAST_LOOP },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_JOIN_GROUP },
    { IPPROTO_IPV6, SCMP_CMP_EQ, IPV6_LEAVE_GROUP },
    { IPPROTO_TCP, SCMP_CMP_LE, TCP_DEFER_ACCEPT }, /* delay, keep-alive, cork, segment size */
    { IPPROTO_TCP, SCMP_CMP_EQ, TCP_QUICKACK },
    { IPPROTO_TCP, SCMP_CMP_EQ, TCP_USER_TIMEOUT },
    { IPPROTO_TCP, SCMP_CMP_EQ, TCP_FASTOPEN },
    { IPPROTO_TCP, SCMP_CMP_EQ, TCP_NOTSENT_LOWAT },
    { IPPROTO_TCP, SCMP_CMP_EQ, TCP_FASTOPEN_CONNECT },
};

static int add_options(scmp_filter_ctx ctx, uint32_t action, int nr, const struct option *options,
                       size_t n)
{
    int e = 0;

    for (size_t i = 0; i < n && e == 0; i++) {
        struct scmp_arg_cmp is[] = { SCMP_A1(SCMP_CMP_EQ, (uint64_t)options[i].level),
                                     SCMP_A2(options[i].how, (uint64_t)options[i].option) };
        e = seccomp_rule_add_array(ctx, action, nr, ARRAY_LEN(is), is);
    }
    return e;
}

/* A larger buffer is agreed to and not given, as the kernel does with one that is too large: it
 * would be memory that nobody counts. What may be asked for is older than tables of the packet
 * filter and descriptors of processes, on any level, or the number of the network namespace. */
static int add_all_options(scmp_filter_ctx ctx)
{
    static const struct option agreed[] = { { SOL_SOCKET, SCMP_CMP_EQ, SO_SNDBUF },
                                            { SOL_SOCKET, SCMP_CMP_EQ, SO_RCVBUF } };
    static const struct option number[] = { { SOL_SOCKET, SCMP_CMP_EQ, SO_NETNS_COOKIE } };
    struct scmp_arg_cmp asked = SCMP_A2(SCMP_CMP_LE, SO_PEERGROUPS);
    int e =
        add_options(ctx, SCMP_ACT_ALLOW, SCMP_SYS(setsockopt), options_set, ARRAY_LEN(options_set));

    if (e == 0)
        e = add_options(ctx, SCMP_ACT_ERRNO(0), SCMP_SYS(setsockopt), agreed, ARRAY_LEN(agreed));
    if (e == 0)
        e = add_options(ctx, SCMP_ACT_ALLOW, SCMP_SYS(getsockopt), number, ARRAY_LEN(number));
    return e < 0 ? e : add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(getsockopt), &asked);
}

/* What programs do to themselves; a filter of their own only by seccomp(), of which init hears; and
 * not hiding from the watcher (PR_SET_DUMPABLE 0). */
static int add_prctl(scmp_filter_ctx ctx)
{
    static const uint64_t options[] = {
        PR_SET_PDEATHSIG,
        PR_GET_PDEATHSIG,
        PR_GET_DUMPABLE,
        PR_GET_KEEPCAPS,
        PR_SET_KEEPCAPS,
        PR_SET_NAME,
        PR_GET_NAME,
        PR_GET_SECCOMP,
        PR_CAPBSET_READ,
        PR_CAPBSET_DROP,
        PR_GET_SECUREBITS,
        PR_SET_TIMERSLACK,
        PR_GET_TIMERSLACK,
        PR_SET_CHILD_SUBREAPER,
        PR_GET_CHILD_SUBREAPER,
        PR_SET_NO_NEW_PRIVS,
        PR_GET_NO_NEW_PRIVS,
        PR_SET_THP_DISABLE,
        PR_GET_THP_DISABLE,
        PR_CAP_AMBIENT,
        PR_GET_SPECULATION_CTRL,
        PR_SET_SPECULATION_CTRL,
        PR_SET_PTRACER,
        PR_SET_VMA,
    };
    struct scmp_arg_cmp show[] = { SCMP_A0(SCMP_CMP_EQ, PR_SET_DUMPABLE), SCMP_A1(SCMP_CMP_EQ, 1) };
    int e = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 2, show);

    return e < 0 ? e
                 : add_when(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 0, options, ARRAY_LEN(options));
}

/* Filters of one's own, but none that a process hears from: it would come before the one that init
 * hears from (net.h). */
static int add_seccomp(scmp_filter_ctx ctx)
{
    enum {
        LISTENER = SECCOMP_FILTER_FLAG_NEW_LISTENER
    };
    struct scmp_arg_cmp without = SCMP_A1(SCMP_CMP_MASKED_EQ, LISTENER, 0);
    struct scmp_arg_cmp with = SCMP_A1(SCMP_CMP_MASKED_EQ, LISTENER, LISTENER);
    int e = add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(seccomp), &without);

    return e < 0 ? e : add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(seccomp), &with);
}

/* Pages of the host's own pool, which are nobody's memory in particular: ENOMEM is what there is
 * where the pool is empty. */
static int add_mmap(scmp_filter_ctx ctx)
{
    struct scmp_arg_cmp plain = SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_HUGETLB, 0);
    struct scmp_arg_cmp huge = SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_HUGETLB, MAP_HUGETLB);
    int e = add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), &plain);

    return e < 0 ? e : add(ctx, SCMP_ACT_ERRNO(ENOMEM), SCMP_SYS(mmap), &huge);
}

/* Rules of one's own, of which init hears; not as if the guest sealed itself (NOTICE_SEAL). */
static int add_landlock(scmp_filter_ctx ctx)
{
    struct scmp_arg_cmp rule = SCMP_A3(SCMP_CMP_LT, NOTICE_SEAL);
    struct scmp_arg_cmp domain = SCMP_A1(SCMP_CMP_LT, NOTICE_SEAL);
    int e = add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(landlock_add_rule), &rule);

    return e < 0 ? e : add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(landlock_restrict_self), &domain);
}

/* Pairs of stream and packet sockets only: a datagram socket can send to any path on the host,
 * and a filter cannot see the address. */
static int add_pairs(scmp_filter_ctx ctx, bool rooted)
{
    static const uint64_t types[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };
    int e = 0;

    for (size_t i = 0; i < (rooted ? 3 : 2) && e == 0; i++) {
        struct scmp_arg_cmp when[] = { SCMP_A0(SCMP_CMP_EQ, AF_UNIX),
                                       SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, types[i]) };
        e = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 2, when);
    }
    return e;
}

/* Types and protocols that an internet socket may have. The kernel loads a module for one that
 * it does not know yet, and what is not listed is code that few programs need. */
static const struct {
    uint64_t type, protocol;
    uint32_t action;
} internet[] = {
    { SOCK_STREAM, 0, SCMP_ACT_ALLOW },
    { SOCK_STREAM, IPPROTO_TCP, SCMP_ACT_ALLOW },
    { SOCK_DGRAM, 0, SCMP_ACT_ALLOW },
    { SOCK_DGRAM, IPPROTO_UDP, SCMP_ACT_ALLOW },
    /* Programs that try it first fall back at this answer. */
    { SOCK_STREAM, IPPROTO_MPTCP, SCMP_ACT_ERRNO(EPROTONOSUPPORT) },
};

static int add_internet(scmp_filter_ctx ctx)
{
    /* Both families by one rule: they differ in one bit. */
    _Static_assert((AF_INET ^ AF_INET6) == 8 && (AF_INET & 8) == 0, "for AF_INET and AF_INET6");
    int e = 0;

    for (size_t i = 0; i < ARRAY_LEN(internet) && e == 0; i++) {
        struct scmp_arg_cmp is[] = { SCMP_A0(SCMP_CMP_MASKED_EQ, ~(uint64_t)8, AF_INET),
                                     SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, internet[i].type),
                                     SCMP_A2(SCMP_CMP_EQ, internet[i].protocol) };
        e = seccomp_rule_add_array(ctx, internet[i].action, SCMP_SYS(socket), ARRAY_LEN(is), is);
    }
    return e;
}

static int add_sockets(scmp_filter_ctx ctx, const struct seccomp_wish *wish)
{
    static const int calls[] = { SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept),
                                 SCMP_SYS(accept4), SCMP_SYS(connect) };
    struct scmp_arg_cmp of_unix = SCMP_A0(SCMP_CMP_EQ, AF_UNIX);
    bool rooted = wish->level >= LEVEL_NAMESPACES;
    int e = add_pairs(ctx, rooted);

    if (e < 0 || (!rooted && !wish->host_network))
        return e;
    /* A path on the host is reachable by AF_UNIX whatever Landlock says, so without a private root
     * there are only pairs. */
    if (rooted)
        e = add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), &of_unix);
    if (e == 0)
        e = add_internet(ctx);
    return e < 0 ? e : add_each(ctx, SCMP_ACT_ALLOW, calls, ARRAY_LEN(calls));
}

/* Say no, and not "what is that?", to a mode with either bit. */
static int add_lending(scmp_filter_ctx ctx, int nr, unsigned arg)
{
    int e = 0;

    for (uint64_t bit = S_ISGID; bit <= S_ISUID && e == 0; bit <<= 1) {
        struct scmp_arg_cmp has = {
            .arg = arg, .op = SCMP_CMP_MASKED_EQ, .datum_a = bit, .datum_b = bit
        };
        e = add(ctx, SCMP_ACT_ERRNO(EPERM), nr, &has);
    }
    return e;
}

/* Calls that give a file its mode, and which argument that is. */
static const struct {
    int nr;
    unsigned arg;
} modes[] = {
    { SCMP_SYS(open), 2 },   { SCMP_SYS(openat), 3 },   { SCMP_SYS(creat), 1 },
    { SCMP_SYS(mknod), 1 },  { SCMP_SYS(mknodat), 2 },  { SCMP_SYS(chmod), 1 },
    { SCMP_SYS(fchmod), 1 }, { SCMP_SYS(fchmodat), 2 },
};

/* Where files are made on the host, no file may be made set-uid or set-gid: who executes it there
 * gets its owner's rights. openat2 has the mode in memory, where a filter cannot see it; without it
 * programs fall back. */
static int add_modes(scmp_filter_ctx ctx, const struct seccomp_wish *wish)
{
    int e = wish->writes_host ? 0 : add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(openat2), NULL);

    for (size_t i = 0; i < ARRAY_LEN(modes) && e == 0; i++) {
        struct scmp_arg_cmp plain = { .arg = modes[i].arg,
                                      .op = SCMP_CMP_MASKED_EQ,
                                      .datum_a = S_ISUID | S_ISGID };

        e = add(ctx, SCMP_ACT_ALLOW, modes[i].nr, wish->writes_host ? &plain : NULL);
        if (e == 0 && wish->writes_host)
            e = add_lending(ctx, modes[i].nr, modes[i].arg);
    }
    return e;
}

static int add_by_level(scmp_filter_ctx ctx, const struct seccomp_wish *wish)
{
    bool rooted = wish->level >= LEVEL_NAMESPACES;
    int e = add_each(ctx, rooted ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EOPNOTSUPP), attributes_of_own,
                     ARRAY_LEN(attributes_of_own));

    if (e == 0)
        e = add_each(ctx, SCMP_ACT_ALLOW, times, ARRAY_LEN(times));
    if (e == 0)
        e = add_modes(ctx, wish);
    if (e == 0)
        e = add_each(ctx, rooted ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), ownership,
                     ARRAY_LEN(ownership));
    if (e == 0)
        e = add_ioctl(ctx, rooted);
    if (e == 0 && rooted) /* elsewhere it would tell about the host's processes */
        e = add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(pidfd_open), NULL);
    return e == 0 ? add_sockets(ctx, wish) : e;
}

static int add_all(scmp_filter_ctx ctx, const struct seccomp_wish *wish)
{
    int e = add_each(ctx, SCMP_ACT_ALLOW, allowed, ARRAY_LEN(allowed));

    if (e == 0)
        e = add_each(ctx, SCMP_ACT_ERRNO(EPERM), refused, ARRAY_LEN(refused));
    if (e == 0)
        e = add_each(ctx, SCMP_ACT_ERRNO(EINVAL), pinning, ARRAY_LEN(pinning));
    if (e == 0)
        e = add_each(ctx, SCMP_ACT_ERRNO(EOPNOTSUPP), attributes, ARRAY_LEN(attributes));
    if (e == 0)
        e = add_mmap(ctx);
    if (e == 0)
        e = add_landlock(ctx);
    if (e == 0)
        e = add_self_only(ctx);
    if (e == 0)
        e = add_scheduler(ctx);
    if (e == 0)
        e = add_clone(ctx);
    if (e == 0)
        e = add_prctl(ctx);
    if (e == 0)
        e = add_fcntl(ctx);
    if (e == 0)
        e = add_all_options(ctx);
    if (e == 0)
        e = add_personality(ctx);
    if (e == 0)
        e = add_seccomp(ctx);
    return e == 0 ? add_by_level(ctx, wish) : e;
}

static int export(scmp_filter_ctx ctx, struct gb_buf *out, struct gb_err *err)
{
    auto_close int fd = memfd_create("seccomp", MFD_CLOEXEC);
    off_t size;
    int e;

    if (fd < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making a memory file");
    e = seccomp_export_bpf(ctx, fd);
    size = lseek(fd, 0, SEEK_END);
    if (e < 0 || size <= 0 || lseek(fd, 0, SEEK_SET) < 0)
        return gb_fail(err, GB_E_SYSTEM, -e, "exporting the seccomp filter");
    if (gb_buf_reserve(out, (size_t)size, err) < 0)
        return -1;
    e = fd_read_all(fd, out->data + out->len, (size_t)size);
    if (e < 0)
        return gb_fail(err, GB_E_SYSTEM, -e, "reading the seccomp filter");
    out->len += (size_t)size;
    return 0;
}

int seccomp_build(const struct seccomp_wish *wish, struct gb_buf *out, struct gb_err *err)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    int e, r;

    if (!ctx)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a seccomp filter");
    e = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (e == 0)
        e = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree, not a list */
    if (e == 0)
        e = add_all(ctx, wish);
    r = e < 0 ? gb_fail(err, GB_E_SYSTEM, -e, "composing the seccomp filter")
              : export(ctx, out, err);
    seccomp_release(ctx);
    return r;
}
