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
#include "sandbox/shared.h"
#include "sandbox/watch.h"

enum {
    SEEN_MAX = 8192,
    /* Lines and descriptors looked at; a box that has more than that hides something. */
    WORK_MAX = 100000,
    /* Looks in a row at which a process showed neither descriptors nor mappings: a program that
     * nobody may read is executed for a moment (sudo), or to hide. */
    HIDDEN_MAX = 20,

    /* What a socket may hold, sent and received: the kernel's default both ways. More cannot be
     * asked for in a box. */
    SOCKET_BYTES = 2 * 212992,
    /* And a pipe: the default, too. */
    PIPE_BYTES = 64 << 10,

    /* What the kernel keeps of each, by the sizes of its structures on 64 bits, rounded up. */
    MAPPING_BYTES = 256,
    WATCH_BYTES = 256, /* of an epoll descriptor */
    LOCK_BYTES = 256,
    FILE_BYTES = 1024,
    /* One of /proc keeps the text of what was read last, or a dead process' page directory. The
     * longest is a descriptor's information, with a line for each watch or lock. */
    PROC_FILE_BYTES = 128 << 10,
    LOCK_LINE_BYTES = 64,
};

/* Numbers of inodes are one file system's: those of others may be the same. */
enum kind {
    KIND_NONE,
    KIND_SOCKET,
    KIND_PIPE,
    KIND_DELETED,
    KIND_SHARED,
};

/* What was met before; when it is full, everything counts as new. */
struct seen {
    uint64_t inodes[SEEN_MAX];
    uint16_t places[SEEN_MAX]; /* of a shared mapping, where it is in `found` */
    uint8_t kinds[SEEN_MAX];
    size_t n;
    struct shared_found found[SHARED_MAX];
    size_t n_found;
    bool is_hidden; /* something could not be read */
    uint64_t sockets, pipes, mappings, watches, locks, files, proc_files;
    uint64_t work;
};

/* Where it is, or is to be: *ret_new then. */
static size_t place_of(struct seen *seen, enum kind kind, uint64_t inode, bool *ret_new)
{
    size_t at = (size_t)((inode + kind) * 0x9e3779b97f4a7c15u >> 32) % SEEN_MAX;

    while (seen->kinds[at] != KIND_NONE && (seen->kinds[at] != kind || seen->inodes[at] != inode))
        at = (at + 1) % SEEN_MAX;
    *ret_new = seen->kinds[at] == KIND_NONE;
    if (*ret_new && ++seen->n < SEEN_MAX / 2) { /* so there is always an end to the search */
        seen->kinds[at] = (uint8_t)kind;
        seen->inodes[at] = inode;
    }
    return at;
}

static bool is_new(struct seen *seen, enum kind kind, uint64_t inode)
{
    bool is;

    (void)place_of(seen, kind, inode, &is);
    return is;
}

/* ---- descriptors ---- */

/* How many lines of a descriptor's information begin with this. */
static uint64_t count_lines(struct seen *seen, int dir, const char *name, const char *with)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    FILE *info = fd < 0 ? NULL : fdopen(fd, "r");
    uint64_t n = 0;
    char line[256];

    if (!info) {
        gb_closep(&fd);
        return 0; /* closed meanwhile */
    }
    while (fgets(line, sizeof(line), info) && seen->work++ <= WORK_MAX)
        n += strncmp(line, with, strlen(with)) == 0;
    (void)fclose(info);
    return n;
}

static bool is_epoll(int dir, const char *name)
{
    static const char epoll[] = "anon_inode:[eventpoll]";
    char text[sizeof(epoll)];
    ssize_t n = readlinkat(dir, name, text, sizeof(text));

    return n == (ssize_t)sizeof(epoll) - 1 && memcmp(text, epoll, sizeof(epoll) - 1) == 0;
}

struct place {
    dev_t scratch; /* whose deleted files count, or 0 */
    dev_t proc;
};

static void charge_fd(int dir, int infos, const char *name, const struct place *at,
                      struct seen *seen, struct charge *ret)
{
    struct stat st;

    if (fstatat(dir, name, &st, 0) < 0)
        return;
    seen->files++;
    seen->locks += count_lines(seen, infos, name, "lock:");
    if (S_ISSOCK(st.st_mode))
        seen->sockets += is_new(seen, KIND_SOCKET, st.st_ino);
    else if (S_ISFIFO(st.st_mode))
        seen->pipes += is_new(seen, KIND_PIPE, st.st_ino);
    else if ((st.st_mode & S_IFMT) == 0 && is_epoll(dir, name))
        seen->watches += count_lines(seen, infos, name, "tfd:");
    else if (S_ISREG(st.st_mode) && st.st_dev == at->proc)
        seen->proc_files++;
    else if (at->scratch != 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 &&
             st.st_dev == at->scratch && is_new(seen, KIND_DELETED, st.st_ino))
        ret->deleted_bytes += (uint64_t)st.st_blocks * 512;
}

static DIR *open_list(int proc, pid_t pid, const char *name)
{
    char path[WATCH_PATH];
    DIR *dir;
    int fd;

    watch_path(proc, pid, name, path);
    fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        gb_closep(&fd);
    return dir;
}

static bool charge_fds(int proc, pid_t pid, const struct place *at, struct seen *seen,
                       struct charge *ret)
{
    DIR *fds = open_list(proc, pid, "fd"), *infos = open_list(proc, pid, "fdinfo");
    bool is_shown = fds && infos;

    for (struct dirent *e = is_shown ? readdir(fds) : NULL; e && seen->work++ <= WORK_MAX;
         e = readdir(fds))
        if (e->d_name[0] != '.')
            charge_fd(dirfd(fds), dirfd(infos), e->d_name, at, seen, ret);
    if (fds)
        (void)closedir(fds);
    if (infos)
        (void)closedir(infos);
    return is_shown;
}

/* ---- mappings ---- */

/* "/dev/zero (deleted)", or what the program called it (PR_SET_VMA_ANON_NAME). */
static bool is_shared_anonymous(const char *path)
{
    return strncmp(path, "/dev/zero (deleted)", strlen("/dev/zero (deleted)")) == 0 ||
           strncmp(path, "[anon_shmem:", strlen("[anon_shmem:")) == 0;
}

/* What one process has mapped of it adds up; of several, the most counts. */
static void find_shared(struct seen *seen, uint64_t inode, uint64_t bytes)
{
    bool is_first;
    size_t at = place_of(seen, KIND_SHARED, inode, &is_first);

    if (is_first && (seen->n_found == SHARED_MAX || seen->kinds[at] == KIND_NONE)) {
        seen->work = WORK_MAX + 1; /* more than a box can have */
        return;
    }
    if (is_first) {
        seen->places[at] = (uint16_t)seen->n_found++;
        seen->found[seen->places[at]] = (struct shared_found){ .inode = inode };
    }
    if (seen->found[seen->places[at]].bytes < bytes)
        seen->found[seen->places[at]].bytes = bytes;
}

/* "start-end perms offset dev inode path" */
static void charge_line(const char *line, const struct place *at, struct seen *seen,
                        struct charge *ret)
{
    char *end;
    unsigned long long from = strtoull(line, &end, 16);
    unsigned long long to = *end == '-' ? strtoull(end + 1, &end, 16) : from;
    unsigned long long inode, offset;
    unsigned long major, minor;

    if (strlen(end) < strlen(" rwxs "))
        return;
    offset = strtoull(end + 5, &end, 16);
    major = strtoul(end, &end, 16);
    minor = *end == ':' ? strtoul(end + 1, &end, 16) : 0;
    inode = strtoull(end, &end, 10);
    end += strspn(end, " ");
    /* The furthest that is mapped of it: it is at least as large. */
    if (is_shared_anonymous(end))
        find_shared(seen, inode, offset + (to - from));
    else if (at->scratch != 0 && strstr(end, " (deleted)") &&
             makedev((unsigned)major, (unsigned)minor) == at->scratch &&
             is_new(seen, KIND_DELETED, inode))
        ret->deleted_bytes += to - from;
}

static bool charge_maps(int proc, pid_t pid, const struct place *at, struct seen *seen,
                        struct charge *ret)
{
    char path[WATCH_PATH], line[512];
    bool is_start = true;
    FILE *maps;
    int fd;

    watch_path(proc, pid, "maps", path);
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    maps = fd < 0 ? NULL : fdopen(fd, "r");
    if (!maps) {
        gb_closep(&fd);
        return false;
    }
    while (seen->work++ <= WORK_MAX && fgets(line, sizeof(line), maps)) {
        if (is_start) { /* and not the rest of a long path */
            seen->mappings++;
            charge_line(line, at, seen, ret);
        }
        is_start = strchr(line, '\n') != NULL;
    }
    (void)fclose(maps);
    return true;
}

/* ---- the whole ---- */

/* What a process that shows neither could have. False if it is gone, and has nothing. */
static bool charge_hidden(int proc, pid_t pid, struct seen *seen)
{
    char path[WATCH_PATH], text[4096];
    const char *size, *fds;

    watch_path(proc, pid, "status", path);
    if (fd_slurp_at(proc, path, text, sizeof(text) - 1) <= 0)
        return false;
    size = strstr(text, "\nVmSize:");
    fds = strstr(text, "\nFDSize:");
    if (size && fds) /* a zombie has none, and holds nothing */
        seen->sockets += strtoull(fds + strlen("\nFDSize:"), NULL, 10);
    return size != NULL;
}

uint64_t charge_net(int proc)
{
    static const char head[] = "sockets: used ";
    char text[64];
    ssize_t n = fd_slurp_at(proc, "self/net/sockstat", text, sizeof(text) - 1);

    /* order: a look that cannot be had must not pass for an empty one */
    if (n < (ssize_t)sizeof(head) || memcmp(text, head, sizeof(head) - 1) != 0)
        return UINT64_MAX / 4;
    return strtoull(text + sizeof(head) - 1, NULL, 10) * SOCKET_BYTES;
}

static void add_up(const struct seen *seen, struct charge *ret)
{
    ret->socket_bytes = seen->sockets * SOCKET_BYTES;
    ret->pipe_bytes = seen->pipes * PIPE_BYTES;
    ret->object_bytes = seen->mappings * MAPPING_BYTES + seen->watches * WATCH_BYTES +
                        seen->locks * LOCK_BYTES + seen->files * FILE_BYTES +
                        seen->proc_files * (PROC_FILE_BYTES + seen->locks * LOCK_LINE_BYTES);
    if (seen->work > WORK_MAX)
        ret->object_bytes = UINT64_MAX / 4;
}

void charge_look(int proc, const pid_t *pids, size_t n, const struct charge_wish *wish,
                 struct charge *ret)
{
    static struct seen seen; /* of the box's single first process */
    static unsigned looks_hidden;
    struct place at = { .scratch = wish->device };
    struct stat st;

    *ret = (struct charge){ 0 };
    seen = (struct seen){ 0 };
    if (fstat(proc, &st) == 0)
        at.proc = st.st_dev;
    if (wish->maps)
        shared_begin_look();
    for (size_t i = 0; i < n; i++) {
        bool is_shown = (!wish->fds || charge_fds(proc, pids[i], &at, &seen, ret)) &&
                        (!wish->maps || charge_maps(proc, pids[i], &at, &seen, ret));
        if (!is_shown && charge_hidden(proc, pids[i], &seen))
            seen.is_hidden = true;
    }
    if (wish->maps)
        shared_end_look(seen.found, seen.n_found, !seen.is_hidden);
    if (wish->fds)
        looks_hidden = seen.is_hidden ? looks_hidden + 1 : 0;
    if (looks_hidden > HIDDEN_MAX)
        seen.work = WORK_MAX + 1;
    add_up(&seen, ret);
    ret->shared_bytes = shared_bytes();
}
