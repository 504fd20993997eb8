#include "backend/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "sandbox/compose.h"

enum {
    TURN_ENTRIES = 500, /* that are removed in a turn of the loop */
    LOOK_MAX = 20000,   /* names in the directory of temporary files */
    SWEEP_MAX = 64,     /* directories of engines that are gone */
    ATTEMPTS = 16
};

struct scratch_grave {
    struct scratch_grave *next;
    struct fd_emptying emptying;
    int dir;
    char path[];
};

/* ---- removing ---- */

static bool grave_work(struct scratch_grave *g, size_t budget)
{
    if (!fd_empty_step(&g->emptying, &budget))
        return false;
    (void)rmdir(g->path);
    return true;
}

static void grave_free(struct scratch_grave *g)
{
    fd_empty_done(&g->emptying);
    gb_closep(&g->dir);
    free(g);
}

static void on_turn(evutil_socket_t fd, short what, void *data)
{
    static const struct timeval at_once = { 0 };
    struct scratch_bin *bin = data;
    struct scratch_grave *g = bin->first;

    (void)fd;
    (void)what;
    if (g && grave_work(g, TURN_ENTRIES)) {
        bin->first = g->next;
        grave_free(g);
    }
    if (bin->first)
        (void)evtimer_add(bin->on_turn, &at_once);
}

/* Takes the descriptor. */
static void bury(struct scratch_bin *bin, const char *path, int dir)
{
    static const struct timeval at_once = { 0 };
    struct scratch_grave *g = malloc(sizeof(*g) + strlen(path) + 1);

    if (!bin->on_turn)
        bin->on_turn = evtimer_new(bin->base, on_turn, bin);
    if (!g || !bin->on_turn) { /* the next engine will find it */
        free(g);
        (void)close(dir);
        return;
    }
    *g = (struct scratch_grave){ .next = bin->first, .dir = dir };
    (void)stpcpy(g->path, path);
    fd_empty_begin(&g->emptying, dir);
    bin->first = g;
    (void)evtimer_add(bin->on_turn, &at_once);
}

void scratch_bury(struct scratch_bin *bin, const char *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (dir >= 0)
        bury(bin, path, dir);
}

void scratch_bin_done(struct scratch_bin *bin)
{
    while (bin->first) {
        struct scratch_grave *g = bin->first;

        (void)grave_work(g, SIZE_MAX);
        bin->first = g->next;
        grave_free(g);
    }
    if (bin->on_turn)
        event_free(bin->on_turn);
    bin->on_turn = NULL;
}

/* ---- those of engines that are gone ---- */

/* Is it one that an engine of ours made: by its owner, ourselves or a box's user? Somebody else may
 * have made one of that name. */
static bool is_ours(int dir)
{
    struct stat st;

    return fstat(dir, &st) == 0 &&
           (st.st_uid == geteuid() || (geteuid() == 0 && plan_is_outside_id(st.st_uid)));
}

static void sweep(struct scratch_bin *bin, const char *parent)
{
    DIR *all = opendir(parent);
    int n_found = 0;

    for (int i = 0; all && i < LOOK_MAX && n_found < SWEEP_MAX; i++) {
        const struct dirent *e = readdir(all);
        char path[PATH_MAX];
        int dir;

        if (!e)
            break;
        if (strlen(e->d_name) != strlen(SCRATCH_NAME) ||
            strncmp(e->d_name, SCRATCH_NAME, strcspn(SCRATCH_NAME, "X")) != 0 ||
            snprintf(path, sizeof(path), "%s/%s", parent, e->d_name) >= (int)sizeof(path))
            continue;
        dir = openat(dirfd(all), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir < 0)
            continue;
        if (is_ours(dir) && flock(dir, LOCK_EX | LOCK_NB) == 0) {
            bury(bin, path, dir);
            n_found++;
        } else {
            (void)close(dir);
        }
    }
    if (all)
        (void)closedir(all);
}

/* ---- making one ---- */

/* Lock it. False if an engine that sweeps has found it in the moment before. Where the file system
 * knows no locks, nobody can take one to sweep it. */
static bool lock(int dir, const char *path)
{
    struct stat locked, there;

    if (flock(dir, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(dir, &locked) == 0 && lstat(path, &there) == 0 && locked.st_ino == there.st_ino;
}

char *scratch_make(struct scratch_bin *bin, int *ret_lock)
{
    const char *tmp = getenv("TMPDIR");

    tmp = tmp && tmp[0] == '/' ? tmp : "/tmp";
    if (!bin->has_swept)
        sweep(bin, tmp);
    bin->has_swept = true;
    for (int i = 0; i < ATTEMPTS; i++) {
        auto_free char *path = NULL;
        auto_close int dir = -1;

        if (asprintf(&path, "%s/" SCRATCH_NAME, tmp) < 0) {
            path = NULL;
            return NULL;
        }
        if (!mkdtemp(path))
            return NULL;
        dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir >= 0 && lock(dir, path)) {
            *ret_lock = take_fd(&dir);
            return take_ptr(path);
        }
        int e = dir < 0 && errno != ENOENT ? errno : 0; /* too few descriptors, say */
        (void)rmdir(path); /* ENOENT: an engine that sweeps was faster */
        errno = e;
        if (e != 0)
            return NULL;
    }
    errno = EBUSY;
    return NULL;
}

int scratch_link(const char *scratch, const struct mounts *mounts)
{
    auto_close int dir = -1;

    if (!mounts || mounts->n == 0)
        return 0;
    dir = open(scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0 || mkdirat(dir, BOX_MOUNTS + 1, 0755) < 0)
        return -1;
    for (size_t i = 0; i < mounts->n; i++) {
        char path[sizeof(BOX_MOUNTS) + NAME_MAX + 1];

        (void)snprintf(path, sizeof(path), "%s/%s", BOX_MOUNTS + 1, mounts->list[i].name);
        if (symlinkat(mounts->list[i].host, dir, path) < 0)
            return -1;
    }
    return 0;
}
