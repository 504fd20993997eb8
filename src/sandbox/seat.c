/*
 * How a session keeps a hard kill from costing more than one cell.
 *
 * After each cell the session's main process forks a dormant copy of itself: a child of ours, since
 * whoever made it is gone at once. The engine tells us its number before the next cell begins. If
 * the main process dies, or is to be killed, everything else in the box is killed but the copies,
 * and one of them is woken to go on.
 *
 * All numbers come from the guest in the end and may be lies. We take only children of ours: such a
 * number is nobody else's until we have waited for it; and, where forks share the box, only of the
 * seat's own process session. So no more is at stake than which process of this very session
 * survives.
 *
 * Killing all but a few, while they fork: first everything is stopped with one kill(-1), which
 * nothing can fork away from under; what somebody sets going again meanwhile, the next round gets.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/own.h"
#include "sandbox/init.h"

enum {
    TREE_MAX = 4096,
    ROUNDS_MAX = 4000,
    ROUND_US = 500,
    REST_FIRST_US = 20000, /* until the first look at what a cell has left */
    TICK_US = 10000,       /* what the kernel counts processes' times in */
};

/* ---- copies ---- */

static size_t copy_index(const struct seat *s, pid_t pid)
{
    size_t i = 0;

    while (i < s->n_copies && s->copies[i] != pid)
        i++;
    return i;
}

static bool copy_forget(struct seat *s, pid_t pid)
{
    size_t at = copy_index(s, pid);

    if (at == s->n_copies)
        return false;
    s->n_copies--;
    memmove(&s->copies[at], &s->copies[at + 1], (s->n_copies - at) * sizeof(s->copies[0]));
    return true;
}

/* A copy, or the main process, of any seat. */
static bool is_known(const struct init *in, pid_t pid)
{
    for (size_t i = 0; i < in->n_seats; i++)
        if (in->seats[i].guest == pid || copy_index(&in->seats[i], pid) < in->seats[i].n_copies)
            return true;
    return false;
}

static bool is_child(pid_t pid)
{
    siginfo_t info = { 0 };

    return pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
           info.si_pid == 0;
}

/* Whose the process is, by its session number: each seat's main process leads one. What left it
 * and lost its parent as well belongs to nobody. */
static pid_t session_of(const struct init *in, pid_t pid)
{
    char path[WATCH_PATH], text[1024];
    const char *at;
    pid_t sid = 0;

    (void)snprintf(path, sizeof(path), "%d/stat", pid);
    if (fd_slurp_at(in->proc, path, text, sizeof(text) - 1) <= 0)
        return 0;
    at = strrchr(text, ')');
    for (int field = 3; at && field <= 6; field++) /* as proc(5) numbers them */
        at = strchr(at + 1, ' ');
    if (at)
        sid = (pid_t)strtol(at, NULL, 10);
    return sid;
}

/* May this seat call it its copy? A fork must not name what another seat of the box has started, or
 * is about to keep. */
static bool is_of(const struct init *in, const struct seat *s, pid_t pid)
{
    return is_child(pid) && (in->n_seats == 1 || (s->guest > 0 && session_of(in, pid) == s->guest));
}

static void tell_dropped(const struct seat *s, pid_t pid)
{
    struct box_event event = { .kind = BOX_DROPPED, .pid = pid };

    init_tell(s, &event);
}

/* Kill a child of ours and wait for it, whether stopped or not. */
static void end_child(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
}

void seat_note_death(struct init *in, pid_t pid)
{
    for (size_t i = 0; i < in->n_seats; i++)
        if (copy_forget(&in->seats[i], pid))
            tell_dropped(&in->seats[i], pid);
}

static void keep(struct init *in, struct seat *s, pid_t pid)
{
    if (s->n_copies == BOX_COPIES_MAX || is_known(in, pid) || !is_of(in, s, pid)) {
        tell_dropped(s, pid);
        return;
    }
    s->is_lasting = true;
    s->copies[s->n_copies++] = pid;
}

static void drop(struct seat *s, pid_t pid)
{
    if (copy_forget(s, pid))
        end_child(pid);
}

bool seat_shed(struct init *in)
{
    struct seat *most = NULL;
    pid_t oldest;

    for (size_t i = 0; i < in->n_seats; i++)
        if (in->seats[i].n_copies > 1 && (!most || in->seats[i].n_copies > most->n_copies))
            most = &in->seats[i];
    if (!most)
        return false;
    oldest = most->copies[0];
    drop(most, oldest);
    tell_dropped(most, oldest);
    return true;
}

/* ---- usage ---- */

static int64_t process_cpu_us(pid_t pid)
{
    struct timespec t = { 0 };

    /* As clock_getcpuclockid() makes it; that asks for a call more than our filter has. */
    (void)clock_gettime((clockid_t)((~(unsigned)pid << 3) | 2U), &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t seat_cpu_us(const struct seat *s)
{
    return (s->guest > 0 ? process_cpu_us(s->guest) : 0) +
           (s->shell > 0 ? process_cpu_us(s->shell) : 0);
}

uint64_t seat_waiting(const struct init *in)
{
    uint64_t n = 0;

    for (size_t i = 0; i < in->n_seats; i++)
        n += in->seats[i].n_copies + (in->seats[i].guest > 0 ? 1 : 0) +
             (in->seats[i].shell > 0 ? 1 : 0);
    return n;
}

static int64_t max_rss_kb(const struct init *in, pid_t pid)
{
    char path[WATCH_PATH], text[4096];
    const char *at;

    (void)snprintf(path, sizeof(path), "%d/status", pid);
    if (fd_slurp_at(in->proc, path, text, sizeof(text) - 1) <= 0)
        return 0;
    at = strstr(text, "\nVmHWM:");
    return at ? strtoll(at + strlen("\nVmHWM:"), NULL, 10) : 0;
}

static struct box_usage usage_of(const struct init *in, const struct seat *s)
{
    int64_t cpu_us = s->guest > 0 ? process_cpu_us(s->guest) - s->cpu_before_us : 0;

    return (struct box_usage){ .cpu_us = cpu_us > 0 ? cpu_us : 0,
                               .max_rss_kb = s->guest > 0 ? max_rss_kb(in, s->guest) : 0 };
}

/* What a shell has used, and those that it has waited for. */
static int64_t shell_cpu_us(const struct init *in, pid_t pid)
{
    char path[WATCH_PATH], text[1024];
    const char *at;
    int64_t ticks = 0;

    (void)snprintf(path, sizeof(path), "%d/stat", pid);
    if (fd_slurp_at(in->proc, path, text, sizeof(text) - 1) <= 0)
        return 0;
    at = strrchr(text, ')');
    for (int field = 3; at && field <= 17; field++) { /* as proc(5) numbers them */
        at = strchr(at + 1, ' ');
        if (at && field >= 14)
            ticks += strtoll(at, NULL, 10);
    }
    return ticks * TICK_US;
}

/* The number is the guest's word: whoever it is, it is below us or nothing is counted. */
static void add_shell(const struct init *in, struct seat *s, pid_t pid, struct box_usage *usage)
{
    int64_t now_us = shell_cpu_us(in, pid), rss_kb = max_rss_kb(in, pid);

    if (s->shell == pid && now_us > s->shell_before_us)
        usage->cpu_us += now_us - s->shell_before_us;
    else if (s->shell != pid)
        usage->cpu_us += now_us;
    s->shell = pid;
    s->shell_before_us = now_us;
    if (rss_kb > usage->max_rss_kb)
        usage->max_rss_kb = rss_kb;
}

struct plan_watch seat_limits(const struct init *in)
{
    struct plan_watch all = in->seats[0].limits;
    size_t copies = in->seats[0].n_copies;

    for (size_t i = 1; i < in->n_seats; i++) {
        if (in->seats[i].limits.memory_bytes > all.memory_bytes)
            all.memory_bytes = in->seats[i].limits.memory_bytes;
        /* A limit on all that the box has used since it was made: the latest of any seat. */
        if (all.cpu_ms != 0 &&
            (in->seats[i].limits.cpu_ms == 0 || in->seats[i].limits.cpu_ms > all.cpu_ms))
            all.cpu_ms = in->seats[i].limits.cpu_ms;
        copies += in->seats[i].n_copies;
    }
    if (all.processes != 0 && in->seats[0].is_lasting)
        all.processes += copies + 1; /* and who makes one */
    return all;
}

struct seat *seat_blamed(struct init *in)
{
    struct seat *worst = NULL;
    int64_t most = -1;

    for (size_t i = 0; i < in->n_seats; i++) {
        struct seat *s = &in->seats[i];
        int64_t kb = s->guest > 0 ? max_rss_kb(in, s->guest) : 0;
        if (!s->is_resting) /* rather one in which a cell runs */
            kb += (int64_t)1 << 40;
        if (kb > most) {
            most = kb;
            worst = s;
        }
    }
    return worst;
}

/* ---- killing all but the copies ---- */

/* What is to go when this seat's main process does: in a box of its own, everything. */
static size_t victims(const struct init *in, const struct seat *s, pid_t *ret, size_t max)
{
    static pid_t tree[TREE_MAX];
    size_t n = watch_descendants(in->proc, getpid(), tree, ARRAY_LEN(tree)), kept = 0;
    pid_t below[256];
    size_t n_below = in->n_seats > 1 && s->guest > 0
                         ? watch_descendants(in->proc, s->guest, below, ARRAY_LEN(below))
                         : 0;

    for (size_t i = 0; i < n && kept < max; i++) {
        bool is_ours = in->n_seats == 1 || tree[i] == s->guest;
        if (tree[i] != s->guest && is_known(in, tree[i]))
            continue;
        for (size_t k = 0; k < n_below && !is_ours; k++)
            is_ours = below[k] == tree[i];
        if (is_ours || (s->guest > 0 && session_of(in, tree[i]) == s->guest))
            ret[kept++] = tree[i];
    }
    return kept;
}

static void reap_all(struct init *in)
{
    pid_t pid;

    do {
        pid = waitpid(-1, NULL, WNOHANG | __WALL);
        if (pid > 0)
            seat_note_death(in, pid);
    } while (pid > 0);
}

static void clear(struct init *in, struct seat *s)
{
    static pid_t pids[TREE_MAX];

    for (int round = 0; round < ROUNDS_MAX; round++) {
        size_t n;

        if (in->plan->level >= LEVEL_LANDLOCK && in->n_seats == 1)
            (void)kill(-1, SIGSTOP);
        n = victims(in, s, pids, ARRAY_LEN(pids));
        for (size_t i = 0; i < n; i++)
            (void)kill(pids[i], SIGKILL);
        reap_all(in);
        if (n == 0)
            return;
        (void)usleep(round < 10 ? ROUND_US / 10 : ROUND_US);
    }
}

/* ---- the end of a main process ---- */

void seat_close(struct init *in, struct seat *s, struct box_event *event)
{
    clear(in, s);
    while (s->n_copies > 0)
        drop(s, s->copies[0]);
    event->kind = BOX_ENDED;
    init_tell(s, event);
    (void)close(s->ctl);
    *s = in->seats[--in->n_seats];
}

void seat_roll(struct init *in, struct seat *s, struct box_event *event)
{
    if (event->end == END_EXITED) /* waited for: the usage is there, of all its life */
        event->usage.cpu_us -= s->cpu_before_us;
    else
        event->usage = usage_of(in, s);
    clear(in, s);
    if (s->n_copies == 0 && in->n_seats == 1)
        init_end(in, s, event);
    if (s->n_copies == 0) {
        seat_close(in, s, event);
        return;
    }
    /* Whoever stopped them, they are to take the signals that wait for them: the queues of all
     * processes of a user have one limit. */
    for (size_t i = 0; i < s->n_copies; i++)
        (void)kill(s->copies[i], SIGCONT);
    s->guest = 0;
    s->deadline_us = 0;
    s->is_resting = true;
    /* What was used up is its doing, and not that of the copy that goes on. */
    s->limits.cpu_ms = 0;
    s->rest_cpu_ms = s->cpu_each_ms;
    event->kind = BOX_ROLLED;
    init_tell(s, event);
}

/* ---- orders ---- */

static void rest(struct init *in, struct seat *s, const struct box_order *order)
{
    struct box_event event = { .kind = BOX_RESTED, .usage = usage_of(in, s) };
    int64_t soon_us = clock_us() + REST_FIRST_US; /* not at once: the next cell may be under way */

    s->watching = true;
    s->is_resting = true;
    s->limits = order->limits;
    /* What a cell has left running may use as much again until the next one. */
    s->rest_cpu_ms = s->cpu_each_ms = s->limits.cpu_ms;
    s->limits.cpu_ms = 0;
    s->deadline_us = 0;
    in->still_until_us = 0;
    if (in->next_look_us == 0 || in->next_look_us > soon_us)
        in->next_look_us = soon_us;
    s->cpu_before_us += event.usage.cpu_us;
    if (order->pid > 1)
        add_shell(in, s, order->pid, &event.usage);
    init_tell(s, &event);
}

static void roll(struct init *in, struct seat *s)
{
    struct box_event event = { .end = END_TOLD };

    if (s->guest == 0)
        return; /* it has been, and the engine will hear of it */
    if (!s->is_resting)
        init_hear_last_words(s);
    seat_roll(in, s, &event);
}

/* May come again for one that does not answer: its queue of signals may have been full. */
static void wake(struct seat *s, pid_t pid)
{
    if (s->guest != pid && (s->guest != 0 || !copy_forget(s, pid))) {
        tell_dropped(s, pid);
        return;
    }
    if (s->guest != pid)
        s->cpu_before_us = process_cpu_us(pid);
    s->guest = pid;
    (void)kill(pid, SIGCONT);
    (void)kill(pid, BOX_WAKE_SIGNAL);
}

static void add_seat(struct init *in, const struct seat *from, pid_t pid, int ctl)
{
    struct seat *s = &in->seats[in->n_seats];

    if (ctl < 0 || in->n_seats == BOX_SEATS_MAX || is_known(in, pid) || !is_of(in, from, pid)) {
        gb_closep(&ctl); /* the engine sees its end closed */
        return;
    }
    in->n_seats++;
    in->rules_left += INIT_SEAT_RULES;
    in->domains_left += INIT_SEAT_DOMAINS;
    *s = (struct seat){ .ctl = ctl,
                        .guest = pid,
                        .watching = true,
                        .is_lasting = true,
                        .is_resting = true,
                        .limits = from->limits };
    if (snprintf(s->own, sizeof(s->own), "%s%s.forks/%d/", from->own, from->own[0] ? "home/" : "",
                 pid) >= (int)sizeof(s->own))
        s->own[0] = '\0';
    (void)kill(pid, SIGCONT);
    (void)kill(pid, BOX_WAKE_SIGNAL);
}

/* A directory below `at`, which is closed, by a path that others in this box can put links into:
 * none is followed. */
static int descend(int at, char *path)
{
    char *rest = path;

    for (char *part = strsep(&rest, "/"); part && at >= 0; part = strsep(&rest, "/")) {
        int how = rest ? O_PATH : O_RDONLY;
        int next = openat(at, part, how | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        (void)close(at);
        at = next;
    }
    return at;
}

static int open_workspace(const struct init *in, const struct seat *s)
{
    bool is_rooted = in->scratch < 0;
    char path[sizeof(s->own) + 32];

    (void)snprintf(path, sizeof(path), "home/%s%sworkspace", is_rooted ? "box/" : "", s->own);
    return descend(is_rooted ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
                             : openat(in->scratch, ".", O_PATH | O_DIRECTORY | O_CLOEXEC),
                   path);
}

static void tell_workspace(const struct init *in, const struct seat *s)
{
    struct box_event event = { .kind = BOX_OPENED };
    int fd = s->own[0] ? open_workspace(in, s) : -1;

    (void)fd_send(s->ctl, &event, sizeof(event), &fd, fd >= 0);
    gb_closep(&fd);
}

/* ---- the command of a shell ---- */

enum {
    STOP_ROUNDS = 100,
};

struct process {
    char state;
    pid_t parent, group;
    int64_t age_us;
};

static bool look_at(const struct init *in, pid_t pid, struct process *ret)
{
    char path[WATCH_PATH], text[1024];
    unsigned long long ticks = 0;
    struct timespec now = { 0 };
    const char *at;

    (void)snprintf(path, sizeof(path), "%d/stat", pid);
    if (fd_slurp_at(in->proc, path, text, sizeof(text) - 1) <= 0)
        return false;
    at = strrchr(text, ')');
    if (!at || !at[1] || !at[2])
        return false;
    ret->state = at[2];
    for (int field = 3; at && field <= 22; field++) { /* as proc(5) numbers them */
        at = strchr(at + 1, ' ');
        if (at && field == 4)
            ret->parent = (pid_t)strtol(at, NULL, 10);
        if (at && field == 5)
            ret->group = (pid_t)strtol(at, NULL, 10);
        if (at && field == 22)
            ticks = strtoull(at, NULL, 10);
    }
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    ret->age_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 - (int64_t)ticks * TICK_US;
    return at != NULL;
}

static bool is_spared(const struct box_order *order, pid_t group)
{
    for (size_t i = 0; i < order->n_spare && i < BOX_SPARE_MAX; i++)
        if (order->spare[i] == group)
            return true;
    return false;
}

static bool is_alive(const struct init *in, pid_t pid, struct process *ret)
{
    return look_at(in, pid, ret) && ret->state != 'Z' && ret->state != 'X';
}

/* The shell that runs the command, if it still does; else 0. */
static pid_t find_shell(const struct init *in, const struct seat *s, pid_t told)
{
    struct process p = { 0 };

    return told > 0 && is_alive(in, told, &p) && p.parent == s->guest ? told : 0;
}

/* Shells are the guest's own children. Where the one that runs the command is there, there is no
 * other: a command can make the guest the parent of anything. Where it is gone, the next one may
 * have begun. */
static bool is_shell(const struct seat *s, const struct process *p, pid_t pid, pid_t shell)
{
    return p->parent == s->guest && (shell == 0 || pid == shell);
}

/* Is it something that the command has started? */
static bool is_of_command(const struct init *in, const struct seat *s,
                          const struct box_order *order, pid_t pid, pid_t shell)
{
    int64_t since_us = order->since_us + 2 * (int64_t)TICK_US;
    struct process p = { 0 };

    return pid != s->guest && !is_known(in, pid) && is_alive(in, pid, &p) &&
           !is_shell(s, &p, pid, shell) && p.age_us < since_us && !is_spared(order, p.group);
}

/* One that stopped itself is in the middle of anything; what it would do next cannot be told, so it
 * goes, and what it held with it. */
static void stop_shell(const struct init *in, const struct seat *s, pid_t pid, pid_t shell,
                       int signal)
{
    struct process p = { 0 };

    if (is_known(in, pid) || !look_at(in, pid, &p) || !is_shell(s, &p, pid, shell))
        return;
    (void)kill(pid, p.state == 'T' || p.state == 't' ? SIGKILL : signal);
}

/* order: the shell first, which then waits for its child: when that is gone, it has no time for
 * another. The numbers are the guest's; only what is below us is touched. */
static void stop_command(struct init *in, struct seat *s, const struct box_order *order)
{
    static pid_t tree[TREE_MAX];
    int64_t began = clock_us();

    for (int round = 0; round < STOP_ROUNDS; round++) {
        size_t n = watch_descendants(in->proc, getpid(), tree, ARRAY_LEN(tree)), hit = 0;
        /* order: after the list, which then has no shell that followed on this one. */
        pid_t shell = find_shell(in, s, order->pid);

        for (size_t i = 0; i < n && round == 0; i++)
            stop_shell(in, s, tree[i], shell, order->signal);
        for (size_t i = 0; i < n; i++) {
            if (is_of_command(in, s, order, tree[i], shell) && kill(tree[i], SIGKILL) == 0)
                hit++;
        }
        reap_all(in);
        if (hit == 0)
            break;
        (void)usleep(ROUND_US);
    }
    if (s->deadline_us != 0) /* the engine sees to it */
        s->deadline_us = clock_us() + 2000000 + (clock_us() - began);
}

void seat_obey(struct init *in, struct seat *s, const struct box_order *order, int fd)
{
    switch (order->kind) {
    case BOX_KEEP:
        keep(in, s, order->pid);
        break;
    case BOX_DROP:
        drop(s, order->pid);
        break;
    case BOX_REST:
        rest(in, s, order);
        break;
    case BOX_ROLL:
        roll(in, s);
        break;
    case BOX_WAKE:
        wake(s, order->pid);
        break;
    case BOX_INTERRUPT:
        if (s->guest > 0)
            (void)kill(s->guest, SIGINT);
        break;
    case BOX_STOP:
        stop_command(in, s, order);
        break;
    case BOX_SEAT:
        add_seat(in, s, order->pid, take_fd(&fd));
        break;
    case BOX_OPEN:
        tell_workspace(in, s);
        break;
    case BOX_WATCH:
    case BOX_LIST:
    case BOX_DIE:
        break; /* everybody's */
    }
    gb_closep(&fd);
}
