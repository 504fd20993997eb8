#include "base/pattern.h"

#include <dlfcn.h>
#include <time.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    MATCH_LIMIT = 200000, /* steps from one place of the text: some milliseconds */
    PLACES = 256,         /* that are tried before the clock is looked at again */
    DEPTH_LIMIT = 1000
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
    __typeof__(pcre2_set_offset_limit_8) *set_offset_limit;
    __typeof__(pcre2_pattern_info_8) *info;
    __typeof__(pcre2_match_8) *match;
};

static bool load(struct pcre *p)
{
    /* The handle is never closed: once loaded it stays, and further calls only find it. */
    void *lib = dlopen("libpcre2-8.so.0", RTLD_NOW | RTLD_LOCAL);

    if (!lib)
        return false;
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
    FIND(set_offset_limit, "set_offset_limit");
    FIND(info, "pattern_info");
    FIND(match, "match");
#undef FIND
    return p->compile && p->code_free && p->message && p->data_create && p->data_free &&
           p->context_create && p->context_free && p->set_match_limit && p->set_depth_limit &&
           p->set_offset_limit && p->info && p->match;
}

static pcre2_code_8 *compile(const struct pcre *p, const char *pattern, bool any_case, int *error,
                             size_t *at)
{
    uint32_t options =
        PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT;

    return p->compile((PCRE2_SPTR8)pattern, PCRE2_ZERO_TERMINATED,
                      options | (any_case ? PCRE2_CASELESS : 0), error, at, NULL);
}

int pattern_check(const char *pattern, struct gb_err *err)
{
    struct pcre p;
    unsigned char why[120] = "";
    pcre2_code_8 *code;
    size_t at = 0;
    int error = 0;

    if (!load(&p)) {
        (void)gb_fail(err, GB_E_INVALID, 0, "cannot be checked: no libpcre2-8.so.0");
        return gb_fail_hint(err, "install PCRE2 (libpcre2-8-0), or do without patterns");
    }
    code = compile(&p, pattern, false, &error, &at);
    if (code) {
        p.code_free(code);
        return 0;
    }
    (void)p.message(error, why, sizeof(why));
    return gb_fail(err, GB_E_INVALID, 0, "not a regular expression: %s at %zu", why, at);
}

static int64_t used_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* PCRE2 counts its steps anew from each place of the text that it tries, so a long text with many
 * places can take a minute within the limit: some places at a time, with an eye on the clock. */
static int search(const struct pcre *p, const pcre2_code_8 *code, const char *text, size_t len,
                  int64_t until_us)
{
    pcre2_match_data_8 *data = p->data_create(1, NULL);
    pcre2_match_context_8 *context = p->context_create(NULL);
    int n = data && context ? PCRE2_ERROR_NOMATCH : PCRE2_ERROR_NOMEMORY;
    uint32_t options = 0;

    (void)p->info(code, PCRE2_INFO_ALLOPTIONS, &options);
    for (size_t from = 0, to; n == PCRE2_ERROR_NOMATCH && from <= len; from = to + 1) {
        while (from < len && ((unsigned char)text[from] & 0xc0) == 0x80)
            from++;
        to = options & PCRE2_ANCHORED ? len : from + PLACES;
        (void)p->set_match_limit(context, MATCH_LIMIT);
        (void)p->set_depth_limit(context, DEPTH_LIMIT);
        (void)p->set_offset_limit(context, to);
        n = p->match(code, (PCRE2_SPTR8)text, len, from, PCRE2_NO_UTF_CHECK, data, context);
        if (n == PCRE2_ERROR_NOMATCH && to < len && used_us() >= until_us)
            n = PCRE2_ERROR_MATCHLIMIT;
    }
    if (context)
        p->context_free(context);
    if (data)
        p->data_free(data);
    return n;
}

static int match(const char *pattern, bool any_case, const char *text, size_t len, int64_t *left_us)
{
    struct pcre p;
    pcre2_code_8 *code;
    int64_t began_us = used_us();
    size_t at;
    int error, n;

    if (*left_us <= 0 || !load(&p))
        return -1;
    code = compile(&p, pattern, any_case, &error, &at);
    if (!code)
        return -1;
    n = search(&p, code, text, len, began_us + *left_us);
    p.code_free(code);
    *left_us -= used_us() - began_us;
    if (n >= 0)
        return 1;
    return n == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

int pattern_match(const char *pattern, const char *text, size_t len, int64_t *left_us)
{
    return match(pattern, false, text, len, left_us);
}

int pattern_match_any_case(const char *pattern, const char *text, size_t len, int64_t *left_us)
{
    return match(pattern, true, text, len, left_us);
}
