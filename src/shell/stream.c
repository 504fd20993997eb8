#include "shell/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"

enum {
    PIECE = 64 << 10
};

int stream_prepare(struct stream_pipes *p)
{
    for (int i = 0; i < 2; i++) {
        if (p->has[i])
            continue;
        if (pipe2(p->fds[i], O_CLOEXEC) < 0)
            return -1;
        (void)fcntl(p->fds[i][0], F_SETFL, O_NONBLOCK);
        p->has[i] = true;
    }
    return 0;
}

int stream_open(struct stream *s, uint64_t cell, struct stream_pipes *p, int ret_ends[2])
{
    if (stream_prepare(p) < 0)
        return -1;
    *s = (struct stream){ .cell = cell, .fds = { p->fds[0][0], p->fds[1][0] } };
    for (int i = 0; i < 2; i++) {
        ret_ends[i] = p->fds[i][1];
        p->has[i] = false;
    }
    return 0;
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
    if (n <= 0) {
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

    if (s->fds[which] < 0 || !read_piece(s, which, is_late) || !is_all)
        return;
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
