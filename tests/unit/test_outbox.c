/* Bytes for somebody who may not be reading. */
#include "unit.h"

#include <errno.h>
#include <sys/socket.h>

#include "backend/outbox.h"

enum {
    MAX = 1 << 20
};

struct ends {
    int ours, theirs;
    struct outbox o;
};

static struct ends open_ends(void)
{
    struct ends e;
    int sv[2];

    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), errno);
    e.ours = sv[0];
    e.theirs = sv[1];
    outbox_init(&e.o, MAX);
    return e;
}

static void close_ends(struct ends *e)
{
    outbox_done(&e->o);
    gb_closep(&e->ours);
    gb_closep(&e->theirs);
}

static void test_goes_out_at_once(void **state)
{
    struct ends e = open_ends();
    char got[16] = "";

    (void)state;
    assert_true(outbox_send(&e.o, e.ours, "head", 4, "body", 4));
    assert_int_equal(outbox_len(&e.o), 0);
    assert_int_equal(recv(e.theirs, got, sizeof(got), MSG_DONTWAIT), 8);
    assert_string_equal(got, "headbody");
    close_ends(&e);
}

/* Everything arrives, once and in order, however slowly it is read. */
static void test_waits_in_order(void **state)
{
    struct ends e = open_ends();
    unsigned char next = 0, piece[3000], got[7001];
    unsigned sent = 0;
    size_t read_so_far = 0, wrote = 0;

    (void)state;
    while (wrote < 3u << 20) {
        for (size_t i = 0; i < sizeof(piece); i++)
            piece[i] = (unsigned char)(wrote + i);
        if (outbox_send(&e.o, e.ours, piece, 16, piece + 16, sizeof(piece) - 16)) {
            wrote += sizeof(piece);
            sent++;
        }
        ssize_t n = sent % 3 == 0 || outbox_len(&e.o) > MAX / 2
                        ? recv(e.theirs, got, sizeof(got), MSG_DONTWAIT)
                        : 0;
        for (ssize_t i = 0; i < n; i++)
            assert_int_equal(got[i], next++);
        read_so_far += n > 0 ? (size_t)n : 0;
        outbox_flush(&e.o, e.ours);
    }
    while (read_so_far < wrote) {
        ssize_t n = recv(e.theirs, got, sizeof(got), 0);
        assert_true(n > 0);
        for (ssize_t i = 0; i < n; i++)
            assert_int_equal(got[i], next++);
        read_so_far += (size_t)n;
        outbox_flush(&e.o, e.ours);
    }
    assert_int_equal(outbox_len(&e.o), 0);
    close_ends(&e);
}

/* What finds no room is refused as a whole, and what went before still arrives. */
static void test_has_a_ceiling(void **state)
{
    struct ends e = open_ends();
    static char block[300000];
    size_t wrote = 0, got = 0;
    char sink[65536];

    (void)state;
    while (outbox_send(&e.o, e.ours, "h", 1, block, sizeof(block)))
        wrote += sizeof(block) + 1;
    assert_true(outbox_len(&e.o) <= MAX);
    assert_false(e.o.is_deaf);
    while (got < wrote) {
        outbox_flush(&e.o, e.ours);
        ssize_t n = recv(e.theirs, sink, sizeof(sink), 0);
        assert_true(n > 0);
        got += (size_t)n;
    }
    assert_true(outbox_send(&e.o, e.ours, "h", 1, "b", 1));
    close_ends(&e);
}

/* No signal, and nothing is kept for one who is gone. */
static void test_nobody_reads(void **state)
{
    struct ends e = open_ends();
    static char block[300000];

    (void)state;
    assert_true(outbox_send(&e.o, e.ours, "h", 1, block, sizeof(block)));
    assert_true(outbox_len(&e.o) > 0);
    assert_return_code(shutdown(e.theirs, SHUT_RDWR), errno);
    outbox_flush(&e.o, e.ours);
    assert_true(e.o.is_deaf);
    assert_int_equal(outbox_len(&e.o), 0);
    assert_false(outbox_send(&e.o, e.ours, "h", 1, "b", 1));
    close_ends(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_out_at_once),
        cmocka_unit_test(test_waits_in_order),
        cmocka_unit_test(test_has_a_ceiling),
        cmocka_unit_test(test_nobody_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
