#include "http/token.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/folder.h"
#include "base/own.h"

enum {
    RANDOM_BYTES = 32
};

char *token_path(void)
{
    return folder_file("XDG_STATE_HOME", ".local/state", "token");
}

/* ---- an old one ---- */

static int check_file(int fd, const char *path, struct gb_err *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "looking at %.150s", path);
    if (!S_ISREG(st.st_mode))
        return gb_fail(err, GB_E_INVALID, 0, "the token file %.150s is no file", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return gb_fail(err, GB_E_INVALID, 0, "the token file %.150s is somebody else's", path);
    if (st.st_mode & (S_IRWXG | S_IRWXO)) {
        (void)gb_fail(err, GB_E_INVALID, 0, "others may read the token file %.150s", path);
        return gb_fail_hint(err,
                            "chmod 600 it, if nobody has read it; else remove it for a new one");
    }
    return 0;
}

static bool is_token(const char *text)
{
    size_t len = strlen(text);

    for (const char *at = text; *at; at++)
        if (*at <= ' ' || *at > '~')
            return false;
    return len >= TOKEN_MIN && len <= TOKEN_MAX;
}

static int read_token(int fd, const char *path, char **ret, struct gb_err *err)
{
    char text[TOKEN_MAX + 3];
    ssize_t n;

    if (check_file(fd, path, err) < 0)
        return -1;
    n = read(fd, text, sizeof(text) - 1);
    if (n < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "reading %.150s", path);
    text[n] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    if (!is_token(text)) {
        (void)gb_fail(err, GB_E_INVALID, 0, "%.150s holds no token", path);
        return gb_fail_hint(err,
                            "one line of %d characters or more, no spaces; remove it for a new one",
                            TOKEN_MIN);
    }
    *ret = strdup(text);
    return *ret ? 0 : gb_fail(err, GB_E_SYSTEM, ENOMEM, "reading %.150s", path);
}

/* ---- a new one ---- */

static int make_parents(const char *path, struct gb_err *err)
{
    auto_free char *part = strdup(path);

    if (!part)
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the folder of %.150s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return gb_fail(err, GB_E_SYSTEM, errno, "making the folder %.150s", part);
        *slash = '/';
    }
    return 0;
}

static int make_text(char **ret, struct gb_err *err)
{
    unsigned char bytes[RANDOM_BYTES];
    char text[BASE64_ENCODE_RAW_LENGTH(RANDOM_BYTES) + 1];
    size_t len = BASE64_ENCODE_RAW_LENGTH(RANDOM_BYTES);

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return gb_fail(err, GB_E_SYSTEM, errno, "making a token");
    base64_encode_raw(text, sizeof(bytes), bytes);
    text[len] = '\0';
    text[strcspn(text, "=")] = '\0';
    for (char *at = text; *at; at++)
        *at = (char)(*at == '+' ? '-' : *at == '/' ? '_' : *at);
    *ret = strdup(text);
    return *ret ? 0 : gb_fail(err, GB_E_SYSTEM, ENOMEM, "making a token");
}

/* Written whole and then put in place, so that another that starts just now reads all of it or
 * nothing. Returns 1 when that other was first. */
static int write_token(const char *path, const char *token, struct gb_err *err)
{
    auto_free char *temporary = NULL;
    auto_close int fd = -1;
    int rc;

    if (asprintf(&temporary, "%s.%d", path, (int)getpid()) < 0) {
        temporary = NULL;
        return gb_fail(err, GB_E_SYSTEM, ENOMEM, "writing %.150s", path);
    }
    (void)unlink(temporary);
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return gb_fail(err, GB_E_SYSTEM, errno, "writing %.150s", temporary);
    rc = fd_write_all(fd, token, strlen(token));
    if (rc == 0)
        rc = fd_write_all(fd, "\n", 1);
    if (rc == 0 && (fsync(fd) < 0 || link(temporary, path) < 0))
        rc = -errno;
    (void)unlink(temporary);
    if (rc == -EEXIST)
        return 1;
    return rc < 0 ? gb_fail(err, GB_E_SYSTEM, -rc, "writing %.150s", path) : 0;
}

int token_load(const char *path, char **ret, bool *ret_is_new, struct gb_err *err)
{
    auto_free char *token = NULL;

    for (int attempt = 0;; attempt++) {
        auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        int rc;

        *ret_is_new = false;
        if (fd >= 0)
            return read_token(fd, path, ret, err);
        if (errno != ENOENT || attempt > 1)
            return gb_fail(err, GB_E_SYSTEM, errno, "opening the token file %.150s", path);
        if (!token && (make_parents(path, err) < 0 || make_text(&token, err) < 0))
            return -1;
        rc = write_token(path, token, err);
        if (rc < 0)
            return -1;
        if (rc == 0) {
            *ret_is_new = true;
            *ret = take_ptr(token);
            return 0;
        }
    }
}
