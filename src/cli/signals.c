#include "cli/signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/cli.h"
#include "glovebox.h"

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

/* A handler has no other way to reach the program. */
static volatile sig_atomic_t caught;
static _Atomic(struct gb_engine *) watched;

static void on_stop(int sig)
{
    int saved = errno;
    struct gb_engine *engine = atomic_load(&watched);

    /* A closing terminal may send SIGHUP twice; that is not impatience. */
    if (caught != 0 && sig != SIGHUP)
        _exit(CLI_SIGNAL + sig);
    if (caught == 0)
        caught = sig;
    if (engine)
        gb_wake(engine);
    errno = saved;
}

static void on_pipe(int sig)
{
    (void)sig;
}

void signals_outlive_readers(void)
{
    /* A handler and not SIG_IGN, which the interpreter would inherit across execve(). */
    struct sigaction pipe_gone = { .sa_handler = on_pipe, .sa_flags = SA_RESTART };

    (void)sigaction(SIGPIPE, &pipe_gone, NULL);
}

void signals_catch(void)
{
    struct sigaction stop = { .sa_handler = on_stop }; /* no SA_RESTART: read() must return */

    for (size_t i = 0; i < ARRAY_LEN(stop_signals); i++) {
        struct sigaction old;
        if (sigaction(stop_signals[i], &stop, &old) == 0 && old.sa_handler == SIG_IGN)
            (void)sigaction(stop_signals[i], &old, NULL);
    }
    signals_outlive_readers();
}

void signals_watch(struct gb_engine *engine)
{
    atomic_store(&watched, engine);
}

int signals_caught(void)
{
    return caught;
}

void signals_block(sigset_t *old)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(stop_signals); i++)
        sigaddset(&set, stop_signals[i]);
    (void)pthread_sigmask(SIG_BLOCK, &set, old);
}

void signals_restore(const sigset_t *old)
{
    (void)pthread_sigmask(SIG_SETMASK, old, NULL);
}

int signals_poll(int fd, short events)
{
    struct pollfd p = { .fd = fd, .events = events };
    sigset_t old;
    int rc = 0;

    /* order: blocked before the flag is read, so that a signal can only come inside ppoll() */
    signals_block(&old);
    do {
        if (signals_caught() != 0)
            rc = -EINTR;
        else
            rc = ppoll(&p, 1, NULL, &old) < 0 ? -errno : 0;
    } while (rc == -EINTR && signals_caught() == 0);
    signals_restore(&old);
    return rc;
}
