#include "sandbox/charge.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"
#include "sandbox/watch.h"

enum {
    SEEN_MAX = 8192,
    /* What a socket may hold, sent and received: the kernel's default both ways. More cannot be
     * asked for in a box. */
    SOCKET_BYTES = 2 * 212992,
    /* Lines and descriptors looked at; a box that has more than that hides something. */
    WORK_MAX = 100000,
};

/* Inodes met before; when it is full, everything counts as new. */
struct seen {
    uint64_t inodes[SEEN_MAX];
    size_t n;
    uint64_t sockets;
    uint64_t work;
};

static bool is_new(struct seen *seen, uint64_t inode)
{
    size_t at = (size_t)(inode * 0x9e3779b97f4a7c15u >> 32) % SEEN_MAX;

    for (size_t tries = 0; tries < SEEN_MAX; tries++, at = (at + 1) % SEEN_MAX) {
        if (seen->inodes[at] == inode + 1)
            return false;
        if (seen->inodes[at] == 0) {
            if (++seen->n < SEEN_MAX / 2)
                seen->inodes[at] = inode + 1;
            return true;
        }
    }
    return true;
}

/* ---- descriptors ---- */

static void charge_fd(int dir, const char *name, dev_t device, struct seen *seen,
                      struct charge *ret)
{
    struct stat st;

    if (fstatat(dir, name, &st, 0) < 0)
        return;
    if (S_ISSOCK(st.st_mode) && is_new(seen, st.st_ino))
        seen->sockets++;
    else if (device != 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 && st.st_dev == device &&
             is_new(seen, st.st_ino))
        ret->deleted_bytes += (uint64_t)st.st_blocks * 512;
}

static bool charge_fds(int proc, pid_t pid, dev_t device, struct seen *seen, struct charge *ret)
{
    char path[WATCH_PATH];
    DIR *dir;
    int fd;

    watch_path(proc, pid, "fd", path);
    fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        gb_closep(&fd);
        return false;
    }
    for (struct dirent *e = readdir(dir); e && seen->work++ <= WORK_MAX; e = readdir(dir))
        if (e->d_name[0] != '.')
            charge_fd(fd, e->d_name, device, seen, ret);
    (void)closedir(dir);
    return true;
}

/* ---- mappings ---- */

/* "start-end perms offset dev inode path": a shared anonymous mapping has /dev/zero for a path, and
 * what is mapped of a deleted file says so. */
static void charge_line(const char *line, dev_t device, struct seen *seen, struct charge *ret)
{
    char *end;
    unsigned long long from = strtoull(line, &end, 16);
    unsigned long long to = *end == '-' ? strtoull(end + 1, &end, 16) : from;
    unsigned long major, minor;
    unsigned long long inode;
    char shared;

    if (!strstr(line, " (deleted)") || strlen(end) < strlen(" rwxs "))
        return;
    shared = end[4];
    (void)strtoull(end + 5, &end, 16); /* the offset */
    major = strtoul(end, &end, 16);
    minor = *end == ':' ? strtoul(end + 1, &end, 16) : 0;
    inode = strtoull(end, NULL, 10);
    if (device != 0 && makedev((unsigned)major, (unsigned)minor) == device && is_new(seen, inode))
        ret->deleted_bytes += to - from;
    /* Pieces of one mapping share an inode and differ in where they start. */
    else if (shared == 's' && strstr(line, "/dev/zero (deleted)") &&
             is_new(seen, inode ^ from << 20))
        ret->shared_bytes += to - from;
}

static bool charge_maps(int proc, pid_t pid, dev_t device, struct seen *seen, struct charge *ret)
{
    char path[WATCH_PATH], line[512];
    FILE *maps;
    int fd;

    watch_path(proc, pid, "maps", path);
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    maps = fd < 0 ? NULL : fdopen(fd, "r");
    if (!maps) {
        gb_closep(&fd);
        return false;
    }
    while (seen->work++ <= WORK_MAX && fgets(line, sizeof(line), maps))
        charge_line(line, device, seen, ret);
    (void)fclose(maps);
    return true;
}

/* ---- the whole ---- */

static void charge_hidden(int proc, pid_t pid, struct seen *seen, struct charge *ret)
{
    char path[WATCH_PATH], text[4096];
    const char *size, *fds;

    watch_path(proc, pid, "status", path);
    if (fd_slurp_at(proc, path, text, sizeof(text) - 1) <= 0)
        return; /* gone meanwhile */
    size = strstr(text, "\nVmSize:");
    fds = strstr(text, "\nFDSize:");
    if (size) /* a zombie has none, and holds nothing */
        ret->shared_bytes += strtoull(size + strlen("\nVmSize:"), NULL, 10) << 10;
    if (size && fds)
        seen->sockets += strtoull(fds + strlen("\nFDSize:"), NULL, 10);
}

uint64_t charge_net(int proc)
{
    static const char head[] = "sockets: used ";
    char text[64];
    ssize_t n = fd_slurp_at(proc, "self/net/sockstat", text, sizeof(text) - 1);

    /* order: a look that cannot be had must not pass for an empty one */
    if (n < (ssize_t)sizeof(head) || memcmp(text, head, sizeof(head) - 1) != 0)
        return UINT64_MAX / 2;
    return strtoull(text + sizeof(head) - 1, NULL, 10) * SOCKET_BYTES;
}

void charge_look(int proc, const pid_t *pids, size_t n, dev_t device, struct charge *ret)
{
    struct seen *seen = calloc(1, sizeof(*seen));

    *ret = (struct charge){ 0 };
    for (size_t i = 0; seen && i < n; i++) {
        struct charge one = { 0 };
        if (!charge_fds(proc, pids[i], device, seen, &one) ||
            !charge_maps(proc, pids[i], device, seen, &one)) {
            one = (struct charge){ 0 };
            charge_hidden(proc, pids[i], seen, &one);
        }
        ret->shared_bytes += one.shared_bytes;
        ret->deleted_bytes += one.deleted_bytes;
    }
    if (seen)
        ret->socket_bytes = seen->work > WORK_MAX ? UINT64_MAX / 2 : seen->sockets * SOCKET_BYTES;
    free(seen);
}
