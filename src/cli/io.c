#include "cli/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "base/visible.h"
#include "cli/cli.h"
#include "cli/signals.h"
#include "cli/streams.h"

#define READ_STEP ((size_t)64 * 1024)

void io_ensure_standard(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        /* The lowest free number is `fd` itself: those below are open. */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            _exit(CLI_FAILED);
    }
}

int write_all(int fd, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = write(fd, at, len);
        if (n >= 0) {
            at += n;
            len -= (size_t)n;
            continue;
        }
        if (errno == EINTR && signals_caught() == 0)
            continue;
        if (errno != EAGAIN)
            return -errno;
        int rc = signals_poll(fd, POLLOUT);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int open_input(const char *path, struct gb_err *err)
{
    auto_close int fd = -1;
    struct stat st;

    if (strcmp(path, "-") == 0)
        fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    else
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "cannot read '%.150s'", path);
    if (S_ISDIR(st.st_mode))
        return gb_fail(err, GB_E_SYSTEM, EISDIR, "cannot read '%.150s'", path);
    return take_fd(&fd);
}

/* Room for the next read: what is known to come and one byte to see the end, or a fair step. */
static size_t read_room(const struct gb_buf *buf, const struct stat *st)
{
    size_t room = READ_STEP;

    if (S_ISREG(st->st_mode) && st->st_size >= 0 && (size_t)st->st_size >= buf->len)
        room = (size_t)st->st_size - buf->len + 1;
    return room < buf->max - buf->len ? room : buf->max - buf->len;
}

int read_all(int fd, const char *name, struct gb_buf *buf, struct gb_err *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "cannot read '%.150s'", name);
    for (;;) {
        /* Ready first: a signal that comes just before a blocking read() would go unseen. */
        int rc = S_ISREG(st.st_mode) ? 0 : signals_poll(fd, POLLIN);
        if (rc < 0)
            return gb_fail(err, GB_E_SYSTEM, -rc, "cannot read '%.150s'", name);

        size_t room = read_room(buf, &st);
        if (room == 0)
            return gb_fail(err, GB_E_LIMIT, 0, "cannot read '%.150s': larger than %zu MiB", name,
                           buf->max >> 20);
        if (gb_buf_reserve(buf, room, err) < 0)
            return gb_fail_wrap(err, "cannot read '%.100s'", name);
        ssize_t n = read(fd, buf->data + buf->len, room);
        if (n == 0)
            return 0;
        if (n > 0)
            buf->len += (size_t)n;
        else if (errno != EINTR && errno != EAGAIN)
            return gb_fail(err, GB_E_SYSTEM, errno, "cannot read '%.150s'", name);
    }
}

/* Of a long name its end tells more. */
static const char *end_of(const char *name)
{
    enum {
        END = 100
    };
    size_t len = strlen(name);

    return len > END ? name + len - END : name;
}

int read_json(int fd, const char *name, size_t max, json_t **ret, struct gb_err *err)
{
    struct gb_buf buf;
    json_error_t why;
    int r = -1;

    gb_buf_init(&buf, max);
    if (read_all(fd, name, &buf, err) == 0) {
        *ret = json_loadb(buf.data ? buf.data : "", buf.len, JSON_REJECT_DUPLICATES, &why);
        r = *ret ? 0
                 : gb_fail(err, GB_E_SYSTEM, 0, "%s%s:%d:%d: %.100s",
                           end_of(name) == name ? "" : "...", end_of(name), why.line, why.column,
                           why.text);
    }
    gb_buf_done(&buf);
    return r;
}

/* One line, whatever it quotes: names and words of others must not pass for more of our own. */
void message(const char *fmt, ...)
{
    auto_free char *said = NULL;
    struct text t;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&said, fmt, ap) < 0)
        said = NULL;
    va_end(ap);
    if (!said || text_open(&t) < 0)
        return;
    fputs("glovebox: ", t.stream);
    put_visible_text(t.stream, said);
    fputc('\n', t.stream);
    (void)!text_send(&t, STDERR_FILENO);
}

void message_err(const struct gb_err *err)
{
    message("%s", err->msg);
    if (err->hint[0])
        message("hint: %s", err->hint);
}

int text_open(struct text *t)
{
    *t = (struct text){ 0 };
    t->stream = open_memstream(&t->data, &t->len);
    return t->stream ? 0 : -1;
}

int text_send(struct text *t, int fd)
{
    int rc = fclose(t->stream) == 0 ? 0 : -ENOMEM;
    struct tame tame = { 0 }; /* of a program's there may be its traceback */

    t->stream = NULL;
    if (rc == 0 && isatty(fd))
        rc = streams_write_tamed(&tame, fd, t->data, t->len);
    else if (rc == 0)
        rc = write_all(fd, t->data, t->len);
    free(t->data);
    t->data = NULL;
    return rc;
}

int text_finish(struct text *t, int status)
{
    int rc = text_send(t, STDOUT_FILENO);

    return rc < 0 ? write_failed(rc) : status;
}

int write_failed(int error)
{
    if (error == -EPIPE)
        return CLI_SIGNAL + SIGPIPE;
    if (error == -EINTR)
        return CLI_SIGNAL + signals_caught();
    message("cannot write to standard output: %s", strerrordesc_np(-error));
    return CLI_FAILED;
}
