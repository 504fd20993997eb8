"""Run ahead of everybody else: real-time policies, deadlines, niceness, and the limits that would allow them.

levels: namespaces landlock
"""

import resource
import struct

for name in ("RLIMIT_RTPRIO", "RLIMIT_NICE"):
    limit = getattr(resource, name, {"RLIMIT_NICE": 13, "RLIMIT_RTPRIO": 14}[name])
    attempt(f"{name} is open", lambda it=limit: resource.getrlimit(it) != (0, 0))
for policy in (1, 2, 6, 1 | 1 << 30):
    forbidden("sched_setscheduler", 0, policy, struct.pack("i", 1))
for policy in (0, 1, 2, 6):
    forbidden("sched_setattr", 0, struct.pack("IIQiIQQQ", 48, policy, 0, 0, 1, 10**6, 10**7, 10**7), 0)
attempt("niceness", lambda: os.nice(-5) < 0)
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
verdict()
