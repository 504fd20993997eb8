#pragma once
/* Regular expressions, by PCRE2, which is loaded when one is first needed and not before: most
 * engines never see one. They are hostile, and so are the texts: pattern.c says how the work is
 * bounded. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    PATTERN_BYTES_MAX = 4096,
    PATTERN_CHECK_US = 50 * 1000, /* for reading all patterns of a request, or of a schema */
    PATTERN_US = 100 * 1000       /* for all that one text is matched against */
};

/* Is it an expression that can be matched? Fails where PCRE2 is not installed, too. What it took of
 * the processor's time is taken off *left_us; once that is used up, it fails. */
int pattern_check(const char *pattern, int64_t *left_us, struct gb_err *err) gb_nodiscard;

/* Does it match somewhere in the text, which is UTF-8? 1, 0, or -1 when it cannot be told within
 * the limits. What it took of the processor's time is taken off *left_us, in which all that belong
 * together share; once that is used up, nothing can be told. */
int pattern_match(const char *pattern, const char *text, size_t len, int64_t *left_us);

/* The same, large and small letters being one. */
int pattern_match_any_case(const char *pattern, const char *text, size_t len, int64_t *left_us);
