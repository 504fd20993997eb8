"""Reach the host's System V memory, semaphores and message queues, by id and by key.

levels: namespaces landlock
control: yes
"""

import ctypes

ipc, NOWAIT = canary["ipc"], 0o4000


def shared_memory(number):
    address = syscall("shmat", number, 0, 0)
    text = ctypes.string_at(address, 64)
    ctypes.memmove(address, b"overwritten", 11)
    return leaked(text)


def takes(number):
    down = (ctypes.c_short * 3)(0, -1, NOWAIT)
    return syscall("semop", number, down, 1) == 0


def receives(number):
    message = ctypes.create_string_buffer(256)
    syscall("msgrcv", number, message, 128, 0, NOWAIT)
    return leaked(message.raw)


attempt("shared memory by id", shared_memory, ipc["shm"])
attempt("shared memory by key", lambda: syscall("shmget", ipc["key"], 64, 0) >= 0)
attempt("a semaphore by id", takes, ipc["sem"])
attempt("a semaphore by key", lambda: syscall("semget", ipc["key"], 1, 0) >= 0)
attempt("a queue by id", receives, ipc["msg"])
attempt("a queue by key", lambda: syscall("msgget", ipc["key"], 0) >= 0)
attempt("removed shared memory", lambda: syscall("shmctl", ipc["shm"], 0, 0) == 0)
for place in ("/proc/sysvipc/shm", "/proc/sysvipc/msg", "/proc/sysvipc/sem"):
    attempt(f"{place} lists the host's", lambda it=place: str(ipc["key"]).encode() in read(it))
verdict()
