#include "cli/streams.h"

#include <termios.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/io.h"

void streams_open(struct streams *s, bool is_raw)
{
    *s = (struct streams){ .is_raw = is_raw,
                           .is_terminal = { isatty(STDOUT_FILENO), isatty(STDERR_FILENO) } };
}

int streams_write_tamed(struct tame *tame, int fd, const char *bytes, size_t len)
{
    enum {
        PIECE = 4096
    };
    char out[PIECE + TAME_SEQUENCE];
    int e = 0;

    for (size_t at = 0, n; at < len && e == 0; at += n) {
        n = len - at < PIECE ? len - at : PIECE;
        e = write_all(fd, out, tame_add(tame, bytes + at, n, out));
    }
    return e;
}

int streams_write(struct streams *s, int fd, const char *bytes, size_t len)
{
    int which = fd == STDERR_FILENO ? 1 : 0;

    if (s->is_raw || !s->is_terminal[which])
        return write_all(fd, bytes, len);
    return streams_write_tamed(&s->tames[which], fd, bytes, len);
}

void streams_close(const struct streams *s)
{
    if (s->is_raw && isatty(STDIN_FILENO) && (s->is_terminal[0] || s->is_terminal[1]))
        (void)tcflush(STDIN_FILENO, TCIFLUSH);
}
