/*
 * A filter looks at the architecture, at the call's number, and then, for a few calls, at their
 * arguments. Followed with a number that is known and arguments that are not, it comes to an answer
 * or to the place where the first argument is loaded. Which one that is changes only at the numbers
 * that the filter compares with, so a few hundred tries tell it for all of them:
 *
 *   architecture, number
 *   a search by halves, among ranges of numbers that come to the same
 *   the answers, and a jump for each place where arguments are looked at
 *   those places, as they were
 */
#include "sandbox/shrink.h"

#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>

#include "sandbox/halves.h"

enum {
    CODE_MAX = BPF_MAXINSNS,
    RANGES_MAX = 512,
    ENDS_MAX = 64,
    NEAR = 255, /* a jump that depends on something goes no further */
    LOAD = BPF_LD | BPF_W | BPF_ABS,
    RETURN = BPF_RET | BPF_K,
    HEAD = 4
};

/* Where a number comes to: an answer, or a place in the filter. */
struct end {
    bool is_place;
    uint32_t value;
};

struct work {
    const struct sock_filter *code;
    size_t n;
    struct halves_range ranges[RANGES_MAX]; /* that lead to an index of `ends` at first */
    size_t n_ranges;
    struct end ends[ENDS_MAX];
    size_t n_ends;
    bool is_used[CODE_MAX];   /* of the filter's steps: needed for arguments */
    size_t new_pos[CODE_MAX]; /* where those are in the new one */
    bool is_bad;              /* not a filter that this understands */
};

static bool is_branch(const struct sock_filter *f)
{
    return BPF_CLASS(f->code) == BPF_JMP && f->code != (BPF_JMP | BPF_JA);
}

static bool is_taken(const struct sock_filter *f, uint32_t a)
{
    switch (BPF_OP(f->code)) {
    case BPF_JEQ:
        return a == f->k;
    case BPF_JGT:
        return a > f->k;
    case BPF_JGE:
        return a >= f->k;
    default:
        return (a & f->k) != 0; /* BPF_JSET */
    }
}

static struct end follow(const struct sock_filter *code, size_t n, uint32_t arch, uint32_t nr,
                         bool *is_bad)
{
    uint32_t a = 0;

    for (size_t pc = 0; pc < n; pc++) {
        const struct sock_filter *f = &code[pc];

        if (f->code == LOAD && f->k == offsetof(struct seccomp_data, nr))
            a = nr;
        else if (f->code == LOAD && f->k == offsetof(struct seccomp_data, arch))
            a = arch;
        else if (f->code == LOAD)
            return (struct end){ true, (uint32_t)pc };
        else if (f->code == RETURN)
            return (struct end){ false, f->k };
        else if (f->code == (BPF_JMP | BPF_JA))
            pc += f->k;
        else if (is_branch(f) && BPF_OP(f->code) != BPF_JSET) /* which turns at more numbers */
            pc += is_taken(f, a) ? f->jt : f->jf;
        else
            break;
    }
    *is_bad = true;
    return (struct end){ 0 };
}

/* ---- ranges ---- */

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* The first number, and all at which something may change, in order. */
static size_t find_turns(const struct sock_filter *code, size_t n, uint32_t ret[2 * CODE_MAX + 1])
{
    size_t found = 0;

    ret[found++] = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_branch(&code[i]))
            continue;
        ret[found++] = code[i].k;
        if (code[i].k != UINT32_MAX)
            ret[found++] = code[i].k + 1;
    }
    qsort(ret, found, sizeof(*ret), by_value);
    return found;
}

static size_t end_index(struct work *w, struct end end)
{
    size_t i = 0;

    while (i < w->n_ends && (w->ends[i].is_place != end.is_place || w->ends[i].value != end.value))
        i++;
    if (i == ENDS_MAX) {
        w->is_bad = true;
        return 0;
    }
    w->ends[i] = end;
    w->n_ends = i == w->n_ends ? i + 1 : w->n_ends;
    return i;
}

static void find_ranges(struct work *w, uint32_t arch)
{
    static uint32_t turns[2 * CODE_MAX + 1];
    size_t n = find_turns(w->code, w->n, turns);

    for (size_t i = 0; i < n && !w->is_bad; i++) {
        size_t end = end_index(w, follow(w->code, w->n, arch, turns[i], &w->is_bad));

        if (w->n_ranges > 0 && w->ranges[w->n_ranges - 1].to == end)
            continue;
        if (w->n_ranges == RANGES_MAX) {
            w->is_bad = true;
            return;
        }
        w->ranges[w->n_ranges++] = (struct halves_range){ turns[i], end };
    }
}

/* ---- what looks at arguments ---- */

static void mark_used(struct work *w, size_t pc)
{
    while (pc < w->n && !w->is_used[pc]) {
        const struct sock_filter *f = &w->code[pc];

        w->is_used[pc] = true;
        if (f->code == RETURN)
            return;
        if (f->code == (BPF_JMP | BPF_JA)) {
            pc += f->k + 1;
            continue;
        }
        if (is_branch(f)) {
            mark_used(w, pc + f->jt + 1);
            pc += f->jf;
        } else if (f->code != LOAD && f->code != (BPF_ALU | BPF_AND | BPF_K)) {
            break;
        }
        pc++;
    }
    if (pc >= w->n || !w->is_used[pc])
        w->is_bad = true;
}

/* A step that may be jumped over by fewer others than before. */
static struct sock_filter moved(const struct work *w, size_t pc)
{
    struct sock_filter f = w->code[pc];
    size_t next = w->new_pos[pc] + 1;

    if (f.code == (BPF_JMP | BPF_JA)) {
        f.k = (uint32_t)(w->new_pos[pc + f.k + 1] - next);
    } else if (is_branch(&f)) {
        f.jt = (uint8_t)(w->new_pos[pc + f.jt + 1] - next);
        f.jf = (uint8_t)(w->new_pos[pc + f.jf + 1] - next);
    }
    return f;
}

static size_t place_used(struct work *w, size_t at, struct sock_filter *ret, size_t max)
{
    size_t end = at;

    for (size_t pc = 0; pc < w->n; pc++)
        if (w->is_used[pc])
            w->new_pos[pc] = end++;
    for (size_t pc = 0; pc < w->n && end <= max; pc++)
        if (w->is_used[pc])
            ret[w->new_pos[pc]] = moved(w, pc);
    return end;
}

/* ---- the new filter ---- */

static void place_ends(const struct work *w, size_t at, struct sock_filter *ret)
{
    for (size_t i = 0; i < w->n_ends; i++) {
        const struct end *end = &w->ends[i];

        if (!end->is_place)
            ret[at + i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, end->value);
        else
            ret[at + i] = (struct sock_filter)BPF_STMT(
                BPF_JMP | BPF_JA, (uint32_t)(w->new_pos[end->value] - (at + i) - 1));
    }
}

size_t shrink(const struct sock_filter *code, size_t n, struct sock_filter *ret, size_t max)
{
    static struct work w;
    uint32_t arch;
    struct end foreign;
    size_t ends, length;

    w = (struct work){ .code = code, .n = n };
    if (n < 2 || n > CODE_MAX || code[0].code != LOAD ||
        code[0].k != offsetof(struct seccomp_data, arch) ||
        code[1].code != (BPF_JMP | BPF_JEQ | BPF_K))
        return 0;
    arch = code[1].k;
    foreign = follow(code, n, ~arch, 0, &w.is_bad);
    find_ranges(&w, arch);
    for (size_t i = 0; i < w.n_ends; i++)
        if (w.ends[i].is_place)
            mark_used(&w, w.ends[i].value);
    ends = HEAD + w.n_ranges - 1;
    if (w.is_bad || foreign.is_place || w.n_ranges < 2 || w.n_ranges + w.n_ends > NEAR ||
        ends + w.n_ends > max)
        return 0;
    length = place_used(&w, ends + w.n_ends, ret, max);
    if (length > max)
        return 0;
    ret[0] = (struct sock_filter)BPF_STMT(LOAD, offsetof(struct seccomp_data, arch));
    ret[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arch, 1, 0);
    ret[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, foreign.value);
    ret[3] = (struct sock_filter)BPF_STMT(LOAD, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < w.n_ranges; i++)
        w.ranges[i].to += ends;
    halves_search(ret, HEAD, w.ranges, w.n_ranges);
    place_ends(&w, ends, ret);
    return length;
}

/* ---- the proof ---- */

struct pair {
    const struct sock_filter *a, *b;
    size_t n_a, n_b;
    size_t twin[CODE_MAX]; /* of a step of `a`: the one of `b` that does the same, and one more */
};

static size_t pass_jumps(const struct sock_filter *code, size_t n, size_t pc)
{
    while (pc < n && code[pc].code == (BPF_JMP | BPF_JA))
        pc += code[pc].k + 1;
    return pc;
}

/* Do both do the same from here on, whatever the arguments are? */
static bool is_same_from(struct pair *p, size_t at_a, size_t at_b)
{
    at_a = pass_jumps(p->a, p->n_a, at_a);
    at_b = pass_jumps(p->b, p->n_b, at_b);
    if (at_a >= p->n_a || at_b >= p->n_b)
        return false;
    if (p->twin[at_a] != 0)
        return p->twin[at_a] == at_b + 1;
    p->twin[at_a] = at_b + 1;

    const struct sock_filter *a = &p->a[at_a], *b = &p->b[at_b];

    if (a->code != b->code || a->k != b->k)
        return false;
    if (a->code == RETURN)
        return true;
    if (is_branch(a) && !is_same_from(p, at_a + a->jt + 1, at_b + b->jt + 1))
        return false;
    return is_same_from(p, at_a + (is_branch(a) ? a->jf : 0) + 1,
                        at_b + (is_branch(b) ? b->jf : 0) + 1);
}

static bool is_same_for(struct pair *p, uint32_t arch, uint32_t nr)
{
    bool is_bad = false;
    struct end a = follow(p->a, p->n_a, arch, nr, &is_bad);
    struct end b = follow(p->b, p->n_b, arch, nr, &is_bad);

    if (is_bad || a.is_place != b.is_place)
        return false;
    return a.is_place ? is_same_from(p, a.value, b.value) : a.value == b.value;
}

/* That is for every number: nothing changes between those that a filter compares with. */
static bool is_same_at_turns(struct pair *p, const struct sock_filter *code, size_t n)
{
    static uint32_t turns[2 * CODE_MAX + 1];
    size_t n_turns = find_turns(code, n, turns);
    uint32_t arch = p->a[1].k;

    for (size_t t = 0; t < n_turns; t++)
        if (!is_same_for(p, arch, turns[t]) || !is_same_for(p, ~arch, turns[t]))
            return false;
    return true;
}

bool shrink_is_same(const struct sock_filter *a, size_t n_a, const struct sock_filter *b,
                    size_t n_b)
{
    static struct pair p;

    p = (struct pair){ .a = a, .b = b, .n_a = n_a, .n_b = n_b };
    return is_same_at_turns(&p, a, n_a) && is_same_at_turns(&p, b, n_b);
}
