#include "sandbox/notice.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/own.h"

/* Since Linux 5.19: a caller that init has heard is not interrupted by signals. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1u << 5)
#endif

/* Since Linux 6.6. */
#define NOTIF_SET_FLAGS _IOW('!', 4, uint64_t)
#define SYNC_WAKE_UP    1ul

#define ARG_LOW(i)      (offsetof(struct seccomp_data, args[0]) + 8 * (i))
#define ARG_HIGH(i)     (ARG_LOW(i) + 4) /* both architectures are little-endian */

#define LOAD(at)        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define IS(k, yes, no)  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (k), (yes), (no))
#define HAS(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (k), (yes), (no))
#define ANSWER(k)       BPF_STMT(BPF_RET | BPF_K, (k))

/* A filter in the making. */
struct code {
    struct sock_filter steps[128];
    unsigned short n;
    bool is_heard; /* init is told; else calls that it would hear of are refused */
};

/* What becomes of a call that init is to hear of: it is told, or the call fails with `e`. */
static uint32_t hear(const struct code *c, uint32_t e)
{
    return c->is_heard ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | e;
}

static void emit(struct code *c, const struct sock_filter *steps, size_t n)
{
    for (size_t i = 0; i < n && c->n < ARRAY_LEN(c->steps); i++)
        c->steps[c->n++] = steps[i];
}

static void emit_answer(struct code *c, uint32_t nr, uint32_t said)
{
    struct sock_filter steps[] = { IS(nr, 0, 1), ANSWER(said) };

    emit(c, steps, ARRAY_LEN(steps));
}

/* What init counts. The lower half of a flag or an operation is all that the kernel looks at,
 * too. */
static void emit_counted(struct code *c)
{
    struct sock_filter steps[] = {
        IS(SYS_mmap, 0, 5), /* first, as the one that is made most */
        LOAD(ARG_LOW(3)),
        HAS(MAP_ANONYMOUS, 0, 2),
        HAS(MAP_SHARED, 0, 1),
        ANSWER(hear(c, ENOMEM)),
        ANSWER(SECCOMP_RET_ALLOW),

        IS(SYS_landlock_add_rule, 0, 4),
        LOAD(ARG_HIGH(3)),
        IS(NOTICE_SEAL >> 32, 1, 0),
        ANSWER(hear(c, ENOMEM)),
        ANSWER(SECCOMP_RET_ALLOW),

        IS(SYS_landlock_restrict_self, 0, 4),
        LOAD(ARG_HIGH(1)),
        IS(NOTICE_SEAL >> 32, 1, 0),
        ANSWER(hear(c, ENOMEM)),
        ANSWER(SECCOMP_RET_ALLOW),

        IS(SYS_seccomp, 0, 4),
        LOAD(ARG_LOW(0)),
        IS(SECCOMP_SET_MODE_FILTER, 0, 1),
        ANSWER(hear(c, ENOMEM)),
        ANSWER(SECCOMP_RET_ALLOW),
    };

    emit(c, steps, ARRAY_LEN(steps));
}

enum {
    TYPE_MASK = 0xf,
    REFUSE = SECCOMP_RET_ERRNO | EPERM
};

/* Sockets by family. A Unix socket that is guarded and cannot connect by way of init is not to
 * be had. A datagram one sends to any path, and the address lies in memory: there are none that
 * could. A raw one is a datagram socket to the kernel. */
static void emit_sockets(struct code *c, const struct plan *plan)
{
    bool is_guarded = (plan->guards & GUARD_SOCKETS) != 0;
    bool is_reached = c->is_heard && (plan->guards & GUARD_DEAF) == 0;
    uint32_t other = plan->lends_net && c->is_heard ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
    uint32_t named = is_guarded && !is_reached ? REFUSE : SECCOMP_RET_ALLOW;
    uint32_t datagram = is_guarded ? REFUSE : SECCOMP_RET_ALLOW;
    struct sock_filter steps[] = {
        IS(SYS_socket, 0, 8),
        LOAD(ARG_LOW(0)),
        IS(AF_UNIX, 1, 0),
        ANSWER(other),
        LOAD(ARG_LOW(1)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, TYPE_MASK),
        IS(SOCK_STREAM, 1, 0),
        IS(SOCK_SEQPACKET, 0, 2), /* else on as with a pair */
        ANSWER(named),

        IS(SYS_socketpair, 0, 6),
        LOAD(ARG_LOW(1)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, TYPE_MASK),
        IS(SOCK_STREAM, 1, 0),
        IS(SOCK_SEQPACKET, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        ANSWER(datagram),
    };

    emit(c, steps, ARRAY_LEN(steps));
    if (is_guarded && is_reached)
        emit_answer(c, SYS_connect, SECCOMP_RET_USER_NOTIF);
}

static void emit_metadata(struct code *c, const struct plan *plan)
{
    static const uint32_t calls[] = {
#ifdef SYS_chmod /* the older half, which newer architectures do without */
        SYS_chmod,  SYS_utime,    SYS_utimes,    SYS_futimesat,  SYS_readlink,
#endif
        SYS_fchmod, SYS_fchmodat, SYS_utimensat, SYS_readlinkat,
    };
    uint32_t said = (plan->guards & GUARD_DEAF) != 0 ? REFUSE : hear(c, EPERM);

    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        emit_answer(c, calls[i], said);
}

/* Another architecture's numbers do not matter: the guest's own filter kills for them. */
static int install(const struct plan *plan, bool is_heard, unsigned flags)
{
    static const struct sock_filter head = LOAD(offsetof(struct seccomp_data, nr));
    static const struct sock_filter tail = ANSWER(SECCOMP_RET_ALLOW);
    struct code code = { .is_heard = is_heard };
    struct sock_fprog prog = { .filter = code.steps };

    emit(&code, &head, 1);
    emit_counted(&code);
    if (plan->lends_net || (plan->guards & GUARD_SOCKETS) != 0)
        emit_sockets(&code, plan);
    if ((plan->guards & GUARD_METADATA) != 0)
        emit_metadata(&code, plan);
    emit(&code, &tail, 1);
    prog.len = code.n;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

/* Does it tell of calls? There is none with this number. */
static bool is_listener(int fd)
{
    uint64_t id = 0;

    return ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) < 0 && errno == ENOENT;
}

int notice_install(const struct plan *plan, int *ret_fd, struct gb_err *err)
{
    unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    int fd = install(plan, true, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

    if (fd < 0 && errno == EINVAL)
        fd = install(plan, true, flags);
    /* Who asks and who answers are one after the other: better on one processor. */
    if (fd >= 0)
        (void)ioctl(fd, NOTIF_SET_FLAGS, SYNC_WAKE_UP);
    else if (install(plan, false, 0) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "installing the filter that init hears from");
    if (fd >= 0 && !is_listener(fd))
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "hearing from init's filter");
    *ret_fd = fd;
    return 0;
}

/* A later kernel may have more to say than the header knows. */
union asked {
    struct seccomp_notif it;
    char room[512];
};

bool notice_receive(int notices, struct notice *ret)
{
    union asked asked = { .room = { 0 } };

    if (ioctl(notices, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
        return false;
    *ret = (struct notice){
        .fd = notices, .id = asked.it.id, .tid = (pid_t)asked.it.pid, .nr = asked.it.data.nr
    };
    memcpy(ret->args, asked.it.data.args, sizeof(ret->args));
    return true;
}

static void answer(const struct notice *asked, int64_t value, int e, uint32_t flags)
{
    union {
        struct seccomp_notif_resp it;
        char room[512];
    } said = { .room = { 0 } };

    said.it.id = asked->id;
    said.it.val = e == 0 ? value : 0;
    said.it.error = -e;
    said.it.flags = flags;
    (void)ioctl(asked->fd, SECCOMP_IOCTL_NOTIF_SEND, &said); /* a caller that is gone needs none */
}

void notice_answer(const struct notice *asked, int e)
{
    answer(asked, 0, e, e == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0);
}

void notice_finish(const struct notice *asked, int64_t value, int e)
{
    answer(asked, value, e, 0);
}

/* ---- on behalf of the caller ---- */

bool notice_is_valid(const struct notice *asked)
{
    uint64_t id = asked->id;

    return ioctl(asked->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* An address of the caller's, which is none of ours. */
static struct iovec theirs(uint64_t at, size_t len)
{
    union {
        uintptr_t in;
        void *out;
    } address = { .in = (uintptr_t)at };

    return (struct iovec){ address.out, len };
}

int notice_read(const struct notice *asked, uint64_t at, void *ret, size_t len)
{
    struct iovec here = { ret, len }, there = theirs(at, len);
    long got = syscall(SYS_process_vm_readv, asked->tid, &here, 1, &there, 1, 0);

    if (got < 0 && errno != EFAULT)
        return -EPERM;
    return got == (long)len ? 0 : -EFAULT;
}

int notice_write(const struct notice *asked, uint64_t at, const void *data, size_t len)
{
    union {
        const void *in;
        void *out; /* the kernel only reads it */
    } source = { .in = data };
    struct iovec here = { source.out, len }, there = theirs(at, len);
    long got = syscall(SYS_process_vm_writev, asked->tid, &here, 1, &there, 1, 0);

    return got == (long)len ? 0 : -EFAULT;
}

/* Page by page: it may end before one that is not there. */
int notice_read_path(const struct notice *asked, uint64_t at, char *ret, size_t max)
{
    enum {
        PAGE = 4096
    };

    for (size_t have = 0; have < max;) {
        size_t len = PAGE - (at + have) % PAGE;
        int e;

        if (len > max - have)
            len = max - have;
        e = notice_read(asked, at + have, ret + have, len);
        if (e < 0)
            return e;
        if (memchr(ret + have, '\0', len))
            return 0;
        have += len;
    }
    return -ENAMETOOLONG;
}

/* Where a path of the caller's begins. */
static int open_base(const struct notice *asked, int dir)
{
    char name[64];

    if (dir == AT_FDCWD)
        (void)snprintf(name, sizeof(name), "/proc/%d/cwd", asked->tid);
    else
        (void)snprintf(name, sizeof(name), "/proc/%d/fd/%d", asked->tid, dir);
    int fd = open(name, O_PATH | O_CLOEXEC);
    return fd >= 0 ? fd : errno == ENOENT ? -EBADF : -EACCES;
}

int notice_open(const struct notice *asked, int dir, const char *path, int flags)
{
    struct open_how how = { .flags = (unsigned)(O_PATH | O_CLOEXEC | flags),
                            .resolve = RESOLVE_NO_MAGICLINKS };
    auto_close int base = path[0] == '/' ? -1 : open_base(asked, dir);
    int fd;

    if (path[0] != '/' && base < 0)
        return base;
    if (!path[0])
        return take_fd(&base);
    fd = (int)syscall(SYS_openat2, base >= 0 ? base : AT_FDCWD, path, &how, sizeof(how));
    return fd < 0 ? -errno : fd;
}
