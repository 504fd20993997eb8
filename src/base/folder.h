#pragma once
/* Where a user's files lie: the folders that the XDG specification names. */

/* "$VARIABLE/glovebox/FILE", or "~/BELOW_HOME/glovebox/FILE" where the variable is not set or
 * relative, which the specification says to ignore. The caller frees it; NULL without a home, or
 * memory. */
char *folder_file(const char *variable, const char *below_home, const char *file);
