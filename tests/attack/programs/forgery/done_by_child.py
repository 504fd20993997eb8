"""Let a child say on every channel that the run is done and well, and go on to fail afterwards.

levels: namespaces landlock
expect: error | crashed
"""

import json
import time

DONE = [{"status": "ok", "exit_code": 0, "value": "FORGED"}, {"done": True}, {"type": "done", "status": 0, "ok": True}]
if os.fork() == 0:
    for fd in range(3, 256):
        for message in DONE:
            text = json.dumps(message).encode()
            for frame in (text + b"\n", len(text).to_bytes(4, "little") + text, len(text).to_bytes(4, "big") + text):
                attempt("", lambda fd=fd, frame=frame: os.set_blocking(fd, False) or os.write(fd, frame) < 0)
    os.closerange(0, 256)
    os._exit(0)
time.sleep(0.3)
finish(9)
