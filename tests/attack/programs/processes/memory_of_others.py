"""Read and write other processes' memory by process_vm_readv and process_vm_writev.

levels: namespaces landlock
control: yes
"""

import ctypes


def vector(address, size):
    return (ctypes.c_void_p * 2)(address, size)


def reads(pid, address):
    buffer = ctypes.create_string_buffer(128)
    syscall("process_vm_readv", pid, vector(ctypes.addressof(buffer), 128), 1, vector(address, 128), 1, 0)
    return leaked(buffer.raw)


def writes(pid, address):
    buffer = ctypes.create_string_buffer(b"overwritten", 16)
    return syscall("process_vm_writev", pid, vector(ctypes.addressof(buffer), 11), 1, vector(address, 11), 1, 0) > 0


attempt("read a host process", reads, canary["pid"], canary["address"])
attempt("wrote a host process", writes, canary["pid"], canary["address"])
for pid in {os.getppid(), 1} - {0}:
    for name in ("process_vm_readv", "process_vm_writev"):
        forbidden(name, pid, vector(0, 0), 1, vector(0, 0), 1, 0, held=(errno.ESRCH,))
verdict()
