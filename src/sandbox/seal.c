#include "sandbox/seal.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/halves.h"
#include "sandbox/landlock.h"
#include "sandbox/verify.h"

int seal_ids(const struct plan *plan, struct gb_err *err)
{
    bool mapped = (plan->namespaces & CLONE_NEWUSER) != 0;
    uid_t uid = mapped ? plan->inside_id : plan->outside_uid;
    gid_t gid = mapped ? plan->inside_id : plan->outside_gid;

    if (!plan->change_ids)
        return 0;
    /* The raw calls: there is one thread, and none that glibc's would have to make follow. */
    if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, gid, gid, gid) < 0 ||
        syscall(SYS_setresuid, uid, uid, uid) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "becoming user %u", uid);
    return verify_ids(uid, gid, err);
}

int seal_bounding_set(bool has_right, struct gb_err *err)
{
    enum {
        CAPS_MAX = 64 /* no kernel has more */
    };
    int cap = 0;

    while (cap < CAPS_MAX && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
        cap++;
    /* Without CAP_SETPCAP there is nothing in it that no_new_privs does not hold. */
    if (cap == 0 && errno == EPERM && !has_right)
        return 0;
    if (cap == 0 || (cap < CAPS_MAX && errno != EINVAL)) /* there is no such capability any more */
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "emptying the bounding set");
    return verify_bounding_set(err);
}

int seal_privileges(struct gb_err *err)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct none[2] = { 0 };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "setting no_new_privs");
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "dropping ambient capabilities");
    if (syscall(SYS_capset, &head, none) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "dropping capabilities");
    return verify_privileges(err);
}

/* ---- resource limits ---- */

/* The raw call: C libraries disagree about the type of a resource's number. */
static int rlimit(int what, const struct rlimit *want, struct rlimit *ret_old)
{
    return (int)syscall(SYS_prlimit64, 0, what, want, ret_old);
}

/* What the kernel charges to this user, as far as /proc shows it. */
static uint64_t tasks_of_user(void)
{
    DIR *dir = opendir("/proc");
    uint64_t tasks = 0;

    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        char path[64];
        struct stat st;

        (void)snprintf(path, sizeof(path), "%.20s/task", e->d_name);
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && fstatat(dirfd(dir), path, &st, 0) == 0 &&
            st.st_uid == getuid())
            tasks += st.st_nlink - 2; /* a directory a thread, and two that every directory has */
    }
    if (dir)
        (void)closedir(dir);
    return tasks;
}

static bool may_fork(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

/* The limit counts from what the user runs already. A container shows only its own part of that, so
 * the kernel is asked whether one more is allowed, and the guess doubled until it is. */
static int set_shared_nproc(rlim_t extra, rlim_t max, struct gb_err *err)
{
    enum {
        BASE_MAX = 1 << 22 /* there are no more process ids than that */
    };
    rlim_t want, base = tasks_of_user();

    do {
        want = base + extra < max ? base + extra : max;
        if (rlimit(RLIMIT_NPROC, &(struct rlimit){ want, max }, NULL) < 0)
            return gb_fail(err, GB_E_NO_ISOLATION, errno, "limiting processes");
        base = base == 0 ? extra : base * 2;
    } while (!may_fork() && want < max && base < BASE_MAX);
    if (rlimit(RLIMIT_NPROC, &(struct rlimit){ want, want }, NULL) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "limiting processes");
    return verify_rlimit(RLIMIT_NPROC, want, err);
}

int seal_rlimits(const struct plan *plan, struct gb_err *err)
{
    for (size_t i = 0; i < plan->n_rlimits; i++) {
        struct rlimit now = { 0 }, want = { .rlim_cur = plan->rlimits[i].value,
                                            .rlim_max = plan->rlimits[i].value };
        int what = plan->rlimits[i].resource;

        /* A host that already holds us to less is obeyed. */
        if (rlimit(what, NULL, &now) < 0)
            return gb_fail(err, GB_E_SYSTEM, errno, "asking for resource limit %d", what);
        if (what == RLIMIT_NPROC && plan_shares_user(plan)) {
            if (set_shared_nproc(want.rlim_cur, now.rlim_max, err) < 0)
                return -1;
            continue;
        }
        if (now.rlim_max < want.rlim_max)
            want.rlim_cur = want.rlim_max = now.rlim_max;
        if (what == RLIMIT_CPU && want.rlim_max < now.rlim_max)
            want.rlim_max++; /* SIGXCPU first, so that the result can name the limit */
        if (rlimit(what, &want, NULL) < 0)
            return gb_fail(err, GB_E_NO_ISOLATION, errno, "setting resource limit %d", what);
        if (verify_rlimit(what, want.rlim_max, err) < 0)
            return -1;
    }
    return 0;
}

int seal_shut(const struct plan *plan, struct gb_err *err)
{
    union {
        const void *in;
        struct sock_filter *out; /* the kernel only reads it */
    } filter = { .in = plan->seccomp };
    struct sock_fprog prog = { .len = (unsigned short)(plan->seccomp_bytes /
                                                       sizeof(struct sock_filter)),
                               .filter = filter.out };

    if (plan->landlock_fs != 0 && landlock_apply(plan, err) < 0)
        return -1;
    if (prog.len > 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "installing the seccomp filter");
    return prog.len > 0 ? verify_filter(err) : 0;
}

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the number by which seccomp knows this architecture (linux/audit.h) is not written here"
#endif

/* There are few, and musl's qsort() takes some thirty times as long, once a box. */
static void sort_numbers(int *numbers, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int it = numbers[i];
        size_t at = i;

        for (; at > 0 && numbers[at - 1] > it; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = it;
    }
}

/* Numbers that are side by side and all of them among these, or none: by turns, beginning with
 * those that are not. Returns how many ranges. */
static size_t find_ranges(const int *sorted, size_t n, struct halves_range *ret)
{
    size_t found = 1;

    ret[0] = (struct halves_range){ 0 };
    for (size_t i = 0; i < n; i++) {
        uint32_t nr = (uint32_t)sorted[i];

        if (ret[found - 1].first > nr)
            continue; /* twice */
        if (found > 1 && ret[found - 1].first == nr)
            found--; /* beside the last */
        else
            ret[found++].first = nr;
        ret[found++].first = nr + 1;
    }
    return found;
}

/* For ioctl only: to `yes`, or to the step after it. */
static size_t search_ioctls(const struct seal_allowed *allowed, size_t at, size_t yes,
                            struct sock_filter *code)
{
    size_t n = allowed->n_ioctls;

    code[at] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, (uint8_t)(n + 2));
    /* The lower half is all that the kernel looks at, too. */
    code[at + 1] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                offsetof(struct seccomp_data, args[1]));
    for (size_t i = 0; i < n; i++)
        code[at + 2 + i] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, allowed->ioctls[i], (uint8_t)(yes - (at + 2 + i) - 1), 0);
    code[at + 2 + n] =
        (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)(yes + 1 - (at + 2 + n) - 1));
    return at + 3 + n;
}

size_t seal_filter(const struct seal_allowed *allowed, struct sock_filter *ret)
{
    static const struct sock_filter head[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    static const struct sock_filter tail[] = {
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    size_t at = ARRAY_LEN(head), n = allowed->n_calls, n_ranges, yes;
    struct halves_range ranges[2 * SEAL_CALLS_MAX + 1];
    int sorted[SEAL_CALLS_MAX];

    memcpy(sorted, allowed->calls, n * sizeof(*sorted));
    sort_numbers(sorted, n);
    n_ranges = find_ranges(sorted, n, ranges);
    yes = at + 3 + allowed->n_ioctls + n_ranges - 1;
    for (size_t i = 0; i < n_ranges; i++)
        ranges[i].to = i % 2 == 0 ? yes + 1 : yes;
    memcpy(ret, head, sizeof(head));
    at = search_ioctls(allowed, at, yes, ret);
    halves_search(ret, at, ranges, n_ranges);
    memcpy(ret + yes, tail, sizeof(tail));
    return yes + ARRAY_LEN(tail);
}

int seal_calls(const struct seal_allowed *allowed, struct gb_err *err)
{
    struct sock_filter code[SEAL_CODE_MAX];
    struct sock_fprog prog = { .filter = code };

    if (allowed->n_calls == 0 || allowed->n_calls > SEAL_CALLS_MAX ||
        allowed->n_ioctls > SEAL_IOCTLS_MAX)
        return gb_fail(err, GB_E_SYSTEM, 0, "a filter of %zu calls", allowed->n_calls);
    prog.len = (unsigned short)seal_filter(allowed, code);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "installing init's seccomp filter");
    return verify_filter(err);
}
