/* The filters that were made with the build, and the one for a wish. */
#include "base/own.h"
#include "filters_made.h"
#include "sandbox/seccomp.h"

const struct seccomp_filter *seccomp_filter_for(const struct seccomp_wish *wish)
{
    for (size_t i = 0; i < ARRAY_LEN(filters_made); i++) {
        const struct seccomp_wish *w = &filters_made[i].wish;
        if (w->level == wish->level && w->host_network == wish->host_network &&
            w->writes_host == wish->writes_host)
            return &filters_made[i];
    }
    return NULL;
}
