"""Take the host's terminals: as many as many processes can open, which would leave none to anybody else.

levels: namespaces landlock
options: -t 10
"""

MOST = 32  # sandbox/root.c


def fill():
    kept = []
    while True:
        try:
            kept.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
        except OSError:
            return len(kept), kept


taken = crowd(16, fill)
if taken > MOST:
    escapes.append(f"{taken} terminals")
verdict()
