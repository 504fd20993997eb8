#include "shell/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"

enum {
    PIECE = 64 << 10
};

void stream_name(const char *dir, uint64_t name, int which, char path[STREAM_PATH])
{
    (void)snprintf(path, STREAM_PATH, "%s/%c%llu", dir, which == 0 ? 'o' : 'e',
                   (unsigned long long)name);
}

static int make_both(const char *dir, uint64_t name)
{
    char path[STREAM_PATH];

    for (int i = 0; i < 2; i++) {
        stream_name(dir, name, i, path);
        if (mkfifo(path, 0600) < 0 && errno != EEXIST)
            return -1;
    }
    return 0;
}

int stream_make_spare(const char *dir)
{
    return make_both(dir, 0);
}

static bool open_both(struct stream *s, const char *dir)
{
    char path[STREAM_PATH];

    for (int i = 0; i < 2; i++) {
        stream_name(dir, s->name, i, path);
        s->fds[i] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    }
    if (s->fds[0] >= 0 && s->fds[1] >= 0)
        return true;
    for (int i = 0; i < 2; i++)
        gb_closep(&s->fds[i]);
    stream_unlink(s, dir);
    return false;
}

int stream_open(struct stream *s, const char *dir, uint64_t cell, uint64_t *idle)
{
    *s = (struct stream){ .cell = cell, .name = *idle, .fds = { -1, -1 } };
    *idle = 0;
    if (s->name != 0 && open_both(s, dir)) /* a command may have removed them */
        return 0;
    s->name = cell;
    if (make_both(dir, cell) < 0) {
        stream_unlink(s, dir);
        s->name = 0;
    }
    if (open_both(s, dir))
        return 0;
    stream_close(s);
    return -1;
}

void stream_unlink(const struct stream *s, const char *dir)
{
    char path[STREAM_PATH];

    for (int i = 0; i < 2 && s->name != 0; i++) {
        stream_name(dir, s->name, i, path);
        (void)unlink(path);
    }
}

static void keep_late(struct stream *s, const char *bytes, size_t len)
{
    if (!s->late)
        s->late = malloc(STREAM_KEEP);
    if (!s->late) {
        s->dropped += len;
        return;
    }
    if (s->n_late + len > STREAM_KEEP) {
        /* The oldest half goes, so that not every piece moves all. */
        size_t drop = s->n_late > STREAM_KEEP / 2 ? s->n_late - STREAM_KEEP / 2 : 0;
        memmove(s->late, s->late + drop, s->n_late - drop);
        s->n_late -= drop;
        s->dropped += drop;
    }
    memcpy(s->late + s->n_late, bytes, len);
    s->n_late += len;
}

_Static_assert((int)PIECE <= (int)STREAM_KEEP / 2, "a piece fits when half of it is free");

/* Returns false when there is no more for now. */
static bool read_piece(struct stream *s, int which, bool is_late)
{
    static char piece[PIECE];
    ssize_t n = read(s->fds[which], piece, sizeof(piece));

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (n <= 0) { /* or it is no pipe: a command has put something else in its place */
        (void)close(s->fds[which]);
        s->fds[which] = -1;
        return false;
    }
    if (is_late)
        keep_late(s, piece, (size_t)n);
    else
        (void)fd_write_all(which == 0 ? STDOUT_FILENO : STDERR_FILENO, piece, (size_t)n);
    return true;
}

void stream_read(struct stream *s, int which, bool is_late, bool is_all)
{
    int left = 0;

    if (s->fds[which] < 0)
        return;
    if (!is_all) {
        (void)read_piece(s, which, is_late);
        return;
    }
    /* No more than there is: a job may go on writing. And once more for the end. */
    (void)ioctl(s->fds[which], FIONREAD, &left);
    for (; left > 0 && s->fds[which] >= 0 && read_piece(s, which, is_late); left -= PIECE)
        ;
    if (s->fds[which] >= 0)
        (void)read_piece(s, which, is_late);
}

bool stream_is_open(const struct stream *s)
{
    return s->fds[0] >= 0 || s->fds[1] >= 0;
}

void stream_close(struct stream *s)
{
    for (int i = 0; i < 2; i++)
        gb_closep(&s->fds[i]);
    free(s->late);
    *s = (struct stream){ .fds = { -1, -1 } };
}
