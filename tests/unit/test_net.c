/* Network namespaces that are handed on, as the zygote takes them: as root, and as a user who is
 * not. Each test is a process of its own, since what a zygote does cannot be undone. */
#include "unit.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "sandbox/net.h"

static ino_t net_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_ino : 0;
}

static ino_t own_net(void)
{
    return net_of("/proc/self/ns/net");
}

/* A namespace, and what was left in it: a socket that is on its way through another, and that no
 * process has any more. */
struct left {
    int net;
    int carrier;
};

static int send_fd(int through, int fd)
{
    char byte = 'x', room[CMSG_SPACE(sizeof(int))] = { 0 };
    struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
    };
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

    *c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS,
                           .cmsg_len = CMSG_LEN(sizeof(int)) };
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    return sendmsg(through, &msg, 0) == 1 ? 0 : -1;
}

/* In a child, which then ends: like a box. */
static int leave_something(int carrier, int ready, bool is_socket)
{
    int pair[2];
    char byte = 'x';

    if (unshare(CLONE_NEWNET) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return 1;
    if (is_socket && send_fd(carrier, pair[0]) < 0)
        return 2;
    (void)close(pair[0]);
    (void)close(pair[1]);
    /* until it was opened */
    return write(ready, &byte, 1) == 1 && read(ready, &byte, 1) == 1 ? 0 : 3;
}

static int make_left(bool is_socket, struct left *ret)
{
    int through[2], talk[2], status = 0;
    char path[64], byte = 'x';
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, through) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, talk) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        _exit(leave_something(through[1], talk[1], is_socket));
    (void)close(talk[1]);
    if (pid < 0 || read(talk[0], &byte, 1) != 1)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
    ret->net = open(path, O_RDONLY | O_CLOEXEC);
    ret->carrier = through[0];
    (void)!write(talk[0], &byte, 1);
    (void)close(talk[0]);
    (void)waitpid(pid, &status, 0);
    return ret->net >= 0 && status == 0 ? 0 : -1;
}

/* What a zygote does; 0, or the number of what was wrong. */
static int take_and_refuse(void)
{
    struct left left;
    ino_t before, home;
    struct stat st;

    before = own_net();
    net_prepare_lending();
    home = own_net();
    if (getuid() == 0 ? home != before : home == before)
        return 1;
    if (make_left(true, &left) < 0 || fstat(left.net, &st) < 0 || st.st_ino == home)
        return 2;
    if (net_enter(left.net) || own_net() != home)
        return 3; /* there is a socket in it */
    (void)close(left.carrier);
    if (!net_enter(left.net) || own_net() != st.st_ino)
        return 4; /* that is gone */
    net_leave();
    if (own_net() != home)
        return 5;
    if (make_left(false, &left) < 0 || !net_enter(left.net))
        return 6;
    net_leave();
    return net_enter(STDIN_FILENO) || own_net() != home ? 7 : 0;
}

/* Root, as in a container, but in the network namespace of one who is more. */
static int stay_in_anothers(void)
{
    struct left left;
    char line[64];
    ino_t before = own_net();
    uid_t uid = getuid();

    if (unshare(CLONE_NEWUSER) < 0)
        return 1;
    (void)snprintf(line, sizeof(line), "0 %u 1", uid);
    if (fd_write_file_at(AT_FDCWD, "/proc/self/uid_map", line) < 0 || geteuid() != 0)
        return 2;
    net_prepare_lending();
    if (make_left(false, &left) < 0)
        return 3;
    return net_enter(left.net) || own_net() != before ? 4 : 0;
}

static int in_child(uid_t uid, int (*test)(void))
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        if (uid != getuid() && (setgid(uid) < 0 || setuid(uid) < 0))
            _exit(99);
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else its files in /proc are root's */
        _exit(test());
    }
    (void)waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_one_with_a_socket_in_it_is_not_taken(void **state)
{
    (void)state;
    assert_int_equal(in_child(getuid(), take_and_refuse), 0);
}

static void test_nor_by_an_ordinary_user(void **state)
{
    (void)state;
    assert_int_equal(in_child(getuid() == 0 ? NOBODY : getuid(), take_and_refuse), 0);
}

static void test_none_is_left_to_which_there_is_no_way_back(void **state)
{
    (void)state;
    assert_int_equal(in_child(getuid(), stay_in_anothers), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_with_a_socket_in_it_is_not_taken),
        cmocka_unit_test(test_nor_by_an_ordinary_user),
        cmocka_unit_test(test_none_is_left_to_which_there_is_no_way_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
