#include "base/folder.h"

#include <stdio.h>
#include <stdlib.h>

char *folder_file(const char *variable, const char *below_home, const char *file)
{
    const char *xdg = getenv(variable), *home = getenv("HOME");
    char *path = NULL;
    int n = -1;

    if (xdg && xdg[0] == '/')
        n = asprintf(&path, "%s/glovebox/%s", xdg, file);
    else if (home && home[0] == '/')
        n = asprintf(&path, "%s/%s/glovebox/%s", home, below_home, file);
    return n < 0 ? NULL : path;
}
