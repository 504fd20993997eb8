#pragma once
/* What a name means to Python, for those who choose names for programs. */
#include <stdbool.h>

/* Can it be a variable? (ASCII only; no keyword.) */
bool name_is_variable(const char *text);

/* Does a tool of this name become a function that programs find under it? One that would hide a
 * builtin, or what every program with tools finds, can be called by call_tool() only. */
bool name_is_function(const char *text);

/* Is it "space.tool", a function that programs find in a namespace? */
bool name_is_spaced(const char *text);
