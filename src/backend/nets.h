#pragma once
/* Network namespaces of boxes that are gone, in which no program had an internet socket
 * (sandbox/net.h). */
#include <stddef.h>

/* As many as come back at once under load; each holds some 150 KiB in the kernel. */
enum {
    NETS_MAX = 12
};

struct nets {
    int fds[NETS_MAX];
    size_t n;
};

/* Keep one, which is taken; or close it, if there are enough. */
void nets_put(struct nets *nets, int fd);

/* One, which is the caller's; or -1. */
int nets_take(struct nets *nets);

void nets_done(struct nets *nets);
