/*
 * How this works: two bytes of the file carry locks (of the open file description, so that they
 * also hold between engines of one process). HELD is locked for reading by everybody who has the
 * file open to write, which tells a reader, and the next one to open it, whether an engine that has
 * not closed the file may still do so. WRITING is locked for writing around each append.
 *
 * Under that lock: is the path still this file (rotation)? Is its end where we left it? If so the
 * last line is the one that we know; if not, it is read. Then everything that there is to say goes
 * out in one write(), and a write that came short is taken back.
 */
#include "engine/trail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "engine/chain.h"

enum {
    HELD = 0,
    WRITING = 1,
    LOCK_WAIT_US = 2000000,
    LOCK_TIRED_US = 30000000, /* how long not to wait again for one that was not given back */
    LOCK_STEP_MAX_NS = 1000000,
    REOPEN_MAX = 8,
    FACTS_MAX = 512, /* of the lines that we write ourselves */
    LINES_MAX = 4 * (CHAIN_LINE_MAX + 1)
};

/* How far back to look for the last sound line: most often it is the very last. */
static const off_t look_back[] = { 4 << 10, 64 << 10, 1 << 20 };

struct trail {
    char *path; /* absolute */
    char id[TRAIL_ID + 1];
    int fd; /* -1: to be opened again */
    dev_t dev;
    ino_t ino;
    off_t end;              /* of the file after our last line; -1: not known */
    struct chain_link last; /* the line before that */
    struct chain_link own;  /* the last that we wrote, in whichever file */
    const char *moved;      /* why our lines are not before us any more, or NULL */
    bool is_opened;         /* we have said so in this file */
    uint64_t lost;
    int64_t tired_until; /* the lock is not waited for before then; 0: it is */
    struct gb_buf lines; /* what goes out next */
};

/* ---- locks ---- */

static int lock(int fd, int command, short type, off_t at)
{
    struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };

    if (fcntl(fd, command, &l) < 0)
        return -errno;
    return l.l_type;
}

/* Whoever holds it, holds it for microseconds; one who does not is not waited for. */
static int lock_patiently(int fd, short type, int64_t wait_us)
{
    int64_t until = clock_us() + wait_us;
    struct timespec step = { .tv_nsec = 20000 };
    int e;

    for (;;) {
        e = lock(fd, F_OFD_SETLK, type, WRITING);
        if ((e != -EAGAIN && e != -EACCES) || clock_us() > until)
            return e < 0 ? e : 0;
        (void)nanosleep(&step, NULL);
        if (step.tv_nsec < LOCK_STEP_MAX_NS)
            step.tv_nsec *= 2;
    }
}

bool trail_freeze(int fd)
{
    return lock_patiently(fd, F_RDLCK, LOCK_WAIT_US) == 0;
}

void trail_thaw(int fd)
{
    (void)lock(fd, F_OFD_SETLK, F_UNLCK, WRITING);
}

bool trail_is_held(int fd)
{
    return lock(fd, F_OFD_GETLK, F_WRLCK, HELD) == F_RDLCK;
}

/* ---- the file ---- */

static int fail_open(const struct trail *t, int e, struct gb_err *err)
{
    (void)gb_fail(err, GB_E_AUDIT, e == ELOOP ? 0 : e, "cannot open the audit file '%.120s'%s",
                  t->path, e == ELOOP ? ": it is a symbolic link" : "");
    if (e == ELOOP)
        return gb_fail_hint(err, "name the file that it points to");
    if (e == EACCES || e == EPERM || e == EROFS)
        return gb_fail_hint(err, "it must be readable and writable for the user who runs this");
    if (e == ENOENT || e == ENOTDIR)
        return gb_fail_hint(err, "the file is made when it is missing, its directory is not");
    return -1;
}

static int open_file(struct trail *t, struct gb_err *err)
{
    auto_close int fd =
        open(t->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK,
             0600);
    struct stat st;
    int e;

    if (fd < 0 || fstat(fd, &st) < 0)
        return fail_open(t, errno, err);
    if (!S_ISREG(st.st_mode)) {
        (void)gb_fail(err, GB_E_AUDIT, 0, "cannot use '%.120s' as an audit file: it is a %s",
                      t->path, S_ISFIFO(st.st_mode) ? "pipe" : "device");
        return gb_fail_hint(err, "each line needs the one before: name a regular file");
    }
    e = lock(fd, F_OFD_SETLK, F_RDLCK, HELD);
    if (e < 0)
        return gb_fail(err, GB_E_AUDIT, -e, "cannot lock the audit file '%.120s'", t->path);
    t->fd = take_fd(&fd);
    t->dev = st.st_dev;
    t->ino = st.st_ino;
    t->end = -1;
    t->is_opened = false;
    return 0;
}

static void drop_file(struct trail *t)
{
    gb_closep(&t->fd);
    t->fd = -1;
}

/* Is what the path names still what we have open? */
static bool is_current(const struct trail *t)
{
    struct stat st;

    return stat(t->path, &st) == 0 && st.st_dev == t->dev && st.st_ino == t->ino;
}

/* ---- where the chain stands ---- */

struct tail {
    struct chain_link last;
    off_t size;
    uint64_t damaged; /* bytes after the last sound line */
};

static int read_at(int fd, char *data, size_t len, off_t at)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pread(fd, data + done, len - done, at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO; /* it shrank under our lock */
        done += (size_t)n;
    }
    return 0;
}

/* How many of the first `len` bytes go up to and with their last newline; 0: there is none. */
static size_t through_newline(const char *data, size_t len)
{
    while (len > 0 && data[len - 1] != '\n')
        len--;
    return len;
}

/* The last sound line in these bytes, which end the file. `whole`: they are all of it, so that the
 * first of them begins a line. */
static bool find_sound(const char *data, size_t len, bool whole, struct tail *ret)
{
    for (size_t end = through_newline(data, len); end > 0;) {
        size_t start = through_newline(data, end - 1);
        struct chain_line line;

        if (start == 0 && !whole)
            return false;
        if (chain_read(data + start, end - 1 - start, &line) == CHAIN_SOUND) {
            ret->last = line.link;
            ret->damaged = len - end;
            chain_line_done(&line);
            return true;
        }
        end = start;
    }
    return false;
}

/* Returns whether the end is understood; -errno. */
static int look(int fd, off_t span, struct tail *ret)
{
    bool whole = span >= ret->size;
    size_t len = (size_t)(whole ? ret->size : span);
    auto_free char *data = malloc(len);
    int e;

    if (!data)
        return -ENOMEM;
    e = read_at(fd, data, len, ret->size - (off_t)len);
    if (e < 0)
        return e;
    if (find_sound(data, len, whole, ret))
        return true;
    if (!whole || !chain_is_begun(data, len))
        return false;
    ret->last = chain_start(); /* not even the first line was finished */
    ret->damaged = len;
    return true;
}

static int find_tail(const struct trail *t, struct tail *ret, struct gb_err *err)
{
    int found = 0;

    ret->last = chain_start();
    if (ret->size == 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(look_back) && found == 0; i++)
        found = look(t->fd, look_back[i], ret);
    if (found < 0)
        return gb_fail(err, GB_E_AUDIT, -found, "cannot read the audit file '%.120s'", t->path);
    if (found > 0)
        return 0;
    (void)gb_fail(err, GB_E_AUDIT, 0, "'%.120s' does not end like an audit file: nothing is added",
                  t->path);
    return gb_fail_hint(err, "name another file, or move this one away: a new one is then begun");
}

/* Does the last line that we know still end where it did? A file that was emptied and filled again
 * by others may by now be as long as it was, or longer. */
static bool is_in_place(const struct trail *t)
{
    char want[DIGEST_HEX + sizeof("\"}\n")], have[sizeof(want)];
    size_t len = (size_t)snprintf(want, sizeof(want), "%s\"}\n", t->last.hash);

    return t->end < (off_t)len ||
           (read_at(t->fd, have, len, t->end - (off_t)len) == 0 && memcmp(want, have, len) == 0);
}

static int stand(struct trail *t, struct tail *ret, struct gb_err *err)
{
    struct stat st;

    if (fstat(t->fd, &st) < 0)
        return gb_fail(err, GB_E_AUDIT, errno, "cannot read the audit file '%.120s'", t->path);
    *ret = (struct tail){ .size = st.st_size, .last = t->last };
    bool is_there = st.st_size >= t->end && is_in_place(t);
    if (is_there && st.st_size == t->end)
        return 0;
    if (!is_there) { /* somebody cut off what we had written or seen */
        t->moved = "shortened";
        t->is_opened = false;
    }
    return find_tail(t, ret, err);
}

/* ---- writing ---- */

/* Lines of our own accord, before the one that was asked for. */
static int add_preface(struct trail *t, struct tail *tail, struct gb_err *err)
{
    char facts[FACTS_MAX], after[200] = "";
    int r = 0;

    if (tail->damaged > 0) {
        (void)snprintf(facts, sizeof(facts), "{\"engine\":\"%s\",\"damaged_bytes\":%" PRIu64 "}",
                       t->id, tail->damaged);
        r = chain_add(&t->lines, &tail->last, "recovered", facts, err);
    }
    if (r == 0 && !t->is_opened) {
        if (t->moved && t->own.seq > 0)
            (void)snprintf(after, sizeof(after),
                           ",\"because\":\"%s\",\"after_seq\":%" PRIu64 ",\"after_hash\":\"%s\"",
                           t->moved, t->own.seq, t->own.hash);
        (void)snprintf(facts, sizeof(facts),
                       "{\"engine\":\"%s\",\"glovebox\":\"%s\",\"alone\":%s%s}", t->id,
                       GLOVEBOX_VERSION, trail_is_held(t->fd) ? "false" : "true", after);
        r = chain_add(&t->lines, &tail->last, "opened", facts, err);
    }
    if (r == 0 && t->lost > 0) {
        (void)snprintf(facts, sizeof(facts), "{\"engine\":\"%s\",\"events\":%" PRIu64 "}", t->id,
                       t->lost);
        r = chain_add(&t->lines, &tail->last, "lost", facts, err);
    }
    return r;
}

/* All of it or nothing. */
static int put(const struct trail *t, off_t size, struct gb_err *err)
{
    ssize_t n;
    int e;

    do
        n = write(t->fd, t->lines.data, t->lines.len);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)t->lines.len)
        return 0;
    e = n < 0 ? errno : ENOSPC;
    if (n > 0) /* should it stay, the next writer recovers from it */
        (void)!ftruncate(t->fd, size);
    return gb_fail(err, GB_E_AUDIT, e, "cannot write the audit file '%.120s'", t->path);
}

/* Under the lock. */
static int append(struct trail *t, const char *event, const char *facts, struct gb_err *err)
{
    struct tail tail;

    if (stand(t, &tail, err) < 0)
        return -1;
    t->lines.len = 0;
    if (tail.damaged > 0 && gb_buf_add(&t->lines, "\n", 1, err) < 0)
        return -1;
    if (add_preface(t, &tail, err) < 0 || chain_add(&t->lines, &tail.last, event, facts, err) < 0 ||
        put(t, tail.size, err) < 0)
        return -1;
    t->last = t->own = tail.last;
    t->end = tail.size + (off_t)t->lines.len;
    t->is_opened = true;
    t->moved = NULL;
    t->lost = 0;
    return 0;
}

/* Say good-bye to a file. Under its lock. */
static void close_chain(struct trail *t)
{
    char facts[FACTS_MAX];
    struct gb_err ignored; /* there is nobody to tell */

    (void)snprintf(facts, sizeof(facts), "{\"engine\":\"%s\"}", t->id);
    if (t->is_opened && append(t, "closed", facts, &ignored) == 0)
        t->is_opened = false;
}

/* Waiting holds up whatever else the engine does: once is enough. */
static int lock_writing(struct trail *t)
{
    int64_t now = clock_us();
    int e = lock_patiently(t->fd, F_WRLCK, now < t->tired_until ? 0 : LOCK_WAIT_US);

    if (e == 0)
        t->tired_until = 0;
    else if (now >= t->tired_until)
        t->tired_until = now + LOCK_TIRED_US;
    return e;
}

/* Open if need be, and lock. What was moved away is let go: the lines go where the path points. */
static int lock_file(struct trail *t, struct gb_err *err)
{
    for (int i = 0; i < REOPEN_MAX; i++) {
        int e;

        if (t->fd < 0 && open_file(t, err) < 0)
            return -1;
        e = lock_writing(t);
        if (e < 0) {
            (void)gb_fail(err, GB_E_AUDIT, -e, "cannot lock the audit file '%.120s'", t->path);
            return gb_fail_hint(err, "another process may hold its lock and be stopped");
        }
        if (is_current(t))
            return 0;
        close_chain(t);
        drop_file(t);
        t->moved = "replaced";
    }
    return gb_fail(err, GB_E_AUDIT, 0, "the audit file '%.120s' is replaced again and again",
                   t->path);
}

int trail_write(struct trail *t, const char *event, const char *facts, struct gb_err *err)
{
    int r = lock_file(t, err);

    if (r == 0) {
        r = append(t, event, facts, err);
        trail_thaw(t->fd);
    }
    if (r < 0)
        t->lost++;
    return r;
}

/* ---- life ---- */

static char *absolute(const char *path)
{
    char here[PATH_MAX];
    char *full = NULL;

    if (path[0] == '/')
        return strdup(path);
    if (!getcwd(here, sizeof(here)) || asprintf(&full, "%s/%s", here, path) < 0)
        return NULL;
    return full;
}

/* Look at the file before anything depends on it. */
static int inspect(struct trail *t, struct gb_err *err)
{
    struct tail tail;
    int r = lock_file(t, err);

    if (r == 0) {
        r = stand(t, &tail, err);
        trail_thaw(t->fd);
    }
    return r;
}

static struct trail *trail_free(struct trail *t)
{
    drop_file(t);
    gb_buf_done(&t->lines);
    free(t->path);
    free(t);
    return NULL;
}

int trail_open(const char *path, struct trail **ret, struct gb_err *err)
{
    struct trail *t = calloc(1, sizeof(*t));
    uint64_t id = 0;

    if (!t)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "opening the audit file");
    t->fd = -1;
    t->end = -1;
    gb_buf_init(&t->lines, LINES_MAX);
    t->path = absolute(path);
    if (!t->path || getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
        (void)gb_fail(err, GB_E_SYSTEM, errno, "opening the audit file");
    else if (inspect(t, err) == 0) {
        (void)snprintf(t->id, sizeof(t->id), "%016" PRIx64, id);
        t->moved = NULL;
        *ret = t;
        return 0;
    }
    trail_free(t);
    return -1;
}

const char *trail_id(const struct trail *t)
{
    return t->id;
}

void trail_rest(struct trail *t)
{
    struct gb_err ignored;

    if (!t->is_opened || lock_file(t, &ignored) < 0)
        return;
    close_chain(t); /* unless that was just done, in a file that was moved away */
    trail_thaw(t->fd);
}

struct trail *trail_close(struct trail *t)
{
    if (!t)
        return NULL;
    trail_rest(t);
    return trail_free(t);
}
