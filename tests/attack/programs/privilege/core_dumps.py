"""Hand memory to the host's handler of crashes, which runs as root there: what a core would hold, and its size.

A handler that is a pipe is not started at a limit of one byte. One that is a socket is, since Linux 6.16, whatever the
limit: then nothing of the memory may be in it.

levels: namespaces
"""

import resource
import subprocess


def mask(text):
    return int(text, 16)


with open("/proc/self/coredump_filter") as file:
    own = file.read()
programs = subprocess.run(["cat", "/proc/self/coredump_filter"], capture_output=True, text=True, check=True).stdout
attempt("memory in a core", lambda: mask(own) != 0)
attempt("memory in a program's core", lambda: mask(programs) != 0)
attempt("the mask was changed", lambda: open("/proc/self/coredump_filter", "w").write("0xff"))
attempt("a core's size", lambda: resource.getrlimit(resource.RLIMIT_CORE)[1] > 1)
verdict()
