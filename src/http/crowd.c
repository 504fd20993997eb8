/*
 * Who has to go when there are too many, too much or too slow ones. Strangers go before those who
 * have shown the token, those of the address that has most before others, the oldest first; who
 * waits for the reply of a request that was taken stays.
 */
#include <string.h>

#include "base/clock.h"
#include "http/core.h"

enum {
    EXCESS_MAX = 64,     /* connections beyond the limit that are told so */
    EXCESS_MS = 2000,    /* how long they have */
    EVICT_MS = 1000,     /* idle that long: its place can be another's */
    STRANGER_MS = 10000, /* that one who has not asked for anything has for that */
    HEAD_MS = 10000,     /* from the first byte of a head to its last */
    LINGER_MS = 2000,    /* without a byte, after the last reply */
    RATE_MIN = 16 << 10, /* bytes a second that a client takes of its replies */
    HOLD_MS = 250,       /* that long a reply may wait where room is short */
    SHARES = 256
};

static int64_t ms_since(int64_t then_us, int64_t now_us)
{
    return (now_us - then_us) / 1000;
}

/* ---- too many ---- */

/* How many of a kind each address has. Addresses may share a number, which then is too high. */
struct shares {
    unsigned counts[SHARES];
};

static unsigned *share_of(struct shares *shares, const struct conn *c)
{
    unsigned hash = 5381;

    for (const char *at = c->address; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    return &shares->counts[hash % SHARES];
}

typedef bool (*kind_fn)(const struct conn *c, int64_t now_us);

static bool is_stranger(const struct conn *c, int64_t now_us)
{
    (void)now_us;
    return !c->is_known && !c->is_excess && c->state != CONN_BUSY;
}

/* One that has had the time to show the token. */
static bool is_late_stranger(const struct conn *c, int64_t now_us)
{
    return is_stranger(c, now_us) && ms_since(c->came_us, now_us) >= EVICT_MS;
}

static bool is_idle(const struct conn *c, int64_t now_us)
{
    return (c->state == CONN_IDLE || c->state == CONN_CLOSING) && !c->is_excess &&
           ms_since(c->since_us, now_us) >= EVICT_MS;
}

static bool is_excess(const struct conn *c, int64_t now_us)
{
    (void)now_us;
    return c->is_excess;
}

/* Drop one of this kind: the oldest of the address that has most. */
static bool evict(struct http_server *s, const struct conn *newcomer, kind_fn is_kind)
{
    struct shares shares = { { 0 } };
    struct conn *victim = NULL;
    int64_t now = clock_us();
    unsigned most = 0;

    for (const struct conn *c = s->conns; c; c = c->next)
        *share_of(&shares, c) += c != newcomer && !c->is_dropped && is_kind(c, now);
    for (struct conn *c = s->conns; c; c = c->next) { /* the oldest last */
        unsigned share = *share_of(&shares, c);

        if (c == newcomer || c->is_dropped || !is_kind(c, now) || share < most)
            continue;
        most = share;
        victim = c;
    }
    if (victim)
        conn_drop(victim);
    return victim != NULL;
}

void crowd_admit(struct conn *c)
{
    struct http_server *s = c->server;
    size_t limit = s->spec.limits.connections;
    size_t strangers_max = limit - limit / 4;

    if (s->counts.strangers > strangers_max && evict(s, c, is_late_stranger))
        return;
    if (s->counts.connections - s->n_excess <= limit)
        return;
    if (evict(s, c, is_stranger) || evict(s, c, is_idle))
        return;
    s->counts.refused[HTTP_REFUSED_CONNECTIONS]++;
    c->is_excess = true;
    s->n_excess++;
    if (s->n_excess > EXCESS_MAX)
        (void)evict(s, c, is_excess);
}

/* ---- too much ---- */

void crowd_relieve(struct http_server *s)
{
    struct http_exchange *most = NULL;

    if (s->large_held <= s->spec.limits.held_bytes)
        return;
    for (struct conn *c = s->conns; c; c = c->next)
        if (c->state == CONN_BODY && !c->is_dropped && c->exchange->held > SMALL_BYTES &&
            (!most || c->exchange->held >= most->held))
            most = c->exchange;
    if (most)
        exchange_refuse(most, HTTP_REFUSED_HELD_BYTES, 503,
                        "too much is being sent by clients at once");
}

/* What it costs that this client does not read: bytes, by how long. */
static double burden(const struct conn *c, int64_t now_us)
{
    int64_t ms = ms_since(c->unsent_since_us, now_us);

    return c->unsent > SMALL_BYTES && ms >= HOLD_MS ? (double)c->unsent * (double)ms : 0;
}

bool crowd_has_room(struct http_server *s, size_t bytes)
{
    size_t limit = s->spec.limits.unsent_bytes;
    int64_t now = clock_us();

    while (bytes > SMALL_BYTES && s->counts.unsent_bytes + bytes > limit) {
        struct conn *victim = NULL;

        for (struct conn *c = s->conns; c; c = c->next)
            if (!c->is_dropped && burden(c, now) > (victim ? burden(victim, now) : 0))
                victim = c;
        if (!victim)
            return false;
        s->counts.refused[HTTP_REFUSED_UNREAD]++;
        conn_drop(victim);
    }
    return true;
}

/* ---- too slow ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Has it been long enough in its state? */
static bool is_late(const struct conn *c, int64_t now)
{
    const struct http_limits *limits = &c->server->spec.limits;
    int64_t ms = ms_since(c->since_us, now);

    if (c->is_excess && c->state != CONN_BUSY)
        return ms >= EXCESS_MS;
    switch (c->state) {
    case CONN_IDLE:
        return ms >= (c->is_known ? limits->idle_ms : least(limits->idle_ms, STRANGER_MS));
    case CONN_HEAD:
        return ms >= least(limits->request_ms, HEAD_MS);
    case CONN_BODY:
        return ms_since(c->began_us, now) >= limits->request_ms;
    case CONN_CLOSING:
        return ms >= LINGER_MS || ms_since(c->began_us, now) >= limits->request_ms + LINGER_MS;
    case CONN_BUSY:
    case CONN_SENDING:
        break;
    }
    return false;
}

/* Does it take nothing of what waits for it, or too little? The kernel takes some for it. */
static bool is_unread(const struct conn *c, int64_t now)
{
    int64_t patience = c->server->spec.limits.write_ms;

    return c->unsent > 0 &&
           (ms_since(c->taken_us, now) >= patience ||
            ms_since(c->unsent_since_us, now) >= patience + (int64_t)(c->sent / (RATE_MIN / 1000)));
}

void crowd_sweep(struct http_server *s)
{
    int64_t now = clock_us();

    for (struct conn *c = s->conns; c; c = c->next) {
        bool is_slow = is_late(c, now), is_stuck = is_unread(c, now);

        if (c->is_dropped || (!is_slow && !is_stuck))
            continue;
        s->counts.refused[HTTP_REFUSED_SLOW] +=
            is_slow && (c->state == CONN_HEAD || c->state == CONN_BODY);
        s->counts.refused[HTTP_REFUSED_UNREAD] += is_stuck;
        conn_drop(c);
    }
    if (s->is_paused)
        listeners_pause(s, false);
}
