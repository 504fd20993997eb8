#include "cli/edit.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "glovebox.h"

/* ---- plain lines ---- */

struct edit {
    const volatile int *stop;
    char *line;
    size_t room;
};

static struct edit *plain_open(const char *history, const volatile int *stop)
{
    struct edit *e = calloc(1, sizeof(*e));

    (void)history;
    if (e)
        e->stop = stop;
    return e;
}

static enum edit_state plain_line(struct edit *e, const char *prompt, const char **ret)
{
    ssize_t len;

    if (isatty(STDIN_FILENO)) {
        (void)fputs(prompt, stdout);
        (void)fflush(stdout);
    }
    errno = 0;
    len = getline(&e->line, &e->room, stdin);
    if (len < 0) {
        clearerr(stdin);
        return *e->stop ? EDIT_INTERRUPTED : EDIT_END;
    }
    if (len > 0 && e->line[len - 1] == '\n')
        e->line[len - 1] = '\0';
    *ret = e->line;
    return EDIT_LINE;
}

static void plain_remember(struct edit *e, const char *text)
{
    (void)e;
    (void)text;
}

static void plain_close(struct edit *e)
{
    free(e->line);
    free(e);
}

static const struct edit_ops plain = { .abi = EDIT_ABI,
                                       .open = plain_open,
                                       .line = plain_line,
                                       .remember = plain_remember,
                                       .close = plain_close };

/* ---- the module ---- */

/* Beside the library, as in a build tree, or in its folder there, as installed. */
static void *load(void)
{
    static const char *const below[] = { "", "glovebox/" };
    char library[PATH_MAX], path[2 * PATH_MAX];
    union {
        const char *(*function)(void);
        const void *address;
    } known = { gb_version };
    void *module = NULL;
    Dl_info info;
    char *slash;

    if (dladdr(known.address, &info) == 0 || !realpath(info.dli_fname, library))
        return NULL;
    slash = strrchr(library, '/');
    slash[1] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(below) && !module; i++) {
        (void)snprintf(path, sizeof(path), "%s%s" EDIT_MODULE, library, below[i]);
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return module;
}

const struct edit_ops *edit_ops(bool is_terminal)
{
    const struct edit_ops *ops;
    void *module = is_terminal ? load() : NULL;

    ops = module ? dlsym(module, EDIT_SYMBOL) : NULL;
    return ops && ops->abi == EDIT_ABI ? ops : &plain;
}
