#include "shell/pty.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/own.h"

/* ---- keys ---- */

const char *pty_key(const char *name, size_t *ret_len)
{
    static const struct {
        const char *name, *bytes;
    } keys[] = {
        { "enter", "\r" },       { "tab", "\t" },         { "escape", "\033" },
        { "backspace", "\177" }, { "space", " " },        { "up", "\033[A" },
        { "down", "\033[B" },    { "right", "\033[C" },   { "left", "\033[D" },
        { "home", "\033[H" },    { "end", "\033[F" },     { "insert", "\033[2~" },
        { "delete", "\033[3~" }, { "pageup", "\033[5~" }, { "pagedown", "\033[6~" },
        { "f1", "\033OP" },      { "f2", "\033OQ" },      { "f3", "\033OR" },
        { "f4", "\033OS" },      { "f5", "\033[15~" },    { "f6", "\033[17~" },
        { "f7", "\033[18~" },    { "f8", "\033[19~" },    { "f9", "\033[20~" },
        { "f10", "\033[21~" },   { "f11", "\033[23~" },   { "f12", "\033[24~" },
    };
    static char control[1];

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (strcmp(keys[i].name, name) == 0) {
            *ret_len = strlen(keys[i].bytes);
            return keys[i].bytes;
        }
    }
    *ret_len = 0;
    if (strncmp(name, "ctrl-", 5) != 0 || name[5] < '@' || !name[5] || name[6])
        return "";
    control[0] = (char)(name[5] & 0x1f); /* as the key does it; large and small alike */
    *ret_len = 1;
    return control;
}

static int type_bytes(const struct pty *p, const char *bytes, size_t len, struct gb_err *err)
{
    ssize_t n = len > 0 ? write(p->master, bytes, len) : 0;

    if (n < 0 || (size_t)n < len)
        return gb_fail(err, GB_E_LIMIT, n < 0 ? errno : 0,
                       "the program has not read what was typed before");
    return 0;
}

int pty_type(const struct pty *p, const json_t *text, const json_t *keys, struct gb_err *err)
{
    if (type_bytes(p, json_string_value(text), json_string_length(text), err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *name = json_string_value(json_array_get(keys, i));
        size_t len = 0;
        const char *bytes = pty_key(name ? name : "", &len);

        if (len == 0)
            return gb_fail(err, GB_E_INVALID, 0, "keys: there is no key '%.40s'", name ? name : "");
        if (type_bytes(p, bytes, len, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- the terminal ---- */

int pty_resize(struct pty *p, int rows, int columns, struct gb_err *err)
{
    struct winsize size;

    if (screen_resize(&p->screen, rows, columns) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a screen");
    size = (struct winsize){ .ws_row = (unsigned short)p->screen.rows,
                             .ws_col = (unsigned short)p->screen.columns };
    return ioctl(p->master, TIOCSWINSZ, &size) < 0
               ? gb_fail(err, GB_E_SYSTEM, errno, "setting the size of a terminal")
               : 0;
}

int pty_open(struct pty *p, struct gb_err *err)
{
    struct termios modes;

    *p = (struct pty){ .master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK),
                       .slave = -1 };
    if (p->master >= 0 && unlockpt(p->master) == 0 &&
        ptsname_r(p->master, p->path, sizeof(p->path)) == 0)
        p->slave = open(p->path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (p->slave < 0) {
        (void)gb_fail(err, GB_E_SYSTEM, errno, "pty: making a terminal");
        return gb_fail_hint(err, "only boxes held by namespaces have terminals");
    }
    /* Nobody could bring a program back that was put aside. */
    if (tcgetattr(p->slave, &modes) == 0) {
        modes.c_cc[VSUSP] = _POSIX_VDISABLE;
        (void)tcsetattr(p->slave, TCSANOW, &modes);
    }
    if (screen_init(&p->screen, PTY_ROWS, PTY_COLUMNS) < 0)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a screen");
    return pty_resize(p, PTY_ROWS, PTY_COLUMNS, err);
}

/* ---- waiting ---- */

static bool is_in_session(const char *pid, pid_t session)
{
    char path[64], text[1024];
    const char *at;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    if (fd_slurp_at(AT_FDCWD, path, text, sizeof(text) - 1) <= 0)
        return false;
    at = strrchr(text, ')');
    for (int field = 3; at && field <= 6; field++) /* as proc(5) numbers them */
        at = strchr(at + 1, ' ');
    return at && (pid_t)strtol(at, NULL, 10) == session;
}

static bool is_terminal(const struct pty *p, const char *pid, unsigned long fd)
{
    char path[64], target[64];
    ssize_t n;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/fd/%lu", pid, fd);
    n = readlink(path, target, sizeof(target) - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    return strcmp(target, p->path) == 0 || strcmp(target, "/dev/tty") == 0;
}

/* By the system call that it is in. */
static bool is_reader(const struct pty *p, const char *pid, bool is_quiet)
{
    static const long several[] = {
        SYS_ppoll, SYS_pselect6, SYS_epoll_pwait,
#ifdef SYS_poll
        SYS_poll,  SYS_select,   SYS_epoll_wait,
#endif
    };
    char path[64], text[256], *end = NULL;
    long call;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/syscall", pid);
    if (fd_slurp_at(AT_FDCWD, path, text, sizeof(text) - 1) <= 0)
        return false;
    call = strtol(text, &end, 10);
    if (end == text)
        return false; /* it runs */
    if (call == SYS_read)
        return is_terminal(p, pid, strtoul(end, NULL, 16));
    for (size_t i = 0; is_quiet && i < ARRAY_LEN(several); i++)
        if (call == several[i])
            return is_terminal(p, pid, 0);
    return false;
}

bool pty_is_waited_for(const struct pty *p, pid_t session, bool is_quiet)
{
    DIR *dir = opendir("/proc");
    bool found = false;

    for (struct dirent *e = dir ? readdir(dir) : NULL; e && !found; e = readdir(dir))
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
            found = is_in_session(e->d_name, session) && is_reader(p, e->d_name, is_quiet);
    if (dir)
        (void)closedir(dir);
    return found;
}
