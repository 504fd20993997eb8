"""Watch the host's files by inotify, which tells names and accesses that cannot be read.

levels: namespaces landlock
control: yes
"""

import ctypes

ALL_EVENTS = 0xFFF


def watches(path):
    notify = syscall("inotify_init1", os.O_NONBLOCK)
    return syscall("inotify_add_watch", notify, ctypes.c_char_p(os.fsencode(path)), ALL_EVENTS) >= 0


for target in canary["files"]:
    attempt(f"watched {target}", watches, target)
    attempt(f"watched {target} by handle", lambda it=target: watches(f"/proc/self/fd/{os.open(it, os.O_PATH)}"))
verdict()
