"""Slow other processes down: priority, affinity, scheduler, I/O class, of one and of all of the user's.

levels: namespaces landlock
control: yes
"""

import ctypes

PROCESS, GROUP, USER, IDLE, BATCH = 0, 1, 2, 5, 3
pid = canary["pid"]
mask = (ctypes.c_uint64 * 16)(1)
policy = ctypes.create_string_buffer(bytes([48, 0, 0, 0, IDLE]), 48)

attempt("setpriority", lambda: syscall("setpriority", PROCESS, pid, 10) == 0)
attempt("setpriority of the group", lambda: syscall("setpriority", GROUP, pid, 11) == 0)
attempt("", lambda: syscall("setpriority", USER, os.getuid(), 12) != 0)
attempt("sched_setaffinity", lambda: syscall("sched_setaffinity", pid, 128, mask) == 0)
attempt("sched_setscheduler", lambda: syscall("sched_setscheduler", pid, BATCH, ctypes.byref(ctypes.c_int())) == 0)
attempt("sched_setattr", lambda: syscall("sched_setattr", pid, policy, 0) == 0)
attempt("ioprio_set", lambda: syscall("ioprio_set", 1, pid, 3 << 13) == 0)
attempt("", lambda: syscall("ioprio_set", 3, os.getuid(), 3 << 13) != 0)
attempt("migrate_pages", lambda: syscall("migrate_pages", pid, 64, mask, mask) == 0)
attempt("move_pages", lambda: syscall("move_pages", pid, 0, 0, 0, 0, 0) == 0)
attempt("get_robust_list", lambda: syscall("get_robust_list", pid, mask, mask) == 0)
for adjustment in ("oom_score_adj", "coredump_filter", "autogroup", "timerslack_ns"):
    attempt(f"wrote {adjustment}", lambda it=adjustment: os.open(f"/proc/{pid}/{it}", os.O_WRONLY) >= 0)
verdict()
