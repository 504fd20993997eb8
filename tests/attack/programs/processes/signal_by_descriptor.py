"""Have the kernel send signals for us: descriptors that a host process owns, timers, parent death.

levels: namespaces landlock
control: yes
"""

import fcntl
import signal
import socket
import struct
import time

F_SETSIG, F_SETOWN_EX, FIOASYNC, FIOSETOWN, SIOCSPGRP = 10, 15, 0x5452, 0x8901, 0x8902
pid = canary["pid"]


def arms(fd, road):
    road(fd)
    fcntl.fcntl(fd, F_SETSIG, signal.SIGUSR1)
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)


ROADS = (
    lambda fd: fcntl.fcntl(fd, fcntl.F_SETOWN, pid),
    lambda fd: fcntl.fcntl(fd, fcntl.F_SETOWN, -pid),
    lambda fd: fcntl.fcntl(fd, F_SETOWN_EX, struct.pack("ii", 1, pid)),
    lambda fd: fcntl.ioctl(fd, FIOSETOWN, struct.pack("i", pid)),
    lambda fd: fcntl.ioctl(fd, SIOCSPGRP, struct.pack("i", pid)),
)
for road in ROADS:
    near, far = socket.socketpair()
    out, into = os.pipe()
    attempt("", arms, near.fileno(), road)
    attempt("", arms, out, road)
    attempt("", lambda far=far: far.send(b"wake up") < 0)
    attempt("", lambda into=into: os.write(into, b"wake up") < 0)
time.sleep(0.05)
verdict()  # the host process itself tells whether a signal came
