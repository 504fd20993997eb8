#include "backend/seatsend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "python/protocol.h"

enum {
    INLINE_MAX = 64 << 10, /* more travels as a file: it must fit into a socket */
};

int seat_send(struct host_box *box, const json_t *program, int words, int in, struct gb_err *err)
{
    auto_free char *text = json_text(program);
    struct frame head = { .kind = FRAME_RUN, .token = box->token };
    bool is_file = false;
    int fds[3], e;
    size_t n = 0;

    if (!text)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "writing the request");
    head.len = (uint32_t)strlen(text);
    is_file = head.len > INLINE_MAX;
    if (is_file) {
        head.kind = FRAME_RUN_FILE;
        fd_take_back(&box->request); /* the one before has been read */
        box->request = fd_lent("request", text, head.len);
        if (box->request < 0)
            return gb_fail(err, GB_E_SYSTEM, -box->request, "writing the request");
        fds[n++] = box->request;
    }
    if (words >= 0)
        fds[n++] = words;
    if (in >= 0)
        fds[n++] = in;
    e = fd_send_both(box->chan, &head, sizeof(head), text, is_file ? 0 : head.len, fds, n);
    return e < 0 ? gb_fail(err, GB_E_GONE, -e, "sending a cell to its session") : 0;
}

int seat_send_op(struct host_box *box, const char *op, struct gb_err *err)
{
    auto_json json_t *program = json_pack("{s:{s:s}}", "session", "op", op);

    return seat_send(box, program, -1, -1, err);
}

int seat_send_fork(const struct host_box *box, const struct box_far *far, struct gb_err *err)
{
    static const char text[] = "{\"session\":{\"op\":\"fork\"}}";
    struct frame head = { .kind = FRAME_FORK, .len = sizeof(text) - 1, .token = box->token };
    int fds[FORK_FDS] = { [FORK_CHAN] = far->chan,
                          [FORK_ANSWER] = far->answer,
                          [FORK_OUT] = far->out,
                          [FORK_ERR] = far->err };
    int e = fd_send_both(box->chan, &head, sizeof(head), text, head.len, fds, FORK_FDS);

    return e < 0 ? gb_fail(err, GB_E_GONE, -e, "sending to a session") : 0;
}
