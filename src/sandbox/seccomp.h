#pragma once
/* The system calls that a guest may make, as a BPF program built once by the engine. */
#include <stdbool.h>

#include "base/buf.h"
#include "sandbox/plan.h"

/* Build the filter for a level into `out` (struct sock_filter[]). `host_network` lets the guest
 * use internet sockets without a network namespace of its own. */
int seccomp_build(enum plan_level level, bool host_network, struct gb_buf *out,
                  struct gb_err *err) gb_nodiscard;
