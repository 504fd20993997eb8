#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *describe(int sys)
{
#ifdef __GLIBC__
    return strerrordesc_np(sys); /* its strerror() may allocate, or clash with another thread's */
#else
    return strerror(sys);
#endif
}

void gb_err_set(struct gb_err *err, enum gb_code code, int sys, const char *fmt, ...)
{
    va_list ap;
    int n;

    *err = (struct gb_err){ .code = code, .sys = sys };
    va_start(ap, fmt);
    n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    if (sys != 0 && n >= 0 && (size_t)n < sizeof(err->msg))
        (void)snprintf(err->msg + n, sizeof(err->msg) - (size_t)n, ": %s", describe(sys));
}

void gb_err_hint(struct gb_err *err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
    va_end(ap);
}

void gb_err_prefix(struct gb_err *err, const char *fmt, ...)
{
    char inner[sizeof(err->msg)];
    va_list ap;
    int n;

    memcpy(inner, err->msg, sizeof(inner));
    va_start(ap, fmt);
    n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof(err->msg))
        (void)snprintf(err->msg + n, sizeof(err->msg) - (size_t)n, ": %.*s",
                       (int)sizeof(inner) - n - 3, inner);
}

const char *gb_code_name(enum gb_code code)
{
    switch (code) {
    case GB_OK:
        return "ok";
#define X(sym, name) \
    case GB_E_##sym: \
        return name;
        GB_ERROR_MAP(X)
#undef X
    }
    return "unknown";
}
