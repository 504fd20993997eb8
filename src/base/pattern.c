/*
 * How the work is bounded. PCRE2's own limit counts backtracking and nothing else: a back reference
 * that compares 60,000 bytes is one step of it. So a pattern is compiled with a callout before
 * each of its items, and the callout looks at the clock. Between two callouts PCRE2 does one item,
 * which passes over the text once at most; where the item is a class of many ranges, it looks at
 * each of them for each character. What one item can cost (`stride`) is known before the match,
 * and a pattern whose items cost too much for this text is not tried. The one item that passes over
 * the text more often than once, \X, is refused.
 */
#include "base/pattern.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    MATCH_LIMIT = 200000, /* backtracking from one place of the text */
    DEPTH_LIMIT = 1000,
    HEAP_LIMIT_KIB = 16 << 10,
    STRIDE_MAX = 32 << 20, /* characters, or ranges of classes, that one item may look at */
    LOOK_EVERY = 1 << 20,  /* of them are looked at before the clock is: about a millisecond */
    WIDE_COST = 2,         /* ranges of a class for each byte of the pattern, at most */
    BLANK_COST = 10,       /* where escapes stand for many ranges */
    GROUP_COST = 16        /* of each group, when PCRE2 goes one step deeper */
};

/* The few functions that are used, as the library has them. */
struct pcre {
    __typeof__(pcre2_compile_8) *compile;
    __typeof__(pcre2_code_free_8) *code_free;
    __typeof__(pcre2_get_error_message_8) *message;
    __typeof__(pcre2_match_data_create_8) *data_create;
    __typeof__(pcre2_match_data_free_8) *data_free;
    __typeof__(pcre2_match_context_create_8) *context_create;
    __typeof__(pcre2_match_context_free_8) *context_free;
    __typeof__(pcre2_set_match_limit_8) *set_match_limit;
    __typeof__(pcre2_set_depth_limit_8) *set_depth_limit;
    __typeof__(pcre2_set_heap_limit_8) *set_heap_limit;
    __typeof__(pcre2_set_callout_8) *set_callout;
    __typeof__(pcre2_pattern_info_8) *info;
    __typeof__(pcre2_match_8) *match;
    bool is_whole;
};

static void find_all(struct pcre *p)
{
    /* The handle is never closed: the library stays. */
    void *lib = dlopen("libpcre2-8.so.0", RTLD_NOW | RTLD_LOCAL);

    if (!lib)
        return;
#define FIND(field, name) *(void **)(&p->field) = dlsym(lib, "pcre2_" name "_8")
    FIND(compile, "compile");
    FIND(code_free, "code_free");
    FIND(message, "get_error_message");
    FIND(data_create, "match_data_create");
    FIND(data_free, "match_data_free");
    FIND(context_create, "match_context_create");
    FIND(context_free, "match_context_free");
    FIND(set_match_limit, "set_match_limit");
    FIND(set_depth_limit, "set_depth_limit");
    FIND(set_heap_limit, "set_heap_limit");
    FIND(set_callout, "set_callout");
    FIND(info, "pattern_info");
    FIND(match, "match");
#undef FIND
    p->is_whole = p->compile && p->code_free && p->message && p->data_create && p->data_free &&
                  p->context_create && p->context_free && p->set_match_limit &&
                  p->set_depth_limit && p->set_heap_limit && p->set_callout && p->info && p->match;
}

/* Finding them takes as long as matching a short text: it is done once in a process. */
static struct pcre found;

static void find_once(void)
{
    find_all(&found);
}

/* NULL: it is not installed, or lacks something. */
static const struct pcre *load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, find_once);
    return found.is_whole ? &found : NULL;
}

static int64_t used_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- compiling ---- */

/* Does it say \X, a character with all that belongs to it? PCRE2 counts back over the flags before
 * a flag, so that a row of them costs the square of its length, in one item. */
static bool has_clusters(const char *pattern)
{
    for (const char *at = strchr(pattern, '\\'); at && at[1]; at = strchr(at + 2, '\\'))
        if (at[1] == 'X')
            return true;
    return false;
}

static pcre2_code_8 *compile(const struct pcre *p, const char *pattern, bool any_case, int *error,
                             size_t *at)
{
    uint32_t options =
        PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;

    return p->compile((PCRE2_SPTR8)pattern, PCRE2_ZERO_TERMINATED,
                      options | (any_case ? PCRE2_CASELESS : 0), error, at, NULL);
}

int pattern_check(const char *pattern, int64_t *left_us, struct gb_err *err)
{
    const struct pcre *p = load();
    unsigned char why[120] = "";
    pcre2_code_8 *code;
    int64_t began_us = used_us();
    size_t at = 0;
    int error = 0;

    if (*left_us <= 0)
        return gb_fail(err, GB_E_LIMIT, 0, "takes too long to read, with all that came before it");
    if (strlen(pattern) > PATTERN_BYTES_MAX)
        return gb_fail(err, GB_E_LIMIT, 0, "has more than %d bytes", PATTERN_BYTES_MAX);
    if (has_clusters(pattern)) {
        (void)gb_fail(err, GB_E_INVALID, 0, "\\X takes too long to match");
        return gb_fail_hint(err, "write '.' for a character");
    }
    if (!p) {
        (void)gb_fail(err, GB_E_INVALID, 0, "cannot be checked: no libpcre2-8.so.0");
        return gb_fail_hint(err, "install PCRE2 (libpcre2-8-0), or do without patterns");
    }
    code = compile(p, pattern, false, &error, &at);
    *left_us -= used_us() - began_us;
    if (code) {
        p->code_free(code);
        return 0;
    }
    (void)p->message(error, why, sizeof(why));
    return gb_fail(err, GB_E_INVALID, 0, "not a regular expression: %s at %zu", why, at);
}

/* ---- matching ---- */

struct watch {
    int64_t until_us;
    int64_t stride;  /* what one item may cost */
    int64_t to_look; /* what may be spent before the clock is looked at */
    bool is_over;
};

static int on_item(pcre2_callout_block_8 *block, void *data)
{
    struct watch *w = data;

    (void)block;
    w->to_look -= w->stride;
    if (w->to_look > 0)
        return 0;
    w->to_look = LOOK_EVERY;
    w->is_over = used_us() >= w->until_us;
    return w->is_over ? PCRE2_ERROR_CALLOUT : 0;
}

/* How many ranges a class of it may have that are looked at one by one. PCRE2 has a table for
 * characters below 256; others are written as they are, or with one of these escapes. */
static size_t ranges_max(const char *pattern)
{
    size_t cost = strstr(pattern, "UCP") ? WIDE_COST : 0;

    for (const char *at = pattern; *at; at++) {
        bool is_escape = *at == '\\' && at[1];

        if (is_escape && strchr("hHvV", at[1]))
            cost = BLANK_COST;
        else if (((*at & 0x80) || (is_escape && strchr("pPxoN", at[1]))) && cost < WIDE_COST)
            cost = WIDE_COST;
        at += is_escape;
    }
    return 1 + cost * strlen(pattern);
}

static int search(const struct pcre *p, const pcre2_code_8 *code, const char *text, size_t len,
                  struct watch *w)
{
    pcre2_match_data_8 *data = p->data_create(1, NULL);
    pcre2_match_context_8 *context = p->context_create(NULL);
    int n = PCRE2_ERROR_NOMEMORY;

    if (data && context) {
        (void)p->set_match_limit(context, MATCH_LIMIT);
        (void)p->set_depth_limit(context, DEPTH_LIMIT);
        (void)p->set_heap_limit(context, HEAP_LIMIT_KIB);
        (void)p->set_callout(context, on_item, w);
        n = p->match(code, (PCRE2_SPTR8)text, len, 0, PCRE2_NO_UTF_CHECK, data, context);
    }
    if (context)
        p->context_free(context);
    if (data)
        p->data_free(data);
    return n;
}

static int match(const char *pattern, bool any_case, const char *text, size_t len, int64_t *left_us)
{
    const struct pcre *p = load();
    struct watch w = { .until_us = used_us() + *left_us, .to_look = LOOK_EVERY };
    pcre2_code_8 *code;
    uint32_t groups = 0;
    int64_t began_us = w.until_us - *left_us;
    size_t at, ranges = ranges_max(pattern);
    int error, n = PCRE2_ERROR_MATCHLIMIT;

    if (*left_us <= 0 || len > STRIDE_MAX / ranges || !p)
        return -1;
    code = compile(p, pattern, any_case, &error, &at);
    if (!code)
        return -1;
    (void)p->info(code, PCRE2_INFO_CAPTURECOUNT, &groups);
    w.stride = 1 + (int64_t)(len * ranges) + (int64_t)groups * GROUP_COST;
    if (used_us() < w.until_us)
        n = search(p, code, text, len, &w);
    p->code_free(code);
    *left_us -= used_us() - began_us;
    if (n >= 0)
        return 1;
    return n == PCRE2_ERROR_NOMATCH && !w.is_over ? 0 : -1;
}

int pattern_match(const char *pattern, const char *text, size_t len, int64_t *left_us)
{
    return match(pattern, false, text, len, left_us);
}

int pattern_match_any_case(const char *pattern, const char *text, size_t len, int64_t *left_us)
{
    return match(pattern, true, text, len, left_us);
}
