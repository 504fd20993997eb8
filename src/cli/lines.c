/*
 * How this works: one reader thread, one consumer. The reader fills a ring of `ahead` lines and
 * waits on `room` when it is full. It wakes the engine only when the ring was empty, since a
 * consumer that left lines in it is waiting for a job to end and will look again by itself.
 * lines_closep() makes `stop_fd` readable, so that a reader in poll() ends too.
 */
#include "cli/lines.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/own.h"
#include "cli/signals.h"
#include "glovebox.h"

#define CHUNK_BYTES ((size_t)64 * 1024)

struct lines {
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members down to `error` */
    pthread_cond_t room;
    struct line *ring;
    size_t size;
    size_t first;
    size_t count;
    bool is_stopping;
    bool is_ended;
    struct gb_err error; /* code GB_OK: none */

    /* the reader's own */
    int fd;
    int stop_fd;
    struct gb_engine *engine;
    struct gb_buf partial; /* the beginning of a line whose end has not come */
    bool is_too_long;
    uint64_t number;
    uint64_t offset;
};

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return false;
    }
    return true;
}

/* Hand one line to the consumer. False when there is no consumer any more. */
static bool push(struct lines *l, struct line line)
{
    pthread_mutex_lock(&l->lock);
    while (l->count == l->size && !l->is_stopping)
        pthread_cond_wait(&l->room, &l->lock);

    bool is_stopping = l->is_stopping;
    bool was_empty = l->count == 0;
    if (!is_stopping) {
        l->ring[(l->first + l->count) % l->size] = line;
        l->count++;
    }
    pthread_mutex_unlock(&l->lock);

    if (is_stopping)
        free(line.text);
    else if (was_empty)
        gb_wake(l->engine);
    return !is_stopping;
}

/* The line in `partial` is complete. Returns false when reading must stop. */
static bool finish_line(struct lines *l, struct gb_err *err)
{
    struct line line = { .number = ++l->number, .end_offset = l->offset };
    size_t len = l->partial.len;

    if (l->is_too_long) {
        line.problem = "the line is longer than 8 MiB";
    } else if (is_blank(l->partial.data, len)) {
        l->partial.len = 0;
        return true;
    } else if (memchr(l->partial.data, '\0', len)) {
        line.problem = "the line contains a NUL byte";
    } else {
        line.text = strndup(l->partial.data, len);
        if (!line.text) {
            gb_err_set(err, GB_E_SYSTEM, ENOMEM, "reading the requests");
            return false;
        }
    }
    l->is_too_long = false;
    l->partial.len = 0;
    return push(l, line);
}

/* Cut what was read into lines. */
static bool take_chunk(struct lines *l, const char *data, size_t len, struct gb_err *err)
{
    while (len > 0) {
        const char *newline = memchr(data, '\n', len);
        size_t part = newline ? (size_t)(newline - data) : len;

        l->offset += part + (newline ? 1 : 0);
        l->is_too_long = l->is_too_long || part > LINE_BYTES_MAX - l->partial.len;
        if (!l->is_too_long && gb_buf_add(&l->partial, data, part, err) < 0)
            return false;
        if (!newline)
            return true;
        if (!finish_line(l, err))
            return false;
        data += part + 1;
        len -= part + 1;
    }
    return true;
}

/* Wait for input and read some. Returns the number of bytes, 0 at the end, -1 to stop. */
static ssize_t read_chunk(const struct lines *l, char *chunk, struct gb_err *err)
{
    struct pollfd fds[] = { { .fd = l->fd, .events = POLLIN },
                            { .fd = l->stop_fd, .events = POLLIN } };

    for (;;) {
        ssize_t n = poll(fds, ARRAY_LEN(fds), -1);
        if (n >= 0 && fds[1].revents)
            return -1;
        if (n >= 0)
            n = read(l->fd, chunk, CHUNK_BYTES);
        if (n >= 0)
            return n;
        if (errno != EINTR && errno != EAGAIN)
            return gb_fail(err, GB_E_SYSTEM, errno, "reading the requests");
    }
}

static void *reader_main(void *data)
{
    struct lines *l = data;
    struct gb_err err = { 0 };
    auto_free char *chunk = malloc(CHUNK_BYTES);
    ssize_t n = 0;

    if (!chunk)
        gb_err_set(&err, GB_E_SYSTEM, ENOMEM, "reading the requests");
    while (chunk) {
        n = read_chunk(l, chunk, &err);
        if (n <= 0 || !take_chunk(l, chunk, (size_t)n, &err))
            break;
    }
    if (n == 0 && err.code == GB_OK && (l->partial.len > 0 || l->is_too_long))
        (void)finish_line(l, &err);

    pthread_mutex_lock(&l->lock);
    l->is_ended = true;
    l->error = err;
    pthread_mutex_unlock(&l->lock);
    gb_wake(l->engine);
    return NULL;
}

static void lines_free(struct lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->ring[(l->first + i) % l->size].text);
    gb_buf_done(&l->partial);
    gb_closep(&l->stop_fd);
    pthread_cond_destroy(&l->room);
    pthread_mutex_destroy(&l->lock);
    free(l->ring);
    free(l);
}

int lines_open(int fd, size_t ahead, struct gb_engine *engine, struct lines **ret,
               struct gb_err *err)
{
    struct lines *l = calloc(1, sizeof(*l));
    sigset_t mask;
    int rc = 0;

    if (!l)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading the requests");
    *l = (struct lines){ .fd = fd, .engine = engine, .size = ahead };
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->room, NULL);
    gb_buf_init(&l->partial, LINE_BYTES_MAX);
    l->ring = calloc(ahead, sizeof(*l->ring));
    l->stop_fd = eventfd(0, EFD_CLOEXEC);

    /* Signals are for the main thread: they must interrupt its write(), not our read(). */
    signals_block(&mask);
    if (!l->ring || l->stop_fd < 0)
        rc = errno;
    else
        rc = pthread_create(&l->thread, NULL, reader_main, l);
    signals_restore(&mask);

    if (rc != 0) {
        lines_free(l);
        return gb_fail(err, GB_E_SYSTEM, rc, "starting to read the requests");
    }
    *ret = l;
    return 0;
}

enum lines_state lines_next(struct lines *l, struct line *ret, struct gb_err *err)
{
    enum lines_state state = LINES_WAIT;

    pthread_mutex_lock(&l->lock);
    if (l->count > 0) {
        *ret = l->ring[l->first];
        l->first = (l->first + 1) % l->size;
        l->count--;
        pthread_cond_signal(&l->room);
        state = LINES_ONE;
    } else if (l->is_ended) {
        *err = l->error;
        state = l->error.code == GB_OK ? LINES_END : LINES_ERROR;
    }
    pthread_mutex_unlock(&l->lock);
    return state;
}

void lines_closep(struct lines **l)
{
    const uint64_t one = 1;

    if (!*l)
        return;
    pthread_mutex_lock(&(*l)->lock);
    (*l)->is_stopping = true;
    pthread_cond_signal(&(*l)->room);
    pthread_mutex_unlock(&(*l)->lock);
    (void)!write((*l)->stop_fd, &one, sizeof(one));
    pthread_join((*l)->thread, NULL);
    lines_free(*l);
}
