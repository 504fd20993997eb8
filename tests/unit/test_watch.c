/* The watcher: what a tree of real processes uses, as it sees it. The tree is the test's own. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "sandbox/watch.h"

enum {
    MIB = 1 << 20,
    PIDS_MAX = 4096
};

static int proc;     /* descriptor of /proc */
static int said[2];  /* children say a byte when they are what they should be */
static int leash[2]; /* children live until the test lets go of its end, even by dying */
static char scratch[64];
static int scratch_fd;

static int setup(void **state)
{
    (void)state;
    proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    scratch_fd = unit_dir(scratch);
    /* Grandchildren come to us when their parent dies, so that every test can wait for its own. */
    return prctl(PR_SET_CHILD_SUBREAPER, 1) | pipe2(said, O_CLOEXEC);
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(scratch) | close(scratch_fd) | close(proc) | close(said[0]) | close(said[1]);
}

static int take_leash(void **state)
{
    (void)state;
    return pipe2(leash, O_CLOEXEC);
}

static int end_children(void **state)
{
    (void)state;
    (void)close(leash[0]);
    (void)close(leash[1]);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    fd_empty_dir(scratch_fd);
    return 0;
}

static void hear(size_t times)
{
    char byte;

    for (size_t i = 0; i < times; i++)
        assert_int_equal(fd_read_all(said[0], &byte, 1), 0);
}

static _Noreturn void stay(void)
{
    char byte;

    (void)!write(said[1], "x", 1);
    (void)!read(leash[0], &byte, 1);
    _exit(0);
}

static pid_t child_that(void (*what)(void))
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        (void)close(leash[1]);
        if (what)
            what();
        stay();
    }
    return pid;
}

static struct watch_sample look(struct plan_watch limits, int dir)
{
    return watch_look(&limits, proc, dir);
}

/* ---- the tree ---- */

static void has_children(void)
{
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            stay();
}

static void test_sees_grandchildren(void **state)
{
    pid_t pids[10], few[2];

    (void)state;
    assert_int_equal(watch_descendants(proc, getpid(), pids, 10), 0);
    pid_t first = child_that(has_children), second = child_that(has_children);
    hear(6);
    assert_int_equal(watch_descendants(proc, getpid(), pids, 10), 6);
    assert_int_equal(pids[0], first); /* children before grandchildren */
    assert_int_equal(pids[1], second);
    for (size_t i = 2; i < 6; i++)
        assert_int_equal(getpgid(pids[i]), getpgrp());
    assert_int_equal(watch_descendants(proc, first, pids, 10), 2);
    assert_int_equal(watch_descendants(proc, getpid(), few, 2), 2);
    assert_int_equal(watch_descendants(proc, getpid(), few, 0), 0);
    assert_int_equal(watch_descendants(proc, INT32_MAX, pids, 10), 0);
}

static void test_sees_orphans(void **state)
{
    pid_t pids[10];

    (void)state;
    pid_t first = child_that(has_children);
    hear(3);
    assert_return_code(kill(first, SIGKILL), errno);
    assert_int_equal(waitpid(first, NULL, 0), first);
    assert_int_equal(watch_descendants(proc, getpid(), pids, 10), 2);
}

static void *fork_and_stay(void *data)
{
    if (fork() == 0)
        stay();
    for (;;)
        (void)pause();
    return data;
}

static void has_child_of_a_thread(void)
{
    pthread_t thread;

    (void)pthread_create(&thread, NULL, fork_and_stay, NULL);
}

static void test_sees_children_of_threads(void **state)
{
    pid_t pids[10];

    (void)state;
    (void)child_that(has_child_of_a_thread);
    hear(2);
    assert_int_equal(watch_descendants(proc, getpid(), pids, 10), 2);
    assert_int_equal(look((struct plan_watch){ 0 }, -1).processes, 3); /* threads count */
}

static void has_many_children(void)
{
    for (int i = 0; i < 1500; i++)
        if (fork() == 0)
            stay();
}

static void test_sees_a_crowd(void **state)
{
    static pid_t pids[PIDS_MAX];

    (void)state;
    (void)child_that(has_many_children);
    hear(1501);
    assert_int_equal(watch_descendants(proc, getpid(), pids, PIDS_MAX), 1501);
    for (size_t i = 0; i < 1501; i++)
        assert_int_equal(getpgid(pids[i]), getpgrp()); /* and they are ours */
}

/* ---- memory ---- */

static void fill(int how)
{
    void *map = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        _exit(1);
    memset(map, 'x', 64 * MIB);
}

static void fills_private(void)
{
    fill(MAP_PRIVATE);
}

static void fills_shared(void)
{
    fill(MAP_SHARED);
}

static void reserves_only(void)
{
    (void)mmap(NULL, (size_t)64 * MIB, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void test_sees_memory(void **state)
{
    static const struct {
        void (*what)(void);
        bool counts;
    } cases[] = { { fills_private, true }, { fills_shared, true }, { reserves_only, false } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        (void)child_that(NULL);
        hear(1);
        uint64_t before = look((struct plan_watch){ 0 }, -1).memory_bytes;
        (void)child_that(cases[i].what);
        hear(1);
        uint64_t more = look((struct plan_watch){ 0 }, -1).memory_bytes - before;

        assert_int_equal(more >= 64 * MIB, cases[i].counts);
        assert_true(more < 112 * MIB);
        (void)end_children(state);
        assert_int_equal(take_leash(state), 0);
    }
}

static void fills_and_forks(void)
{
    fill(MAP_PRIVATE);
    for (int i = 0; i < 7; i++)
        if (fork() == 0)
            stay();
}

/* Eight processes, one copy of the memory. */
static void test_shared_pages_count_once(void **state)
{
    struct watch_sample s;

    (void)state;
    (void)child_that(fills_and_forks);
    hear(8);
    s = look((struct plan_watch){ .memory_bytes = 256 * MIB }, -1);
    assert_int_equal(s.hit, LIMIT_NONE);
    assert_in_range(s.memory_bytes, 60 * MIB, 160 * MIB);
    s = look((struct plan_watch){ .memory_bytes = 32 * MIB }, -1);
    assert_int_equal(s.hit, LIMIT_MEMORY);
    assert_true(s.memory_bytes > 32 * MIB);
}

/* ---- the other limits ---- */

static void test_counts_processes(void **state)
{
    struct watch_sample s;

    (void)state;
    for (int i = 0; i < 5; i++)
        (void)child_that(NULL);
    hear(5);
    s = look((struct plan_watch){ .processes = 5 }, -1);
    assert_int_equal(s.hit, LIMIT_NONE);
    assert_int_equal(s.processes, 5);
    s = look((struct plan_watch){ .processes = 4 }, -1);
    assert_int_equal(s.hit, LIMIT_PROCESSES);
}

static void burns(void)
{
    struct timespec t;

    /* A name that looks like the fields that follow it. */
    (void)prctl(PR_SET_NAME, ") R 1 1 1 1 1 ");
    do
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while (t.tv_sec == 0 && t.tv_nsec < 300 * 1000 * 1000);
}

static void test_counts_cpu_of_the_living_and_the_dead(void **state)
{
    uint64_t before = look((struct plan_watch){ 0 }, -1).cpu_ms;
    pid_t pid = child_that(burns);
    struct watch_sample s;

    (void)state;
    hear(1);
    for (int dead = 0; dead < 2; dead++) {
        s = look((struct plan_watch){ .cpu_ms = before + 100 }, -1);
        assert_int_equal(s.hit, LIMIT_CPU);
        assert_in_range(s.cpu_ms, before + 250, before + 1000);
        s = look((struct plan_watch){ .cpu_ms = before + 60000 }, -1);
        assert_int_equal(s.hit, LIMIT_NONE);
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
}

static void write_file(int dir, const char *name, size_t bytes)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(posix_fallocate(fd, 0, (off_t)bytes) | close(fd), 0);
}

static void test_measures_the_scratch_directory(void **state)
{
    struct plan_watch limits = { .disk_bytes = 16 * MIB, .inodes = 100 };
    struct watch_sample s;

    (void)state;
    assert_int_equal(mkdirat(scratch_fd, "a", 0700) | mkdirat(scratch_fd, "a/b", 0700), 0);
    write_file(scratch_fd, "x", 2 * MIB);
    write_file(scratch_fd, "a/b/y", 3 * MIB);
    assert_return_code(symlinkat("../x", scratch_fd, "a/x"), errno);
    s = look(limits, scratch_fd);
    assert_int_equal(s.hit, LIMIT_NONE);
    assert_in_range(s.disk_bytes, 5 * MIB, 6 * MIB);
    limits.disk_bytes = 4 * MIB;
    assert_int_equal(look(limits, scratch_fd).hit, LIMIT_DISK);
    limits = (struct plan_watch){ .disk_bytes = 16 * MIB, .inodes = 5 };
    assert_int_equal(look(limits, scratch_fd).hit, LIMIT_NONE);
    limits.inodes = 4;
    assert_int_equal(look(limits, scratch_fd).hit, LIMIT_DISK);
    assert_int_equal(look(limits, -1).hit, LIMIT_NONE);
}

static void test_endless_depth_is_too_much(void **state)
{
    struct plan_watch limits = { .disk_bytes = 16 * MIB, .inodes = 10000 };
    int here = fcntl(scratch_fd, F_DUPFD_CLOEXEC, 3);

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_return_code(mkdirat(here, "d", 0700), errno);
        int next = openat(here, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        (void)close(here);
        here = next;
    }
    (void)close(here);
    assert_int_equal(look(limits, scratch_fd).hit, LIMIT_DISK);
}

static void test_looks_again_in_time(void **state)
{
    static const uint64_t limits[] = { 0, 16 * MIB, 512 * MIB, (uint64_t)1 << 40 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct watch_sample s = look((struct plan_watch){ .memory_bytes = limits[i] }, -1);
        assert_int_equal(s.hit, LIMIT_NONE);
        assert_in_range(s.next_ms, 2, 50);
    }
    uint64_t used = look((struct plan_watch){ 0 }, -1).cpu_ms;
    assert_in_range(look((struct plan_watch){ .cpu_ms = used + 10 }, -1).next_ms, 2, 10);
}

/* What cannot be read must not pass for nothing. */
static void test_a_watcher_that_sees_nothing_says_so(void **state)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    uint64_t cpu_us;

    (void)state;
    assert_int_not_equal(
        watch_look(&(struct plan_watch){ .memory_bytes = 1 << 30 }, null, -1).blind, 0);
    assert_int_equal(watch_children(null, 2, &cpu_us), 2);
    assert_true(watch_can_see());
    (void)close(null);
}

static void test_names_of_limits(void **state)
{
    static const char *const names[] = {
        "none", "memory", "processes", "cpu", "disk", "open_files"
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_string_equal(watch_limit_name((enum watch_limit)i), names[i]);
    assert_string_equal(watch_limit_name((enum watch_limit)99), "unknown");
}

#define watch_test(f) cmocka_unit_test_setup_teardown(f, take_leash, end_children)

int main(void)
{
    const struct CMUnitTest tests[] = {
        watch_test(test_sees_grandchildren),
        watch_test(test_sees_orphans),
        watch_test(test_sees_children_of_threads),
        watch_test(test_sees_a_crowd),
        watch_test(test_sees_memory),
        watch_test(test_shared_pages_count_once),
        watch_test(test_counts_processes),
        watch_test(test_counts_cpu_of_the_living_and_the_dead),
        watch_test(test_measures_the_scratch_directory),
        watch_test(test_endless_depth_is_too_much),
        watch_test(test_looks_again_in_time),
        watch_test(test_a_watcher_that_sees_nothing_says_so),
        watch_test(test_names_of_limits),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
