/*
 * The filter, run: its BPF program is interpreted here for every system call there is and some
 * that there are not, so that what is tested is what the kernel will be given and not what the
 * source lists.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "sandbox/notice.h"
#include "sandbox/seal.h"
#include "sandbox/seccomp.h"
#include "sandbox/shrink.h"

enum {
    NR_MAX = 1100,
    X32_BIT = 0x40000000,
    ENOSYS_ACTION = SECCOMP_RET_ERRNO | ENOSYS,
    EPERM_ACTION = SECCOMP_RET_ERRNO | EPERM,
    EINVAL_ACTION = SECCOMP_RET_ERRNO | EINVAL,
};

/* The filters that there are. */
static struct variant {
    const char *name;
    enum plan_level level;
    bool host_network;
    const struct seccomp_filter *filter;
} variants[] = {
    { .name = "landlock", .level = LEVEL_LANDLOCK },
    { .name = "landlock, host network", .level = LEVEL_LANDLOCK, .host_network = true },
    { .name = "namespaces", .level = LEVEL_NAMESPACES },
    { .name = "namespaces, host network", .level = LEVEL_NAMESPACES, .host_network = true },
};

enum {
    LANDLOCK,
    LANDLOCK_NET,
    NAMESPACES,
    NAMESPACES_NET
};

static int build(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
        variants[i].filter = seccomp_filter_for(&(struct seccomp_wish){
            .level = variants[i].level, .host_network = variants[i].host_network });
        if (!variants[i].filter)
            return -1;
    }
    return 0;
}

/* ---- the interpreter ---- */

static bool jumps(const struct sock_filter *f, uint32_t a)
{
    switch (BPF_OP(f->code)) {
    case BPF_JEQ:
        return a == f->k;
    case BPF_JGT:
        return a > f->k;
    case BPF_JGE:
        return a >= f->k;
    case BPF_JSET:
        return (a & f->k) != 0;
    default:
        fail_msg("unknown jump %x", f->code);
        return false;
    }
}

static uint32_t load(const struct seccomp_data *data, uint32_t at)
{
    uint32_t word;

    assert_true(at % 4 == 0 && at < sizeof(*data));
    memcpy(&word, (const char *)data + at, sizeof(word));
    return word;
}

/* What the kernel would do with this call. */
static uint32_t run(const struct variant *v, const struct seccomp_data *data)
{
    const struct sock_filter *code = v->filter->code;
    size_t n = v->filter->bytes / sizeof(*code);
    uint32_t a = 0;

    for (size_t pc = 0; pc < n; pc++) { /* jumps only go forward, so this ends */
        const struct sock_filter *f = &code[pc];

        if (f->code == (BPF_LD | BPF_W | BPF_ABS))
            a = load(data, f->k);
        else if (f->code == (BPF_ALU | BPF_AND | BPF_K))
            a &= f->k;
        else if (f->code == (BPF_JMP | BPF_JA))
            pc += f->k;
        else if (BPF_CLASS(f->code) == BPF_JMP && BPF_SRC(f->code) == BPF_K)
            pc += jumps(f, a) ? f->jt : f->jf;
        else if (f->code == (BPF_RET | BPF_K))
            return f->k;
        else
            fail_msg("instruction %x is not one that a filter needs", f->code);
    }
    fail_msg("%s: the program runs off its end", v->name);
    return 0;
}

static uint32_t call_on(const struct variant *v, uint32_t arch, uint32_t nr, uint64_t arg)
{
    struct seccomp_data data = { .nr = (int)nr, .arch = arch, .args = { arg } };

    return run(v, &data);
}

/* The action for a call with this first argument. */
static uint32_t call(size_t variant, int nr, uint64_t arg)
{
    return call_on(&variants[variant], seccomp_arch_native(), (uint32_t)nr, arg);
}

static bool is_allowed(size_t variant, int nr, uint64_t arg)
{
    return call(variant, nr, arg) == SECCOMP_RET_ALLOW;
}

/* For every variant, unless this architecture does not have the call. */
static void assert_action(int nr, uint64_t arg, uint32_t want)
{
    for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
        if (nr >= 0 && call(i, nr, arg) != want)
            fail_msg("%s: %s(%llx) gives %x, not %x", variants[i].name,
                     seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr),
                     (unsigned long long)arg, call(i, nr, arg), want);
    }
}

#define CALL(name) SCMP_SYS(name)

/* ---- which calls ---- */

static void test_the_kernel_would_take_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
        assert_int_equal(variants[i].filter->bytes % sizeof(struct sock_filter), 0);
        assert_in_range(variants[i].filter->bytes / sizeof(struct sock_filter), 1, BPF_MAXINSNS);
    }
}

static void test_foreign_architectures_are_killed(void **state)
{
    static const uint32_t arches[] = { AUDIT_ARCH_X86_64,  AUDIT_ARCH_I386,
                                       AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM,
                                       AUDIT_ARCH_PPC64,   AUDIT_ARCH_S390X,
                                       AUDIT_ARCH_RISCV64, 0,
                                       UINT32_MAX };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(variants); i++)
        for (size_t k = 0; k < ARRAY_LEN(arches); k++)
            for (uint32_t nr = 0; nr < NR_MAX && arches[k] != seccomp_arch_native(); nr++)
                assert_int_equal(call_on(&variants[i], arches[k], nr, 0), SECCOMP_RET_KILL_PROCESS);
}

static void test_x32_numbers_are_killed(void **state)
{
    (void)state;
    if (seccomp_arch_native() != SCMP_ARCH_X86_64)
        return;
    for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
        for (uint32_t nr = 0; nr < NR_MAX; nr++)
            assert_int_equal(call_on(&variants[i], AUDIT_ARCH_X86_64, nr | X32_BIT, 0),
                             SECCOMP_RET_KILL_PROCESS);
        assert_int_not_equal(call_on(&variants[i], AUDIT_ARCH_X86_64, UINT32_MAX, 0),
                             SECCOMP_RET_ALLOW);
        assert_int_not_equal(call_on(&variants[i], AUDIT_ARCH_X86_64, INT32_MAX, 0),
                             SECCOMP_RET_ALLOW);
    }
}

static void test_what_programs_need_is_allowed(void **state)
{
    static const int calls[] = { CALL(read),        CALL(write),
                                 CALL(openat),      CALL(close),
                                 CALL(mmap),        CALL(munmap),
                                 CALL(mprotect),    CALL(brk),
                                 CALL(futex),       CALL(execve),
                                 CALL(exit),        CALL(exit_group),
                                 CALL(fork),        CALL(vfork),
                                 CALL(wait4),       CALL(rt_sigaction),
                                 CALL(pipe2),       CALL(dup3),
                                 CALL(poll),        CALL(epoll_wait),
                                 CALL(getrandom),   CALL(clock_gettime),
                                 CALL(nanosleep),   CALL(getcwd),
                                 CALL(rseq),        CALL(set_robust_list),
                                 CALL(sigaltstack), CALL(kill),
                                 CALL(tgkill),      CALL(getdents64),
                                 CALL(newfstatat),  CALL(set_tid_address) };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        assert_action(calls[i], 0, SECCOMP_RET_ALLOW);
}

static void test_what_gains_something_is_refused(void **state)
{
    static const int calls[] = {
        CALL(mount),
        CALL(umount2),
        CALL(pivot_root),
        CALL(chroot),
        CALL(open_tree),
        CALL(move_mount),
        CALL(fsopen),
        CALL(fsmount),
        CALL(mount_setattr),
        CALL(unshare),
        CALL(setns),
        CALL(ptrace),
        CALL(bpf),
        CALL(process_vm_readv),
        CALL(process_vm_writev),
        CALL(pidfd_getfd),
        CALL(perf_event_open),
        CALL(userfaultfd),
        CALL(keyctl),
        CALL(add_key),
        CALL(request_key),
        CALL(init_module),
        CALL(open_by_handle_at),
        CALL(name_to_handle_at),
        CALL(finit_module),
        CALL(delete_module),
        CALL(kexec_load),
        CALL(reboot),
        CALL(swapon),
        CALL(settimeofday),
        CALL(clock_settime),
        CALL(sethostname),
        CALL(ioperm),
        CALL(iopl),
        CALL(syslog),
        CALL(fanotify_init),
        CALL(kcmp),
        CALL(setpriority),
        CALL(ioprio_set),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        assert_action(calls[i], 0, EPERM_ACTION);
}

static void test_what_does_not_exist_here(void **state)
{
    static const int calls[] = {
        CALL(clone3),           CALL(memfd_create),   CALL(memfd_secret),
        CALL(io_uring_setup),   CALL(io_uring_enter), CALL(io_uring_register),
        CALL(shmget),           CALL(shmat),          CALL(msgget),
        CALL(semget),           CALL(mq_open),        CALL(process_madvise),
        CALL(io_setup),         CALL(modify_ldt),     CALL(lookup_dcookie),
        CALL(remap_file_pages), CALL(fanotify_mark),  CALL(quotactl_fd),
        CALL(sched_setattr),    CALL(nfsservctl),     CALL(uselib),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        assert_action(calls[i], 0, ENOSYS_ACTION);
}

/* Whatever a future kernel adds is not there until somebody has thought about it. */
static void test_calls_of_the_future_do_not_exist(void **state)
{
    (void)state;
    for (int nr = 0; nr < NR_MAX; nr++) {
        char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
        if (!name)
            assert_action(nr, 0, ENOSYS_ACTION);
        free(name);
    }
}

/* ---- which arguments ---- */

static const int by_argument[] = { CALL(mmap),
                                   CALL(landlock_add_rule),
                                   CALL(landlock_restrict_self),
                                   CALL(seccomp),
                                   CALL(ioctl),
                                   CALL(fcntl),
                                   CALL(setsockopt),
                                   CALL(getsockopt),
                                   CALL(prctl),
                                   CALL(clone),
                                   CALL(prlimit64),
                                   CALL(sched_setaffinity),
                                   CALL(sched_setscheduler),
                                   CALL(sched_setparam),
                                   CALL(personality),
                                   CALL(socket),
                                   CALL(socketpair) };

static bool depends_on_argument(int nr)
{
    for (size_t i = 0; i < ARRAY_LEN(by_argument); i++)
        if (by_argument[i] == nr)
            return true;
    return false;
}

/* The last argument of which another value than 0 changes the answer, or -1. */
static int argument_that_matters(const struct variant *v, int nr)
{
    static const uint64_t values[] = {
        1, 2, 16, 0x7fffffff, 0x80000000, UINT32_MAX, (uint64_t)1 << 32, UINT64_MAX
    };
    struct seccomp_data data = { .nr = nr, .arch = seccomp_arch_native() };
    uint32_t plain = run(v, &data);

    assert_true(plain == SECCOMP_RET_ALLOW || plain == ENOSYS_ACTION || plain == EPERM_ACTION ||
                plain == EINVAL_ACTION || plain == (SECCOMP_RET_ERRNO | EOPNOTSUPP));
    for (int arg = 5; arg >= 0; arg--) {
        for (size_t i = 0; i < ARRAY_LEN(values); i++) {
            data.args[arg] = values[i];
            if (run(v, &data) != plain)
                return arg;
        }
        data.args[arg] = 0;
    }
    return -1;
}

static void test_no_other_call_depends_on_arguments(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
        for (int nr = 0; nr < NR_MAX; nr++) {
            int arg = argument_that_matters(&variants[i], nr);

            if (arg >= 0 && !depends_on_argument(nr))
                fail_msg("%s: call %d looks at argument %d", variants[i].name, nr, arg);
        }
    }
}

/* The filters are shortened when they are built, and this is what says that nothing else has
 * changed. */
static void test_a_changed_filter_is_not_the_same(void **state)
{
    (void)state;
    for (size_t v = 0; v < ARRAY_LEN(variants); v++) {
        const struct sock_filter *code = variants[v].filter->code;
        size_t n = variants[v].filter->bytes / sizeof(*code);
        struct sock_filter changed[BPF_MAXINSNS];

        memcpy(changed, code, n * sizeof(*code));
        assert_true(shrink_is_same(code, n, changed, n));
        for (size_t i = 0; i < n; i++) {
            changed[i].k++;
            assert_false(shrink_is_same(code, n, changed, n));
            changed[i] = code[i];
            if (BPF_CLASS(code[i].code) != BPF_JMP || code[i].jt == code[i].jf)
                continue;
            changed[i].jt = code[i].jf;
            assert_false(shrink_is_same(code, n, changed, n));
            changed[i] = code[i];
        }
    }
}

static void test_filters_of_ones_own(void **state)
{
    (void)state;
    for (size_t v = 0; v < ARRAY_LEN(variants); v++) {
        for (uint64_t flags = 0; flags < 64; flags++) {
            struct seccomp_data data = { .nr = CALL(seccomp),
                                         .arch = seccomp_arch_native(),
                                         .args = { SECCOMP_SET_MODE_FILTER, flags } };
            bool hears = (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;

            assert_int_equal(run(&variants[v], &data), hears ? EPERM_ACTION : SECCOMP_RET_ALLOW);
        }
    }
}

/* What would keep memory in the kernel that neither init nor the watcher counts. */
static void test_what_keeps_memory(void **state)
{
    enum {
        ENOMEM_ACTION = SECCOMP_RET_ERRNO | ENOMEM
    };
    static const struct {
        int nr;
        uint64_t args[4];
        uint32_t action;
    } rows[] = {
        { CALL(splice), { 0 }, EINVAL_ACTION },
        { CALL(tee), { 0 }, EINVAL_ACTION },
        { CALL(sendfile), { 0 }, EINVAL_ACTION },
        { CALL(vmsplice), { 0 }, ENOSYS_ACTION },
        { CALL(setxattr), { 0 }, SECCOMP_RET_ERRNO | EOPNOTSUPP },
        { CALL(lsetxattr), { 0 }, SECCOMP_RET_ERRNO | EOPNOTSUPP },
        { CALL(fsetxattr), { 0 }, SECCOMP_RET_ERRNO | EOPNOTSUPP },
        { CALL(mmap), { 0, 0, 0, MAP_SHARED | MAP_ANONYMOUS }, SECCOMP_RET_ALLOW }, /* heard */
        { CALL(mmap), { 0, 0, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB }, ENOMEM_ACTION },
        { CALL(mmap), { 0, 0, 0, MAP_HUGETLB | (uint64_t)1 << 40 }, ENOMEM_ACTION },
        { CALL(fcntl), { 0, F_SETPIPE_SZ, 64 << 10 }, SECCOMP_RET_ALLOW },
        { CALL(fcntl), { 0, F_SETPIPE_SZ, (64 << 10) + 1 }, EPERM_ACTION },
        { CALL(fcntl), { 0, F_SETPIPE_SZ, (uint64_t)1 << 40 }, EPERM_ACTION },
        { CALL(fcntl), { 0, F_OFD_SETLK }, EINVAL_ACTION },
        { CALL(fcntl), { 0, F_OFD_SETLKW }, EINVAL_ACTION },
        { CALL(fcntl), { 0, F_SETLK }, SECCOMP_RET_ALLOW }, /* the watcher counts them */
        { CALL(prctl), { PR_SET_SECCOMP }, ENOSYS_ACTION },
        { CALL(landlock_add_rule), { 0, 0, 0, 0 }, SECCOMP_RET_ALLOW }, /* heard */
        { CALL(landlock_add_rule), { 0, 0, 0, NOTICE_SEAL }, ENOSYS_ACTION },
        { CALL(landlock_restrict_self), { 0, 0 }, SECCOMP_RET_ALLOW }, /* heard */
        { CALL(landlock_restrict_self), { 0, NOTICE_SEAL | 1 }, ENOSYS_ACTION },
    };

    (void)state;
    for (size_t v = 0; v < ARRAY_LEN(variants); v++) {
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            struct seccomp_data data = { .nr = rows[i].nr, .arch = seccomp_arch_native() };

            memcpy(data.args, rows[i].args, sizeof(rows[i].args));
            if (run(&variants[v], &data) != rows[i].action)
                fail_msg("%s: row %zu (call %d)", variants[v].name, i, rows[i].nr);
        }
    }
}

static void test_clone_makes_no_namespace(void **state)
{
    static const uint64_t honest[] = { 0, SIGCHLD, CLONE_VM | CLONE_VFORK | SIGCHLD,
                                       /* what glibc's fork() and pthread_create() pass */
                                       CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD,
                                       CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                           CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                                           CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID };
    static const uint64_t namespaces[] = { CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
                                           CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
                                           CLONE_NEWNET };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(honest); i++) {
        assert_action(CALL(clone), honest[i], SECCOMP_RET_ALLOW);
        for (size_t k = 0; k < ARRAY_LEN(namespaces); k++)
            for (size_t v = 0; v < ARRAY_LEN(variants); v++)
                for (uint64_t high = 0; high < 4; high++)
                    assert_false(
                        is_allowed(v, CALL(clone), honest[i] | namespaces[k] | high << 32));
    }
}

static void test_only_about_oneself(void **state)
{
    static const int calls[] = { CALL(prlimit64), CALL(sched_setaffinity), CALL(sched_setscheduler),
                                 CALL(sched_setparam) };
    static const uint64_t others[] = { 1, 2, 4711, UINT32_MAX, UINT64_MAX, 1 | (uint64_t)1 << 32 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        assert_action(calls[i], 0, SECCOMP_RET_ALLOW);
        for (size_t v = 0; v < ARRAY_LEN(variants); v++)
            for (size_t k = 0; k < ARRAY_LEN(others); k++)
                assert_false(is_allowed(v, calls[i], others[k]));
    }
}

static void test_personalities(void **state)
{
    (void)state;
    for (size_t v = 0; v < ARRAY_LEN(variants); v++) {
        assert_true(is_allowed(v, CALL(personality), UINT32_MAX)); /* only asks */
        for (unsigned bit = 0; bit < 32; bit++)
            assert_int_equal(is_allowed(v, CALL(personality), (uint64_t)1 << bit), bit == 18);
    }
}

static bool is_pair_allowed(size_t variant, uint64_t family, uint64_t type)
{
    struct seccomp_data data = { .nr = CALL(socketpair),
                                 .arch = seccomp_arch_native(),
                                 .args = { family, type } };

    return run(&variants[variant], &data) == SECCOMP_RET_ALLOW;
}

/* A datagram socket of a pair can send to any path: only where no path of the host is in reach. */
static void test_socket_pairs(void **state)
{
    (void)state;
    for (size_t v = 0; v < ARRAY_LEN(variants); v++) {
        bool rooted = v == NAMESPACES || v == NAMESPACES_NET;

        assert_true(is_pair_allowed(v, AF_UNIX, SOCK_STREAM));
        assert_true(is_pair_allowed(v, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK));
        assert_true(is_pair_allowed(v, AF_UNIX, SOCK_SEQPACKET));
        assert_int_equal(is_pair_allowed(v, AF_UNIX, SOCK_DGRAM), rooted);
        assert_int_equal(is_pair_allowed(v, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC), rooted);
        assert_int_equal(is_pair_allowed(v, AF_UNIX, SOCK_DGRAM | (uint64_t)1 << 40), rooted);
        assert_false(is_pair_allowed(v, AF_UNIX, SOCK_RAW));
        assert_false(is_pair_allowed(v, AF_INET, SOCK_STREAM));
    }
}

static bool is_prctl_allowed(uint64_t option, uint64_t arg)
{
    struct seccomp_data data = { .nr = CALL(prctl),
                                 .arch = seccomp_arch_native(),
                                 .args = { option, arg } };

    for (size_t v = 0; v < ARRAY_LEN(variants); v++)
        if (run(&variants[v], &data) != SECCOMP_RET_ALLOW)
            return false;
    return true;
}

/* A program may do what it likes to itself, but not hide from the watcher. */
static void test_prctl(void **state)
{
    (void)state;
    assert_true(is_prctl_allowed(PR_SET_NAME, 0x1000));
    assert_true(is_prctl_allowed(PR_SET_NO_NEW_PRIVS, 1));
    assert_true(is_prctl_allowed(PR_SET_DUMPABLE, 1));
    assert_false(is_prctl_allowed(PR_SET_DUMPABLE, 0));
    assert_false(is_prctl_allowed(PR_SET_DUMPABLE | (uint64_t)1 << 32, 0));
    assert_false(is_prctl_allowed(PR_SET_DUMPABLE, (uint64_t)1 << 32));
    assert_false(is_prctl_allowed(PR_SET_MM, 1));
}

/* What Landlock does not look at: without a private root init does it, or nobody. */
static void test_metadata(void **state)
{
    static const struct {
        int nr;
        uint32_t answer;
    } calls[] = { { CALL(chmod), SECCOMP_RET_ALLOW },
                  { CALL(fchmod), SECCOMP_RET_ALLOW },
                  { CALL(utimensat), SECCOMP_RET_ALLOW },
                  { CALL(readlink), SECCOMP_RET_ALLOW },
                  { CALL(chown), EPERM_ACTION },
                  { CALL(fchown), EPERM_ACTION },
                  { CALL(getxattr), SECCOMP_RET_ERRNO | EOPNOTSUPP },
                  { CALL(llistxattr), SECCOMP_RET_ERRNO | EOPNOTSUPP },
                  { CALL(removexattr), SECCOMP_RET_ERRNO | EOPNOTSUPP } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        assert_true(is_allowed(NAMESPACES, calls[i].nr, 0));
        assert_int_equal(call(LANDLOCK, calls[i].nr, 0), calls[i].answer);
    }
    assert_false(is_allowed(NAMESPACES, CALL(inotify_init1), 0)); /* /usr is the host's */
    assert_false(is_allowed(LANDLOCK, CALL(inotify_init1), 0));
}

/* Where files are made on the host, none may lend others its owner's rights. */
static void test_modes(void **state)
{
    static const struct {
        int nr;
        unsigned arg;
    } calls[] = { { CALL(openat), 3 },
                  { CALL(mknodat), 2 },
                  { CALL(fchmod), 1 },
                  { CALL(fchmodat), 2 }
#ifdef __x86_64__
                  ,
                  { CALL(open), 2 },
                  { CALL(creat), 1 },
                  { CALL(mknod), 1 },
                  { CALL(chmod), 1 }
#endif
    };
    static const struct {
        uint64_t mode;
        bool lends;
    } modes[] = { { 0, false },     { 0777, false },
                  { 01777, false }, { 0100644, false },
                  { 02755, true },  { 04755, true },
                  { 06000, true },  { 04000 | (uint64_t)1 << 40, true } };

    (void)state;
    for (enum plan_level level = LEVEL_LANDLOCK; level <= LEVEL_NAMESPACES; level++) {
        for (int rw = 0; rw < 2; rw++) {
            struct variant v = { .name = "modes",
                                 .filter = seccomp_filter_for(
                                     &(struct seccomp_wish){ .level = level, .writes_host = rw }) };

            assert_non_null(v.filter);
            for (size_t i = 0; i < ARRAY_LEN(calls) * ARRAY_LEN(modes); i++) {
                size_t c = i / ARRAY_LEN(modes), m = i % ARRAY_LEN(modes);
                struct seccomp_data data = { .nr = calls[c].nr, .arch = seccomp_arch_native() };

                data.args[calls[c].arg] = modes[m].mode;
                assert_int_equal(run(&v, &data),
                                 rw && modes[m].lends ? EPERM_ACTION : SECCOMP_RET_ALLOW);
            }
            struct seccomp_data hidden = { .nr = CALL(openat2), .arch = seccomp_arch_native() };
            assert_int_equal(run(&v, &hidden), rw ? ENOSYS_ACTION : SECCOMP_RET_ALLOW);
        }
    }
}

static uint32_t call_with(size_t variant, int nr, uint64_t first, uint64_t second, uint64_t third)
{
    struct seccomp_data data = { .nr = nr,
                                 .arch = seccomp_arch_native(),
                                 .args = { first, second, third } };

    return run(&variants[variant], &data);
}

static void test_socket_families(void **state)
{
    static const struct {
        size_t variant;
        bool of_unix, internet;
    } cases[] = { { LANDLOCK, false, false },
                  { LANDLOCK_NET, false, true },
                  { NAMESPACES, true, true },
                  { NAMESPACES_NET, true, true } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (uint64_t family = 0; family < 256; family++) {
            bool want = (family == AF_UNIX && cases[i].of_unix) ||
                        ((family == AF_INET || family == AF_INET6) && cases[i].internet);
            size_t v = cases[i].variant;

            if ((call_with(v, CALL(socket), family, SOCK_STREAM, 0) == SECCOMP_RET_ALLOW) != want)
                fail_msg("%s: family %u", variants[v].name, (unsigned)family);
            /* The kernel looks at 32 bits: what it would take for another family must not pass. */
            if (!want)
                assert_int_not_equal(
                    call_with(v, CALL(socket), family | (uint64_t)1 << 32, SOCK_STREAM, 0),
                    SECCOMP_RET_ALLOW);
        }
    }
}

/* The kernel loads a module for a type or protocol that it does not know. */
static void test_socket_protocols(void **state)
{
    static const uint64_t families[] = { AF_INET, AF_INET6 };

    (void)state;
    for (size_t f = 0; f < ARRAY_LEN(families); f++) {
        for (uint64_t type = 0; type < 16; type++) {
            for (uint64_t protocol = 0; protocol < 300; protocol++) {
                bool want = (type == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP)) ||
                            (type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP));
                uint64_t flags = type | SOCK_CLOEXEC | SOCK_NONBLOCK;

                assert_int_equal(call_with(NAMESPACES, CALL(socket), families[f], flags,
                                           protocol) == SECCOMP_RET_ALLOW,
                                 want);
                assert_int_equal(call_with(LANDLOCK_NET, CALL(socket), families[f], type,
                                           protocol) == SECCOMP_RET_ALLOW,
                                 want);
            }
        }
        assert_int_equal(
            call_with(NAMESPACES, CALL(socket), families[f], SOCK_STREAM, IPPROTO_MPTCP),
            SECCOMP_RET_ERRNO | EPROTONOSUPPORT);
    }
}

/* What reaches a part of the kernel that no ordinary program needs, and what those do need. */
static void test_socket_options(void **state)
{
    static const struct {
        int level, option;
        bool is_set, is_asked;
    } cases[] = {
        { SOL_SOCKET, SO_REUSEADDR, true, true },
        { SOL_SOCKET, SO_ERROR, false, true },
        { SOL_SOCKET, SO_PEERCRED, false, true },
        { SOL_SOCKET, SO_DOMAIN, false, true },
        { SOL_SOCKET, SO_ATTACH_FILTER, false, true }, /* one's own, which is none */
        { SOL_SOCKET, SO_ATTACH_BPF, false, true },
        { SOL_SOCKET, SO_BINDTODEVICE, false, true },
        { SOL_SOCKET, SO_RCVBUFFORCE, false, true },
        { SOL_SOCKET, SO_ZEROCOPY, false, false },
        { SOL_SOCKET, SO_TXTIME, false, false },
        { SOL_SOCKET, 77 /* SO_PEERPIDFD */, false, false },
        { IPPROTO_TCP, TCP_NODELAY, true, true },
        { IPPROTO_TCP, TCP_KEEPIDLE, true, true },
        { IPPROTO_TCP, TCP_INFO, false, true },
        { IPPROTO_TCP, TCP_USER_TIMEOUT, true, true },
        { IPPROTO_TCP, TCP_CONGESTION, false, true },
        { IPPROTO_TCP, TCP_MD5SIG, false, true },
        { IPPROTO_TCP, TCP_REPAIR, false, true },
        { IPPROTO_TCP, TCP_ULP, false, true },
        { IPPROTO_UDP, 100 /* UDP_ENCAP */, false, false },
        { IPPROTO_UDP, 103 /* UDP_SEGMENT */, false, false },
        { IPPROTO_IP, IP_TOS, true, true },
        { IPPROTO_IP, IP_OPTIONS, false, true },
        { IPPROTO_IP, IP_ADD_MEMBERSHIP, true, true },
        { IPPROTO_IP, IP_MSFILTER, false, true },
        { IPPROTO_IP, IP_TRANSPARENT, false, true },
        { IPPROTO_IP, 64 /* IPT_SO_SET_REPLACE */, false, false },
        { IPPROTO_IPV6, IPV6_V6ONLY, true, true },
        { IPPROTO_IPV6, IPV6_ADDRFORM, false, true },
        { 282 /* SOL_TLS */, 1, false, true },
        { 279 /* SOL_ALG */, 1, false, true },
    };
    const uint64_t high = (uint64_t)1 << 32;

    (void)state;
    for (size_t v = 0; v < ARRAY_LEN(variants); v++) {
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            uint64_t level = (uint64_t)cases[i].level, option = (uint64_t)cases[i].option;
            bool is_set = call_with(v, CALL(setsockopt), 0, level, option) == SECCOMP_RET_ALLOW;
            bool is_asked = call_with(v, CALL(getsockopt), 0, level, option) == SECCOMP_RET_ALLOW;

            if (is_set != cases[i].is_set || is_asked != cases[i].is_asked)
                fail_msg("%s: option %d of level %d", variants[v].name, cases[i].option,
                         cases[i].level);
            assert_int_not_equal(call_with(v, CALL(setsockopt), 0, level | high, option),
                                 SECCOMP_RET_ALLOW);
        }
        assert_int_equal(call_with(v, CALL(setsockopt), 0, SOL_SOCKET, SO_RCVBUF),
                         SECCOMP_RET_ERRNO);
    }
}

/* Terminals work, and nobody types into them, loads a module by them or changes a file's flags. */
static void test_ioctls(void **state)
{
    static const uint64_t needed[] = { TCGETS,     TCSETS,    TCSETSW,   TCSETSF,  TIOCGWINSZ,
                                       TIOCSWINSZ, TIOCSCTTY, TIOCSPGRP, TIOCGPTN, TIOCSPTLCK,
                                       FIONREAD,   FIONBIO,   FIOCLEX,   FICLONE };
    static const uint64_t refused[] = { TIOCSTI,
                                        TIOCLINUX,
                                        TIOCSETD,
                                        TIOCCONS,
                                        TIOCVHANGUP,
                                        SIOCGIFBR,
                                        SIOCSIFBR,
                                        SIOCGIFVLAN,
                                        SIOCSIFFLAGS,
                                        SIOCBRADDBR,
                                        FS_IOC_SETFLAGS,
                                        FS_IOC_FSSETXATTR,
                                        0x4b46 /* KDGKBENT */,
                                        0x5405 | (uint64_t)1 << 16 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        assert_int_equal(call_with(NAMESPACES, CALL(ioctl), 0, needed[i], 0), SECCOMP_RET_ALLOW);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        for (size_t v = 0; v < ARRAY_LEN(variants); v++)
            assert_int_not_equal(call_with(v, CALL(ioctl), 0, refused[i], 0), SECCOMP_RET_ALLOW);
}

/* Nobody gets ahead of others. */
static void test_scheduling(void **state)
{
    (void)state;
    for (size_t v = 0; v < ARRAY_LEN(variants); v++) {
        for (uint64_t policy = 0; policy < 16; policy++) {
            bool want = policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
            const uint64_t reset = SCHED_RESET_ON_FORK;

            for (uint64_t flags = 0; flags <= reset; flags += reset)
                assert_int_equal(call_with(v, CALL(sched_setscheduler), 0, policy | flags, 0) ==
                                     SECCOMP_RET_ALLOW,
                                 want);
        }
    }
}

static void test_addresses(void **state)
{
    static const int calls[] = { CALL(bind), CALL(listen), CALL(accept), CALL(accept4),
                                 CALL(connect) };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        for (size_t v = 0; v < ARRAY_LEN(variants); v++)
            assert_int_equal(is_allowed(v, calls[i], 0), v != LANDLOCK);
}

/* More isolation around it allows a filter more, never less. */
static void test_variants_are_nested(void **state)
{
    (void)state;
    for (int nr = 0; nr < NR_MAX; nr++) {
        for (uint64_t arg = 0; arg < 64; arg++) {
            assert_true(!is_allowed(LANDLOCK, nr, arg) || is_allowed(LANDLOCK_NET, nr, arg));
            assert_true(!is_allowed(LANDLOCK_NET, nr, arg) || is_allowed(NAMESPACES, nr, arg));
            assert_int_equal(call(NAMESPACES, nr, arg), call(NAMESPACES_NET, nr, arg));
        }
    }
}

/* Of every number, whether it is in the list; for lists of every length. */
static void test_the_filter_of_init(void **state)
{
    struct sock_filter code[SEAL_CODE_MAX];
    static const uint32_t ioctls[] = { SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND };
    static const uint32_t asked[] = { SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND, 0, TCGETS,
                                      SECCOMP_IOCTL_NOTIF_ADDFD };
    int calls[SEAL_CALLS_MAX];

    (void)state;
    for (size_t n = 1; n <= SEAL_CALLS_MAX; n++) {
        bool is_listed[NR_MAX] = { false };
        for (size_t i = 0; i < n; i++) { /* in no order, and far from each other */
            calls[i] = (int)((i * 397 + n) % 449);
            calls[i] = calls[i] == CALL(ioctl) ? 449 : calls[i];
            is_listed[calls[i]] = true;
        }
        size_t len = seal_filter(&(struct seal_allowed){ calls, n, ioctls, 2 }, code);
        struct seccomp_filter filter = { .code = code, .bytes = len * sizeof(*code) };
        struct variant v = { .name = "init", .filter = &filter };

        assert_true(len <= SEAL_CODE_MAX);
        for (uint32_t nr = 0; nr < NR_MAX; nr++) {
            assert_int_equal(call_on(&v, seccomp_arch_native(), nr, 0),
                             is_listed[nr] ? SECCOMP_RET_ALLOW : ENOSYS_ACTION);
            assert_int_equal(call_on(&v, seccomp_arch_native(), nr | X32_BIT, 0), ENOSYS_ACTION);
            assert_int_equal(call_on(&v, AUDIT_ARCH_I386, nr, 0), SECCOMP_RET_KILL_PROCESS);
        }
        for (uint32_t k = 0; k < ARRAY_LEN(asked); k++) {
            struct seccomp_data data = { .nr = CALL(ioctl),
                                         .arch = seccomp_arch_native(),
                                         .args = { ioctls[0], asked[k], ioctls[0] } };
            assert_int_equal(run(&v, &data), k < 2 ? SECCOMP_RET_ALLOW : ENOSYS_ACTION);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_kernel_would_take_it),
        cmocka_unit_test(test_foreign_architectures_are_killed),
        cmocka_unit_test(test_x32_numbers_are_killed),
        cmocka_unit_test(test_what_programs_need_is_allowed),
        cmocka_unit_test(test_what_gains_something_is_refused),
        cmocka_unit_test(test_what_does_not_exist_here),
        cmocka_unit_test(test_calls_of_the_future_do_not_exist),
        cmocka_unit_test(test_no_other_call_depends_on_arguments),
        cmocka_unit_test(test_a_changed_filter_is_not_the_same),
        cmocka_unit_test(test_filters_of_ones_own),
        cmocka_unit_test(test_what_keeps_memory),
        cmocka_unit_test(test_clone_makes_no_namespace),
        cmocka_unit_test(test_only_about_oneself),
        cmocka_unit_test(test_personalities),
        cmocka_unit_test(test_socket_families),
        cmocka_unit_test(test_socket_protocols),
        cmocka_unit_test(test_socket_options),
        cmocka_unit_test(test_ioctls),
        cmocka_unit_test(test_scheduling),
        cmocka_unit_test(test_socket_pairs),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_prctl),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_variants_are_nested),
        cmocka_unit_test(test_the_filter_of_init),
    };

    return cmocka_run_group_tests(tests, build, NULL);
}
