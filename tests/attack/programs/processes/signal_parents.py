"""Kill, stop and confuse the processes that keep this box: the parent, process 1, the session's leader.

levels: namespaces landlock
expect: ok | crashed | error
"""

import signal
import time

harmless_here = canary["level"] == "namespaces"
above = {os.getppid(), os.getsid(0), os.getpgrp(), 1} - {0, os.getpid()}
for sent in sorted(set(signal.Signals)):
    for target in above:
        if target == 1 and not harmless_here:
            attempt(f"signalled the host's init, {sent}", lambda sent=sent: os.kill(1, sent) is None)
        else:
            attempt("", lambda target=target, sent=sent: os.kill(target, sent) is not None)
time.sleep(0.2)
verdict()
