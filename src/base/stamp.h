#pragma once
/* What tells one state of a file from another. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct stamp {
    uint64_t dev, ino;
    int64_t size;
    int64_t mtime_ns;
    int64_t ctime_ns; /* the kernel's own: no program can set it back */
};

static inline struct stamp stamp_of(const struct stat *st)
{
    return (struct stamp){
        .dev = st->st_dev,
        .ino = st->st_ino,
        .size = st->st_size,
        .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        .ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
    };
}

static inline bool stamp_same(const struct stamp *a, const struct stamp *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}
