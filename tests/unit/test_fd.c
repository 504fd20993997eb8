/* Descriptors: sending them, files that cannot be changed, emptying what a guest left behind. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/fd.h"

static size_t entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    (void)closedir(dir);
    return n - 2;
}

static size_t open_fds(void)
{
    return entries("/proc/self/fd");
}

/* ---- sockets ---- */

static void make_pair(int sv[2])
{
    assert_return_code(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv), errno);
}

static void test_a_descriptor_arrives(void **state)
{
    int sv[2], pv[2], got[2] = { -1, -1 };
    size_t n = ARRAY_LEN(got);
    char text[8] = "";

    (void)state;
    make_pair(sv);
    assert_return_code(pipe2(pv, O_CLOEXEC), errno);
    assert_int_equal(fd_send(sv[0], "take", 4, &pv[1], 1), 0);
    assert_int_equal(fd_recv(sv[1], text, sizeof(text), got, &n), 4);
    assert_memory_equal(text, "take", 4);
    assert_int_equal(n, 1);
    assert_true(fcntl(got[0], F_GETFD) & FD_CLOEXEC);
    assert_int_equal(fd_write_all(got[0], "x", 1), 0);
    assert_int_equal(fd_read_all(pv[0], text, 1), 0);
    assert_int_equal(text[0], 'x');
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(close(sv[i]) | close(pv[i]), 0);
    assert_int_equal(close(got[0]), 0);
}

static void test_what_has_no_room_is_closed(void **state)
{
    static const struct {
        size_t send, room;
    } cases[] = { { 0, 8 }, { 1, 0 }, { 8, 8 }, { 8, 3 }, { 8, 0 } };
    int fds[FD_PASS_MAX];
    int sv[2];

    (void)state;
    make_pair(sv);
    for (size_t i = 0; i < FD_PASS_MAX; i++)
        fds[i] = sv[0];
    size_t before = open_fds();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int got[FD_PASS_MAX];
        size_t n = cases[i].room, want = n < cases[i].send ? n : cases[i].send;
        char byte;

        assert_int_equal(fd_send(sv[0], "x", 1, fds, cases[i].send), 0);
        assert_int_equal(fd_recv(sv[1], &byte, 1, got, n > 0 ? &n : NULL), 1);
        assert_int_equal(n, want);
        assert_int_equal(open_fds(), before + want);
        for (size_t k = 0; k < want; k++)
            assert_int_equal(close(got[k]), 0);
    }
    assert_int_equal(close(sv[0]) | close(sv[1]), 0);
}

static void test_sockets_that_will_not(void **state)
{
    int fds[FD_PASS_MAX + 1] = { 0 };
    int sv[2];
    char byte;

    (void)state;
    make_pair(sv);
    assert_int_equal(fd_send(sv[0], "x", 1, fds, FD_PASS_MAX + 1), -EINVAL);
    assert_return_code(fcntl(sv[1], F_SETFL, O_NONBLOCK), errno);
    assert_int_equal(fd_recv(sv[1], &byte, 1, NULL, NULL), -EAGAIN);
    assert_int_equal(close(sv[0]), 0);
    assert_int_equal(fd_recv(sv[1], &byte, 1, NULL, NULL), 0);
    assert_int_equal(fd_send(sv[1], "x", 1, NULL, 0), -EPIPE); /* and no signal */
    assert_int_equal(close(sv[1]), 0);
    assert_int_equal(fd_send(-1, "x", 1, NULL, 0), -EBADF);
    assert_int_equal(fd_recv(-1, &byte, 1, NULL, NULL), -EBADF);
}

/* ---- sealed files ---- */

static void assert_unchangeable(int fd)
{
    assert_int_equal(write(fd, "x", 1), -1);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(ftruncate(fd, 5), -1);
    assert_int_equal(ftruncate(fd, 1 << 20), -1);
    assert_int_equal(fallocate(fd, 0, 0, 1 << 20), -1);
    assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 5), -1);
    assert_true(mmap(NULL, 10, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
}

static void test_sealed(void **state)
{
    enum {
        SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE
    };
    int fd = fd_sealed("test", "0123456789", 10);
    char path[64], text[16] = "";

    (void)state;
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    assert_int_equal(fcntl(fd, F_GET_SEALS) & SEALS, SEALS);
    assert_int_equal(read(fd, text, sizeof(text)), 10); /* from its start */
    assert_string_equal(text, "0123456789");
    assert_unchangeable(fd);

    /* Whoever opens it anew for writing gets no further. */
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int again = open(path, O_RDWR | O_CLOEXEC);
    assert_true(again >= 0);
    assert_unchangeable(again);
    assert_int_equal(pread(fd, text, sizeof(text), 0), 10);
    assert_string_equal(text, "0123456789");
    assert_int_equal(close(again) | close(fd), 0);
}

/* Whoever has kept it has nothing. */
static void test_what_was_lent_is_empty_afterwards(void **state)
{
    int fd = fd_lent("lent", "0123456789", 10), kept = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    struct stat st;
    char text[16];

    (void)state;
    assert_true(fd >= 0 && kept >= 0);
    assert_int_equal(pread(kept, text, sizeof(text), 0), 10);
    assert_true(fcntl(kept, F_ADD_SEALS, F_SEAL_SHRINK) < 0);
    fd_take_back(&fd);
    assert_int_equal(fd, -1);
    assert_int_equal(fstat(kept, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(st.st_blocks, 0);
    (void)close(kept);
}

static void test_sealed_empty(void **state)
{
    int fd = fd_sealed("empty", "", 0);
    char byte;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(read(fd, &byte, 1), 0);
    assert_int_equal(close(fd), 0);
}

/* ---- whole reads and writes ---- */

static void test_all_of_it(void **state)
{
    enum {
        LEN = 1 << 20
    }; /* more than a pipe holds */
    char *data = calloc(1, LEN);
    int pv[2], status;

    (void)state;
    assert_non_null(data);
    assert_return_code(pipe2(pv, O_CLOEXEC), errno);
    pid_t pid = fork();
    if (pid == 0) {
        memset(data, 'x', LEN);
        _exit(fd_write_all(pv[1], data, LEN) == 0 ? 0 : 1);
    }
    assert_int_equal(close(pv[1]), 0);
    assert_int_equal(fd_read_all(pv[0], data, LEN), 0);
    assert_int_equal(data[0], 'x');
    assert_memory_equal(data, data + 1, LEN - 1);
    assert_int_equal(fd_read_all(pv[0], data, 0), 0);
    assert_int_equal(fd_read_all(pv[0], data, 1), -EPIPE);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(close(pv[0]), 0);
    free(data);
    assert_int_equal(fd_write_all(-1, "x", 1), -EBADF);
    assert_int_equal(fd_read_all(-1, &status, 1), -EBADF);
}

static void test_small_files(void **state)
{
    char path[64], text[8];
    int dir = unit_dir(path);
    int fd = openat(dir, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(fd_slurp_at(dir, "f", text, 7), 0);
    assert_string_equal(text, "");
    assert_int_equal(fd_write_file_at(dir, "f", "0123456789"), 0);
    assert_int_equal(fd_slurp_at(dir, "f", text, 7), 7);
    assert_string_equal(text, "0123456");
    assert_int_equal(fd_slurp_at(dir, "f", text, 0), 0);
    assert_string_equal(text, "");
    assert_int_equal(fd_slurp_at(dir, "none", text, 7), -ENOENT);
    assert_int_equal(fd_slurp_at(dir, ".", text, 7), -EISDIR);
    assert_int_equal(fd_write_file_at(dir, "none", "x"), -ENOENT);
    fd_empty_dir(dir);
    assert_int_equal(close(dir) | rmdir(path), 0);
}

/* ---- emptying ---- */

static void make_file(int dir, const char *name)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, "x", 1) | close(fd), 0);
}

static void assert_emptied(int dir, const char *path)
{
    size_t before = open_fds();

    fd_empty_dir(dir);
    assert_int_equal(entries(path), 0);
    assert_int_equal(open_fds(), before);
    assert_int_equal(close(dir) | rmdir(path), 0);
}

static void test_empties_a_deep_tree(void **state)
{
    char path[64];
    int dir = unit_dir(path), here = fcntl(dir, F_DUPFD_CLOEXEC, 3);

    (void)state;
    for (int i = 0; i < 2000; i++) { /* far deeper than a path can name */
        assert_return_code(mkdirat(here, "directory", 0700), errno);
        if (i % 100 == 0)
            make_file(here, "file");
        int next = openat(here, "directory", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        assert_int_equal(close(here), 0);
        here = next;
    }
    assert_int_equal(close(here), 0);
    assert_emptied(dir, path);
}

static void test_empties_a_wide_tree(void **state)
{
    char path[64], name[32];
    int dir = unit_dir(path);

    (void)state;
    for (int i = 0; i < 900; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        if (i % 3 == 0)
            assert_return_code(mkdirat(dir, name, 0700), errno);
        else if (i % 3 == 1)
            (void)snprintf(name, sizeof(name), "%d/in it", i - 1);
        if (i % 3 != 0)
            make_file(dir, name);
    }
    assert_emptied(dir, path);
}

static void test_empties_odd_things(void **state)
{
    static const char *const names[] = { "...", " ", "\n", "-rf", "*", "\xff\xfe", "a\\b" };
    char path[64];
    int dir = unit_dir(path);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        make_file(dir, names[i]);
    assert_return_code(mkfifoat(dir, "fifo", 0600), errno);
    assert_return_code(symlinkat("nowhere", dir, "dangling"), errno);
    assert_return_code(symlinkat("loop", dir, "loop"), errno);
    assert_return_code(linkat(dir, "*", dir, "hard", 0), errno);
    assert_emptied(dir, path);
}

static void test_follows_no_link(void **state)
{
    char path[64], outside[64], up[80];
    int dir = unit_dir(path), out = unit_dir(outside);

    (void)state;
    make_file(out, "kept");
    (void)snprintf(up, sizeof(up), "..%s", strrchr(outside, '/'));
    assert_return_code(mkdirat(dir, "sub", 0700), errno);
    assert_return_code(symlinkat(outside, dir, "a"), errno);
    assert_return_code(symlinkat(up, dir, "b"), errno);
    assert_return_code(symlinkat(outside, dir, "sub/c"), errno);
    assert_return_code(symlinkat("/", dir, "sub/d"), errno);
    assert_emptied(dir, path);
    assert_int_equal(entries(outside), 1);
    assert_emptied(out, outside);
}

static bool empties_directory_of_another(void *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    fd_empty_dir(dir);
    return dir >= 0;
}

/* Not even when it may not remove the link, but could empty what it points to. */
static void test_follows_no_link_that_stays(void **state)
{
    char path[64], outside[64];
    int dir = unit_dir(path), out = unit_dir(outside);

    (void)state;
    make_file(out, "kept");
    assert_return_code(symlinkat(outside, dir, "link"), errno);
    assert_return_code(chmod(path, 01777), errno);
    assert_true(unit_as_nobody(empties_directory_of_another, path));
    assert_int_equal(entries(outside), 1);
    assert_emptied(dir, path);
    assert_emptied(out, outside);
}

/* A tree whose owner has shut parts of it. data: what the top may still do. */
static bool empties_shut_tree(void *data)
{
    static const char *const dirs[] = { "a", "a/b", "a/b/c", "d", "d/e", "f" };
    static const mode_t modes[] = { 0, 0100, 0200, 0400, 0500, 0555 };
    const mode_t *top = data;
    char path[] = "/tmp/gb-unit-XXXXXX";
    int dir = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (dir < 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (mkdirat(dir, dirs[i], 0700) < 0)
            return false;
    if (symlinkat("/tmp", dir, "a/b/c/link") < 0 || mkfifoat(dir, "d/fifo", 0) < 0)
        return false;
    for (size_t i = ARRAY_LEN(dirs); i-- > 0;)
        if (fchmodat(dir, dirs[i], modes[i], 0) < 0)
            return false;
    if (chmod(path, *top) < 0)
        return false;
    fd_empty_dir(dir);
    if (rmdir(path) == 0) /* only if it is empty */
        return true;
    (void)chmod(path, 0700);
    fd_empty_dir(dir);
    (void)rmdir(path);
    return false;
}

static void test_empties_shut_directories(void **state)
{
    mode_t top = 0700;

    (void)state;
    assert_true(unit_as_nobody(empties_shut_tree, &top));
}

static void test_empties_although_the_top_is_shut(void **state)
{
    static mode_t tops[] = { 0, 0100, 0400, 0500 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tops); i++)
        if (!unit_as_nobody(empties_shut_tree, &tops[i]))
            fail_msg("a directory of mode %03o was not emptied", tops[i]);
}

/* Step by step, with the same end: a wide directory, and a deep one. */
static void test_empty_in_steps(void **state)
{
    char path[] = "/tmp/glovebox-test-XXXXXX", name[24];
    int dir, at, steps = 0;
    struct fd_emptying e;
    size_t budget;

    (void)state;
    assert_non_null(mkdtemp(path));
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof(name), "f%d", i);
        make_file(dir, name);
    }
    at = fcntl(dir, F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 50; i++) {
        int next;

        assert_int_equal(mkdirat(at, "d", 0700), 0);
        next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        make_file(next, "f");
        assert_int_equal(close(at), 0);
        at = next;
    }
    assert_int_equal(close(at), 0);
    fd_empty_begin(&e, dir);
    do
        budget = 7;
    while (!fd_empty_step(&e, &budget) && ++steps < 1000);
    fd_empty_done(&e);
    assert_in_range(steps, 20, 999);
    assert_int_equal(entries(path), 0);
    assert_int_equal(close(dir) | rmdir(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_descriptor_arrives),
        cmocka_unit_test(test_what_has_no_room_is_closed),
        cmocka_unit_test(test_sockets_that_will_not),
        cmocka_unit_test(test_sealed),
        cmocka_unit_test(test_what_was_lent_is_empty_afterwards),
        cmocka_unit_test(test_sealed_empty),
        cmocka_unit_test(test_all_of_it),
        cmocka_unit_test(test_small_files),
        cmocka_unit_test(test_empties_a_deep_tree),
        cmocka_unit_test(test_empties_a_wide_tree),
        cmocka_unit_test(test_empty_in_steps),
        cmocka_unit_test(test_empties_odd_things),
        cmocka_unit_test(test_follows_no_link),
        cmocka_unit_test(test_follows_no_link_that_stays),
        cmocka_unit_test(test_empties_shut_directories),
        cmocka_unit_test(test_empties_although_the_top_is_shut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
