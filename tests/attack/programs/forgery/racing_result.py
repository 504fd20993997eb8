"""Race the engine at the end: children write to stdout and every channel while the run is being closed.

levels: namespaces landlock
within: 4
expect: ok | error | crashed
"""

import json

FORGED = json.dumps({"status": "ok", "exit_code": 0, "limit": "FORGED", "policy": "FORGED"}).encode() + b"\n"
for _ in range(6):
    if os.fork() == 0:
        while True:
            for fd in range(3, 64):
                try:
                    os.set_blocking(fd, False)
                    os.write(fd, FORGED)
                except OSError:
                    continue
verdict()
