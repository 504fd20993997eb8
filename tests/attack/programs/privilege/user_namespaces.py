"""Make namespaces by unshare: a user namespace gives every capability in it and much of the kernel to attack.

levels: namespaces landlock
control: yes
"""

KINDS = {
    "user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000,
    "uts": 0x4000000, "cgroup": 0x2000000, "time": 0x80,
}  # fmt: skip


def unshares(flags):
    return syscall("unshare", flags) == 0


for name, kind in KINDS.items():
    attempt(f"unshared {name}", in_child, unshares, kind)
    attempt(f"unshared user and {name}", in_child, unshares, kind | KINDS["user"])
attempt("unshared everything", in_child, unshares, sum(KINDS.values()))
verdict()
