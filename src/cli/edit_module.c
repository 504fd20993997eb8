/* glovebox-edit.so: editing by libedit. */
#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/own.h"
#include "cli/edit.h"

enum {
    HISTORY_LINES = 1000
};

struct edit {
    EditLine *el;
    History *history;
    char *path; /* of the history, or NULL */
    const char *prompt;
    const volatile int *stop;
    char *line;
    mbstate_t state;
};

static char *prompt_of(EditLine *el)
{
    static char text[64];
    struct edit *e = NULL;

    (void)el_get(el, EL_CLIENTDATA, &e);
    (void)strncpy(text, e->prompt, sizeof(text) - 1);
    return text;
}

/* libedit's own goes on reading after a signal. */
static int get_char(EditLine *el, wchar_t *ret)
{
    struct edit *e = NULL;
    char byte;

    (void)el_get(el, EL_CLIENTDATA, &e);
    for (;;) {
        ssize_t n = *e->stop ? -1 : read(STDIN_FILENO, &byte, 1);
        size_t len;

        if (*e->stop)
            errno = EINTR;
        if (n < 0 && errno == EINTR && !*e->stop)
            continue;
        if (n <= 0)
            return (int)n;
        /* A Ctrl-D that came before the terminal was ours: an end of file then, a NUL now. */
        if (byte == '\0')
            byte = 'D' - '@';
        len = mbrtowc(ret, &byte, 1, &e->state);
        if (len == 1)
            return 1;
        if (len == (size_t)-1) { /* no character: as what it is */
            memset(&e->state, 0, sizeof(e->state));
            *ret = L'?';
            return 1;
        }
    }
}

static void edit_close(struct edit *e)
{
    HistEvent event;

    if (e->history && e->path)
        (void)history(e->history, &event, H_SAVE, e->path);
    if (e->history)
        history_end(e->history);
    if (e->el)
        el_end(e->el);
    free(e->path);
    free(e->line);
    free(e);
}

static struct edit *edit_open(const char *path, const volatile int *stop)
{
    struct edit *e = calloc(1, sizeof(*e));
    HistEvent event;

    if (!e)
        return NULL;
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
    e->stop = stop;
    e->path = path ? strdup(path) : NULL;
    e->el = el_init("glovebox", stdin, stdout, stderr);
    e->history = history_init();
    if (!e->el || !e->history) {
        edit_close(e);
        return NULL;
    }
    (void)history(e->history, &event, H_SETSIZE, HISTORY_LINES);
    (void)history(e->history, &event, H_SETUNIQUE, 1);
    if (e->path)
        (void)history(e->history, &event, H_LOAD, e->path);
    (void)el_set(e->el, EL_CLIENTDATA, e);
    (void)el_set(e->el, EL_EDITOR, "emacs");
    (void)el_set(e->el, EL_PROMPT, prompt_of);
    (void)el_set(e->el, EL_HIST, history, e->history);
    (void)el_set(e->el, EL_SIGNAL, 0);
    (void)el_set(e->el, EL_GETCFN, get_char);
    (void)el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    (void)el_set(e->el, EL_BIND, "^I", "ed-insert", NULL); /* a tab is a tab */
    (void)el_source(e->el, NULL);
    return e;
}

static enum edit_state edit_line(struct edit *e, const char *prompt, const char **ret)
{
    const char *line;
    int len = 0;

    e->prompt = prompt;
    line = el_gets(e->el, &len);
    if (!line || len <= 0)
        return *e->stop ? EDIT_INTERRUPTED : EDIT_END;
    free(e->line);
    e->line = strndup(line, (size_t)len - (line[len - 1] == '\n'));
    *ret = e->line ? e->line : "";
    return EDIT_LINE;
}

/* Line by line, since a line is what can be edited again. */
static void edit_remember(struct edit *e, const char *text)
{
    HistEvent event;
    char *copy = strdup(text), *rest = copy;

    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        if (*line)
            (void)history(e->history, &event, H_ENTER, line);
    free(copy);
}

extern const struct edit_ops glovebox_edit __attribute__((visibility("default")));
const struct edit_ops glovebox_edit = { .abi = EDIT_ABI,
                                        .open = edit_open,
                                        .line = edit_line,
                                        .remember = edit_remember,
                                        .close = edit_close };
