"""Write to the descriptors of the box' first process and of all others, through /proc.

levels: namespaces landlock
expect: error | crashed
"""

import glob
import json

FORGED = json.dumps({"status": "ok", "exit_code": 0, "isolation": {"level": "FORGED"}, "usage": "FORGED"}).encode()
for path in glob.glob("/proc/1/fd/*") + glob.glob("/proc/[0-9]*/fd/*"):
    for data in (FORGED + b"\n", len(FORGED).to_bytes(4, "little") + FORGED, bytes(64), b"\xff" * 64):
        try:
            fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
            os.write(fd, data)
            os.close(fd)
        except OSError:
            continue
finish(11)
