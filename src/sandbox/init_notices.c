/*
 * Calls of guests that init hears of before the kernel makes them (notice.h): what init allows,
 * counts, refuses, or does on the guest's behalf.
 */
#include <errno.h>
#include <sys/syscall.h>

#include "base/own.h"
#include "sandbox/init.h"
#include "sandbox/notice.h"
#include "sandbox/reach.h"
#include "sandbox/shared.h"
#include "sandbox/touch.h"
#include "sandbox/watch.h"

/* Shared anonymous memory: no more than the limit, by what it could hold. */
static int hear_mapping(struct init *in, const struct notice *asked)
{
    uint64_t limit =
        init_is_watching(in) ? seat_limits(in).memory_bytes : in->plan->watch.memory_bytes;
    uint64_t bytes = asked->args[1];

    shared_hear(asked->tid);
    if (shared_needs_look(bytes, limit))
        watch_look_at_shared(in->proc);
    return shared_allow(asked->tid, bytes, limit) ? 0 : ENOMEM;
}

/* The memory of a rule stays with its ruleset, and each process that enters it has a copy; nothing
 * in
 * /proc shows how many there are. A program that confines itself makes few; a session that is
 * forked makes some (seat.c). */
static int hear_rule(struct init *in, const struct notice *asked)
{
    (void)asked;
    if (in->rules_left == 0)
        return ENOMEM;
    in->rules_left--;
    return 0;
}

static int hear_domain(struct init *in, const struct notice *asked)
{
    (void)asked;
    if (in->domains_left == 0)
        return ENOMEM;
    in->domains_left--;
    return 0;
}

/* Filters of its own are a program's as long as it lives: those that are there now are counted when
 * many were asked for. */
static int hear_filter(struct init *in, const struct notice *asked)
{
    (void)asked;
    if (in->n_filters >= INIT_FILTERS_MAX)
        in->n_filters = watch_filters(in->proc);
    if (in->n_filters >= INIT_FILTERS_MAX)
        return ENOMEM;
    in->n_filters++;
    return 0;
}

static int hear_socket(struct init *in, const struct notice *asked)
{
    (void)asked;
    in->is_net_used = true;
    return 0;
}

enum {
    ANSWERED = -1 /* or will be */
};

static int hear_connect(struct init *in, const struct notice *asked)
{
    reach_connect(in->plan, asked);
    return ANSWERED;
}

static int hear_touch(struct init *in, const struct notice *asked)
{
    touch_answer(in->plan, in->scratch, asked);
    return ANSWERED;
}

static const struct {
    int nr;
    /* 0: the kernel is to go on; or an errno to refuse with; or ANSWERED */
    int (*hear)(struct init *in, const struct notice *asked);
} heard[] = {
    { SYS_mmap, hear_mapping },
    { SYS_landlock_add_rule, hear_rule },
    { SYS_landlock_restrict_self, hear_domain },
    { SYS_seccomp, hear_filter },
    { SYS_socket, hear_socket },
    { SYS_connect, hear_connect },
#ifdef SYS_chmod
    { SYS_chmod, hear_touch },
    { SYS_utime, hear_touch },
    { SYS_utimes, hear_touch },
    { SYS_futimesat, hear_touch },
    { SYS_readlink, hear_touch },
#endif
    { SYS_fchmod, hear_touch },
    { SYS_fchmodat, hear_touch },
    { SYS_utimensat, hear_touch },
    { SYS_readlinkat, hear_touch },
};

void init_hear_notice(struct init *in)
{
    struct notice asked;
    int e = EPERM; /* none that we asked to hear of */

    if (!notice_receive(in->notices, &asked))
        return; /* killed meanwhile */
    for (size_t i = 0; i < ARRAY_LEN(heard); i++)
        if (heard[i].nr == asked.nr)
            e = heard[i].hear(in, &asked);
    if (e != ANSWERED)
        notice_answer(&asked, e);
}
