/* Where control groups are, as hosts and containers tell it. */
#include "unit.h"

#include <string.h>

#include "sandbox/hierarchy.h"

#define V2_POINT "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static const struct {
    const char *name, *mounts, *groups, *controller;
    bool is_found, is_read_only;
    const char *point, *own;
} cases[] = {
    { "version 2 alone", V2_POINT, "0::/user.slice/run-1.scope\n", NULL, true, false,
      "/sys/fs/cgroup", "/sys/fs/cgroup/user.slice/run-1.scope" },
    { "it has no hierarchy by controller", V2_POINT, "0::/\n", "memory", false, false, "", "" },
    { "the root of version 2", V2_POINT, "0::/\n", NULL, true, false, "/sys/fs/cgroup",
      "/sys/fs/cgroup" },
    { "both: version 2 without controllers",
      "40 30 0:35 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "41 30 0:36 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
      "4:memory:/a\n0::/b\n", NULL, true, false, "/sys/fs/cgroup/unified",
      "/sys/fs/cgroup/unified/b" },
    { "both: version 1 by controller",
      "41 30 0:36 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
      "40 30 0:35 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
      "8:pids:/\n4:memory:/a/b\n0::/\n", "memory", true, false, "/sys/fs/cgroup/memory",
      "/sys/fs/cgroup/memory/a/b" },
    { "two controllers in one, and a name that begins alike",
      "40 30 0:34 / /mnt/other rw - cgroup cgroup rw,memory_of_another\n"
      "41 30 0:35 / /mnt/both rw - cgroup cgroup rw,pids,memory\n",
      "5:memory_of_another:/no\n4:pids,memory:/a\n", "memory", true, false, "/mnt/both",
      "/mnt/both/a" },
    { "a container that sees its own part, read-only",
      "40 30 0:35 /docker/abc /sys/fs/cgroup/pids ro,nosuid - cgroup cgroup rw,pids\n",
      "4:pids:/docker/abc\n", "pids", true, true, "/sys/fs/cgroup/pids", "/sys/fs/cgroup/pids" },
    { "below its own part", "40 30 0:35 /docker/abc /x rw master:1 - cgroup cgroup rw,pids\n",
      "4:pids:/docker/abc/d\n", "pids", true, false, "/x", "/x/d" },
    { "a part that is another's", "40 30 0:35 /docker/abc /x rw - cgroup cgroup rw,pids\n",
      "4:pids:/docker/abcd\n", "pids", true, false, "/x", "" },
    { "a part that is above the namespace's", "40 30 0:35 /../.. /x rw - cgroup2 cgroup rw\n",
      "0::/\n", NULL, true, false, "/x", "" },
    { "the writable one of two",
      "40 30 0:35 / /ro rw - cgroup2 cgroup ro\n41 30 0:35 / /rw rw - cgroup2 cgroup rw\n",
      "0::/g\n", NULL, true, false, "/rw", "/rw/g" },
    { "none is mounted", "22 1 0:20 / /proc rw - proc proc rw\n", "0::/g\n", NULL, false, false, "",
      "" },
    { "no line that is one", "nonsense\n\n - \n", ":::\n\nx\n0::/g", NULL, false, false, "", "" },
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct hierarchy h = { 0 };
        union {
            const char *in;
            char *out;
        } text = { .in = cases[i].mounts }; /* it is only read */
        FILE *mounts = fmemopen(text.out, strlen(cases[i].mounts), "r");
        bool is_found = hierarchy_find(mounts, cases[i].groups, cases[i].controller, &h);

        (void)fclose(mounts);
        if (is_found != cases[i].is_found || h.is_read_only != cases[i].is_read_only ||
            strcmp(h.point, cases[i].point) != 0 || strcmp(h.own, cases[i].own) != 0)
            fail_msg("%s: %d %d '%s' '%s'", cases[i].name, is_found, h.is_read_only, h.point,
                     h.own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
