"""Rename the host.

levels: namespaces landlock
"""

import socket

forbidden("sethostname", b"gb-renamed", 10)
forbidden("setdomainname", b"gb-renamed", 10)
attempt("renamed by the library", in_child, lambda: socket.sethostname("gb-renamed") is None)
for path in ("/proc/sys/kernel/hostname", "/proc/sys/kernel/domainname", "/etc/hostname"):
    attempt(f"opened {path}", lambda path=path: os.open(path, os.O_WRONLY) >= 0)
attempt("it is renamed", lambda: os.uname().nodename == "gb-renamed")
verdict()
