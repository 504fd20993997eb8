#pragma once
#include <stddef.h>

#define gb_printf(f, a) __attribute__((format(printf, f, a)))
#define gb_nodiscard    __attribute__((warn_unused_result))

/* One list gives the enum and the stable name that results carry as error.type. */
#define GB_ERROR_MAP(X)                 \
    X(INVALID, "invalid")               \
    X(NO_ISOLATION, "no_isolation")     \
    X(NO_INTERPRETER, "no_interpreter") \
    X(LIMIT, "limit")                   \
    X(BUSY, "busy")                     \
    X(GONE, "gone")                     \
    X(AUDIT, "audit")                   \
    X(PROTOCOL, "protocol")             \
    X(SYSTEM, "system")

enum gb_code {
    GB_OK,
#define X(sym, name) GB_E_##sym,
    GB_ERROR_MAP(X)
#undef X
};

/*
 * An engine's own failure: what was tried, the errno if a system call said no, and what the
 * operator can do about it. Fixed size and without pointers, so that a child that may not
 * allocate can fill it and send it to its parent in one write.
 */
struct gb_err {
    enum gb_code code;
    int sys; /* errno at the point of failure, 0 when not a system call's */
    char msg[240];
    char hint[240]; /* may be empty */
};
_Static_assert(sizeof(struct gb_err) <= 512, "sent over the control socket in one message");

void gb_err_set(struct gb_err *err, enum gb_code code, int sys, const char *fmt, ...)
    gb_printf(4, 5);
void gb_err_hint(struct gb_err *err, const char *fmt, ...) gb_printf(2, 3);
void gb_err_prefix(struct gb_err *err, const char *fmt, ...) gb_printf(2, 3);

/* Macros so that compilers and analyzers see the constant -1 across files. */
#define gb_fail(...)      (gb_err_set(__VA_ARGS__), -1)    /* (err, code, errno, fmt, ...) */
#define gb_fail_wrap(...) (gb_err_prefix(__VA_ARGS__), -1) /* (err, fmt, ...): outer context */
#define gb_fail_hint(...) (gb_err_hint(__VA_ARGS__), -1)   /* (err, fmt, ...): adds a remedy */

const char *gb_code_name(enum gb_code code);
