/*
 * Both descriptors are non-blocking. What cannot be written at once waits in a buffer; above a mark
 * no more is read, and notifications that can be spared are, until it has drained. So a client that
 * does not read costs what its own requests may answer, and no more.
 */
#include "mcp/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

enum {
    READ_BYTES = 65536,
    MESSAGES_AT_ONCE = 256, /* before the loop has its turn */
    FULL_BYTES = 8 << 20,   /* waiting to be written: no more is read */
    FAREWELL_MS = 300
};

struct mcp_stdio {
    struct mcp_stdio_spec spec;
    struct mcp_peer *peer;
    struct rpc_lines lines;
    char *out; /* what waits is at out + out_start */
    size_t out_start, out_len, out_cap;
    struct event *on_in, *on_out, *on_more;
    int in_flags, out_flags; /* that they had */
    bool is_in_ready;        /* always: it is a file, which cannot be waited for */
    bool is_out_ready;
    bool has_more;  /* lines that were read and not looked at: no more are read */
    bool is_at_end; /* of the input: what was read is still to be dealt with */
    bool is_over;   /* it has been, and whoever made us knows */
    bool is_broken; /* nothing can be written */
};

static void end(struct mcp_stdio *s)
{
    bool was_over = s->is_over;

    s->is_over = true;
    (void)event_del(s->on_in);
    if (!was_over)
        s->spec.ended(s->spec.data);
}

/* ---- writing ---- */

/* Write what can be written; false: the reader is gone. */
static bool flush(struct mcp_stdio *s)
{
    while (s->out_len > 0) {
        ssize_t n = write(s->spec.out, s->out + s->out_start, s->out_len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n < 0) {
            if (s->spec.failed && errno != EPIPE && errno != ECONNRESET)
                s->spec.failed(s->spec.data, errno);
            return false;
        }
        s->out_start += (size_t)n;
        s->out_len -= (size_t)n;
    }
    s->out_start = 0;
    return true;
}

static bool is_full(void *data)
{
    const struct mcp_stdio *s = data;

    return s->out_len >= FULL_BYTES;
}

/* The loop writes: several answers go in one call. */
static void wait_out(struct mcp_stdio *s)
{
    if (s->out_len == 0 || s->is_broken)
        return;
    if (s->is_out_ready)
        event_active(s->on_out, EV_WRITE, 1);
    else
        (void)event_add(s->on_out, NULL);
}

/* Write what can be written; end where nobody reads. */
static void write_now(struct mcp_stdio *s)
{
    if (s->is_broken || flush(s))
        return;
    s->is_broken = true;
    s->out_len = 0;
    end(s);
}

/* Read as long as there is room for the answers. */
static void arm(struct mcp_stdio *s)
{
    wait_out(s);
    if (s->is_over)
        return;
    if (is_full(s) || s->has_more || s->is_at_end)
        (void)event_del(s->on_in);
    else if (s->is_in_ready)
        event_active(s->on_in, EV_READ, 1);
    else
        (void)event_add(s->on_in, NULL);
}

static void on_out(evutil_socket_t fd, short what, void *data)
{
    struct mcp_stdio *s = data;
    bool was_full = is_full(s);

    (void)fd;
    (void)what;
    write_now(s);
    if (s->is_broken)
        return;
    arm(s);
    if (was_full && !is_full(s))
        event_active(s->on_more, EV_TIMEOUT, 1);
}

static bool make_room(struct mcp_stdio *s, size_t len)
{
    size_t cap = s->out_cap ? s->out_cap : READ_BYTES;
    char *out;

    if (s->out_start > 0 && s->out_start + s->out_len + len > s->out_cap) {
        memmove(s->out, s->out + s->out_start, s->out_len);
        s->out_start = 0;
    }
    if (s->out_start + s->out_len + len <= s->out_cap)
        return true;
    while (cap < s->out_len + len)
        cap *= 2;
    out = realloc(s->out, cap);
    if (!out)
        return false;
    s->out = out;
    s->out_cap = cap;
    return true;
}

static void send_message(void *data, const struct mcp_outgoing *m)
{
    struct mcp_stdio *s = data;

    if (s->is_broken || !make_room(s, m->len + 1))
        return;
    memcpy(s->out + s->out_start + s->out_len, m->text, m->len);
    s->out[s->out_start + s->out_len + m->len] = '\n';
    s->out_len += m->len + 1;
    wait_out(s);
}

/* ---- reading ---- */

static void take_line(struct mcp_stdio *s, const char *text, size_t len)
{
    struct rpc_message message;
    struct rpc_problem problem;

    if (rpc_read(text, len, &message, &problem) == 0)
        mcp_peer_take(s->peer, &message, NULL);
    else
        mcp_peer_refuse(s->peer, &problem, NULL);
    rpc_message_done(&message);
    rpc_problem_done(&problem);
}

static void refuse_long(struct mcp_stdio *s)
{
    const struct rpc_problem problem = { .code = RPC_INVALID_REQUEST,
                                         .message = "the message is larger than 8 MiB" };

    mcp_peer_refuse(s->peer, &problem, NULL);
}

/* Deal with whole lines, up to so many. False: there is none left. */
static bool take_lines(struct mcp_stdio *s)
{
    const char *text;
    size_t len;

    for (int i = 0; i < MESSAGES_AT_ONCE && !is_full(s); i++) {
        enum rpc_line_state state = rpc_lines_next(&s->lines, &text, &len);

        if (state == RPC_LINE_NONE)
            return false;
        if (state == RPC_LINE_ONE)
            take_line(s, text, len);
        else
            refuse_long(s);
    }
    return true;
}

/* Deal with what was read, and see to the rest. When the answers fill up, whoever writes them goes
 * on with it; of a client that is gone, nobody waits for that. */
static void go_on(struct mcp_stdio *s)
{
    s->has_more = take_lines(s);
    write_now(s);
    arm(s);
    if (s->is_at_end && (!s->has_more || is_full(s)))
        end(s);
    else if (s->has_more && !is_full(s))
        event_active(s->on_more, EV_TIMEOUT, 1);
}

static void on_more(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    go_on(data);
}

static void on_in(evutil_socket_t fd, short what, void *data)
{
    struct mcp_stdio *s = data;
    char *room = rpc_lines_room(&s->lines, READ_BYTES);
    ssize_t n = room ? read(s->spec.in, room, READ_BYTES) : 0;

    (void)fd;
    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        rpc_lines_add(&s->lines, (size_t)n);
    else
        s->is_at_end = true;
    go_on(s);
}

/* ---- life ---- */

static const struct mcp_peer_ops ops = { .send = send_message, .is_full = is_full };

static int unblock(int fd, int *ret_flags, struct gb_err *err)
{
    *ret_flags = fcntl(fd, F_GETFL);
    if (*ret_flags < 0 || fcntl(fd, F_SETFL, *ret_flags | O_NONBLOCK) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "setting up descriptor %d", fd);
    return 0;
}

/* Files are always ready, and epoll refuses them. */
static bool is_always_ready(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) &&
           !(S_ISCHR(st.st_mode) && isatty(fd));
}

static int open_events(struct mcp_stdio *s, struct gb_err *err)
{
    struct mcp_peer_spec peer = { .ops = &ops, .data = s };

    s->is_in_ready = is_always_ready(s->spec.in);
    s->is_out_ready = is_always_ready(s->spec.out);
    s->on_in =
        event_new(s->spec.base, s->is_in_ready ? -1 : s->spec.in, EV_READ | EV_PERSIST, on_in, s);
    s->on_out = event_new(s->spec.base, s->is_out_ready ? -1 : s->spec.out, EV_WRITE, on_out, s);
    s->on_more = evtimer_new(s->spec.base, on_more, s);
    s->peer = mcp_peer_new(s->spec.server, &peer);
    if (!s->on_in || !s->on_out || !s->on_more || !s->peer)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "opening the connection");
    arm(s);
    return 0;
}

struct mcp_stdio *mcp_stdio_new(const struct mcp_stdio_spec *spec, struct gb_err *err)
{
    struct mcp_stdio *s = calloc(1, sizeof(*s));

    if (!s) {
        (void)gb_fail(err, GB_E_SYSTEM, ENOMEM, "opening the connection");
        return NULL;
    }
    s->spec = *spec;
    s->in_flags = s->out_flags = -1;
    if (unblock(spec->in, &s->in_flags, err) < 0 || unblock(spec->out, &s->out_flags, err) < 0 ||
        open_events(s, err) < 0)
        return mcp_stdio_free(s);
    return s;
}

bool mcp_stdio_is_busy(const struct mcp_stdio *stdio)
{
    return !stdio->is_broken && mcp_peer_is_busy(stdio->peer);
}

/* Give the reader a moment for what is written already. */
static void drain(struct mcp_stdio *s)
{
    int64_t until = clock_us() + FAREWELL_MS * 1000;

    while (!s->is_broken && s->out_len > 0 && flush(s) && s->out_len > 0) {
        struct pollfd p = { .fd = s->spec.out, .events = POLLOUT };
        int64_t left_ms = (until - clock_us()) / 1000;

        if (left_ms <= 0 || poll(&p, 1, (int)left_ms) == 0)
            return;
    }
}

struct mcp_stdio *mcp_stdio_free(struct mcp_stdio *s)
{
    if (!s)
        return NULL;
    if (s->peer)
        mcp_peer_farewell(s->peer);
    (void)mcp_peer_free(s->peer);
    drain(s);
    if (s->on_in)
        event_free(s->on_in);
    if (s->on_out)
        event_free(s->on_out);
    if (s->on_more)
        event_free(s->on_more);
    if (s->in_flags >= 0)
        (void)fcntl(s->spec.in, F_SETFL, s->in_flags);
    if (s->out_flags >= 0)
        (void)fcntl(s->spec.out, F_SETFL, s->out_flags);
    rpc_lines_done(&s->lines);
    free(s->out);
    free(s);
    return NULL;
}
