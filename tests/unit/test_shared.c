/* The book of shared anonymous memory: never less than what is held, and exact for one thread. */
#include "unit.h"

#include <unistd.h>

#include "sandbox/shared.h"

enum {
    MIB = 1 << 20,
    LIMIT = 64 * MIB
};

/* A look that finds these; each shows one page. */
static void look(const uint64_t *inodes, size_t n, bool is_all)
{
    struct shared_found found[8];

    for (size_t i = 0; i < n; i++)
        found[i] = (struct shared_found){ .inode = inodes[i], .bytes = 4096 };
    shared_begin_look();
    shared_end_look(found, n, is_all);
}

static bool ask(pid_t tid, uint64_t bytes)
{
    shared_hear(tid);
    return shared_allow(tid, bytes, LIMIT);
}

static void empty(void)
{
    shared_hear(getpid());
    shared_hear(getppid());
    look(NULL, 0, true);
    assert_int_equal(shared_bytes(), 0);
}

static void test_a_page_that_is_left_counts_in_full(void **state)
{
    static const uint64_t one[] = { 7 };

    (void)state;
    empty();
    assert_true(ask(getpid(), 40 * MIB));
    assert_int_equal(shared_bytes(), 40 * MIB);
    look(one, 1, true);
    shared_hear(getpid());
    look(one, 1, true);
    assert_int_equal(shared_bytes(), 40 * MIB);
    assert_false(ask(getpid(), 30 * MIB));
    look(NULL, 0, true);
    assert_int_equal(shared_bytes(), 0);
    assert_true(ask(getpid(), 30 * MIB));
}

/* A small one beside many large ones that have gone. */
static void test_one_thread_is_counted_exactly(void **state)
{
    static const uint64_t kept[] = { 9 };

    (void)state;
    empty();
    assert_true(ask(getpid(), MIB));
    for (int i = 0; i < 100; i++) {
        shared_hear(getpid());
        look(kept, 1, true);
        assert_true(ask(getpid(), 50 * MIB));
        assert_int_equal(shared_bytes(), 51 * MIB);
    }
}

/* Nobody can say which of two it is that is left. */
static void test_of_those_made_together_the_largest_stays(void **state)
{
    static const uint64_t two[] = { 11, 12 };

    (void)state;
    empty();
    assert_true(ask(getpid(), 2 * MIB));
    assert_true(ask(getppid(), 50 * MIB));
    shared_hear(getpid());
    shared_hear(getppid());
    look(two, 2, true);
    assert_int_equal(shared_bytes(), 52 * MIB);
    look(&two[0], 1, true);
    assert_int_equal(shared_bytes(), 50 * MIB);
    look(NULL, 0, true);
}

static void test_what_may_not_be_made_yet_counts(void **state)
{
    (void)state;
    empty();
    assert_true(ask(getpid(), 40 * MIB));
    look(NULL, 0, true);
    assert_int_equal(shared_bytes(), 40 * MIB);
    shared_hear(getpid()); /* it asks again: it has been made, and unmapped */
    look(NULL, 0, true);
    assert_int_equal(shared_bytes(), 0);
}

static void test_nothing_goes_while_somebody_hides(void **state)
{
    static const uint64_t one[] = { 21 };

    (void)state;
    empty();
    assert_true(ask(getpid(), 40 * MIB));
    shared_hear(getpid());
    look(NULL, 0, false);
    assert_int_equal(shared_bytes(), 40 * MIB);
    look(one, 1, true);
    look(NULL, 0, false);
    assert_int_equal(shared_bytes(), 40 * MIB);
    look(NULL, 0, true);
    assert_int_equal(shared_bytes(), 0);
}

/* One that nobody was heard to ask for, as when a call was held up for long. */
static void test_a_stranger_counts_as_the_largest_ever(void **state)
{
    static const uint64_t one[] = { 31 };

    (void)state;
    empty(); /* 50 MiB were allowed above */
    look(one, 1, true);
    assert_int_equal(shared_bytes(), 50 * MIB);
    look(NULL, 0, true);
}

static void test_there_are_only_so_many(void **state)
{
    (void)state;
    empty();
    for (int i = 0; i < 64; i++)
        assert_true(ask(getpid(), 4096));
    assert_false(ask(getpid(), 4096));
    assert_true(shared_needs_look(4096, LIMIT));
    empty();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_page_that_is_left_counts_in_full),
        cmocka_unit_test(test_one_thread_is_counted_exactly),
        cmocka_unit_test(test_of_those_made_together_the_largest_stays),
        cmocka_unit_test(test_what_may_not_be_made_yet_counts),
        cmocka_unit_test(test_nothing_goes_while_somebody_hides),
        cmocka_unit_test(test_a_stranger_counts_as_the_largest_ever),
        cmocka_unit_test(test_there_are_only_so_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
