#include "sandbox/mounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

struct mounts *mounts_new(void)
{
    struct mounts *m = calloc(1, sizeof(*m));

    if (m)
        m->refs = 1;
    return m;
}

struct mounts *mounts_ref(struct mounts *m)
{
    if (m)
        m->refs++;
    return m;
}

static void mount_done(const struct mount *m)
{
    free(m->name);
    free(m->host);
}

struct mounts *mounts_unref(struct mounts *m)
{
    if (!m || --m->refs > 0)
        return NULL;
    for (size_t i = 0; i < m->n; i++)
        mount_done(&m->list[i]);
    free(m);
    return NULL;
}

int mounts_add(struct mounts *m, const char *name, const char *host, bool is_rw)
{
    auto_free char *name_copy = strdup(name), *host_copy = strdup(host);
    size_t at = 0;

    while (at < m->n && strcmp(m->list[at].name, name) != 0)
        at++;
    if (at == MOUNTS_MAX)
        return -ENOSPC;
    if (!name_copy || !host_copy)
        return -ENOMEM;
    if (at < m->n)
        mount_done(&m->list[at]);
    else
        m->n++;
    m->list[at] =
        (struct mount){ .name = take_ptr(name_copy), .host = take_ptr(host_copy), .is_rw = is_rw };
    return 0;
}

const struct mount *mounts_find(const struct mounts *m, const char *name)
{
    for (size_t i = 0; m && i < m->n; i++)
        if (strcmp(m->list[i].name, name) == 0)
            return &m->list[i];
    return NULL;
}

bool mounts_same(const struct mounts *a, const struct mounts *b)
{
    size_t n = a ? a->n : 0;

    if (a == b)
        return true;
    if (n != (b ? b->n : 0))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct mount *other = mounts_find(b, a->list[i].name);
        if (!other || other->is_rw != a->list[i].is_rw || strcmp(other->host, a->list[i].host) != 0)
            return false;
    }
    return true;
}

bool mounts_any_rw(const struct mounts *m)
{
    for (size_t i = 0; m && i < m->n; i++)
        if (m->list[i].is_rw)
            return true;
    return false;
}

bool path_is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    if (n == 1) /* the root */
        return true;
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}
