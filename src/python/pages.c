#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "python/pages.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

/* Where the heap's unbroken end begins: some allocations of this size may fall into holes, but not
 * all of them. */
static const char *end_of_heap(size_t size)
{
    enum {
        TRIES = 8
    };
    char *tries[TRIES], *highest = NULL;

    for (int i = 0; i < TRIES; i++) {
        tries[i] = malloc(size);
        if (tries[i] > highest)
            highest = tries[i];
    }
    for (int i = 0; i < TRIES; i++)
        free(tries[i]);
    return highest;
}

/* What is free between the objects that are there: a guest that takes memory from fifty such holes
 * writes to fifty pages, and each is copied for it. Filled, and never given back, they leave it
 * fresh memory in one piece. Where an allocator does not work its way up, the bound ends it. */
static void fill_holes(void)
{
    enum {
        STEP = 16,
        BIGGEST = 120 << 10, /* what is bigger is no part of the heap */
        FILL_MAX = 8 << 20
    };
    const char *edge = end_of_heap(BIGGEST);
    size_t filled = 0;

    for (size_t size = BIGGEST; size >= STEP && filled < FILL_MAX; size -= STEP) {
        char *p = malloc(size);
        for (; p && p < edge && filled < FILL_MAX; filled += size)
            p = malloc(size);
        free(p); /* which was the first behind the edge */
    }
}

/* The same for the interpreter's own allocator, which has a pool for each size; one is known to be
 * new by its first block. A page that a guest is the first to write to is also cheaper than one
 * that is copied for it. */
static void fill_pools(void)
{
    enum {
        STEP = 16,
        BIGGEST = 512,
        POOL = 16 << 10,
        HEAD = 48,
        TRIES = POOL / STEP
    };

    for (size_t size = STEP; size <= BIGGEST; size += STEP)
        for (int i = 0; i < TRIES && (uintptr_t)PyObject_Malloc(size) % POOL != HEAD; i++)
            ;
}

/* Of a line of /proc/self/maps: a private mapping of a file, not written to, of the interpreter or
 * the C library, and big enough that its tables are worth copying. */
static bool is_worth_keeping(const char *line, off_t *ret_at)
{
    enum {
        WORTH = 512 << 10
    };
    static const char libc[] = "/libc.", private[] = " r-xp", data[] = " r--p";
    const char *name = strrchr(line, '/');
    char *at;
    unsigned long from = strtoul(line, &at, 16), to = strtoul(*at ? at + 1 : at, &at, 16);

    *ret_at = (off_t)from;
    return name && to - from >= WORTH &&
           (strncmp(at, private, strlen(private)) == 0 || strncmp(at, data, strlen(data)) == 0) &&
           (strstr(name, "python") || strncmp(name, libc, strlen(libc)) == 0);
}

/* A fork does not copy the page tables of mappings that nobody has written to: every guest would
 * fault its way through the interpreter's text again. One byte written over itself makes it a
 * mapping whose tables are copied. Where the kernel forbids the write, guests are slower. */
static void keep_tables(void)
{
    auto_close int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    FILE *maps = mem >= 0 ? fopen("/proc/self/maps", "re") : NULL;
    char line[PATH_MAX + 128], byte;
    off_t at;

    while (maps && fgets(line, sizeof(line), maps))
        if (is_worth_keeping(line, &at) && pread(mem, &byte, 1, at) == 1)
            (void)!pwrite(mem, &byte, 1, at);
    if (maps)
        (void)fclose(maps);
}

void pages_prepare(void)
{
    keep_tables();
    pages_fill();
}

void pages_fill(void)
{
    fill_pools();
    fill_holes(); /* order: after what allocates much */
}
