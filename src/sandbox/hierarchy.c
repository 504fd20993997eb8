#include "sandbox/hierarchy.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/own.h"

struct span {
    const char *at;
    size_t len;
};

static bool is_text(struct span s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.at, text, s.len) == 0;
}

/* What comes before the next `end`, and go behind it; not beyond the line. */
static struct span next(const char **at, char end)
{
    const char stops[] = { end, '\n', '\0' };
    struct span s = { *at, strcspn(*at, stops) };

    *at += s.len;
    if (**at == end)
        ++*at;
    return s;
}

/* Is the word one of those between commas? */
static bool has_word(struct span list, const char *word)
{
    const char *at = list.at, *end = list.at + list.len;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        struct span one = { at, (size_t)((comma ? comma : end) - at) };

        if (is_text(one, word))
            return true;
        at += one.len + 1;
    }
    return false;
}

/* ---- /proc/self/cgroup: "NUMBER:CONTROLLERS:/PATH" ---- */

static bool find_group(const char *groups, const char *controller, struct span *ret)
{
    const char *at = groups;

    while (*at) {
        struct span number = next(&at, ':');
        struct span controllers = next(&at, ':');
        struct span path = next(&at, '\n');
        bool is_it = controller ? has_word(controllers, controller)
                                : is_text(number, "0") && controllers.len == 0;

        if (is_it) {
            *ret = path;
            return true;
        }
    }
    return false;
}

/* ---- /proc/self/mountinfo ---- */

/* "ID PARENT DEVICE ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPER" */
struct mount_line {
    struct span root, point, options, type, super;
};

static bool read_mount(const char *line, struct mount_line *ret)
{
    const char *at = line, *rest = strstr(line, " - ");

    if (!rest)
        return false;
    for (int i = 0; i < 3; i++)
        (void)next(&at, ' ');
    ret->root = next(&at, ' ');
    ret->point = next(&at, ' ');
    ret->options = next(&at, ' ');
    rest += strlen(" - ");
    ret->type = next(&rest, ' ');
    (void)next(&rest, ' ');
    ret->super = next(&rest, ' ');
    return true;
}

static bool is_of(const struct mount_line *m, const char *controller)
{
    if (!controller)
        return is_text(m->type, "cgroup2");
    return is_text(m->type, "cgroup") && has_word(m->super, controller);
}

static bool copy(char to[PATH_MAX], struct span a, struct span b)
{
    return snprintf(to, PATH_MAX, "%.*s%.*s", (int)a.len, a.at, (int)b.len, b.at) < PATH_MAX;
}

/* The part of the hierarchy that is mounted begins at `root`: what of the path is below that. */
static bool below(struct span path, struct span root, struct span *ret)
{
    if (is_text(root, "/"))
        root.len = 0;
    if (path.len < root.len || memcmp(path.at, root.at, root.len) != 0 ||
        (path.len > root.len && path.at[root.len] != '/'))
        return false;
    *ret = (struct span){ path.at + root.len, path.len - root.len };
    if (is_text(*ret, "/"))
        ret->len = 0;
    return true;
}

static bool read_hierarchy(const struct mount_line *m, struct span group, struct hierarchy *ret)
{
    struct span inside, none = { "", 0 };

    ret->is_read_only = has_word(m->options, "ro") || has_word(m->super, "ro");
    if (!copy(ret->point, m->point, none))
        return false;
    if (!below(group, m->root, &inside) || !copy(ret->own, m->point, inside))
        ret->own[0] = '\0';
    return true;
}

static bool is_usable(const struct hierarchy *h)
{
    return h->own[0] != '\0' && !h->is_read_only;
}

bool hierarchy_find(FILE *mountinfo, const char *groups, const char *controller,
                    struct hierarchy *ret)
{
    auto_free struct hierarchy *one = malloc(sizeof(*one));
    auto_free char *line = NULL;
    bool is_found = false;
    struct span group;
    size_t size = 0;

    if (!one || !find_group(groups, controller, &group))
        return false;
    while (getline(&line, &size, mountinfo) > 0) {
        struct mount_line m;

        if (!read_mount(line, &m) || !is_of(&m, controller) || !read_hierarchy(&m, group, one))
            continue;
        if (!is_found || is_usable(one))
            *ret = *one;
        is_found = true;
        if (is_usable(ret))
            break;
    }
    return is_found;
}

bool hierarchy_of_host(const char *controller, struct hierarchy *ret)
{
    char groups[8192];
    FILE *mounts;
    bool is_found;

    if (fd_slurp_at(AT_FDCWD, "/proc/self/cgroup", groups, sizeof(groups) - 1) <= 0)
        return false;
    mounts = fopen("/proc/self/mountinfo", "re");
    if (!mounts)
        return false;
    is_found = hierarchy_find(mounts, groups, controller, ret);
    (void)fclose(mounts);
    return is_found;
}
