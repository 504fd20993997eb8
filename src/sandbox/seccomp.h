#pragma once
/* The system calls that a guest may make, as a BPF program built once by the engine. */
#include <stdbool.h>

#include "base/buf.h"
#include "sandbox/plan.h"

struct seccomp_wish {
    enum plan_level level;
    bool host_network; /* internet sockets, without a network namespace of its own */
    bool same_user;    /* the guest is the caller on the host, and owns the caller's files */
};

enum {
    SECCOMP_MAX = 64 << 10
}; /* bytes, more than the kernel takes */

/* Build the filter into `out` (struct sock_filter[]). */
int seccomp_build(const struct seccomp_wish *wish, struct gb_buf *out,
                  struct gb_err *err) gb_nodiscard;
