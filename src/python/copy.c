/*
 * How a copy is made.
 *
 *   original ---clone(CLONE_VM | CLONE_VFORK)---> maker ---fork---> copy
 *
 * A child of the original's would turn up in the program's own wait() and, at its end, as a
 * SIGCHLD. So a process that shares the original's memory, and for which the original stands still,
 * forks the copy and is gone: the copy is then init's. It comes from glibc's fork(), which sets its
 * thread id right and runs the fork handlers of every library; and since it is a copy of the
 * original's whole memory, it can jump back to where the original waits, on the original's own
 * stack.
 *
 * The copy then waits for init's signal, all others blocked. Of its descriptors it keeps files and
 * drops pipes, sockets and the like: as long as it held those, no reader would see their end, and
 * no port would be free. In their place stays something that only takes up the number, so that an
 * object which still has it cannot meet another's. The original goes on when that is done, or its
 * next cell could find a port in use that it has just closed. Files share their position with the
 * original; the copy remembers it.
 */
#define PY_SSIZE_T_CLEAN
#include "python/copy.h"

#include <Python.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/box.h"

enum {
    ROOM = 256 << 10, /* of stack between the original and the maker */
    PLACES_MAX = 1024,
    LET_GO_S = 1, /* that the original waits for the copy: it may have been killed */
};

/* ---- descriptors ---- */

struct place {
    int fd;
    off_t at;
};

static struct place places[PLACES_MAX]; /* of the one process that makes copies, and of each copy */
static size_t n_places;

static bool is_kept(const struct copy_keeps *keeps, int fd)
{
    for (size_t i = 0; i < ARRAY_LEN(keeps->more); i++)
        if (fd == keeps->more[i])
            return true;
    return fd <= STDERR_FILENO || fd == keeps->chan || fd == keeps->answer;
}

/* Call for each open descriptor. */
static void each_fd(void (*act)(const struct copy_keeps *keeps, int fd, int nothing),
                    const struct copy_keeps *keeps, int nothing)
{
    DIR *dir = opendir("/proc/self/fd");
    struct rlimit limit = { 0 };

    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        int fd = (int)strtol(e->d_name, NULL, 10);
        if (e->d_name[0] != '.' && fd != dirfd(dir) && fd != nothing)
            act(keeps, fd, nothing);
    }
    if (dir) {
        (void)closedir(dir);
    } else if (getrlimit(RLIMIT_NOFILE, &limit) == 0) { /* there is no /proc */
        for (int fd = 0; (rlim_t)fd < limit.rlim_cur; fd++)
            if (fd != nothing)
                act(keeps, fd, nothing);
    }
}

/* Before there is a copy: afterwards the original goes on, and moves them. */
static void note_place(const struct copy_keeps *keeps, int fd, int nothing)
{
    struct stat st;

    (void)keeps;
    (void)nothing;
    if (n_places < PLACES_MAX && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        places[n_places++] = (struct place){ fd, lseek(fd, 0, SEEK_CUR) };
}

/* Keep files; put something that is nothing in the place of anything else. */
static void let_go(const struct copy_keeps *keeps, int fd, int nothing)
{
    struct stat st;

    if (!is_kept(keeps, fd) && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) &&
        !S_ISDIR(st.st_mode) && !S_ISCHR(st.st_mode))
        (void)dup3(nothing, fd, O_CLOEXEC);
}

/* ---- the original waits for it ---- */

/* In memory that both have: a descriptor could be held by a process that a thread of the program's
 * forks just now. Null if there is no room, and then nobody waits. */
static sem_t *shared_sem(void)
{
    void *page =
        mmap(NULL, sizeof(sem_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return page != MAP_FAILED && sem_init(page, 1, 0) == 0 ? page : NULL;
}

static void await_let_go(sem_t *ready)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LET_GO_S;
    while (sem_timedwait(ready, &until) < 0 && errno == EINTR)
        ;
}

/* ---- sleeping ---- */

/* The maker may not be gone yet. */
static void await_init(pid_t init)
{
    struct timespec moment = { .tv_nsec = 100000 };

    while (getppid() != init)
        (void)nanosleep(&moment, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* which a fork forgets */
    if (getppid() != init)
        _exit(1);
}

/* Whatever is sent to it is taken, and means nothing unless it comes from init. */
static void sleep_until_woken(pid_t init)
{
    siginfo_t info = { 0 };
    sigset_t all;
    struct timespec now = { 0 };
    int sig;

    (void)sigfillset(&all);
    do
        sig = sigwaitinfo(&all, &info);
    while (sig != BOX_WAKE_SIGNAL || info.si_code != SI_USER || info.si_pid != init);
    while (sigtimedwait(&all, NULL, &now) > 0)
        ;
}

static void be_dormant(const struct copy_keeps *keeps, sem_t *ready)
{
    int nothing = open("/", O_PATH | O_CLOEXEC);

    (void)prctl(PR_SET_NAME, "glovebox-copy", 0, 0, 0);
    if (nothing >= 0)
        each_fd(let_go, keeps, nothing);
    gb_closep(&nothing);
    if (ready) {
        (void)sem_post(ready);
        (void)munmap(ready, sizeof(*ready));
    }
    await_init(keeps->init);
    sleep_until_woken(keeps->init);
    (void)prctl(PR_SET_NAME, "glovebox-guest", 0, 0, 0);
    (void)setsid(); /* the session that it was in went with the original */
    for (size_t i = 0; i < n_places; i++)
        if (places[i].at >= 0)
            (void)lseek(places[i].fd, places[i].at, SEEK_SET);
}

/* ---- making ---- */

struct making {
    jmp_buf back;
    sem_t *ready;
    pid_t pid;
    int error;
};

/* In the original's memory, on a lower part of its stack, while it stands still. */
static int make(void *data)
{
    struct making *m = data;
    pid_t pid = fork();

    if (pid == 0)
        longjmp(m->back, 1);
    m->pid = pid;
    m->error = errno;
    _exit(0);
}

/* One that takes in orphans would get the copy, too. */
static int be_subreaper(int is_one)
{
    int was = 0;

    (void)prctl(PR_GET_CHILD_SUBREAPER, &was, 0, 0, 0);
    if (was != is_one)
        (void)prctl(PR_SET_CHILD_SUBREAPER, is_one, 0, 0, 0);
    return was;
}

static pid_t make_from_here(struct making *m)
{
    char *stack = (char *)__builtin_frame_address(0) - ROOM;
    /* Without a signal at its end: only this wait sees it. */
    pid_t maker = clone(make, stack - (uintptr_t)stack % 16, CLONE_VM | CLONE_VFORK, m);

    if (maker < 0) {
        m->error = errno;
        return -1;
    }
    while (waitpid(maker, NULL, (int)__WCLONE) < 0 && errno == EINTR)
        ;
    return m->pid;
}

pid_t copy_make(const struct copy_keeps *keeps)
{
    static struct making m; /* not on the stack, so that no jump can spoil it */
    static sigset_t before;
    static int is_subreaper;
    sigset_t all;
    pid_t pid;

    m.pid = -1;
    m.error = EAGAIN;
    n_places = 0;
    m.ready = shared_sem();
    each_fd(note_place, keeps, -1);
    PyOS_BeforeFork();
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    is_subreaper = be_subreaper(0);
    if (setjmp(m.back) != 0) {
        be_dormant(keeps, m.ready);
        (void)be_subreaper(is_subreaper);       /* which a fork forgets, too */
        (void)signal(BOX_WAKE_SIGNAL, SIG_IGN); /* should it be woken twice */
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        PyOS_AfterFork_Child();
        return 0;
    }
    pid = make_from_here(&m);
    if (pid > 0 && m.ready)
        await_let_go(m.ready);
    if (m.ready)
        (void)munmap(m.ready, sizeof(*m.ready));
    (void)be_subreaper(is_subreaper);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    PyOS_AfterFork_Parent();
    errno = m.error;
    return pid;
}
