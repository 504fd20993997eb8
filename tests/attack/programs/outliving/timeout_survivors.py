"""Run into the time limit with daemons and deaf children all around; none may outlive it.

levels: namespaces landlock
options: -t 0.5
within: 3
expect: timeout
"""

import signal
import subprocess
import time

for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if os.fork():
            os._exit(0)
        time.sleep(600)
        os._exit(0)
subprocess.Popen(["sh", "-c", "trap '' TERM INT HUP; while :; do sleep 600; done"], start_new_session=True)
time.sleep(600)
