/*
 * glovebox-keeper COMMAND: runs a tool's command for the engine, and sees that it ends.
 * glovebox-keeper -- PROGRAM ARG...: the same for a server that it talks to.
 *
 * It stands between engine and command because only a parent can answer for all that a command
 * starts, and only a process that outlives the engine can end it when the engine is killed. The
 * engine holds the other end of descriptor 3 and nothing else does: when that closes, on purpose or
 * because the engine is gone, the command and everything that it started are killed. When the
 * command ends by itself, what is left of its process group is killed too, and its exit status
 * becomes ours (128 and the signal's number, if it was killed). A byte on descriptor 3 asks the
 * command's process group to end (SIGTERM). What a server leaves behind is killed like itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LIFELINE = 3,
    LOOK_MS = 2,
    LOOKS_MAX = 500 /* then what cannot be killed is left to the kernel */
};

static _Noreturn void be_command(char **argv, pid_t keeper)
{
    sigset_t none;

    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    (void)close(LIFELINE);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != keeper)
        _exit(127);
    if (argv[2])
        (void)execvp(argv[2], argv + 2);
    else
        (void)execl("/bin/sh", "sh", "-c", argv[1], (char *)NULL);
    if (argv[2])
        (void)dprintf(STDERR_FILENO, "starting %s: %s\n", argv[2], strerror(errno));
    _exit(127);
}

/* Children: the command, and what it left behind, since we take in orphans. */
static void kill_children(void)
{
    char path[64], list[4096], *at = list, *end;
    ssize_t n;
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 ? read(fd, list, sizeof(list) - 1) : -1;
    if (fd >= 0)
        (void)close(fd);
    list[n > 0 ? n : 0] = '\0';
    while (n > 0) { /* the last may be cut; it is whole the next time */
        long pid = strtol(at, &end, 10);

        if (end == at || *end != ' ')
            return;
        (void)kill((pid_t)pid, SIGKILL);
        at = end;
    }
}

/* Whoever is killed leaves its own children to us, so this goes on until there are none. */
static _Noreturn void end_everything(pid_t command, int status)
{
    struct timespec nap = { .tv_nsec = LOOK_MS * 1000000L };

    for (int i = 0; i < LOOKS_MAX; i++) {
        (void)kill(-command, SIGKILL);
        kill_children();
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
            break;
        (void)nanosleep(&nap, NULL);
    }
    _exit(status);
}

/* Is it the command that ended? Orphans that we took in end too. */
static bool has_ended(pid_t command, int *status)
{
    pid_t pid;

    do
        pid = waitpid(-1, status, WNOHANG);
    while (pid > 0 && pid != command);
    return pid == command;
}

/* Is the engine, and does it want the command on? It may ask it to end by itself. */
static bool is_wanted(pid_t command)
{
    char byte;

    if (read(LIFELINE, &byte, 1) <= 0)
        return false;
    (void)kill(-command, SIGTERM);
    return true;
}

static int watch(pid_t command, int events, bool is_server)
{
    struct pollfd p[] = { { .fd = LIFELINE, .events = POLLIN },
                          { .fd = events, .events = POLLIN } };
    char byte[64];
    int status = 0;

    for (;;) {
        if (has_ended(command, &status))
            break;
        if (poll(p, 2, -1) < 0) {
            if (errno != EINTR)
                end_everything(command, 128 + SIGKILL);
            continue;
        }
        if (p[0].revents != 0 && !is_wanted(command))
            end_everything(command, 128 + SIGKILL);
        if (p[1].revents != 0)
            (void)!read(events, byte, sizeof(byte));
    }
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (is_server)
        end_everything(command, status);
    (void)kill(-command, SIGKILL);
    return status;
}

static int wake_fd = -1;

static void on_child(int sig)
{
    int before = errno;

    (void)sig;
    (void)!write(wake_fd, "", 1);
    errno = before;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = on_child, .sa_flags = SA_NOCLDSTOP | SA_RESTART };
    pid_t keeper = getpid(), command;
    int wake[2];

    /* What the embedding program left open is none of a tool's business. */
    (void)syscall(SYS_close_range, LIFELINE + 1, ~0U, 0);
    bool is_server = argc > 2 && strcmp(argv[1], "--") == 0;

    if ((argc != 2 && !is_server) || pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
        return 127;
    wake_fd = wake[1];
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    (void)sigaction(SIGCHLD, &action, NULL);
    command = fork();
    if (command == 0) {
        (void)signal(SIGCHLD, SIG_DFL);
        be_command(argv, keeper);
    }
    if (command < 0)
        return 127;
    for (int fd = 0; fd < LIFELINE; fd++)
        (void)close(fd); /* its streams end when it does */
    return watch(command, wake[0], is_server);
}
