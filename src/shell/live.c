#include "shell/live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "loader_made.h"
#include "sandbox/box.h"
#include "shell/become.h"
#include "shell/resolve.h"
#include "shell/step.h"
#include "step_made.h"

enum {
    SAY_MAX = 2 << 20,
    PATH_ROOM = 256,
    NOT_RUN = 125,
    READ_MS = 5000, /* for a shell that begins to read what it is told first */
    PENDING_MAX = 256 << 10,
};

#define COMMAND_FILE "command"
#define MODULE_FILE  "step.so"
#define STATE_FILE   "state"

/* The line with which bash takes a step. */
#define STEP_LINE "\\__gb\n"

/* ---- telling the shell ---- */

static int say(struct live *l, const char *text, struct gb_err *err)
{
    return gb_buf_add(&l->to_say, text, strlen(text), err);
}

/* A string of a step is over, and those that follow are empty. */
static int say_nuls(struct live *l, size_t n, struct gb_err *err)
{
    static const char nuls[3];

    return gb_buf_add(&l->to_say, nuls, n, err);
}

static int say_string(struct live *l, const char *text, struct gb_err *err)
{
    return gb_buf_add(&l->to_say, text, strlen(text) + 1, err);
}

static int say_quoted(struct live *l, const char *text, struct gb_err *err)
{
    auto_free char *quoted = shell_quote(SHELL_BASH, text);

    return quoted ? say(l, quoted, err) : gb_fail(err, GB_E_SYSTEM, ENOMEM, "quoting a word");
}

/* What it reads stays with whoever handed it to us. */
static void drop_passed(struct live *l)
{
    for (size_t i = 1; i < l->n_pass; i++)
        gb_closep(&l->pass[i]);
    l->n_pass = 0;
}

/* As much as it takes now: a command may be long. -errno if that is nothing, and not for want of
 * room. */
static int flush(struct live *l)
{
    ssize_t n = 0;
    size_t at = 0;

    while (l->talk >= 0 && at < l->to_say.len) {
        n = fd_send_some(l->talk, l->to_say.data + at, l->to_say.len - at, l->pass, l->n_pass);
        if (n < 0 && n != -EPIPE && n != -ECONNRESET)
            break;
        drop_passed(l);
        l->is_untaken = l->is_untaken || n < 0; /* it is gone: its end will be seen */
        at = n < 0 ? l->to_say.len : at + (size_t)n;
    }
    l->to_say.len -= at;
    memmove(l->to_say.data, l->to_say.data + at, l->to_say.len);
    return n < 0 && l->to_say.len > 0 && n != -EAGAIN ? (int)n : 0;
}

/* False if it does not read for long. */
static bool flush_waiting(struct live *l)
{
    struct pollfd p = { .fd = l->talk, .events = POLLOUT };

    return poll(&p, 1, READ_MS) > 0 && flush(l) == 0;
}

static void draw_number(struct live *l)
{
    unsigned long long random = 0;

    (void)!getrandom(&random, sizeof(random), 0);
    (void)snprintf(l->number, sizeof(l->number), "%0*llx", REPORT_NUMBER, random);
}

/* ---- the directory ---- */

static int write_file(const char *path, const void *data, size_t len)
{
    auto_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    return fd < 0 ? -errno : fd_write_all(fd, data, len);
}

/* A command may have removed it, or put something else in its place. What some process has mapped
 * is not written to: it gets a new one. */
static int keep_file(const struct live *l, const char *name, const void *data, size_t len,
                     struct gb_err *err)
{
    char path[PATH_ROOM];
    struct stat st;
    int r;

    (void)snprintf(path, sizeof(path), "%s/%s", l->dir, name);
    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)len)
        return 0;
    (void)mkdir(l->dir, 0700);
    (void)unlink(path);
    r = write_file(path, data, len);
    return r < 0 ? gb_fail(err, GB_E_SYSTEM, -r, "writing '%s'", path) : 0;
}

/* Where the command is evaluated, so that it can return. */
static int keep_command_file(const struct live *l, struct gb_err *err)
{
    static const char text[] = "\\builtin eval \"$__gb_cmd\"\n";

    return keep_file(l, COMMAND_FILE, text, sizeof(text) - 1, err);
}

static int make_dir(struct live *l, struct gb_err *err)
{
    char path[PATH_ROOM];
    const char *tmp = json_string_at(json_object_get(l->begun, "env"), "TMPDIR", "/tmp");

    if (snprintf(l->dir, sizeof(l->dir), "%s/.glovebox-XXXXXX", tmp) >= (int)sizeof(l->dir) ||
        !mkdtemp(l->dir))
        return gb_fail(err, GB_E_SYSTEM, errno, "making a directory in '%.80s'", tmp);
    /* What the shell leaves is written into it: made here, it can be read whatever the mask is. */
    (void)snprintf(path, sizeof(path), "%s/" STATE_FILE, l->dir);
    (void)write_file(path, "", 0);
    return keep_command_file(l, err);
}

/* ---- starting it ---- */

struct ends {
    int script[2], talk[2];
};

static bool make_ends(struct ends *e)
{
    *e = (struct ends){ { -1, -1 }, { -1, -1 } };
    return pipe2(e->script, O_CLOEXEC) == 0 &&
           socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, e->talk) == 0;
}

static int spawn(const struct live *l, const struct ends *e, pid_t *ret)
{
    struct shell_ready ready;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t blocked, all;
    int r;

    if (shell_words_of(l->begun, l->program, &ready) < 0)
        return ENOMEM;
    /* Those that mean a command, until it has its traps (step.c). */
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, BOX_UNWIND_SIGNAL);
    (void)sigaddset(&blocked, BOX_LEAVE_SIGNAL);
    (void)sigfillset(&all);
    r = posix_spawn_file_actions_init(&actions);
    if (r == 0)
        r = posix_spawnattr_init(&attr);
    if (r != 0) {
        shell_ready_done(&ready);
        return r;
    }
    /* It refuses a number beyond the limit of open files. */
    r = posix_spawn_file_actions_adddup2(&actions, e->talk[1], STEP_FD);
    (void)posix_spawn_file_actions_adddup2(&actions, e->script[0], STDIN_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawnattr_setsigmask(&attr, &blocked);
    (void)posix_spawnattr_setsigdefault(&attr, &all);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSID);
    if (r == 0)
        r = posix_spawn(ret, l->program, &actions, &attr, ready.argv, ready.env);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attr);
    shell_ready_done(&ready);
    return r;
}

/* Is there something that the last one left, whole? */
static bool has_state(const struct live *l)
{
    char path[PATH_ROOM], tail[REPORT_NUMBER + 3] = "", want[REPORT_NUMBER + 3];
    auto_close int fd = -1;
    off_t size;

    (void)snprintf(path, sizeof(path), "%s/" STATE_FILE, l->dir);
    (void)snprintf(want, sizeof(want), "#%s\n", l->mark);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    return size >= (off_t)strlen(want) &&
           pread(fd, tail, strlen(want), size - (off_t)strlen(want)) == (ssize_t)strlen(want) &&
           strcmp(tail, want) == 0;
}

/* What it is told first of all; with `carry`, what the last one held. */
static int say_introduction(struct live *l, bool carry, struct gb_err *err)
{
    char path[PATH_ROOM];

    if (say(l, loader_text, err) < 0 || say(l, "__gb_dir=", err) < 0 ||
        say_quoted(l, l->dir, err) < 0)
        return -1;
    /* One group for all, which has the terminal; Ctrl-C is for what runs and not for the shell. */
    if (l->pty.master >= 0 &&
        say(l, "; \\builtin set +m; \\builtin trap : INT QUIT; \\builtin export TERM=xterm", err) <
            0)
        return -1;
    if (!carry)
        return say_nuls(l, 3, err);
    (void)snprintf(path, sizeof(path), "%s/" STATE_FILE, l->dir);
    return say(l, "; \\builtin . ", err) < 0 || say_quoted(l, path, err) < 0 ||
                   say(l, " 2>/dev/null", err) < 0
               ? -1
               : say_nuls(l, 3, err);
}

static void drop_shell(struct live *l)
{
    gb_closep(&l->script);
    gb_closep(&l->talk);
    l->script = l->talk = -1;
    l->pid = 0;
    l->to_say.len = 0;
    l->is_untaken = false;
    drop_passed(l);
}

static int begin_step(struct live *l, struct gb_err *err)
{
    static const struct step head;

    return gb_buf_add(&l->to_say, (const char *)&head, sizeof(head), err);
}

/* All of it is there: hand it over. Its line comes last, since that is what wakes it. */
static int end_step(struct live *l, const struct step *about, struct gb_err *err)
{
    struct step head = *about;
    int r;

    head.len = (uint32_t)(l->to_say.len - sizeof(head));
    memcpy(l->to_say.data, &head, sizeof(head));
    r = flush(l);
    if (r < 0)
        return gb_fail(err, GB_E_SYSTEM, -r, "handing the shell a command");
    if (l->script >= 0)
        (void)fd_write_all(l->script, STEP_LINE, strlen(STEP_LINE)); /* or its end will be seen */
    return 0;
}

/* The first line of all. */
static int say_load(const struct live *l, struct gb_err *err)
{
    auto_free char *dir = shell_quote(SHELL_BASH, l->dir);
    char line[4 * PATH_ROOM];
    int r;

    if (!dir)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "quoting a word");
    if (keep_file(l, MODULE_FILE, step_module, sizeof(step_module), err) < 0)
        return -1;
    (void)snprintf(line, sizeof(line),
                   "\\builtin enable -f %s/" MODULE_FILE " __gb || \\builtin exit 126\n", dir);
    r = fd_write_all(l->script, line, strlen(line));
    return r < 0 ? gb_fail(err, GB_E_SYSTEM, -r, "telling the shell how to begin") : 0;
}

static int introduce(struct live *l, bool carry, struct gb_err *err)
{
    l->to_say.len = 0;
    l->said.len = 0;
    if (say_load(l, err) < 0)
        return -1;
    if (begin_step(l, err) < 0 || say_introduction(l, carry, err) < 0)
        return -1;
    return end_step(l, &(struct step){ 0 }, err);
}

static int start(struct live *l, bool carry, struct gb_err *err)
{
    struct ends e;
    int r = make_ends(&e) ? spawn(l, &e, &l->pid) : errno;

    gb_closep(&e.script[0]);
    gb_closep(&e.talk[1]);
    l->script = e.script[1];
    l->talk = e.talk[0];
    if (r != 0) {
        drop_shell(l);
        (void)gb_fail(err, GB_E_SYSTEM, r, "starting %s", l->program);
        return r == EBADF || r == EMFILE
                   ? gb_fail_hint(err, "a shell that stays needs at least %d open files",
                                  STEP_FILES)
                   : -1;
    }
    (void)fcntl(l->script, F_SETFL, O_NONBLOCK);
    (void)fcntl(l->talk, F_SETFL, O_NONBLOCK);
    if (introduce(l, carry, err) == 0)
        return 0;
    (void)kill(l->pid, SIGKILL);
    (void)waitpid(l->pid, NULL, 0);
    drop_shell(l);
    return -1;
}

int live_begin(struct live *l, json_t *request, struct gb_err *err)
{
    const char *workdir = json_string_at(request, "workdir", NULL);

    *l = (struct live){ .begun = json_incref(request), .script = -1, .talk = -1, .pty.master = -1 };
    gb_buf_init(&l->pending, PENDING_MAX);
    gb_buf_init(&l->to_say, SAY_MAX);
    gb_buf_init(&l->said, 3 * REPORT_MAX);
    for (size_t i = 0; i < LIVE_STREAMS_MAX; i++)
        l->streams[i] = (struct stream){ .fds = { -1, -1 } };
    l->program = shell_find(json_object_get(request, "shell"),
                            json_string_at(json_object_get(request, "env"), "PATH", ""),
                            shell_look_here, err);
    if (!l->program)
        return -1;
    if (shell_family_of(l->program) != SHELL_BASH) {
        (void)gb_fail(err, GB_E_INVALID, 0, "shell: %s cannot be kept for a session", l->program);
        return gb_fail_hint(err, "use bash, or give each command a shell of its own: without "
                                 "'session', or with -c");
    }
    if (json_is_true(json_object_get(request, "pty")) && pty_open(&l->pty, err) < 0)
        return -1;
    if (workdir && chdir(workdir) < 0)
        return gb_fail(err, GB_E_INVALID, errno, "workdir: entering '%.120s'", workdir);
    l->nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (l->nothing < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "opening /dev/null");
    if (make_dir(l, err) < 0 || start(l, false, err) < 0)
        return -1;
    return live_ask(l, err);
}

/* ---- a command ---- */

static int say_exports(struct live *l, const json_t *exports, struct gb_err *err)
{
    const char *name;
    json_t *value;

    json_object_foreach (json_shared(exports), name, value) {
        bool is_name = name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
                                         "0123456789")] == '\0' &&
                       !(name[0] >= '0' && name[0] <= '9');
        int r;
        if (!is_name)
            return gb_fail(err, GB_E_INVALID, 0, "env: '%.60s' is no name that a shell has", name);
        if (json_is_string(value))
            r = say(l, "\\builtin export ", err) < 0 || say(l, name, err) < 0 ||
                        say(l, "=", err) < 0 || say_quoted(l, json_string_value(value), err) < 0
                    ? -1
                    : say(l, "; ", err);
        else
            r = say(l, "\\builtin unset -v ", err) < 0 || say(l, name, err) < 0 ? -1
                                                                                : say(l, "; ", err);
        if (r < 0)
            return -1;
    }
    return 0;
}

/* Which of two gives way: one that nobody can write to any more, since whoever can would be killed
 * by it; else the older. */
static bool gives_way(const struct stream *s, const struct stream *other)
{
    bool is_open = stream_is_open(s), other_is_open = stream_is_open(other);

    return is_open != other_is_open ? other_is_open : s->cell < other->cell;
}

/* What the last command left open stays with its jobs, as long as there are not too many. */
static struct stream *free_stream(struct live *l)
{
    struct stream *chosen = &l->streams[0];

    for (size_t i = 0; i < LIVE_STREAMS_MAX; i++) {
        if (l->streams[i].cell == 0)
            return &l->streams[i];
        if (gives_way(&l->streams[i], chosen))
            chosen = &l->streams[i];
    }
    stream_close(chosen);
    return chosen;
}

static struct stream *stream_of(struct live *l, uint64_t cell)
{
    for (size_t i = 0; cell > 0 && i < LIVE_STREAMS_MAX; i++)
        if (l->streams[i].cell == cell)
            return &l->streams[i];
    return NULL;
}

/* What it reads and prints to: in a terminal, that. */
static int pass_streams(struct live *l, int in, struct gb_err *err)
{
    struct stream *s = free_stream(l);

    l->pass[0] = in >= 0 ? in : l->nothing;
    if (stream_open(s, l->cell, &l->ahead, &l->pass[1]) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "making pipes for the command");
    l->n_pass = 3;
    return 0;
}

/* What is evaluated before the command. */
static int say_text(struct live *l, const json_t *request, struct gb_err *err)
{
    const char *anchor = json_string_at(request, "anchor", NULL);

    if (say_exports(l, json_object_get(request, "exports"), err) < 0)
        return -1;
    if (anchor && (say(l, "\\builtin cd -- ", err) < 0 || say_quoted(l, anchor, err) < 0 ||
                   say(l, " || :", err) < 0))
        return -1;
    return say_nuls(l, 1, err);
}

static int say_command(struct live *l, const json_t *request, int in, struct step *head,
                       struct gb_err *err)
{
    const json_t *argv = json_object_get(request, "argv");
    bool has_terminal = l->pty.master >= 0;
    char path[PATH_ROOM];

    if (in >= 0 && has_terminal) {
        (void)gb_fail(err, GB_E_INVALID, 0, "stdin: what runs in a terminal reads what is typed");
        return gb_fail_hint(err, "use op 'type', or '<' and a file");
    }
    (void)snprintf(path, sizeof(path), "%s/" COMMAND_FILE, l->dir);
    if (say_text(l, request, err) < 0 || say_string(l, has_terminal ? l->pty.path : "", err) < 0 ||
        say_string(l, json_string_at(request, "code", ""), err) < 0 || say_string(l, path, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(argv); i++)
        if (say_string(l, json_string_value(json_array_get(argv, i)), err) < 0)
            return -1;
    head->n_words = 1 + (uint32_t)json_array_size(argv);
    head->status = l->last_status;
    return has_terminal ? 0 : pass_streams(l, in, err);
}

/* It never begins. */
static void abandon(struct live *l)
{
    struct stream *s = stream_of(l, l->cell);

    drop_passed(l);
    l->to_say.len = 0;
    if (s)
        stream_close(s);
}

static int say_step(struct live *l, const json_t *request, int in, struct gb_err *err)
{
    struct step head = { 0 };

    draw_number(l);
    memcpy(head.number, l->number, sizeof(head.number));
    if (begin_step(l, err) < 0)
        return -1;
    if (request ? say_command(l, request, in, &head, err) < 0 : say_nuls(l, 3, err) < 0)
        return -1;
    return end_step(l, &head, err);
}

static int begin(struct live *l, const json_t *request, int in, struct gb_err *err)
{
    if (l->pid == 0 && start(l, l->has_left, err) < 0)
        return -1;
    while (l->to_say.len > 0 && l->pid > 0)
        if (!flush_waiting(l))
            return gb_fail(err, GB_E_GONE, 0, "the shell does not read");
    l->said.len = 0; /* what nobody was asked */
    if ((request && keep_command_file(l, err) < 0) || say_step(l, request, in, err) < 0) {
        abandon(l);
        return err->code == GB_E_LIMIT ? gb_fail_wrap(err, "the command and its arguments") : -1;
    }
    l->is_asked = !request;
    l->is_running = l->is_fresh = true;
    return 0;
}

int live_run(struct live *l, const json_t *request, int in, struct gb_err *err)
{
    l->cell++;
    return begin(l, request, in, err);
}

int live_ask(struct live *l, struct gb_err *err)
{
    return begin(l, NULL, -1, err);
}

/* ---- the terminal ---- */

static bool read_terminal(struct live *l)
{
    static char piece[16 << 10];
    struct gb_err err;
    ssize_t n = l->pty.master < 0 ? -1 : read(l->pty.master, piece, sizeof(piece));

    if (n <= 0)
        return false;
    l->printed_us = clock_us();
    screen_add(&l->pty.screen, piece, (size_t)n);
    if (l->is_attended) {
        (void)fd_write_all(STDOUT_FILENO, piece, (size_t)n);
    } else if (gb_buf_add(&l->pending, piece, (size_t)n, &err) < 0) {
        l->pending.len = 0; /* the screen still has what counts */
    }
    return true;
}

void live_attend(struct live *l, bool is_attended)
{
    l->is_attended = is_attended;
    if (is_attended && l->pending.len > 0)
        (void)fd_write_all(STDOUT_FILENO, l->pending.data, l->pending.len);
    if (is_attended)
        l->pending.len = 0;
}

/* ---- its end ---- */

/* Of the command that ran: what it has printed, to the last byte. */
static void settle_streams(struct live *l)
{
    struct stream *s = l->is_asked ? NULL : stream_of(l, l->cell);

    if (!s)
        return;
    for (int i = 0; i < 2; i++)
        stream_read(s, i, false, true);
    if (!stream_is_open(s))
        stream_close(s);
}

static void over(struct live *l, int status)
{
    settle_streams(l);
    for (int i = 0; i < 16 && read_terminal(l); i++)
        ;
    l->is_running = l->is_fresh = false;
    if (!l->is_asked)
        l->last_status = status;
}

/* What the shell leaves from now on is of the command that it has taken. */
static void take_mark(struct live *l)
{
    if (!l->is_asked)
        (void)snprintf(l->mark, sizeof(l->mark), "%s", l->number);
}

static void hear(struct live *l)
{
    static struct report r;
    struct gb_err err;
    size_t used;
    ssize_t n;

    if (gb_buf_reserve(&l->said, 4096, &err) < 0) {
        l->said.len = 0;
        return;
    }
    n = read(l->talk, l->said.data + l->said.len, 4096);
    l->is_untaken = l->is_untaken || (n < 0 && errno == ECONNRESET);
    if (n == 0) { /* it ends, or has closed it: then it cannot be heard any more */
        gb_closep(&l->talk);
        l->talk = -1;
    }
    if (n <= 0)
        return;
    l->said.len += (size_t)n;
    if (!l->is_running) {
        l->said.len = 0; /* nobody was asked */
        return;
    }
    if (report_read(l->said.data, l->said.len, l->number, &r, &used)) {
        l->is_heard = true;
        take_mark(l);
        (void)snprintf(l->cwd, sizeof(l->cwd), "%s", r.cwd);
        live_note_jobs(l, &r);
        over(l, r.status);
    }
    l->said.len -= used;
    memmove(l->said.data, l->said.data + used, l->said.len);
    if (l->said.len >= REPORT_MAX)
        l->said.len = report_shorten(l->said.data, l->said.len, l->number);
}

/* It has ended: did it so before it took what it was handed? The socket says so. */
static bool was_untaken(struct live *l)
{
    int e = 0;
    socklen_t len = sizeof(e);

    if (l->talk >= 0 && getsockopt(l->talk, SOL_SOCKET, SO_ERROR, &e, &len) == 0 && e == ECONNRESET)
        l->is_untaken = true;
    return l->is_untaken;
}

/* Of a shell that has ended, for the command that it was to run. */
static int status_of(int wait_status, bool is_untaken)
{
    int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);

    return is_untaken && status == 0 ? NOT_RUN : status;
}

void live_reap(struct live *l)
{
    struct gb_err err;
    int wait_status = 0, status;
    pid_t pid;
    bool carry, was_running = l->is_running;

    do
        pid = waitpid(l->pid > 0 ? l->pid : -1, &wait_status, WNOHANG);
    while (pid < 0 && errno == EINTR);
    if (l->pid == 0 || pid != l->pid)
        return;
    if (l->is_running && !was_untaken(l))
        take_mark(l);
    status = status_of(wait_status, l->is_running && l->is_untaken);
    carry = WIFEXITED(wait_status) && has_state(l);
    l->is_new = l->is_new || !carry;
    l->has_left = carry;
    if (!carry && !getcwd(l->cwd, sizeof(l->cwd)))
        l->cwd[0] = '\0';
    drop_shell(l);
    for (size_t i = 0; i < l->n_jobs; i++)
        l->jobs[i].is_orphan = true;
    if (l->is_running)
        over(l, status);
    /* One that ends while nobody asks anything of it is replaced when somebody does: it might end
     * again at once. So is one for which there is no room now. One that never spoke never will. */
    if (was_running && l->is_heard)
        (void)start(l, carry, &err);
}

/* ---- turns ---- */

void live_prepare(struct live *l)
{
    if (l->pty.master < 0)
        (void)stream_prepare(&l->ahead); /* or it is told when the command is */
}

size_t live_poll(const struct live *l, struct pollfd *ret)
{
    size_t n = 0;

    if (l->talk >= 0)
        ret[n++] = (struct pollfd){ .fd = l->talk,
                                    .events = l->to_say.len > 0 ? POLLIN | POLLOUT : POLLIN };
    if (l->pty.master >= 0)
        ret[n++] = (struct pollfd){ .fd = l->pty.master, .events = POLLIN };
    for (size_t i = 0; i < LIVE_STREAMS_MAX; i++)
        for (int which = 0; which < 2; which++)
            if (l->streams[i].cell > 0 && l->streams[i].fds[which] >= 0 &&
                !(l->is_fresh && l->streams[i].cell == l->cell))
                ret[n++] = (struct pollfd){ .fd = l->streams[i].fds[which], .events = POLLIN };
    return n;
}

static bool has_come(const struct pollfd *fds, size_t n, int fd)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i].fd == fd)
            return fds[i].revents != 0;
    return false;
}

/* order: what was printed before the report of its end. */
void live_turn(struct live *l, const struct pollfd *fds, size_t n)
{
    for (size_t i = 0; i < LIVE_STREAMS_MAX; i++) {
        struct stream *s = &l->streams[i];
        bool is_late = !l->is_running || l->is_asked || s->cell != l->cell;
        if (s->cell == 0)
            continue;
        for (int which = 0; which < 2; which++)
            if (s->fds[which] >= 0 && has_come(fds, n, s->fds[which]))
                stream_read(s, which, is_late, false);
    }
    if (l->pty.master >= 0 && has_come(fds, n, l->pty.master))
        (void)read_terminal(l);
    if (l->talk >= 0 && has_come(fds, n, l->talk)) {
        (void)flush(l); /* what cannot be sent now can be later */
        hear(l);
    }
}
