#include "base/cpus.h"

#include <sched.h>

unsigned cpus_usable(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (unsigned)CPU_COUNT(&set);
}
