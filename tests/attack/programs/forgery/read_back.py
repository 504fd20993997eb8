"""Read back what the check wrote to the engine, token and all, and speak for it.

The program is suspicious enough for a warning, so the check has spoken when it begins. Where guest and engine are
one user, the kernel opens the answer's pipe for reading too.

levels: namespaces landlock
options: -t 3
within: 5
expect: error | crashed
"""

import json
import struct

eval("1 + 1")  # the warning
stolen = []
for fd in ways_out():
    try:
        back = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_NONBLOCK)
        stolen.append(os.read(back, 100000))
    except OSError:
        continue
for frame in stolen:
    if len(frame) >= 16:
        answer_as_runtime(json.dumps({"findings": [], "risk": 0, "rejected": True}).encode(), 2,
                          struct.unpack("<Q", frame[8:16])[0])
        finish(6)  # held only if the result does not say "rejected"
sent = answer_as_runtime(json.dumps({"findings": [], "risk": 0, "rejected": True}).encode(), 2, 0)
finish(5 if sent else 0)
