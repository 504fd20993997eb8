#include "python/away.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own.h"

enum {
    RANGES_MAX = 1024,
    WORTH_KB = 64 /* of pages that a fork would copy */
};

struct range {
    char *from, *to;
    int prot;
};

struct ranges {
    struct range them[RANGES_MAX];
    size_t n;
};

/* Static: nothing may be allocated, or freed, while memory is on its way. */
static struct ranges arenas, chosen;

static void add(struct ranges *to, const struct range *it)
{
    if (to->n < RANGES_MAX)
        to->them[to->n++] = *it;
}

/* ---- the interpreter's own memory ---- */

/* Only what its allocator has is put away, and what the C library and the loader have. Others may
 * count on finding zeros where they gave memory back to the kernel (jemalloc does), and would find
 * what was there before. */

/* Of the interpreter's interface, but not of the part that all versions promise to have: so it is
 * looked up, and may be missing. */
struct arena_allocator {
    void *ctx;
    void *(*alloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *ptr, size_t size);
};

static struct arena_allocator usual; /* empty where nothing is watched */

static void *arena_alloc(void *ctx, size_t size)
{
    void *p = usual.alloc(ctx, size);

    if (p)
        add(&arenas, &(struct range){ p, (char *)p + size, PROT_READ | PROT_WRITE });
    return p;
}

static void arena_free(void *ctx, void *ptr, size_t size)
{
    for (size_t i = 0; i < arenas.n; i++)
        if (arenas.them[i].from == ptr)
            arenas.them[i] = arenas.them[--arenas.n];
    usual.free(ctx, ptr, size);
}

typedef void arena_fn(struct arena_allocator *);

static arena_fn *arena_function(const char *name)
{
    union {
        void *object;
        arena_fn *function;
    } found = { .object = dlsym(RTLD_DEFAULT, name) };

    return found.function;
}

void away_watch(void)
{
    arena_fn *get = arena_function("PyObject_GetArenaAllocator");
    arena_fn *set = arena_function("PyObject_SetArenaAllocator");
    struct arena_allocator ours;

    if (!get || !set)
        return;
    get(&usual);
    ours = (struct arena_allocator){ usual.ctx, arena_alloc, arena_free };
    set(&ours);
}

void away_unwatch(void)
{
    if (usual.alloc)
        arena_function("PyObject_SetArenaAllocator")(&usual);
}

/* ---- what is put away ---- */

static char *read_address(const char *text, char **ret_end)
{
    union {
        uintptr_t number;
        char *address;
    } read = { .number = strtoul(text, ret_end, 16) };

    return read.address;
}

/* "FROM-TO rw-p OFFSET DEVICE INODE PATH": the heap, or data of a program or a library. */
static bool read_range(const char *line, struct range *ret)
{
    static const char heap[] = "[heap]\n";
    const char *path = strpbrk(line, "/[");
    char *at;

    ret->from = read_address(line, &at);
    ret->to = read_address(*at ? at + 1 : at, &at);
    ret->prot = strncmp(at, " rw", 3) == 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    return path && (path[0] == '/' || strcmp(path, heap) == 0) &&
           (strncmp(at, " rw-p", 5) == 0 || strncmp(at, " r--p", 5) == 0);
}

/* From /proc/self/smaps, where each mapping's line is followed by others, in none of which there is
 * a hyphen before the first space. */
static void choose(void)
{
    static const char copied[] = "Anonymous:";
    FILE *smaps = fopen("/proc/self/smaps", "re");
    char line[PATH_MAX + 128];
    struct range range = { 0 };
    bool is_wanted = false;

    chosen = arenas;
    while (smaps && fgets(line, sizeof(line), smaps)) {
        if (strcspn(line, "-") < strcspn(line, " "))
            is_wanted = read_range(line, &range);
        else if (is_wanted && strncmp(line, copied, strlen(copied)) == 0 &&
                 strtoul(line + strlen(copied), NULL, 10) >= WORTH_KB)
            add(&chosen, &range);
    }
    if (smaps)
        (void)fclose(smaps);
}

static int by_address(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

/* ---- putting it away ---- */

static bool copy_range(int file, off_t at, const struct range *r)
{
    for (const char *from = r->from; from < r->to;) {
        ssize_t n = pwrite(file, from, (size_t)(r->to - from), at);

        if (n <= 0)
            return false;
        from += n;
        at += n;
    }
    return true;
}

/* Memory that a guest only reads is to count as shared with this process, as memory that a fork has
 * copied does; this process has it all, beside the places where it is used. */
static void stay_mapped(int file, size_t size)
{
    void *all = mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);

    if (all != MAP_FAILED)
        (void)madvise(all, size, MADV_DONTFORK);
}

/* In ascending order, so that what is side by side becomes one mapping. Nothing may be written to
 * any of it between the copy and the mapping: so no library is called here but for system calls. */
static bool exchange(int file)
{
    off_t at = 0;

    for (size_t i = 0; i < chosen.n; i++) {
        if (!copy_range(file, at, &chosen.them[i]))
            return false;
        at += chosen.them[i].to - chosen.them[i].from;
    }
    if (fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
        return false;
    stay_mapped(file, (size_t)at);
    at = 0;
    for (size_t i = 0; i < chosen.n; i++) {
        const struct range *r = &chosen.them[i];
        size_t size = (size_t)(r->to - r->from);

        if (mmap(r->from, size, r->prot, MAP_PRIVATE | MAP_FIXED, file, at) == MAP_FAILED)
            _exit(1); /* what was there may be gone: the engine starts another */
        at += (off_t)size;
    }
    return true;
}

void away_put(void)
{
    auto_close int file = memfd_create("glovebox-away", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    sigset_t all, before;

    if (file < 0 || !usual.alloc)
        return;
    choose();
    qsort(chosen.them, chosen.n, sizeof(chosen.them[0]), by_address);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    (void)exchange(file);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}
