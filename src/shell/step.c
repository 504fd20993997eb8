/*
 * The builtin that a persistent bash takes its commands with (step.h). It runs in bash's process,
 * as bash's own builtins do, so each command costs it some thirty system calls; told the same by
 * lines of script it needs a hundred. bash exports what such a builtin may use; one that lacks any
 * of the names below does not load it, and is refused. Tried with bash 5.2.
 *
 * Nothing here is a boundary: whatever the command does to it, it does to its own shell.
 */
#include "shell/step.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"

/* ---- of bash ---- */

struct variable {
    const char *name;
};

struct word_desc {
    const char *word;
};

struct word_list {
    struct word_list *next;
    struct word_desc *word;
};

struct builtin {
    const char *name;
    int (*function)(struct word_list *words);
    int flags;
    const char *const *long_doc;
    const char *short_doc;
    char *handle;
};

enum {
    BUILTIN_ENABLED = 1,
    EVAL_NO_HISTORY = 4,
    EVAL_NO_FREE = 8,
    JOBS_LONG = 1,
};

extern volatile int last_command_exit_value;
extern sigset_t top_level_mask; /* what its children begin with */
extern int parse_and_execute(char *text, const char *from, int flags);
extern int source_builtin(struct word_list *words);
extern int eval_builtin(struct word_list *words);
extern void *find_shell_builtin(const char *name);
extern struct variable *find_function(const char *name);
extern struct variable **all_shell_variables(void);
extern int signal_in_progress(int sig);
extern struct variable *bind_variable(const char *name, char *value, int flags);
extern int unbind_variable(const char *name);
extern char *get_string_value(const char *name);
extern struct word_desc *make_word(const char *text);
extern struct word_list *make_word_list(struct word_desc *word, struct word_list *rest);
extern void dispose_words(struct word_list *words);
extern void *list_reverse(void *list);
extern void list_all_jobs(int form);
extern void notify_and_cleanup(void);

/* ---- descriptors ---- */

enum {
    AWAY_MAX = 1024
};

/* What bash itself has: the socket, its lines, and /dev/null. They are kept where programs that
 * close whatever they do not know seldom look. */
static int talk = -1, home[2] = { -1, -1 };

static int keep_away(int fd)
{
    struct rlimit limit;
    int from = STEP_FD;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > STEP_FILES)
        from = (limit.rlim_cur > AWAY_MAX ? AWAY_MAX : (int)limit.rlim_cur) - 3;
    return fcntl(fd, F_DUPFD_CLOEXEC, from);
}

static bool settle(void)
{
    if (talk >= 0)
        return true;
    talk = keep_away(STEP_FD);
    (void)close(STEP_FD);
    for (int i = 0; i < 2; i++)
        home[i] = keep_away(i);
    return talk >= 0 && home[0] >= 0 && home[1] >= 0;
}

static void go_home(void)
{
    for (int i = 0; i < 3; i++)
        (void)dup2(home[i > 0], i);
}

/* ---- what was handed over ---- */

struct handed {
    struct step head;
    char *strings; /* owned */
    char *text, *terminal, *command;
    struct word_list *words; /* owned */
    int fds[3];
    size_t n_fds;
};

/* NULL when there are no more. */
static char *next_string(const struct handed *h, size_t *at)
{
    char *text = h->strings + *at;

    if (*at >= h->head.len)
        return NULL;
    *at += strlen(text) + 1;
    return text;
}

static struct word_list *take_words(const struct handed *h, size_t at)
{
    struct word_list *words = NULL;
    const char *text;

    for (uint32_t i = 0; i < h->head.n_words && (text = next_string(h, &at)); i++)
        words = make_word_list(make_word(text), words);
    return list_reverse(words);
}

static bool take(struct handed *h)
{
    size_t at = 0;

    *h = (struct handed){ .n_fds = ARRAY_LEN(h->fds) };
    if (fd_recv(talk, &h->head, sizeof(h->head), h->fds, &h->n_fds) != sizeof(h->head))
        return false;
    h->strings = malloc((size_t)h->head.len + 1);
    if (!h->strings || fd_read_all(talk, h->strings, h->head.len) < 0)
        return false;
    h->strings[h->head.len] = '\0';
    h->text = next_string(h, &at);
    h->terminal = next_string(h, &at);
    h->command = next_string(h, &at);
    h->words = take_words(h, at);
    h->head.number[REPORT_NUMBER] = '\0';
    /* Some are missing where it may have no more: nothing is run that nobody hears. */
    return h->command && (!h->words || h->terminal[0] != '\0' || h->n_fds == ARRAY_LEN(h->fds));
}

static void put_away(struct handed *h)
{
    dispose_words(h->words);
    free(h->strings);
    for (size_t i = 0; i < h->n_fds; i++)
        (void)close(h->fds[i]);
}

/* A terminal is opened here, since it becomes that of whose session opens it first. */
static void enter(struct handed *h)
{
    if (h->terminal[0] != '\0' && h->n_fds == 0) {
        int fd = open(h->terminal, O_RDWR | O_CLOEXEC);
        for (int i = 0; i < 3; i++)
            (void)dup2(fd, i);
        gb_closep(&fd);
    }
    for (size_t i = 0; i < h->n_fds; i++) {
        (void)dup2(h->fds[i], (int)i);
        (void)close(h->fds[i]);
    }
    h->n_fds = 0;
}

/* ---- the command ---- */

static void evaluate(char *text)
{
    if (text[0] != '\0')
        (void)parse_and_execute(text, "glovebox", EVAL_NO_HISTORY | EVAL_NO_FREE);
}

/* Was it stopped from outside (loader.sh)? Also one that was to be stopped and was over already. */
static bool was_stopped(void)
{
    char go_on[] = "__gb_go_on";

    if (!get_string_value("__gb_stopped"))
        return false;
    evaluate(go_on);
    return true;
}

/* Are those in place with which the command's file does it? A command may have put others there. */
static bool has_eval(void)
{
    return find_shell_builtin("builtin") && find_shell_builtin("eval") && !find_function("builtin");
}

static int evaluate_command(const struct handed *h)
{
    struct word_list *words;
    int status;

    if (has_eval())
        return source_builtin(h->words);
    words = make_word_list(make_word("--"), make_word_list(make_word(h->command), NULL));
    status = eval_builtin(words);
    dispose_words(words);
    return status;
}

static void run(struct handed *h)
{
    char nothing[] = "";

    (void)was_stopped();
    notify_and_cleanup(); /* what bash has to say of jobs, it says before */
    if (h->words) {
        (void)bind_variable("__gb_mark", h->head.number, 0);
        (void)bind_variable("__gb_cmd", h->command, 0);
    }
    evaluate(h->text);
    if (!h->words)
        return;
    enter(h);
    (void)bind_variable("_", nothing, 0);
    last_command_exit_value = h->head.status;
    last_command_exit_value = evaluate_command(h);
    if (was_stopped())
        last_command_exit_value = 130;
    (void)unbind_variable("__gb_cmd");
}

/* Its jobs are printed by bash, to standard output. Who hears the end of it is to find its pipes
 * free. */
static void report(const struct handed *h, int status)
{
    const char *cwd = get_string_value("PWD");
    char text[REPORT_NUMBER + 4096 + 16];
    int len = snprintf(text, sizeof(text), "%c%s %d%c%.4096s", '\0', h->head.number, status, '\0',
                       cwd ? cwd : "");

    (void)dup2(talk, STDOUT_FILENO);
    list_all_jobs(JOBS_LONG);
    (void)fflush(stdout);
    go_home();
    (void)fd_write_all(talk, text, (size_t)len + 1);
}

/* ---- the builtin ---- */

/* Its traps are set: now signals may come (live.c). */
static void unblock_signals(void)
{
    static bool is_done;

    if (is_done)
        return;
    is_done = true;
    (void)sigemptyset(&top_level_mask);
    (void)sigprocmask(SIG_SETMASK, &top_level_mask, NULL);
}

static int take_step(void)
{
    struct handed h;

    if (!settle() || !take(&h))
        _exit(126); /* without a word: nobody would hear it */
    run(&h);
    unblock_signals();
    put_away(&h);
    if (h.head.number[0] != '\0')
        report(&h, last_command_exit_value);
    return 0;
}

/* "is_leaving", asked in a trap: is that of EXIT under way, too? */
static int is_leaving(const struct word_list *words)
{
    (void)words;
    return !signal_in_progress(0);
}

/* "each FUNCTION": call it with the name of each variable. */
static int call_for_each(const struct word_list *words)
{
    struct variable **all = words ? all_shell_variables() : NULL;

    for (size_t i = 0; all && all[i]; i++) {
        char *text;
        if (asprintf(&text, "%s %s", words->word->word, all[i]->name) < 0)
            continue;
        evaluate(text);
        free(text);
    }
    free(all);
    return 0;
}

static int step(struct word_list *words)
{
    static const struct {
        const char *name;
        int (*act)(const struct word_list *words);
    } acts[] = { { "is_leaving", is_leaving }, { "each", call_for_each } };

    if (!words)
        return take_step();
    for (size_t i = 0; i < ARRAY_LEN(acts); i++)
        if (strcmp(words->word->word, acts[i].name) == 0)
            return acts[i].act(words->next);
    return 2;
}

static const char *const about[] = {
    "What the traps of loader.sh ask; without words: take a command and report its end.", NULL
};

/* By this name bash finds it. */
__attribute__((visibility("default"))) struct builtin __gb_struct = {
    .name = "__gb",
    .function = step,
    .flags = BUILTIN_ENABLED,
    .long_doc = about,
    .short_doc = "__gb",
};
