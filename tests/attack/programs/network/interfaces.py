"""See the host's interfaces and connections without netlink, raise interfaces, make a tunnel.

levels: namespaces landlock
control: yes
"""

import fcntl
import glob
import socket
import struct

SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCGIFHWADDR, SIOCETHTOOL, TUNSETIFF = 0x8913, 0x8914, 0x8927, 0x8946, 0x400454CA
ports = [f"{it:04X}".encode() for it in canary["ports"].values()]
names = set("eth0 ens3 enp0s3 wlan0 docker0 br0 tap0 bond0 virbr0 ifb0".split())


def control(request, name, data=b""):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
        return fcntl.ioctl(it, request, struct.pack("16s24s", name.encode(), data))


for name in names:
    for request in (SIOCGIFFLAGS, SIOCGIFHWADDR, SIOCETHTOOL):
        attempt(f"asked about {name}", control, request, name)
    attempt(f"raised {name}", control, SIOCSIFFLAGS, name, struct.pack("h", 1))
for path in glob.glob("/proc/net/*") + glob.glob("/proc/[0-9]*/net/tcp*"):
    if path.rsplit("/", 1)[1] in ("tcp", "tcp6", "udp", "raw", "arp", "route"):
        attempt(f"{path} shows the host's", lambda path=path: any(b":" + it in read(path) for it in ports))
attempt(
    "made a tunnel",
    lambda: fcntl.ioctl(os.open("/dev/net/tun", os.O_RDWR), TUNSETIFF, struct.pack("16sh22x", b"gb0", 2)),
)
verdict()
