"""Enter the kernel by int 0x80, also from 32-bit code, where 32-bit numbers pass a filter that only knows 64-bit ones.

levels: namespaces landlock
"""

import ctypes
import mmap

PRIVATE_ANONYMOUS_32BIT = 0x62
pages = []


def executable_page():
    """A page below 4 GiB that may be written and run; it is never given back."""
    page = mmap.mmap(-1, 4096, PRIVATE_ANONYMOUS_32BIT, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    pages.append(page)
    return page, ctypes.addressof(ctypes.c_char.from_buffer(page))


def machine_code(code):
    page, address = executable_page()
    page[: len(code)] = code
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)


def by_interrupt():
    call = machine_code(b"\x53\xb8\x14\0\0\0\xcd\x80\x5b\xc3")
    return call() == os.getpid()


def opens_by_interrupt():
    """socket(AF_INET, SOCK_STREAM, 0), number 359, with its arguments in the 32-bit registers."""
    code = b"\x53\xb8\x67\x01\0\0\xbb\x02\0\0\0\xb9\x01\0\0\0\x31\xd2\xcd\x80\x5b\xc3"
    return machine_code(code)() >= 0


def by_far_jump():
    """Into the 32-bit code segment 0x23 and back, with a call in between."""
    page, address = executable_page()
    there, back = ((address + it).to_bytes(4, "little") for it in (32, 64))
    page[0:32] = (b"\x53\x41\x57\x49\x89\xe7\x6a\x23\x68" + there + b"\x48\xcb").ljust(32, b"\x90")
    page[32:64] = (b"\xb8\x14\0\0\0\xcd\x80\xea" + back + b"\x33\0").ljust(32, b"\x90")
    page[64:71] = b"\x4c\x89\xfc\x41\x5f\x5b\xc3"
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid()


if os.uname().machine == "x86_64":
    for road in (by_interrupt, opens_by_interrupt, by_far_jump):
        attempt(f"a 32-bit call, {road.__name__}", in_child, road)
verdict()
