#include "engine/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"

static const char *const names[] = { "stdout", "stderr" };

void spill_init(struct spill *s, const char *dir, uint64_t limit)
{
    *s = (struct spill){ .dir = dir, .limit = limit, .files = { { .fd = -1 }, { .fd = -1 } } };
}

void spill_done(struct spill *s)
{
    for (size_t i = 0; i < ARRAY_LEN(s->files); i++) {
        gb_closep(&s->files[i].fd);
        free(s->files[i].path);
        s->files[i] = (struct spill_file){ .fd = -1 };
    }
}

/* A name that nobody has, and that no link can lead elsewhere. */
static void open_file(struct spill *s, int stream)
{
    struct spill_file *f = &s->files[stream];
    uint64_t random = 0;

    (void)!getrandom(&random, sizeof(random), 0);
    if (asprintf(&f->path, "%s/%016llx.%s", s->dir, (unsigned long long)random, names[stream]) <
        0) {
        f->path = NULL;
        f->error = ENOMEM;
        return;
    }
    f->fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (f->fd < 0)
        f->error = errno;
}

void spill_add(struct spill *s, int stream, const char *bytes, size_t len)
{
    struct spill_file *f = &s->files[stream];
    uint64_t room = s->limit - f->written;
    size_t n = len < room ? len : (size_t)room;
    int e;

    f->came += len;
    if (!s->dir || f->error != 0)
        return;
    if (f->fd < 0)
        open_file(s, stream);
    if (f->fd < 0 || n == 0)
        return;
    e = fd_write_all(f->fd, bytes, n);
    if (e < 0) { /* part of it may be there */
        off_t end = lseek(f->fd, 0, SEEK_CUR);
        f->error = -e;
        f->written = end < 0 ? f->written : (uint64_t)end;
    } else {
        f->written += n;
    }
}

static json_t *file_json(const struct spill_file *f)
{
    json_t *json;

    if (f->came == 0)
        return json_null();
    json =
        json_pack("{s:o,s:I,s:b}", "path", f->fd >= 0 ? json_lossy(f->path) : json_null(), "bytes",
                  (json_int_t)f->written, "complete", f->error == 0 && f->written == f->came);
    if (f->error != 0)
        json_object_set_new(json, "error", json_lossy(strerror(f->error)));
    return json;
}

json_t *spill_json(const struct spill *s)
{
    return json_pack("{s:o,s:o}", names[0], file_json(&s->files[0]), names[1],
                     file_json(&s->files[1]));
}
