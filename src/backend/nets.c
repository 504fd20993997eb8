#include "backend/nets.h"

#include <unistd.h>

void nets_put(struct nets *nets, int fd)
{
    if (fd >= 0 && nets->n < NETS_MAX)
        nets->fds[nets->n++] = fd;
    else if (fd >= 0)
        (void)close(fd);
}

int nets_take(struct nets *nets)
{
    return nets->n > 0 ? nets->fds[--nets->n] : -1;
}

void nets_done(struct nets *nets)
{
    while (nets->n > 0)
        (void)close(nets_take(nets));
}
