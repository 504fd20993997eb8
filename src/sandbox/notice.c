#include "sandbox/notice.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

/* What becomes of a call that init is to hear of: it is told, or the call fails with `e`. */
static uint32_t hear(bool is_heard, uint32_t e)
{
    return is_heard ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | e;
}

/* Another architecture's numbers do not matter: the guest's own filter kills for them. The lower
 * half of a flag, a family or an operation is all that the kernel looks at, too. */
static int install(bool sockets, bool is_heard, unsigned flags)
{
    struct sock_filter code[] = {
        LOAD(offsetof(struct seccomp_data, nr)),

        IS(SYS_mmap, 0, 5), /* first, as the one that is made most */
        LOAD(ARG_LOW(3)),
        HAS(MAP_ANONYMOUS, 0, 2),
        HAS(MAP_SHARED, 0, 1),
        ANSWER(hear(is_heard, ENOMEM)),
        ANSWER(SECCOMP_RET_ALLOW),

        IS(SYS_socket, 0, 4),
        LOAD(ARG_LOW(0)),
        IS(AF_UNIX, 1, 0),
        ANSWER(sockets && is_heard ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW),
        ANSWER(SECCOMP_RET_ALLOW),

        IS(SYS_landlock_add_rule, 0, 4),
        LOAD(ARG_HIGH(3)),
        IS(NOTICE_SEAL >> 32, 1, 0),
        ANSWER(hear(is_heard, ENOMEM)),
        ANSWER(SECCOMP_RET_ALLOW),

        IS(SYS_landlock_restrict_self, 0, 4),
        LOAD(ARG_HIGH(1)),
        IS(NOTICE_SEAL >> 32, 1, 0),
        ANSWER(hear(is_heard, ENOMEM)),
        ANSWER(SECCOMP_RET_ALLOW),

        IS(SYS_seccomp, 0, 4),
        LOAD(ARG_LOW(0)),
        IS(SECCOMP_SET_MODE_FILTER, 0, 1),
        ANSWER(hear(is_heard, ENOMEM)),
        ANSWER(SECCOMP_RET_ALLOW),

        ANSWER(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = { .len = ARRAY_LEN(code), .filter = code };

    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

/* Does it tell of calls? There is none with this number. */
static bool is_listener(int fd)
{
    uint64_t id = 0;

    return ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) < 0 && errno == ENOENT;
}

int notice_install(bool sockets, int *ret_fd, struct gb_err *err)
{
    unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    int fd = install(sockets, true, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

    if (fd < 0 && errno == EINVAL)
        fd = install(sockets, true, flags);
    /* Who asks and who answers are one after the other: better on one processor. */
    if (fd >= 0)
        (void)ioctl(fd, NOTIF_SET_FLAGS, SYNC_WAKE_UP);
    else if (install(false, false, 0) < 0)
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
    *ret = (struct notice){ .id = asked.it.id, .tid = (pid_t)asked.it.pid, .nr = asked.it.data.nr };
    memcpy(ret->args, asked.it.data.args, sizeof(ret->args));
    return true;
}

void notice_answer(int notices, const struct notice *asked, int e)
{
    union {
        struct seccomp_notif_resp it;
        char room[512];
    } answer = { .room = { 0 } };

    answer.it.id = asked->id;
    answer.it.error = -e;
    answer.it.flags = e == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    (void)ioctl(notices, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}
