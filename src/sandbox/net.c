#include "sandbox/net.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "sandbox/verify.h"

/* ---- the zygote ---- */

/* To the namespace that this was called in first. One who is root in a container may be in that of
 * somebody who is more, and could not come back to it: so this is tried before one is left. */
static int go_home(void)
{
    static int home = -1; /* kept: what it names never changes */

    if (home < 0)
        home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    return home < 0 ? -1 : setns(home, CLONE_NEWNET);
}

/* "sockets: used 0", and more of which this is the sum. */
static bool is_empty(void)
{
    static const char none[] = "sockets: used 0\n";
    char text[sizeof(none)];
    ssize_t n = fd_slurp_at(AT_FDCWD, "/proc/self/net/sockstat", text, sizeof(text) - 1);

    return n == (ssize_t)sizeof(none) - 1 && memcmp(text, none, sizeof(none) - 1) == 0;
}

bool net_enter(int net)
{
    if (go_home() < 0 || setns(net, CLONE_NEWNET) < 0)
        return false;
    if (verify_net_entered(net) && is_empty())
        return true;
    net_leave();
    return false;
}

void net_leave(void)
{
    if (go_home() < 0)
        _exit(1);
}

/* Of all that a new user namespace gives, what setns() takes. */
static int keep_sys_admin(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2] = { { 0 } };

    data[0].effective = data[0].permitted = 1u << CAP_SYS_ADMIN;
    return (int)syscall(SYS_capset, &head, data);
}

/* Does each of the host's mounts tell others what is mounted on it? Then a copy of them all stays
 * what they are. */
static bool are_mounts_passed_on(void)
{
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    char line[4096];
    bool are = mounts != NULL;

    while (are && fgets(line, sizeof(line), mounts))
        are = strstr(line, " shared:") || strstr(line, " master:");
    if (mounts)
        (void)fclose(mounts);
    return are;
}

void net_prepare_lending(void)
{
    static bool is_done;
    uid_t uid = geteuid();
    gid_t gid = getegid();
    char uids[64], gids[64];
    int mounts = 0;

    if (is_done || uid == 0)
        return;
    is_done = true;
    if (are_mounts_passed_on())
        mounts = CLONE_NEWNS;
    /* A network namespace to return to, since the host's cannot be entered from there. */
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET | mounts) < 0)
        return; /* a library keeps a thread, or the host refuses: then the box will say why */
    (void)snprintf(uids, sizeof(uids), "%u %u 1", uid, uid);
    (void)snprintf(gids, sizeof(gids), "%u %u 1", gid, gid);
    /* It is nobody until then, and could not make a box any more. */
    if (fd_write_file_at(AT_FDCWD, "/proc/self/setgroups", "deny") < 0 ||
        fd_write_file_at(AT_FDCWD, "/proc/self/uid_map", uids) < 0 ||
        fd_write_file_at(AT_FDCWD, "/proc/self/gid_map", gids) < 0 || keep_sys_admin() < 0)
        _exit(1);
}

/* ---- the box's first process ---- */

static int loopback_up(struct gb_err *err)
{
    auto_close int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

    if (sock < 0 || ioctl(sock, SIOCSIFFLAGS, &ifr) < 0)
        return gb_fail(err, GB_E_NO_ISOLATION, errno, "bringing up the box's loopback");
    return 0;
}

/* What the kernel keeps in a namespace for a socket, and beside it: memory that no descriptor
 * shows. Each holds from when the namespace is made, also for the boxes that it is handed on to. */
static const struct bound {
    const char *file, *value;
    bool is_optional; /* some kernels do not show it in a namespace of a user's */
} bounds[] = {
    /* As little as a Unix socket may hold. */
    { "ipv4/tcp_rmem", "4096 65536 212992", false },
    { "ipv4/tcp_wmem", "4096 65536 212992", false },
    /* Connections that nobody has accepted: each is two sockets with all that was sent to it,
     * though its maker has closed it. As many as Linux had for a default until 5.4. */
    { "core/somaxconn", "128", true },
    { "unix/max_dgram_qlen", "10", true }, /* likewise datagrams, each of another sender */
    { "core/optmem_max", "20480", true },  /* of each socket, beside its buffers */
    { "ipv4/tcp_max_tw_buckets", "4096", true },
};

static int bound_sockets(struct gb_err *err)
{
    auto_close int dir = open("/proc/sys/net", O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        int e = fd_write_file_at(dir, bounds[i].file, bounds[i].value);
        if (e < 0 && !(bounds[i].is_optional && e == -ENOENT))
            return gb_fail(err, GB_E_NO_ISOLATION, -e, "bounding /proc/sys/net/%s of the box",
                           bounds[i].file);
    }
    return 0;
}

int net_set_up(struct gb_err *err)
{
    return loopback_up(err) < 0 ? -1 : bound_sockets(err);
}
