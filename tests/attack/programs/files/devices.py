"""Open device nodes: memory, disks, terminals, KVM, FUSE, TUN, loop, input, sound.

levels: namespaces landlock
"""

import glob
import stat

# null, zero, full, random, urandom, tty, ptmx
HARMLESS = {os.makedev(*it) for it in ((1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2))}
NAMED = """mem kmem port kmsg sda sda1 vda vda1 nvme0 nvme0n1 xvda fuse kvm console tty0 tty1 ttyS0 vcs vcsa hvc0 loop0
loop-control mapper/control net/tun vhost-net vhost-vsock vsock uinput input/event0 snd/timer rtc0 hpet nvram ptp0
userfaultfd udmabuf dri/card0 dri/renderD128 btrfs-control cuse hwrng rfkill uhid mcelog autofs vfio/vfio cpu/0/msr"""


def opens(path):
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    node = os.fstat(fd)
    os.close(fd)
    return (stat.S_ISCHR(node.st_mode) or stat.S_ISBLK(node.st_mode)) and node.st_rdev not in HARMLESS


for path in {*(f"/dev/{it}" for it in NAMED.split()), *glob.glob("/dev/**", recursive=True)}:
    if "watchdog" not in path:
        attempt(f"opened {path}", opens, path)
verdict()
