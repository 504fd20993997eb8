#pragma once
/* The system calls that a guest may make, as BPF programs. libseccomp takes milliseconds to make
 * one, so they are made when glovebox is built (scripts/make-filters.c) and are data here. */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "sandbox/plan.h"

struct seccomp_wish {
    enum plan_level level; /* landlock or namespaces */
    bool host_network;     /* internet sockets, without a network namespace of its own */
    bool writes_host; /* it may make files on the host: none that lends others its owner's rights */
};

struct seccomp_filter {
    struct seccomp_wish wish;
    const void *code; /* struct sock_filter[] */
    size_t bytes;
};

/* The filter for a wish; NULL for a level that has none. */
const struct seccomp_filter *seccomp_filter_for(const struct seccomp_wish *wish);

enum {
    SECCOMP_MAX = 64 << 10
}; /* bytes, more than the kernel takes */

/* Make a filter anew. Not in the library: it needs libseccomp. */
int seccomp_build(const struct seccomp_wish *wish, struct gb_buf *out,
                  struct gb_err *err) gb_nodiscard;
