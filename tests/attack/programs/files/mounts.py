"""Mount: bind the host's root, a fresh /proc, a remount for writing; unmount what covers the host.

levels: namespaces landlock
control: yes
"""

import ctypes

BIND, REC, REMOUNT, MOVE, DETACH = 0x1000, 0x4000, 0x20, 0x2000, 2
NEWNS, NEWUSER, NEWPID = 0x20000, 0x10000000, 0x20000000
libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind, flags):
    return syscall("mount", source, target, kind, flags, b"") == 0


def in_own_namespace(*args):
    syscall("unshare", NEWUSER | NEWNS)
    return mount(*args)


os.mkdir("here")
roads = [(b"/", b"here", b"", BIND | REC), (b"tmpfs", b"here", b"tmpfs", 0), (b"proc", b"here", b"proc", 0)]
roads += [(b"/proc/1/root", b"here", b"", BIND), (b"", b"/", b"", REMOUNT | BIND), (b"", b"/usr", b"", REMOUNT | BIND)]
roads += [(b"/proc", b"here", b"", MOVE), (b"overlay", b"here", b"overlay", 0), (b"sysfs", b"here", b"sysfs", 0)]
roads += [(b"/dev/vda", b"here", b"ext4", 0), (b"/dev/sda1", b"here", b"ext4", 0), (b"none", b"here", b"cgroup2", 0)]
for road in roads:
    attempt(f"mount {road}", in_child, mount, *road)
    attempt(f"mount {road} in a namespace", in_child, in_own_namespace, *road)
for place in (b"/", b"/tmp", b"/proc", b"/usr", b"/etc", b"/dev", b"/dev/shm", os.getcwd().encode()):
    attempt(f"umount {place}", in_child, lambda place=place: syscall("umount2", place, DETACH) == 0)
verdict()
