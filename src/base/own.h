#pragma once
/* Ownership that shows in the declaration: an owned local is declared with auto_* and an empty
 * value; ownership leaves it only through take_*. */
#include <stdlib.h>
#include <unistd.h>

static inline void gb_freep(void *p)
{
    free(*(void **)p);
}

static inline void gb_closep(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

#define auto_free  __attribute__((cleanup(gb_freep)))
#define auto_close __attribute__((cleanup(gb_closep)))

static inline int take_fd(int *fd)
{
    int out = *fd;
    *fd = -1;
    return out;
}

#define take_ptr(p)               \
    __extension__({               \
        __typeof__(p) _out = (p); \
        (p) = NULL;               \
        _out;                     \
    })

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
