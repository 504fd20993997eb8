"""Give a secret file a second name inside the workspace, and read it or have it collected there.

levels: namespaces landlock
control: yes
"""

AT_EMPTY_PATH, AT_SYMLINK_FOLLOW = 0x1000, 0x400


def new_name():
    return f"linked-{len(os.listdir())}"


def by_name(path):
    name = new_name()
    os.link(path, name)
    return leaked(read(name))


def by_descriptor(path):
    name = new_name()
    syscall("linkat", os.open(path, os.O_PATH), b"", -100, name.encode(), AT_EMPTY_PATH)
    return leaked(read(name))


def by_proc(path):
    name = new_name()
    magic = f"/proc/self/fd/{os.open(path, os.O_PATH)}"
    syscall("linkat", -100, magic.encode(), -100, name.encode(), AT_SYMLINK_FOLLOW)
    return leaked(read(name))


def outwards(path):
    with open("mine", "w") as out:
        out.write("planted")
    os.link("mine", path + "-planted")
    return True


for road in (by_name, by_descriptor, by_proc, outwards):
    for target in canary["files"]:
        attempt(f"{road.__name__} {target}", in_child, road, target)
verdict()
