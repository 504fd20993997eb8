"""Say in a well-formed frame that all is done, and go on working; the call must return, and the box be gone.

levels: namespaces landlock
options: -t 1
within: 3
expect: timeout
"""

import json
import time

if os.fork() == 0:
    os.setsid()
if answer_as_runtime(json.dumps({"exit_code": 0, "has_value": False}).encode()):
    time.sleep(60)
