"""Signal everybody at once: every process, one's group, the groups and sessions of those above.

levels: namespaces landlock
expect: ok | crashed | error
"""

import signal
import time

for sent in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT):
    signal.signal(sent, signal.SIG_IGN)
    for target in (-1, 0, -os.getpgrp(), -os.getsid(0), -os.getppid()):
        attempt("", lambda target=target, sent=sent: os.kill(target, sent) is not None)
for sent in (signal.SIGSTOP, signal.SIGKILL):
    attempt("", lambda sent=sent: os.kill(-1, sent) is not None)
time.sleep(0.1)
verdict()
