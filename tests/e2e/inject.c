/*
 * Run a command and make chosen system calls of chosen processes below it fail, or claim to have
 * worked without being made:
 *
 *   inject [-o FILE] RULE... -- COMMAND...
 *
 * A rule is CALL and what follows, separated by colons:
 *
 *   box         only in the processes of boxes: those that the zygote forks, and all below
 *   by=NAME     the same, and of these only such whose name begins so (glovebox-init, ...)
 *   N=VALUE     only if argument N is this
 *   N&BITS      only if argument N has one of these bits
 *   N@TEXT      only if argument N points to a string with this in it
 *   nth=K       only the K-th time that all of this is so; from=K: from then on
 * and one of
 *   err=ERRNO   the call is not made and fails
 *   ret=VALUE   the call is not made and returns this; ret=@N: what argument N says
 *   clear=BITS  the call is made, without these bits of its first argument
 *   kill, stop  the call is not made: the process is killed, or stopped as it enters it
 *
 * By ptrace and not by a filter: a filter cannot tell processes apart, count, or read memory, and
 * would itself be a layer (no_new_privs, seccomp) that a box seems to have. How often each rule
 * applied is written to FILE, one number a line, so that a rule which no longer meets anything is
 * noticed; and last, how many processes the command has left.
 *
 * Never outside a pid namespace: at isolation 'landlock' init ends a box with kill(-1), and what is
 * taken from it may be what keeps that from ending everything else.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include "base/own.h"

enum {
    RULES_MAX = 8,
    TASKS_MAX = 512,
    ARGS = 6,
    TEXT_MAX = 256,
    LEAVE_MS = 3000, /* how long what the command left may take to end */
};

enum action {
    ACT_NONE,
    ACT_RETURN,
    ACT_RETURN_ARG,
    ACT_CLEAR,
    ACT_KILL,
    ACT_STOP
};

struct rule {
    int nr;
    bool is_box;
    const char *by;
    bool has_value[ARGS];
    uint64_t value[ARGS], bits[ARGS];
    const char *text[ARGS];
    unsigned long nth, from;
    enum action action;
    int64_t number;
    unsigned long met, applied;
};

struct task {
    pid_t pid;
    bool is_known; /* whose child it is, and so: */
    bool is_in_box;
    bool is_waiting; /* for that to be known */
    /* Its call was not made; what that is to return. */
    bool is_skipped;
    int64_t ret;
};

static struct rule rules[RULES_MAX];
static size_t n_rules;
static struct task tasks[TASKS_MAX];
static bool is_outside_of_interest; /* to save time, what is not is not traced */

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "inject: %s: %s\n", what, errno ? strerror(errno) : "what is that?");
    exit(99);
}

/* ---- rules ---- */

static int errno_by_name(const char *name)
{
    for (int e = 1; e < 200; e++)
        if (strerrorname_np(e) && strcmp(strerrorname_np(e), name) == 0)
            return e;
    errno = 0;
    die(name);
}

static bool parse_action(struct rule *r, const char *word)
{
    if (strncmp(word, "err=", 4) == 0) {
        r->action = ACT_RETURN;
        r->number = -errno_by_name(word + 4);
    } else if (strncmp(word, "ret=@", 5) == 0) {
        r->action = ACT_RETURN_ARG;
        r->number = strtol(word + 5, NULL, 0);
    } else if (strncmp(word, "ret=", 4) == 0) {
        r->action = ACT_RETURN;
        r->number = strtoll(word + 4, NULL, 0);
    } else if (strncmp(word, "clear=", 6) == 0) {
        r->action = ACT_CLEAR;
        r->number = strtoll(word + 6, NULL, 0);
    } else if (strcmp(word, "kill") == 0 || strcmp(word, "stop") == 0) {
        r->action = word[0] == 'k' ? ACT_KILL : ACT_STOP;
    } else {
        return false;
    }
    return true;
}

static bool parse_condition(struct rule *r, const char *word)
{
    int arg = word[0] - '0';

    if (strncmp(word, "by=", 3) == 0)
        r->by = word + 3;
    else if (strcmp(word, "box") == 0)
        r->is_box = true;
    else if (strncmp(word, "nth=", 4) == 0)
        r->nth = strtoul(word + 4, NULL, 0);
    else if (strncmp(word, "from=", 5) == 0)
        r->from = strtoul(word + 5, NULL, 0);
    else if (arg >= 0 && arg < ARGS && word[1] == '@')
        r->text[arg] = word + 2;
    else if (arg >= 0 && arg < ARGS && word[1] == '&')
        r->bits[arg] = strtoull(word + 2, NULL, 0);
    else if (arg >= 0 && arg < ARGS && word[1] == '=' && (r->has_value[arg] = true))
        r->value[arg] = strtoull(word + 2, NULL, 0);
    else
        return false;
    return true;
}

static void parse_rule(char *text)
{
    struct rule *r = &rules[n_rules++];
    char *rest = text, *word = strsep(&rest, ":");

    errno = 0;
    r->nr = seccomp_syscall_resolve_name(word);
    if (n_rules == RULES_MAX || r->nr == __NR_SCMP_ERROR)
        die(word);
    while ((word = strsep(&rest, ":")))
        if (!parse_action(r, word) && !parse_condition(r, word))
            die(word);
    if (r->action == ACT_NONE)
        die("a rule without an action");
    r->is_box |= r->by != NULL;
    is_outside_of_interest |= !r->is_box;
}

static bool is_named(pid_t pid, const char *name)
{
    char path[64], text[32] = "";
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
        text[0] = '\0';
    if (fd >= 0)
        (void)close(fd);
    return strncmp(text, name, strlen(name)) == 0;
}

static bool has_text(pid_t pid, uint64_t at, const char *text)
{
    char there[TEXT_MAX] = "";
    struct iovec ours = { there, 0 }, theirs = { NULL, 0 };
    size_t page = 4096 - at % 4096; /* what follows may not be there */

    ours.iov_len = theirs.iov_len = page < sizeof(there) - 1 ? page : sizeof(there) - 1;
    memcpy(&theirs.iov_base, &at, sizeof(theirs.iov_base));
    return process_vm_readv(pid, &ours, 1, &theirs, 1, 0) > 0 && strstr(there, text);
}

static bool meets(struct rule *r, const struct task *task, const struct ptrace_syscall_info *info)
{
    pid_t pid = task->pid;

    if (info->entry.nr != (uint64_t)r->nr || (r->is_box && !task->is_in_box))
        return false;
    for (size_t i = 0; i < ARGS; i++) {
        uint64_t arg = info->entry.args[i];

        if ((r->has_value[i] && (uint32_t)arg != (uint32_t)r->value[i]) ||
            (r->bits[i] && !(arg & r->bits[i])) || (r->text[i] && !has_text(pid, arg, r->text[i])))
            return false;
    }
    if (r->by && !is_named(pid, r->by))
        return false;
    r->met++;
    return (r->nth == 0 || r->met == r->nth) && r->met >= r->from;
}

/* ---- registers ---- */

#if defined(__x86_64__)
static void set_number(pid_t pid, int64_t nr)
{
    (void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.orig_rax), nr);
}

static void set_first_arg(pid_t pid, uint64_t value)
{
    (void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.rdi), value);
}

static void set_return(pid_t pid, int64_t value)
{
    (void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.rax), value);
}
#elif defined(__aarch64__)
static void set_number(pid_t pid, int64_t nr)
{
    int it = (int)nr;
    struct iovec iov = { &it, sizeof(it) };

    (void)ptrace(PTRACE_SETREGSET, pid, (void *)NT_ARM_SYSTEM_CALL, &iov);
}

static void set_first_arg(pid_t pid, uint64_t value)
{
    struct user_regs_struct regs;
    struct iovec iov = { &regs, sizeof(regs) };

    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov) < 0)
        return;
    regs.regs[0] = value;
    (void)ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &iov);
}

static void set_return(pid_t pid, int64_t value)
{
    set_first_arg(pid, (uint64_t)value);
}
#else
#error "how a tracer changes a system call on this architecture is not written here"
#endif

/* ---- processes ---- */

static struct task *task_of(pid_t pid)
{
    struct task *unused = NULL;

    for (size_t i = 0; i < TASKS_MAX; i++) {
        if (tasks[i].pid == pid)
            return &tasks[i];
        if (tasks[i].pid == 0 && !unused)
            unused = &tasks[i];
    }
    errno = ENOSPC;
    if (!unused)
        die("processes");
    *unused = (struct task){ .pid = pid };
    return unused;
}

static void forget(pid_t pid)
{
    task_of(pid)->pid = 0;
}

static void skip(struct task *task, int64_t ret)
{
    task->is_skipped = true;
    task->ret = ret;
    set_number(task->pid, -1);
}

static void apply(struct rule *r, struct task *task, const struct ptrace_syscall_info *info)
{
    r->applied++;
    switch (r->action) {
    case ACT_RETURN:
        skip(task, r->number);
        break;
    case ACT_RETURN_ARG:
        skip(task, (int64_t)info->entry.args[r->number]);
        break;
    case ACT_CLEAR:
        set_first_arg(task->pid, info->entry.args[0] & ~(uint64_t)r->number);
        break;
    case ACT_KILL:
        (void)kill(task->pid, SIGKILL);
        break;
    case ACT_STOP:
        skip(task, -EINTR);
        (void)kill(task->pid, SIGSTOP);
        break;
    case ACT_NONE:
        break;
    }
}

static void on_call(struct task *task)
{
    struct ptrace_syscall_info info = { 0 };

    if (ptrace(PTRACE_GET_SYSCALL_INFO, task->pid, sizeof(info), &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        for (size_t i = 0; i < n_rules; i++) {
            if (meets(&rules[i], task, &info)) {
                apply(&rules[i], task, &info);
                return;
            }
        }
        return;
    }
    if (info.op == PTRACE_SYSCALL_INFO_EXIT && task->is_skipped) {
        set_return(task->pid, task->ret);
        task->is_skipped = false;
    }
}

static void resume(const struct task *task, int sig)
{
    bool is_traced = task->is_in_box || is_outside_of_interest;

    (void)ptrace(is_traced ? PTRACE_SYSCALL : PTRACE_CONT, task->pid, NULL, sig);
}

static void on_birth(const struct task *parent)
{
    unsigned long pid = 0;
    struct task *child;

    if (ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &pid) < 0)
        return;
    child = task_of((pid_t)pid);
    child->is_known = true;
    child->is_in_box = parent->is_in_box || is_named(parent->pid, "glovebox-zygote");
    if (child->is_waiting)
        resume(child, 0);
}

/* Let a process go on from where it stopped. */
static void on_stop(struct task *task, int status)
{
    int sig = WSTOPSIG(status), event = status >> 16;

    if (!task->is_known) { /* it was faster than the news of its birth */
        task->is_waiting = true;
        return;
    }
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE)
        on_birth(task);
    if (sig == (SIGTRAP | 0x80))
        on_call(task);
    /* The kernel does not let it kill a traced first process of a namespace, as it would else. */
    if (event == 0 && sig == SIGSEGV && is_named(task->pid, "glovebox-init"))
        (void)kill(task->pid, SIGKILL);
    if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
        (void)ptrace(PTRACE_LISTEN, task->pid, NULL, NULL); /* it is stopped, and stays so */
    else
        resume(task, event != 0 || sig == (SIGTRAP | 0x80) ? 0 : sig);
}

/* Returns the command's wait status. What it started may outlive it for a while. */
static int follow(pid_t root)
{
    int result = -1, status, left_ms = LEAVE_MS;

    task_of(root)->is_known = true;
    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL | (result >= 0 ? WNOHANG : 0));

        if (pid == 0 && left_ms-- > 0) {
            (void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
            continue;
        }
        if (pid <= 0 && (pid == 0 || errno != EINTR))
            return result;
        if (pid <= 0)
            continue;
        if (WIFSTOPPED(status)) {
            on_stop(task_of(pid), status);
            continue;
        }
        forget(pid);
        if (pid == root)
            result = status;
    }
}

static pid_t start(char **command)
{
    int go[2];
    char byte;
    pid_t pid;

    if (pipe2(go, O_CLOEXEC) < 0)
        die("pipe");
    pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        (void)close(go[1]);
        (void)!read(go[0], &byte, 1);
        (void)execvp(command[0], command);
        die(command[0]);
    }
    if (ptrace(PTRACE_SEIZE, pid, NULL,
               PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC) < 0 ||
        ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)
        die("ptrace");
    (void)close(go[0]);
    (void)close(go[1]);
    return pid;
}

static unsigned count_left(void)
{
    unsigned n = 0;

    for (size_t i = 0; i < TASKS_MAX; i++)
        n += tasks[i].pid != 0;
    return n;
}

static void write_counts(const char *path)
{
    FILE *file = fopen(path, "we");

    if (!file)
        die(path);
    for (size_t i = 0; i < n_rules; i++)
        (void)fprintf(file, "%lu\n", rules[i].applied);
    (void)fprintf(file, "%u\n", count_left());
    (void)fclose(file);
}

int main(int argc, char **argv)
{
    const char *counts = NULL;
    int at = 1, status;

    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strcmp(argv[at], "-o") == 0 && at + 1 < argc)
            counts = argv[++at];
        else
            parse_rule(argv[at]);
    }
    errno = 0;
    if (at + 1 >= argc)
        die("usage: inject [-o FILE] RULE... -- COMMAND...");
    if (getpid() != 1)
        die("this must be the first process of a pid namespace (unshare --pid --fork)");
    (void)signal(SIGPIPE, SIG_IGN);
    status = follow(start(argv + at + 1));
    if (counts)
        write_counts(counts);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
