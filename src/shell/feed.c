#include "shell/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"

enum {
    PIECE = 64 << 10
};

void feed_name(const char *dir, uint64_t cell, char path[STREAM_PATH])
{
    (void)snprintf(path, STREAM_PATH, "%s/i%llu", dir, (unsigned long long)cell);
}

/* Returns 0 or -errno. */
static int copy(int from, int to)
{
    static char piece[PIECE];
    off_t at = 0;

    for (;;) {
        ssize_t n = pread(from, piece, sizeof(piece), at);
        if (n <= 0)
            return n < 0 ? -errno : 0;
        int e = fd_write_all(to, piece, (size_t)n);
        if (e < 0)
            return e;
        at += n;
    }
}

int feed_write(const char *path, int from, struct gb_err *err)
{
    auto_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int e = fd < 0 ? -errno : copy(from, fd);

    if (e < 0)
        return gb_fail(err, GB_E_SYSTEM, -e, "stdin: writing it where the shell can open it");
    return 0;
}
