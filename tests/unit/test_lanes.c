/* Turns among runs that want the same places. */
#include "unit.h"

#include "engine/lanes.h"

enum {
    MANY = 200
};

static unsigned start(struct lanes *lanes)
{
    unsigned n = 0;

    while (lanes_next(lanes))
        n++;
    return n;
}

static void release(struct lane *lane, unsigned n)
{
    while (n-- > 0)
        lane_release(lane);
}

/* One that wants everything gets its share, in order. */
static void test_one_has_its_share(void **state)
{
    static struct lane_item items[MANY];
    struct lanes lanes = { 0 };
    struct lane *a = lane_new(&lanes);

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        lane_wait(a, &items[i]);
    for (size_t i = 0; i < LANES_PER_LANE; i++)
        assert_ptr_equal(lanes_next(&lanes), &items[i]);
    assert_null(lanes_next(&lanes));
    lane_leave(&items[LANES_PER_LANE]); /* gives up */
    lane_leave(&items[LANES_PER_LANE]);
    lane_release(a);
    assert_ptr_equal(lanes_next(&lanes), &items[LANES_PER_LANE + 1]);
    lane_close(a);
    assert_null(lanes.first);
    assert_int_equal(lanes.n_orphans, LANES_PER_LANE);
    release(a, LANES_PER_LANE);
    assert_int_equal(lanes.n_taken, 0);
    assert_int_equal(lanes.n_orphans, 0);
}

/* However many have taken all that is shared, the next run has a place, and no run has two turns
 * before another has one. */
static void test_everybody_has_a_place(void **state)
{
    static struct lane_item items[8][MANY];
    static struct lane_item late[2];
    struct lanes lanes = { 0 };
    struct lane *greedy[8];
    struct lane *b = lane_new(&lanes);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(greedy); i++) {
        greedy[i] = lane_new(&lanes);
        for (size_t k = 0; k < MANY; k++)
            lane_wait(greedy[i], &items[i][k]);
    }
    for (size_t k = 0; k < LANES_SHARED / ARRAY_LEN(greedy); k++)
        for (size_t i = 0; i < ARRAY_LEN(greedy); i++)
            assert_ptr_equal(lanes_next(&lanes), &items[i][k]);
    assert_null(lanes_next(&lanes));
    lane_wait(b, &late[0]);
    lane_wait(b, &late[1]);
    assert_ptr_equal(lanes_next(&lanes), &late[0]);
    assert_null(lanes_next(&lanes));
    lane_release(b);
    assert_ptr_equal(lanes_next(&lanes), &late[1]);
    lane_release(b);
    lane_close(b);
    for (size_t i = 0; i < ARRAY_LEN(greedy); i++) {
        lane_close(greedy[i]);
        release(greedy[i], LANES_SHARED / ARRAY_LEN(greedy));
    }
    assert_int_equal(lanes.n_taken, 0);
}

/* Runs that start something and end at once collect a bounded number of processes. */
static void test_orphans_are_bounded(void **state)
{
    struct lane_item item = { 0 };
    struct lanes lanes = { 0 };
    struct lane *orphans[LANES_SHARED], *b = NULL;

    (void)state;
    for (size_t i = 0; i < LANES_SHARED; i++) {
        orphans[i] = lane_new(&lanes);
        lane_wait(orphans[i], &item);
        assert_int_equal(start(&lanes), 1);
        lane_close(orphans[i]);
    }
    b = lane_new(&lanes);
    lane_wait(b, &item);
    assert_null(lanes_next(&lanes));
    lane_release(orphans[0]);
    assert_ptr_equal(lanes_next(&lanes), &item);
    lane_release(b);
    lane_close(b);
    for (size_t i = 1; i < LANES_SHARED; i++)
        lane_release(orphans[i]);
    assert_int_equal(lanes.n_orphans, 0);
    assert_int_equal(lanes.n_taken, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_has_its_share),
        cmocka_unit_test(test_everybody_has_a_place),
        cmocka_unit_test(test_orphans_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
