#pragma once
/*
 * Where this process' control groups are. /proc/self/cgroup names its group in each hierarchy;
 * /proc/self/mountinfo tells where a hierarchy is mounted, and which part of it. A host may have
 * version 2 alone, version 1 with a hierarchy for each controller or for several, or both (then
 * each controller is in one of them).
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct hierarchy {
    bool is_read_only;
    char point[PATH_MAX]; /* where it is mounted */
    char own[PATH_MAX];   /* the directory of this process' group; "": the mount does not show it */
};

/* Find the hierarchy of version 1 that has a controller, or, where none is named, that of version
 * 2, in what the two files say. Of several mounts one that is writable and shows the process' group
 * is preferred. False if there is none. */
bool hierarchy_find(FILE *mountinfo, const char *groups, const char *controller,
                    struct hierarchy *ret);

/* The same of the host. */
bool hierarchy_of_host(const char *controller, struct hierarchy *ret);
