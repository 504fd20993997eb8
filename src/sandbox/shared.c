#include "sandbox/shared.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"

enum {
    ASKED_MAX = 64,
    /* A call that was allowed so long ago has been made. One that was held up for longer shows as
     * an inode too many, and that counts as much as the largest ever made. */
    MADE_US = 1000000,
    LOOK_SHARE = 4, /* below this part of the limit, too much in the book does not matter */
    SMALL = 64 << 10,
};

/* One that was allowed. */
struct asked {
    pid_t tid;
    uint64_t bytes;
    int64_t since_us;
    bool is_made;    /* since: its thread is past it */
    bool is_covered; /* it was made when the last look began */
};

/* One that was found. */
struct piece {
    uint64_t inode;
    uint64_t bytes;
    uint32_t batch; /* 0: since the book was balanced */
    bool is_here;
};

/* Of the box's single first process. */
static struct {
    struct asked asked[ASKED_MAX]; /* largest first */
    size_t n_asked;
    struct piece pieces[SHARED_MAX];
    size_t n;
    uint32_t batch;
    uint64_t most; /* the largest that was ever allowed */
    bool is_full;
} book;

/* ---- asking ---- */

void shared_hear(pid_t tid)
{
    for (size_t i = 0; i < book.n_asked; i++)
        if (book.asked[i].tid == tid)
            book.asked[i].is_made = true;
}

static bool has_room(void)
{
    return book.n_asked < ASKED_MAX && book.n + book.n_asked < SHARED_MAX;
}

static bool is_within(uint64_t bytes, uint64_t limit)
{
    uint64_t held = shared_bytes();

    return limit == 0 || (bytes <= limit && held <= limit - bytes);
}

bool shared_needs_look(uint64_t bytes, uint64_t limit)
{
    return !has_room() || !is_within(bytes, limit / LOOK_SHARE) ||
           (book.batch == 0 && bytes > SMALL);
}

bool shared_allow(pid_t tid, uint64_t bytes, uint64_t limit)
{
    size_t at = 0;

    if (!has_room() || !is_within(bytes, limit))
        return false;
    while (at < book.n_asked && book.asked[at].bytes >= bytes)
        at++;
    memmove(&book.asked[at + 1], &book.asked[at], (book.n_asked - at) * sizeof(book.asked[0]));
    book.asked[at] = (struct asked){ .tid = tid, .bytes = bytes, .since_us = clock_us() };
    book.n_asked++;
    if (book.most < bytes)
        book.most = bytes;
    return true;
}

bool shared_is_used(void)
{
    return book.n_asked > 0 || book.n > 0;
}

/* ---- looking ---- */

void shared_begin_look(void)
{
    int64_t now = clock_us();

    for (size_t i = 0; i < book.n_asked; i++) {
        struct asked *a = &book.asked[i];
        if (now - a->since_us > MADE_US || (kill(a->tid, 0) < 0 && errno == ESRCH))
            a->is_made = true;
        a->is_covered = a->is_made;
    }
}

static struct piece *piece_of(uint64_t inode)
{
    for (size_t i = 0; i < book.n; i++)
        if (book.pieces[i].inode == inode)
            return &book.pieces[i];
    return NULL;
}

static void note(const struct shared_found *found)
{
    struct piece *p = piece_of(found->inode);

    if (!p && book.n == SHARED_MAX) {
        book.is_full = true;
        return;
    }
    if (!p) {
        p = &book.pieces[book.n++];
        *p = (struct piece){ .inode = found->inode };
    }
    p->is_here = true;
    if (p->bytes < found->bytes)
        p->bytes = found->bytes;
}

/* One of a batch has gone, whichever it was: the largest sizes stay with those that are left. */
static void bequeath(struct piece *gone)
{
    struct piece *least = NULL;

    for (size_t i = 0; i < book.n; i++) {
        struct piece *p = &book.pieces[i];
        if (p->is_here && p->batch == gone->batch && (!least || p->bytes < least->bytes))
            least = p;
    }
    if (least && least->bytes < gone->bytes)
        least->bytes = gone->bytes;
}

static void strike_out_gone(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < book.n; i++)
        if (!book.pieces[i].is_here && book.pieces[i].batch != 0)
            bequeath(&book.pieces[i]);
    for (size_t i = 0; i < book.n; i++)
        if (book.pieces[i].is_here)
            book.pieces[kept++] = book.pieces[i];
    book.n = kept;
}

static size_t count_pending(void)
{
    size_t n = 0;

    for (size_t i = 0; i < book.n_asked; i++)
        n += !book.asked[i].is_covered;
    return n;
}

/* The k-th largest of what was asked for, or of all that ever was if there are more. */
static uint64_t rank(size_t k)
{
    return k < book.n_asked ? book.asked[k].bytes : book.most;
}

static void balance(void)
{
    size_t k = 0;

    book.batch++;
    for (size_t i = 0; i < book.n; i++) {
        struct piece *p = &book.pieces[i];
        if (p->batch != 0)
            continue;
        p->batch = book.batch;
        p->bytes = p->bytes < rank(k) ? rank(k) : p->bytes;
        k++;
    }
    book.n_asked = 0;
}

void shared_end_look(const struct shared_found *found, size_t n, bool is_all)
{
    for (size_t i = 0; i < book.n; i++)
        book.pieces[i].is_here = !is_all;
    for (size_t i = 0; i < n; i++)
        note(&found[i]);
    strike_out_gone();
    for (size_t i = 0; i < book.n_asked && !is_all; i++)
        book.asked[i].is_covered = false;
    if (is_all && count_pending() == 0)
        balance();
}

uint64_t shared_bytes(void)
{
    size_t since = 0, live;
    uint64_t sum = 0;

    for (size_t i = 0; i < book.n; i++) {
        since += book.pieces[i].batch == 0;
        sum += book.pieces[i].batch == 0 ? 0 : book.pieces[i].bytes;
    }
    live = since + count_pending();
    if (live > book.n_asked && since <= book.n_asked)
        live = book.n_asked; /* some of those found are those that may not have been made */
    for (size_t k = 0; k < live; k++)
        sum += rank(k);
    return book.is_full ? UINT64_MAX / 2 : sum;
}
