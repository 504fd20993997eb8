"""What every hostile program finds in its namespace: the harness passes this file as `--prelude`.

`canary` (an input) tells where the host's secrets lie and the sha256 of the secret, never its value.
"""

import errno
import os
import sys

REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS}

# name=x86_64, or name=x86_64/generic where the two differ; "-" where there is none.
NUMBERS = """
acct=163/89 add_key=248/217 adjtimex=159/171 bpf=321/280 capset=126/91 chroot=161/51
clock_adjtime=305/266 clock_settime=227/112 clone=56/220 clone3=435 delete_module=176/106
fanotify_init=300/262 fanotify_mark=301/263 fchmodat2=452 fchownat=260/54 file_setattr=469
finit_module=313/273 fsconfig=431 fsmount=432 fsopen=430 fspick=433 getpid=39/172
get_robust_list=274/100 init_module=175/105 inotify_add_watch=254/27 inotify_init1=294/26
io_uring_enter=426 io_uring_register=427 io_uring_setup=425 ioperm=173/- iopl=172/-
ioprio_set=251/30 kcmp=312/272 kexec_file_load=320/294 kexec_load=246/104 keyctl=250/219
kill=62/129 landlock_add_rule=445 landlock_create_ruleset=444 landlock_restrict_self=446
linkat=265/37 listmount=458 lookup_dcookie=212/18 lsm_set_self_attr=460 memfd_secret=447
migrate_pages=256/238 modify_ldt=154/- mount=165/40 mount_setattr=442 move_mount=429
move_pages=279/239 mq_open=240/180 mq_timedreceive=243/183 mq_timedsend=242/182 mq_unlink=241/181
msgget=68/186 msgrcv=70/188 msgsnd=69/189 name_to_handle_at=303/264 nfsservctl=180/42
open_by_handle_at=304/265 open_tree=428 open_tree_attr=467 openat2=437 perf_event_open=298/241
personality=135/92 pidfd_getfd=438 pidfd_open=434 pidfd_send_signal=424 pivot_root=155/41
prlimit64=302/261 process_madvise=440 process_mrelease=448 process_vm_readv=310/270
process_vm_writev=311/271 ptrace=101/117 quotactl=179/60 quotactl_fd=443 reboot=169/142
request_key=249/218 rt_sigqueueinfo=129/138 rt_tgsigqueueinfo=297/240 sched_setaffinity=203/122
sched_setattr=314/274 sched_setscheduler=144/119 seccomp=317/277 semctl=66/191 semget=64/190
semop=65/193 set_mempolicy_home_node=450 setdomainname=171/162 setfsgid=123/152 setfsuid=122/151
sethostname=170/161 setns=308/268 setpriority=141/140 settimeofday=164/170 setxattrat=463
shmat=30/196 shmctl=31/195 shmdt=67/197 shmget=29/194 statmount=457 swapoff=168/225 swapon=167/224
_sysctl=156/- sysfs=139/- syslog=103/116 tgkill=234/131 tkill=200/130 umount2=166/39 unshare=272/97
uselib=134/- userfaultfd=323/282 ustat=136/- utimensat=280/88 vhangup=153/58
"""

escapes = []


def attempt(what, road, *args):
    """Walk one road out: a true answer is an escape, an OSError means that the road was held.

    Any other exception is a mistake in the attack itself; it must show, so it is not caught.
    """
    try:
        out = bool(road(*args))
    except OSError:
        return False
    if out:
        escapes.append(what)
    return out


def verdict():
    """Print the one line that the harness looks for."""
    print(f"ESCAPED: {'; '.join(escapes[:20])}" if escapes else "HELD", flush=True)


def leaked(data):
    """Whether the host's secret is in these bytes."""
    import hashlib
    import re

    data = os.fsencode(data) if isinstance(data, str) else bytes(data)
    found = set(re.findall(rb"GBS-[0-9a-f]{40}", data))
    return any(hashlib.sha256(it).hexdigest() == canary["sha256"] for it in found)


def read(path, size=1 << 20, dir_fd=None):
    """The first bytes of a file, without ever blocking on it."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=dir_fd)
    try:
        return os.read(fd, size)
    finally:
        os.close(fd)


def changes(path, road, *args):
    """Whether a road changes anything about a file that must stay as it is; a call that only says so does not."""
    node = os.stat(path)
    before = node.st_mode, node.st_uid, node.st_size, node.st_nlink, node.st_mtime_ns, node.st_ctime_ns
    road(*args)
    try:
        node = os.stat(path)
    except FileNotFoundError:
        return True
    return (node.st_mode, node.st_uid, node.st_size, node.st_nlink, node.st_mtime_ns, node.st_ctime_ns) != before


def number_of(name):
    """The number of a system call on this machine."""
    pair = dict(it.split("=") for it in NUMBERS.split())[name].split("/")
    pick = pair[0 if os.uname().machine == "x86_64" else -1]
    if pick == "-":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name)
    return int(pick)


def syscall(name, *args):
    """A raw system call by name or number; its failure raises OSError."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    call = name if isinstance(name, int) else number_of(name)
    args = [ctypes.c_long(it) if isinstance(it, int) else it for it in args]
    got = libc.syscall(ctypes.c_long(call), *args)
    if got == -1:
        failure = ctypes.get_errno()
        raise OSError(failure, os.strerror(failure), str(name))
    return got


def in_child(road, *args):
    """Walk a road in a forked child: true when it answered true there; a killed child did not."""
    try:
        pid = os.fork()
    except OSError as error:
        raise RuntimeError("the attack could not fork") from error
    if pid == 0:
        code = 70
        try:
            code = 66 if road(*args) else 65
        except OSError:
            code = 65
        except BaseException as error:
            os.write(2, repr(error).encode())
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code >= 0 and code not in (65, 66):
        raise RuntimeError(f"the attack failed in its child: {code}")
    return code == 66


def reaches(name, *args, held=()):
    """Whether a call that must be refused gets as far as the kernel's own answer."""
    try:
        syscall(name, *args)
    except OSError as error:
        return error.errno not in REFUSED and error.errno not in held
    return True


def forbidden(name, *args, held=()):
    """Make such a call in a child; being refused or killed is what should happen."""
    return attempt(f"{name} reached the kernel", in_child, lambda: reaches(name, *args, held=held))


def count_births(births, most, what):
    """How many wrote their byte to this pipe; more than `most` is an escape."""
    import time

    time.sleep(0.2)
    try:
        born = len(os.read(births, 4096))
    except BlockingIOError:
        born = 0
    if born > most:
        time.sleep(1)  # whoever counts gets the time to notice
        escapes.append(f"{born} {what}")


def ways_out():
    """Every descriptor that may lead to the engine: sockets and pipes beyond the standard streams."""
    import stat

    found = []
    for fd in range(3, 256):
        try:
            mode = os.fstat(fd).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode):
            found.append(fd)
    return found


def answer_as_runtime(answer, kind=2, token=0):
    """Write this answer, in the frame that the runtime would use, wherever it goes. Whether it went anywhere."""
    import struct

    frame = struct.pack("<IIQ", kind, len(answer), token) + answer
    sent = False
    for fd in ways_out():
        try:
            sent = os.write(fd, frame) > 0 or sent
        except OSError:
            continue
    return sent


def crowd(count, fill, patience=3):
    """Let children fill something and keep it: the bytes that those hold which are still alive in the end."""
    import struct
    import time

    reports, report = os.pipe()
    os.set_blocking(reports, False)
    held = {}
    for _ in range(count):
        try:
            pid = os.fork()
        except OSError:
            break
        if pid == 0:
            try:
                size, _kept = fill()
                os.write(report, struct.pack("QQ", os.getpid(), size))
                time.sleep(60)
            finally:
                os._exit(0)
        held[pid] = None

    def look():
        for pid in list(held):
            if os.waitpid(pid, os.WNOHANG)[0]:
                del held[pid]
        try:
            for pid, size in struct.iter_unpack("QQ", os.read(reports, 4096)):
                held[pid] = size
        except BlockingIOError:
            pass
        return None in held.values()

    end = time.monotonic() + patience
    while look() and time.monotonic() < end:
        time.sleep(0.05)
    if held:
        time.sleep(0.6)  # whoever counts gets the time to notice
        look()
    return sum(size or 0 for size in held.values())


def finish(code):
    """End at once, past every handler, with this exit status."""
    sys.stdout.flush()
    os._exit(code)
