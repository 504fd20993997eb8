"""Make calls by io_uring, which no seccomp filter sees.

levels: namespaces landlock
control: yes
"""

import ctypes

parameters = ctypes.create_string_buffer(120)
for entries in (1, 8, 4096):
    forbidden("io_uring_setup", entries, parameters)
for fd in (-1, 0, 3):
    forbidden("io_uring_enter", fd, 1, 1, 0, 0, 0)
    forbidden("io_uring_register", fd, 0, 0, 0)
forbidden("io_uring_register", -1, 13, parameters, 1)
verdict()
