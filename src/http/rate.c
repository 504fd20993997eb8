/* A fixed number of buckets: addresses that fall into the same one share it, and no number of
 * them costs more memory. Which do so is another in each process, so that nobody can pick one to
 * share. */
#include "http/rate.h"

#include <stdlib.h>
#include <sys/random.h>

enum {
    BUCKETS = 1024,
    BURST_SECONDS = 2
};

struct bucket {
    double level; /* requests' worth that were taken and have not come back */
    int64_t at_us;
};

struct rates {
    double rate;
    uint64_t seed;
    struct bucket buckets[BUCKETS];
};

struct rates *rates_new(unsigned rate)
{
    struct rates *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->rate = rate;
    if (getrandom(&r->seed, sizeof(r->seed), 0) < 0)
        r->seed = 0;
    return r;
}

struct rates *rates_free(struct rates *rates)
{
    free(rates);
    return NULL;
}

static struct bucket *find(struct rates *rates, const char *address)
{
    uint64_t hash = rates->seed ^ 0xcbf29ce484222325u; /* FNV-1a */

    for (; *address; address++)
        hash = (hash ^ (unsigned char)*address) * 0x100000001b3u;
    return &rates->buckets[(hash ^ hash >> 32) % BUCKETS];
}

bool rates_take(struct rates *rates, const char *address, unsigned cost, int64_t now_us)
{
    struct bucket *b = find(rates, address);

    if (rates->rate <= 0)
        return true;
    b->level -= (double)(now_us - b->at_us) / 1e6 * rates->rate;
    b->at_us = now_us;
    if (b->level < 0)
        b->level = 0;
    if (b->level >= rates->rate * BURST_SECONDS)
        return false;
    b->level += cost;
    return true;
}
