/* In the library, not in the module: finds the module. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fetch/fetch.h"

static const struct fetch_ops *fail_load(struct gb_err *err, const char *path, const char *why)
{
    gb_err_set(err, GB_E_SYSTEM, 0, "loading %s: %s", path, why);
    if (strstr(why, "libcurl"))
        gb_err_hint(err, "install libcurl: apt-get install libcurl4");
    else
        gb_err_hint(err, "run 'make', or 'make install' again");
    return NULL;
}

const struct fetch_ops *fetch_load(const char *dir, struct gb_err *err)
{
    const struct fetch_ops *ops;
    const char *why;
    char path[PATH_MAX];
    void *module;

    if (snprintf(path, sizeof(path), "%s/" FETCH_MODULE, dir) >= (int)sizeof(path))
        return fail_load(err, FETCH_MODULE, "the path of its folder is too long");
    if (access(path, R_OK) < 0)
        return fail_load(err, path, "there is no such file");
    /* Never unloaded: a thread of libcurl's may still be looking up a name that nobody wants any
     * more. Loading it again only counts, so no one need remember that it was. */
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!module) {
        why = dlerror();
        return fail_load(err, FETCH_MODULE, why ? why : "no reason given");
    }
    ops = dlsym(module, FETCH_SYMBOL);
    if (!ops || ops->abi != FETCH_ABI)
        return fail_load(err, path, "it belongs to another version of glovebox");
    return ops;
}
