#pragma once
/* Regular expressions, by PCRE2, which is loaded when one is first needed and not before: most
 * engines never see one. */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Is it an expression that can be matched? Fails where PCRE2 is not installed, too. */
int pattern_check(const char *pattern, struct gb_err *err) gb_nodiscard;

/* Does it match somewhere in the text? 1, 0, or -1 when it cannot be told within the limits. */
int pattern_match(const char *pattern, const char *text, size_t len);

/* The same, large and small letters being one. */
int pattern_match_any_case(const char *pattern, const char *text, size_t len);
