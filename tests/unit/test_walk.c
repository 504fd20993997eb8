/* Looking at a directory that somebody hostile has filled. */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/fd.h"
#include "base/walk.h"

enum {
    MANY = 5000
};

struct place {
    char path[64];
    int fd;
};

static struct place place_new(void)
{
    struct place p;

    p.fd = unit_dir(p.path);
    return p;
}

static void place_done(const struct place *p)
{
    fd_empty_dir(p->fd);
    (void)close(p->fd);
    assert_return_code(rmdir(p->path), errno);
}

static void put(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
    (void)close(fd);
}

static struct walk *walked(const struct place *p, size_t max)
{
    struct walk *w = walk_new(p->fd, max, true);

    assert_non_null(w);
    while (!walk_step(w, 16))
        ;
    return w;
}

static const struct walk_entry *found(struct walk *w, const char *path)
{
    size_t n;
    const struct walk_entry *list = walk_sorted(w, &n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].path, path) == 0)
            return &list[i];
    return NULL;
}

static size_t count(struct walk *w)
{
    size_t n;

    (void)walk_sorted(w, &n);
    return n;
}

static void test_empty(void **state)
{
    struct place p = place_new();

    (void)state;
    assert_true(dir_is_empty(p.fd));
    assert_true(dir_is_empty(p.fd)); /* it was read, and begins anew */
    struct walk *w = walked(&p, 100);
    assert_int_equal(count(w), 0);
    assert_int_equal(walk_was_cut(w), WALK_WHOLE);
    walk_free(w);

    assert_return_code(symlinkat("nowhere", p.fd, "link"), errno);
    assert_false(dir_is_empty(p.fd));
    place_done(&p);
}

static void test_files_in_order(void **state)
{
    struct place p = place_new();

    (void)state;
    put(p.fd, "b", "22");
    assert_return_code(mkdirat(p.fd, "a", 0755), errno);
    put(p.fd, "a/z", "1");
    put(p.fd, "a-", "4444");
    put(p.fd, "new\nline", "");
    put(p.fd, "\xff\xfe", "");
    struct walk *w = walked(&p, 100);
    size_t n;
    const struct walk_entry *list = walk_sorted(w, &n);

    assert_int_equal(n, 5);
    assert_string_equal(list[0].path, "a-");
    assert_string_equal(list[1].path, "a/z");
    assert_string_equal(list[2].path, "b");
    assert_string_equal(list[3].path, "new\nline");
    assert_string_equal(list[4].path, "\xff\xfe");
    assert_int_equal(list[2].stamp.size, 2);
    walk_free(w);
    place_done(&p);
}

static void test_links_are_not_there(void **state)
{
    struct place p = place_new();

    (void)state;
    assert_return_code(symlinkat("/etc", p.fd, "dir"), errno);
    assert_return_code(symlinkat("/etc/passwd", p.fd, "file"), errno);
    assert_return_code(symlinkat("loop", p.fd, "loop"), errno);
    struct walk *w = walked(&p, 100);
    assert_int_equal(count(w), 0);
    walk_free(w);
    place_done(&p);
}

static void test_odd_kinds(void **state)
{
    struct place p = place_new();
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    int sock = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    assert_return_code(mkfifoat(p.fd, "fifo", 0600), errno);
    (void)snprintf(name.sun_path, sizeof(name.sun_path), "%s/socket", p.path);
    assert_return_code(bind(sock, (struct sockaddr *)&name, sizeof(name)), errno);
    struct walk *w = walked(&p, 100);
    assert_true(S_ISFIFO(found(w, "fifo")->mode));
    assert_true(S_ISSOCK(found(w, "socket")->mode));
    walk_free(w);
    (void)close(sock);
    place_done(&p);
}

/* A thousand levels, and one more than a path can name. */
static void test_deep(void **state)
{
    struct place p = place_new();
    int at = fcntl(p.fd, F_DUPFD_CLOEXEC, 3);
    char deep[2100] = "";

    (void)state;
    for (int level = 1; level <= 2200; level++) {
        assert_return_code(mkdirat(at, "d", 0755), errno);
        int next = openat(at, "d", O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        (void)close(at);
        at = next;
        if (level <= 1000)
            memcpy(deep + (level - 1) * 2, "d/", 3);
        if (level == 1000)
            put(at, "bottom", "x");
    }
    put(at, "unreachable", "x");
    (void)close(at);
    memcpy(deep + 2000, "bottom", sizeof("bottom"));
    struct walk *w = walked(&p, 10000);
    size_t n;
    const struct walk_entry *list = walk_sorted(w, &n);
    size_t refused = 0;

    assert_non_null(found(w, deep));
    for (size_t i = 0; i < n; i++)
        refused += list[i].why != NULL && strlen(list[i].path) >= PATH_MAX - 1;
    assert_int_equal(refused, 1);
    assert_int_equal(n, 2);
    walk_free(w);
    place_done(&p);
}

static void test_many(void **state)
{
    struct place p = place_new();
    char name[32];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        put(p.fd, name, "");
    }
    struct walk *w = walked(&p, MANY);
    assert_int_equal(count(w), MANY);
    assert_int_equal(walk_was_cut(w), WALK_WHOLE);
    walk_free(w);

    w = walked(&p, 100);
    assert_int_equal(count(w), 100);
    assert_int_equal(walk_was_cut(w), WALK_MANY);
    walk_free(w);
    place_done(&p);
}

/* So do long paths, of which few are too many. */
static void test_long_paths(void **state)
{
    struct stamp stamp = { 0 };
    char path[4000];
    size_t n = 0;

    (void)state;
    struct walk *w = walk_new(-1, MANY, false);
    assert_non_null(w);
    memset(path, 'x', sizeof(path));
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(path + sizeof(path) - 12, 12, "%011d", i);
        n += walk_note(w, path, &stamp) != NULL;
    }
    assert_int_equal(walk_was_cut(w), WALK_MANY);
    assert_int_equal(count(w), n);
    assert_in_range(n, 2000, 2200); /* eight mebibytes */
    walk_free(w);
}

/* Directories count as well: they cost memory while they wait. */
static void test_many_directories(void **state)
{
    struct place p = place_new();
    char name[32];

    (void)state;
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        assert_return_code(mkdirat(p.fd, name, 0755), errno);
    }
    struct walk *w = walked(&p, 100);
    assert_int_equal(walk_was_cut(w), WALK_MANY);
    walk_free(w);
    place_done(&p);
}

static void test_steps(void **state)
{
    struct place p = place_new();
    char name[32];
    size_t steps = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        put(p.fd, name, "");
    }
    struct walk *w = walk_new(p.fd, 1000, false);
    while (!walk_step(w, 10))
        steps++;
    assert_true(steps >= 9);
    assert_int_equal(count(w), 100);
    walk_free(w);

    w = walk_new(p.fd, 1000, false);
    assert_false(walk_step(w, 10));
    walk_stop(w, WALK_LONG);
    assert_true(walk_step(w, 10));
    assert_int_equal(walk_was_cut(w), WALK_LONG);
    walk_free(w);
    place_done(&p);
}

static void test_hard_links(void **state)
{
    struct place p = place_new(), other = place_new();

    (void)state;
    put(p.fd, "one", "x");
    assert_return_code(linkat(p.fd, "one", p.fd, "two", 0), errno);
    put(other.fd, "foreign", "x");
    assert_return_code(linkat(other.fd, "foreign", p.fd, "loot", 0), errno);
    put(p.fd, "plain", "x");
    struct walk *w = walked(&p, 100);
    assert_false(walk_is_foreign(w, found(w, "one")));
    assert_false(walk_is_foreign(w, found(w, "two")));
    assert_false(walk_is_foreign(w, found(w, "plain")));
    assert_true(walk_is_foreign(w, found(w, "loot")));
    walk_free(w);
    place_done(&p);
    place_done(&other);
}

/* What its owner has shut, as a user that shutting keeps out. */
static bool opens_what_is_shut(void *data)
{
    char path[64];
    int fd;

    (void)data;
    (void)snprintf(path, sizeof(path), "/tmp/gb-unit-XXXXXX");
    if (!mkdtemp(path))
        return false;
    fd = open(path, O_RDONLY | O_DIRECTORY);
    if (mkdirat(fd, "shut", 0700) < 0 ||
        close(openat(fd, "shut/in", O_CREAT | O_WRONLY, 0644)) < 0 ||
        fchmodat(fd, "shut", 0, 0) < 0)
        return false;

    struct walk *kept_out = walk_new(fd, 100, false), *let_in = walk_new(fd, 100, true);
    while (!walk_step(kept_out, 100))
        ;
    while (!walk_step(let_in, 100))
        ;
    const struct walk_entry *shut = found(kept_out, "shut"), *in = found(let_in, "shut/in");
    bool ok = shut && shut->why && strstr(shut->why, "cannot be read") && in;

    walk_free(kept_out);
    walk_free(let_in);
    fd_empty_dir(fd);
    (void)close(fd);
    return rmdir(path) == 0 && ok;
}

static void test_shut_directories(void **state)
{
    (void)state;
    assert_true(unit_as_nobody(opens_what_is_shut, NULL));
}

/* ---- never out of it ---- */

static void test_beneath(void **state)
{
    struct place p = place_new();

    (void)state;
    put(p.fd, "file", "x");
    assert_return_code(symlinkat("file", p.fd, "link"), errno);
    assert_return_code(symlinkat("/etc", p.fd, "etc"), errno);
    assert_int_equal(fd_open_beneath(p.fd, "../", O_RDONLY, 0), -EXDEV);
    assert_int_equal(fd_open_beneath(p.fd, "/etc/passwd", O_RDONLY, 0), -EXDEV);
    assert_int_equal(fd_open_beneath(p.fd, "link", O_RDONLY, 0), -ELOOP);
    assert_int_equal(fd_open_beneath(p.fd, "etc/passwd", O_RDONLY, 0), -ELOOP);

    const char *name = NULL;
    int parent = fd_open_parent(p.fd, "a/b/c", &name);
    assert_true(parent >= 0);
    assert_string_equal(name, "c");
    (void)close(parent);
    assert_true(fd_open_parent(p.fd, "etc/x", &name) < 0);
    assert_true(fd_open_parent(p.fd, "file/x", &name) < 0);
    place_done(&p);
}

static void test_plain_directory(void **state)
{
    struct place p = place_new();
    char path[100];

    (void)state;
    assert_return_code(mkdirat(p.fd, "real", 0755), errno);
    assert_return_code(symlinkat("real", p.fd, "link"), errno);
    (void)snprintf(path, sizeof(path), "%s/real", p.path);
    int fd = fd_open_plain_dir(path);
    assert_true(fd >= 0);
    (void)close(fd);
    (void)snprintf(path, sizeof(path), "%s/link", p.path);
    assert_int_equal(fd_open_plain_dir(path), -ELOOP);
    place_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_files_in_order),
        cmocka_unit_test(test_links_are_not_there),
        cmocka_unit_test(test_odd_kinds),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_many_directories),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_hard_links),
        cmocka_unit_test(test_shut_directories),
        cmocka_unit_test(test_beneath),
        cmocka_unit_test(test_plain_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
