"""Misuse stdin, stdout and stderr: reopen them, find a file or a terminal of the caller's behind them.

levels: namespaces landlock
tty: yes
control: yes
"""

import stat


def reopens(fd, flags):
    other = os.open(f"/dev/fd/{fd}", flags | os.O_NOCTTY | os.O_NONBLOCK)
    return stat.S_ISREG(os.fstat(other).st_mode) or os.isatty(other)


for fd in (0, 1, 2):
    attempt(f"{fd} is a terminal", os.isatty, fd)
    attempt(f"{fd} is a file of the host", lambda fd=fd: stat.S_ISREG(os.fstat(fd).st_mode))
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
        attempt(f"{fd} reopened", reopens, fd, flags)
attempt("the caller's terminal", lambda: os.open("/dev/tty", os.O_RDWR | os.O_NONBLOCK) >= 0)
attempt("the name of the caller's terminal", lambda: os.ctermid() == "/dev/tty" and os.ttyname(0))
verdict()
