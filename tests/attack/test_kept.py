"""What a box can keep in the kernel has somebody who bounds it: the table of docs/limits.md against the allow-list."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILTER = (ROOT / "src/sandbox/seccomp.c").read_text()
REFUSED = ("refused", "pinning", "attributes")
BOUNDS = ("filter", "init", "rlimit", "watcher", "engine")

# Allowed, and nothing of it is left when it has returned, or when its thread has ended.
KEEP_NOTHING = set("""
access arch_prctl capget capset chdir chmod chown clock_getres clock_gettime clock_nanosleep close close_range epoll_pwait
epoll_pwait2 epoll_wait exit exit_group faccessat faccessat2 fadvise64 fchdir fchmod fchmodat fchown fchownat fdatasync fgetxattr
flistxattr fremovexattr fstat fstatfs fsync futex futex_waitv futimesat get_robust_list getcpu getcwd getdents getdents64 getegid
geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit
getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr ioprio_get lchown lgetxattr listxattr llistxattr
lremovexattr lseek lstat membarrier mincore msync munlock munlockall munmap nanosleep newfstatat pause personality pkey_alloc
pkey_free poll ppoll pread64 preadv preadv2 prlimit64 pselect6 read readahead readlink readlinkat readv recvfrom recvmmsg recvmsg
removexattr restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait
sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler
sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield select set_robust_list
set_tid_address setfsgid setfsuid setgid setgroups setregid setresgid setresuid setreuid setrlimit setuid shutdown sigaltstack
stat statfs statx sync sync_file_range syncfs sysinfo time timer_delete timer_getoverrun timer_gettime timerfd_gettime times umask
uname unlink unlinkat utime utimensat utimes wait4 waitid
""".split())


def calls(text):
    return set(re.findall(r"SCMP_SYS\((\w+)\)", text))


def table():
    text = (ROOT / "docs/limits.md").read_text()
    lines = text.split("## What a box can keep in the kernel")[1].split("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][1:]


def kept():
    return {name for row in table() for name in re.findall(r"`(\w+)`", row[1])}


def allowed():
    denied = set()
    for name in REFUSED:
        denied |= calls(re.search(rf"static const int {name}\[\] = \{{(.*?)\}};", FILTER, re.S)[1])
    return calls(FILTER) - denied


def test_every_allowed_call_is_accounted_for():
    assert len(allowed()) > 200 and len(table()) > 20
    assert allowed() - kept() - KEEP_NOTHING == set(), "who bounds what these keep? docs/limits.md has the table"
    assert KEEP_NOTHING & kept() == set()
    assert KEEP_NOTHING - allowed() <= {"sched_setattr"}, "no longer allowed"


@pytest.mark.parametrize("row", table(), ids=lambda row: row[0][:40])
def test_everything_kept_is_bounded_and_was_tried(row):
    assert len(row) == 5 and all(row)
    assert re.match(r"\w+", row[2])[0] in BOUNDS, row[2]
    for name in re.findall(r"`([\w./]+)`", row[4]):
        tried = [ROOT / "tests/attack/programs" / f"{name}.py", ROOT / "tests/e2e" / name, ROOT / "tests/attack" / name]
        assert any(it.exists() for it in tried), name
