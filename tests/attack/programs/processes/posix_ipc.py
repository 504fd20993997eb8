"""Reach the host's POSIX shared memory, message queue and FIFO.

levels: namespaces landlock
control: yes
"""

import ctypes
from multiprocessing import shared_memory

name = canary["name"]


def receives():
    queue = syscall("mq_open", name.encode(), os.O_RDWR | os.O_NONBLOCK, 0, 0)
    text = ctypes.create_string_buffer(128)
    syscall("mq_timedreceive", queue, text, 128, 0, 0)
    return leaked(text.raw)


def attaches():
    memory = shared_memory.SharedMemory(name)
    return leaked(bytes(memory.buf))


def writes():
    return os.write(os.open(canary["fifo"], os.O_WRONLY | os.O_NONBLOCK), b"hello") > 0


attempt("a message queue", receives)
attempt("removed a message queue", lambda: syscall("mq_unlink", name.encode()) == 0)
attempt("a file in /dev/mqueue", lambda: name in os.listdir("/dev/mqueue"))
attempt("shared memory", in_child, lambda: leaked(read(f"/dev/shm/{name}")))
attempt("shared memory by its library", in_child, attaches)
attempt("a FIFO", writes)
attempt("a FIFO, both ways", lambda: os.open(canary["fifo"], os.O_RDWR | os.O_NONBLOCK) >= 0)
verdict()
