"""Say in a well-formed frame that all is done, and go on working; the call must return, and the box be gone.

levels: namespaces landlock
options: -t 3
within: 4
expect: silent | error | crashed | timeout
"""

import json
import stat
import struct
import time

DONE = 2
answer = json.dumps({"status": "ok", "exit_code": 0, "has_value": False, "error": None}).encode()
if os.fork() == 0:
    os.setsid()
for fd in range(3, 256):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            os.write(fd, struct.pack("<II", DONE, len(answer)) + answer)
    except OSError:
        continue
time.sleep(60)
