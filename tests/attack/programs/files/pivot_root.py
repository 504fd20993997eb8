"""Swap the root of the file system by pivot_root, plain and inside a namespace of one's own.

levels: namespaces landlock
control: yes
"""

NEWUSER_NEWNS = 0x10020000
os.makedirs("new/old", exist_ok=True)


def in_namespace(new, old):
    syscall("unshare", NEWUSER_NEWNS)
    return reaches("pivot_root", new, old)


for pair in ((b".", b"."), (b"new", b"new/old"), (b"/", b"/"), (b"/proc/1/root", b"/proc/1/root/tmp")):
    forbidden("pivot_root", *pair)
    attempt(f"pivot_root {pair} in a namespace", in_child, in_namespace, *pair)
verdict()
