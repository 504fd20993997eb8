"""Search one's own memory for what the engine knew when it forked this process.

Without /proc, memory is found by letting write(2) try each page: it refuses what is not mapped.

levels: namespaces landlock
control: yes
"""

import ctypes

PAGE = 4096
libc = ctypes.CDLL(None, use_errno=True)
libc.write.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
libc.sbrk.restype = ctypes.c_void_p
theirs, ours = os.pipe()


def page_at(address):
    return os.read(theirs, PAGE) if libc.write(ours, address, PAGE) == PAGE else None


def walk(address, step):
    """Pages from here on until one is missing, with the page before so that no border hides a secret."""
    last = b""
    while (page := page_at(address)) is not None:
        yield last + page if step > 0 else page + last
        last, address = page, address + step


def known_regions():
    with open("/proc/self/maps", encoding="ascii") as maps:
        for line in maps:
            span, mode = line.split()[:2]
            low, high = (int(it, 16) for it in span.split("-"))
            if mode.startswith("r") and high - low < 64 << 20 and not line.rstrip().endswith((".so", "[vvar]")):
                yield low, high


def by_maps():
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for low, high in known_regions():
            memory.seek(low)
            try:
                if leaked(memory.read(high - low)):
                    return True
            except OSError:
                continue
    return False


def by_stack():
    environ = ctypes.cast(libc.environ, ctypes.c_void_p).value
    variable = ctypes.c_int()
    return any(
        leaked(page)
        for start in (environ, ctypes.addressof(variable), ctypes.c_void_p.in_dll(libc, "environ").value or environ)
        for step in (PAGE, -PAGE)
        for page in walk(start & -PAGE, step)
    )


def by_heap():
    return any(leaked(page) for page in walk((libc.sbrk(0) & -PAGE) - PAGE, -PAGE))


for road in (by_maps, by_stack, by_heap):
    attempt(f"the secret is in our own memory, {road.__name__}", road)
verdict()
