#pragma once
/*
 * Modes and times of files, and what links say, on behalf of a guest that has no root of its own.
 *
 * Landlock looks at none of these, and the files may be those of the user who runs glovebox: a
 * filter alone could only refuse them all, and programs such as git, tar and compilers fail then.
 * So init does it for the guest, below the places that the plan lets it write to, and reads links
 * below those that it lets it read.
 */
#include "sandbox/notice.h"

/* Do it and answer. `scratch` is a descriptor of the box's own directory. */
void touch_answer(const struct plan *plan, int scratch, const struct notice *n);
