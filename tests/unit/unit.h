#pragma once
/* What every unit test needs: cmocka and what it wants included before it, places to write, and
 * a way to do something as a user who is not root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"

enum {
    NOBODY = 65534
};

/* The same sequence every time (xorshift), so that a failure can be looked at again. */
static inline uint64_t unit_random(void)
{
    static uint64_t x = 0x9e3779b97f4a7c15;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

/* A new, empty directory that anybody may use. The caller removes it by the name in `path`. */
static inline int unit_dir(char path[64])
{
    (void)snprintf(path, 64, "/tmp/gb-unit-XXXXXX");
    assert_non_null(mkdtemp(path));
    assert_return_code(chmod(path, 0777), 0);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* Call `claim` in a child that is not root, and say what it said. An assertion in there would
 * unwind the parent's test run, so a claim returns false instead. */
static inline bool unit_as_nobody(bool (*claim)(void *), void *data)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        if (geteuid() == 0 &&
            (syscall(SYS_setgroups, 0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
             setresuid(NOBODY, NOBODY, NOBODY) < 0))
            _exit(2);
        _exit(claim(data) ? 0 : 1);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
