#include "backend/outbox.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/fd.h"

void outbox_init(struct outbox *o, size_t max)
{
    *o = (struct outbox){ 0 };
    gb_buf_init(&o->buf, max);
}

void outbox_done(struct outbox *o)
{
    gb_buf_done(&o->buf);
    o->at = 0;
}

size_t outbox_len(const struct outbox *o)
{
    return o->buf.len - o->at;
}

/* How many of these bytes the socket took; none once nobody reads it. */
static size_t send_now(struct outbox *o, int sock, struct iovec *pieces, size_t n)
{
    struct msghdr message = { .msg_iov = pieces, .msg_iovlen = n };
    ssize_t sent;

    do
        sent = sendmsg(sock, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM) {
        o->is_deaf = true;
        o->at = o->buf.len = 0;
    }
    return sent > 0 ? (size_t)sent : 0;
}

void outbox_flush(struct outbox *o, int sock)
{
    struct iovec rest = { .iov_base = o->buf.data + o->at, .iov_len = outbox_len(o) };

    if (rest.iov_len > 0)
        o->at += send_now(o, sock, &rest, 1);
    if (o->at == o->buf.len)
        outbox_done(o); /* most say little: what one result took is not kept for ever */
}

/* Make room at the end, in place of what is gone. */
static bool reserve(struct outbox *o, size_t len)
{
    struct gb_err err;

    if (o->at > 0 && o->buf.cap - o->buf.len < len) {
        memmove(o->buf.data, o->buf.data + o->at, outbox_len(o));
        o->buf.len -= o->at;
        o->at = 0;
    }
    return gb_buf_reserve(&o->buf, len, &err) == 0;
}

static void keep(struct outbox *o, const char *data, size_t len, size_t *gone)
{
    size_t skip = *gone < len ? *gone : len;

    *gone -= skip;
    if (len > skip)
        memcpy(o->buf.data + o->buf.len, data + skip, len - skip);
    o->buf.len += len - skip;
}

bool outbox_send(struct outbox *o, int sock, const void *head, size_t head_len, const void *body,
                 size_t body_len)
{
    struct iovec pieces[] = { fd_piece(head, head_len), fd_piece(body, body_len) };
    size_t sent = 0;

    if (outbox_len(o) == 0 && !o->is_deaf)
        sent = send_now(o, sock, pieces, 2);
    if (o->is_deaf)
        return false;
    if (sent == head_len + body_len)
        return true;
    if (!reserve(o, head_len + body_len - sent)) {
        if (sent > 0) { /* half a frame is out: there is no way to go on */
            o->is_deaf = true;
            (void)shutdown(sock, SHUT_WR);
        }
        return false;
    }
    keep(o, head, head_len, &sent);
    keep(o, body, body_len, &sent);
    return true;
}
