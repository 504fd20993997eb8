"""Type into the caller's terminal, change its modes, take it over: TIOCSTI, TIOCLINUX, TIOCSCTTY.

levels: namespaces landlock
tty: yes
control: yes
"""

import fcntl
import glob
import struct
import termios

TIOCLINUX, TIOCSTI, TIOCSWINSZ, TIOCSCTTY, TIOCCONS, TIOCSETD = 0x541C, 0x5412, 0x5414, 0x540E, 0x541D, 0x5423
IOCTL = 16 if os.uname().machine == "x86_64" else 29


def roads(fd):
    return {
        "typed": lambda: [fcntl.ioctl(fd, TIOCSTI, bytes([it])) for it in b"id\n"],
        "typed in 64 bits": lambda: syscall(IOCTL, fd, TIOCSTI | 1 << 32, b"x") == 0,
        "pasted": lambda: fcntl.ioctl(fd, TIOCLINUX, b"\3") is not None,
        "resized": lambda: fcntl.ioctl(fd, TIOCSWINSZ, struct.pack("4H", 1, 1, 0, 0)) is not None,
        "taken": lambda: fcntl.ioctl(fd, TIOCSCTTY, 1) is not None,
        "console": lambda: fcntl.ioctl(fd, TIOCCONS) is not None,
        "discipline": lambda: fcntl.ioctl(fd, TIOCSETD, struct.pack("i", 0)) is not None,
        "modes": lambda: termios.tcsetattr(fd, termios.TCSANOW, termios.tcgetattr(fd)) is None,
        "flushed": lambda: termios.tcflush(fd, termios.TCIOFLUSH) is None,
    }


def all_roads(fd, where):
    for name, road in roads(fd).items():
        try:
            attempt(f"{name}: {where}", road)
        except termios.error:
            continue


for fd in range(64):
    if os.isatty(fd):
        all_roads(fd, fd)
for path in ["/dev/tty", "/dev/console", *glob.glob("/dev/pts/[0-9]*"), *glob.glob("/dev/tty[0-9]*")]:
    try:
        all_roads(os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK), path)
    except OSError:
        continue
verdict()
