"""Find what an earlier run left: files in every writable place, System V memory, queues.

levels: namespaces landlock
repeat: 2
"""

NAME, KEY = "gb-left-behind", 0x6762_0001
places = {os.getcwd(), "/tmp", "/var/tmp", "/dev/shm", os.environ.get("TMPDIR", "/tmp"), os.environ.get("HOME", "/")}


def leaves(path):
    with open(path, "w") as out:
        out.write("left")


for place in places:
    attempt(f"found {place}/{NAME}", os.path.exists, f"{place}/{NAME}")
attempt("found shared memory", lambda: syscall("shmget", KEY, 4096, 0) >= 0)
attempt("found a queue", lambda: syscall("mq_open", NAME.encode(), os.O_RDWR, 0, 0) >= 0)
for place in places:
    attempt("", leaves, f"{place}/{NAME}")
attempt("", lambda: syscall("shmget", KEY, 4096, 0o1666) < 0)
attempt("", lambda: syscall("mq_open", NAME.encode(), os.O_RDWR | os.O_CREAT, 0o666, 0) < 0)
verdict()
