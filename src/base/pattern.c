#include "base/pattern.h"

#include <dlfcn.h>
#include <stdint.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    MATCH_LIMIT = 200000, /* steps: some milliseconds */
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
    FIND(match, "match");
#undef FIND
    return p->compile && p->code_free && p->message && p->data_create && p->data_free &&
           p->context_create && p->context_free && p->set_match_limit && p->set_depth_limit &&
           p->match;
}

static pcre2_code_8 *compile(const struct pcre *p, const char *pattern, bool any_case, int *error,
                             size_t *at)
{
    uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;

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
        (void)gb_fail(err, GB_E_INVALID, 0, "'pattern' cannot be checked: no libpcre2-8.so.0");
        return gb_fail_hint(err, "install PCRE2 (libpcre2-8-0), or leave 'pattern' out");
    }
    code = compile(&p, pattern, false, &error, &at);
    if (code) {
        p.code_free(code);
        return 0;
    }
    (void)p.message(error, why, sizeof(why));
    return gb_fail(err, GB_E_INVALID, 0, "'pattern' is no regular expression: %s at %zu", why, at);
}

static int match(const char *pattern, bool any_case, const char *text, size_t len)
{
    struct pcre p;
    pcre2_code_8 *code;
    size_t at;
    int error, n = PCRE2_ERROR_NOMEMORY;

    if (!load(&p))
        return -1;
    code = compile(&p, pattern, any_case, &error, &at);
    if (!code)
        return -1;
    pcre2_match_data_8 *data = p.data_create(1, NULL);
    pcre2_match_context_8 *context = p.context_create(NULL);

    if (data && context) {
        (void)p.set_match_limit(context, MATCH_LIMIT);
        (void)p.set_depth_limit(context, DEPTH_LIMIT);
        n = p.match(code, (PCRE2_SPTR8)text, len, 0, PCRE2_NO_UTF_CHECK, data, context);
    }
    if (context)
        p.context_free(context);
    if (data)
        p.data_free(data);
    p.code_free(code);
    if (n >= 0)
        return 1;
    return n == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

int pattern_match(const char *pattern, const char *text, size_t len)
{
    return match(pattern, false, text, len);
}

int pattern_match_any_case(const char *pattern, const char *text, size_t len)
{
    return match(pattern, true, text, len);
}
