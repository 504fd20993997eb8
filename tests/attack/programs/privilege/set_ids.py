"""Become another user or group: setuid and all its relatives.

levels: namespaces landlock
"""


def becomes(call, *args):
    before = os.getresuid(), os.getresgid(), os.getgroups()
    call(*args)
    return (os.getresuid(), os.getresgid(), os.getgroups()) != before


def file_system_id(name, other):
    syscall(name, other)
    return syscall(name, -1) == other


for other in {0, 1, 65534, 1000, 100000} - {os.getuid(), os.getgid()}:
    for call, args in (
        (os.setuid, (other,)),
        (os.seteuid, (other,)),
        (os.setreuid, (other, other)),
        (os.setresuid, (other, other, other)),
        (os.setgid, (other,)),
        (os.setegid, (other,)),
        (os.setregid, (other, other)),
        (os.setresgid, (other, other, other)),
        (os.setgroups, ([other],)),
        (os.setgroups, ([],)),
        (os.initgroups, ("root", other)),
    ):
        attempt(f"{call.__name__}{args}", in_child, becomes, call, *args)
    for name in ("setfsuid", "setfsgid"):
        attempt(f"{name} {other}", in_child, file_system_id, name, other)
verdict()
