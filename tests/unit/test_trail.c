/* The audit file: lines that hang together, writers that share it, and what verifying finds. */
#include "unit.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/fd.h"
#include "base/json.h"
#include "engine/chain.h"
#include "engine/digest.h"
#include "engine/trail.h"
#include "glovebox.h"

enum {
    FILE_MAX = 1 << 20
};

static char dir[64], path[96];
static char content[FILE_MAX + 1];

static int set_up(void **state)
{
    (void)state;
    (void)close(unit_dir(dir));
    (void)snprintf(path, sizeof(path), "%s/audit.jsonl", dir);
    return 0;
}

static int tear_down(void **state)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    fd_empty_dir(fd);
    (void)close(fd);
    return rmdir(dir);
}

/* ---- helpers ---- */

static struct trail *open_trail(void)
{
    struct trail *t = NULL;
    struct gb_err err = { 0 };

    if (trail_open(path, &t, &err) < 0)
        fail_msg("%s", err.msg);
    return t;
}

static void add(struct trail *t, const char *event)
{
    struct gb_err err = { 0 };
    char facts[64];

    (void)snprintf(facts, sizeof(facts), "{\"run\":\"%s-1\",\"n\":1.5}", trail_id(t));
    if (trail_write(t, event, facts, &err) < 0)
        fail_msg("%s", err.msg);
}

/* A file of one engine that wrote `n` events and closed it. */
static void make_file(int n)
{
    struct trail *t = open_trail();

    for (int i = 0; i < n; i++)
        add(t, "started");
    trail_close(t);
}

static size_t load(void)
{
    ssize_t n = fd_slurp_at(-1, path, content, FILE_MAX);

    assert_true(n >= 0);
    return (size_t)n;
}

static void store(const void *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, data, len), 0);
    (void)close(fd);
}

/* Where line `n`, from 1, begins in `content`; the end for one more than there are. */
static size_t line_at(int n)
{
    const char *at = content;

    while (--n > 0)
        at = (const char *)memchr(at, '\n', (size_t)(content + FILE_MAX - at)) + 1;
    return (size_t)(at - content);
}

static json_t *verify(const char *expect)
{
    auto_free char *text = gb_audit_verify(path, expect);
    json_t *report = json_loads(text, 0, NULL);

    assert_non_null(report);
    return report;
}

static bool is_intact(void)
{
    auto_json json_t *report = verify(NULL);

    return json_is_true(json_object_get(report, "ok"));
}

/* What is wrong, as "line:kind line:kind". */
static const char *problems(void)
{
    static char text[512];
    auto_json json_t *report = verify(NULL);
    const json_t *list = json_object_get(report, "problems"), *problem;
    size_t used = 0, i;

    text[0] = '\0';
    json_array_foreach (list, i, problem) {
        const char *kind = json_string_value(json_object_get(problem, "kind"));
        int line = (int)json_integer_value(json_object_get(problem, "line"));
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s%d:%s", i ? " " : "", line, kind);
    }
    return text;
}

/* The event of line `n` of the file, and one of its facts. */
static json_t *line_json(int n)
{
    size_t len = load(), from = line_at(n), to = line_at(n + 1);

    assert_true(to <= len);
    return json_loadb(content + from, to - from, 0, NULL);
}

static void assert_event(int n, const char *event)
{
    auto_json json_t *line = line_json(n);

    assert_string_equal(json_string_value(json_object_get(line, "event")), event);
}

/* Does the report note that an engine ended at this line without closing? */
static bool ended_at(const json_t *report, int line)
{
    const json_t *ended = json_array_get(json_object_get(report, "ended"), 0);

    return json_integer_value(json_object_get(ended, "line")) == line;
}

/* ---- digests ---- */

static void test_digests(void **state)
{
    char hex[DIGEST_HEX + 1];

    (void)state;
    digest_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* ---- an intact file ---- */

static void test_an_intact_file(void **state)
{
    static const char *const expected[] = { "opened", "started", "started", "closed" };
    char before[DIGEST_HEX + 1];
    struct stat st;

    (void)state;
    make_file(2);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    memset(before, '0', DIGEST_HEX);
    before[DIGEST_HEX] = '\0';
    for (int i = 0; i < (int)ARRAY_LEN(expected); i++) {
        auto_json json_t *line = line_json(i + 1);
        assert_string_equal(json_string_value(json_object_get(line, "event")), expected[i]);
        assert_int_equal(json_integer_value(json_object_get(line, "v")), 1);
        assert_int_equal(json_integer_value(json_object_get(line, "seq")), i + 1);
        assert_string_equal(json_string_value(json_object_get(line, "prev")), before);
        memcpy(before, json_string_value(json_object_get(line, "hash")), DIGEST_HEX);
    }
    auto_json json_t *report = verify(before);
    assert_true(json_is_true(json_object_get(report, "ok")));
    assert_int_equal(json_integer_value(json_object_get(report, "lines")), 4);
    assert_int_equal(json_integer_value(json_object_get(report, "expected_line")), 4);
    assert_string_equal(json_string_value(json_object_get(report, "head")), before);
}

static void test_an_empty_file_and_none(void **state)
{
    (void)state;
    store("", 0);
    assert_true(is_intact());
    assert_int_equal(unlink(path), 0);
    auto_json json_t *report = verify(NULL);
    assert_true(json_is_object(json_object_get(report, "error")));
}

static void test_nothing_written_leaves_nothing(void **state)
{
    (void)state;
    trail_close(open_trail());
    assert_int_equal(load(), 0);
}

static void test_the_expected_hash_is_missing(void **state)
{
    char hash[DIGEST_HEX + 1];

    (void)state;
    make_file(1);
    digest_hex("another", 7, hash);
    auto_json json_t *report = verify(hash);
    assert_false(json_is_true(json_object_get(report, "ok")));
}

/* ---- what verifying finds ---- */

static void test_every_changed_byte_is_found(void **state)
{
    size_t len;

    (void)state;
    make_file(2);
    len = load();
    for (size_t i = 0; i < len; i++) {
        char was = content[i];
        content[i] ^= 1;
        store(content, len);
        if (is_intact())
            fail_msg("byte %zu changed from '%c' to '%c' unnoticed", i, was, content[i]);
        content[i] = was;
    }
}

static void test_every_cut_is_found(void **state)
{
    size_t len;

    (void)state;
    make_file(2);
    len = load();
    for (size_t keep = 1; keep < len; keep++) {
        store(content, keep);
        if (is_intact())
            fail_msg("%zu of %zu bytes left, unnoticed", keep, len);
    }
}

/* `content` with [from, to) put in again at `at`. */
static void store_with(size_t at, size_t from, size_t to, size_t len)
{
    static char all[2 * FILE_MAX];

    memcpy(all, content, at);
    memcpy(all + at, content + from, to - from);
    memcpy(all + at + to - from, content + at, len - at);
    store(all, len + to - from);
}

static void test_a_line_taken_out(void **state)
{
    static const char *const expected[] = { "1:missing", "2:missing", "3:missing", "4:missing",
                                            "4:unclosed" };
    size_t len;
    char *copy;

    (void)state;
    make_file(3);
    len = load();
    copy = strdup(content);
    for (int n = 1; n <= (int)ARRAY_LEN(expected); n++) {
        size_t from = line_at(n), to = line_at(n + 1);
        memmove(content + from, content + to, len - to);
        store(content, len - (to - from));
        assert_string_equal(problems(), expected[n - 1]);
        memcpy(content, copy, len);
    }
    free(copy);
}

static void test_a_line_put_in_again(void **state)
{
    char expected[32];
    size_t len;

    (void)state;
    make_file(3);
    len = load();
    for (int n = 1; n <= 4; n++) {
        store_with(line_at(n + 1), line_at(n), line_at(n + 1), len);
        (void)snprintf(expected, sizeof(expected), "%d:order", n + 1);
        assert_string_equal(problems(), expected);
    }
}

static void test_lines_swapped(void **state)
{
    size_t len, a, b, c;
    char *copy;

    (void)state;
    make_file(4);
    len = load();
    a = line_at(2);
    b = line_at(3);
    c = line_at(4);
    copy = strdup(content);
    memcpy(copy + a, content + b, c - b);
    memcpy(copy + a + c - b, content + a, b - a);
    store(copy, len);
    free(copy);
    assert_memory_equal(problems(), "2:missing 3:order", 17);
}

/* Somebody who knows the scheme and gives the line a hash that is right for it. */
static void test_a_line_forged_by_hand(void **state)
{
    struct gb_buf buf;
    struct gb_err err;
    struct chain_link last = chain_start();
    size_t len, from, to;

    (void)state;
    make_file(3);
    len = load();
    from = line_at(3);
    to = line_at(4);
    last.seq = 2;
    gb_buf_init(&buf, FILE_MAX);
    assert_int_equal(gb_buf_add(&buf, content, from, &err), 0);
    assert_int_equal(chain_add(&buf, &last, "started", "{\"forged\":true}", &err), 0);
    assert_int_equal(gb_buf_add(&buf, content + to, len - to, &err), 0);
    store(buf.data, buf.len);
    gb_buf_done(&buf);
    assert_string_equal(problems(), "3:changed 4:changed");
}

static void test_what_is_no_line(void **state)
{
    size_t len;
    char *copy;

    (void)state;
    make_file(2);
    len = load();
    copy = malloc(len + 300000);
    assert_non_null(copy);
    memcpy(copy, content, len);

    (void)snprintf(copy + len, 7, "hello\n");
    store(copy, len + 6);
    assert_string_equal(problems(), "5:foreign");
    copy[len] = '\n';
    store(copy, len + 1);
    assert_string_equal(problems(), "5:foreign");
    memset(copy + len, 'x', 300000); /* longer than any line, and than what is read at once */
    store(copy, len + 300000);
    assert_string_equal(problems(), "5:foreign");
    auto_json json_t *report = verify(NULL);
    assert_int_equal(json_integer_value(json_object_get(report, "lines")), 5);
    copy[len + 299999] = '\n';
    store(copy, len + 300000);
    assert_string_equal(problems(), "5:foreign");
    free(copy);
}

static void test_another_version(void **state)
{
    size_t len;

    (void)state;
    make_file(2);
    len = load();
    content[line_at(2) + 5] = '2';
    store(content, len);
    assert_string_equal(problems(), "2:version");
}

/* ---- several writers ---- */

static void test_writers_take_turns(void **state)
{
    struct trail *a = open_trail(), *b = open_trail();

    (void)state;
    for (int i = 0; i < 5; i++) {
        add(a, "started");
        add(b, "started");
        add(b, "finished");
    }
    trail_close(a);
    add(b, "finished");
    auto_json json_t *report = verify(NULL);
    assert_true(json_is_true(json_object_get(report, "ok")));
    assert_true(json_is_true(json_object_get(report, "open")));
    trail_close(b);
    assert_true(is_intact());
    auto_json json_t *first = line_json(1), *second = line_json(3);
    assert_string_equal(json_string_value(json_object_get(second, "event")), "opened");
    assert_false(json_is_true(json_object_get(first, "alone")));
    assert_false(json_is_true(json_object_get(second, "alone")));
}

static void write_in_child(int lines)
{
    struct trail *t = NULL;
    struct gb_err err;
    int bad = trail_open(path, &t, &err);

    for (int i = 0; i < lines && bad == 0; i++)
        bad = trail_write(t, "started", "{\"n\":1}", &err);
    trail_close(t);
    _exit(bad == 0 ? 0 : 1);
}

static void test_writers_at_once(void **state)
{
    enum {
        WRITERS = 6,
        LINES = 100
    };
    int status = 0;

    (void)state;
    for (int i = 0; i < WRITERS; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            write_in_child(LINES);
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    auto_json json_t *report = verify(NULL);
    assert_true(json_is_true(json_object_get(report, "ok")));
    assert_int_equal(json_integer_value(json_object_get(report, "lines")), WRITERS * (LINES + 2));
}

/* Without closing it. The next one finds nobody there, and says so. */
static void test_a_writer_that_was_killed(void **state)
{
    int status = 0;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        struct trail *t = NULL;
        struct gb_err err;
        int bad = trail_open(path, &t, &err);
        _exit(bad == 0 ? -trail_write(t, "started", "{\"n\":1}", &err) : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(problems(), "1:unclosed");
    make_file(1);
    auto_json json_t *report = verify(NULL);
    assert_true(json_is_true(json_object_get(report, "ok")));
    assert_int_equal(json_array_size(json_object_get(report, "ended")), 1);
}

/* One who keeps the lock is not waited for without end, nor each time: that would take longer than
 * this test may. */
static void test_a_lock_that_is_not_given_back(void **state)
{
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1 };
    struct trail *t = open_trail();
    struct gb_err err = { 0 };
    int fd = open(path, O_RDWR | O_CLOEXEC);

    (void)state;
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &all), 0);
    assert_int_equal(trail_write(t, "started", "{\"n\":1}", &err), -1);
    assert_int_equal(err.code, GB_E_AUDIT);
    assert_non_null(strstr(err.msg, "lock"));
    for (int i = 0; i < 60; i++)
        assert_int_equal(trail_write(t, "started", "{\"n\":1}", &err), -1);
    (void)close(fd);
    add(t, "started");
    trail_close(t);
    assert_string_equal(problems(), "2:lost");
}

/* ---- mishaps ---- */

static void test_a_torn_line_is_recovered_from(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < 200; cut += 33) {
        (void)unlink(path);
        make_file(3);
        (void)load();
        assert_int_equal(truncate(path, (off_t)(line_at(4) + cut)), 0);
        assert_non_null(strstr(problems(), "4:torn"));
        make_file(1);
        assert_event(5, "recovered");
        auto_json json_t *line = line_json(5);
        assert_int_equal(json_integer_value(json_object_get(line, "damaged_bytes")), cut);
        assert_string_equal(problems(), "4:torn");
        auto_json json_t *report = verify(NULL);
        assert_true(ended_at(report, 3)); /* the one that was cut off, and not who recovered */
        assert_int_equal(json_array_size(json_object_get(report, "ended")), 1);
    }
}

static void test_a_torn_first_line(void **state)
{
    (void)state;
    store("{\"v", 3);
    make_file(1);
    assert_event(2, "recovered");
    assert_string_equal(problems(), "1:torn");
}

/* A crash can leave a hole of zeros, and a recovery can itself be torn. */
static void test_more_than_one_mishap(void **state)
{
    static const char rest[] = "\0\0\0\n{\"v\":1,\"seq\":9,\n{\"v\":1,\"se";
    size_t len;

    (void)state;
    make_file(1);
    len = load();
    memcpy(content + len, rest, sizeof(rest) - 1);
    store(content, len + sizeof(rest) - 1);
    make_file(1);
    assert_event(7, "recovered");
    assert_string_equal(problems(), "4:torn 5:torn 6:torn");
}

static void limit_size(size_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes == 0 ? limit.rlim_max : bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* No room: nothing of the line stays, the next that fits tells of those that did not. */
static void test_no_room(void **state)
{
    struct trail *t = open_trail();
    struct gb_err err = { 0 };
    size_t len;

    (void)state;
    (void)signal(SIGXFSZ, SIG_IGN);
    add(t, "started");
    len = load();
    for (size_t room = 0; room < 100; room += 33) {
        limit_size(len + room);
        assert_int_equal(trail_write(t, "started", "{\"n\":1}", &err), -1);
        limit_size(0);
        assert_int_equal(err.code, GB_E_AUDIT);
        assert_int_equal(load(), len);
    }
    add(t, "finished");
    trail_close(t);
    (void)signal(SIGXFSZ, SIG_DFL);
    assert_event(3, "lost");
    auto_json json_t *line = line_json(3);
    assert_int_equal(json_integer_value(json_object_get(line, "events")), 4);
    assert_string_equal(problems(), "3:lost");
}

/* ---- moved, removed, shortened under its writer ---- */

static void test_rotation(void **state)
{
    struct trail *t = open_trail();
    char old[128], hash[DIGEST_HEX + 1];

    (void)state;
    add(t, "started");
    (void)snprintf(old, sizeof(old), "%s.1", path);
    assert_int_equal(rename(path, old), 0);
    add(t, "finished");
    trail_close(t);
    assert_true(is_intact());
    auto_json json_t *first = line_json(1);
    assert_string_equal(json_string_value(json_object_get(first, "because")), "replaced");
    (void)snprintf(hash, sizeof(hash), "%s",
                   json_string_value(json_object_get(first, "after_hash")));
    /* The file that was moved away was closed, and ends where the new one says. */
    assert_int_equal(rename(old, path), 0);
    assert_event(3, "closed");
    auto_json json_t *report = verify(hash);
    assert_true(json_is_true(json_object_get(report, "ok")));
    assert_int_equal(json_integer_value(json_object_get(report, "expected_line")), 3);
}

static void test_removed(void **state)
{
    struct trail *t = open_trail();

    (void)state;
    add(t, "started");
    assert_int_equal(unlink(path), 0);
    add(t, "finished");
    trail_close(t);
    assert_event(1, "opened");
    assert_event(2, "finished");
    assert_true(is_intact());
}

static void test_emptied(void **state)
{
    struct trail *t = open_trail();

    (void)state;
    add(t, "started");
    assert_int_equal(truncate(path, 0), 0);
    add(t, "finished");
    trail_close(t);
    auto_json json_t *first = line_json(1);
    assert_string_equal(json_string_value(json_object_get(first, "because")), "shortened");
    auto_json json_t *report = verify(NULL);
    assert_true(json_is_true(json_object_get(report, "ok")));
    const json_t *before = json_object_get(report, "before");
    assert_int_equal(json_integer_value(json_object_get(before, "seq")), 2);
}

static void test_shortened(void **state)
{
    struct trail *t = open_trail();

    (void)state;
    for (int i = 0; i < 4; i++)
        add(t, "started");
    (void)load();
    assert_int_equal(truncate(path, (off_t)line_at(3)), 0);
    add(t, "finished");
    trail_close(t);
    assert_string_equal(problems(), "3:cut");
}

static void test_a_directory_that_is_left(void **state)
{
    char here[128];
    struct trail *t = NULL;
    struct gb_err err;

    (void)state;
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(dir), 0);
    assert_int_equal(trail_open("audit.jsonl", &t, &err), 0);
    assert_int_equal(chdir("/"), 0);
    add(t, "started");
    trail_close(t);
    assert_int_equal(chdir(here), 0);
    assert_true(is_intact() && load() > 0);
}

/* ---- what is refused ---- */

static void assert_refused(const char *what, const char *words)
{
    struct trail *t = NULL;
    struct gb_err err = { 0 };

    assert_int_equal(trail_open(what, &t, &err), -1);
    assert_null(t);
    assert_int_equal(err.code, GB_E_AUDIT);
    if (!strstr(err.msg, words))
        fail_msg("'%s' is not in '%s'", words, err.msg);
}

static void test_what_is_no_audit_file(void **state)
{
    char link[128];

    (void)state;
    assert_refused(dir, "directory");
    assert_refused("/dev/full", "device");
    assert_refused("/dev/null", "device");
    assert_refused("/nonexistent/audit", "No such file");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(path, "pipe");
    assert_int_equal(unlink(path), 0);
    store("root:x:0:0::/root:/bin/sh\n", 26);
    assert_refused(path, "does not end like an audit file");
    assert_int_equal(load(), 26);
    store("{", 1); /* this much could be ours */
    trail_close(open_trail());
    (void)snprintf(link, sizeof(link), "%s/link", dir);
    assert_int_equal(symlink(path, link), 0);
    assert_refused(link, "symbolic link");
}

static bool cannot_write(void *data)
{
    struct trail *t = NULL;
    struct gb_err err = { 0 };

    (void)data;
    return trail_open(path, &t, &err) < 0 && err.code == GB_E_AUDIT && err.sys == EACCES &&
           err.hint[0] && !t;
}

static void test_a_directory_of_somebody_else(void **state)
{
    (void)state;
    assert_int_equal(chmod(dir, 0555), 0);
    assert_true(unit_as_nobody(cannot_write, NULL));
    assert_int_equal(chmod(dir, 0755), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_digests),
        TEST(test_an_intact_file),
        TEST(test_an_empty_file_and_none),
        TEST(test_nothing_written_leaves_nothing),
        TEST(test_the_expected_hash_is_missing),
        TEST(test_every_changed_byte_is_found),
        TEST(test_every_cut_is_found),
        TEST(test_a_line_taken_out),
        TEST(test_a_line_put_in_again),
        TEST(test_lines_swapped),
        TEST(test_a_line_forged_by_hand),
        TEST(test_what_is_no_line),
        TEST(test_another_version),
        TEST(test_writers_take_turns),
        TEST(test_writers_at_once),
        TEST(test_a_writer_that_was_killed),
        TEST(test_a_lock_that_is_not_given_back),
        TEST(test_a_torn_line_is_recovered_from),
        TEST(test_a_torn_first_line),
        TEST(test_more_than_one_mishap),
        TEST(test_no_room),
        TEST(test_rotation),
        TEST(test_removed),
        TEST(test_emptied),
        TEST(test_shortened),
        TEST(test_a_directory_that_is_left),
        TEST(test_what_is_no_audit_file),
        TEST(test_a_directory_of_somebody_else),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
