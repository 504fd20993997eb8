"""Handle page faults in user space, which stretches races in the kernel at will.

levels: namespaces landlock
control: yes
"""

USER_MODE_ONLY = 1
for flags in (0, USER_MODE_ONLY, os.O_CLOEXEC | os.O_NONBLOCK, os.O_CLOEXEC | USER_MODE_ONLY):
    forbidden("userfaultfd", flags)
attempt("/dev/userfaultfd", lambda: os.open("/dev/userfaultfd", os.O_RDWR) >= 0)
attempt("FUSE", lambda: os.open("/dev/fuse", os.O_RDWR) >= 0)
verdict()
