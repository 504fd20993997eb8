"""The newer mount calls, each of which does a part of what mount does.

levels: namespaces landlock
control: yes
"""

CLONE, RECURSIVE, EMPTY_PATH, NEWUSER_NEWNS = 1, 0x8000, 0x1000, 0x10020000


def in_namespace(name, *args):
    syscall("unshare", NEWUSER_NEWNS)
    return reaches(name, *args)


CALLS = (
    ("fsopen", b"tmpfs", 0),
    ("fsopen", b"proc", 0),
    ("fsconfig", -1, 6, 0, 0, 0),
    ("fsmount", -1, 0, 0),
    ("fspick", -100, b"/", 0),
    ("open_tree", -100, b"/", 0),
    ("open_tree", -100, b"/", CLONE | RECURSIVE),
    ("open_tree_attr", -100, b"/", CLONE, bytes(32), 32),
    ("move_mount", -1, b"", -100, b"/", 4),
    ("mount_setattr", -100, b"/", 0, bytes(32), 32),
    ("statmount", bytes(24), bytes(512), 512, 0),
    ("listmount", bytes(24), bytes(512), 64, 0),
)
for name, *args in CALLS:
    forbidden(name, *args)
    attempt(f"{name} in a namespace", in_child, in_namespace, name, *args)
verdict()
