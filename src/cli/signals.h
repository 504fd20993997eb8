#pragma once
/* SIGINT, SIGTERM and SIGHUP: the first asks the command to stop in order, the second ends the
 * program at once. The engine's children die with the program in either case. */
#include <signal.h>

struct gb_engine;

/* Catch them from now on. One that was ignored (nohup) stays ignored. SIGPIPE becomes EPIPE. */
void signals_catch(void);

/* Of these, only that a write which nobody reads fails and does not end the process. */
void signals_outlive_readers(void);

/* Wake this engine when one comes; NULL before the engine is freed. */
void signals_watch(struct gb_engine *engine);

/* The signal that asked us to stop, or 0. */
int signals_caught(void);

/* Wait until `fd` is ready. Returns 0, or -errno: -EINTR when a signal asked us to stop, also
 * when it came before the call. */
int signals_poll(int fd, short events);

/* Keep them away from the calling thread, and from threads that it makes, until restored. */
void signals_block(sigset_t *old);
void signals_restore(const sigset_t *old);
